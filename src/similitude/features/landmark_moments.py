"""Ridge classification from moments, which are computed for blocks of rows, added up in any order, and solved.

:func:`block_moments` returns the moments of a block, :func:`add` those of two sets of samples together (in a tree or
one by one; up to rounding the order does not matter), and :func:`solve` the solutions for any number of alphas. The
memory does not grow with the number of samples.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from similitude.numerics.nystroem import triangle
from similitude.transform.landmarks import row_blocks


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

    @staticmethod
    def _saved_state() -> dict[str, str]:
        return {
            "weighted": "double[.q, .q]",
            "n_landmarks": "size landmarks",
            "plain": "None | double[landmarks, landmarks]",
        }


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

    @staticmethod
    def _saved_state() -> dict[str, str]:
        return {"coef": "double[scores, landmarks]", "intercept": "double[scores]"}


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
