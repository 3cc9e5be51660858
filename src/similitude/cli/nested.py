"""Nested cross-validation of many methods that share the work of each fold."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress
from similitude.neighbors.knn import KNNClassifier
from similitude.numerics.shared import shared_work
from similitude.numerics.significance import standard_error
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.split import cut
from similitude.search.contest import Contest, Run
from similitude.search.grid import LazyBlock
from similitude.search.methods import methods
from similitude.search.parameters import parameters_text
from similitude.search.path_search import SearchData

INNER_FOLDS = 5


@dataclass(frozen=True)
class Outcome:
    """The error of one method over the outer folds."""

    method: str
    error: float | None
    """None where the method failed."""
    standard_error: float | None
    parameters: str
    """Those chosen in the most folds."""
    seconds: float
    """Of one core; what methods share is charged to the first that needs it."""
    failure: str | None = None


@dataclass
class _Task:
    """One outer fold: every method tuned on its training part, refitted there, and tested."""

    data: SearchData
    contract: dict[str, Any]
    names: list[str]
    seed: int

    def __call__(self, train: np.ndarray, test: np.ndarray) -> dict[str, tuple[float | None, str, float]]:
        """Of each method the error (None: it failed), the parameters (the failure), and the seconds."""
        with warnings.catch_warnings():
            # What there is to say about the matrix was said; a machine stopped early is judged by its errors.
            warnings.simplefilter("ignore", SimilarityWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            contest = self._tuned(train)
            found: dict[str, tuple[float | None, str, float]] = {
                name: (None, failure, 0.0) for name, failure in contest.failures.items()
            }
            fold = self.data.cut(train, test)
            with shared_work():
                for name, run in contest.runs.items():
                    found[name] = self._tested(name, run, fold)
        return found

    def _tuned(self, train: np.ndarray) -> Contest:
        data = self.data
        if data.learns is not None:
            estimator, X = KNNClassifier(**self.contract), _safe_indexing(data.X, train)
        else:
            estimator, X = data.estimator, cut(data.X, train, train)
        part = SearchData(estimator, X, data.y[train])
        splitter = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.seed)
        contest = Contest(part, self.names, list(splitter.split(np.zeros(len(train)), part.y)))
        contest.run(self.names, None, None, False)
        return contest

    def _tested(self, name: str, run: Run, fold: tuple) -> tuple[float | None, str, float]:
        start = time.perf_counter()
        X_train, y_train, X_test, y_test = fold
        best = best_point(run)
        own = {"similarity": "precomputed", "dissimilarity": self.data.estimator.dissimilarity}
        estimator = clone(methods("all", **own)[name][0]).set_params(**best)
        try:
            X_train = np.asarray(X_train) if isinstance(X_train, LazyBlock) else X_train
            said = estimator.fit(X_train, y_train).predict(X_test)
        except Exception as error:  # one method that cannot do it must not keep the others from it
            return None, f"{type(error).__name__}: {error}", run.seconds
        seconds = run.seconds + time.perf_counter() - start
        return float(1 - np.mean(said == y_test)), parameters_text(best), seconds


def best_point(run: Run) -> dict[str, Any]:
    """The first of the grid points with the best mean accuracy, exactly as ``PathSearchCV`` chooses."""
    scores = [np.count_nonzero(said == truth, axis=1) / len(truth) for said, truth in zip(run.answers, run.truths)]
    return run.points[int(np.argmax(np.average(np.array(scores).T, axis=1)))]


def nested_errors(
    X: Any, y: Any, contract: dict[str, Any], names: list[str], *, folds: int, seed: int, n_jobs: int, show: bool
) -> list[Outcome]:
    """The error of each method, parameters chosen by 5 folds within each outer training part; the best first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        data = SearchData(KNNClassifier(**contract), X, y)
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(data.y)), data.y))
    task = _Task(data, contract, names, seed)
    found = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(*split) for split in splits)
    done = list(progress(found, folds, "folds", enabled=show))
    outcomes = [_outcome(name, [fold[name] for fold in done]) for name in names]
    worked = sorted((o for o in outcomes if o.error is not None), key=lambda o: o.error or 0.0)
    failed = [o for o in outcomes if o.error is None]
    if not worked:
        raise ValueError(f"no method could be used; {failed[0].method} failed with {failed[0].failure}")
    return [*worked, *failed]


def _outcome(name: str, rows: list[tuple[float | None, str, float]]) -> Outcome:
    seconds = sum(row[2] for row in rows)
    for error, failure, _ in rows:
        if error is None:
            return Outcome(name, None, None, "", seconds, failure)
    errors = np.array([row[0] for row in rows], dtype=float)
    chosen = Counter(row[1] for row in rows).most_common(1)[0][0]
    return Outcome(name, float(np.mean(errors)), standard_error(errors), chosen, seconds)
