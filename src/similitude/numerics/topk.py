"""The one neighbour selection of the package."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.threads import over_row_blocks
from similitude.numerics.shared import once

_BLOCK_BYTES = 32 * 2**20


def check_n_neighbors(n_neighbors: Any) -> None:
    """Refuse what is not an integer of at least 1."""
    if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be an integer of at least 1; got {n_neighbors!r}.")


def top_k(S, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k most similar columns of each row: ``(similarities, indices)``, both (m, k), nearest first.

    Equal similarities come in the order of the columns, so the lists are nested: the first j columns of the answer
    for k are the answer for j, and one call serves every k of a grid. Rows are read block by block (a memmap or a
    CSR matrix is never held whole in memory), in threads; k larger than the number of columns is cut to it. Within
    ``shared_work()`` equal matrices are sorted once.
    """
    k = min(int(k), S.shape[1])
    if not isinstance(S, np.ndarray) or isinstance(S, np.memmap):
        return _selected(S, k)
    values, indices = once("top_k", S, lambda S: _selected(S, k), fits=lambda answer: answer[0].shape[1] >= k)
    if values.flags.writeable:
        return values, indices
    # Shared, perhaps with a larger k: compiled code wants arrays in one piece that may be written to.
    return values[:, :k].copy(), indices[:, :k].copy()


def _selected(S, k):
    m, n = S.shape
    dtype = np.float32 if S.dtype == np.float32 else np.float64
    values = np.empty((m, k), dtype=dtype)
    indices = np.empty((m, k), dtype=np.intp)

    def work(start: int, stop: int) -> None:
        block = S[start:stop]
        block = block.toarray() if sparse.issparse(block) else block
        indices[start:stop] = best = _best_columns(np.asarray(block, dtype=dtype), k)
        values[start:stop] = np.take_along_axis(block, best, axis=1)

    rows = max(1, _BLOCK_BYTES // (8 * max(n, 1)))
    # Small jobs are not worth a thread; larger ones are cut so that every thread gets a share.
    over_row_blocks(work, m, min(rows, max(256, -(-m // 2))))
    return values, indices


def _best_columns(block: np.ndarray, k: int) -> np.ndarray:
    # NumPy's vectorised selection finds the k-th value; ties at it go to the earliest columns. Selecting, then sorting
    # k instead of n values, takes a fourth to a sixth of the time of a stable full sort at n = 900, k = 128
    # (`python -m benchmarks topk`).
    from similitude.numerics._topk_kernel import collect_best

    m, n = block.shape
    columns = np.empty((m, k), dtype=np.intp)
    if k < n:
        thresholds = np.partition(block, n - k, axis=1)[:, n - k]
        collect_best(block, thresholds, columns)
    else:
        columns[:] = np.arange(n)
    negative = -np.take_along_axis(block, columns, axis=1)
    order = np.argsort(negative, axis=1)
    ascending = np.take_along_axis(negative, order, axis=1)
    # The quick sort is not stable: rows with ties are sorted again by one that is.
    tied = np.flatnonzero((ascending[:, 1:] == ascending[:, :-1]).any(axis=1))
    if tied.size:
        order[tied] = np.argsort(negative[tied], axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)
