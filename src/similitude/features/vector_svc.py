"""Support vector machines on feature vectors, with a Gaussian or a linear kernel, for a whole grid at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similitude._utils.checks import check_positive
from similitude._utils.types import LabelsLike, SamplesLike
from similitude._utils.warn import warn
from similitude.base import FeatureClassifier, FeatureVectors, FittedPath
from similitude.labels import Labels
from similitude.numerics.distances import squared_distances
from similitude.numerics.machines import Machines, solve_machines
from similitude.numerics.votes import one_vs_one
from similitude.one_vs_one import by_pair, predicted


class FeatureSVC(FeatureClassifier):
    """Base of the support vector machines on feature vectors."""

    _responses = ("predict", "decision_function")
    _least_classes = 2

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the machines of all pairs of classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The feature vectors.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), default=None
            The factor of C for each sample.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)


def warn_of_unsolved(name: str, machines: list[Machines]) -> None:
    """Warn if some of the machines of a classifier were not solved to full accuracy."""
    solutions = [solution for each in machines for solution in each.solutions]
    unsolved = sum(not solution.converged for solution in solutions)
    if unsolved:
        warn(
            f"{name}: {unsolved} of {len(solutions)} problems were not solved to full accuracy (see duality_gap_); use "
            "a smaller C.",
            ConvergenceWarning,
        )


def answers_of(values: np.ndarray, n_classes: int, response: str, ties: str = "first") -> np.ndarray:
    """Return predictions or scores from the decision values of all pairs of classes, (m, pairs).

    Of the classes with the most votes the first is predicted; ``ties`` tells which has the largest score.
    """
    ties = "first" if response == "predict" else ties
    scores = values[:, 0] if n_classes == 2 else one_vs_one(values, n_classes, ties=ties)
    return predicted(scores) if response == "predict" else scores


def attributes_of(machines: Machines, X: np.ndarray | None) -> dict[str, Any]:
    """Return the attributes of a fitted classifier; X are the training samples, None if they were not saved."""
    attributes = machines.attributes()
    names = {"objective_": "objective", "duality_gap_": "gap"}
    support = {} if X is None else {"support_vectors_": X[attributes["support_"]]}
    return {**by_pair(machines.solutions, np.array, names), **attributes, **support}


class GaussianPoint(NamedTuple):
    """One point of a grid."""

    C: float
    gamma: float


class GaussianSVC(FeatureSVC):
    """Classify feature vectors by a support vector machine with the kernel ``exp(-gamma ||x - z||^2)``.

    For each pair of classes the problem is that of ``sklearn.svm.SVC`` with ``kernel="rbf"``::

        maximise  sum alpha - alpha^T Q alpha / 2   over   0 <= alpha <= C,  y^T alpha = 0,   Q_ij = y_i y_j K_ij

    It is solved as in :class:`SimilaritySVC`. ``PathSearchCV`` computes the distances once for a whole grid and the
    kernel once for each gamma, and each solution is the start of that for a larger C. On the similarities of Voting,
    cross-validation of the 35 points of the recipe "RBF SVM" takes an eighteenth of the time of ``GridSearchCV`` with
    ``SVC`` (``python -m benchmarks table3``).

    Parameters
    ----------
    C : float, default=1.0
        Bound of the dual variables: the larger it is, the fewer samples lie on the wrong side of the margin.
    gamma : float, default=1.0
        Inverse width of the kernel: the larger it is, the narrower the kernel. With ``t X`` and ``gamma / t^2`` the
        classifier is the same, so choose it relative to the inverse of the squared size of the features, or scale them.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    support_, support_vectors_, n_support_, dual_coef_, intercept_ : ndarray
        As in ``sklearn.svm.SVC``.
    objective_, duality_gap_, n_iter_
        As in :class:`SimilaritySVC`.

    See Also
    --------
    sklearn.svm.SVC : The same machine without a path.
    LinearKernelSVC : Uses a linear kernel.
    similitude.SimilaritySVC : Uses similarities as the kernel.

    Examples
    --------
    >>> from similitude.features import GaussianSVC
    >>> GaussianSVC(gamma=0.5).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).predict([[0.5], [3.5]])
    array([0, 1])
    """

    _path_parameters = ("C", "gamma")

    def __init__(self, C: float = 1.0, gamma: float = 1.0):
        self.C = C
        self.gamma = gamma

    def _point(self, parameters: dict[str, Any]) -> GaussianPoint:
        return GaussianPoint(*(check_positive(parameters[name], name) for name in self._path_parameters))

    def _fit_path(self, training: FeatureVectors, labels: Labels, points: list[GaussianPoint]) -> GaussianPath:
        machines: list[Any] = [None] * len(points)
        for K, own in _kernels(training.X, training.X, points):
            costs = [points[i].C for i in own]
            for i, solved in zip(own, solve_machines(K, labels.codes, labels.n_classes, costs, labels.sample_weight)):
                machines[i] = solved
        warn_of_unsolved("GaussianSVC", machines)
        return GaussianPath(points, machines, training.X)


def _kernels(X: np.ndarray, Z: np.ndarray, points: list[GaussianPoint]) -> Iterator[tuple[np.ndarray, list[int]]]:
    """Yield for each gamma the kernel between the rows of X and Z, and the positions of its points.

    A kernel is overwritten by the next one, and the last one overwrites the distances.
    """
    squares = squared_distances(X, Z)
    gammas = list(dict.fromkeys(point.gamma for point in points))
    K = squares if len(gammas) == 1 else np.empty_like(squares)
    for gamma in gammas:
        K = squares if gamma == gammas[-1] else K
        np.multiply(squares, -gamma, out=K)
        yield np.exp(K, out=K), [i for i, point in enumerate(points) if point.gamma == gamma]


class GaussianPath(FittedPath):
    """The machines of all points."""

    _by_point = ("machines",)

    def __init__(self, points: list[GaussianPoint], machines: list[Machines], X: np.ndarray):
        self.points, self.machines, self.X = points, machines, X

    def answers(self, rows: np.ndarray, response: str) -> list[np.ndarray]:
        answers: list[Any] = [None] * len(self.points)
        for K, own in _kernels(rows, self.X, self.points):
            for i in own:
                machines = self.machines[i]
                answers[i] = answers_of(K @ machines.beta + machines.intercept, machines.n_classes, response)
        return answers

    def attributes(self) -> dict[str, Any]:
        return attributes_of(self.machines[0], self.X)


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
        return check_positive(parameters["C"], "C")

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

    _by_point = ("machines", "coef")
    not_saved = ("X",)

    def __init__(
        self, points: list[float], machines: list[Machines], coef: list[np.ndarray], X: np.ndarray | None, exponent: int
    ):
        self.points, self.machines, self.coef, self.X, self.exponent = points, machines, coef, X, exponent

    def answers(self, rows: np.ndarray, response: str) -> list[np.ndarray]:
        rows = np.ldexp(rows, -self.exponent)
        return [
            answers_of(rows @ coef + machines.intercept, machines.n_classes, response, ties="sums")
            for coef, machines in zip(self.coef, self.machines)
        ]

    def attributes(self) -> dict[str, Any]:
        machines = self.machines[0]
        # With more than two classes, the earlier class of a pair is the positive one in scikit-learn.
        sign = 1.0 if machines.n_classes == 2 else -1.0
        coef = sign * np.ldexp(self.coef[0].T, -self.exponent)
        return {"coef_": coef, **attributes_of(machines, self.X)}
