"""Compiled parts of neighbour selection and of voting."""

from __future__ import annotations

import numpy as np

from similitude.numerics.compiled import compiled


@compiled
def collect_best(S, thresholds, columns):
    """Write the columns of the k largest values of each row into ``columns``, in ascending order of the columns.

    These are the columns above the row's threshold and the first of those equal to it. ``thresholds[row]`` is the k-th
    largest value of that row; ``columns`` has the shape (m, k).
    """
    k = columns.shape[1]
    for row in range(S.shape[0]):
        threshold = thresholds[row]
        equal = k
        for j in range(S.shape[1]):
            equal -= S[row, j] > threshold
        kept = 0
        for j in range(S.shape[1]):
            value = S[row, j]
            if value >= threshold:
                if value == threshold:
                    if equal == 0:
                        continue
                    equal -= 1
                columns[row, kept] = j
                kept += 1


@compiled
def class_totals(labels, weights, sizes, totals):
    """Write the sums of the neighbours' weights per class, at each neighbourhood size, into ``totals``.

    ``labels`` and ``weights`` have shape (m, k), nearest first; ``sizes`` is ascending; ``totals`` (m, len(sizes), G)
    is zero at the start.
    """
    n_classes = totals.shape[2]
    running = np.empty(n_classes)
    for row in range(labels.shape[0]):
        running[:] = 0.0
        start = 0
        for g in range(sizes.shape[0]):
            for j in range(start, sizes[g]):
                running[labels[row, j]] += weights[row, j]
            start = sizes[g]
            for c in range(n_classes):
                totals[row, g, c] = running[c]


@compiled
def class_sums(labels, weights, totals):
    """Write the sums of the weights per class, for each of J weightings of the first k neighbours, into ``totals``.

    ``weights`` has shape (m, J, k); ``totals`` (m, J, G) is zero at the start.
    """
    for row in range(labels.shape[0]):
        for g in range(weights.shape[1]):
            for j in range(weights.shape[2]):
                totals[row, g, labels[row, j]] += weights[row, g, j]


@compiled
def break_ties(scores, labels, sizes, tolerance, winners):
    """Write the best class of each row and neighbourhood size into ``winners``.

    Of tied classes, the one whose first neighbour is nearest wins. Scores within ``tolerance`` times the largest
    absolute score of the best are tied. A class with the score ``-inf`` cannot win. If no tied class has a neighbour,
    the lowest class wins.
    """
    n_classes = scores.shape[2]
    for row in range(scores.shape[0]):
        for g in range(sizes.shape[0]):
            best = 0
            largest = 0.0
            for c in range(n_classes):
                if scores[row, g, c] > scores[row, g, best]:
                    best = c
                if np.isfinite(scores[row, g, c]):
                    largest = max(largest, abs(scores[row, g, c]))
            threshold = scores[row, g, best] - tolerance * largest
            winner = -1
            for c in range(n_classes):
                if scores[row, g, c] >= threshold:
                    winner = c if winner < 0 else n_classes
            if winner == n_classes:
                winner = -1
                for j in range(sizes[g]):
                    if scores[row, g, labels[row, j]] >= threshold:
                        winner = labels[row, j]
                        break
            winners[row, g] = best if winner < 0 else winner


@compiled
def one_vs_one_scores(votes, sums, counts, first_of_tied, scores):
    """Write the scores of the classes, from their pairwise votes and sums of decision values, into ``scores``.

    A score is the number of votes plus a term between -1/3 and 1/3 that grows with the sum; it is -1 for a class whose
    count is 0. Of the classes with the most votes, the one with the largest sum has the largest score, or the first one
    if ``first_of_tied``.
    """
    winner = 0
    for g in range(votes.shape[0]):
        scores[g] = votes[g] + sums[g] / (3.0 * (abs(sums[g]) + 1.0)) if counts[g] > 0 else -1.0
        winner = g if votes[g] > votes[winner] else winner
    if first_of_tied:
        for g in range(votes.shape[0]):
            if votes[g] == votes[winner]:
                scores[winner] = max(scores[winner], scores[g])


@compiled
def one_vs_one_rows(decisions, later, first_of_tied, scores):
    """Write the scores (m, G) of the classes of each row into ``scores``.

    ``decisions`` holds the decision values and ``later`` whether the later class gets the vote, both of shape (m,
    pairs), with the pairs in the order (0, 1), (0, 2), ...
    """
    n_classes = scores.shape[1]
    counts = np.ones(n_classes, dtype=np.intp)
    for row in range(decisions.shape[0]):
        votes, sums = np.zeros(n_classes), np.zeros(n_classes)
        pair = 0
        for first in range(n_classes):
            for second in range(first + 1, n_classes):
                value = decisions[row, pair]
                votes[second if later[row, pair] else first] += 1.0
                sums[second] += value
                sums[first] -= value
                pair += 1
        one_vs_one_scores(votes, sums, counts, first_of_tied, scores[row])
