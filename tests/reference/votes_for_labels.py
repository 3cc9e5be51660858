"""Votes for several labels, sample by sample, as an oracle of the sparse products."""

import numpy as np


def label_votes(S, Y, k, affinity=False):
    """Return the weighted share of each label among the k nearest; those that tie for the last place share it."""
    found = np.zeros((len(S), Y.shape[1]))
    for i, row in enumerate(S):
        last = np.sort(row)[::-1][min(k, len(row)) - 1]
        weights = np.zeros(len(row))
        above, tied = row > last, row == last
        weights[above] = 1.0
        weights[tied] = (min(k, len(row)) - above.sum()) / tied.sum()
        if affinity and (weights * np.maximum(row, 0)).sum() > 0:
            weights *= np.maximum(row, 0)
        found[i] = weights @ Y / weights.sum()
    return found
