"""k-NN by its definition, one sample and one neighbour at a time; ties are averaged over all that could be drawn."""

from itertools import combinations

import numpy as np


def neighbors(s, k):
    """Positions of the k most similar, most similar first, equal ones by position."""
    return sorted(range(len(s)), key=lambda i: (-s[i], i))[:k]


def possible(s, k):
    """Every set of k neighbours that some order of the samples gives."""
    last = sorted(s, reverse=True)[min(k, len(s)) - 1]
    nearer = [i for i in range(len(s)) if s[i] > last]
    tied = [i for i in range(len(s)) if s[i] == last]
    return [nearer + list(some) for some in combinations(tied, min(k, len(s)) - len(nearer))]


def taken(s, k):
    """The neighbours of a local problem, or none: all that tie for the last place if they are at most 2k, or none."""
    last = sorted(s, reverse=True)[min(k, len(s)) - 1]
    nearer = [i for i in range(len(s)) if s[i] > last]
    all_tied = [i for i in range(len(s)) if s[i] >= last]
    whole = len(all_tied) <= 2 * k and min(s) < max(s)
    return sorted(all_tied if whole else nearer, key=lambda i: (-s[i], i))


def shares(s, y, classes):
    """The shares of the classes among the most similar samples."""
    near = [y[i] for i in range(len(s)) if s[i] == max(s)]
    return np.array([near.count(c) / len(near) for c in classes])


def votes(s, y, k, weights, largest=1.0):
    """Mean total weight of each class among the k neighbours, as a dict, over all possible neighbours.

    ``largest`` is the largest training similarity, from which distance weights measure.
    """
    totals = {}
    lists = possible(s, k)
    for nearest in lists:
        w = dict.fromkeys(nearest, 1.0)
        if weights == "affinity":
            total = sum(float(s[i]) for i in nearest)
            if total > 0:
                w = {i: float(s[i]) / total for i in nearest}
        if weights == "distance":
            distances = {i: max(largest - float(s[i]), 0.0) for i in nearest}
            at_zero = [i for i in nearest if distances[i] == 0]
            w = {i: float(i in at_zero) if at_zero else 1 / distances[i] for i in nearest}
        for i in nearest:
            totals[y[i]] = totals.get(y[i], 0.0) + w[i] / len(lists)
    return totals


def best_of_tied(scores, s, y, k):
    """The class of the largest score; ties: the most similar neighbour, the larger class, the first class."""
    size = max(abs(t) for t in scores.values())
    tied = [c for c, t in scores.items() if t >= max(scores.values()) - 1e-12 * size]
    last = sorted(s, reverse=True)[min(k, len(s)) - 1]

    def rank(c):
        near = max((s[i] for i in range(len(s)) if y[i] == c and s[i] >= last), default=-np.inf)
        return near, list(y).count(c), -sorted(set(y)).index(c)

    return max(tied, key=rank)


def predict(s, y, k, weights="uniform"):
    return best_of_tied(votes(s, y, k, weights), s, y, k)


def posterior(s, y, k, classes, weights="uniform"):
    totals = votes(s, y, k, weights)
    positive = np.array([max(totals.get(c, 0.0), 0.0) for c in classes])
    if positive.sum() > 0:
        return positive / positive.sum()
    present = np.array([c in totals for c in classes], dtype=float)
    return present / present.sum()
