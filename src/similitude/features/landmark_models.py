"""Linear models of similarities to landmarks: ridge classification from moments, logistic regression, and the SVM.

Moments are computed for blocks of rows, added up in any order, and solved: :func:`block_moments` returns the moments of
a block, :func:`add` those of two sets of samples together (in a tree or one by one; up to rounding the order does not
matter), and :func:`solve` the solutions for any number of alphas. The memory does not grow with the number of samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from similitude.base import FittedPath
from similitude.numerics.nystroem import triangle
from similitude.one_vs_one import predicted
from similitude.reader import Rows
from similitude.transform.landmarks import ToLandmarks, row_blocks


class Moments(NamedTuple):
    """The second moments of similarities C to m landmarks, of the constant 1 and of G targets Y, as triangles.

    The moments themselves would have only half of the digits.
    """

    weighted: np.ndarray
    n_landmarks: int
    plain: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """The triangle of C without weights."""
        m = self.n_landmarks
        return self.weighted[:m, :m] if self.plain is None else self.plain

    @property
    def n_targets(self) -> int:
        """The number G of targets."""
        return len(self.weighted) - self.n_landmarks - 1


def block_moments(rows: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None) -> Moments:
    """Return the moments of a block of samples."""
    b, m = rows.shape
    whole = np.empty((b, m + 1 + targets.shape[1]), order="F")
    whole[:, :m], whole[:, m], whole[:, m + 1 :] = rows, 1.0, targets
    if weights is None:
        return Moments(triangle(whole, overwrite=True), m)
    plain = triangle(whole[:, :m])
    whole *= np.sqrt(weights)[:, None]
    return Moments(triangle(whole, overwrite=True), m, plain)


def add(first: Moments, second: Moments) -> Moments:
    """Return the moments of the union of two sets of samples."""
    weighted = triangle(second.weighted, first.weighted)
    if first.plain is None and second.plain is None:
        return Moments(weighted, first.n_landmarks)
    return Moments(weighted, first.n_landmarks, triangle(second.rows, first.rows))


def summed_moments(blocks: Iterable[np.ndarray], codes: np.ndarray, n_classes: int, weights: Any = None) -> Moments:
    """Return the moments of all samples."""
    moments: Any = None
    done = 0
    for block in blocks:
        for rows in row_blocks(len(block), max(block.shape[1], n_classes + 1)):  # classes may outnumber landmarks
            C = block[rows]
            own = slice(done, done + len(C))
            part = block_moments(C, np.eye(n_classes)[codes[own]], None if weights is None else weights[own])
            moments, done = part if moments is None else add(moments, part), own.stop
    return moments


def with_targets(moments: Moments, columns: np.ndarray, n_targets: int) -> Moments:
    """Return the moments with more targets: each is moved to its place in ``columns``, and the others are 0."""
    m = moments.n_landmarks
    wider = np.zeros((len(moments.weighted), m + 1 + n_targets))
    wider[:, : m + 1] = moments.weighted[:, : m + 1]
    wider[:, m + 1 + columns] = moments.weighted[:, m + 1 :]
    return moments._replace(weighted=triangle(wider))


class Linear(NamedTuple):
    """A linear function ``f(c) = c coef^T + intercept`` of similarities c to the landmarks."""

    coef: np.ndarray
    intercept: np.ndarray


def solve(moments: Moments, projection: np.ndarray, alphas: list[float]) -> list[Linear]:
    """Solve ridge regression of the targets on the features ``F = C projection``, for several alphas at once::

    minimise over B, b   sum_i w_i ||y_i - B^T f_i - b||^2 + alpha ||B||_F^2
    """
    m = len(projection)
    R = moments.weighted
    one, F, Y = R[:, m], R[:, :m] @ projection, R[:, m + 1 :]
    # In the basis of the triangle the constant is the vector `one`, and centring removes its direction.
    total = one @ one
    means, target_means = one @ F / total, one @ Y / total
    U, s, Vt = linalg.svd(F - np.outer(one, means), full_matrices=False, check_finite=False)
    kept = s > len(R) * np.finfo(np.float64).eps * np.max(s, initial=0.0)
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    shares = U.T @ (Y - np.outer(one, target_means))
    solutions = []
    for alpha in alphas:
        with np.errstate(over="ignore"):  # relative to very small features, any alpha is infinite
            B = Vt.T @ (shares / (s + alpha / s)[:, None])
        solutions.append(Linear((projection @ B).T, target_means - means @ B))
    return solutions


# The limits of C for features of size 1. Beyond them the model is that without a penalty, or without features.
_LEAST, _MOST = 1e-10, 1e10
_MAX_ITER = 1000


def features_in_place(C: np.ndarray, projection: np.ndarray) -> np.ndarray:
    """Return ``C projection`` in the memory of C, which has at least as many columns."""
    k = projection.shape[1]
    for rows in row_blocks(*C.shape):
        C[rows, :k] = C[rows] @ projection
    return C[:, :k]


def linear_models(
    model: str, F: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, values_of_C: list[float]
) -> list[Linear]:
    """Return the coefficients of the features and the intercepts for each C; F is scaled by a power of two in place."""
    exponent = math.frexp(float(max(F.max(), -F.min())))[1]
    np.ldexp(F, -exponent, out=F)
    solutions = []
    for C in values_of_C:
        with np.errstate(over="ignore", under="ignore"):
            own = float(np.clip(np.ldexp(C, 2 * exponent), _LEAST, _MOST))
        estimator: Any
        if model == "logistic":
            estimator = LogisticRegression(C=own, solver="newton-cg", tol=1e-8, max_iter=_MAX_ITER)
        else:
            estimator = LinearSVC(C=own, dual=False, tol=1e-6, max_iter=_MAX_ITER)
        estimator.fit(F, labels, sample_weight=weights)
        solutions.append(Linear(np.ldexp(estimator.coef_, -exponent), estimator.intercept_))
    return solutions


def probabilities(decisions: np.ndarray) -> np.ndarray:
    """Return the probabilities, (n, G), that belong to logistic decision values, (n,) or (n, G)."""
    if decisions.ndim == 2:
        return softmax(decisions, axis=1)
    later = expit(decisions)
    return np.column_stack([expit(-decisions), later])


class RidgeState(NamedTuple):
    """The state that ``partial_fit`` continues from: the moments of all samples so far, and the landmarks' matrix."""

    moments: Moments
    W: np.ndarray


NO_PROBABILITIES = "predict_proba needs model='logistic'."


class LandmarkPath(FittedPath):
    """The solutions at all points."""

    _by_point = ("solutions",)

    def __init__(
        self,
        points: list[float],
        to: ToLandmarks,
        solutions: list[Linear],
        eigenvalues: np.ndarray,
        model: str,
        state: RidgeState | None = None,
    ):
        self.points, self.to, self.solutions, self.eigenvalues = points, to, solutions, eigenvalues
        self.model, self.state = model, state

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        if response == "predict_proba" and self.model != "logistic":
            raise AttributeError(NO_PROBABILITIES)
        # There is one pass over the rows for all points.
        coef = np.concatenate([solution.coef for solution in self.solutions]).T
        values = np.concatenate([C @ coef for _, C in self.to.blocks(rows)])
        parts = np.split(values, len(self.solutions), axis=1)
        scores = [part + solution.intercept for part, solution in zip(parts, self.solutions)]
        decisions = [values[:, 0] if values.shape[1] == 1 else values for values in scores]
        if response == "decision_function":
            return decisions
        return [predicted(values) if response == "predict" else probabilities(values) for values in decisions]

    def attributes(self) -> dict[str, Any]:
        coef, intercept = self.solutions[0]
        return {"coef_": coef, "intercept_": intercept, "eigenvalues_": self.eigenvalues}

    @property
    def columns(self) -> np.ndarray:
        return self.to.positions
