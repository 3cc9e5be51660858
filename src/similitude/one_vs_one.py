"""Base of the classifiers that solve one two-class problem for each pair of classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Protocol, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude._utils.warn import warn
from similitude.base import FittedPath, SimilarityClassifier
from similitude.labels import Labels
from similitude.numerics.calibration import Calibrator, calibrators
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense
from similitude.reader import Rows, Training


class PairMachines(Protocol):
    """The solved problems of all pairs of classes, for one point of a grid."""

    @property
    def solutions(self) -> Sequence[Any]:
        """One solution for each pair, with its ``objective``, ``gap``, ``n_iter`` and ``converged``."""

    @property
    def columns(self) -> np.ndarray:
        """The positions of the training columns that decision values need."""

    def decisions(self, rows: Rows) -> np.ndarray:
        """Return the decision values, positive for the later class."""

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""


class OneVsOnePath(FittedPath):
    """The machines of all points, and their calibrators if probabilities are wanted."""

    _by_point = ("machines",)

    def __init__(
        self,
        points: list[Any],
        machines: list[Any],
        n_classes: int,
        calibrate: Callable[[], list[Calibrator]] | None = None,
    ):
        self.points, self.machines, self.n_classes = points, machines, n_classes
        self.has_probability = calibrate is not None
        self._calibrate, self._calibrators = calibrate, list[Calibrator]()

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        if len(self.machines) > 1:
            rows.S  # noqa: B018 - computed once for all points, in place of the columns that each point needs
        scores = [self._scores(machine, rows) for machine in self.machines]
        if response == "predict_proba":
            return [calibrator.probabilities(values) for calibrator, values in zip(self._complete(), scores)]
        return [predicted(values) for values in scores] if response == "predict" else scores

    def _scores(self, machine: Any, rows: Rows) -> np.ndarray:
        values = machine.decisions(rows)
        return values[:, 0] if self.n_classes == 2 else one_vs_one(values, self.n_classes)

    def at(self, i: int) -> Self:
        one = super().at(i)
        if self._calibrate is not None:
            one._calibrate = lambda: [self._complete()[i]]
        elif self._calibrators:
            one._calibrators = [self._calibrators[i]]
        return one

    def complete(self) -> None:
        self._complete()

    def _complete(self) -> list[Calibrator]:
        if self._calibrate is not None:
            self._calibrators, self._calibrate = self._calibrate(), None
        return self._calibrators

    @property
    def columns(self) -> np.ndarray | None:
        return self.machines[0].columns

    def attributes(self) -> dict[str, Any]:
        names = {"objective_": "objective", "duality_gap_": "gap", "n_iter_": "n_iter"}
        return {**by_pair(self.machines[0].solutions, np.array, names), **self.machines[0].attributes()}


def predicted(scores: np.ndarray) -> np.ndarray:
    """Return the positions of the predicted classes."""
    return (scores >= 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)


def by_pair(solutions: Sequence[Any], together: Callable[[list], Any], names: dict[str, str]) -> dict[str, Any]:
    """Return attributes of the solutions under other names."""
    found = {name: [getattr(solution, own) for solution in solutions] for name, own in names.items()}
    return {name: values[0] if len(values) == 1 else together(values) for name, values in found.items()}


class OneVsOneClassifier(SimilarityClassifier):
    """Base of the classifiers that solve one problem for each pair of classes.

    A subclass returns one :class:`PairMachines` for each point from ``_solved(training, labels, points)``. It may
    override ``_prepared(training, points)``, which converts the training similarities.
    """

    probability: Any
    _path: OneVsOnePath

    _least_classes = 2

    @property
    def _responses(self) -> tuple[str, ...]:  # type: ignore[override]
        # A fitted classifier offers what it was fitted with, whatever the parameter is now.
        path = vars(self).get("_path")
        offered = path.has_probability if path is not None else self.probability
        return ("predict", "decision_function", *(("predict_proba",) if offered else ()))

    def _why_not(self, response: str) -> str:
        if response == "predict_proba":
            return "predict_proba needs probability=True, which calibrates the decision values in fit."
        return super()._why_not(response)

    def _solved(self, training: Training, labels: Labels, points: list[Any]) -> list[Any]:
        raise NotImplementedError

    def _prepared(self, training: Training, points: list[Any]) -> Training:
        """Return the training samples in the form that ``_solved`` needs."""
        return training.replaced(dense(training.S).astype(np.float64, copy=False))

    def _fit_path(self, training: Training, labels: Labels, points: list[Any]) -> OneVsOnePath:
        machines = self._solved(training, labels, points)
        self._warn_of_unsolved(machines)

        def calibrate() -> list[Calibrator]:
            solved: list[Any] = []

            def scores_of(kept: np.ndarray, left_out: np.ndarray) -> list[np.ndarray]:
                part, rows = training.fold(kept, left_out)
                fold = self._solved(part, labels.take(kept), points)
                solved.extend(fold)
                return [OneVsOnePath([], [], labels.n_classes)._scores(machine, rows) for machine in fold]

            found = calibrators(scores_of, labels.classes, labels.codes, labels.sample_weight)
            self._warn_of_unsolved(solved)
            return found

        return OneVsOnePath(points, machines, labels.n_classes, calibrate if self.probability else None)

    def _warn_of_unsolved(self, machines: list[Any]) -> None:
        solutions = [solution for machine in machines for solution in machine.solutions]
        unsolved = sum(not solution.converged for solution in solutions)
        if unsolved:
            warn(
                f"{type(self).__name__}: {unsolved} of {len(solutions)} problems were not solved to full accuracy "
                "(see duality_gap_); rescale the similarities, or regularise more.",
                ConvergenceWarning,
            )


def class_pairs(labels: Labels) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the samples of each pair of classes."""
    for first, second in combinations(range(labels.n_classes), 2):
        members = np.flatnonzero((labels.codes == first) | (labels.codes == second))
        yield members, np.where(labels.codes[members] == second, 1.0, -1.0)
