"""Choosing parameters as the papers do: errors pooled over folds, ties to the first in the order of the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from similitude.search.path_search import PathSearchCV

Grid = Mapping[str, Iterable] | Sequence[Mapping[str, Iterable]]


def written_order(grid: Grid) -> list[tuple[int, ...]]:
    """Return a key for each candidate of scikit-learn's ``ParameterGrid(grid)`` that sorts them as the grid is written.

    ``ParameterGrid`` sorts the names; as written, the first name is outermost.

    Examples
    --------
    >>> from similitude.experiments.selection import written_order
    >>> written_order({"n_neighbors": [1, 2], "C": [0.1, 1.0]})
    [(0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)]
    """
    keys = []
    for number, part in enumerate([grid] if isinstance(grid, Mapping) else grid):
        names = sorted(part)
        own = [names.index(name) for name in part]
        for place in product(*(range(len(list(part[name]))) for name in names)):
            keys.append((number, *(place[i] for i in own)))
    return keys


def pooled_errors(results: Mapping[str, Any], sizes: Sequence[int]) -> np.ndarray:
    """Return errors over all folds together, a count for each grid point, from the accuracies in ``cv_results_``."""
    scores = np.array([results[f"split{i}_test_score"] for i in range(len(sizes))])
    return np.round(np.sum(sizes) - np.asarray(sizes, dtype=float) @ scores).astype(int)


def fewest_errors(grid: Grid, sizes: Sequence[int], ties: str = "first") -> Callable[[Mapping[str, Any]], int]:
    """The papers' rule as a function to be ``refit=`` of a search: which grid point has the fewest pooled errors."""
    keys = written_order(grid)

    def choose(results: Mapping[str, Any]) -> int:
        errors = pooled_errors(results, sizes)
        best = [i for i in range(len(keys)) if errors[i] == errors.min()]
        return (min if ties == "first" else max)(best, key=keys.__getitem__)

    return choose


def pooled_search(estimator: Any, grid: Grid, X: Any, y: Any, cv: Any, ties: str = "first") -> PathSearchCV:
    """Return a search fitted by the papers' rule, refitted at the point it chose.

    Its ``fewest_errors_`` is the number of errors there, over all folds.

    Parameters
    ----------
    estimator : classifier
    grid : dict of lists, or list of these
        Ties go to the first in the order in which it is written, the first name outermost.
    X : square matrix, Proximities, or sequence of raw objects
    y : array-like of shape (n,)
    cv : int, splitter or iterable
    ties : {"first", "last"}, default="first"

    Returns
    -------
    PathSearchCV

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 7.2 and Table 2.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import KNNClassifier
    >>> from similitude.experiments.selection import pooled_search
    >>> S = np.kron(np.eye(2), np.ones((6, 6)))
    >>> search = pooled_search(KNNClassifier(), {"n_neighbors": [1, 3, 5]}, S, [0] * 6 + [1] * 6, cv=3)
    >>> search.best_params_, search.fewest_errors_
    ({'n_neighbors': 1}, 0)
    """
    y = np.asarray(y)
    splits = list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y))
    sizes = [len(test) for _, test in splits]
    choose = fewest_errors(grid, sizes, ties)
    search = PathSearchCV(estimator, grid, cv=splits, refit=choose, scoring="accuracy", error_score="raise").fit(X, y)
    search.fewest_errors_ = int(pooled_errors(search.cv_results_, sizes)[search.best_index_])
    return search
