"""Compiled: the support vector machines of one neighbourhood, for a whole range of C.

With ``beta = y * alpha`` the dual of the SVC reads

    minimise  beta^T K beta / 2 - y^T beta  over  sum beta = 0,  0 <= y * beta <= C.

Three things make it quick and exact:

* SMO steps with libsvm's second-order choice of pairs (Fan, Chen & Lin, JMLR 6, 2005, WSS 2) find which variables are
  at a bound;
* Newton steps solve for those that are not. Where classes overlap, at k = 128 and C = 1e5, SMO alone takes up to a
  million steps; together they take a few hundred and end at rounding error instead of libsvm's 1e-3;
* C climbs by powers of ten from where every variable is at a bound, each solution stretched to be the start of the
  next: 3 to 10 times faster than from zero. The rungs do not depend on the C asked for, so that one C alone gives, to
  the last digit, what it gives within a range, even where the solution is not unique.

Plain loops throughout: array expressions would double the time it takes to compile.
"""

from __future__ import annotations

import math

import numpy as np

from similitude.numerics._cholesky_kernel import backward, factor, forward
from similitude.numerics._compile import kernel
from similitude.numerics._topk_kernel import one_vs_one_scores

GAP = 1e-11
"""Largest violation of the optimality conditions, in units of the decision value."""

# Rounding errors of K beta, relative to its terms; they do not count as violations.
_NOISE = 2.0**-48
# What replaces curvatures that are not positive, and what is added to the diagonal of singular blocks.
_TAU, _RIDGE, _ROUNDING = 1e-12, 1e-12, 1e-14
# Decision values this small, relative to their terms, are 0.
_TIE = 1e-11
_BURST, _MAX_STEPS = 5, 30_000
_SMALLEST_BOUND, _LARGEST_BOUND = 1e-300, 1e100

LOW, HIGH, BETA, H = range(4)
"""Rows of a state: the bounds, the variables, and ``K beta``."""


@kernel
def curvature(K, i, j, size):
    """Along a move of i against j; libsvm's small number where it is not positive."""
    value = K[i, i] + K[j, j] - 2.0 * K[i, j]
    return value if value > 0.0 else _TAU * size


@kernel
def rounding(K, beta, i, j):
    """How far ``h[i] - h[j]`` may be off."""
    total = 0.0
    for t in range(beta.shape[0]):
        total += (abs(K[i, t]) + abs(K[j, t])) * abs(beta[t])
    return _NOISE * total


@kernel
def smo(K, y, state, size, steps):
    """At most so many SMO steps: how many there were, and whether the optimality conditions hold."""
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
        # What reaches its bound is put on it: rounding must not leave it a hair inside.
        new_i = high[i] if move == room_i else beta[i] + move
        new_j = low[j] if move == room_j else beta[j] - move
        moved_i, moved_j = new_i - beta[i], new_j - beta[j]
        total += abs(new_i) - abs(beta[i]) + abs(new_j) - abs(beta[j])
        beta[i], beta[j] = new_i, new_j
        for t in range(n):
            h[t] += K[i, t] * moved_i + K[j, t] * moved_j
    return steps, False


@kernel
def newton_step(K, y, h, free):
    """The step of the free variables to their minimum on ``sum beta = 0``, and whether K is convex there.

    The last one balances the others, whose step solves ``(H + ridge) step = slope``.
    """
    m = free.shape[0] - 1
    for a in range(m):
        # The least of them last: in differences from a larger one it would be lost.
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
    # Duplicates make H singular; the ridge leaves the minimum where it is and bounds the step.
    ridge = _ROUNDING * (abs(K[last, last]) + _ROUNDING * widest)
    if factor(H, _RIDGE, ridge, 0.0, m, H, np.empty(m)) < m:
        return step, False
    forward(H, m, step)
    backward(H, m, step)
    for a in range(m):
        step[m] -= step[a]
    return step, True


@kernel
def newton(K, y, state):
    """A few Newton steps over the free variables, till none meets a bound; False where K is not convex there."""
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


@kernel
def solve(K, y, state, size, left):
    """From a feasible ``beta`` to the solution of the dual, in place; whether it was reached in ``left`` steps.

    ``size`` is the largest ``|K|``. On an indefinite K the solution is a point where the first-order conditions hold.
    """
    n = y.shape[0]
    burst = n
    polished = False
    while left > 0:
        steps, optimal = smo(K, y, state, size, min(burst, left))
        # SMO stops somewhere within its tolerance; one more Newton step ends where every start would have led.
        if optimal and polished:
            return True
        polished = polished or optimal
        burst = _BURST if newton(K, y, state) else 2 * burst
        left -= steps + n  # a Newton step costs about n of the others
    return False


@kernel
def stretch(y, state, old, new):
    """A solution for the bound ``old`` made a start for ``new``: what was at its bound stays there."""
    low, high, beta, h = state[LOW], state[HIGH], state[BETA], state[H]
    for t in range(y.shape[0]):
        low[t], high[t] = min(y[t] * new, 0.0), max(y[t] * new, 0.0)
        stretched = beta[t] * (new / old)
        beta[t] = y[t] * new if abs(beta[t]) == old else min(max(stretched, low[t]), high[t])
        h[t] *= new / old


@kernel
def decision(y, state, row, ratio):
    """``ratio sum beta_i row_i - rho``, rho as in libsvm; what rounding cannot tell from 0 is 0."""
    low, high, beta, h = state[LOW], state[HIGH], state[BETA], state[H]
    rho, n_free = 0.0, 0
    up, down = -1, -1
    value, terms = 0.0, 0.0
    for t in range(y.shape[0]):
        value += beta[t] * row[t]
        terms += abs(beta[t] * row[t])
        if low[t] < beta[t] < high[t]:
            rho += h[t] - y[t]
            n_free += 1
        if beta[t] < high[t] and (up < 0 or y[t] - h[t] > y[up] - h[up]):
            up = t
        if beta[t] > low[t] and (down < 0 or y[t] - h[t] < y[down] - h[down]):
            down = t
    if n_free > 0:
        rho /= n_free
    else:
        # Labels apart: they often cancel, and what is left may be as small as the similarities.
        rho = 0.5 * (h[up] + h[down]) - 0.5 * (y[up] + y[down])
    value = ratio * value - rho
    return value if abs(value) > _TIE * (ratio * terms + abs(rho)) else 0.0


@kernel
def decisions(K, y, row, ratio, unit, costs, wanted, values):
    """Decision values of one pair of classes for the wanted C among the ascending ``costs``; how many are not solved.

    ``K`` is in units of ``unit``: what C is to the similarities, ``C * unit`` is to it.
    """
    n = y.shape[0]
    size = 0.0
    for t in range(n):
        for u in range(n):
            size = max(size, abs(K[t, u]))
    size = size if size > 0.0 else 1.0
    exponent = math.floor(-math.log10(n * size) - math.log10(unit))
    rung, bound = 0.0, 1.0
    state = np.zeros((4, n))
    solved, settled, failures = True, False, 0
    for c in range(costs.shape[0]):
        here, here_solved, at = state, solved, rung
        while wanted[c] and not settled and at != costs[c]:
            climbs = exponent <= 308 and 10.0**exponent <= costs[c]
            at = 10.0**exponent if climbs else costs[c]
            here = state if climbs else state.copy()
            new_bound = min(max(at * unit, _SMALLEST_BOUND), _LARGEST_BOUND)
            stretch(y, here, bound, new_bound)
            here_solved = solve(K, y, here, size, _MAX_STEPS)
            if climbs:
                exponent, rung, bound, solved = exponent + 1, at, new_bound, here_solved
                # With nothing at its bound, a larger C changes nothing.
                settled = np.max(np.abs(here[BETA])) < bound
        if wanted[c]:
            values[c] = decision(y, here, row, ratio)
            failures += not here_solved
    return failures


@kernel
def one_vs_one(K, row, ratio, unit, labels, n_classes, costs, wanted, scores):
    """Decision values (two classes) or scores (more) of one neighbourhood; how many machines are not solved.

    As in libsvm the earlier class of a pair comes first and is the positive one. A score is the number of pairs won
    and less than a third for the sum of the decision values; a class without neighbours has -1.
    """
    k = labels.shape[0]
    counts, pair = np.zeros(n_classes, np.intp), np.empty(k, np.intp)
    for a in range(k):
        counts[labels[a]] += 1
    votes, sums = np.zeros((costs.shape[0], n_classes)), np.zeros((costs.shape[0], n_classes))
    values = np.zeros(costs.shape[0])
    failures = 0
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            if counts[first] == 0 or counts[second] == 0:
                continue
            m = 0
            for label in (first, second):
                for a in range(k):
                    if labels[a] == label:
                        pair[m] = a
                        m += 1
            block, y, part = np.empty((m, m)), np.empty(m), np.empty(m)
            for a in range(m):
                y[a], part[a] = 1.0 if a < counts[first] else -1.0, row[pair[a]]
                for b in range(m):
                    block[a, b] = K[pair[a], pair[b]]
            failures += decisions(block, y, part, ratio, unit, costs, wanted, values)
            for c in range(costs.shape[0]):
                votes[c, first if values[c] > 0.0 else second] += 1.0
                sums[c, first] += values[c]
                sums[c, second] -= values[c]
    for c in range(costs.shape[0]):
        if n_classes == 2:
            scores[c, 0] = sums[c, 1]
        else:
            one_vs_one_scores(votes[c], sums[c], counts, True, scores[c])
    return failures


@kernel
def normalize(values):
    """Divide by a power of four (exact, and so is its root), making the largest entry about 1; its exponent to 2."""
    largest = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            largest = max(largest, abs(values[i, j]))
    exponent = 2 * (min(max(math.frexp(largest)[1], -1000), 1000) // 2)
    factor = math.ldexp(1.0, -exponent)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] *= factor
    return exponent
