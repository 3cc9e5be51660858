"""Compiled solver of the dual problem of a support vector machine on a given kernel matrix, accurate to rounding error.

With ``beta = y * alpha`` the problem is

    minimise  beta^T K beta / 2 - y^T beta  over  sum beta = 0,  low <= beta <= high.

SMO steps with libsvm's second-order choice of pairs (Fan, Chen & Lin, JMLR 6, 2005, WSS 2) determine which variables
are at a bound, and Newton steps solve for the others. Where classes overlap, with 128 samples and C = 1e5, SMO alone
takes up to a million steps; together they take a few hundred, and the result is accurate to rounding error instead of
libsvm's 1e-3.

The code consists of plain loops, because array expressions would double the time it takes to compile.
"""

from __future__ import annotations

import numpy as np

from similitude.numerics.cholesky import backward, factor, forward
from similitude.numerics.compiled import compiled

GAP = 1e-11
"""The largest accepted violation of the optimality conditions, in units of the decision value."""

# The rounding errors of K beta, relative to its terms; they do not count as violations.
_NOISE = 2.0**-48
# The replacement of curvatures that are not positive, and the terms added to the diagonal of singular blocks.
_TAU, _RIDGE, _ROUNDING = 1e-12, 1e-12, 1e-14
_BURST = 5

LOW, HIGH, BETA, H = range(4)
"""The rows of a state: the bounds, the variables, and ``K beta``."""


@compiled
def curvature(K, i, j, size):
    """Return the curvature along a move of i against j, or libsvm's small number if it is not positive."""
    value = K[i, i] + K[j, j] - 2.0 * K[i, j]
    return value if value > 0.0 else _TAU * size


@compiled
def rounding(K, beta, i, j):
    """Return a bound on the rounding error of ``h[i] - h[j]``."""
    total = 0.0
    for t in range(beta.shape[0]):
        total += (abs(K[i, t]) + abs(K[j, t])) * abs(beta[t])
    return _NOISE * total


@compiled
def smo(K, y, state, size, steps):
    """Take at most ``steps`` SMO steps; return how many were taken, and whether the optimality conditions hold."""
    low, high, beta, h = state[LOW], state[HIGH], state[BETA], state[H]
    n = y.shape[0]
    total = 0.0
    for t in range(n):
        total += abs(beta[t])
    for step in range(steps):
        i, j, last = -1, -1, -1
        largest, smallest, best = -np.inf, np.inf, 0.0
        for t in range(n):
            if beta[t] < high[t] and y[t] - h[t] >= largest:
                i, largest = t, y[t] - h[t]
        for t in range(n):
            if beta[t] > low[t]:
                slope = largest - (y[t] - h[t])
                if y[t] - h[t] <= smallest:
                    last, smallest = t, y[t] - h[t]
                if slope > 0.0 and slope * slope >= best * curvature(K, i, t, size):
                    j, best = t, slope * slope / curvature(K, i, t, size)
        gap = largest - smallest
        if j < 0 or gap <= GAP or (gap <= 2.0 * _NOISE * size * total and gap <= rounding(K, beta, i, last)):
            return step, True
        room_i, room_j = high[i] - beta[i], beta[j] - low[j]
        move = min((largest - (y[j] - h[j])) / curvature(K, i, j, size), room_i, room_j)
        # A variable that reaches its bound is set to it, because rounding could leave it slightly inside.
        new_i = high[i] if move == room_i else beta[i] + move
        new_j = low[j] if move == room_j else beta[j] - move
        moved_i, moved_j = new_i - beta[i], new_j - beta[j]
        total += abs(new_i) - abs(beta[i]) + abs(new_j) - abs(beta[j])
        beta[i], beta[j] = new_i, new_j
        for t in range(n):
            h[t] += K[i, t] * moved_i + K[j, t] * moved_j
    return steps, False


@compiled
def newton_step(K, y, h, free):
    """Return the step of the free variables to their minimum on ``sum beta = 0``, and whether K is convex there.

    The last variable balances the others, whose step solves ``(H + ridge) step = slope``.
    """
    m = free.shape[0] - 1
    for a in range(m):
        # The variable with the smallest diagonal entry comes last; in a difference from a larger one it would be lost.
        if abs(K[free[a], free[a]]) < abs(K[free[m], free[m]]):
            free[a], free[m] = free[m], free[a]
    last = free[m]
    H, step = np.empty((m, m)), np.zeros(m + 1)
    widest = 0.0
    for a in range(m):
        for b in range(a, m):
            H[a, b] = (K[free[a], free[b]] - K[last, free[b]]) - (K[free[a], last] - K[last, last])
        widest = max(widest, H[a, a])
        step[a] = (y[free[a]] - h[free[a]]) - (y[last] - h[last])
    # Duplicates make H singular. The ridge does not move the minimum, and it bounds the step.
    ridge = _ROUNDING * (abs(K[last, last]) + _ROUNDING * widest)
    if factor(H, _RIDGE, ridge, 0.0, m, H, np.empty(m)) < m:
        return step, False
    forward(H, m, step)
    backward(H, m, step)
    for a in range(m):
        step[m] -= step[a]
    return step, True


@compiled
def newton(K, y, state):
    """Take a few Newton steps over the free variables until none reaches a bound; return False if K is not convex."""
    low, high, beta, h = state[LOW], state[HIGH], state[BETA], state[H]
    n = y.shape[0]
    free = np.empty(n, np.intp)
    for _ in range(5):
        m = 0
        for t in range(n):
            if low[t] < beta[t] < high[t]:
                free[m] = t
                m += 1
        if m < 2:
            return True
        step, convex = newton_step(K, y, h, free[:m])
        if not convex:
            return False
        length, stopped = 1.0, -1
        for a in range(m):
            room = (high[free[a]] if step[a] > 0.0 else low[free[a]]) - beta[free[a]]
            if abs(length * step[a]) > abs(room):
                length, stopped = room / step[a], a
        for a in range(m):
            t = free[a]
            beta[t] = min(max(beta[t] + length * step[a], low[t]), high[t])
            if a == stopped:
                beta[t] = high[t] if step[a] > 0.0 else low[t]
        for t in range(n):
            h[t] = 0.0
        for u in range(n):
            if beta[u] != 0.0:
                for t in range(n):
                    h[t] += beta[u] * K[u, t]
        if stopped < 0:
            break
    return True


@compiled
def solve(K, y, state, size, left):
    """Move a feasible ``beta`` to the solution of the dual, in place; return whether ``left`` steps were enough.

    ``size`` is the largest ``|K|``. If K is indefinite, the solution is a point where the first-order conditions hold.
    """
    n = y.shape[0]
    burst = n
    polished = False
    while left > 0:
        steps, optimal = smo(K, y, state, size, min(burst, left))
        # SMO stops at a point within its tolerance that depends on the start; one more Newton step removes that.
        if optimal and polished:
            return True
        polished = polished or optimal
        burst = _BURST if newton(K, y, state) else 2 * burst
        left -= steps + n  # a Newton step costs as much as about n SMO steps
    return False
