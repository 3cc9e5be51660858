"""The rounds of DBoost, and its decision values."""

import math

import numpy as np

from similitude.boosting._cut_search import bucket_by_knots, encode, search_pair, value_of
from similitude.numerics.compiled import compiled

CAP = 1.0 - 1e-10
"""Largest gamma: a perfect pair gets a finite coefficient, and boosting goes on."""
UNITS = 2.0**52
"""The whole units in which the search counts weights: sums of them are exact in any order."""
FLOOR = 1e-300
"""Smallest weight: none is lost for good, and there are no denormal numbers."""


@compiled
def _draw(cumulated, first, last, uniform):
    """The position, from ``first`` to before ``last``, that a number in [0, 1) chooses by the cumulated weights."""
    target = uniform * cumulated[last - 1]
    low, high = first, last - 1
    while low < high:
        middle = (low + high) // 2
        if cumulated[middle] > target:
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def _differences(plus, minus, differences):
    for i in range(differences.shape[0]):
        # Adding 0 makes one of the two zeros.
        differences[i] = np.float64(plus[i]) - np.float64(minus[i]) + 0.0


@compiled
def _cut_above(differences, place):
    """Return the middle between a difference and the next larger one, infinity where there is none."""
    if place == -math.inf:
        return place
    following = math.inf
    for i in range(differences.shape[0]):
        if differences[i] > place and differences[i] < following:
            following = differences[i]
    if following == math.inf:
        return following
    cut = place + (following - place) / 2.0
    return place if cut >= following else cut


@compiled
def _reweight(differences, cut, units, n_positive, real, weights, outputs):
    """The outputs of the base classifier below and above the cut, and the weights of the next round."""
    n = differences.shape[0]
    below_positive = below_negative = above_positive = above_negative = 0.0
    for i in range(n_positive):
        if differences[i] > cut:
            above_positive += units[i]
        else:
            below_positive += units[i]
    for i in range(n_positive, n):
        if differences[i] > cut:
            above_negative += units[i]
        else:
            below_negative += units[i]
    total = below_positive + below_negative + above_positive + above_negative
    if real:
        below = math.sqrt((below_negative / total + 1.0 / n) / (below_positive / total + 1.0 / n))
        above = math.sqrt((above_negative / total + 1.0 / n) / (above_positive / total + 1.0 / n))
        outputs[0], outputs[1] = -math.log(below), -math.log(above)
        for i in range(n_positive):
            weights[i] *= above if differences[i] > cut else below
        for i in range(n_positive, n):
            weights[i] /= above if differences[i] > cut else below
    else:
        gamma = min(1.0 - 2.0 * (below_positive + above_negative) / total, CAP)
        outputs[1] = math.log((1.0 + gamma) / (1.0 - gamma)) / 2.0
        outputs[0] = -outputs[1]
        for i in range(n_positive):
            weights[i] /= 1.0 + gamma if differences[i] > cut else 1.0 - gamma
        for i in range(n_positive, n):
            weights[i] /= 1.0 - gamma if differences[i] > cut else 1.0 + gamma
    total = 0.0
    for i in range(n):
        total += weights[i]
    for i in range(n):
        weights[i] = max(weights[i] / total, FLOOR)


@compiled
def _weigh(weights, n_positive, cumulated, units):
    """Return weights cumulated within each class, and in whole units; the units of both classes."""
    total = positives = negatives = 0.0
    for i in range(weights.shape[0]):
        total += weights[i]
    for i in range(weights.shape[0]):
        cumulated[i] = weights[i] if i == 0 or i == n_positive else cumulated[i - 1] + weights[i]
        units[i] = math.floor(weights[i] * (UNITS / total) + 0.5)
        if i < n_positive:
            positives += units[i]
        else:
            negatives += units[i]
    return positives, negatives


@compiled
def _compare(columns, plus, minus, ramps, space):
    """The differences of a pair, in buckets."""
    _differences(columns[plus], columns[minus], space.differences)
    n_buckets = space.bounds.shape[0]
    if ramps.coded:
        encode(space.bits, space.codes)
        bucket_by_knots(space.codes, ramps.knots, ramps.slopes, n_buckets, space.keys, space.buckets)
    else:
        bucket_by_knots(space.differences, ramps.knots, ramps.slopes, n_buckets, space.keys, space.buckets)


@compiled
def boost(columns, n_positive, uniforms, real, ramps, weights, pairs, cuts, outputs, space):
    """Rounds of boosting, as many as ``uniforms`` of shape (T, M, 2) has.

    ``columns[j, i]`` is psi(x_i, x_j), the positive samples before the negative ones. ``weights``, positive numbers
    that are kept from one call to the next, change; ``pairs`` (T, 2), ``cuts`` and ``outputs`` (T, 2) are filled.
    """
    n = columns.shape[0]
    cumulated, units = np.empty(n), np.empty(n)
    for t in range(uniforms.shape[0]):
        positives, negatives = _weigh(weights, n_positive, cumulated, units)
        # The cut below all differences comes first: it says + throughout.
        best, place = value_of(0.0, 0.0, positives, negatives, real), -math.inf
        for m in range(uniforms.shape[1]):
            plus = _draw(cumulated, 0, n_positive, uniforms[t, m, 0])
            minus = _draw(cumulated, n_positive, n, uniforms[t, m, 1])
            _compare(columns, plus, minus, ramps, space)
            value, found = search_pair(units, n_positive, positives, negatives, real, best, ramps.atoms, space)
            if m == 0 or value < best:
                pairs[t, 0], pairs[t, 1] = plus, minus
                best, place = value, found
        _differences(columns[pairs[t, 0]], columns[pairs[t, 1]], space.differences)
        cuts[t] = _cut_above(space.differences, place)
        _reweight(space.differences, cuts[t], units, n_positive, real, weights, outputs[t])


@compiled
def decide(rows, pairs, cuts, outputs, stages, totals, decisions):
    """Sums of the base classifiers' outputs, added to ``totals``, after the first ``stages[j]`` (ascending) of them."""
    for r in range(rows.shape[0]):
        t = 0
        for j in range(stages.shape[0]):
            while t < stages[j]:
                difference = np.float64(rows[r, pairs[t, 0]]) - np.float64(rows[r, pairs[t, 1]])
                totals[r] += outputs[t, 1] if difference > cuts[t] else outputs[t, 0]
                t += 1
            decisions[r, j] = totals[r]
