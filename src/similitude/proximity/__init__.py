"""Proximity matrices: checks, maps between similarities and dissimilarities, symmetrisation, splitting."""

from similitude.proximity.check import (
    SYMMETRY_TOLERANCE,
    SimilarityWarning,
    asymmetry,
    check_similarity,
    dense,
    for_lookup,
    is_symmetric,
    looks_like_dissimilarity,
)
from similitude.proximity.evidence import gives_evidence
from similitude.proximity.groups import similarity_groups
from similitude.proximity.maps import (
    TO_DISSIMILARITY,
    TO_SIMILARITY,
    WITH_WIDTH,
    LearnedMap,
    base_name,
    check_map,
    learned_constants_needed,
    to_dissimilarity,
    to_similarity,
)
from similitude.proximity.proximities import Extras, Proximities, as_proximities, at_columns
from similitude.proximity.rescaling import apply_range, rescale, value_range
from similitude.proximity.split import cut, train_test_split
from similitude.proximity.symmetry import (
    Symmetrized,
    check_same_order,
    mean_of_directions,
    symmetrize,
    symmetrized_for,
    warn_of_asymmetry,
)
from similitude.proximity.unknown import KnownPairs, known_pairs

__all__ = [
    "SYMMETRY_TOLERANCE",
    "TO_DISSIMILARITY",
    "TO_SIMILARITY",
    "WITH_WIDTH",
    "Extras",
    "KnownPairs",
    "LearnedMap",
    "Proximities",
    "SimilarityWarning",
    "Symmetrized",
    "apply_range",
    "as_proximities",
    "asymmetry",
    "at_columns",
    "base_name",
    "check_map",
    "check_same_order",
    "check_similarity",
    "cut",
    "dense",
    "for_lookup",
    "gives_evidence",
    "is_symmetric",
    "known_pairs",
    "learned_constants_needed",
    "looks_like_dissimilarity",
    "mean_of_directions",
    "rescale",
    "similarity_groups",
    "symmetrize",
    "symmetrized_for",
    "to_dissimilarity",
    "to_similarity",
    "train_test_split",
    "value_range",
    "warn_of_asymmetry",
]
