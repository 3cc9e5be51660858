"""Compiled: maximum-entropy distributions of the distance from one end of Omega, by tabulated log-partitions.

Distances run from 0 to 1. With Z(k) = sum of w_i exp(-k d_i), the mean distance is -(log Z)'(k), which falls to 0 as
the rate k rises. Around each rate log Z is a Taylor series whose coefficients are the cumulants of the distance.
"""

from __future__ import annotations

import math

import numpy as np

from similitude.numerics.compiled import compiled

ORDER = 16
"""Degree of the Taylor series."""

_NEGLIGIBLE = 100.0
_PRECISION = 1e-13
_CHUNK = 256
_MOST_INTERVALS = 4096


@compiled
def cumulants(distances, weights, atoms, rate, shares, out):
    """log Z and the first ``ORDER`` cumulants of the distance at this rate, into ``out`` (ORDER + 1).

    ``distances`` ascend; ``shares`` is work space of their length. Without ``atoms`` they are places on [0, 1] at which
    an integral is evaluated, and are drawn together to where the mass is. Small terms are added up first, and in
    chunks: so many terms of one millionth of a rounding error each are not lost.
    """
    n = distances.shape[0]
    reach = 1.0 if atoms else min(1.0, _NEGLIGIBLE / max(rate, 1.0))
    reached = n
    while rate * reach * distances[reached - 1] > _NEGLIGIBLE:
        reached -= 1
    total, first, chunk, moment = 0.0, 0.0, 0.0, 0.0
    for step in range(reached):
        i = reached - 1 - step if rate > 0.0 else step
        shares[i] = weights[i] * math.exp(-rate * reach * distances[i])
        chunk += shares[i]
        moment += shares[i] * distances[i]
        if step % _CHUNK == _CHUNK - 1 or step == reached - 1:
            total += chunk
            first += moment
            chunk, moment = 0.0, 0.0
    mean = first / total
    moments, parts = np.zeros(ORDER + 1), np.empty(ORDER + 1)
    for start in range(0, reached, _CHUNK):
        parts[:] = 0.0
        for i in range(start, min(start + _CHUNK, reached)):
            offset = distances[i] - mean
            power = shares[i] / total * offset
            for j in range(2, ORDER + 1):
                power *= offset
                parts[j] += power
        for j in range(2, ORDER + 1):
            moments[j] += parts[j]
    for j in range(2, ORDER + 1):
        # A cumulant is its central moment less products of lower ones.
        value, binomial = moments[j], float(j - 1)
        for i in range(2, j - 1):
            value -= binomial * out[i] * moments[j - i]
            binomial *= (j - i) / i
        out[j] = value
    out[0], out[1] = math.log(total * reach), mean
    for j in range(1, ORDER + 1):
        out[j] *= reach**j


@compiled
def series(coefficients, x):
    """log Z at ``x`` in [-1, 1] of one interval of the table, and its first two derivatives."""
    value, slope, curvature = coefficients[ORDER], 0.0, 0.0
    for j in range(ORDER - 1, -1, -1):
        curvature = curvature * x + 2.0 * slope
        slope = slope * x + value
        value = value * x + coefficients[j]
    return value, slope, curvature


@compiled
def _reach(values, rate):
    """Return how far around its centre the series is exact, and which error of the mean distance counts as none.

    An error of the mean moves log P at a distance d from it by that error times d over the variance; beyond 50 / rate
    there is no mass.
    """
    relevant = min(1.0, 50.0 / max(abs(rate), 50.0))
    error = max(_PRECISION * values[2] / relevant, 4e-16 * values[1])
    reach, factorial = np.inf, 1.0
    for j in range(2, ORDER + 1):
        factorial *= j - 1  # (j - 1)!
        if j >= ORDER - 1 and values[j] != 0.0:
            reach = min(reach, (error * factorial / abs(values[j])) ** (1.0 / (j - 1)))
    return reach, error


@compiled
def _march(distances, weights, atoms, direction, end, centres, widths, coefficients):
    """Fill a table from the rate 0 on until the mean passes ``end``, each interval as wide as its series allows.

    An interval whose mean at the common edge is not that of the one before is made narrower. Returns how many there
    are.
    """
    shares, values = np.empty(distances.shape[0]), np.empty(ORDER + 1)
    cumulants(distances, weights, atoms, 0.0, shares, values)
    edge, width, mean = 0.0, 0.25, values[1]
    count = 0
    while direction * (mean - end) > 0.0 and count < centres.shape[0]:
        centre = edge + direction * width
        cumulants(distances, weights, atoms, centre, shares, values)
        reach, error = _reach(values, centre)
        if width > reach:
            width = 0.9 * reach
            continue
        factor = 1.0
        for j in range(ORDER + 1):
            coefficients[count, j] = values[j] * factor
            factor *= -width / (j + 1)  # odd derivatives of log Z are negative cumulants
        if abs(series(coefficients[count], -direction)[1] / -width - mean) > 10.0 * error and width > 1e-9 * abs(
            centre
        ):
            width *= 0.5
            continue
        centres[count], widths[count] = centre, width
        edge += 2.0 * direction * width
        mean = series(coefficients[count], direction)[1] / -width
        width = min(reach, 2.0 * width)
        count += 1
    return count


@compiled
def tabulate(distances, weights, atoms, floor):
    """Taylor series of log Z from where the mean distance is at least 1/2 to where it is ``floor`` or less.

    Returns the logarithms of the means at the edges of the intervals, descending, the intervals' centres (rates), their
    half-widths and the coefficients in (rate - centre) / half-width.
    """
    centres, widths = np.empty(_MOST_INTERVALS), np.empty(_MOST_INTERVALS)
    coefficients = np.empty((_MOST_INTERVALS, ORDER + 1))
    left = _march(distances, weights, atoms, -1.0, 0.5, centres, widths, coefficients)
    for i in range(left // 2):
        other = left - 1 - i
        centres[i], centres[other] = centres[other], centres[i]
        widths[i], widths[other] = widths[other], widths[i]
        for j in range(ORDER + 1):
            swap = coefficients[i, j]
            coefficients[i, j] = coefficients[other, j]
            coefficients[other, j] = swap
    count = left + _march(distances, weights, atoms, 1.0, floor, centres[left:], widths[left:], coefficients[left:])
    log_means = np.empty(count + 1)
    for i in range(count):
        log_means[i] = math.log(series(coefficients[i], -1.0)[1] / -widths[i])
    log_means[count] = math.log(series(coefficients[count - 1], 1.0)[1] / -widths[count - 1])
    return log_means, centres[:count].copy(), widths[:count].copy(), coefficients[:count].copy()


@compiled
def _solve(distance, log_means, centres, widths, coefficients):
    """The rate at which the mean is ``distance``, and log Z there: Newton's method within one interval of the table."""
    target = math.log(distance)
    low, high = 0, centres.shape[0] - 1
    while low < high:  # log_means[j], log_means[j + 1]: the means at the two edges of interval j
        middle = (low + high) // 2
        if target >= log_means[middle + 1]:
            high = middle
        else:
            low = middle + 1
    width = widths[low]
    x = 2.0 * (log_means[low] - target) / (log_means[low] - log_means[low + 1]) - 1.0
    for _ in range(20):
        _, slope, curvature = series(coefficients[low], x)
        step = (slope + distance * width) / curvature
        x = min(max(x - step, -1.5), 1.5)
        if abs(step) <= 1e-9:  # the error left is the square of that
            break
    return centres[low] + width * x, series(coefficients[low], x)[0]


@compiled
def solve(below, above, floor, atoms, lower, upper, rates, log_z, from_above):
    """Rates and log Z of the distributions with the given mean distances from the two ends, one for each.

    Distances are from the lower end, or from the upper end where that is nearer (``from_above``). A mean within
    ``floor`` of an end has the rate infinity if there are ``atoms``, else that of a mean so far away. ``lower`` and
    ``upper`` are the tables of the two ends.
    """
    for i in range(below.shape[0]):
        from_above[i] = above[i] < below[i]
        nearer = min(above[i], below[i])
        if nearer <= floor and atoms:
            rates[i], log_z[i] = np.inf, 0.0
            continue
        nearer = max(nearer, floor)
        if from_above[i]:
            rates[i], log_z[i] = _solve(nearer, upper[0], upper[1], upper[2], upper[3])
        else:
            rates[i], log_z[i] = _solve(nearer, lower[0], lower[1], lower[2], lower[3])


@compiled
def log_average_products(below, above, order, present, starts, rates, log_z, from_above, empty, totals):
    """Add up, for each row and class g, the logarithms of averages of distributions over the classes h present.

    The average for (g, h) is over the distributions ``starts[g G + h]`` and following, at the place that a row has in
    column h of ``below`` and ``above``; its logarithm is ``empty`` where there are none. ``order`` sorts each column of
    ``below``: places that rows have in common are looked up once.
    """
    m, n_classes = below.shape
    logs = np.empty(rates.shape[0])
    for h in range(n_classes):
        for g in range(n_classes):
            start, stop = starts[g * n_classes + h], starts[g * n_classes + h + 1]
            place, value = np.nan, empty
            for r in range(m):
                i = order[r, h]
                if not present[i, h]:
                    continue
                if stop > start and below[i, h] != place:
                    place = below[i, h]
                    value = _log_average(place, above[i, h], start, stop, rates, log_z, from_above, logs)
                totals[i, g] += value


@compiled
def _log_average(below, above, start, stop, rates, log_z, from_above, logs):
    """Return the logarithm of the average of some distributions at one place; ``logs`` is work space."""
    largest = -np.inf
    for p in range(start, stop):
        distance = above if from_above[p] else below
        if rates[p] == np.inf:
            logs[p] = 0.0 if distance == 0.0 else -np.inf
        else:
            logs[p] = -rates[p] * distance - log_z[p]
        largest = max(largest, logs[p])
    if largest == -np.inf:
        return -np.inf
    total = 0.0
    for p in range(start, stop):
        if logs[p] > largest - 50.0:
            total += math.exp(logs[p] - largest)
    return largest + math.log(total / (stop - start))


@compiled
def recurrences(values, starts, jacobi):
    """The Jacobi matrices of groups of values in order, each scaled to [-1, 1] (Stieltjes' procedure).

    Group p is ``values[starts[p]:starts[p + 1]]``; ``jacobi`` (groups, points, points) starts at zero.
    """
    for p in range(jacobi.shape[0]):
        n = starts[p + 1] - starts[p]
        middle = (values[starts[p]] + values[starts[p + 1] - 1]) / 2.0
        half = (values[starts[p + 1] - 1] - values[starts[p]]) / 2.0
        x, before, current = np.empty(n), np.zeros(n), np.ones(n)
        for i in range(n):
            x[i] = (values[starts[p] + i] - middle) / half
        norm, beta = float(n), 0.0
        for j in range(jacobi.shape[1]):
            alpha = 0.0
            for i in range(n):
                alpha += x[i] * current[i] ** 2
            alpha /= norm
            following = 0.0
            for i in range(n):
                value = (x[i] - alpha) * current[i] - beta * before[i]
                before[i], current[i] = current[i], value
                following += value**2
            jacobi[p, j, j] = alpha
            beta = max(following, 1e-300) / norm
            norm = max(following, 1e-300)
            if j + 1 < jacobi.shape[1]:
                jacobi[p, j, j + 1] = jacobi[p, j + 1, j] = math.sqrt(beta)


@compiled
def keep_distinct(values, limit):
    """Of ascending values those more than ``limit`` apart, at the front of the array; returns how many there are.

    The least and the largest are kept where there are two or more.
    """
    last = values[values.shape[0] - 1]
    kept = 1
    for i in range(1, values.shape[0]):
        if values[i] - values[kept - 1] > limit:
            values[kept] = values[i]
            kept += 1
    if kept > 1:
        values[kept - 1] = last
    return kept
