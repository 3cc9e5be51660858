"""Compiled code for lasso problems in a box, ``minimise ||y - A a||^2 / 2 + epsilon ||a||_1,  |a_j| <= bounds_j``.

``sweep`` descends along one coordinate after the other: it is cheap, and a good guess of which coefficients are 0, at
their bound, or free. ``active_set`` ends at rounding error, by Newton's method on the free coefficients. ``rows`` holds
the columns of A, and ``G = A^T A``.
"""

from __future__ import annotations

import math

import numpy as np

from similitude.numerics.cholesky import backward, dot, forward
from similitude.numerics.compiled import compiled

# The state of a coefficient: at 0 or at its bound, between these, or kept where it is between these.
FIXED, FREE, HELD = 0, 1, 2

_EPS = float(np.finfo(float).eps)
# A pivot below this share of its column's square is mostly rounding errors of G, and is taken from the column itself.
_DOUBTFUL = 1e-8
# What is left of a column, relative to its square, where it is a combination of those before it.
_DEPENDENT = 1e-14


@compiled
def sweep(rows, squares, epsilon, bounds, sweeps, a, r):
    """Minimise along each coordinate in turn, ``r = y - A a``; a and r are changed.

    Returns the largest change of r by one coefficient in the last sweep.
    """
    n, largest = r.shape[0], 0.0
    for _ in range(sweeps):
        largest = 0.0
        for j in range(a.shape[0]):
            row = rows[j]
            target = a[j] + dot(row, r, n) / squares[j]
            new = min(max(abs(target) - epsilon / squares[j], 0.0), bounds[j])
            change = math.copysign(new, target) - a[j]
            if change != 0.0:
                a[j] += change
                largest = max(largest, abs(change) * math.sqrt(squares[j]))
                for i in range(n):
                    r[i] -= change * row[i]
        if largest <= 1e-8:
            break
    return largest


@compiled
def gradient(rows, y, a, r, g):
    """Write ``A^T (y - A a)`` into g: from r itself, which is more accurate than from G where A a is close to y."""
    n = r.shape[0]
    for t in range(n):
        r[t] = y[t]
    for j in range(a.shape[0]):
        if a[j] != 0.0:
            row, value = rows[j], a[j]
            for t in range(n):
                r[t] -= value * row[t]
    for j in range(a.shape[0]):
        g[j] = dot(rows[j], r, n)


@compiled
def remainder(rows, free, c, U, x, rest, again):
    """Take from ``rest`` its part in the span of the columns ``free[:c]``, whose coefficients are added to x."""
    n = rest.shape[0]
    for i in range(c):
        again[i] = dot(rows[free[i]], rest, n)
    forward(U, c, again)
    backward(U, c, again)
    for i in range(c):
        x[i] += again[i]
        row, value = rows[free[i]], again[i]
        for t in range(n):
            rest[t] -= value * row[t]


@compiled
def factor(rows, G, free, m, U, x, rest, again):
    """Factor the products of the columns ``free[:m]``, ``G = U^T U``, up to the first that depends on those before it.

    Returns the position of that column, for which x then holds the combination and ``U[c, c]`` what is left of its
    square, or m.
    """
    n = rows.shape[1]
    for c in range(m):
        row, own = U[c], G[free[c], free[c]]
        for b in range(c, m):
            row[b] = G[free[c], free[b]]
        whole = c - c % 4
        for i in range(0, whole, 4):  # four finished rows at a time: a fourth of the stores
            d, e, f, h = U[i, c], U[i + 1, c], U[i + 2, c], U[i + 3, c]
            o, p, q, s = U[i], U[i + 1], U[i + 2], U[i + 3]
            for b in range(c, m):
                row[b] -= d * o[b] + e * p[b] + f * q[b] + h * s[b]
        for i in range(whole, c):
            d, o = U[i, c], U[i]
            for b in range(c, m):
                row[b] -= d * o[b]
        if row[c] <= _DOUBTFUL * own:
            for i in range(c):
                x[i] = 0.0
            for t in range(n):
                rest[t] = rows[free[c], t]
            remainder(rows, free, c, U, x, rest, again)
            remainder(rows, free, c, U, x, rest, again)
            row[c] = dot(rest, rest, n)
            if row[c] <= _DEPENDENT * own:
                return c
            for b in range(c + 1, m):
                row[b] = dot(rest, rows[free[b]], n)
        scale = 1.0 / math.sqrt(row[c])
        for b in range(c, m):
            row[b] *= scale
    return m


@compiled
def solve_free(U, m, h, step):
    """Write ``(U^T U)^-1 h`` into ``step``."""
    for i in range(m):
        step[i] = h[i]
    forward(U, m, step)
    backward(U, m, step)


@compiled
def free_slopes(free, m, g, epsilon, signs, h):
    """Write into h by how much the objective falls with each free coefficient."""
    for i in range(m):
        h[i] = g[free[i]] - epsilon * signs[free[i]]


@compiled
def distance_to_kink(value, sign, rate, bound):
    """Return how far a coefficient of this sign may go at this rate until it is 0 or at its bound."""
    if rate * sign > 0.0:
        return max(bound - abs(value), 0.0) / abs(rate)
    if rate * sign < 0.0:
        return abs(value) / abs(rate)
    return np.inf


@compiled
def slide(free, rank, x, curve, h, noise, worth, bounds, a, signs, state):
    """Move so that little but the norm changes: column ``free[rank]`` depends on those before it, x is its combination.

    The move descends until a coefficient comes to a kink, and is fixed, or to the lowest point. Where the norm does
    not change either it goes towards 0, for fewer columns, if that costs no more than ``worth``; else the coefficient
    is held.
    """
    c = free[rank]
    slope = h[rank]
    for i in range(rank):
        slope -= x[i] * h[i]
    level = abs(slope) <= noise
    direction = -signs[c] if level else math.copysign(1.0, slope)
    if a[c] == 0.0 and direction != signs[c]:
        state[c] = FIXED
        return
    first, t = rank, distance_to_kink(a[c], signs[c], direction, bounds[c])
    for i in range(rank):
        j = free[i]
        there = distance_to_kink(a[j], signs[j], -direction * x[i], bounds[j])
        if there < t:
            first, t = i, there
    if level and 0.5 * curve * t * t > worth:
        state[c] = HELD
        return
    if not level and curve * t > abs(slope):
        first, t = -1, abs(slope) / curve
    a[c] += t * direction
    for i in range(rank):
        a[free[i]] -= t * direction * x[i]
    if first >= 0:
        j, rate = free[first], direction if first == rank else -direction * x[first]
        a[j] = signs[j] * bounds[j] if rate * signs[j] > 0.0 else 0.0
        state[j] = FIXED


@compiled
def projected_step(rows, free, m, h, step, bounds, a, signs, state, trial, image):
    """Move along ``step``, cut at the kinks: the whole, or half of it, a quarter, ... until that descends enough.

    The objective falls all the way to the first kink, or to the end, so that no less than that is taken. Returns
    whether the whole was, without a kink.
    """
    n, t, nearest, first = image.shape[0], 1.0, 1.0, -1
    for i in range(m):
        j = free[i]
        there = distance_to_kink(a[j], signs[j], step[i], bounds[j])
        if there < nearest:
            nearest, first = there, i
        # Beyond the box no two lengths differ.
        t = min(t, 2.0 * bounds[j] / abs(step[i]) if step[i] != 0.0 else 1.0)
    while t > nearest:
        gain = 0.0
        for e in range(n):
            image[e] = 0.0
        for i in range(m):
            j = free[i]
            row = rows[j]
            trial[i] = signs[j] * min(max(signs[j] * (a[j] + t * step[i]), 0.0), bounds[j]) - a[j]
            gain += h[i] * trial[i]
            for e in range(n):
                image[e] += trial[i] * row[e]
        # From A itself: G would give a difference of large numbers where columns are close to dependent.
        if gain > 0.0 and 0.5 * dot(image, image, n) <= (1.0 - 1e-4) * gain:
            first = -1
            break
        t *= 0.5
    t = max(t, nearest)
    whole = t == 1.0
    for i in range(m):
        j = free[i]
        new = signs[j] * (a[j] + t * step[i])
        if i != first and 0.0 < new < bounds[j]:
            a[j] = signs[j] * new
        else:
            a[j] = signs[j] * bounds[j] if step[i] * signs[j] > 0.0 else 0.0
            state[j] = FIXED
            whole = False
    return whole


@compiled
def release(roots, size, epsilon, a, g, signs, state):
    """Free the fixed coefficients that would improve the objective most, and return how many these are.

    Gradients below their rounding errors tell nothing; ``size`` is the norm of y.
    """
    k = a.shape[0]
    worst, count = 0.0, 0
    for j in range(k):
        size += roots[j] * abs(a[j])
    for again in range(2):
        for j in range(k):
            if state[j] == FREE:
                continue
            sign = math.copysign(1.0, g[j] if a[j] == 0.0 else a[j])
            violation = abs(g[j]) - epsilon if a[j] == 0.0 else epsilon - g[j] * sign
            if state[j] == HELD:
                violation = abs(violation) - 1e-9 * epsilon
            if violation <= 16.0 * _EPS * roots[j] * size:
                continue
            if again == 0:
                worst = max(worst, violation)
            elif violation >= 0.5 * worst:
                signs[j], state[j] = sign, FREE
                count += 1
    return count


@compiled
def polish(rows, y, epsilon, free, m, U, h, step, r, g, a, signs, bounds):
    """Compute the free coefficients from nothing but which they are, so that no digit depends on the way here."""
    for i in range(m):
        a[free[i]] = 0.0
    for _ in range(3):
        gradient(rows, y, a, r, g)
        free_slopes(free, m, g, epsilon, signs, h)
        solve_free(U, m, h, step)
        for i in range(m):
            a[free[i]] += step[i]
    for i in range(m):
        j = free[i]
        a[j] = signs[j] * min(max(signs[j] * a[j], 0.0), bounds[j])


@compiled
def active_set(rows, G, y, epsilon, bounds, budget, slides, a, state):
    """Move a, whose coefficients are FREE or FIXED (0 or at the bound), to the optimum; a and state are changed.

    Returns the number of factorisations, negative where it was not reached within ``budget`` of them and ``slides`` of
    those that end at a dependent column, and the smallest square of what is left of a free column relative to its own.
    """
    k, n = rows.shape
    g, h, step, trial, x = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    roots, signs, r, rest = np.empty(k), np.empty(k), np.empty(n), np.empty(n)
    free = np.empty(k, np.intp)
    for j in range(k):
        roots[j] = math.sqrt(G[j, j])
        signs[j] = math.copysign(1.0, a[j])
    square, U = dot(y, y, n), np.empty((0, 0))
    used = 0
    while used < budget and slides > 0:
        m = 0
        for j in range(k):
            if state[j] == FREE:
                free[m] = j
                m += 1
        if m > U.shape[0]:
            U = np.empty((m, m))
        gradient(rows, y, a, r, g)
        free_slopes(free, m, g, epsilon, signs, h)
        rank = factor(rows, G, free, m, U, x, rest, trial)
        if rank < m:
            slides -= 1
            slide(free, rank, x, U[rank, rank], h, 1e-9 * epsilon, 1e-16 * square, bounds, a, signs, state)
            continue
        used += 1
        solve_free(U, m, h, step)
        if not projected_step(rows, free, m, h, step, bounds, a, signs, state, trial, rest):
            continue
        gradient(rows, y, a, r, g)
        if release(roots, math.sqrt(square), epsilon, a, g, signs, state) == 0:
            polish(rows, y, epsilon, free, m, U, h, step, r, g, a, signs, bounds)
            smallest = 1.0
            for i in range(m):
                smallest = min(smallest, U[i, i] * U[i, i] / G[free[i], free[i]])
            return used, smallest
    return -used - 1, 0.0
