"""The proximity matrix itself: checks, maps between similarity and dissimilarity, symmetry, splitting."""

from similitude.proximity.check import SimilarityWarning, check_similarity
from similitude.proximity.maps import LearnedMap, rescale, to_dissimilarity, to_similarity
from similitude.proximity.proximities import Extras, Proximities
from similitude.proximity.split import train_test_split
from similitude.proximity.symmetry import Symmetrized, symmetrize

__all__ = [
    "Extras",
    "LearnedMap",
    "Proximities",
    "SimilarityWarning",
    "Symmetrized",
    "check_similarity",
    "rescale",
    "symmetrize",
    "to_dissimilarity",
    "to_similarity",
    "train_test_split",
]
