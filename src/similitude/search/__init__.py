"""Evaluation of methods on folds, with whole grids at once, and the choice among them."""

from similitude.search.auto import AutoClassifier
from similitude.search.contest import OutOfFold, at_best
from similitude.search.evaluation import Evaluated, evaluate, reading_part
from similitude.search.methods import LOCAL, SLOW, methods, ordered, slug
from similitude.search.nested import INNER_FOLDS, nested_errors
from similitude.search.parameters import parameters_code, parameters_text, plain_parameters, python_value
from similitude.search.path_search import PathSearchCV, input_parameters
from similitude.search.standing import Standing

__all__ = [
    "INNER_FOLDS",
    "LOCAL",
    "SLOW",
    "AutoClassifier",
    "Evaluated",
    "OutOfFold",
    "PathSearchCV",
    "Standing",
    "at_best",
    "evaluate",
    "input_parameters",
    "methods",
    "nested_errors",
    "ordered",
    "parameters_code",
    "parameters_text",
    "plain_parameters",
    "python_value",
    "reading_part",
    "slug",
]
