"""Compiled solver of the quadratic program of kernel ridge interpolation, accurate to rounding.

    minimise  w^T (A + reg I) w / 2 - s^T w    subject to  w >= 0, sum w = 1        (Chen et al. 2009, eq. 12)

It is a primal active-set method. One neighbour of the support, the reference r, is eliminated by ``w_r = 1 - sum of the
others``. The reduced matrix ``M_ab = H_ab - H_ar - H_rb + H_rr``, H = A + reg I, determines convexity on the simplex.
A Cholesky factor of M is kept and updated when neighbours enter (a row is appended) and leave (Givens rotations). If M
is singular or indefinite, the step goes along that direction to the next face; if A is indefinite, the result is a
point where the KKT conditions hold, which need not be the optimum.

Neighbour lists are nested, so the factor and the solution for k neighbours are the start for the next larger k. If the
result could depend, through rounding, on the order in which the support was found, the last solve takes the support in
ascending order, so that the weights depend only on the support.

``python -m benchmarks neighbors`` compares it with Clarabel and OSQP.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.numerics.cholesky import dot
from similitude.numerics.compiled import compiled

_EPS = 2.0**-52

# A literal integer has its own type in numba, for which a function would be compiled once more; these avoid that.
NOBODY: Any = np.int64(-1)
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)

# A factor whose diagonal spans no more than this solves to 1e-13, which is too small to affect ties between classes.
_WELL_CONDITIONED = 30.0

# From this reg on, relative to the mean self-similarity, most weights are positive, so all neighbours are the start.
_FULL_START = 0.5

# The state of the solver besides L: vectors are rows of V, and integers are rows of N.
W, Z, G, Y, D = 0, 1, 2, 3, 4  # the weights, a target for them, the gradient, y = L^-1 b, 1 / diagonal of L
ORDER, CHOSEN, MEMBER, BARRED, STATE = 0, 1, 2, 3, 4  # the factor's order, a list, two flags per neighbour, and STATE:
SIZE, REFERENCE, ROTATED = 0, 1, 2  # p (-1: no factor), r, whether rotations went into L


@compiled
def workspace(k):
    """Return the arrays ``L, V, N`` for problems of up to k neighbours."""
    N = np.zeros((5, max(k, 3)), dtype=np.intp)
    N[STATE, SIZE] = -1
    return np.zeros((k, k)), np.zeros((5, k + 1)), N


@compiled
def _clear(x):
    for i in range(x.shape[0]):
        x[i] = 0


@compiled
def _enter(A, s, reg, i, L, V, N):
    """Append neighbour i to the factor; return False if M would not be positive definite (the row is still written)."""
    p, r = N[STATE, SIZE], N[STATE, REFERENCE]
    y, order, inverse = V[Y], N[ORDER], V[D]
    own = A[r, r] + reg
    row = L[p]
    for a in range(p):
        j = order[a]
        row[a] = (A[i, j] - A[i, r] - A[j, r] + own - dot(row, L[a], a)) * inverse[a]
    pivot = A[i, i] + reg - 2.0 * A[i, r] + own - dot(row, row, p)
    rounding = 16.0 * _EPS * (abs(A[i, i]) + 2.0 * abs(A[i, r]) + abs(A[r, r]) + reg)
    if not pivot > rounding:
        return False
    row[p] = np.sqrt(pivot)
    inverse[p] = 1.0 / row[p]
    y[p] = (s[i] - s[r] - A[i, r] + own - dot(row, y, p)) * inverse[p]
    order[p] = i
    N[MEMBER, i] = True
    N[STATE, SIZE] = p + 1
    return True


@compiled
def _factor(A, s, reg, n_chosen, L, V, N):
    """Factor the support ``chosen[:n_chosen]``, whose first is the reference; dependent neighbours are left out."""
    _clear(N[MEMBER])
    N[MEMBER, N[CHOSEN, 0]] = True
    N[STATE, SIZE], N[STATE, REFERENCE], N[STATE, ROTATED] = 0, N[CHOSEN, 0], 0
    for c in range(1, n_chosen):
        _enter(A, s, reg, N[CHOSEN, c], L, V, N)


@compiled
def _leave(A, s, reg, i, L, V, N):
    """Remove neighbour i from the support; the neighbour with the largest weight replaces a reference that leaves."""
    p, r = N[STATE, SIZE], N[STATE, REFERENCE]
    y, order, w, chosen = V[Y], N[ORDER], V[W], N[CHOSEN]
    w[i] = 0.0
    N[MEMBER, i] = False
    place = 0
    if i == r:
        for a in range(p):
            chosen[a] = order[a]
            if w[order[a]] > w[order[place]]:
                place = a
        chosen[0], chosen[place] = chosen[place], chosen[0]
        _factor(A, s, reg, p, L, V, N)
        for a in range(p):
            # A neighbour that is dependent, by rounding, with the new reference gives its weight to the reference.
            if not N[MEMBER, chosen[a]]:
                w[chosen[0]] += w[chosen[a]]
                w[chosen[a]] = 0.0
        return
    while order[place] != i:
        place += 1
    for a in range(place, p - 1):
        order[a] = order[a + 1]
        for c in range(a + 2):
            L[a, c] = L[a + 1, c]
    for c in range(place, p - 1):
        length = np.hypot(L[c, c], L[c, c + 1])
        cosine, sine = L[c, c] / length, L[c, c + 1] / length
        for a in range(c, p - 1):
            L[a, c], L[a, c + 1] = cosine * L[a, c] + sine * L[a, c + 1], cosine * L[a, c + 1] - sine * L[a, c]
        y[c], y[c + 1] = cosine * y[c] + sine * y[c + 1], cosine * y[c + 1] - sine * y[c]
        V[D, c] = 1.0 / L[c, c]
    N[STATE, SIZE], N[STATE, ROTATED] = p - 1, 1


@compiled
def _backward(L, inverse, p, z):
    """Solve ``L^T x = z`` in place."""
    for a in range(p - 1, -1, -1):
        z[a] *= inverse[a]
        row, known = L[a], z[a]
        for c in range(a):
            z[c] -= row[c] * known


@compiled
def _target(L, V, N):
    """Write the optimum over the support, whatever the signs, into z, in the factor's order with the reference last."""
    p = N[STATE, SIZE]
    z = V[Z]
    for a in range(p):
        z[a] = V[Y, a]
    _backward(L, V[D], p, z)
    rest = 1.0
    for a in range(p):
        rest -= z[a]
    z[p] = rest
    N[ORDER, p] = N[STATE, REFERENCE]  # so that order[:p + 1] holds the neighbours of z[:p + 1]


@compiled
def _start(A, s, reg, n_chosen, L, V, N):
    """Compute a feasible w from a guess of the support, from which neighbours with negative weights are dropped."""
    _clear(V[W])
    while True:
        _factor(A, s, reg, n_chosen, L, V, N)
        _target(L, V, N)
        p = N[STATE, SIZE]
        n_chosen = ZERO
        for a in range(p + 1):
            if V[Z, a] > 0.0:
                N[CHOSEN, n_chosen] = N[ORDER, a]
                n_chosen += 1
        if n_chosen == p + 1:
            for a in range(p + 1):
                V[W, N[ORDER, a]] = V[Z, a]
            return
        # The reference is last in z; it is moved to the front, so that the order stays ascending.
        if V[Z, p] > 0.0:
            for c in range(n_chosen - 1, 0, -1):
                N[CHOSEN, c] = N[CHOSEN, c - 1]
            N[CHOSEN, 0] = N[STATE, REFERENCE]


@compiled
def _gradient(A, s, k, reg, w, g):
    """Write ``(A + reg I) w - s`` into g."""
    for i in range(k):
        g[i] = reg * w[i] - s[i]
    for i in range(k):
        if w[i] != 0.0:
            weight, row = w[i], A[i]
            for j in range(k):
                g[j] += weight * row[j]


@compiled
def _slide(A, s, k, reg, i, L, V, N):
    """Move to the next face along the direction in which neighbour i makes M singular or indefinite.

    Returns whether i still has to enter.
    """
    p, r = N[STATE, SIZE], N[STATE, REFERENCE]
    w, z, g, order = V[W], V[Z], V[G], N[ORDER]
    for a in range(p):
        z[a] = L[p, a]
    _backward(L, V[D], p, z)
    _gradient(A, s, k, reg, w, g)
    slope, rest = g[i] - g[r], 1.0
    for a in range(p):
        slope -= z[a] * (g[order[a]] - g[r])
        rest -= z[a]
    sign = 1.0 if slope <= 0.0 else -1.0
    z[p] = rest
    order[p] = r
    hit, length = (i, w[i]) if sign < 0.0 else (NOBODY, np.inf)
    for a in range(p + 1):
        fall = sign * z[a]
        if fall > 0.0 and w[order[a]] < fall * length:
            hit, length = order[a], w[order[a]] / fall
    for a in range(p + 1):
        w[order[a]] = max(w[order[a]] - sign * length * z[a], 0.0)
    w[i] = max(w[i] + sign * length, 0.0)
    if hit == i:
        w[i] = 0.0
        return False
    if p == 0:
        w[r] = 0.0
        N[CHOSEN, 0] = i
        _factor(A, s, reg, ONE, L, V, N)
        return False
    _leave(A, s, reg, hit, L, V, N)
    return True


@compiled
def _step(L, V, N):
    """Move towards the optimum over the support as far as weights stay positive.

    Returns the neighbour whose weight becomes zero first, or -1, and the length of the step.
    """
    w, z, order = V[W], V[Z], N[ORDER]
    _target(L, V, N)
    p = N[STATE, SIZE]
    hit, length = NOBODY, 1.0
    for a in range(p + 1):
        have = w[order[a]]
        if z[a] <= 0.0 and have <= length * (have - z[a]):
            hit, length = order[a], (have / (have - z[a]) if have > 0.0 else 0.0)
    for a in range(p + 1):
        i = order[a]
        w[i] = z[a] if hit < 0 else max(w[i] + length * (z[a] - w[i]), 0.0)
    return hit, length


@compiled
def _candidates(A, s, k, reg, tolerance, block, L, V, N):
    """Return the neighbour whose entry promises the largest gain, or -1.

    With ``block`` all neighbours that promise a gain enter at once, and the last of them is returned.
    """
    g, r = V[G], N[STATE, REFERENCE]
    _gradient(A, s, k, reg, V[W], g)
    best = NOBODY
    for i in range(k):
        if not N[MEMBER, i] and not N[BARRED, i] and g[i] < g[r] - tolerance:
            if block:
                if _enter(A, s, reg, i, L, V, N):
                    best = i
            elif best < 0 or g[i] < g[best]:
                best = i
    return best


@compiled
def _advance(A, s, k, reg, scale, block, L, V, N):
    """Move from a feasible w to a KKT point; return whether it was reached."""
    tolerance = 8.0 * _EPS * (k + 16) * scale  # above the threshold of curvature, or steps would alternate
    entered = waiting = NOBODY
    _clear(N[BARRED])
    for _ in range(50 * k + 100):
        if waiting >= 0:
            if not _enter(A, s, reg, waiting, L, V, N):
                if not _slide(A, s, k, reg, waiting, L, V, N):
                    waiting = -1
                entered = -1
                continue
            waiting = -1
        hit, length = _step(L, V, N)
        if hit >= 0:
            if length > 0.0:
                _clear(N[BARRED])
            elif block:
                block, entered = False, -1  # it entered with others and leaves at once
            else:
                N[BARRED, hit] = hit == entered  # its gain was a rounding error
            _leave(A, s, reg, hit, L, V, N)
            continue
        if entered >= 0 and N[MEMBER, entered]:
            _clear(N[BARRED])
        entered = _candidates(A, s, k, reg, tolerance, block, L, V, N)
        if entered < 0 and not block:
            return True
        if not block:
            waiting = entered
        block = block and entered >= 0  # neighbours that could not enter together are tried one by one
    return False


@compiled
def _in_order(A, s, k, reg, L, V, N):
    """Solve on the support once more in ascending order, if it was not and rounding could make a difference."""
    p = N[STATE, SIZE]
    least, most = np.inf, 0.0
    for a in range(p):
        least, most = min(least, V[D, a]), max(most, V[D, a])
    if most <= _WELL_CONDITIONED * least:
        return
    ascending = N[STATE, ROTATED] == 0
    n_chosen = ZERO
    for i in range(k):
        if N[MEMBER, i]:
            N[CHOSEN, n_chosen] = i
            ascending = ascending and i == (N[STATE, REFERENCE] if n_chosen == 0 else N[ORDER, n_chosen - 1])
            n_chosen += 1
    if ascending:
        return
    _factor(A, s, reg, n_chosen, L, V, N)
    _target(L, V, N)
    positive = N[STATE, SIZE] == p
    for a in range(p + 1):
        positive = positive and V[Z, a] > 0.0
    if positive:
        for a in range(p + 1):
            V[W, N[ORDER, a]] = V[Z, a]
    else:
        N[STATE, SIZE] = -1  # in this order the support is dependent up to rounding, so the weights are not changed


@compiled
def starts_full(A, k, reg):
    """Return whether to start with all neighbours in the support."""
    mean = 0.0
    for i in range(k):
        mean += A[i, i] / k
    return reg >= _FULL_START * mean


@compiled
def solve(A, s, k, reg, scale, L, V, N):
    """Solve for the first k neighbours; return whether a solution was reached. The weights are ``V[W, :k]``.

    The start is the factor in ``L``, computed for a smaller k. Without one (``N[STATE, SIZE] = -1``) it is the support
    of ``V[W]`` as a guess, or all neighbours if reg is large, or the best single one. ``scale`` bounds the entries of
    A[:k, :k], s[:k] and reg.
    """
    full = starts_full(A, k, reg)
    if N[STATE, SIZE] < 0:
        n_chosen = ZERO
        for i in range(k):
            if V[W, i] > 0.0:
                N[CHOSEN, n_chosen] = i
                n_chosen += 1
        if n_chosen == 0 and full:
            n_chosen = k
            for i in range(k):
                N[CHOSEN, i] = i
        elif n_chosen == 0:
            n_chosen = ONE
            N[CHOSEN, 0] = 0
            for i in range(1, k):
                if 0.5 * A[i, i] - s[i] < 0.5 * A[N[CHOSEN, 0], N[CHOSEN, 0]] - s[N[CHOSEN, 0]]:
                    N[CHOSEN, 0] = i
        _start(A, s, reg, n_chosen, L, V, N)
    reached = _advance(A, s, k, reg, scale, full, L, V, N)
    _in_order(A, s, k, reg, L, V, N)
    return reached


@compiled
def largest(A, s, start, k):
    """Return the largest absolute value in rows ``start`` to k of the leading block and of s."""
    size = 0.0
    for i in range(start, k):
        size = max(size, abs(s[i]))
        for j in range(i + 1):
            size = max(size, abs(A[i, j]))
    return size


@compiled
def solve_each(A, s, reg, weights):
    """Solve separate problems ``A[t], s[t]``, each from scratch; return how many were not solved."""
    m, k = s.shape
    L, V, N = workspace(k)
    failed = 0
    for t in range(m):
        N[STATE, SIZE] = -1
        _clear(V[W])
        scale = max(reg, largest(A[t], s[t], ZERO, k))
        failed += not solve(A[t], s[t], k, reg, scale, L, V, N)
        weights[t] = V[W, :k]
    return failed
