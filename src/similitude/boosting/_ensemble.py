"""The rounds of all two-class problems of a classifier, the scores of the classes, and the path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import expit

from similitude._utils.threads import over_row_blocks
from similitude._utils.types import ColumnPositions
from similitude.base import FittedPath
from similitude.boosting._rounds import Rounds, decision_values
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense
from similitude.reader import Rows

_AT_ONCE = 64


def problem_signs(n_classes: int, multiclass: str) -> np.ndarray:
    """Return the two-class problems, (problems, G): 1 for positive classes, -1 for negative, 0 for absent ones."""
    if n_classes == 2:
        return np.array([[-1, 1]])
    if multiclass == "ovr":
        return 2 * np.eye(n_classes, dtype=int) - 1
    signs = np.zeros((n_classes * (n_classes - 1) // 2, n_classes), dtype=int)
    for own, (first, second) in zip(signs, combinations(range(n_classes), 2)):
        own[first], own[second] = -1, 1
    return signs


class Ensemble:
    """Solved two-class problems."""

    columns: ColumnPositions

    def __init__(self, signs: np.ndarray, rounds: list[Rounds], averaged: bool):
        self.signs, self.averaged = signs, averaged
        self.columns = np.unique(np.concatenate([own.pairs.ravel() for own in rounds]))
        self._rounds = [own._replace(pairs=np.searchsorted(self.columns, own.pairs)) for own in rounds]

    @classmethod
    def solve(cls, signs: np.ndarray, averaged: bool, solve: Callable[[int], Rounds]) -> Ensemble:
        """Solve all problems, several at a time, and return the ensemble."""
        rounds: list[Any] = [None] * len(signs)

        def work(i: int, _: int) -> None:
            rounds[i] = solve(i)

        over_row_blocks(work, len(signs), 1)
        return cls(signs, rounds, averaged)

    @property
    def rounds(self) -> list[Rounds]:
        """The rounds of each problem, with pairs as positions in the training set."""
        return [own._replace(pairs=self.columns[own.pairs]) for own in self._rounds]

    def first(self, n_rounds: int) -> Ensemble:
        """Return the ensemble of the first rounds only."""
        return Ensemble(
            self.signs, [Rounds(*(values[:n_rounds] for values in own)) for own in self.rounds], self.averaged
        )

    def scores(self, rows: np.ndarray, stages: Any) -> list[np.ndarray]:
        """Return the decision function after each of ``stages`` rounds (ascending); rows hold only ``columns``."""
        sums, scales = self._sums(rows, np.asarray(stages), 0, np.zeros((len(self._rounds), len(rows))))
        return [self._score(sums[:, :, j], scales[:, j], stage) for j, stage in enumerate(stages)]

    def staged_scores(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        """Yield the decision function after 1, 2, ... rounds."""
        totals, n_rounds = np.zeros((len(self._rounds), len(rows))), len(self._rounds[0].cuts)
        for start in range(0, n_rounds, _AT_ONCE):
            stages = np.arange(start, min(start + _AT_ONCE, n_rounds)) + 1
            sums, scales = self._sums(rows, stages, start, totals)
            for j, stage in enumerate(stages):
                yield self._score(sums[:, :, j], scales[:, j], stage)

    def margins(self, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the margin of each row, from -1 to 1."""
        n_rounds = len(self._rounds[0].cuts)
        sums, scales = self._sums(rows, np.array([n_rounds]), 0, np.zeros((len(self._rounds), len(rows))))
        f = _normalized(sums[:, :, 0], scales[:, 0])
        if self._one_vs_rest:
            own = np.arange(len(f)) == labels[:, None]
            return (f.T[own] - np.where(own, -np.inf, f.T).max(axis=1)) / 2
        signs = self.signs[:, labels]
        return np.where(signs == 0, np.inf, signs * f).min(axis=0)

    @property
    def _one_vs_rest(self) -> bool:
        return len(self.signs) > 1 and bool(self.signs.all())

    def _sums(self, rows: np.ndarray, stages: np.ndarray, start: int, totals: np.ndarray) -> Any:
        """Return sums of outputs (problems, m, stages), and the largest that they could be (problems, stages).

        ``totals`` are the sums after ``start`` rounds, and become those after the last.
        """
        sums, scales = [], []
        for own, before in zip(self._rounds, totals):
            part = Rounds(*(values[start : stages[-1]] for values in own))
            sums.append(decision_values(rows, part, stages - start, before))
            scales.append(np.cumsum(np.abs(own.outputs).max(axis=1))[stages - 1])
        return np.array(sums), np.array(scales)

    def _score(self, sums: np.ndarray, scales: np.ndarray, stage: Any) -> np.ndarray:
        n_classes = self.signs.shape[1]
        if n_classes == 2:
            return sums[0] / stage if self.averaged else sums[0]
        margins = _normalized(sums, scales).T
        if self._one_vs_rest:
            return margins
        return one_vs_one(margins, n_classes, later=sums.T > 0, ties="sums")


def _normalized(sums: np.ndarray, scales: np.ndarray) -> np.ndarray:
    # If all coefficients are 0, so are the sums.
    return sums / np.where(scales > 0, scales, 1.0)[:, None]


_ALPHAS = {
    "discrete": lambda outputs: outputs[:, 1],
    "real": lambda outputs: outputs,
    "vote": lambda outputs: outputs[:, 1] / len(outputs),
}


NO_PROBABILITIES = "predict_proba needs a fit to two classes, by an algorithm other than 'vote'."


class DBoostPath(FittedPath):
    """One run of boosting, whose first rounds answer for every smaller number of rounds."""

    def __init__(self, points: list[int], ensemble: Ensemble, algorithm: str):
        self.points, self.ensemble, self.algorithm = points, ensemble, algorithm

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities, which needs two classes and boosting."""
        return self.algorithm != "vote" and self.ensemble.signs.shape[1] == 2

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        if response == "predict_proba" and not self.has_probabilities:
            raise AttributeError(NO_PROBABILITIES)
        stages, places = np.unique(self.points, return_inverse=True)
        scores = self.ensemble.scores(self.similarities(rows), stages)
        if response == "predict":
            scores = [predicted_classes(values) for values in scores]
        elif response == "predict_proba":
            scores = [expit(2 * np.column_stack([-values, values])) for values in scores]
        return [scores[place] for place in places]

    def similarities(self, rows: Rows) -> np.ndarray:
        """Return the similarities of the rows to the samples in pairs."""
        return np.ascontiguousarray(dense(rows.columns(self.ensemble.columns)))

    def at(self, i: int) -> DBoostPath:
        return DBoostPath([self.points[i]], self.ensemble.first(self.points[i]), self.algorithm)

    @property
    def columns(self) -> np.ndarray:
        return self.ensemble.columns

    def attributes(self) -> dict[str, Any]:
        rounds, alphas = self.ensemble.rounds, _ALPHAS[self.algorithm]
        kept = [(own.pairs, 0.0 - own.cuts, alphas(own.outputs)) for own in rounds]
        values: Any = kept[0] if len(kept) == 1 else map(list, zip(*kept))
        return {**dict(zip(("pairs_", "thresholds_", "alphas_"), values)), "n_rounds_": self.points[0]}


def predicted_classes(scores: np.ndarray) -> np.ndarray:
    """Return the positions of the predicted classes; for a decision value of 0 it is the first of two."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
