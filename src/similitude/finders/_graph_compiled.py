"""Compiled parts of the neighbour graph: lists of neighbours that grow, pairs to compare next, walks over the graph."""

from __future__ import annotations

import numpy as np

from similitude.numerics.compiled import compiled


@compiled
def insert(rows, columns, values, nearest, closeness, fresh):
    """Insert each column into the list of its row if it is close enough; return how many were inserted.

    The lists (n, K) are sorted with the best first and equal values by position; empty places are -1 with minus
    infinity. ``fresh`` is set for inserted columns.
    """
    K, changes = nearest.shape[1], 0
    for t in range(rows.shape[0]):
        i, j, value = rows[t], columns[t], values[t]
        if value < closeness[i, K - 1]:
            continue
        place = K
        known = False
        for a in range(K):
            if nearest[i, a] == j:
                known = True
                break
            if place == K and (value > closeness[i, a] or (value == closeness[i, a] and j < nearest[i, a])):
                place = a
        if known or place == K:
            continue
        for a in range(K - 1, place, -1):
            nearest[i, a], closeness[i, a], fresh[i, a] = nearest[i, a - 1], closeness[i, a - 1], fresh[i, a - 1]
        nearest[i, place], closeness[i, place], fresh[i, place] = j, value, True
        changes += 1
    return changes


@compiled
def both_directions(nearest, fresh, links, new):
    """Write each sample's neighbours, then the samples whose neighbour it is, into ``links`` (n, L), at most L each."""
    n, K = nearest.shape
    used = np.zeros(n, dtype=np.intp)
    for i in range(n):
        for a in range(K):
            if nearest[i, a] >= 0:
                links[i, used[i]], new[i, used[i]] = nearest[i, a], fresh[i, a]
                used[i] += 1
    # In the order of the places, so that samples with i as their first neighbour precede those with i as their last.
    for a in range(K):
        for i in range(n):
            j = nearest[i, a]
            if j < 0 or used[j] == links.shape[1]:
                continue
            known = False
            for b in range(used[j]):
                if links[j, b] == i:
                    known = True
                    break
            if not known:
                links[j, used[j]], new[j, used[j]] = i, fresh[i, a]
                used[j] += 1


@compiled
def propose(links, new, nearest, codes, first, last, proposed):
    """Write the neighbours' neighbours with the most similar codes, reached by a fresh link, into ``proposed``.

    This is done for the rows from ``first`` to ``last``. ``proposed`` (last - first, C) gets positions, and -1 if there
    are fewer.
    """
    C = proposed.shape[1]
    seen = np.full(nearest.shape[0], -1)
    scores = np.empty(C)
    for i in range(first, last):
        row = proposed[i - first]
        row[:] = -1
        scores[:] = -np.inf
        seen[i] = i
        for a in range(nearest.shape[1]):
            if nearest[i, a] >= 0:
                seen[nearest[i, a]] = i
        for a in range(links.shape[1]):
            j = links[i, a]
            if j < 0:
                continue
            if new[i, a] and seen[j] != i:
                seen[j] = i
                _keep_best(row, scores, j, _dot(codes, i, j))
            for b in range(links.shape[1]):
                c = links[j, b]
                if c < 0 or seen[c] == i or not (new[i, a] or new[j, b]):
                    continue
                seen[c] = i
                _keep_best(row, scores, c, _dot(codes, i, c))


@compiled
def _dot(codes, i, j):
    total = np.float32(0.0)
    for f in range(codes.shape[1]):
        total += codes[i, f] * codes[j, f]
    return total


@compiled
def _keep_best(places, scores, place, score):
    """Insert an element into a list that is sorted with the best first; the last element is dropped."""
    a = scores.shape[0] - 1
    if score <= scores[a]:
        return
    while a > 0 and scores[a - 1] < score:
        scores[a], places[a] = scores[a - 1], places[a - 1]
        a -= 1
    scores[a], places[a] = score, place


@compiled
def walk(pool, waiting, edges, steps, visited, found):
    """Write the unvisited neighbours of each row's best waiting samples into ``found``; return how many there are.

    At most ``steps`` samples per row are expanded. ``pool`` (m, L) holds the best samples so far, and ``waiting`` those
    of them that have not been expanded. ``found`` (m, most) gets positions, and -1 after the last.
    """
    total = 0
    for row in range(pool.shape[0]):
        found[row] = -1
        count, walked = 0, 0
        for a in range(pool.shape[1]):
            if walked == steps:
                break
            if pool[row, a] < 0 or not waiting[row, a]:
                continue
            waiting[row, a] = False
            walked += 1
            for b in range(edges.shape[1]):
                j = edges[pool[row, a], b]
                if j >= 0 and not visited[row, j]:
                    visited[row, j] = True
                    found[row, count] = j
                    count += 1
        total += count
    return total
