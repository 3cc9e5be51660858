"""Folds that keep similar samples together, and the error by the similarity to the training samples."""

from similitude.splits.leaks import SimilarityGroupKFold
from similitude.splits.nearness import ErrorBin, ErrorBySimilarity, error_by_similarity, errors_in_bins

__all__ = ["ErrorBin", "ErrorBySimilarity", "SimilarityGroupKFold", "error_by_similarity", "errors_in_bins"]
