"""Generative classifiers, which model the distributions of similarities to a few samples in each class."""

from similitude.generative.base import GenerativeClassifier
from similitude.generative.explanation import Explanation
from similitude.generative.fused import FusedClassifier
from similitude.generative.fused_knn import FusedKNN
from similitude.generative.local_bda import LocalBDA
from similitude.generative.local_sda import LocalSDA
from similitude.generative.mixture_sda import MixtureSDA
from similitude.generative.sda import SDA

__all__ = [
    "SDA",
    "Explanation",
    "FusedClassifier",
    "FusedKNN",
    "GenerativeClassifier",
    "LocalBDA",
    "LocalSDA",
    "MixtureSDA",
]
