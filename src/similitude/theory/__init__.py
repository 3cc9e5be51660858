"""Measures of how good a similarity is for a problem, and error bounds of classifiers that learn from it."""

from similitude.theory.bounds import (
    GeneralizationBound,
    Promise,
    error_bound,
    generalization_bound,
    generalization_bound_of,
    pairs_needed,
)
from similitude.theory.curves import MarginCurve, ReweightedGoodness, SimilarityGoodness
from similitude.theory.goodness import Goodness, goodness

__all__ = [
    "GeneralizationBound",
    "Goodness",
    "MarginCurve",
    "Promise",
    "ReweightedGoodness",
    "SimilarityGoodness",
    "error_bound",
    "generalization_bound",
    "generalization_bound_of",
    "goodness",
    "pairs_needed",
]
