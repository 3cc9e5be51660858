"""The private names of scikit-learn that the package uses, with the reason for each; no other module uses any."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV

# The two halving searches have no public base class in common with GridSearchCV and RandomizedSearchCV.
from sklearn.model_selection._search import BaseSearchCV

# Takes samples from arrays, sparse matrices, lists and data frames of every library that scikit-learn reads.
from sklearn.utils import _safe_indexing as safe_indexing

# Makes get_params and set_params reach estimators in a list of (name, estimator), as in VotingClassifier.
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition

# Users expect scikit-learn's messages for weights that are not numbers or have the wrong length.
from sklearn.utils.validation import _check_sample_weight as checked_sample_weight

# check_is_fitted refuses measures that have fit but are not estimators of scikit-learn.
from sklearn.utils.validation import _is_fitted as is_fitted

# Counts the samples of everything that scikit-learn accepts as X, with its message for other objects.
from sklearn.utils.validation import _num_samples as num_samples
from sklearn.utils.validation import validate_data

__all__ = [
    "BaseComposition",
    "BaseSearchCV",
    "best_index",
    "check_refit",
    "checked_sample_weight",
    "feature_names",
    "format_results",
    "is_fitted",
    "num_samples",
    "routed_arguments",
    "safe_indexing",
    "scorers_of",
    "single_scorers",
]


def feature_names(X: Any) -> np.ndarray | None:
    """Return the column names of X that scikit-learn accepts as names of features, or None."""
    noted = BaseEstimator()
    validate_data(noted, X, skip_check_array=True)
    return getattr(noted, "feature_names_in_", None)


# The steps of GridSearchCV.fit, which PathSearchCV shares so that parameters, errors and cv_results_ are the same.


def scorers_of(search: GridSearchCV) -> tuple[Any, str]:
    """Return the scorers of a search whose parameters are valid, and the name of the score to refit by."""
    search._validate_params()
    return search._get_scorers()


def single_scorers(scorers: Any) -> Any:
    """Return several scorers as a dict of their names, as in ``scorer_``, and a single scorer as it is."""
    return getattr(scorers, "_scorers", scorers)


def routed_arguments(search: GridSearchCV, given: dict[str, Any]) -> Any:
    """Return the arguments of ``fit`` for the estimator, the splitter and the scorers."""
    return search._get_routed_params_for_fit(given)


def format_results(search: GridSearchCV, candidates: list[dict[str, Any]], n_splits: int, rows: Any) -> dict[str, Any]:
    """Return ``cv_results_`` of the scores and times of all candidates on all folds."""
    return search._format_results(candidates, n_splits, rows)


def check_refit(search: GridSearchCV, scores: Any) -> None:
    """Raise a ValueError if there are several scores and ``refit`` names none of them."""
    search._check_refit_for_multimetric(scores)


def best_index(search: GridSearchCV, refit_metric: str, results: dict[str, Any]) -> int:
    """Return the index of the candidate that ``refit`` chooses."""
    return search._select_best_index(search.refit, refit_metric, results)
