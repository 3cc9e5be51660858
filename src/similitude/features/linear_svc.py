"""Linear support vector machines of feature vectors, for a whole range of C at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude._utils.checks import check_positive
from similitude.base import FeatureVectors, FittedPath
from similitude.features._machines import FeatureSVC, answers_of, attributes_of, warn_of_unsolved
from similitude.numerics.machines import Machines, solve_machines

if TYPE_CHECKING:
    from similitude.labels import Labels

_EXPONENT = 500
"""The largest exponent of the unit of features whose square is a number."""


class LinearKernelSVC(FeatureSVC):
    """Classify feature vectors by a support vector machine with the kernel ``x^T z``.

    For each pair of classes the problem is that of ``sklearn.svm.SVC`` with ``kernel="linear"``::

        minimise over w, b  ||w||^2 / 2 + C sum_i max(0, 1 - y_i (w^T x_i + b))

    Its dual is solved as in :class:`SimilaritySVC`. As in ``SVC``, the first of the classes that win most pairs is
    predicted, and ``decision_function`` has its largest value for the one among them with the largest sum of decision
    values. ``PathSearchCV`` computes the products once for a whole grid, and each solution is the start of that for a
    larger C.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the dual variables: the larger it is, the fewer samples lie on the wrong side of the margin. With
        ``t X`` and ``C / t^2`` the classifier is the same, so choose it relative to the inverse of the squared size of
        the features, or scale them.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    coef_, support_, support_vectors_, n_support_, dual_coef_, intercept_ : ndarray
        As in ``sklearn.svm.SVC``.
    objective_, duality_gap_, n_iter_
        As in :class:`SimilaritySVC`.

    See Also
    --------
    sklearn.svm.SVC : The same machine without a path.
    GaussianSVC : Uses a Gaussian kernel.

    Examples
    --------
    >>> from similitude.features import LinearKernelSVC
    >>> model = LinearKernelSVC().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [3.5]])
    array([0, 1])
    >>> model.coef_, model.intercept_
    (array([[1.]]), array([-2.]))
    """

    _path_parameters = ("C",)

    def __init__(self, C: float = 1.0):
        self.C = C

    def _point(self, parameters: dict[str, Any]) -> float:
        check_positive(parameters["C"], "C")
        return float(parameters["C"])

    def _fit_path(self, training: FeatureVectors, labels: Labels, points: list[float]) -> LinearKernelPath:
        # In units in which the largest feature is about 1, so that products neither overflow nor underflow.
        exponent = min(max(math.frexp(float(np.max(np.abs(training.X))))[1], -_EXPONENT), _EXPONENT)
        X = np.ldexp(training.X, -exponent)
        machines = solve_machines(X @ X.T, labels.codes, labels.n_classes, points, labels.sample_weight, 2 * exponent)
        warn_of_unsolved("LinearKernelSVC", machines)
        coef = [X.T @ each.beta for each in machines]
        return LinearKernelPath(points, machines, coef, training.X, exponent)


class LinearKernelPath(FittedPath):
    """The machines of all points."""

    _saved_state = {
        "points": "list(1) of float 0..",
        "machines": "list(1) of Machines",
        "coef": "list(1) of double[p, .r]",
        "X": "double[N, p]",
        "exponent": "int",
    }

    def __init__(
        self, points: list[float], machines: list[Machines], coef: list[np.ndarray], X: np.ndarray, exponent: int
    ):
        self.points, self.machines, self.coef, self.X, self.exponent = points, machines, coef, X, exponent

    def answers(self, rows: np.ndarray, response: str) -> list[np.ndarray]:
        rows = np.ldexp(rows, -self.exponent)
        return [
            answers_of(rows @ coef + machines.intercept, machines.n_classes, response, ties="sums")
            for coef, machines in zip(self.coef, self.machines)
        ]

    def at(self, i: int) -> LinearKernelPath:
        return LinearKernelPath([self.points[i]], [self.machines[i]], [self.coef[i]], self.X, self.exponent)

    def attributes(self) -> dict[str, Any]:
        machines = self.machines[0]
        # With more than two classes, the earlier class of a pair is the positive one in scikit-learn.
        sign = 1.0 if machines.n_classes == 2 else -1.0
        coef = sign * np.ldexp(self.coef[0].T, -self.exponent)
        return {"coef_": coef, **attributes_of(machines, self.X)}
