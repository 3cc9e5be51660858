"""The selection of neighbours used throughout the package, in dense and in sparse matrices, and ties among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude._native import collect_best, offer, tied_classes
from similitude._utils.checks import check_integer
from similitude._utils.threads import over_row_blocks
from similitude.numerics.class_columns import columns_of
from similitude.numerics.shared import once
from similitude.numerics.votes import neighbor_votes, weighting_votes

_BLOCK_BYTES = 32 * 2**20
_SPARSE_BLOCK = 2**20
_MANY = 32
"""So many times as many columns as neighbours are searched with a heap."""


def check_n_neighbors(n_neighbors: Any) -> int:
    """Return ``n_neighbors``; raise a ValueError unless it is an integer of at least 1."""
    check_integer(n_neighbors, "n_neighbors", 1)
    return int(n_neighbors)


def top_k(S: Any, k: int, *, known_only: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return the k most similar columns of each row.

    Equal similarities are in the order of the columns, so the lists are nested: the first j columns of the result for k
    are the result for j, and one call serves every k of a grid. The rows are read block by block, in threads, so that a
    memmap or a CSR matrix is never held completely in memory. Within ``shared_work()`` equal matrices are sorted once.
    """
    k = min(int(k), S.shape[1])
    if sparse.issparse(S):
        return _sparse_top_k(S.tocsr(), k, known_only=known_only)
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
    # Selecting, then sorting k instead of n values, takes a seventh of the time of a stable full sort at n = 900,
    # k = 128 (`python -m benchmarks topk`).
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


def _sparse_top_k(S: Any, k: int, *, known_only: bool = False) -> tuple[np.ndarray, np.ndarray]:
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
        few = np.flatnonzero(np.bincount(rows[best], minlength=stop - start) < k)
        if not len(few):
            return
        listed = np.isin(rows, few)
        if np.any(data[listed] <= 0):
            for i in few.tolist():
                part = slice(ends[i] - ends[0], ends[i + 1] - ends[0])
                _with_zeros(data[part], columns[part], S.shape[1], values[start + i], indices[start + i])
            return
        place = np.searchsorted(few, rows[listed])
        _with_first_zeros(few, place, columns[listed], S.shape[1], values[start:stop], indices[start:stop])

    over_row_blocks(work, m, max(1, _SPARSE_BLOCK // max(1, S.nnz // max(m, 1))))
    return values, indices


def _with_first_zeros(
    few: np.ndarray, rows: np.ndarray, columns: np.ndarray, n: int, values: np.ndarray, indices: np.ndarray
) -> None:
    """Do as :func:`_with_zeros` for the rows ``few``, whose entries ``columns`` in the rows few[rows] are positive."""
    k = values.shape[1]
    found = np.bincount(rows, minlength=len(few))
    width = min(n, k + int(found.max()))
    step = max(1, _SPARSE_BLOCK // width)
    for start in range(0, len(few), step):
        own = slice(start, start + step)
        part = slice(*np.searchsorted(rows, [start, start + step]).tolist())
        free = np.ones((len(few[own]), width), dtype=bool)
        near = columns[part] < width
        free[rows[part][near] - start, columns[part][near]] = False
        rank = np.cumsum(free, axis=1)
        places, zeros = np.nonzero(free & (rank <= (k - found[own])[:, None]))
        at = few[own][places], found[own][places] + rank[places, zeros] - 1
        values[at], indices[at] = 0, zeros


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


def tied_counts(S: Any, values: np.ndarray, codes: np.ndarray, n_classes: int, *, known_only: bool) -> np.ndarray:
    """Return how many columns of each class are equal to the value of their row, (m, G), in O(stored entries).

    Entries that a sparse matrix does not store are unknown with ``known_only``, and otherwise 0.
    """
    if not sparse.issparse(S):
        counts = np.zeros((S.shape[0], n_classes))
        S = np.asarray(S, dtype=np.float32 if S.dtype == np.float32 else np.float64)
        tied_classes(S, np.ascontiguousarray(values, dtype=S.dtype), codes, counts)
        return counts
    rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    absent_tied = (values == 0) & (not known_only)
    # Absent entries that are tied are all that there are less those with another value.
    counted = np.where(absent_tied[rows], S.data != 0, S.data == values[rows])
    places = rows[counted] * n_classes + codes[S.indices[counted]]
    counts = np.bincount(places, minlength=S.shape[0] * n_classes).reshape(-1, n_classes).astype(float)
    return np.where(absent_tied[:, None], np.bincount(codes, minlength=n_classes) - counts, counts)


def tied_counts_in(S: Any, values: np.ndarray, codes: np.ndarray, own: np.ndarray, *, known_only: bool) -> np.ndarray:
    """Return the counts of :func:`tied_counts` in a CSR matrix, of some classes of each row and of all others together.

    ``own`` (m, c) are these classes, or -1.
    """
    m, c = own.shape
    rows = np.repeat(np.arange(m), np.diff(S.indptr))
    absent_tied = (values == 0) & (not known_only)
    counted = np.where(absent_tied[rows], S.data != 0, S.data == values[rows])
    rows = rows[counted]
    columns = columns_of(codes[S.indices[counted]][:, None], own[rows])[:, 0]
    counts = np.bincount(rows * (c + 1) + columns, minlength=m * (c + 1)).reshape(m, c + 1).astype(float)
    sizes = np.where(own >= 0, np.bincount(codes, minlength=int(own.max(initial=0)) + 1)[np.maximum(own, 0)], 0)
    everywhere = np.column_stack([sizes, len(codes) - sizes.sum(axis=1)])
    return np.where(absent_tied[:, None], everywhere - counts, counts)


def listed_counts(chosen: np.ndarray, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many of the chosen neighbours, a mask of shape (m, k) or (m, J, k), belong to each class."""
    masks = chosen if chosen.ndim == 3 else chosen[:, None]
    found = weighting_votes(np.ascontiguousarray(classes, dtype=np.intp), masks.astype(float), n_classes)
    return found if chosen.ndim == 3 else found[:, 0]


def run_ends(similarities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the run of equal values around each place of a sorted row starts, and where it stops."""
    m, k = similarities.shape
    places = np.broadcast_to(np.arange(k), (m, k))
    changes = similarities[:, 1:] != similarities[:, :-1]
    edge = np.ones((m, 1), dtype=bool)
    starts = np.maximum.accumulate(np.where(np.hstack([edge, changes]), places, 0), axis=1)
    last = np.where(np.hstack([changes, edge]), places + 1, k)
    return starts, np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]


def taken_sizes(similarities: np.ndarray, sizes: np.ndarray, n: int) -> np.ndarray:
    """Return how many neighbours a local problem of each size takes, (m, sizes), so that it splits no tie.

    ``similarities`` (m, K) are those of the nearest of n samples, where K is n or more than twice the largest size. All
    that tie for the last place are taken if they then are at most twice the size, and otherwise none of them. 0 means
    that there is no neighbourhood: all n samples are equally similar, or too many are the most similar.
    """
    starts, stops = run_ends(similarities)
    starts, stops = starts[:, sizes - 1], stops[:, sizes - 1]
    return np.where((stops <= 2 * sizes) & (stops - starts < n), stops, starts)


def nearest_of_class(closeness: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the closeness and the columns of the nearest samples of a class, and how many each size takes.

    They have the shapes (m, k), (m, k) and (m, sizes). Ties are as in :func:`taken_sizes`; if that leaves no sample,
    all that tie for the first place are taken.
    """
    n = closeness.shape[1]
    values, nearest = top_k(closeness, min(2 * int(sizes[-1]) + 1, n))
    taken = taken_sizes(values, sizes, n + 1)
    if not taken.all():
        values, nearest = top_k(closeness, n)
        taken = np.where(taken == 0, run_ends(values)[1][:, :1], taken)
    width = int(taken.max())
    return values[:, :width], np.ascontiguousarray(nearest[:, :width]), np.ascontiguousarray(taken)


def nearest_votes(
    closeness: np.ndarray, sizes: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the closeness and the classes of the nearest columns, (m, k), and their votes by class, (m, sizes, G)."""
    values, nearest = top_k(closeness, int(sizes[-1]))
    classes, last = codes[nearest], values[:, -1]
    beyond = tied_counts(closeness, last, codes, n_classes, known_only=True)
    beyond -= listed_counts(values == last[:, None], classes, n_classes)
    return values, classes, neighbor_votes(classes, values, np.ones(values.shape), beyond, sizes)
