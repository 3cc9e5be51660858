"""Compiled: the classes' centroids within neighbourhoods, and how similar each class is to each of them on average."""

from __future__ import annotations

import numpy as np

from similitude.neighbors.local_centroids import add_neighbor, decide, link, summary
from similitude.numerics.compiled import compiled


@compiled
def local_statistics(A, similarities, labels, sizes, tolerance, ends, centroids, counts, winners, below, above):
    """Centroids and class means for each row and neighbourhood size, in one pass over the nested neighbourhoods.

    ``A[row, z, mu]`` is psi(z, mu) among the neighbours; ``similarities`` and ``labels`` (m, k) are theirs, nearest
    first; ``sizes`` ascends; ``ends`` holds the least and the largest similarity, the span by which distances from
    them are divided, and the distance that counts as 0. Written are, for each class h: the neighbour that is its
    centroid (-1 without one), its count, the class whose centroid is most similar, and ``below[row, size, g, h]`` and
    ``above[...]``, the mean distances from the ends of psi(z, mu_h) over the neighbours z of class g. Sums to a
    centroid go on where a smaller size has left them.
    """
    m, k = labels.shape
    n_classes = counts.shape[2]
    heads, following = np.empty(n_classes, dtype=np.intp), np.empty(k, dtype=np.intp)
    totals, magnitudes, thresholds = np.empty(k), np.empty(k), np.empty(n_classes)
    summed, sums = np.empty(k, dtype=np.intp), np.empty((k, n_classes, 2))
    for row in range(m):
        link(labels[row], heads, following)
        summed[:] = 0
        start = 0
        for size in range(sizes.shape[0]):
            for j in range(start, sizes[size]):
                add_neighbor(A[row], j, heads[labels[row, j]], following, totals, magnitudes)
            start = sizes[size]
            count = counts[row, size]
            for h in range(n_classes):
                count[h], thresholds[h] = summary(heads[h], following, start, totals, magnitudes, tolerance)
            winners[row, size] = decide(similarities[row], labels[row], start, totals, thresholds, count, heads)
            for h in range(n_classes):
                mu = -1
                if count[h] > 0:
                    mu = heads[h]
                    while totals[mu] < thresholds[h]:
                        mu = following[mu]
                    _sum_up(A[row], mu, labels[row], summed[mu], start, ends, sums[mu])
                    summed[mu] = start
                    for g in range(n_classes):
                        if count[g] > 0:
                            below[row, size, g, h] = sums[mu, g, 0] / count[g]
                            above[row, size, g, h] = sums[mu, g, 1] / count[g]
                centroids[row, size, h] = mu


@compiled
def _sum_up(A, mu, labels, start, stop, ends, sums):
    """Add the distances of psi(z, mu) from both ends to the sums of z's class, for some neighbours z."""
    if start == 0:
        sums[:] = 0.0
    for z in range(start, stop):
        below, above = (A[z, mu] - ends[0]) / ends[2], (ends[1] - A[z, mu]) / ends[2]
        sums[labels[z], 0] += below if abs(below) > ends[3] else 0.0
        sums[labels[z], 1] += above if abs(above) > ends[3] else 0.0
