"""The selection of neighbours used throughout the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude._native import collect_best, offer
from similitude._utils.checks import check_integer
from similitude._utils.threads import over_row_blocks
from similitude.numerics._sparse_topk import sparse_top_k
from similitude.numerics.shared import once

_BLOCK_BYTES = 32 * 2**20
_MANY = 32
"""So many times as many columns as neighbours are searched with a heap."""


def check_n_neighbors(n_neighbors: Any) -> None:
    """Raise a ValueError unless ``n_neighbors`` is an integer of at least 1."""
    check_integer(n_neighbors, "n_neighbors", 1)


def top_k(S: Any, k: int, *, known_only: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the k most similar columns of each row.

    Equal similarities are in the order of the columns, so the lists are nested: the first j columns of the result for k
    are the result for j, and one call serves every k of a grid. The rows are read block by block, in threads, so that a
    memmap or a CSR matrix is never held completely in memory. Within ``shared_work()`` equal matrices are sorted once.
    """
    k = min(int(k), S.shape[1])
    if sparse.issparse(S):
        return sparse_top_k(S.tocsr(), k, known_only=known_only)
    if known_only:
        values, indices = _selected(np.where(np.isnan(S), -np.inf, S), k)
        unknown = values == -np.inf
        return np.where(unknown, np.nan, values), np.where(unknown, -1, indices)
    if not isinstance(S, np.ndarray) or isinstance(S, np.memmap):
        return _selected(S, k)
    values, indices = once("top_k", S, lambda S: _selected(S, k), fits=lambda answer: answer[0].shape[1] >= k)
    if values.flags.writeable:
        return values, indices
    # The result is shared, perhaps computed for a larger k; compiled code needs contiguous, writable arrays.
    return values[:, :k].copy(), indices[:, :k].copy()


def _selected(S: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    m, n = S.shape
    dtype = np.float32 if S.dtype == np.float32 else np.float64
    values = np.empty((m, k), dtype=dtype)
    indices = np.empty((m, k), dtype=np.intp)

    def work(start: int, stop: int) -> None:
        block = S[start:stop]
        indices[start:stop] = best = _best_columns(np.ascontiguousarray(block, dtype=dtype), k)
        values[start:stop] = np.take_along_axis(block, best, axis=1)

    rows = max(1, _BLOCK_BYTES // (8 * max(n, 1)))
    # Few rows are not worth a second thread; more rows are divided so that each of two threads gets a share.
    over_row_blocks(work, m, min(rows, max(256, -(-m // 2))))
    return values, indices


def _best_columns(block: np.ndarray, k: int) -> np.ndarray:
    # A heap finds few of many columns in one pass: the 16 best of 10,000 in a fifteenth of the time of what follows.
    # NumPy's vectorised selection finds the k-th value; of the columns that are tied with it, the first are taken.
    # Selecting, then sorting k instead of n values, takes a fourth to a sixth of the time of a stable full sort at
    # n = 900, k = 128 (`python -m benchmarks topk`).
    m, n = block.shape
    columns = np.full((m, k), n, dtype=np.intp)
    if _MANY * k <= n:
        offer(block, 0, np.full((m, k), -np.inf, dtype=block.dtype), columns)
        columns.sort(axis=1)
    elif k < n:
        thresholds = np.partition(block, n - k, axis=1)[:, n - k].copy()
        collect_best(block, thresholds, columns)
    else:
        columns[:] = np.arange(n)
    negative = -np.take_along_axis(block, columns, axis=1)
    order = np.argsort(negative, axis=1)
    ascending = np.take_along_axis(negative, order, axis=1)
    # Quicksort is not stable, so rows with ties are sorted again by a stable algorithm.
    tied = np.flatnonzero((ascending[:, 1:] == ascending[:, :-1]).any(axis=1))
    if tied.size:
        order[tied] = np.argsort(negative[tied], axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)
