"""What the machines on similarities as features share: one-vs-one, decisions, calibration, paths."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from similitude.base import SimilarityClassifier, check_labels, unchanged_on_failure
from similitude.kernel.calibration import calibrates, calibrators
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense
from similitude.proximity.proximities import at_columns

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


class _Model(NamedTuple):
    """The solved problems of all pairs of classes, for one point of a grid."""

    solutions: list[Solution]
    """Their means are ``centre``: one vector taken from all rows first, lest large means cost digits."""
    columns: list[np.ndarray]
    """The columns of each pair, of ``centre.size`` in all."""
    centre: np.ndarray

    @property
    def coef(self) -> np.ndarray:
        """Of shape (pairs, columns)."""
        coef = np.zeros((len(self.solutions), len(self.centre)))
        for row, solution, columns in zip(coef, self.solutions, self.columns):
            row[columns] = solution.coef
        return coef

    @property
    def support(self) -> np.ndarray:
        """The columns with a coefficient in some pair."""
        needed = np.zeros(len(self.centre), dtype=bool)
        for solution, columns in zip(self.solutions, self.columns):
            needed[columns[solution.coef != 0.0]] = True
        return np.flatnonzero(needed)

    def decisions(self, S: Any) -> np.ndarray:
        """Decision values, (m, pairs), of rows with the columns of ``support`` alone."""
        support = self.support
        # One layout, so that equal rows give equal digits.
        rows = dense(S).astype(np.float64, order="C") - self.centre[support]
        values = np.empty((len(rows), len(self.solutions)))
        for p, (solution, columns) in enumerate(zip(self.solutions, self.columns)):
            kept = solution.coef != 0.0
            coef, part = solution.coef[kept], rows[:, np.searchsorted(support, columns[kept])]
            value, terms = part @ coef + solution.offset, np.abs(part) @ np.abs(coef) + abs(solution.offset)
            values[:, p] = np.where(np.abs(value) > _TIE * terms, value, 0.0)
        return values


class OneVsOneFeatures(SimilarityClassifier):
    """Base of classifiers that are linear in the similarities, one problem for each pair of classes.

    A subclass checks the parameters of a grid point in ``_point(parameters)`` (which override its own) and gives in
    ``_solve(S, y, points)`` one :class:`Solution` per point for one pair: y in {-1, +1}, +1 the later class. S need be
    neither square nor symmetric; where it is square it is cut to the pair's rows and columns, else to the pair's rows.
    """

    probability: Any

    _takes_columns = True

    def _point(self, parameters: dict) -> tuple:
        raise NotImplementedError

    def _solve(self, S: np.ndarray, y: np.ndarray, points: list[tuple]) -> list[Solution]:
        raise NotImplementedError

    def fit(self, X, y):
        """Solve one problem for each pair of classes."""
        point = self._point({})
        with unchanged_on_failure(self):
            S = dense(self._fit_proximities(X, y).S).astype(np.float64, copy=False)
            self._set_labels(check_labels(y, len(S)), at_least=2)
            [self._model] = models = self._solved(S, self._labels, [point])
            self._keep_figures()
            self._has_probability = bool(self.probability)
            if self._has_probability:
                [self._calibrator] = self._calibrators(S, [point], models)
            self._warn_of_unsolved(models)
        return self

    def _solved(self, S, labels, points):
        """One model for each point."""
        centre, solved, columns_of = np.mean(S, axis=0), [], []
        for first, second in combinations(range(len(self.classes_)), 2):
            rows = np.flatnonzero((labels == first) | (labels == second))
            columns = np.arange(S.shape[1]) if self._is_columns else rows
            y = np.where(labels[rows] == second, 1.0, -1.0)
            solutions = self._solve(S[np.ix_(rows, columns)], y, points)
            offsets = [s.offset + float((centre[columns] - s.means) @ s.coef) for s in solutions]
            solved.append([s._replace(means=centre, offset=offset) for s, offset in zip(solutions, offsets)])
            columns_of.append(columns)
        return [_Model(list(solutions), columns_of, centre) for solutions in zip(*solved)]

    def _calibrators(self, S, points, models):
        """One for each point; the models of the folds join ``models``."""

        def scores_of(train, test):
            columns = np.arange(S.shape[1]) if self._is_columns else train
            fold = self._solved(S[np.ix_(train, columns)], self._labels[train], points)
            models.extend(fold)
            return [self._scores(model, S[np.ix_(test, columns[model.support])]) for model in fold]

        return calibrators(scores_of, self.classes_, self._labels)

    def _warn_of_unsolved(self, models):
        solutions = [solution for model in models for solution in model.solutions]
        unsolved = sum(not solution.converged for solution in solutions)
        if unsolved:
            warnings.warn(
                f"{type(self).__name__}: {unsolved} of {len(solutions)} problems were not solved to full accuracy "
                "(duality_gap_ tells how far); rescale the similarities, or regularise more.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep_figures(self):
        model = self._model
        self.coef_ = model.coef
        self.intercept_ = np.array([solution.offset for solution in model.solutions]) - self.coef_ @ model.centre
        self.prototypes_ = model.support
        self.support_columns_ = self._columns_read(self.prototypes_)
        for name, figure in (("objective_", "objective"), ("duality_gap_", "gap"), ("n_iter_", "n_iter")):
            values = [getattr(solution, figure) for solution in model.solutions]
            setattr(self, name, values[0] if len(values) == 1 else np.array(values))

    def predict(self, X):
        """The class that wins most pairs for each row."""
        return self._said(self.decision_function(X))

    def decision_function(self, X):
        """Two classes: the decision value, of shape (m,), positive for the second class; else scores, (m, G).

        A class's score is the number of pairs it wins, and less than a third, up or down, for the sum of its decision
        values; the class that is predicted has the largest.
        """
        check_is_fitted(self)
        return self._scores(self._model, self._new_columns(X, self.prototypes_))

    @available_if(calibrates)
    def predict_proba(self, X):
        """Probabilities by a sigmoid of the decision values, fitted by cross-validation on the training samples."""
        scores = self.decision_function(X)
        return self._calibrator.probabilities(scores)

    def _scores(self, model, S):
        values = model.decisions(S)
        return values[:, 0] if len(self.classes_) == 2 else one_vs_one(values, len(self.classes_))

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One answer per grid point, sharing what the points share."""
        points = [self._point(parameters) for parameters in grid]
        self._set_labels(np.asarray(y_train), at_least=2)
        S, rows = self._path_similarities(S_train, S_test)
        S = dense(S).astype(np.float64, copy=False)
        models = self._solved(S, self._labels, points)
        scores = [self._scores(model, at_columns(rows, model.support)) for model in models]
        if response == "predict_proba":
            fitted = self._calibrators(S, points, models)
            scores = [calibrator.probabilities(values) for calibrator, values in zip(fitted, scores)]
        self._warn_of_unsolved(models)
        return [self._said(values) for values in scores] if response == "predict" else scores
