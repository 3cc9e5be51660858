"""A drop-in for GridSearchCV that asks the estimator for a whole path at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from joblib.parallel import get_active_backend
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress
from similitude.base import SimilarityClassifier, SimilarityEstimator, check_labels, known_matrix
from similitude.numerics.shared import shared_work
from similitude.proximity.check import check_similarity
from similitude.proximity.proximities import Proximities
from similitude.proximity.split import cut
from similitude.search.grid import LazyBlock, evaluate_grid, grouped
from similitude.search.scoring import is_single, named_scorers, score_members
from similitude.similarities import pairwise, resolve


class PathSearchCV(GridSearchCV):
    """Cross-validated search over a grid that does once what grid points share.

    It takes the parameters of scikit-learn's ``GridSearchCV`` and gives the same ``cv_results_`` and ``best_params_``.
    Per fold it does one neighbour sort for all k, one eigendecomposition and one transformation for all parameters of
    the last step of a pipeline, and one scoring pass for the whole path (accuracy, balanced accuracy, log loss; any
    other scorer is called per grid point). Estimators without a path are fitted one by one. A DataFrame is cut on both
    axes; of raw objects the matrix is computed once (once per fold, on its training part, where the similarity learns
    from data).

    Times in ``cv_results_`` are the path's, shared evenly among its grid points. Further ``fit`` arguments (such as
    ``sample_weight``) are handed to ``GridSearchCV``, which fits each point.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, pre_dispatch, error_score, return_train_score
        As in ``GridSearchCV``; ``n_jobs`` runs over folds.
    verbose : int, default=0
        Above 0: a progress bar over the folds, on a terminal.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, multimetric_
        As in ``GridSearchCV``.

    Examples
    --------
    >>> from similitude import KNNClassifier, PathSearchCV
    >>> from similitude.datasets import load_voting
    >>> voting = load_voting()
    >>> search = PathSearchCV(KNNClassifier(similarity="vdm"), {"n_neighbors": [1, 3, 5, 9]}, cv=5)
    >>> search.fit(voting.data, voting.target).best_params_
    {'n_neighbors': 3}
    """

    def fit(self, X, y=None, *, groups=None, **params):
        """Search, and refit on all of the data.

        Parameters
        ----------
        X : square matrix, Proximities, or sequence of raw objects
        y : array-like of shape (n,)
        groups : array-like of shape (n,), default=None
            Handed to the splitter.
        **params
            Handed to ``GridSearchCV.fit``: each grid point is then fitted on its own.

        Returns
        -------
        self
        """
        if params or y is None:
            return super().fit(X, y, **({} if groups is None else {"groups": groups}), **params)
        self._validate_params()
        scorers, refit_metric = self._get_scorers()
        X, y, groups = indexable(X, y, groups)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(splitter.split(X, y, groups))
        candidates = list(ParameterGrid(self.param_grid))
        for names in {tuple(candidate): candidate for candidate in candidates}.values():
            clone(self.estimator).set_params(**clone(names, safe=False))  # an unknown name is an error at once
        if not splits or not candidates:
            raise ValueError("No fits were performed: param_grid or cv is empty.")
        self.n_splits_ = len(splits)

        rows, matrices = self._evaluate(X, y, splits, candidates)
        results = self._format_results(candidates, len(splits), rows)
        first = rows[0]["test_scores"]
        self.multimetric_ = isinstance(first, dict)  # known of a callable only by what it returns
        if self.multimetric_:
            self._check_refit_for_multimetric(first)
            refit_metric = self.refit
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        self.cv_results_ = results
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        if self.refit:
            self._refit(X, y, matrices[self.best_index_])
        return self

    def _refit(self, X, y, matrix):
        start = time.time()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        with nullcontext() if matrix is None else known_matrix(X, _bearer(best)[0].similarity, matrix):
            self.best_estimator_ = best.fit(X, y)
        self.refit_time_ = time.time() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _evaluate(self, X, y, splits, candidates):
        """One row of scores and times per candidate and split, in the order ``GridSearchCV`` has them.

        Also, for each candidate, the matrix that was computed from raw objects, if there is one.
        """
        matrices: dict[int, Any] = {}
        table: dict[tuple[int, int], dict[str, Any]] = {}
        reads_input = _input_names(self.estimator)
        for fixed, indices in grouped(candidates, reads_input):
            estimator = clone(self.estimator).set_params(**clone(fixed, safe=False))
            grid = [{k: v for k, v in candidates[i].items() if not reads_input(k)} for i in indices]
            data = SearchData(estimator, X, y)
            matrices.update(dict.fromkeys(indices, data.computed))
            task = _FoldTask(data, grid, self.scoring, self.error_score, self.return_train_score)
            parallel = Parallel(n_jobs=self.n_jobs, pre_dispatch=self.pre_dispatch, return_as=_how_results_come())
            folds = parallel(delayed(task)(train, test) for train, test in splits)
            for split, rows in enumerate(progress(folds, len(splits), "folds", enabled=self.verbose > 0)):
                for i, row in zip(indices, rows):
                    table[i, split] = row
        ordered = [table[i, split] for i in range(len(candidates)) for split in range(len(splits))]
        _report_failures(ordered)
        _complete_failed_scores(ordered, self.error_score)
        return ordered, matrices


def _how_results_come() -> str:
    """One by one, for the progress bar, where joblib's backend can."""
    return "generator" if get_active_backend()[0].supports_return_generator else "list"


def _bearer(estimator: Any) -> tuple[Any, str]:
    """The part of an estimator that reads its input, and the prefix of that part's parameters."""
    prefix = ""
    while isinstance(estimator, Pipeline) and estimator.steps:
        name, estimator = estimator.steps[0]
        prefix += f"{name}__"
    return estimator, prefix


def _input_names(estimator: Any) -> Callable[[str], bool]:
    """Tells the parameters that change how the input is read: the first step itself, its similarity, and all in it."""
    prefix = _bearer(estimator)[1]
    steps = prefix.split("__")[:-1]
    replaced = {"__".join(steps[: i + 1]) for i in range(len(steps))}

    def reads_input(name: str) -> bool:
        own = name.removeprefix(prefix) if name.startswith(prefix) else ""
        return name in replaced or own.split("__")[0] in ("similarity", "dissimilarity")

    return reads_input


class SearchData:
    """What the folds are cut from: a square matrix, computed here once for raw objects, or rows."""

    def __init__(self, estimator, X, y):
        part, prefix = _bearer(estimator)
        self.y = y.to_numpy() if hasattr(y, "iloc") else np.asarray(y)
        if self.y.ndim == 2 and self.y.shape[1] == 1:
            self.y = self.y.ravel()
        if isinstance(estimator, SimilarityClassifier):
            self.y = check_labels(self.y, len(self.y))
        self.learns = self.computed = None
        if isinstance(part, SimilarityEstimator) and not part._is_matrix:
            measure = resolve(part.similarity)
            estimator = clone(estimator).set_params(
                **{f"{prefix}similarity": "precomputed", f"{prefix}dissimilarity": part._map_name}
            )
            if measure.learns:
                self.learns = measure
            else:
                X = self.computed = pairwise(X, similarity=measure)
        elif isinstance(part, SimilarityEstimator) or get_tags(part).input_tags.pairwise:
            X = _checked_once(X, part)
        self.estimator, self.X = estimator, X
        self.pairwise = get_tags(estimator).input_tags.pairwise and self.learns is None
        if self.pairwise and not hasattr(X, "shape"):
            self.X = np.asarray(X)

    def cut(self, train, test):
        """Training data, training labels, test data, test labels."""
        y_train, y_test = self.y[train], self.y[test]
        if self.learns is not None:
            A, B = _safe_indexing(self.X, train), _safe_indexing(self.X, test)
            measure = self.learns.learned(A, y_train)
            return pairwise(A, similarity=measure), y_train, pairwise(B, A, similarity=measure), y_test
        if not self.pairwise:
            return _safe_indexing(self.X, train), y_train, _safe_indexing(self.X, test), y_test
        lazy = isinstance(self.X, np.ndarray) and hasattr(self.estimator, "_predict_path")
        X_train = LazyBlock(self.X, train, train) if lazy else cut(self.X, train, train)
        return X_train, y_train, cut(self.X, test, train), y_test


def _checked_once(X, part):
    """The whole matrix checked, so that folds need not be; a DataFrame becomes an array."""
    own = isinstance(part, SimilarityEstimator)
    # What an estimator that is not ours takes its matrix for is not known.
    orientation = "similarity" if own and part._map_name is None else "dissimilarity"
    square = not (own and part._is_columns)
    if isinstance(X, Proximities):
        several = X.similarities.items()
        checked = {k: check_similarity(S, name="X", square=square, orientation=orientation) for k, S in several}
        return X._with(checked, X.features)
    X = check_similarity(X, name="X", square=square, orientation=orientation)
    return X if sparse.issparse(X) else np.asarray(X)


class _FoldTask:
    """All the work on one fold: every grid point fitted and scored."""

    def __init__(self, data, grid, scoring, error_score, train_scores):
        self.data, self.grid, self.scoring = data, grid, scoring
        self.error_score, self.train_scores = error_score, train_scores

    def __call__(self, train, test):
        X_train, y_train, X_test, y_test = self.data.cut(train, test)
        sets = {"test_scores": (X_test, y_test)}
        if self.train_scores:
            sets["train_scores"] = (np.asarray(X_train) if isinstance(X_train, LazyBlock) else X_train, y_train)
        rows: list[dict[str, Any]] = [{} for _ in self.grid]
        targets = [X for X, _ in sets.values()]
        with shared_work():
            for batch in evaluate_grid(self.data.estimator, X_train, y_train, targets, self.grid, self._guarded):
                start = time.perf_counter()
                scores = {}
                for t, (name, (_, truth)) in enumerate(sets.items()):
                    members = None if batch.members is None else batch.members[t]
                    scores[name] = self._scores(members, truth, batch)
                elapsed = time.perf_counter() - start
                for j, i in enumerate(batch.indices):
                    rows[i] = {name: values[j] for name, values in scores.items()}
                    rows[i]["fit_time"] = batch.seconds / len(batch.indices)
                    rows[i]["score_time"] = elapsed / len(batch.indices)
                    rows[i]["fit_error"] = batch.error
        return rows

    @property
    def _guarded(self):
        """Whether a failing fit becomes ``error_score`` instead of an exception."""
        return self.error_score != "raise"

    def _scores(self, members, truth, batch):
        if members is None:
            names = named_scorers(self.scoring)
            failed = self.error_score if is_single(self.scoring) else dict.fromkeys(names, self.error_score)
            return [failed] * len(batch.indices)
        return score_members(self.scoring, members, truth, self.error_score)


def _complete_failed_scores(rows, error_score):
    """Where a callable gave several scores by name, failed fits get the error score under each of the names."""
    for kind in ("test_scores", "train_scores"):
        names = next((row[kind] for row in rows if isinstance(row.get(kind), dict)), None)
        for row in rows:
            if names is not None and not isinstance(row[kind], dict):
                row[kind] = dict.fromkeys(names, error_score)


def _report_failures(rows):
    """Warn once about failed fits, or fail where none succeeded."""
    errors = [row["fit_error"] for row in rows if row["fit_error"] is not None]
    if not errors:
        return
    message = f"{len(errors)} fits failed out of a total of {len(rows)}. The first one failed with:\n{errors[0]}"
    if len(errors) == len(rows):
        raise ValueError(f"All the {len(rows)} fits failed. The first one failed with:\n{errors[0]}")
    warnings.warn(message, FitFailedWarning, stacklevel=4)
