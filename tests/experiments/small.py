"""Small experiments that take milliseconds."""

import numpy as np

from similitude import KNNClassifier, NearestCentroid, SimilaritySVC
from similitude.experiments import Protocol

PROTOCOL = Protocol.partitions(15, test_size=0.25, inner=3)


def matrix(seed, n=40):
    """Similarities of two overlapping classes, symmetric and indefinite, and their labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + y[:, None]
    noise = rng.normal(size=(n, n))
    return X @ X.T + 0.1 * (noise + noise.T), y


def data(n_sets=2):
    return {f"set {seed}": matrix(seed) for seed in range(n_sets)}


def methods():
    return {
        "k-NN": (KNNClassifier(), {"n_neighbors": [1, 3, 5, 9]}),
        "centroid": (NearestCentroid(), {}),
        "SVM": (SimilaritySVC(), {"C": [0.1, 1.0]}),
    }
