"""
Error by the similarity to the nearest training sample
======================================================

How the error depends on the similarity to the nearest training sample, on random folds and on folds without near-copies
on both sides.
"""

import matplotlib.pyplot as plt
import numpy as np

from similitude import KNNClassifier, SimilarityGroupKFold
from similitude.plotting import ErrorBySimilarityDisplay


def families(n_families=300, seed=0):
    """Families of one to six near-copies; the class is that of the family, and the classes overlap."""
    rng = np.random.default_rng(seed)
    centres, classes = rng.normal(size=(n_families, 3)), rng.integers(0, 2, n_families)
    centres[:, 0] += 2.2 * classes
    family = rng.permutation(np.repeat(np.arange(n_families), rng.integers(1, 7, n_families)))
    X = centres[family] + 0.03 * rng.normal(size=(len(family), 3))
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    return np.exp(-distances), classes[family]


def curves():
    """The nearest neighbours on random folds, where most test samples have a near-copy, and on folds without."""
    figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
    S, y = families()
    for name, cv in (("random folds", 5), ("SimilarityGroupKFold(threshold=0.8)", SimilarityGroupKFold(threshold=0.8))):
        ErrorBySimilarityDisplay.from_estimator(KNNClassifier(5), S, y, cv=cv, name=name, ax=ax)
    return figure


PICTURES = {"error_by_similarity": curves}

if __name__ == "__main__":
    curves()
    plt.show()
