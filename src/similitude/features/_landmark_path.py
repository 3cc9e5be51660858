"""Linear models of similarities to landmarks, for one point of a grid or many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from similitude.base import FittedPath
from similitude.features._landmark_models import probabilities
from similitude.features.landmark_moments import Linear, Moments
from similitude.one_vs_one import predicted
from similitude.transform.landmarks import ToLandmarks

if TYPE_CHECKING:
    from similitude.reader import Rows


class RidgeState(NamedTuple):
    """The state that ``partial_fit`` continues from: the moments of all samples so far, and the landmarks' matrix."""

    moments: Moments
    W: np.ndarray

    @staticmethod
    def _saved_state() -> dict[str, str]:
        return {"moments": "Moments", "W": "double[landmarks, landmarks]"}


NO_PROBABILITIES = "predict_proba needs model='logistic'."


class LandmarkPath(FittedPath):
    """The solutions at all points."""

    _saved_state = {
        "points": "list(1) of float",
        "to": "ToLandmarks",
        "solutions": "list(1) of Linear",
        "eigenvalues": "double[*]",
        "model": "text",
        "state": "None | RidgeState",
    }

    def __init__(
        self,
        points: list[float],
        to: ToLandmarks,
        solutions: list[Linear],
        eigenvalues: np.ndarray,
        model: str,
        state: RidgeState | None = None,
    ):
        self.points, self.to, self.solutions, self.eigenvalues = points, to, solutions, eigenvalues
        self.model, self.state = model, state

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        if response == "predict_proba" and self.model != "logistic":
            raise AttributeError(NO_PROBABILITIES)
        # There is one pass over the rows for all points.
        coef = np.concatenate([solution.coef for solution in self.solutions]).T
        values = np.concatenate([C @ coef for _, C in self.to.blocks(rows)])
        parts = np.split(values, len(self.solutions), axis=1)
        scores = [part + solution.intercept for part, solution in zip(parts, self.solutions)]
        decisions = [values[:, 0] if values.shape[1] == 1 else values for values in scores]
        if response == "decision_function":
            return decisions
        return [predicted(values) if response == "predict" else probabilities(values) for values in decisions]

    def at(self, i: int) -> Self:
        one = super().at(i)
        one.solutions = [self.solutions[i]]
        return one

    def attributes(self) -> dict[str, Any]:
        coef, intercept = self.solutions[0]
        return {"coef_": coef, "intercept_": intercept, "eigenvalues_": self.eigenvalues}

    @property
    def columns(self) -> np.ndarray:
        return self.to.positions
