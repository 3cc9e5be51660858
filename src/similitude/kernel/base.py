"""What the SVMs of binary methods share: one-vs-one, class weights, calibration, paths."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import combinations
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if

from similitude.base import SimilarityClassifier, check_labels, unchanged_on_failure
from similitude.kernel.calibration import calibrates, calibrators
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense, is_symmetric
from similitude.proximity.proximities import Proximities, as_proximities
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


class _Model(NamedTuple):
    pairs: list[_Pair]
    mean_self_similarity: float


def check_range(S: np.ndarray, limits: tuple[float, float], **sizes: float) -> None:
    """Refuse parameters whose sizes, in units of the largest similarity, are beyond what can be computed with."""
    for name, size in sizes.items():
        if not limits[0] <= size <= limits[1]:
            largest = float(np.max(np.abs(S)))
            raise ValueError(
                f"{name} and X: the largest similarity is {largest:.0e}, beside which this {name} is {size:.0e}; "
                "rescale X to similarities of the order of 1."
            )


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
            self._model = self._solved(S, given.self_similarity, self._labels, [point])
            self._keep_figures([pair.machines[0] for pair in self._model.pairs], len(S))
            self._has_probability = bool(self.probability)
            models = [self._model]
            if self._has_probability:
                [self._calibrator] = self._calibrators(S, given.self_similarity, [point], models)
            self._warn_of_unsolved(models)
        return self

    def _solved(self, S, self_similarity, labels, points):
        """The machines of all pairs of classes, for each point."""
        weights, pairs = class_weights(self, labels), []
        for first, second in combinations(range(len(self.classes_)), 2):
            members = np.flatnonzero((labels == first) | (labels == second))
            y = np.where(labels[members] == second, 1.0, -1.0)
            machines = self._solve(S[np.ix_(members, members)], y, weights[members], points)
            pairs.append(_Pair(members, machines))
        own = np.diagonal(S) if self_similarity is None else self_similarity
        return _Model(pairs, float(np.mean(own)))

    def _calibrators(self, S, self_similarity, points, models):
        """One for each point; the models of the folds join ``models``."""

        def scores_of(train, test):
            own_train, own_test = (None if self_similarity is None else self_similarity[i] for i in (train, test))
            model = self._solved(S[np.ix_(train, train)], own_train, self._labels[train], points)
            models.append(model)
            rows = Proximities(S[np.ix_(test, train)], self_similarity=own_test)
            return [self._scores(model, rows, i) for i in range(len(points))]

        return calibrators(scores_of, self.classes_, self._labels)

    def _warn_of_unsolved(self, models):
        machines = [machine for model in models for pair in model.pairs for machine in pair.machines]
        unsolved = sum(not machine.converged for machine in machines)
        if unsolved:
            warnings.warn(
                f"{type(self).__name__}: {unsolved} of {len(machines)} problems were not solved to full accuracy "
                "(duality_gap_ tells how far); rescale the similarities, or regularise more.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep_figures(self, machines, n):
        for name, figure in (("objective_", "objective"), ("duality_gap_", "gap"), ("n_iter_", "n_iter")):
            values = [getattr(machine, figure) for machine in machines]
            setattr(self, name, values[0] if len(values) == 1 else np.array(values))
        needed = np.zeros(n, dtype=bool)
        for pair, machine in zip(self._model.pairs, machines):
            needed[pair.members if machine.columns is None else pair.members[machine.columns]] = True
        self.support_columns_ = np.flatnonzero(needed)
        self._after_fit(machines)

    def predict(self, X):
        """The class that wins most pairs for each row."""
        return self._said(self.decision_function(X))

    def decision_function(self, X):
        """Two classes: the decision value, of shape (m,), positive for the second class; else scores, (m, G).

        A class's score is the number of pairs it wins, and less than a third, up or down, for the sum of its decision
        values; the class that is predicted has the largest.
        """
        rows = self._new_proximities(X)
        return self._scores(self._model, rows, 0)

    @available_if(calibrates)
    def predict_proba(self, X):
        """Probabilities by a sigmoid of the decision values, fitted by cross-validation on the training samples."""
        scores = self.decision_function(X)
        return self._calibrator.probabilities(scores)

    def _scores(self, model, rows, point):
        S = dense(rows.S).astype(np.float64, copy=False)
        own = rows.self_similarity
        own = np.full(len(S), model.mean_self_similarity) if own is None else own
        values = np.column_stack([pair.machines[point].decide(S[:, pair.members], own) for pair in model.pairs])
        return values[:, 0] if len(self.classes_) == 2 else one_vs_one(values, len(self.classes_))

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One answer per grid point, sharing what the points share."""
        points = [self._point(parameters) for parameters in grid]
        own_train, own_test = (as_proximities(S).self_similarity for S in (S_train, S_test))
        self._set_labels(np.asarray(y_train), at_least=2)
        S, rows = self._path_similarities(S_train, S_test)
        S = dense(S).astype(np.float64, copy=False)
        S = S if is_symmetric(S) else mean_of_directions(S)
        model = self._solved(S, own_train, self._labels, points)
        rows, models = Proximities(rows, self_similarity=own_test), [model]
        scores = [self._scores(model, rows, i) for i in range(len(points))]
        if response == "predict_proba":
            fitted = self._calibrators(S, own_train, points, models)
            scores = [calibrator.probabilities(values) for calibrator, values in zip(fitted, scores)]
        self._warn_of_unsolved(models)
        return [self._said(values) for values in scores] if response == "predict" else scores


def class_weights(estimator: Any, labels: np.ndarray) -> np.ndarray:
    """The weight ``class_weight`` gives to each sample, ``labels`` being positions in ``classes_``."""
    classes = estimator.classes_
    given = estimator.class_weight
    numbers = given.values() if isinstance(given, Mapping) else ()
    if not all(isinstance(number, Real) and 0 < float(number) < np.inf for number in numbers):
        raise ValueError(f"class_weight must hold finite numbers above 0; got {given!r}.")
    return compute_class_weight(given, classes=classes, y=classes[labels])[labels]
