"""Proximity matrices: checks, maps between similarities and dissimilarities, symmetrisation, splitting."""

from similitude.proximity.check import SimilarityWarning, check_similarity, looks_like_dissimilarity
from similitude.proximity.evidence import gives_evidence
from similitude.proximity.groups import similarity_groups
from similitude.proximity.maps import LearnedMap, rescale, to_dissimilarity, to_similarity
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.proximity.split import cut, train_test_split
from similitude.proximity.symmetry import symmetrize
from similitude.proximity.unknown import KnownPairs, known_pairs

__all__ = [
    "KnownPairs",
    "LearnedMap",
    "Proximities",
    "SimilarityWarning",
    "as_proximities",
    "check_similarity",
    "cut",
    "gives_evidence",
    "known_pairs",
    "looks_like_dissimilarity",
    "rescale",
    "similarity_groups",
    "symmetrize",
    "to_dissimilarity",
    "to_similarity",
    "train_test_split",
]
