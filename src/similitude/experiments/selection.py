"""The choice of parameters as in the papers: by errors pooled over folds, with ties broken by the order of the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv

from similitude._utils.ids import labels_in_order
from similitude._utils.types import Folds, ListLike, SamplesLike
from similitude.evaluation.path_search import PathSearchCV

Grid = Mapping[str, Iterable] | Sequence[Mapping[str, Iterable]]


def written_order(grid: Grid) -> list[tuple[int, ...]]:
    """Return a key for each candidate of ``ParameterGrid(grid)`` that sorts them in the order of the written grid.

    ``ParameterGrid`` sorts the names; in the written order, the first name is outermost.
    """
    keys = []
    for number, part in enumerate([grid] if isinstance(grid, Mapping) else grid):
        names = sorted(part)
        own = [names.index(name) for name in part]
        for place in product(*(range(len(list(part[name]))) for name in names)):
            keys.append((number, *(place[i] for i in own)))
    return keys


def pooled_errors(results: Mapping[str, Any], sizes: Sequence[int]) -> np.ndarray:
    """Return the number of errors over all folds together for each grid point, from accuracies in ``cv_results_``."""
    scores = np.array([results[f"split{i}_test_score"] for i in range(len(sizes))])
    return np.round(np.sum(sizes) - np.asarray(sizes, dtype=float) @ scores).astype(int)


def fewest_errors(grid: Grid, sizes: Sequence[int], ties: str = "first") -> Callable[[Mapping[str, Any]], int]:
    """Return a function for ``refit=`` of a search that chooses the grid point with the fewest pooled errors."""
    keys = written_order(grid)

    def choose(results: Mapping[str, Any]) -> int:
        errors = pooled_errors(results, sizes)
        best = [i for i in range(len(keys)) if errors[i] == errors.min()]
        return (min if ties == "first" else max)(best, key=keys.__getitem__)

    return choose


def pooled_search(
    estimator: BaseEstimator,
    grid: Grid,
    X: SamplesLike,
    y: ListLike,
    cv: Folds,
    ties: Literal["first", "last"] = "first",
) -> PathSearchCV:
    """Return a search that chose parameters by the rule of the papers, refitted at the chosen point.

    Its attribute ``fewest_errors_`` is the number of errors at that point, over all folds.

    Parameters
    ----------
    estimator : classifier
        The method.
    grid : dict of lists, or list of these
        The grid; ties are broken by the order in which it is written, the first name outermost.
    X : square matrix, Proximities, or sequence of raw objects
        The samples.
    y : array-like of shape (n,)
        The labels.
    cv : int, splitter or iterable
        The folds.
    ties : {"first", "last"}, default="first"
        Which of equally good grid points is chosen.

    Returns
    -------
    PathSearchCV
        The fitted search.

    See Also
    --------
    similitude.PathSearchCV : Cross-validated search over a grid in which the work that grid points share is done once.
    Protocol
        The protocol of an experiment: the outer partitions, and how parameters are chosen within their training
        parts.

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
    y = np.asarray(labels_in_order(y, X))
    splits = list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y))
    sizes = [len(test) for _, test in splits]
    choose = fewest_errors(grid, sizes, ties)
    search = PathSearchCV(estimator, grid, cv=splits, refit=choose, scoring="accuracy", error_score="raise").fit(X, y)
    search.fewest_errors_ = int(pooled_errors(search.cv_results_, sizes)[search.best_index_])
    return search
