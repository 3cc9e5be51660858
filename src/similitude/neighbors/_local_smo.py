"""Compiled support vector machines of one neighbourhood, for a whole range of C.

Each machine is solved by :mod:`similitude.numerics.smo`. C increases by powers of ten from a value at which every
variable is at a bound, and each solution is rescaled to be the start of the next, which is 3 to 10 times as fast as
starting from zero. The powers of ten do not depend on the given values of C, so that one C alone gives the same result
as within a range, to the last digit, even if the solution is not unique.

The code consists of plain loops, because array expressions would double the time it takes to compile.
"""

from __future__ import annotations

import math

import numpy as np

from similitude.numerics.compiled import compiled
from similitude.numerics.smo import BETA, HIGH, LOW, H, solve
from similitude.numerics.topk_compiled import one_vs_one_scores

# Decision values this small, relative to their terms, count as 0.
_TIE = 1e-11
_MAX_STEPS = 30_000
_SMALLEST_BOUND, _LARGEST_BOUND = 1e-300, 1e100


@compiled
def stretch(y, state, old, new):
    """Rescale a solution for the bound ``old`` to a start for the bound ``new``; variables at a bound stay there."""
    low, high, beta, h = state[LOW], state[HIGH], state[BETA], state[H]
    for t in range(y.shape[0]):
        low[t], high[t] = min(y[t] * new, 0.0), max(y[t] * new, 0.0)
        stretched = beta[t] * (new / old)
        beta[t] = y[t] * new if abs(beta[t]) == old else min(max(stretched, low[t]), high[t])
        h[t] *= new / old


@compiled
def decision(y, state, row, ratio):
    """Return ``ratio sum beta_i row_i - rho``, with rho as in libsvm; a value that is 0 up to rounding becomes 0."""
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
        # The labels are added separately: they often cancel, and the rest may be as small as the similarities.
        rho = 0.5 * (h[up] + h[down]) - 0.5 * (y[up] + y[down])
    value = ratio * value - rho
    return value if abs(value) > _TIE * (ratio * terms + abs(rho)) else 0.0


@compiled
def decisions(K, y, row, ratio, unit, costs, wanted, values):
    """Write the decision values of one pair of classes for the wanted C; return the number of unsolved machines.

    ``costs`` holds the values of C, ascending. ``K`` is given in units of ``unit``: ``C * unit`` is to K what C is to
    the similarities.
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
                # If no variable is at its bound, a larger C changes nothing.
                settled = np.max(np.abs(here[BETA])) < bound
        if wanted[c]:
            values[c] = decision(y, here, row, ratio)
            failures += not here_solved
    return failures


@compiled
def one_vs_one(K, row, ratio, unit, labels, n_classes, costs, wanted, scores):
    """Write the decision values (two classes) or scores (more classes) of one neighbourhood.

    As in libsvm the earlier class of a pair is the positive one. A score is the number of pairs won plus a term between
    -1/3 and 1/3 that grows with the sum of the decision values; a class without neighbours has -1. Returns the number
    of unsolved machines.
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


@compiled
def normalize(values):
    """Divide by a power of four, which is exact, so that the largest entry is about 1; return its binary exponent."""
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
