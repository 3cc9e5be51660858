"""Support vector machines among neighbours whose spectrum is learned together with the new sample's row."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from similitude.kernel.spectrum_solver import learned_spectra
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense
from similitude.proximity.split import cut

# Decision values smaller than this, relative to their terms, count as 0.
_TIE = 1e-8


class LearnedPoint(NamedTuple):
    """The parameters of one machine: the number of neighbours, C, gamma and the target."""

    n_neighbors: int
    C: float
    gamma: float
    target: str


class Neighbourhood(NamedTuple):
    """The similarities among the k nearest neighbours of x, those of x to them, and the neighbours' classes.

    ``own`` is the self-similarity of x; if it is not known (NaN), the mean of the neighbours' is used.
    """

    S: np.ndarray
    s: np.ndarray
    own: float
    classes: np.ndarray

    @classmethod
    def of(cls, S: Any, indices: np.ndarray, similarities: np.ndarray, own: float, codes: np.ndarray) -> Neighbourhood:
        """Return the neighbourhood of one row."""
        among = dense(cut(S, indices, indices)).astype(np.float64)
        return cls(among / 2 + among.T / 2, similarities.astype(np.float64), float(own), codes[indices])

    def augmented(self, k: int) -> np.ndarray:
        """Return the similarities among the k nearest neighbours and x, which comes last."""
        A = np.empty((k + 1, k + 1))
        A[:k, :k], A[k, :k], A[:k, k] = self.S[:k, :k], self.s[:k], self.s[:k]
        A[k, k] = np.mean(np.diagonal(self.S)[:k]) if np.isnan(self.own) else self.own
        return A


def learned_scores(
    nearest: Neighbourhood, points: list[LearnedPoint], n_classes: int, scores: np.ndarray
) -> tuple[int, int]:
    """Write the scores of one row, (points, 1 or G); return how many machines there are, and how many are unsolved."""
    n_machines = n_unsolved = 0
    for k in dict.fromkeys(point.n_neighbors for point in points):
        S, classes = nearest.augmented(k), nearest.classes[:k]
        own = [i for i, point in enumerate(points) if point.n_neighbors == k]
        present = np.unique(classes)
        pairs = list(combinations(present, 2))
        values = np.empty((len(own), len(pairs)))
        for p, pair in enumerate(pairs):
            values[:, p], unsolved = _decisions(S, classes, pair, [points[i] for i in own])
            n_machines, n_unsolved = n_machines + len(own), n_unsolved + unsolved
        scores[own] = _scores(values, present, n_classes)
    return n_machines, n_unsolved


def _decisions(S: np.ndarray, classes: np.ndarray, pair: tuple, points: list[LearnedPoint]) -> tuple[np.ndarray, int]:
    """Return the decision value of x for each point, positive for the later class, and the number of unsolved ones.

    All neighbours and x have a part in the spectrum, but only those of the pair have a loss.
    """
    counts = np.append((classes == pair[0]) | (classes == pair[1]), False)
    y = np.append(np.where(classes == pair[1], 1.0, -1.0), 1.0)
    n = int(np.sum(counts))
    weight = np.where(counts, len(y) / n, 0.0)  # so that the mean is over the samples of the pair
    values, unsolved = np.empty(len(points)), 0
    for target in dict.fromkeys(point.target for point in points):
        own = [i for i, point in enumerate(points) if point.target == target]
        etas = [(0.5 / (points[i].C * n), points[i].gamma) for i in own]
        for i, found in zip(own, learned_spectra([S], y, weight, etas, target)):
            row = S[-1]
            value, terms = row @ found.coefficients + found.b, np.abs(row) @ np.abs(found.coefficients) + abs(found.b)
            values[i] = value if abs(value) > _TIE * terms else 0.0
            unsolved += not found.converged
    return values, unsolved


def _scores(values: np.ndarray, present: np.ndarray, n_classes: int) -> np.ndarray:
    if n_classes == 2:
        return values if values.shape[1] else np.full((len(values), 1), 2.0 * present[0] - 1.0)
    scores = np.full((len(values), n_classes), -1.0)
    scores[:, present] = one_vs_one(values, len(present)) if values.shape[1] else 1.0
    return scores
