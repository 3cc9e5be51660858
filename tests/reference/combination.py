"""Bagged greedy selection, written as it is defined: every mean of posteriors is formed, and its loss is computed."""

import numpy as np


def greedy(posteriors, loss_of, rounds):
    """The weights of the prefix of lowest loss; ``loss_of`` is a function of posteriors of shape (n, G)."""
    chosen, prefixes = [], []
    for _ in range(rounds):
        losses = [loss_of(np.mean([posteriors[i] for i in [*chosen, j]], axis=0)) for j in range(len(posteriors))]
        chosen.append(int(np.argmin(np.round(losses, 12))))
        prefixes.append(np.round(min(losses), 12))
    best = chosen[: 1 + int(np.argmin(prefixes))]
    return np.bincount(best, minlength=len(posteriors)) / len(best)


def bagged(posteriors, loss_of, bags, rounds):
    """The mean weights over bags; ``loss_of`` is a function of posteriors and of the rows of the bag."""
    found = [greedy(posteriors[:, rows], lambda mean, rows=rows: loss_of(mean, rows), rounds) for rows in bags]
    return np.mean(found, axis=0)
