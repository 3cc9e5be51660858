"""k-NN by its definition, one sample and one neighbour at a time."""

import numpy as np


def neighbors(s, k):
    """Positions of the k most similar, most similar first, equal ones by position."""
    return sorted(range(len(s)), key=lambda i: (-s[i], i))[:k]


def votes(s, y, k, weights, largest=1.0):
    """Total weight of each class among the k neighbours, as a dict, and the neighbours.

    ``largest`` is the largest training similarity, from which distance weights measure.
    """
    nearest = neighbors(s, k)
    w = dict.fromkeys(nearest, 1.0)
    if weights == "affinity":
        total = sum(float(s[i]) for i in nearest)
        if total > 0:
            w = {i: float(s[i]) / total for i in nearest}
    if weights == "distance":
        distances = {i: max(largest - float(s[i]), 0.0) for i in nearest}
        at_zero = [i for i in nearest if distances[i] == 0]
        w = {i: float(i in at_zero) if at_zero else 1 / distances[i] for i in nearest}
    totals = {}
    for i in nearest:
        totals[y[i]] = totals.get(y[i], 0.0) + w[i]
    return totals, nearest


def predict(s, y, k, weights="uniform"):
    totals, nearest = votes(s, y, k, weights)
    size = max(abs(t) for t in totals.values())
    tied = [c for c, t in totals.items() if t >= max(totals.values()) - 1e-12 * size]
    return next(y[i] for i in nearest if y[i] in tied)


def posterior(s, y, k, classes, weights="uniform"):
    totals, _ = votes(s, y, k, weights)
    positive = np.array([max(totals.get(c, 0.0), 0.0) for c in classes])
    if positive.sum() > 0:
        return positive / positive.sum()
    present = np.array([c in totals for c in classes], dtype=float)
    return present / present.sum()
