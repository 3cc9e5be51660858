"""Classifiers that solve one two-class problem for each pair of classes: fits, votes, probabilities, paths."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from similitude.base import SimilarityClassifier, check_labels, unchanged_on_failure
from similitude.numerics.calibration import calibrates, calibrators
from similitude.numerics.votes import one_vs_one
from similitude.proximity.check import dense
from similitude.proximity.proximities import Proximities, as_proximities


class Machine(Protocol):
    """The solved problems of all pairs of classes, for one point of a grid."""

    @property
    def solutions(self) -> Sequence[Any]:
        """One for each pair, with its ``objective``, ``gap``, ``n_iter`` and whether it ``converged``."""

    @property
    def columns(self) -> np.ndarray:
        """Positions of the training columns that decision values need."""

    def decisions(self, rows: Proximities) -> np.ndarray:
        """Decision values, (m, pairs), positive for the later class, of whole rows or those ``columns`` alone."""


class OneVsOneClassifier(SimilarityClassifier):
    """Base of classifiers that solve one problem for each pair of classes.

    A subclass checks the parameters of a grid point, which override its own, in ``_point(parameters)``, and gives in
    ``_solved(train, labels, points)`` one :class:`Machine` for each point, labels being positions in ``classes_`` (if
    its ``fit`` takes sample weights, they come last). It may change how training similarities are made ready,
    ``_for_training``, and new ones read, ``_new_rows``, and set further attributes in ``_keep_figures()``.
    """

    probability: Any

    def _point(self, parameters: dict) -> tuple:
        raise NotImplementedError

    def _solved(self, train: Proximities, labels: np.ndarray, points: list[tuple]) -> list[Any]:
        raise NotImplementedError

    def _for_training(self, S: Any, *, announced: bool) -> Any:
        """The similarities as ``_solved`` wants them; ``announced``: with a warning of what the user should know."""
        return dense(S).astype(np.float64, copy=False)

    def _new_rows(self, X: Any) -> Proximities:
        return self._new_proximities(X)

    def fit(self, X, y):
        """Solve one problem for each pair of classes."""
        point = self._point({})
        with unchanged_on_failure(self):
            given = self._fit_proximities(X, y)
            train = given._with(self._for_training(given.S, announced=True), None)
            self._set_labels(check_labels(y, len(train)), at_least=2)
            [self._machine] = machines = self._solved(train, self._labels, [point])
            self._keep_figures()
            self._has_probability = bool(self.probability)
            if self._has_probability:
                [self._calibrator] = self._calibrators(train, [point], machines)
            self._warn_of_unsolved(machines)
        return self

    def _keep_figures(self):
        self.support_columns_ = self._columns_read(self._machine.columns)
        self._keep_by_pair(np.array, objective_="objective", duality_gap_="gap", n_iter_="n_iter")

    def _keep_by_pair(self, together: Callable[[list], Any] = list, **names: str) -> None:
        """Set attributes to what the solutions call these names: of two classes the value, of more all ``together``."""
        for attribute, name in names.items():
            values = [getattr(solution, name) for solution in self._machine.solutions]
            setattr(self, attribute, values[0] if len(values) == 1 else together(values))

    def _calibrators(self, train, points, machines, sample_weight=None):
        """One for each point; the machines of the folds join ``machines``."""

        def scores_of(kept, left_out):
            columns = np.arange(train.shape[1]) if self._is_columns else kept
            weights = [] if sample_weight is None else [sample_weight[kept]]
            fold = self._solved(train[np.ix_(kept, columns)], self._labels[kept], points, *weights)
            machines.extend(fold)
            rows = train[np.ix_(left_out, columns)]
            return [self._scores(machine, rows) for machine in fold]

        return calibrators(scores_of, self.classes_, self._labels, sample_weight)

    def _warn_of_unsolved(self, machines):
        solutions = [solution for machine in machines for solution in machine.solutions]
        unsolved = sum(not solution.converged for solution in solutions)
        if unsolved:
            warnings.warn(
                f"{type(self).__name__}: {unsolved} of {len(solutions)} problems were not solved to full accuracy "
                "(duality_gap_ tells how far); rescale the similarities, or regularise more.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def predict(self, X):
        """The class that wins most pairs for each row."""
        return self._said(self.decision_function(X))

    def decision_function(self, X):
        """Two classes: the decision value, of shape (m,), positive for the second class; else scores, (m, G).

        A class's score is the number of pairs it wins, and less than a third, up or down, for the sum of its decision
        values; the class that is predicted has the largest.
        """
        check_is_fitted(self)
        return self._scores(self._machine, self._new_rows(X))

    @available_if(calibrates)
    def predict_proba(self, X):
        """Class probabilities, (m, G): a sigmoid of each decision value, normalised over the classes.

        The sigmoids are fitted by cross-validation on the training samples.
        """
        scores = self.decision_function(X)
        return self._calibrator.probabilities(scores)

    def _scores(self, machine, rows):
        values = machine.decisions(rows)
        return values[:, 0] if len(self.classes_) == 2 else one_vs_one(values, len(self.classes_))

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One answer per grid point, sharing what the points share."""
        n = len(y_train)
        if S_test.shape[1] != n and not self._is_columns:
            raise ValueError(f"S_test must have a column for each of {n} labels; got {S_test.shape[1]}.")
        points = [self._point(parameters) for parameters in grid]
        own_train, own_test = (as_proximities(S).self_similarity for S in (S_train, S_test))
        self._set_labels(np.asarray(y_train), at_least=2)
        S, rows = self._path_similarities(S_train, S_test)
        train = Proximities(self._for_training(S, announced=False), self_similarity=own_train)
        rows = Proximities(rows, self_similarity=own_test)
        machines = self._solved(train, self._labels, points)
        scores = [self._scores(machine, rows) for machine in machines]
        if response == "predict_proba":
            fitted = self._calibrators(train, points, machines)
            scores = [calibrator.probabilities(values) for calibrator, values in zip(fitted, scores)]
        self._warn_of_unsolved(machines)
        return [self._said(values) for values in scores] if response == "predict" else scores


def class_pairs(labels: np.ndarray, n_classes: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each pair of classes the positions of its samples, and their y: +1 for the later class, else -1."""
    for first, second in combinations(range(n_classes), 2):
        members = np.flatnonzero((labels == first) | (labels == second))
        yield members, np.where(labels[members] == second, 1.0, -1.0)
