"""The selection of neighbours in a CSR matrix, in time and memory proportional to its entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude._utils.threads import over_row_blocks

_BLOCK = 2**20


def sparse_top_k(S: Any, k: int, *, known_only: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the k most similar columns of each row of a CSR matrix, as ``top_k`` does."""
    S = type(S)((S.data, S.indices, S.indptr), shape=S.shape)  # the caller's matrix is left as it is
    if not S.has_canonical_format:
        S = S.copy()
        S.sum_duplicates()
    m = S.shape[0]
    values = np.full((m, k), np.nan, dtype=np.float32 if S.dtype == np.float32 else np.float64)
    indices = np.full((m, k), -1, dtype=np.intp)

    def work(start: int, stop: int) -> None:
        ends = S.indptr[start : stop + 1]
        data, columns = S.data[ends[0] : ends[-1]], S.indices[ends[0] : ends[-1]]
        lengths = np.diff(ends)
        rows = np.repeat(np.arange(stop - start), lengths)
        order = np.lexsort((-data, rows))  # stable, so that equal values stay in the order of the columns
        ranks = np.arange(len(data)) - np.repeat(ends[:-1] - ends[0], lengths)
        best = ranks < k if known_only else (ranks < k) & (data[order] > 0)
        values[start:stop][rows[best], ranks[best]] = data[order[best]]
        indices[start:stop][rows[best], ranks[best]] = columns[order[best]]
        if known_only:
            return
        for i in np.flatnonzero(np.bincount(rows[best], minlength=stop - start) < k).tolist():
            part = slice(ends[i] - ends[0], ends[i + 1] - ends[0])
            _with_zeros(data[part], columns[part], S.shape[1], values[start + i], indices[start + i])

    over_row_blocks(work, m, max(1, _BLOCK // max(1, S.nnz // max(m, 1))))
    return values, indices


def _with_zeros(data: np.ndarray, columns: np.ndarray, n: int, values: np.ndarray, indices: np.ndarray) -> None:
    """Add to the positive entries of a row, which are in place, its zeros in the order of columns, then the others."""
    k, nonzero = len(values), data != 0
    data, columns = data[nonzero], columns[nonzero]
    found = int(np.count_nonzero(data > 0))
    among = np.ones(min(n, k + len(columns)), dtype=bool)
    among[columns[columns < len(among)]] = False
    zeros = np.flatnonzero(among)[: k - found]
    stop = found + len(zeros)
    values[found:stop], indices[found:stop] = 0, zeros
    negative = np.flatnonzero(data < 0)
    last = negative[np.argsort(-data[negative], kind="stable")][: k - stop]
    values[stop:], indices[stop:] = data[last], columns[last]
