"""Pairs of samples that are in the right order within each row of similarities, and means by class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.threads import over_row_blocks

_BLOCK_BYTES = 32 * 2**20


def row_block(S: Any, start: int, stop: int) -> np.ndarray:
    """Return rows of a dense or sparse matrix, or of one on disk, as an array."""
    block = S[start:stop]
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def _over_blocks(work: Any, n: int) -> None:
    rows = max(1, _BLOCK_BYTES // (8 * n))
    # Threads do not pay off for small matrices; for others every thread gets a share.
    over_row_blocks(work, n, min(rows, max(64, -(-n // 4))))


def _by_row(S: Any, labels: np.ndarray, figure: Callable[..., float], dtype: type = np.float64) -> np.ndarray:
    """Return ``figure(row, own, other)`` of each sample x: its row, and where x' != x of its class and x'' are."""
    found: np.ndarray = np.empty(len(labels), dtype=dtype)

    def work(start: int, stop: int) -> None:
        for i, row in enumerate(row_block(S, start, stop), start):
            other = labels != labels[i]
            own = ~other
            own[i] = False
            found[i] = figure(row, own, other)

    _over_blocks(work, len(labels))
    return found


def count_wins(S: Any, labels: np.ndarray, smaller_is_closer: bool = False) -> np.ndarray:
    """Return for each sample x the number of pairs of an x' != x of its class and a farther x'' of another class.

    Both groups of a row are sorted and scanned once, which takes O(n log n) for a row. The numbers are integers, so
    that nothing is rounded.
    """

    def wins(row: np.ndarray, own: np.ndarray, other: np.ndarray) -> int:
        near, far = np.sort(row[own]), np.sort(row[other])
        if smaller_is_closer:
            return np.searchsorted(near, far, side="left").sum()
        return near.size * far.size - np.searchsorted(near, far, side="right").sum()

    return _by_row(S, labels, wins, np.int64)


def weighted_wins(
    S: Any, labels: np.ndarray, weights: np.ndarray, thresholds: np.ndarray, smaller_is_closer: bool = False
) -> np.ndarray:
    """Return the total weight of the pairs of :func:`count_wins`, divided by that of all pairs.

    The weight of a pair is the product of its two weights. The threshold of each class is added to the similarities to
    its samples. The result is NaN where the weight of all pairs is 0.
    """
    added = thresholds[labels]

    def share(row: np.ndarray, own: np.ndarray, other: np.ndarray) -> float:
        distances = (row if smaller_is_closer else -row) - added
        near, far = distances[own], distances[other]
        order = np.argsort(near)
        closer = np.concatenate([[0.0], np.cumsum(weights[own][order])])
        if not closer[-1] > 0:
            return np.nan
        won = weights[other] @ closer[np.searchsorted(near[order], far, side="left")]
        return won / (closer[-1] * weights[other].sum())

    # Because sums are added up in different orders, a quotient may exceed 1 in the last digit.
    return np.minimum(_by_row(S, labels, share), 1.0)


def needed_thresholds(S: Any, labels: np.ndarray, share: float, smaller_is_closer: bool = False) -> np.ndarray:
    """Return for each sample x the largest v with which too few pairs have ``s(x, x') - s(x, x'') + v > 0``.

    Pairs are too few if they are less than the share of all pairs of :func:`count_wins`. The result is NaN where there
    are none.
    """

    def needed(row: np.ndarray, own: np.ndarray, other: np.ndarray) -> float:
        if not own.any():
            return np.nan
        values = row.astype(np.float64) if smaller_is_closer else -row.astype(np.float64)
        with np.errstate(over="ignore"):
            differences = np.subtract.outer(values[own], values[other]).ravel()
        enough = max(int(np.ceil(share * differences.size - 1e-9)), 1)
        return np.partition(differences, enough - 1)[enough - 1]

    return _by_row(S, labels, needed)


def best_threshold(needed: np.ndarray, labels: np.ndarray) -> float:
    """Return the v for which most samples of class 1 have needed < v, and of class 0 needed < -v; the one nearest 0."""
    known = ~np.isnan(needed)
    below, above = np.sort(needed[(labels == 1) & known]), np.sort(-needed[(labels == 0) & known])
    limits = np.unique(np.concatenate([below, above]))
    limits = limits[np.isfinite(limits)]
    if not limits.size:
        return 0.0
    reach = max(abs(limits[0]), abs(limits[-1]))
    outer = limits[[0, -1]] + np.array([-1.0, 1.0]) * (reach or 1.0)
    candidates = np.concatenate([[0.0], outer, limits[1:] / 2 + limits[:-1] / 2])
    candidates = candidates[np.isfinite(candidates)]
    good = np.searchsorted(below, candidates, side="left") - np.searchsorted(above, candidates, side="right")
    best = candidates[good == good.max()]
    return float(best[np.argmin(np.abs(best))])


def largest_size(S: Any) -> float:
    """Return the largest ``|S_ij|`` of two different samples, or 1 if all are 0."""
    n, largest = S.shape[0], 0.0
    rows = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, n, rows):
        block = np.abs(row_block(S, start, min(start + rows, n)))
        block[np.arange(len(block)), start + np.arange(len(block))] = 0
        largest = max(largest, float(block.max()))
    return largest or 1.0


def class_sums(S: Any, labels: np.ndarray, weights: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row the weighted sums of ``S_ij / scale`` over its own class, without itself, and the rest."""
    n, n_classes = len(labels), int(labels.max()) + 1
    members = sparse.csr_matrix((weights, (labels, np.arange(n))), shape=(n_classes, n))
    own, other = np.empty(n), np.empty(n)

    def work(start: int, stop: int) -> None:
        block = row_block(S, start, stop).astype(np.float64) / scale
        rows = np.arange(len(block))
        block[rows, start + rows] = 0.0
        sums = np.asarray(members @ block.T).T
        mine = sums[rows, labels[start:stop]].copy()
        sums[rows, labels[start:stop]] = 0.0
        own[start:stop], other[start:stop] = mine, sums.sum(axis=1)

    _over_blocks(work, n)
    return own, other


def column_gaps(S: Any, labels: np.ndarray, scale: float) -> np.ndarray:
    """Return for each x' the mean of ``S(x, x') / scale`` over the other x of its class, minus that over the rest.

    The mean over an empty set is 0.
    """
    n, counts = len(labels), np.bincount(labels)
    own, other = np.zeros(n), np.zeros(n)
    rows = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, n, rows):
        block = row_block(S, start, min(start + rows, n)).astype(np.float64) / scale
        index = np.arange(len(block))
        block[index, start + index] = 0.0
        same = labels[start : start + len(block), None] == labels[None, :]
        own += np.sum(block, axis=0, where=same)
        other += np.sum(block, axis=0, where=~same)
    return own / np.maximum(counts[labels] - 1, 1) - other / np.maximum(n - counts[labels], 1)
