"""Compiled parts of local BDA: distances by differences, merged neighbour lists, densities at nested neighbourhoods."""

from __future__ import annotations

import numpy as np

from similitude.numerics.cholesky import dot, factor, forward
from similitude.numerics.compiled import compiled


@compiled
def negative_squares(rows, columns, out):
    """``-||x - z||^2`` for each row x and each column z of ``columns`` (d, n), by differences: duplicates tie."""
    d, n = columns.shape
    whole = d - d % 4
    for i in range(rows.shape[0]):
        x, total = rows[i], out[i]
        for j in range(n):
            total[j] = 0.0
        for f in range(0, whole, 4):  # four features at a time: a fourth of the stores
            p, q, r, s = columns[f], columns[f + 1], columns[f + 2], columns[f + 3]
            for j in range(n):
                a, b, c, e = x[f] - p[j], x[f + 1] - q[j], x[f + 2] - r[j], x[f + 3] - s[j]
                total[j] -= (a * a + b * b) + (c * c + e * e)
        for f in range(whole, d):
            p = columns[f]
            for j in range(n):
                a = x[f] - p[j]
                total[j] -= a * a


@compiled
def merge(closeness, places, lengths, labels):
    """The classes of the nearest samples of all, nearest first, ties by place, from the lists of each class.

    ``closeness`` and ``places`` (G, m, k) hold the classes' lists, ``lengths`` (G,) long; ``labels`` is (m, K) with K
    at most their total length.
    """
    n_classes = len(lengths)
    heads = np.empty(n_classes, dtype=np.intp)
    for row in range(labels.shape[0]):
        heads[:] = 0
        for j in range(labels.shape[1]):
            best = -1
            for g in range(n_classes):
                at = heads[g]
                if at == lengths[g]:
                    continue
                if best >= 0:
                    own, other = closeness[g, row, at], closeness[best, row, heads[best]]
                    if own < other or (own == other and places[g, row, at] > places[best, row, heads[best]]):
                        continue
                best = g
            heads[best] += 1
            labels[row, j] = best


@compiled
def log_densities(samples, nearest, rows, sizes, constants, logs):
    """Log-densities (m, s) of the rows under the models of their first ``sizes[i]`` neighbours; sizes ascend.

    Mean and scatter grow with each neighbour (Welford): the scatter matrix of the first k is the sum of ``r_j r_j^T``
    over j < k, with ``r_j = sqrt(j / (j + 1)) (z_j - mean of those before)``, so that no answer depends on the other
    sizes that are asked for. ``constants`` (s,) is what depends on size and dimension alone.
    """
    d, most = samples.shape[1], nearest.shape[1]
    few = 0  # the largest size below d
    for k in sizes:
        few = max(few, k if k < d else 0)
    wide = most >= d
    order = d if wide else few
    A, U, signs = np.empty((order, order)), np.empty((order, order)), np.ones(order)
    scatter = np.empty((d, d) if wide else (1, 1))
    W, v, R = np.empty((few, d)), np.empty(few), np.empty((most, d))
    mean, squares, x, inverse = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    for row in range(rows.shape[0]):
        # Offsets from the nearest sample: far from the origin no digit is lost.
        origin = samples[nearest[row, 0]]
        mean[:] = 0.0
        squares[:] = 0.0
        scatter[:] = 0.0
        at = 0
        for j in range(most):
            grow(samples[nearest[row, j]], origin, j, mean, squares, R[j])
            if wide and j % 4 == 3:
                add_four(R, j - 3, scatter)
            while at < len(sizes) and sizes[at] == j + 1:
                k = j + 1
                log_det = prior(squares, 0.95 * (d + 3) / k, inverse)
                for f in range(d):
                    x[f] = ((rows[row, f] - origin[f]) - mean[f]) * inverse[f]
                if k < d:
                    more, form = by_samples(R, inverse, x, k, W, A, U, signs, v)
                else:
                    more, form = by_features(R, scatter, inverse, x, k, A, U, signs)
                bent = np.log1p(form * k / (k + 1.0))
                logs[row, at] = constants[at] - 0.5 * (log_det + more) - 0.5 * (k + 4 + d) * bent
                at += 1


@compiled
def grow(sample, origin, j, mean, squares, r):
    """Take in the sample after the first j: the mean of the offsets, the scatter's diagonal, and r_j."""
    new = 1.0 / (j + 1.0)
    root = np.sqrt(j * new)
    for f in range(len(mean)):
        change = (sample[f] - origin[f]) - mean[f]
        mean[f] += change * new
        r[f] = root * change
        squares[f] += r[f] * r[f]


@compiled
def add_four(R, start, scatter):
    """Add the outer products of four rows: a fourth of the stores."""
    p, q, r, s = R[start], R[start + 1], R[start + 2], R[start + 3]
    for a in range(len(p)):
        out = scatter[a]
        e, f, g, h = p[a], q[a], r[a], s[a]
        for b in range(a - a % 8, len(p)):  # the upper triangle and a little more: whole vectors are faster
            out[b] += (e * p[b] + f * q[b]) + (g * r[b] + h * s[b])


@compiled
def prior(squares, share, inverse):
    """``log det B`` of the diagonal ``B = share diag(squares) + 0.05 I``; ``inverse`` gets ``B^(-1/2)``."""
    log_det = 0.0
    for f in range(len(squares)):
        value = share * squares[f] + 0.05
        inverse[f] = 1.0 / np.sqrt(value)
        log_det += np.log(value)
    return log_det


@compiled
def by_samples(R, inverse, x, k, W, A, U, signs, v):
    """``log det (I + W^T W)`` and ``x^T (I + W^T W)^-1 x``, ``W = R B^(-1/2)``, on the samples' side.

    B holds so much of the scatter's own diagonal that the eigenvalues are between 1 and 1 + 1.06 k: no digit to speak
    of is lost in the difference. The first row of R is zero and left out.
    """
    d, n = len(x), k - 1
    for a in range(n):
        r, w = R[a + 1], W[a]
        for f in range(d):
            w[f] = r[f] * inverse[f]
    for a in range(n):
        v[a] = dot(W[a], x, d)
        for b in range(a, n):
            A[a, b] = dot(W[a], W[b], d)
    factor(A, 0.0, 1.0, 0.0, n, U, signs)
    forward(U, n, v)
    log_det = 0.0
    for a in range(n):
        log_det += 2.0 * np.log(U[a, a])
    return log_det, max(dot(x, x, d) - dot(v, v, n), 0.0)


@compiled
def by_features(R, scatter, inverse, x, k, A, U, signs):
    """Return the same on the features' side; ``scatter`` lacks the last ``k % 4`` rows, and x is overwritten."""
    d = len(x)
    for a in range(d):
        own, total = A[a], scatter[a]
        for b in range(a, d):
            own[b] = total[b]
        for j in range(k - k % 4, k):
            r = R[j]
            for b in range(a, d):
                own[b] += r[a] * r[b]
        for b in range(a, d):
            own[b] *= inverse[a] * inverse[b]
    factor(A, 0.0, 1.0, 0.0, d, U, signs)
    forward(U, d, x)
    log_det = 0.0
    for a in range(d):
        log_det += 2.0 * np.log(U[a, a])
    return log_det, dot(x, x, d)
