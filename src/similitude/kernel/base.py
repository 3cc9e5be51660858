"""What the SVMs of binary methods share: one-vs-one, class weights, calibration, paths."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from similitude.base import SimilarityClassifier, as_proximities, check_labels, unchanged_on_failure
from similitude.kernel.calibration import calibrated, calibrates
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense, is_symmetric
from similitude.proximity.symmetry import mean_of_directions, symmetrized_for


class Machine(Protocol):
    """A solved binary problem."""

    objective: float
    gap: float
    n_iter: int
    converged: bool
    columns: np.ndarray | None
    """Positions, among the pair's samples, of the columns that ``decide`` needs; None for all."""

    def decide(self, rows: np.ndarray, self_similarity: np.ndarray) -> np.ndarray:
        """Decision values of rows of similarities to the pair's samples."""


class _Pair(NamedTuple):
    members: np.ndarray
    machines: list[Machine]
    """One for each point of a grid."""


def check_range(S: np.ndarray) -> None:
    """Refuse similarities beside which eta and gamma would be nothing, or which would be nothing beside them."""
    largest = float(np.max(np.abs(S)))
    if largest > 0 and not 1e-100 < largest < 1e100:
        raise ValueError(f"X: the largest similarity is {largest:.0e}; rescale X to similarities of the order of 1.")


class OneVsOneMachines(SimilarityClassifier):
    """Base of classifiers that solve one problem for each pair of classes.

    A subclass checks the parameters of a grid point in ``_point(parameters)`` (which override its own) and gives in
    ``_solve(S, y, weight, points)`` one :class:`Machine` per point for one pair: S symmetric, y in {-1, +1}, +1 the
    later class, ``weight`` what the loss of each sample is multiplied by. Points share decompositions and warm starts
    there. It may set further attributes from the solved pairs in ``_after_fit(machines)``.
    """

    class_weight: Any
    probability: Any

    def _point(self, parameters: dict) -> tuple:
        raise NotImplementedError

    def _solve(self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple]) -> list[Machine]:
        raise NotImplementedError

    def _after_fit(self, machines: list) -> None:
        """Set attributes from the machines, one for each pair of classes."""

    def fit(self, X, y):
        """Solve one problem for each pair of classes."""
        point = self._point({})
        with unchanged_on_failure(self):
            given = self._fit_proximities(X, y)
            S = symmetrized_for(type(self).__name__, dense(given.S).astype(np.float64, copy=False))
            self._set_labels(check_labels(y, len(S)), at_least=2)
            own = np.diagonal(S) if given.self_similarity is None else given.self_similarity
            self._mean_self_similarity = float(np.mean(own))
            self._pairs = self._solve_pairs(S, [point])
            self._keep_figures([pair.machines[0] for pair in self._pairs], len(S))
            self._has_probability = bool(self.probability)
            if self._has_probability:
                plain = clone(self).set_params(probability=False, similarity="precomputed", dissimilarity=None)
                self._calibrated = calibrated(plain, S, y)
        return self

    def _solve_pairs(self, S, points):
        by_class = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[self._labels])
        pairs = []
        for first, second in combinations(range(len(self.classes_)), 2):
            members = np.flatnonzero((self._labels == first) | (self._labels == second))
            y = np.where(self._labels[members] == second, 1.0, -1.0)
            machines = self._solve(S[np.ix_(members, members)], y, by_class[self._labels[members]], points)
            pairs.append(_Pair(members, machines))
        unsolved = sum(not machine.converged for pair in pairs for machine in pair.machines)
        if unsolved:
            warnings.warn(
                f"{type(self).__name__}: {unsolved} of {len(pairs) * len(points)} problems were not solved to full "
                "accuracy (duality_gap_ tells how far); rescale the similarities, or regularise more.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return pairs

    def _keep_figures(self, machines, n):
        for name, figure in (("objective_", "objective"), ("duality_gap_", "gap"), ("n_iter_", "n_iter")):
            values = [getattr(machine, figure) for machine in machines]
            setattr(self, name, values[0] if len(values) == 1 else np.array(values))
        needed = np.zeros(n, dtype=bool)
        for pair, machine in zip(self._pairs, machines):
            needed[pair.members if machine.columns is None else pair.members[machine.columns]] = True
        self.support_columns_ = np.flatnonzero(needed)
        self._after_fit(machines)

    def predict(self, X):
        """The class that wins most pairs for each row."""
        rows = self._new_proximities(X)
        return self._said(self._decisions(self._pairs, rows, 0), "predict")

    def decision_function(self, X):
        """Two classes: the decision value, of shape (m,), positive for the second class; else scores, (m, G).

        A class's score is the number of pairs it wins, and less than a third, up or down, for the sum of its decision
        values; the class that is predicted has the largest.
        """
        rows = self._new_proximities(X)
        return self._said(self._decisions(self._pairs, rows, 0), "decision_function")

    @available_if(calibrates)
    def predict_proba(self, X):
        """Probabilities by a sigmoid of the decision values, fitted by cross-validation on the training samples."""
        return self._calibrated.predict_proba(dense(self._new_proximities(X).S).astype(np.float64, copy=False))

    def _decisions(self, pairs, rows, point):
        S = dense(rows.S).astype(np.float64, copy=False)
        own = rows.self_similarity
        own = np.full(len(S), self._mean_self_similarity) if own is None else own
        return np.column_stack([pair.machines[point].decide(S[:, pair.members], own) for pair in pairs])

    def _said(self, decisions, response):
        if len(self.classes_) == 2:
            values = decisions[:, 0]
            return values if response == "decision_function" else self.classes_[(values >= 0).astype(np.intp)]
        scores = one_vs_one(decisions, len(self.classes_))
        return scores if response == "decision_function" else self.classes_[np.argmax(scores, axis=1)]

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One answer per grid point, sharing what the points share."""
        points = [self._point(parameters) for parameters in grid]
        own_train, own_test = (as_proximities(S).self_similarity for S in (S_train, S_test))
        if response == "predict_proba":
            return [clone(self).set_params(**point).fit(S_train, y_train).predict_proba(S_test) for point in grid]
        self._set_labels(np.asarray(y_train), at_least=2)
        S_train, S_test = self._path_similarities(S_train, S_test)
        S = dense(np.asarray(S_train) if not hasattr(S_train, "tocsr") else S_train).astype(np.float64, copy=False)
        S = S if is_symmetric(S) else mean_of_directions(S)
        self._mean_self_similarity = float(np.mean(np.diagonal(S) if own_train is None else own_train))
        pairs = self._solve_pairs(S, points)
        rows = as_proximities(S_test)
        rows.self_similarity = own_test if rows.self_similarity is None else rows.self_similarity
        return [self._said(self._decisions(pairs, rows, i), response) for i in range(len(points))]
