"""Evaluation of several methods, each with its grid, on the same folds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection import ParameterGrid

from similitude._utils.progress import progress
from similitude.generative.fused import FusedClassifier
from similitude.numerics.shared import shared_work
from similitude.numerics.significance import standard_error
from similitude.reader import Samples
from similitude.search.evaluation import (
    Batch,
    Evaluated,
    Fold,
    Method,
    at_point,
    evaluate,
    evaluate_fold,
    evaluate_method,
    first_best,
    predictions,
)
from similitude.search.methods import LOCAL, slug

FUSED = "local and global fused"
N_BOOTSTRAPS = 200


class OutOfFold(NamedTuple):
    """The predictions of a method for each sample by a fit without that sample.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        The predicted labels.
    proba : ndarray of shape (n, G) or None
        The probabilities; None if the method has none.
    """

    labels: np.ndarray
    proba: np.ndarray | None


@dataclass
class Run:
    """The predictions of one method on the folds evaluated so far."""

    name: str
    points: list[dict[str, Any]]
    answers: list[np.ndarray]
    """For each fold, the positions of the predicted classes at each point, of shape (points, test samples)."""
    truths: list[np.ndarray]
    seconds: float = 0.0

    @property
    def _at(self) -> int:
        """The position of the best point."""
        return first_best([np.mean(found == truth, axis=1) for found, truth in zip(self.answers, self.truths)])

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the best point."""
        return self.points[self._at]

    @property
    def errors(self) -> np.ndarray:
        """The errors at the best point, one for each fold."""
        at = self._at
        return np.array([np.mean(found[at] != truth) for found, truth in zip(self.answers, self.truths)])

    @property
    def labels(self) -> list[np.ndarray]:
        """The positions of the predicted classes at the best point, for each fold."""
        at = self._at
        return [found[at] for found in self.answers]

    @property
    def optimistic_error(self) -> float:
        """The error at the best point, which is too small: the more points there are, the better one is by chance."""
        return float(np.mean(self.errors))

    @cached_property
    def error(self) -> float:
        """The expected error of a chosen point.

        Points are chosen on bootstrap samples of the predictions and evaluated on the samples that were not drawn.
        """
        wrong = np.concatenate([found != truth for found, truth in zip(self.answers, self.truths)], axis=1).astype(
            float
        )
        n = wrong.shape[1]
        drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=N_BOOTSTRAPS).astype(float)
        left = drawn == 0
        # The difference from the best point on the same samples, so that a method with one point is not affected.
        more = ((wrong[np.argmin(wrong @ drawn.T, axis=0)] - wrong[self._at]) * left).sum(axis=1)
        return self.optimistic_error + float(np.mean(more / np.maximum(left.sum(axis=1), 1)))

    @property
    def standard_error(self) -> float:
        """The standard error of the errors over the folds."""
        return standard_error(self.errors)

    def is_level_with(self, best: Run) -> bool:
        """Return whether the error exceeds the best one by no more than the standard error of the best."""
        return self.error <= best.error + best.standard_error + 1e-12


def at_best(estimator: Any, parameters: dict[str, Any], *labels: np.ndarray) -> Any:
    """Return the estimator with these parameters, and with ``probability=True`` if it can be calibrated.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    parameters : dict
        Its parameters.
    *labels : ndarrays
        The labels of the training sets; each must have two samples of every class, because probabilities are calibrated
        by cross-validation.

    Returns
    -------
    estimator
        A copy that is not fitted.
    """
    chosen = at_point(estimator, parameters)
    enough = all(np.unique(part, return_counts=True)[1].min() > 1 for part in labels)
    return chosen.set_params(probability=True) if enough and "probability" in chosen.get_params(deep=False) else chosen


class Contest:
    """Evaluation of several methods on the same folds of the same samples.

    Parameters
    ----------
    samples : Samples
        The samples.
    methods : dict of Method
        The methods by name, simplest first.
    folds : list of tuples (train, test)
        The positions of the samples.

    Attributes
    ----------
    runs : dict of Run
        The methods that were evaluated, by name, simplest first.
    failures : dict of str
        The error messages of the others, by name.
    left_out : list of str
        The methods for which there was no time, in the order in which they would have been tried.
    n_folds : int
        The number of folds that are done.
    """

    def __init__(self, samples: Samples, methods: dict[str, Method], folds: list[tuple[np.ndarray, np.ndarray]]):
        self._samples, self._table, self._folds = samples, dict(methods), folds
        self._classes, self._codes = np.unique(samples.y, return_inverse=True)
        self.runs = {name: Run(name, list(ParameterGrid(grid)), [], []) for name, (_, grid) in methods.items()}
        self.failures: dict[str, str] = {}
        self.left_out: list[str] = []
        self.n_folds = 0

    def run(self, order: list[str], deadline: float | None, n_jobs: int | None, show: bool) -> None:
        """Evaluate the methods on all folds, or on as many as possible before a deadline (of ``time.perf_counter``)."""
        if deadline is not None:
            affordable = self._affordable(order, deadline)
            self.left_out = [name for name in order if name not in affordable and name not in self.failures]
            order = affordable
        at_once = effective_n_jobs(n_jobs) if deadline is not None else len(self._folds)
        bar = iter(progress(range(len(self._folds) - self.n_folds), len(self._folds) - self.n_folds, "folds", show))
        while self.n_folds < len(self._folds):
            if deadline is not None and self.n_folds >= 2 and time.perf_counter() > deadline:
                break
            part = self._folds[self.n_folds : self.n_folds + at_once]
            found = evaluate(
                self._samples, self._candidates(order), part, predictions, on_error="method", n_jobs=n_jobs
            )
            for answers, (_, test) in zip(found, part):
                self._take(answers, test)
                next(bar, None)
        self.runs = {name: run for name, run in self.runs.items() if name in order and name not in self.failures}

    def _candidates(self, order: list[str]) -> dict[str, tuple[Any, list[dict]]]:
        return {n: (self._table[n][0], self.runs[n].points) for n in order if n not in self.failures}

    def _take(self, found: dict[str, Evaluated], test: np.ndarray) -> None:
        """Store the predictions of the methods on one more fold."""
        for name, evaluated in found.items():
            self._record(name, evaluated, test)
        self.n_folds += 1

    def _record(self, name: str, evaluated: Evaluated, test: np.ndarray) -> None:
        if evaluated.failure is not None:
            self.failures.setdefault(name, evaluated.failure)
            return
        run = self.runs[name]
        run.answers.append(np.searchsorted(self._classes, np.array(evaluated.results)))
        run.truths.append(self._codes[test])
        run.seconds += evaluated.seconds

    def _affordable(self, order: list[str], deadline: float) -> list[str]:
        """Evaluate the first fold; return the methods that can be expected to finish all folds in time."""
        start, spent = time.perf_counter(), 0.0
        left = deadline - start
        kept: list[str] = []
        found: dict[str, Evaluated] = {}
        fold = Fold(self._samples, *self._folds[0])
        with shared_work():
            for name in order:
                if kept and time.perf_counter() - start > left / 2:
                    break
                answer = evaluate_method(*self._candidates([name])[name], fold, predictions, "method")
                if answer.failure is not None:
                    found[name] = answer
                elif not kept or (spent + answer.seconds) * len(self._folds) <= left:
                    kept.append(name)
                    found[name] = answer
                    spent += answer.seconds
        self._take(found, self._folds[0][1])
        return kept

    def add_fused(self) -> dict[str, Method]:
        """Evaluate the fusion of the best local and the best global method, and return it as a method by name."""
        usable = [run for run in self.runs.values() if _has_probabilities(self._table[run.name][0])]
        sides = [[run for run in usable if (run.name in LOCAL) == local] for local in (True, False)]
        if not all(sides):
            return {}
        best = [min(side, key=lambda run: run.error) for side in sides]
        parts = [(slug(run.name), at_best(self._table[run.name][0], run.parameters)) for run in best]
        fused = FusedClassifier(parts)
        run = Run(FUSED, [{}], [], [], sum(part.seconds for part in best))
        self.runs[FUSED] = run
        for split in self._folds[: self.n_folds]:
            found = evaluate_fold(self._samples, {FUSED: (fused, [{}])}, split, predictions, "method")
            self._record(FUSED, found[FUSED], split[1])
            if FUSED in self.failures:
                del self.runs[FUSED]
                return {}
        self._table[FUSED] = fused, {}
        return {FUSED: (fused, {})}

    def out_of_fold(self, name: str) -> OutOfFold | None:
        """Return the predictions of a method at its best point, or None if the folds do not test each sample once."""
        tested = np.concatenate([test for _, test in self._folds])
        if not np.array_equal(np.sort(tested), np.arange(len(self._codes))):
            return None
        run = self.runs[name]
        estimator = at_best(self._table[name][0], run.parameters, *(self._codes[train] for train, _ in self._folds))
        labels, known = np.empty(len(self._codes), dtype=np.intp), run.labels
        proba = np.zeros((len(labels), len(self._classes))) if hasattr(estimator, "predict_proba") else None
        for i, (train, test) in enumerate(self._folds):
            if i < self.n_folds:
                labels[test] = known[i]
                if proba is None:
                    continue
            judge = _posteriors if proba is not None else _labels_alone
            found = evaluate_fold(self._samples, {name: (estimator, [{}])}, (train, test), judge)
            predicted, posterior, classes = found[name].results[0]
            if i >= self.n_folds:
                labels[test] = np.searchsorted(self._classes, predicted)
            if proba is not None:
                proba[np.ix_(test, np.searchsorted(self._classes, classes))] = posterior
        return OutOfFold(self._classes[labels], proba)


def _posteriors(batch: Any, fold: Fold) -> list[tuple]:
    """Judge a batch by its predicted labels, its posteriors, and the classes of the posteriors."""
    answers = zip(batch.answers(0, "predict"), batch.answers(0, "predict_proba"))
    return [(labels, posterior, batch.classes) for labels, posterior in answers]


def _labels_alone(batch: Batch, fold: Fold) -> list[tuple]:
    """Judge a batch by its predicted labels, if the method has no posteriors."""
    return [(labels, None, None) for labels in batch.answers(0, "predict")]


def _has_probabilities(estimator: Any) -> bool:
    return hasattr(at_best(estimator, {}), "predict_proba")
