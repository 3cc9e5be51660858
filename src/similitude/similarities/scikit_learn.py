"""The metrics and kernels of scikit-learn by name, on feature vectors."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchDistance, BatchSimilarity, Measure
from similitude.similarities.vectors import OBJECTS, as_real, as_vector_pair

# These metrics are computed by SciPy, which does not use inner products.
_SCIPY = {
    "l1": "cityblock",
    "l2": "euclidean",
    **{
        name: name
        for name in ("braycurtis", "canberra", "cityblock", "hamming", "minkowski", "sqeuclidean")
        + ("correlation", "cosine", "euclidean", "chebyshev")
    },
}
_SCIPY_BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
_METRICS = {"l1", "l2", "cityblock", "minkowski", "hamming", "canberra", "euclidean", "chebyshev", "haversine"}


class ScikitLearnDistance(BatchDistance):
    """A distance that scikit-learn has a name for, with its default parameters."""

    def __init__(self, metric: str = "euclidean"):
        self.metric = metric

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the distances between the rows of A and those of B."""
        if self.metric == "nan_euclidean":  # the only distance that allows NaN
            return pairwise_distances(as_real(A), as_real(B), metric=self.metric)
        A, B = as_vector_pair(A, B)
        if self.metric in _SCIPY_BOOLEAN:
            return cdist(A != 0, B != 0, self.metric)
        if self.metric in _SCIPY:
            return cdist(A, B, _SCIPY[self.metric])
        return pairwise_distances(A, B, metric=self.metric)


class ScikitLearnKernel(BatchSimilarity):
    """A kernel that scikit-learn has a name for, with its default parameters."""

    def __init__(self, metric: str = "linear"):
        self.metric = metric

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the kernel values of the rows of A with those of B."""
        return pairwise_kernels(*as_vector_pair(A, B), metric=self.metric)


def scikit_learn_measure(name: str) -> Measure | None:
    """Return the measure of a metric or kernel name of scikit-learn, with default parameters, or None for other names.

    A name that is both means the distance. "mahalanobis" and "seuclidean" give None, because scikit-learn would
    estimate their scales from the training and test rows together.
    """
    named = partial(Measure, name=name, objects=OBJECTS, batch=True, symmetric=True, library="scikit-learn")
    if name in _SCIPY or name in _SCIPY_BOOLEAN or name in ("haversine", "nan_euclidean"):
        distance = partial(named, orientation="dissimilarity", metric=name in _METRICS, range="0 or more")
        return distance(ScikitLearnDistance(name), threads=name in _SCIPY or name in _SCIPY_BOOLEAN)
    if name in kernel_metrics():
        return named(ScikitLearnKernel(name), threads=True)
    return None
