"""Many methods, each with its grid, on the same folds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress
from similitude.generative.fused import FusedClassifier
from similitude.numerics.shared import shared_work
from similitude.numerics.significance import standard_error
from similitude.search.grid import evaluate_grid
from similitude.search.methods import LOCAL, Method, methods, slug
from similitude.search.path_search import SearchData

FUSED = "local and global fused"
N_BOOTSTRAPS = 200


class OutOfFold(NamedTuple):
    """What a method said of each training sample when that was in no training part."""

    labels: np.ndarray
    proba: np.ndarray | None
    """Of shape (n, G); None where the method has no probabilities."""


@dataclass
class Run:
    """One method's answers on the folds done so far."""

    name: str
    points: list[dict[str, Any]]
    answers: list[np.ndarray]
    """For each fold, the positions in the classes that each point says, (points, test samples)."""
    truths: list[np.ndarray]
    seconds: float = 0.0

    @property
    def _at(self) -> int:
        """The first of the best grid points."""
        means = np.mean([np.mean(said != truth, axis=1) for said, truth in zip(self.answers, self.truths)], axis=0)
        return int(np.argmin(np.round(means, 12)))

    @property
    def parameters(self) -> dict[str, Any]:
        return self.points[self._at]

    @property
    def errors(self) -> np.ndarray:
        """At the best point, one for each fold."""
        at = self._at
        return np.array([np.mean(said[at] != truth) for said, truth in zip(self.answers, self.truths)])

    @property
    def labels(self) -> list[np.ndarray]:
        at = self._at
        return [said[at] for said in self.answers]

    @property
    def optimistic_error(self) -> float:
        """At the best point: the more points there are, the better one looks by luck."""
        return float(np.mean(self.errors))

    @cached_property
    def error(self) -> float:
        """The error of a point that is chosen: on bootstrap samples of the answers, judged on those they left out."""
        wrong = np.concatenate([said != truth for said, truth in zip(self.answers, self.truths)], axis=1).astype(float)
        n = wrong.shape[1]
        drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=N_BOOTSTRAPS).astype(float)
        left = drawn == 0
        # Against the best point on the same samples, so that a method with one point is not judged by the draw.
        more = ((wrong[np.argmin(wrong @ drawn.T, axis=0)] - wrong[self._at]) * left).sum(axis=1)
        return self.optimistic_error + float(np.mean(more / np.maximum(left.sum(axis=1), 1)))

    @property
    def standard_error(self) -> float:
        return standard_error(self.errors)

    def is_level_with(self, best: Run) -> bool:
        """Whether it is behind by no more than the best's standard error."""
        return self.error <= best.error + best.standard_error + 1e-12


def at_best(estimator: Any, parameters: dict[str, Any], *labels: np.ndarray) -> Any:
    """A method to be used: at these parameters, with probabilities where it can have them for all of these labels."""
    chosen = clone(estimator).set_params(**clone(parameters, safe=False))
    # Probabilities are calibrated by cross-validation.
    enough = all(np.unique(part, return_counts=True)[1].min() > 1 for part in labels)
    return chosen.set_params(probability=True) if enough and "probability" in chosen.get_params(deep=False) else chosen


class Contest:
    """The methods of these names on the same folds of the same data.

    Attributes
    ----------
    runs : dict of Run
        By name, simplest first, of the methods that got through.
    failures : dict of str
        What went wrong with the others, by name.
    left_out : list of str
        Those for which there was no time, in the order in which they would have been tried.
    n_folds : int
        How many folds are done.
    """

    def __init__(self, data: SearchData, names: list[str], folds: list[tuple[np.ndarray, np.ndarray]]):
        contract = {"similarity": data.estimator.similarity, "dissimilarity": data.estimator.dissimilarity}
        self._data, self._folds = data, folds
        self._classes, self._labels = np.unique(data.y, return_inverse=True)
        # Raw objects have become matrices, on which there may be more methods than were asked for.
        self._table = {name: method for name, method in methods("all", **contract).items() if name in names}
        self.runs: dict[str, Run] = {}
        self.failures: dict[str, str] = {}
        self.left_out: list[str] = []
        self.n_folds = 0

    def run(self, order: list[str], deadline: float | None, n_jobs: int | None, show: bool) -> None:
        """Evaluate on all folds, or, with a deadline (of ``time.perf_counter``), as the time allows."""
        for name in self._table:
            self.runs[name] = Run(name, list(ParameterGrid(self._table[name][1])), [], [])
        if deadline is not None:
            affordable = self._affordable(order, deadline)
            self.left_out = [name for name in order if name not in affordable and name not in self.failures]
            order = affordable
        at_once = effective_n_jobs(n_jobs) if deadline is not None else len(self._folds)
        tasks = Parallel(n_jobs=n_jobs, return_as="generator")
        bar = iter(progress(range(len(self._folds) - self.n_folds), len(self._folds) - self.n_folds, "folds", show))
        while self.n_folds < len(self._folds):
            if deadline is not None and self.n_folds >= 2 and time.perf_counter() > deadline:
                break
            part = self._folds[self.n_folds : self.n_folds + at_once]
            work = (delayed(_evaluate)(self._data, self._candidates(order), train, test) for train, test in part)
            for found, fold in zip(tasks(work), part):
                self._take(found, fold[1])
                next(bar, None)
        self.runs = {name: run for name, run in self.runs.items() if name in order and name not in self.failures}

    def _candidates(self, order: list[str]) -> dict[str, tuple[Any, list[dict]]]:
        return {n: (self._table[n][0], self.runs[n].points) for n in order if n not in self.failures}

    def _take(self, found: dict[str, Any], test: np.ndarray) -> None:
        """What the methods said on one more fold."""
        for name, answer in found.items():
            self._record(name, answer, test)
        self.n_folds += 1

    def _record(self, name: str, answer: tuple, test: np.ndarray) -> None:
        answers, seconds, failure = answer
        if failure is not None:
            self.failures.setdefault(name, failure)
            return
        run = self.runs[name]
        run.answers.append(np.searchsorted(self._classes, answers))
        run.truths.append(self._labels[test])
        run.seconds += seconds

    def _affordable(self, order: list[str], deadline: float) -> list[str]:
        """The first fold, and the methods of which all folds can be expected to be done in time."""
        train, test = self._folds[0]
        start, spent = time.perf_counter(), 0.0
        left = deadline - start
        kept: list[str] = []
        found: dict[str, tuple] = {}
        fold = self._data.cut(train, test)
        with shared_work():
            for name in order:
                if kept and time.perf_counter() - start > left / 2:
                    break
                answer = _evaluate_one(*self._candidates([name])[name], fold)
                if answer[2] is not None:
                    found[name] = answer
                elif not kept or (spent + answer[1]) * len(self._folds) <= left:
                    kept.append(name)
                    found[name] = answer
                    spent += answer[1]
        self._take(found, test)
        return kept

    def add_fused(self, table: dict[str, Method]) -> dict[str, Method]:
        """Let the best local and the best global method, fused, take part; returns it as a method on raw input."""
        usable = [run for run in self.runs.values() if _has_probabilities(self._table[run.name][0])]
        sides = [[run for run in usable if (run.name in LOCAL) == local] for local in (True, False)]
        if not all(sides):
            return {}
        best = [min(side, key=lambda run: run.error) for side in sides]

        def fused(methods: dict[str, Method]) -> FusedClassifier:
            return FusedClassifier([(slug(r.name), at_best(methods[r.name][0], r.parameters)) for r in best])

        self._table[FUSED] = fused(self._table), {}
        self.runs[FUSED] = Run(FUSED, [{}], [], [], sum(r.seconds for r in best))
        for train, test in self._folds[: self.n_folds]:
            self._record(FUSED, _evaluate_one(self._table[FUSED][0], [{}], self._data.cut(train, test)), test)
            if FUSED in self.failures:
                del self.runs[FUSED]
                return {}
        return {FUSED: (fused(table), {})}

    def out_of_fold(self, name: str) -> OutOfFold | None:
        """The answers of a method at its best parameters; None where the folds do not test each sample once."""
        tested = np.concatenate([test for _, test in self._folds])
        if not np.array_equal(np.sort(tested), np.arange(len(self._labels))):
            return None
        run = self.runs[name]
        estimator = at_best(self._table[name][0], run.parameters, *(self._labels[train] for train, _ in self._folds))
        said, known = np.empty(len(self._labels), dtype=np.intp), run.labels
        proba = np.zeros((len(said), len(self._classes))) if hasattr(estimator, "predict_proba") else None
        for fold, (train, test) in enumerate(self._folds):
            if fold < self.n_folds:
                said[test] = known[fold]
                if proba is None:
                    continue
            X_train, y_train, X_test, _ = self._data.cut(train, test)
            fitted = clone(estimator).fit(X_train, y_train)
            if fold >= self.n_folds:
                said[test] = np.searchsorted(self._classes, fitted.predict(X_test))
            if proba is not None:
                proba[np.ix_(test, np.searchsorted(self._classes, fitted.classes_))] = fitted.predict_proba(X_test)
        return OutOfFold(self._classes[said], proba)


def _has_probabilities(estimator: Any) -> bool:
    return hasattr(at_best(estimator, {}), "predict_proba")


def _evaluate(data: SearchData, candidates: dict[str, tuple[Any, list[dict]]], train: Any, test: Any) -> dict:
    """Of each method its answers, (points, test samples), the seconds it took, and what went wrong."""
    fold = data.cut(train, test)
    with shared_work():
        return {name: _evaluate_one(*method, fold) for name, method in candidates.items()}


def _evaluate_one(estimator: Any, points: list[dict], fold: tuple) -> tuple:
    start = time.perf_counter()
    X_train, y_train, X_test, _ = fold
    answers: list[Any] = [None] * len(points)
    try:
        for batch in evaluate_grid(estimator, X_train, y_train, [X_test], points, guarded=False):
            assert batch.members is not None
            for i, member in zip(batch.indices, batch.members[0]):
                answers[i] = member.estimator.predict(member.X)
    except Exception as error:  # one method that cannot do it must not keep the others from it
        return None, time.perf_counter() - start, f"{type(error).__name__}: {error}"
    return np.array(answers), time.perf_counter() - start, None
