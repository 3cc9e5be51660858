"""The answers of one method on the folds of a contest."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from similitude.numerics.temperature import Temperature
from similitude.search.evaluation import Evaluated


class Run:
    """The answers of one method on the folds evaluated so far.

    Parameters
    ----------
    name : str
        The name of the method.
    estimator : estimator
        The estimator.
    points : list of dict
        The points of its grid, whose values may be relative.
    similarity : str, default=None
        The name of the similarity that it reads, if there are several; None means all of them.
    method : str, default=None
        The name of the method without that of the similarity; None means that they are the same.
    """

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
        """Store the answers on one more fold.

        Parameters
        ----------
        number : int
            The number of the fold.
        evaluated : Evaluated
            The answers.
        """
        self.response = evaluated.results[0][0]
        self.answers[number] = np.stack([columns for _, columns in evaluated.results])
        self.seconds.append(evaluated.seconds)

    def keep(self, kept: np.ndarray) -> None:
        """Keep only some of the points.

        Parameters
        ----------
        kept : ndarray of int
            Their positions, ascending; ``shortlists`` must refer to these points only.
        """
        self.points = [self.points[i] for i in kept]
        self.answers = {number: found[kept] for number, found in self.answers.items()}
        self.shortlists = [np.searchsorted(kept, positions) for positions in self.shortlists]


class CalibratedFold(NamedTuple):
    """The answers of one method on one fold, with the calibrations on its repetition of the folds.

    Parameters
    ----------
    places : ndarray of int of shape (m,)
        The positions of the test samples among all tested samples.
    answers : ndarray of shape (P, m, G)
        The answers of the points.
    factors : ndarray of shape (P, K + 1)
        The factors that are fitted without each of the K parts, and to all samples.
    offsets : ndarray of shape (P, K + 1, G)
        The offsets.
    number : int
        The number of the fold.
    """

    places: np.ndarray
    answers: np.ndarray
    factors: np.ndarray
    offsets: np.ndarray
    number: int
