"""What the package takes from scikit-learn beyond its public names, with the reason for each; no other module does.

It also holds what other modules need to fit into scikit-learn: links to pages, and methods under a condition.
"""

# ruff: noqa: F401 - other modules import these names from here

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV

# The two halving searches have no public base class in common with GridSearchCV and RandomizedSearchCV.
from sklearn.model_selection._search import BaseSearchCV

# Takes samples from arrays, sparse matrices, lists and data frames of every library that scikit-learn reads.
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils import metaestimators

# Makes get_params and set_params reach estimators in a list of (name, estimator), as in VotingClassifier.
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition

# Users expect scikit-learn's messages for weights that are not numbers or have the wrong length.
from sklearn.utils.validation import _check_sample_weight as checked_sample_weight

# check_is_fitted refuses measures that have fit but are not estimators of scikit-learn.
from sklearn.utils.validation import _is_fitted as is_fitted

# Counts the samples of everything that scikit-learn accepts as X, with its message for other objects.
from sklearn.utils.validation import _num_samples as num_samples
from sklearn.utils.validation import validate_data


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


SITE = "https://similitude.readthedocs.io/en/stable"


class LinkedEstimator:
    """Mixin of estimators whose HTML representation links to their page in the reference."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        inherited = getattr(cls, "fit", None)
        if isinstance(inherited, FunctionType) and "fit" not in vars(cls):
            # A copy with a name of its own, since Python's message for an unexpected argument shows that name.
            code, closure = inherited.__code__, inherited.__closure__
            own = FunctionType(code, inherited.__globals__, "fit", inherited.__defaults__, closure)
            own.__kwdefaults__, own.__annotations__ = inherited.__kwdefaults__, inherited.__annotations__
            own.__doc__, own.__module__ = inherited.__doc__, cls.__module__
            own.__qualname__ = f"{cls.__qualname__}.fit"
            vars(own)["__wrapped__"] = inherited
            cls.fit = own  # type: ignore[attr-defined]

    _doc_link_module = "similitude"
    _doc_link_template = SITE + "/generated/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return the name of the page: the room of the estimator is named unless ``similitude`` exports the class."""
        kind = type(self)
        package = sys.modules["similitude"]
        room = "similitude" if hasattr(package, kind.__name__) else ".".join(kind.__module__.split(".")[:2])
        page = f"{room}.{kind.__name__}"
        # A file system that ignores case would hold one page for the class and the function ``rescale``.
        return {"page": f"{page}-class" if page == "similitude.Rescale" else page}


Method = TypeVar("Method", bound=Callable[..., Any])


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Return scikit-learn's decorator of this name, for which a type checker keeps the signature of the method."""
    return metaestimators.available_if(check)
