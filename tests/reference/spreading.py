"""Labels that spread on a graph of neighbours, by dense matrices and loops."""

import numpy as np


def neighbors(row, k, low):
    """Return the neighbours of a sample in a row of similarities to others: no tie is split."""
    order = sorted(range(len(row)), key=lambda j: -row[j])
    if k >= len(order):
        found = order if len({row[j] for j in order}) > 1 or len(order) <= 2 * k else []
    else:
        last = row[order[k - 1]]
        tied = [j for j in order if row[j] >= last]
        found = tied if len(tied) <= 2 * k else [j for j in order if row[j] > last]
    return [j for j in found if row[j] > low]


def graph(S, k, weights):
    """Return W, the weights of the graph in either direction."""
    n, low = len(S), S.min()
    W = np.zeros((n, n))
    for i in range(n):
        row = S[i].copy()
        row[i] = -np.inf
        for j in neighbors(row, k, low):
            W[i, j] = 1.0 if weights == "uniform" else S[i, j] - low
    return np.maximum(W, W.T)


def posteriors(S, labelled, codes, rows, k, alpha, weights, n_classes):
    """Return the posteriors of new rows."""
    n, W = len(S), graph(S, k, weights)
    d = W.sum(axis=1)
    root = np.where(d > 0, d, 1.0) ** -0.5
    P = root[:, None] * W * root
    Y = np.zeros((n, n_classes))
    for i, g in zip(labelled, codes):
        Y[i, g] = 1
    F = np.linalg.solve(np.eye(n) - alpha * P, Y)
    found = []
    for row in rows:
        votes = np.zeros(n_classes)
        for j in neighbors(row, k, S.min()):
            votes += (1.0 if weights == "uniform" else row[j] - S.min()) * F[j] * root[j]
        shares = np.bincount(codes, minlength=n_classes) / len(codes)
        found.append(votes / votes.sum() if votes.sum() > 0 else shares)
    return np.array(found)
