"""Whether a sample belongs to any of the known classes, by similarities of which most are zero, such as hits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from similitude.reader import Rows, Training
from similitude.sets.native_rows import native_rows, rows_of, sign_of

NEIGHBOURS = 3
COLUMNS = 256
"""The largest number of columns in which rows are compared, if they are."""

_DIGITS = 10


class Hits(NamedTuple):
    """The positive similarities of samples to training samples: rows, columns, values."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def are_hits(training: Training) -> bool:
    """Return whether most similarities are 0, none is negative or unknown, and rows cannot be compared as a whole."""
    n, positive = len(training), 0
    if n <= COLUMNS or training.unknown or sign_of(training) < 0:
        return False
    for rows, block in native_rows(training, n):
        values = block.data if sparse.issparse(block) else block
        if np.any(values < 0):
            return False
        own = np.asarray(block[np.arange(block.shape[0]), np.arange(rows.start, rows.stop)]).ravel()
        positive += int(np.count_nonzero(values)) - int(np.count_nonzero(own))
    return positive < n * (n - 1) / 2


@dataclass(frozen=True)
class RelativeFamiliarity:
    """P-values for belonging to any class, by the logarithms of similarities relative to those within the classes.

    With j = 1, ..., k the nearest training samples of x (k = 3, or the number of those with a positive similarity), and
    a_j the largest similarity of j to the others of its class, the score of x is the mean of ``log s(x, j) / a_j``. It
    is compared with those of the training samples, each without itself. If no other sample of its class is similar to
    j, a_j is its self-similarity; if that is not known, the smallest of the others. Samples that are equally similar
    share the last places. Only positive similarities are looked at.
    """

    _saved_state = {"scales": "real[n]", "known": "real[.t]"}

    scales: np.ndarray
    known: np.ndarray

    @classmethod
    def learn(cls, training: Training, codes: np.ndarray) -> RelativeFamiliarity:
        """Return the familiarity that is learned from training samples."""
        n = len(training)
        hits = _hits(training, n)
        alone = hits.rows == hits.columns
        own = np.zeros(n)
        own[hits.rows[alone]] = hits.values[alone]
        hits = Hits(*(part[~alone] for part in hits))
        first, second, nearest = _within_classes(hits, codes)
        lowest = np.min(first, where=first > 0, initial=np.inf)
        otherwise = np.where(own > 0, own, lowest if np.isfinite(lowest) else 1.0)
        scales, left_out = (np.where(best > 0, best, otherwise) for best in (first, second))
        # If the left-out sample was a neighbour's nearest, its second nearest is used.
        left = nearest[hits.columns] == hits.rows
        relative = hits.values / np.where(left, left_out[hits.columns], scales[hits.columns])
        scores = _scores(hits, relative, n)
        return cls(scales, np.sort(scores[~np.isnan(scores)]))

    def of_rows(self, rows: Rows) -> np.ndarray:
        """Return the p-values of new samples."""
        hits = _hits(rows, len(self.scales))
        scores = _scores(hits, hits.values / self.scales[hits.columns], len(rows))
        p_values = (1 + np.searchsorted(self.known, scores, side="right")) / (1 + len(self.known))
        return np.where(np.isnan(scores) | ~rows.evidence, np.nan, p_values)


def _hits(samples: Training | Rows, n: int) -> Hits:
    found: list[tuple[np.ndarray, ...]] = []
    for rows, block in native_rows(samples, n):
        block = sparse.csr_matrix(block)
        positive = block.data > 0
        found.append((rows.start + rows_of(block)[positive], block.indices[positive], block.data[positive]))
    return Hits(*(np.concatenate(part) for part in zip(*found)))


def _within_classes(hits: Hits, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the largest and the second largest similarity of each sample to its own class, and the nearest sample."""
    n = len(codes)
    own = codes[hits.rows] == codes[hits.columns]
    rows, columns, values = (part[own] for part in hits)
    order = np.lexsort((-values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
    first, second, nearest = np.zeros(n), np.zeros(n), np.full(n, -1)
    first[rows[rank == 0]], nearest[rows[rank == 0]] = values[rank == 0], columns[rank == 0]
    second[rows[rank == 1]] = values[rank == 1]
    return first, second, nearest


def _scores(hits: Hits, relative: np.ndarray, m: int) -> np.ndarray:
    """Return the mean logarithm of the relative similarities of the nearest samples; NaN without any."""
    counts = np.bincount(hits.rows, minlength=m)
    wanted = np.minimum(counts, NEIGHBOURS)
    order = np.lexsort((-hits.values, hits.rows))
    starts = np.cumsum(counts) - counts
    some = counts > 0
    last = np.zeros(m)
    last[some] = hits.values[order[(starts + wanted - 1)[some]]]
    nearer, equal = hits.values > last[hits.rows], hits.values == last[hits.rows]
    tied = np.maximum(np.bincount(hits.rows[equal], minlength=m), 1)
    shares = (wanted - np.bincount(hits.rows[nearer], minlength=m)) / tied
    weights = nearer + np.where(equal, shares[hits.rows], 0.0)
    totals = np.bincount(hits.rows, weights * np.log(relative), minlength=m)
    # Equal scores stay equal if they were added in another order.
    return np.where(some, np.round(totals / np.maximum(wanted, 1), _DIGITS), np.nan)
