"""Evaluating methods on folds, whole grids at once, and choosing among them."""

from similitude.search.auto import AutoClassifier
from similitude.search.evaluation import evaluate
from similitude.search.methods import methods
from similitude.search.path_search import PathSearchCV
from similitude.search.standing import Standing

__all__ = ["AutoClassifier", "PathSearchCV", "Standing", "evaluate", "methods"]
