"""Compiled entropy-regularised weights (LIME in similarity form, Chen et al. 2009, eq. 10).

    minimise  w^T K w - 2 s^T w + reg sum_i w_i log w_i    subject to  sum w = 1

Newton's method is applied to x = log w, so that weights may be arbitrarily small. With D = diag(sqrt w) a step solves
``(2 D K D + reg I) v = -D (r + nu)``, where r is the gradient in w; this system is well conditioned. The solver starts
at a large reg, where the weights are nearly uniform, and decreases it to the given one.
"""

from __future__ import annotations

import numpy as np

from similitude.neighbors._local_spectrum import CLIP, FLIP, NONE, leading_semidefinite, modify
from similitude.numerics.cholesky import backward, dot, factor, forward
from similitude.numerics.compiled import compiled

_EPS = 2.0**-52


# The rows of the array of vectors that the solver uses.
X, W, R, A_, B_, STEP, TRIAL = range(7)


@compiled
def _objective(K, s, k, reg, x, w):
    """Return the objective at ``w = exp(x) / sum exp(x)``; x is normalised in place, and w is filled."""
    top, total = -np.inf, 0.0
    for i in range(k):
        top = max(top, x[i])
    for i in range(k):
        total += np.exp(x[i] - top)
    shift = top + np.log(total)
    for i in range(k):
        x[i] -= shift
        w[i] = np.exp(x[i])
    value = 0.0
    for i in range(k):
        if w[i] > 0.0:
            value += w[i] * (dot(K[i], w, k) - 2.0 * s[i] + reg * x[i])
    return value


@compiled
def _direction(K, s, k, reg, U, V):
    """Write Newton's step for x into ``V[STEP]``; return the relative deviation of the gradient from a constant."""
    x, w, r, a, b, step = V[X], V[W], V[R], V[A_], V[B_], V[STEP]
    size, mean = reg, 0.0
    for i in range(k):
        w[i] = np.exp(x[i])
    for i in range(k):
        pull = 2.0 * dot(K[i], w, k)
        r[i] = pull - 2.0 * s[i] + reg * x[i]
        size = max(size, abs(pull), abs(2.0 * s[i]), abs(reg * x[i]))
        mean += w[i] * r[i]
    error, ridge = 0.0, reg
    for i in range(k):
        r[i] -= mean  # the multiplier absorbs any constant; the rest is small near the optimum
        error = max(error, abs(r[i]))
    while _scaled_factor(K, w, k, ridge, U, step) < k:
        ridge *= 4.0  # K is indefinite: take a descent step other than Newton's
    for i in range(k):
        b[i] = np.sqrt(w[i])
        a[i] = b[i] * r[i]
    forward(U, k, a)
    forward(U, k, b)
    nu = -dot(a, b, k) / dot(b, b, k)
    for i in range(k):
        a[i] += nu * b[i]
    backward(U, k, a)
    for i in range(k):
        b[i] = np.sqrt(w[i]) * a[i]
    for i in range(k):
        step[i] = (2.0 * dot(K[i], b, k) - r[i] - nu) / ridge
    return error / size


@compiled
def _scaled_factor(K, w, k, ridge, U, signs):
    """Factor ``2 D K D + ridge I``, D = diag(sqrt w), within U; return how many rows were factored."""
    for i in range(k):
        for j in range(i, k):
            U[i, j] = 2.0 * np.sqrt(w[i] * w[j]) * K[i, j]
    return factor(U, 0.0, ridge, 0.0, k, U, signs)


@compiled
def _newton(K, s, k, reg, tolerance, U, V):
    """Take Newton steps until the gradient is constant within ``tolerance`` and no longer improves; return success."""
    x, step, trial = V[X], V[STEP], V[TRIAL]
    value = _objective(K, s, k, reg, x, V[W])
    last = residual = np.inf
    for _ in range(200):
        residual = _direction(K, s, k, reg, U, V)
        if residual <= 16.0 * _EPS or (residual <= tolerance and residual >= 0.5 * last):
            return True
        last = residual if residual <= tolerance else np.inf
        rise = 0.0
        for i in range(k):
            rise = max(rise, step[i])
        # A weight may grow at most about a hundredfold in a step; a fast decrease does no harm.
        length, new = min(1.0, 5.0 / max(rise, 1e-300)), np.inf
        for _ in range(60):
            for i in range(k):
                trial[i] = x[i] + length * step[i]
            new = _objective(K, s, k, reg, trial, V[W])
            if new <= value + 1e-12 * abs(value):
                break
            length *= 0.5
        for i in range(k):
            x[i] = trial[i]
        value = new
    return residual <= tolerance


@compiled
def _continued(K, s, k, reg, level, U, V):
    """Solve from ``V[X] = log w``, the solution at reg = ``level``; return whether it succeeded."""
    while level > 10.0 * reg:
        level *= 0.1
        _newton(K, s, k, level, 1e-3, U, V)
    return _newton(K, s, k, reg, 1e-10, U, V)


@compiled
def lime_rows(matrices, rows, sizes, regs, spectrum, consistent, weights):
    """Write the weights of the first ``k = sizes[g]`` neighbours at ``regs[t]`` into ``weights[m, g, t, :k]``.

    ``matrices`` (m, k, k) holds the similarities among each test sample's neighbours, ``rows`` (m, k) its own to them.
    Returns the number of unsolved problems.
    """
    failed = 0
    K, row = np.empty_like(matrices[0]), np.empty_like(rows[0])
    for m in range(rows.shape[0]):
        A, s = matrices[m], rows[m]
        semidefinite = 0 if consistent and spectrum in (CLIP, FLIP) else leading_semidefinite(A, K)
        for g in range(sizes.shape[0]):
            modify(A, s, sizes[g], spectrum, semidefinite, consistent, K, row)
            convex = spectrum != NONE or sizes[g] <= semidefinite
            failed += _each_reg(K, row, sizes[g], regs, convex, weights[m, g])
    return failed


@compiled
def _each_reg(K, row, k, regs, convex, weights):
    """Write the weights for all regs, which are ascending; return the number of unsolved problems.

    The solver starts from a reg at which the weights are nearly uniform and passes through the regs in descending
    order. If there may be several optima, it starts again for each reg, so that the result for a reg does not depend on
    the others.
    """
    U, V = np.empty((k, k)), np.zeros((7, k))
    least, most = 0.0, 0.0
    for i in range(k):
        most = max(most, abs(row[i]))
        for j in range(k):
            least, most = min(least, K[i, j]), max(most, abs(K[i, j]))
    # On the simplex, adding a constant to K adds a constant to the objective; it can make K positive definite.
    for i in range(k):
        for j in range(k):
            K[i, j] -= 2.0 * least
    top = 10.0 * max(most, -2.0 * least, regs[-1] if convex else 0.0)
    level, failed = top, 0
    for t in range(regs.shape[0] - 1, -1, -1):
        if not convex:
            level = top
            for i in range(k):
                V[X, i] = 0.0
        failed += not _continued(K, row, k, regs[t], level, U, V)
        level = regs[t]
        for i in range(k):
            weights[t, i] = np.exp(V[X, i])
    return failed
