"""Similarities and labels for the tests of boosting."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import manhattan_distances

from similitude.boosting.dboost import DBoostClassifier

KINDS = ["plain", "ties", "constant", "duplicates", "asymmetric", "gauss", "wide", "tiny", "huge", "zeros", "self"]
KINDS += ["levels"]


def matrix(kind, n, rng):
    """Return similarities of a kind."""
    X = rng.normal(size=(n, 3))
    if kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 3), n)]
    S = -np.abs(X[:, None] - X[None]).sum(axis=2)
    if kind == "ties":
        return np.round(S)
    if kind == "constant":
        return np.full((n, n), 2.5)
    if kind == "asymmetric":
        return S + rng.normal(size=(n, n))
    if kind == "gauss":
        return np.exp(-(S**2) * 30)
    if kind == "wide":
        return S * 10.0 ** rng.integers(-150, 150, (n, n))
    if kind in ("tiny", "huge"):
        return S * (1e-150 if kind == "tiny" else 1e150)
    if kind == "zeros":
        return rng.choice([-0.0, 0.0, 1.0], (n, n))
    if kind == "levels":
        return rng.choice([0.0, 1e-9, 1e-3, 1.0, 1e6], (n, n))
    return S + 1e9 * np.eye(n) if kind == "self" else S


def signs(n, rng):
    """Return labels of both classes, -1 and 1."""
    y = rng.choice([-1, 1], n)
    y[0], y[-1] = 1, -1
    return y


def problem(n=80, centers=2, seed=0):
    """Return training similarities and labels, and those of new samples."""
    X, y = make_blobs(n + 40, centers=centers, n_features=4, cluster_std=3, random_state=seed)
    S = -manhattan_distances(X)
    return S[:n, :n], y[:n], S[n:, :n], y[n:]


def fitted(S, y, **parameters):
    """Return a classifier with few rounds and pairs, fitted."""
    defaults = {"n_rounds": 30, "n_pairs": 8, "random_state": 0}
    return DBoostClassifier(**{**defaults, **parameters}).fit(S, y)
