"""The pairs of samples that are neighbours of the same row."""

from __future__ import annotations

import numpy as np
from scipy import sparse

PAIRS_AT_ONCE = 2**18


def pair_blocks(m: int, k: int) -> list[slice]:
    """Return slices of m rows that are so small that the pairs among their k neighbours take little memory."""
    step = max(1, PAIRS_AT_ONCE // k**2)
    return [slice(start, start + step) for start in range(0, max(m, 1), step)]


def pairs_among(indices: np.ndarray, n: int) -> np.ndarray:
    """Return the pairs (i, j) of samples in the same row of ``indices`` as sorted numbers i n + j."""
    wide = indices.astype(np.int64)
    return np.unique(wide[:, :, None] * n + wide[:, None, :])


def matrix_of_pairs(pairs: np.ndarray, values: np.ndarray, n: int) -> sparse.csr_matrix:
    """Return a matrix with the entries of these pairs only."""
    left, right = np.divmod(pairs, n)
    starts = np.append(0, np.cumsum(np.bincount(left, minlength=n)))
    matrix = sparse.csr_matrix((values, right, starts), shape=(n, n))
    matrix.has_canonical_format = True
    return matrix
