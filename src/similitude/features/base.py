"""What the machines on similarities as features share: their decision values, for all pairs of classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from similitude.one_vs_one import OneVsOneClassifier, class_pairs
from similitude.proximity.check import dense
from similitude.proximity.proximities import Proximities, at_columns

# Decision values this small, relative to their terms, are 0.
_TIE = 1e-11


class Solution(NamedTuple):
    """A solved binary problem: ``f(x) = (s - means)^T coef + offset``."""

    coef: np.ndarray
    """One for each column."""
    means: np.ndarray
    """Of the columns."""
    offset: float
    objective: float
    gap: float
    """An upper bound on what the objective lacks of the optimum, relative to the objective."""
    n_iter: int
    converged: bool


class _Machine(NamedTuple):
    """The solved problems of all pairs of classes, for one point of a grid."""

    solutions: list[Solution]
    """Their means are ``centre``: one vector taken from all rows first, lest large means cost digits."""
    columns_of: list[np.ndarray]
    """The columns of each pair, of ``centre.size`` in all."""
    centre: np.ndarray

    @property
    def coef(self) -> np.ndarray:
        """Of shape (pairs, columns)."""
        coef = np.zeros((len(self.solutions), len(self.centre)))
        for row, solution, columns in zip(coef, self.solutions, self.columns_of):
            row[columns] = solution.coef
        return coef

    @property
    def columns(self) -> np.ndarray:
        """The columns with a coefficient in some pair."""
        needed = np.zeros(len(self.centre), dtype=bool)
        for solution, columns in zip(self.solutions, self.columns_of):
            needed[columns[solution.coef != 0.0]] = True
        return np.flatnonzero(needed)

    def decisions(self, rows: Proximities) -> np.ndarray:
        """Decision values, (m, pairs), of whole rows or of rows with ``columns`` alone."""
        needed = self.columns
        S = rows.S if rows.shape[1] == len(needed) else at_columns(rows.S, needed)
        # One layout, so that equal rows give equal digits.
        S = dense(S).astype(np.float64, order="C") - self.centre[needed]
        values = np.empty((len(S), len(self.solutions)))
        for p, (solution, columns) in enumerate(zip(self.solutions, self.columns_of)):
            kept = solution.coef != 0.0
            coef, part = solution.coef[kept], S[:, np.searchsorted(needed, columns[kept])]
            value, terms = part @ coef + solution.offset, np.abs(part) @ np.abs(coef) + abs(solution.offset)
            values[:, p] = np.where(np.abs(value) > _TIE * terms, value, 0.0)
        return values


class OneVsOneFeatures(OneVsOneClassifier):
    """Base of classifiers that are linear in the similarities, one problem for each pair of classes.

    A subclass gives in ``_solve(S, y, points)`` one :class:`Solution` per point for one pair: y in {-1, +1}, +1 the
    later class. S need be neither square nor symmetric; where it is square it is cut to the pair's rows and columns,
    else to the pair's rows.
    """

    _takes_columns = True

    def _solve(self, S: np.ndarray, y: np.ndarray, points: list[tuple]) -> list[Solution]:
        raise NotImplementedError

    def _solved(self, train, labels, points):
        S, centre, solved, columns_of = train.S, np.mean(train.S, axis=0), [], []
        for members, y in class_pairs(labels, len(self.classes_)):
            columns = np.arange(S.shape[1]) if self._is_columns else members
            solutions = self._solve(S[np.ix_(members, columns)], y, points)
            offsets = [s.offset + float((centre[columns] - s.means) @ s.coef) for s in solutions]
            solved.append([s._replace(means=centre, offset=offset) for s, offset in zip(solutions, offsets)])
            columns_of.append(columns)
        return [_Machine(list(solutions), columns_of, centre) for solutions in zip(*solved)]

    def _keep_figures(self):
        super()._keep_figures()
        machine = self._machine
        self.prototypes_, self.coef_ = machine.columns, machine.coef
        self.intercept_ = np.array([solution.offset for solution in machine.solutions]) - self.coef_ @ machine.centre

    def _new_rows(self, X):
        return Proximities(self._new_columns(X, self.prototypes_))
