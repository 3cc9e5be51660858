"""Classifiers that use the neighbourhood of each sample, and nearest centroids."""

from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.local_svc import LocalSVC
from similitude.neighbors.nearest_centroid import (
    LocalNearestCentroid,
    NearestCentroid,
    class_centroid,
    class_centroids,
    local_nearest_centroids,
)
from similitude.neighbors.nearest_means import LocalNearestMeans
from similitude.neighbors.searching import LocalPath, SearchingClassifier
from similitude.neighbors.weights import LOCAL_WEIGHTS, local_weights

__all__ = [
    "LOCAL_WEIGHTS",
    "KNNClassifier",
    "LocalNearestCentroid",
    "LocalNearestMeans",
    "LocalPath",
    "LocalSVC",
    "NearestCentroid",
    "SearchingClassifier",
    "class_centroid",
    "class_centroids",
    "local_nearest_centroids",
    "local_weights",
]
