"""Base of the machines that are linear in the similarities, with one problem for each pair of classes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from similitude._utils.types import ColumnPositions
from similitude.labels import Labels
from similitude.one_vs_one import OneVsOneClassifier, class_pairs
from similitude.proximity.check import dense
from similitude.reader import Rows, Training


class Columns(NamedTuple):
    """The decomposition ``S = means + 2^exponent A``; A has no columns that are 0, and equal columns once."""

    rows: np.ndarray
    """The columns of A, as rows; the largest entry is between 1/2 and 1."""
    members: list[list[int]]
    """For each of these, the positions of the columns of S that are equal to it."""
    means: np.ndarray
    """The means of all columns of S, or 0."""
    exponent: int


def centred_columns(S: np.ndarray, centred: bool = True) -> Columns:
    """Return the columns of S minus their means, or minus 0 if they are not to be centred, for entries of any size."""
    exponent = math.frexp(float(max(S.max(initial=0.0), -S.min(initial=0.0))))[1]
    A = _halved(np.ascontiguousarray(S.T), exponent)
    if not centred:
        return Columns(*_distinct(A), np.zeros(len(A)), exponent)
    # When its first entry is subtracted, a constant column is exactly 0.
    first = A[:, :1].copy()
    A -= first
    means = np.mean(A, axis=1, keepdims=True)
    A -= means
    spread = math.frexp(float(max(A.max(initial=0.0), -A.min(initial=0.0))))[1]
    rows, members = _distinct(_halved(A, spread))
    return Columns(rows, members, np.ldexp((first + means)[:, 0], exponent), exponent + spread)


def _distinct(A: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Return the rows of A, equal ones once, and for each of these the positions of the rows that are equal to it."""
    members = _equal_rows(A)
    rows = A if len(members) == len(A) else A[[columns[0] for columns in members]].reshape(len(members), A.shape[1])
    return rows, members


def _halved(A: np.ndarray, times: int) -> np.ndarray:
    """Return ``A 2^-times`` without intermediate overflow."""
    return A * 2.0**-times if abs(times) < 1000 else np.ldexp(A, -times)


def _equal_rows(A: np.ndarray) -> list[list[int]]:
    """Return groups of positions of equal rows; rows that are negligible beside the largest are left out."""
    groups: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(np.einsum("ij,ij->i", A, A)).tolist():
        groups.setdefault(A[i].tobytes(), []).append(i)
    return list(groups.values())


def scaled(value: float, exponent: int) -> float:
    """Return ``value 2^exponent``, or infinity if it overflows."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))


# Decision values smaller than this, relative to their terms, count as 0.
_TIE = 1e-11


class LinearSolution(NamedTuple):
    """The solved problem of one pair of classes: ``f(x) = (s - means)^T coef + offset``."""

    coef: np.ndarray
    """One coefficient for each column."""
    means: np.ndarray
    """The means of the columns."""
    offset: float
    objective: float
    gap: float
    """An upper bound of the distance of the objective from the optimum, relative to the objective."""
    n_iter: int
    converged: bool


class LinearMachines(NamedTuple):
    """The solved problems of all pairs of classes, for one point of a grid."""

    solutions: list[LinearSolution]
    """Their means are ``centre``, which is subtracted from all rows first, so that large means cost no digits."""
    columns_of: list[ColumnPositions]
    """The positions in ``centre`` of the columns of each pair."""
    centre: np.ndarray

    @property
    def coef(self) -> np.ndarray:
        """The coefficients, (pairs, columns)."""
        coef = np.zeros((len(self.solutions), len(self.centre)))
        for row, solution, columns in zip(coef, self.solutions, self.columns_of):
            row[columns] = solution.coef
        return coef

    @property
    def columns(self) -> np.ndarray:
        """The positions of the columns with a coefficient in some pair."""
        return np.flatnonzero(np.any(self.coef != 0.0, axis=0))

    def decisions(self, rows: Rows) -> np.ndarray:
        """Return decision values, (m, pairs), positive for the later class."""
        needed = self.columns
        # The memory layout is always the same, so that equal rows give equal digits.
        S = dense(rows.columns(needed)).astype(np.float64, order="C") - self.centre[needed]
        values = np.empty((len(S), len(self.solutions)))
        for p, (solution, columns) in enumerate(zip(self.solutions, self.columns_of)):
            kept = solution.coef != 0.0
            coef, part = solution.coef[kept], S[:, np.searchsorted(needed, columns[kept])]
            value, terms = part @ coef + solution.offset, np.abs(part) @ np.abs(coef) + abs(solution.offset)
            values[:, p] = np.where(np.abs(value) > _TIE * terms, value, 0.0)
        return values

    def attributes(self) -> dict[str, Any]:
        """Return public attributes of the fitted estimator."""
        coef, offsets = self.coef, np.array([solution.offset for solution in self.solutions])
        return {"prototypes_": self.columns, "coef_": coef, "intercept_": offsets - coef @ self.centre}


class LinearClassifier(OneVsOneClassifier):
    """Base of classifiers that are linear in the similarities, one problem for each pair of classes.

    In a subclass, ``_solve(S, y, points)`` returns one :class:`LinearSolution` for each point, for one pair of classes:
    y is +1 for the later class and -1 for the other. S need be neither square nor symmetric; a square S is cut to the
    rows and columns of the pair, any other to its rows.
    """

    _takes_columns = True

    @property
    def _unlabelled(self) -> str | None:
        return "columns"

    def _solve(self, S: np.ndarray, y: np.ndarray, points: list[Any]) -> list[LinearSolution]:
        raise NotImplementedError

    def _solved(self, training: Training, labels: Labels, points: list[Any]) -> list[Any]:
        S, centre, solved, columns_of = training.S, np.mean(training.S, axis=0), [], []
        for members, y in class_pairs(labels):
            columns = np.arange(S.shape[1]) if training.reader.is_columns else members
            solutions = self._solve(S[np.ix_(members, columns)], y, points)
            offsets = [s.offset + float((centre[columns] - s.means) @ s.coef) for s in solutions]
            solved.append([s._replace(means=centre, offset=offset) for s, offset in zip(solutions, offsets)])
            columns_of.append(columns)
        return [LinearMachines(list(solutions), columns_of, centre) for solutions in zip(*solved)]
