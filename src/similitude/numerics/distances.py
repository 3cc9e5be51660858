"""Squared Euclidean distances between many vectors."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

_NEAR = 1e-3
"""Below this share of ``|x|^2 + |z|^2`` a squared distance is computed by differences; others keep 12 digits."""
_MOST_NEAR = 0.05
"""If there are more such pairs, all distances are computed by differences."""
_ENTRIES = 2**20


def squared_distances(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return ``|x - z|^2`` between the rows of X and of Z.

    They are ``|x|^2 + |z|^2 - 2 x^T z``, from the centre of Z, where this loses few digits: for 3,200 vectors of 640
    numbers this takes an eighth of the time of differences.
    """
    centre = Z.mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        A = X - centre
        B = A if X is Z else Z - centre
        sizes = np.einsum("if,if->i", A, A)[:, None] + np.einsum("if,if->i", B, B)
        squares = A @ B.T
        squares *= -2
        squares += sizes
        sizes *= _NEAR
        rows, columns = np.nonzero(~(squares > sizes))  # also those that are no numbers
    if len(rows) > _MOST_NEAR * squares.size:
        return cdist(X, Z, "sqeuclidean")
    for some in np.array_split(np.arange(len(rows)), -(-len(rows) * X.shape[1] // _ENTRIES) or 1):
        differences = X[rows[some]] - Z[columns[some]]
        squares[rows[some], columns[some]] = np.einsum("if,if->i", differences, differences)
    return squares
