"""A drop-in for GridSearchCV that asks the estimator for a whole path at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import get_tags, indexable

from similitude.base import PathClassifier
from similitude.finders import check_search
from similitude.labels import check_labels
from similitude.reader import Samples
from similitude.search.evaluation import Batch, Fold, evaluate, grouped, reading_part, reads_training, samples_for
from similitude.search.scoring import score_batch


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

        rows, samples = self._evaluate(X, y, splits, candidates)
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
            self._refit(X, y, samples[self.best_index_])
        return self

    def _refit(self, X, y, samples):
        start = time.time()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        part, _ = reading_part(best)
        # Raw objects have a matrix already, unless neighbours are to be found without one.
        has_matrix = reads_training(best) and check_search(getattr(part, "search", "matrix")) is None
        self.best_estimator_ = best.fit(samples.whole() if has_matrix else X, y)
        self.refit_time_ = time.time() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def _evaluate(self, X, y, splits, candidates):
        """Return one row of scores and times per candidate and split, in the order that ``GridSearchCV`` has them.

        Also return the samples that each candidate was evaluated on.
        """
        samples: dict[int, Samples] = {}
        table: dict[tuple[int, int], dict[str, Any]] = {}
        reads_input = input_parameters(self.estimator)
        for fixed, indices in grouped(candidates, reads_input):
            estimator = clone(self.estimator).set_params(**clone(fixed, safe=False))
            grid = [{k: v for k, v in candidates[i].items() if not reads_input(k)} for i in indices]
            group = samples_for(estimator, X, _labels(estimator, y))
            samples.update(dict.fromkeys(indices, group))
            options = {"n_jobs": self.n_jobs, "pre_dispatch": self.pre_dispatch, "show": self.verbose > 0}
            folds = evaluate(
                group,
                {"": (estimator, grid)},
                splits,
                _Scores(estimator, self.scoring, self.error_score, self.return_train_score),
                on_error="raise" if self.error_score == "raise" else "point",
                train_too=self.return_train_score,
                **options,
            )
            for split, found in enumerate(folds):
                for i, row in zip(indices, found[""].results):
                    table[i, split] = row
        ordered = [table[i, split] for i in range(len(candidates)) for split in range(len(splits))]
        _report_failures(ordered)
        _complete_failed_scores(ordered, self.error_score)
        return ordered, samples


def _labels(estimator: Any, y: Any) -> np.ndarray:
    y = y.to_numpy() if hasattr(y, "iloc") else np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.ravel()
    return check_labels(y, len(y)) if isinstance(estimator, PathClassifier) else y


def input_parameters(estimator: Any) -> Callable[[str], bool]:
    """Return what tells the parameters that change how the input is read: the first step, its similarity, all in it."""
    prefix = reading_part(estimator)[1]
    steps = prefix.split("__")[:-1]
    replaced = {"__".join(steps[: i + 1]) for i in range(len(steps))}

    def reads_input(name: str) -> bool:
        own = name.removeprefix(prefix) if name.startswith(prefix) else ""
        return name in replaced or own.split("__")[0] in ("similarity", "dissimilarity")

    return reads_input


class _Scores:
    """Judge: scores and times of the points of a batch."""

    def __init__(self, estimator: Any, scoring: Any, error_score: Any, train_too: bool):
        self.pairwise = bool(get_tags(estimator).input_tags.pairwise)
        self.scoring, self.error_score = scoring, error_score
        self.names = ("test_scores", "train_scores") if train_too else ("test_scores",)

    def __call__(self, batch: Batch, fold: Fold) -> list[dict[str, Any]]:
        start, count = time.perf_counter(), len(batch.indices)
        rows: list[dict[str, Any]] = [{} for _ in range(count)]
        for t, name in enumerate(self.names):
            scores = score_batch(
                self.scoring, batch, t, fold.truths[t], lambda t=t: self._as_given(fold, t), self.error_score
            )
            for row, score in zip(rows, scores):
                row[name] = score
        elapsed = time.perf_counter() - start
        for row in rows:
            row |= {"fit_time": batch.seconds / count, "score_time": elapsed / count, "fit_error": batch.error}
        return rows

    def _as_given(self, fold: Fold, t: int) -> Any:
        return fold.as_given(self.pairwise)[1][t]


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
