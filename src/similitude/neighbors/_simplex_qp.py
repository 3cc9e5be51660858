"""Compiled: the quadratic program of kernel ridge interpolation, exactly.

    minimise  w^T (A + reg I) w / 2 - s^T w    subject to  w >= 0, sum w = 1        (Chen et al. 2009, eq. 12)

A primal active-set method. One neighbour of the support, the reference r, is eliminated by ``w_r = 1 - sum of the
others``. Of the reduced matrix ``M_ab = H_ab - H_ar - H_rb + H_rr``, H = A + reg I, which is what decides convexity
on the simplex, a Cholesky factor is kept and updated as neighbours enter (a row is appended) and leave (Givens
rotations). Where M turns out singular or indefinite the step goes along that direction to the next face; if A is
indefinite the answer is a KKT point, and no more is promised.

Neighbour lists are nested, so the factor and the solution for k neighbours serve the next larger k as they are. Where
rounding could show how the support was found, the last solve takes it in ascending order: the weights depend on the
support alone.

``python -m benchmarks neighbors`` has the figures against Clarabel and OSQP.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.numerics._cholesky_kernel import dot
from similitude.numerics._compile import kernel

_EPS = 2.0**-52

# A literal integer is a type of its own to numba, and whatever kernel it is passed to compiles once more: not these.
NOBODY: Any = np.int64(-1)
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)

# A factor whose diagonal spans no more than this solves to 1e-13, which no tie between classes can tell.
_WELL_CONDITIONED = 30.0

# From this reg on, relative to the mean self-similarity, most weights are positive: start with all of them.
_FULL_START = 0.5

# What a solve keeps besides L: vectors, the rows of V, and integers, the rows of N.
W, Z, G, Y, D = 0, 1, 2, 3, 4  # the weights, a target for them, the gradient, y = L^-1 b, 1 / diagonal of L
ORDER, CHOSEN, MEMBER, BARRED, STATE = 0, 1, 2, 3, 4  # the factor's order, a list, two flags per neighbour, and STATE:
SIZE, REFERENCE, ROTATED = 0, 1, 2  # p (-1: no factor), r, whether rotations went into L


@kernel
def workspace(k):
    """Room for problems of up to k neighbours: ``L, V, N``."""
    N = np.zeros((5, max(k, 3)), dtype=np.intp)
    N[STATE, SIZE] = -1
    return np.zeros((k, k)), np.zeros((5, k + 1)), N


@kernel
def _clear(x):
    for i in range(x.shape[0]):
        x[i] = 0


@kernel
def _enter(A, s, reg, i, L, V, N):
    """Append neighbour i to the factor; False where M would not be positive definite (the row stays, for a look)."""
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


@kernel
def _factor(A, s, reg, n_chosen, L, V, N):
    """Factor the support ``chosen[:n_chosen]``, its first the reference; what depends on the rest is left out."""
    _clear(N[MEMBER])
    N[MEMBER, N[CHOSEN, 0]] = True
    N[STATE, SIZE], N[STATE, REFERENCE], N[STATE, ROTATED] = 0, N[CHOSEN, 0], 0
    for c in range(1, n_chosen):
        _enter(A, s, reg, N[CHOSEN, c], L, V, N)


@kernel
def _leave(A, s, reg, i, L, V, N):
    """Take neighbour i out of the support; a reference that leaves is followed by the heaviest neighbour."""
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
            # What depends on the rest by the new reference hands its weight over; that is rounding's doing.
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


@kernel
def _backward(L, inverse, p, z):
    """Solve ``L^T x = z`` in place."""
    for a in range(p - 1, -1, -1):
        z[a] *= inverse[a]
        row, known = L[a], z[a]
        for c in range(a):
            z[c] -= row[c] * known


@kernel
def _target(L, V, N):
    """The optimum over the support, signs disregarded, into z: in the factor's order, the reference last."""
    p = N[STATE, SIZE]
    z = V[Z]
    for a in range(p):
        z[a] = V[Y, a]
    _backward(L, V[D], p, z)
    rest = 1.0
    for a in range(p):
        rest -= z[a]
    z[p] = rest
    N[ORDER, p] = N[STATE, REFERENCE]  # so that order[:p + 1] names what z[:p + 1] belongs to


@kernel
def _start(A, s, reg, n_chosen, L, V, N):
    """A feasible w from a guess at the support: what comes out negative is dropped until nothing does."""
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
        # The reference comes last in z: first again, it keeps the order ascending.
        if V[Z, p] > 0.0:
            for c in range(n_chosen - 1, 0, -1):
                N[CHOSEN, c] = N[CHOSEN, c - 1]
            N[CHOSEN, 0] = N[STATE, REFERENCE]


@kernel
def _gradient(A, s, k, reg, w, g):
    """``g = (A + reg I) w - s``."""
    for i in range(k):
        g[i] = reg * w[i] - s[i]
    for i in range(k):
        if w[i] != 0.0:
            weight, row = w[i], A[i]
            for j in range(k):
                g[j] += weight * row[j]


@kernel
def _slide(A, s, k, reg, i, L, V, N):
    """Neighbour i would make M singular or indefinite: go along that direction to the next face.

    Returns whether i still waits to enter.
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


@kernel
def _step(L, V, N):
    """Towards the optimum over the support as far as weights stay positive: ``(who stops it or -1, how far)``."""
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


@kernel
def _candidates(A, s, k, reg, tolerance, block, L, V, N):
    """Who would gain: the most promising neighbour; with ``block`` all enter at once, and the last of them is named."""
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


@kernel
def _advance(A, s, k, reg, scale, block, L, V, N):
    """From a feasible w to a KKT point; False where it was not reached."""
    tolerance = 8.0 * _EPS * (k + 16) * scale  # above what counts as curvature, or steps would go to and fro
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
                block, entered = False, -1  # came in company, and leaves at once
            else:
                N[BARRED, hit] = hit == entered  # its gain was rounding
            _leave(A, s, reg, hit, L, V, N)
            continue
        if entered >= 0 and N[MEMBER, entered]:
            _clear(N[BARRED])
        entered = _candidates(A, s, k, reg, tolerance, block, L, V, N)
        if entered < 0 and not block:
            return True
        if not block:
            waiting = entered
        block = block and entered >= 0  # whoever could not come in company is looked at alone
    return False


@kernel
def _in_order(A, s, k, reg, L, V, N):
    """Solve on the support once more, in ascending order, where it was not and rounding could show the difference."""
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
        N[STATE, SIZE] = -1  # within rounding this order finds the support dependent: the weights stand as they are


@kernel
def starts_full(A, k, reg):
    """Return whether to start with all neighbours in the support."""
    mean = 0.0
    for i in range(k):
        mean += A[i, i] / k
    return reg >= _FULL_START * mean


@kernel
def solve(A, s, k, reg, scale, L, V, N):
    """Solve for the first k neighbours; True where that was reached. The weights are ``V[W, :k]``.

    It starts from the factor in ``work``, made for a smaller k; without one (``ends[0] = -1``) from the support of
    ``V[W]`` as a guess, from all neighbours where reg is large, or from the best single one. ``scale`` bounds the
    entries of A[:k, :k], s[:k] and reg.
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


@kernel
def largest(A, s, start, k):
    """Return the largest absolute value in rows ``start`` to k of the leading block and of s."""
    size = 0.0
    for i in range(start, k):
        size = max(size, abs(s[i]))
        for j in range(i + 1):
            size = max(size, abs(A[i, j]))
    return size


@kernel
def solve_each(A, s, reg, weights):
    """Solve separate problems ``A[t], s[t]``, each from scratch; returns how many were not solved."""
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
