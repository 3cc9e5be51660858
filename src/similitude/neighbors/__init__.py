"""Classifiers that use the neighbourhood of each sample, and nearest centroids."""

from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.local_svc import LocalSVC
from similitude.neighbors.local_weights import local_weights
from similitude.neighbors.nearest_centroid import (
    LocalNearestCentroid,
    NearestCentroid,
    class_centroid,
    class_centroids,
    local_nearest_centroids,
)
from similitude.neighbors.nearest_means import LocalNearestMeans
from similitude.neighbors.searching import SearchingClassifier

__all__ = [
    "KNNClassifier",
    "LocalNearestCentroid",
    "LocalNearestMeans",
    "LocalSVC",
    "NearestCentroid",
    "SearchingClassifier",
    "class_centroid",
    "class_centroids",
    "local_nearest_centroids",
    "local_weights",
]
