"""One cell of an experiment: one method on one partition of one data set."""

from __future__ import annotations

import json
import time
import traceback
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import LeaveOneOut, ParameterGrid
from sklearn.utils import get_tags

from similitude._utils.scikit_learn import safe_indexing
from similitude._utils.threads import one_blas_thread
from similitude._utils.versions import versions
from similitude.evaluation.parameters import plain_parameters
from similitude.evaluation.path_search import PathSearchCV
from similitude.experiments.protocol import Partition, Protocol
from similitude.experiments.selection import pooled_errors, pooled_search
from similitude.experiments.store import Failure, Row
from similitude.numerics.shared import shared_work
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.split import cut


@dataclass(frozen=True)
class Cell:
    """The input of a worker for one result, and the names under which the result is stored."""

    key: str
    dataset: str
    method: str
    partition: Partition
    protocol: Protocol
    data_digest: str
    method_digest: str
    X: Any
    y: np.ndarray
    estimator: Any
    grid: Any
    """A grid, or a function of the training part and its folds that returns one."""

    def work(self) -> Row | Failure:
        """Compute the result with one BLAS thread, so that it is the same to the last digit on every worker."""
        start = time.perf_counter()
        try:
            alone = parallel_config("sequential", n_jobs=1)
            with one_blas_thread(), shared_work(), alone, warnings.catch_warnings():
                # Indefinite matrices are expected, and a fit that did not converge is judged by its errors.
                warnings.simplefilter("ignore", SimilarityWarning)
                warnings.simplefilter("ignore", ConvergenceWarning)
                n_test, n_errors, log_loss, chosen = self._result()
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            names = (self.key, self.dataset, self.partition.number, self.method)
            return Failure(*names, message, traceback.format_exc(), _now())
        return Row(
            key=self.key,
            dataset=self.dataset,
            partition=self.partition.number,
            method=self.method,
            seed=self.partition.seed,
            n_test=n_test,
            n_errors=n_errors,
            error=n_errors / n_test,
            log_loss=log_loss,
            parameters=json.dumps(plain_parameters(chosen), sort_keys=True),
            protocol=self.protocol.description,
            data_digest=self.data_digest,
            method_digest=self.method_digest,
            seconds=time.perf_counter() - start,
            finished=_now(),
            **{name.replace("-", "_"): version for name, version in versions().items()},
        )

    def _result(self) -> tuple[int, int, float | None, dict]:
        if self.protocol.kind == "least leave-one-out":
            return self._least()
        train, test = self.partition.train, self.partition.test
        y_train, y_test = self.y[train], self.y[test]
        if get_tags(self.estimator).input_tags.pairwise:
            X_train, X_test = cut(self.X, train, train), cut(self.X, test, train)
        else:
            X_train, X_test = safe_indexing(self.X, train), safe_indexing(self.X, test)
        model, chosen = self._chosen(X_train, y_train)
        errors = int(np.count_nonzero(model.predict(X_test) != y_test))
        log_loss = None
        if hasattr(model, "predict_proba"):
            log_loss = _log_loss(model.predict_proba(X_test), model.classes_, y_test)
        return len(test), errors, log_loss, chosen

    def _chosen(self, X: Any, y: np.ndarray) -> tuple[Any, dict]:
        """Return the method fitted with the best parameters of its grid, and these parameters."""
        folds = self.protocol.inner_folds(self.partition.seed)
        grid = self._grid(X, y, folds)
        points = list(ParameterGrid(grid))
        if len(points) == 1:
            return clone(self.estimator).set_params(**clone(points[0], safe=False)).fit(X, y), points[0]
        if self.protocol.selection == "pooled":
            search = pooled_search(self.estimator, grid, X, y, folds, self.protocol.ties)
        else:
            search = PathSearchCV(self.estimator, grid, cv=folds, scoring="accuracy", error_score="raise").fit(X, y)
        return search, search.best_params_

    def _grid(self, X: Any, y: np.ndarray, folds: Any) -> Any:
        grid = self.grid(X, y, folds) if callable(self.grid) else self.grid
        return {name: list(values) for name, values in grid.items()} if isinstance(grid, Mapping) else grid

    def _least(self) -> tuple[int, int, None, dict]:
        """Return the least leave-one-out error over the grid."""
        grid = self._grid(self.X, self.y, LeaveOneOut())
        search = pooled_search(self.estimator, grid, self.X, self.y, LeaveOneOut(), self.protocol.ties)
        errors = int(pooled_errors(search.cv_results_, [1] * len(self.y))[search.best_index_])
        return len(self.y), errors, None, search.best_params_


def _log_loss(posterior: np.ndarray, classes: np.ndarray, truth: np.ndarray) -> float:
    """Return minus the mean logarithm of the true classes' probabilities; a class without training samples has 0."""
    place = {label: i for i, label in enumerate(np.asarray(classes).tolist())}
    own = [
        row[place[label]] if label in place else 0.0 for row, label in zip(np.asarray(posterior, float), truth.tolist())
    ]
    tiny = np.finfo(float).eps
    return float(-np.mean(np.log(np.clip(own, tiny, 1 - tiny))))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
