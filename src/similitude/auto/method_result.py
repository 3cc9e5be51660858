"""The answers of one method on the folds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from similitude.evaluation.engine import Evaluated
from similitude.numerics.temperature import Temperature


class MethodResult:
    """The answers of one method on the folds evaluated so far."""

    def __init__(
        self,
        name: str,
        estimator: Any,
        points: list[dict[str, Any]],
        similarity: str | None = None,
        method: str | None = None,
    ):
        self.name, self.estimator, self.points = name, estimator, points
        self.similarity, self.method = similarity, method or name
        self.response = ""
        self.answers: dict[int, np.ndarray] = {}
        """For each fold, by its number, the answers of the points, of shape (points, test samples, G)."""
        self.seconds: list[float] = []
        self.shortlists: list[np.ndarray] = []
        self.calibrated: list[CalibratedFold] = []
        self.posteriors = np.empty(0)
        self.temperatures: list[Temperature] = []

    @property
    def total_seconds(self) -> float:
        """The time of all folds, on one core."""
        return sum(self.seconds)

    def take(self, number: int, evaluated: Evaluated) -> None:
        """Store the answers on one more fold."""
        self.response = evaluated.results[0][0]
        self.answers[number] = np.stack([columns for _, columns in evaluated.results])
        self.seconds.append(evaluated.seconds)

    def keep(self, kept: np.ndarray) -> None:
        """Keep only some of the points."""
        self.points = [self.points[i] for i in kept]
        self.answers = {number: found[kept] for number, found in self.answers.items()}
        self.shortlists = [np.searchsorted(kept, positions) for positions in self.shortlists]


class CalibratedFold(NamedTuple):
    """The answers of one method on one fold, with the calibrations on its repetition of the folds."""

    places: np.ndarray
    answers: np.ndarray
    factors: np.ndarray
    offsets: np.ndarray
    number: int
