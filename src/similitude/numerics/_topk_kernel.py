"""Compiled parts of neighbour selection and voting."""

from __future__ import annotations

import numpy as np

from similitude.numerics._compile import kernel


@kernel
def collect_best(S, thresholds, columns):
    """The columns above each row's threshold, and the first of those equal to it, k in all, in ascending order.

    ``thresholds[row]`` is the k-th largest value of that row; ``columns`` is (m, k).
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


@kernel
def class_totals(labels, weights, sizes, totals):
    """Running sums of the neighbours' weights per class, read off at each neighbourhood size.

    ``labels`` and ``weights`` have shape (m, k), nearest first; ``sizes`` ascends; ``totals`` (m, len(sizes), G)
    starts at zero.
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


@kernel
def class_sums(labels, weights, totals):
    """Sums per class for each of J weightings of the first k neighbours, ``weights`` (m, J, k).

    ``totals`` (m, J, G) starts at zero.
    """
    for row in range(labels.shape[0]):
        for g in range(weights.shape[1]):
            for j in range(weights.shape[2]):
                totals[row, g, labels[row, j]] += weights[row, g, j]


@kernel
def break_ties(scores, labels, sizes, tolerance, winners):
    """The best class of each row and neighbourhood size; of tied ones, the first to come among the neighbours.

    Scores within ``tolerance`` times the largest absolute score of the best are tied. A class scored ``-inf``
    cannot win. Tied classes without a neighbour go to the lowest class.
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


@kernel
def one_vs_one_scores(votes, sums, counts, first_of_tied, scores):
    """Scores of the classes from their pairwise votes and sums of decision values; -1 for a class that counts 0.

    A score is the number of votes, and less than a third, up or down, for the sum. Of classes with most votes the one
    with the largest sum has the largest score, or, where ``first_of_tied``, the first.
    """
    winner = 0
    for g in range(votes.shape[0]):
        scores[g] = votes[g] + sums[g] / (3.0 * (abs(sums[g]) + 1.0)) if counts[g] > 0 else -1.0
        winner = g if votes[g] > votes[winner] else winner
    if first_of_tied:
        for g in range(votes.shape[0]):
            if votes[g] == votes[winner]:
                scores[winner] = max(scores[winner], scores[g])


@kernel
def one_vs_one_rows(decisions, later, first_of_tied, scores):
    """Scores (m, G) from decision values and votes for the later class, (m, pairs), in the order (0, 1), (0, 2), ..."""
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
