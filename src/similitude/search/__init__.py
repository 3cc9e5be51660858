"""Evaluation of methods on folds, with whole grids at once, and the choice among them."""

from similitude.search.auto import AutoClassifier, OutOfFold
from similitude.search.calibration import Calibration, SetCoverage
from similitude.search.combined import CombinedClassifier, CombinedMember
from similitude.search.comparison import SimilarityComparison, SimilarityStanding, Together
from similitude.search.evaluation import Evaluated, at_point, evaluate, reading_part
from similitude.search.folds import stratified_folds
from similitude.search.leaks import SimilarityGroupKFold
from similitude.search.methods import COMPARED_ONLY, MIXTURES, PEERS, SLOW, methods, mixtures, slug
from similitude.search.nearness import ErrorBin, ErrorBySimilarity, error_by_similarity, errors_in_bins
from similitude.search.nested import INNER_FOLDS, NO_TIME, nested_errors
from similitude.search.parameters import parameters_code, parameters_text, plain_parameters, python_value
from similitude.search.path_search import PathSearchCV, input_parameters
from similitude.search.prediction_sets import FoldModel, PredictionSets
from similitude.search.reading import split_names
from similitude.search.several import compare_similarities
from similitude.search.standing import COMBINATION, Standing
from similitude.search.votes import Votes

__all__ = [
    "COMBINATION",
    "COMPARED_ONLY",
    "INNER_FOLDS",
    "MIXTURES",
    "NO_TIME",
    "PEERS",
    "SLOW",
    "AutoClassifier",
    "Calibration",
    "CombinedClassifier",
    "CombinedMember",
    "ErrorBin",
    "ErrorBySimilarity",
    "Evaluated",
    "FoldModel",
    "OutOfFold",
    "PathSearchCV",
    "PredictionSets",
    "SetCoverage",
    "SimilarityComparison",
    "SimilarityGroupKFold",
    "SimilarityStanding",
    "Standing",
    "Together",
    "Votes",
    "at_point",
    "compare_similarities",
    "error_by_similarity",
    "errors_in_bins",
    "evaluate",
    "input_parameters",
    "methods",
    "mixtures",
    "nested_errors",
    "parameters_code",
    "parameters_text",
    "plain_parameters",
    "python_value",
    "reading_part",
    "slug",
    "split_names",
    "stratified_folds",
]
