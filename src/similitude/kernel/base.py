"""What the SVMs that learn their kernel share: class weights, and machines for all pairs of classes."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from similitude.base import class_weights
from similitude.one_vs_one import OneVsOneClassifier, class_pairs
from similitude.proximity.check import dense, is_symmetric
from similitude.proximity.proximities import Proximities
from similitude.proximity.symmetry import mean_of_directions, symmetrized_for


class Solution(Protocol):
    """A solved binary problem."""

    objective: float
    gap: float
    n_iter: int
    converged: bool

    def decide(self, rows: np.ndarray, self_similarity: np.ndarray) -> np.ndarray:
        """Decision values of rows of similarities to the pair's samples."""


class _Machine(NamedTuple):
    """The solved problems of all pairs of classes, for one point of a grid."""

    solutions: list[Solution]
    members: list[np.ndarray]
    """The samples of each pair."""
    mean_self_similarity: float

    @property
    def columns(self) -> np.ndarray:
        """All."""
        return np.unique(np.concatenate(self.members))

    def decisions(self, rows: Proximities) -> np.ndarray:
        """Decision values, (m, pairs)."""
        S, own = dense(rows.S).astype(np.float64, copy=False), rows.self_similarity
        own = np.full(len(S), self.mean_self_similarity) if own is None else own
        pairs = zip(self.solutions, self.members)
        return np.column_stack([solution.decide(S[:, members], own) for solution, members in pairs])


def check_range(S: np.ndarray, limits: tuple[float, float], **sizes: float) -> None:
    """Refuse parameters whose sizes, in units of the largest similarity, are beyond what can be computed with."""
    for name, size in sizes.items():
        if not limits[0] <= size <= limits[1]:
            largest = float(np.max(np.abs(S)))
            raise ValueError(
                f"{name} and X: the largest similarity is {largest:.0e}, beside which this {name} is {size:.0e}; "
                "rescale X to similarities of the order of 1."
            )


class OneVsOneMachines(OneVsOneClassifier):
    """Base of support vector machines that learn a kernel from symmetric similarities, one for each pair of classes.

    A subclass gives in ``_solve(S, y, weight, points)`` one :class:`Solution` per point for one pair: S symmetric, y in
    {-1, +1}, +1 the later class, ``weight`` what the loss of each sample is multiplied by. Points share decompositions
    and warm starts there.
    """

    class_weight: Any

    def _solve(self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple]) -> list[Solution]:
        raise NotImplementedError

    def _for_training(self, S, *, announced):
        S = super()._for_training(S, announced=announced)
        if announced:
            return symmetrized_for(type(self).__name__, S)
        return S if is_symmetric(S) else mean_of_directions(S)

    def _solved(self, train, labels, points):
        S, weights, pairs = train.S, class_weights(self, labels), list(class_pairs(labels, len(self.classes_)))
        solved = [self._solve(S[np.ix_(own, own)], y, weights[own], points) for own, y in pairs]
        mean = float(np.mean(np.diagonal(S) if train.self_similarity is None else train.self_similarity))
        return [_Machine(list(solutions), [members for members, _ in pairs], mean) for solutions in zip(*solved)]
