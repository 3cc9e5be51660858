"""Compiled computation of the centroids of the classes within neighbourhoods, and of distances to local means.

Neighbour lists are nested, so both compute every size of a grid in one pass. Each running sum is added up in the order
of the neighbours, nearest first, whatever the sizes are: a grid gives the same digits as each of its points alone.
"""

from __future__ import annotations

import numpy as np

from similitude.numerics.compiled import compiled


@compiled
def link(labels, heads, following):
    """Write the first neighbour of each class, and for each neighbour the next one of its class, or k if there is none.

    With many classes most pairs of neighbours belong to different classes; following the links skips them.
    """
    heads[:] = labels.shape[0]
    for j in range(labels.shape[0] - 1, -1, -1):
        following[j] = heads[labels[j]]
        heads[labels[j]] = j


@compiled
def gather(S, neighbors, labels, n_classes, share, A):
    """Write the similarities within the classes, from a dense S: ``A[row, z, mu] = share * psi(z, mu)``.

    ``neighbors`` and their ``labels`` are (m, k), A is (m, k, k); entries between different classes are not written.
    """
    m, k = neighbors.shape
    heads, following = np.empty(n_classes, dtype=np.intp), np.empty(k, dtype=np.intp)
    for row in range(m):
        link(labels[row], heads, following)
        for z in range(k):
            mu = heads[labels[row, z]]
            while mu < k:
                A[row, z, mu] = share * S[neighbors[row, z], neighbors[row, mu]]
                mu = following[mu]


@compiled
def gather_csr(data, columns, starts, neighbors, labels, n_classes, share, A):
    """Write the same as :func:`gather` from a CSR matrix with sorted columns, whose absent entries are 0."""
    m, k = neighbors.shape
    heads, following = np.empty(n_classes, dtype=np.intp), np.empty(k, dtype=np.intp)
    for row in range(m):
        link(labels[row], heads, following)
        for z in range(k):
            start = starts[neighbors[row, z]]
            stored = columns[start : starts[neighbors[row, z] + 1]]
            mu = heads[labels[row, z]]
            while mu < k:
                place = np.searchsorted(stored, neighbors[row, mu])
                found = place < stored.shape[0] and stored[place] == neighbors[row, mu]
                A[row, z, mu] = share * data[start + place] if found else 0.0
                mu = following[mu]


@compiled
def nearest_centroids(A, similarities, labels, sizes, n_classes, tolerance, winners):
    """Write the class whose local centroid is most similar to x, for each row and neighbourhood size.

    ``A`` comes from :func:`gather`; ``similarities`` and ``labels`` (m, k) are those of the neighbours, nearest first;
    ``sizes`` is ascending; ``winners`` is (m, len(sizes)). Totals within ``tolerance`` times the largest total of
    absolute values in the class are tied, and of tied members the nearest to x is the centroid. Of classes with equally
    similar centroids the one with more neighbours wins, then the one with the nearest neighbour.
    """
    m, k = labels.shape
    heads, following = np.empty(n_classes, dtype=np.intp), np.empty(k, dtype=np.intp)
    totals, magnitudes = np.empty(k), np.empty(k)
    thresholds, counts = np.empty(n_classes), np.empty(n_classes, dtype=np.intp)
    for row in range(m):
        link(labels[row], heads, following)
        start = 0
        for g in range(sizes.shape[0]):
            for j in range(start, sizes[g]):
                add_neighbor(A[row], j, heads[labels[row, j]], following, totals, magnitudes)
            start = sizes[g]
            for c in range(n_classes):
                counts[c], thresholds[c] = summary(heads[c], following, start, totals, magnitudes, tolerance)
            winners[row, g] = decide(similarities[row], labels[row], start, totals, thresholds, counts, heads)


@compiled
def add_neighbor(A, j, head, following, totals, magnitudes):
    """Add the similarities of neighbour j to the totals of its class, and write its own total."""
    total, magnitude = 0.0, 0.0
    a = head
    while a < j:
        totals[a] += A[j, a]
        magnitudes[a] += abs(A[j, a])
        total += A[a, j]
        magnitude += abs(A[a, j])
        a = following[a]
    totals[j] = total + A[j, j]
    magnitudes[j] = magnitude + abs(A[j, j])


@compiled
def summary(head, following, k, totals, magnitudes, tolerance):
    """Return how many of the first k neighbours belong to a class, and the smallest total that is tied for the best."""
    count = 0
    best, widest = -np.inf, 0.0
    j = head
    while j < k:
        count += 1
        best = max(best, totals[j])
        widest = max(widest, magnitudes[j])
        j = following[j]
    return count, best - tolerance * widest


@compiled
def decide(similarities, labels, k, totals, thresholds, counts, heads):
    """Return the class of the most similar centroid; a class's centroid is its first member above the threshold."""
    winner = -1
    most_similar = 0.0
    for j in range(k):
        # Neighbours are in descending order of similarity, so every later centroid is less similar.
        if winner >= 0 and similarities[j] < most_similar:
            break
        c = labels[j]
        if totals[j] < thresholds[c]:
            continue
        if winner < 0:
            winner = c
            most_similar = similarities[j]
        elif counts[c] > counts[winner] or (counts[c] == counts[winner] and heads[c] < heads[winner]):
            winner = c
    return winner


@compiled
def mean_distances(samples, neighbors, rows, sizes, distances):
    """Write the distances from each row to the mean of its nearest samples, for each neighbourhood size.

    ``neighbors`` (m, k) are positions in ``samples``, nearest first; ``rows`` are float64; ``sizes`` is ascending;
    ``distances`` is (m, len(sizes)).
    """
    n_features = samples.shape[1]
    running = np.empty(n_features)
    for row in range(neighbors.shape[0]):
        running[:] = 0.0
        start = 0
        for g in range(sizes.shape[0]):
            for j in range(start, sizes[g]):
                for f in range(n_features):
                    # Differences are averaged instead of samples, so that no digits are lost far from the origin.
                    running[f] += samples[neighbors[row, j], f] - rows[row, f]
            start = sizes[g]
            square = 0.0
            for f in range(n_features):
                square += (running[f] / start) ** 2
            distances[row, g] = np.sqrt(square)
