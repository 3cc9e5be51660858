"""Evaluation of methods on folds: the engine, grids, and the search over them."""

from similitude.evaluation.engine import Evaluated, at_point, evaluate, reading_part
from similitude.evaluation.folds import stratified_folds
from similitude.evaluation.parameters import parameters_code, parameters_text, plain_parameters, python_value
from similitude.evaluation.path_search import PathSearchCV, input_parameters

__all__ = [
    "Evaluated",
    "PathSearchCV",
    "at_point",
    "evaluate",
    "input_parameters",
    "parameters_code",
    "parameters_text",
    "plain_parameters",
    "python_value",
    "reading_part",
    "stratified_folds",
]
