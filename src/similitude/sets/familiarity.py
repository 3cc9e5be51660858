"""Whether a sample belongs to any of the known classes, by its similarities alone.

There are two scores: one for similarities in general, and one for those of which most are zero, such as hits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.types import ColumnPositions
from similitude.numerics.topk import top_k
from similitude.reader import Rows, Training
from similitude.sets.typicality import BLOCK, dense_rows, is_sparse, native_rows, rows_of, sign_of, training_evidence

NEIGHBOURS = 3
COLUMNS = 256
"""The largest number of columns in which rows are compared, if they are."""
MOST_DENSE = 5_000
"""The largest number of samples whose rows are compared as a whole if some of a sparse matrix are unknown."""

_DIGITS = 10


class Hits(NamedTuple):
    """The positive similarities of samples to training samples: rows, columns, values."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def are_hits(training: Training) -> bool:
    """Return whether most similarities are 0, none is negative or unknown, and rows cannot be compared as a whole.

    Of a sparse matrix with more than ``MOST_DENSE`` samples most may also be unknown.
    """
    n, positive = len(training), 0
    stored = sparse.issparse(getattr(training.native, "values", None))
    if n <= COLUMNS or (training.unknown and not (stored and n > MOST_DENSE)) or sign_of(training) < 0:
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

    If a ``width`` is given, all known similarities s are looked at, as ``exp(s / width)``: the score is then the mean
    of ``(s(x, j) - a_j) / width``, as in :class:`LocalDensity`.
    """

    scales: np.ndarray
    known: np.ndarray
    width: float | None = None

    @classmethod
    def learn(cls, training: Training, codes: np.ndarray, width: float | None = None) -> RelativeFamiliarity:
        """Return the familiarity that is learned from training samples."""
        n = len(training)
        hits = _hits(training, n, width)
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
        return cls(scales, np.sort(scores[~np.isnan(scores)]), width)

    def of_rows(self, rows: Rows) -> np.ndarray:
        """Return the p-values of new samples."""
        hits = _hits(rows, len(self.scales), self.width)
        scores = _scores(hits, hits.values / self.scales[hits.columns], len(rows))
        p_values = (1 + np.searchsorted(self.known, scores, side="right")) / (1 + len(self.known))
        return np.where(np.isnan(scores) | ~rows.evidence, np.nan, p_values)


def _hits(samples: Training | Rows, n: int, width: float | None = None) -> Hits:
    found: list[tuple[np.ndarray, ...]] = []
    for rows, block in native_rows(samples, n):
        block = sparse.csr_matrix(block)
        values = block.data if width is None else np.exp(block.data / width)
        positive = values > 0
        found.append((rows.start + rows_of(block)[positive], block.indices[positive], values[positive]))
    return Hits(*(np.concatenate(part) for part in zip(*found)))


def _largest(training: Training) -> float:
    """Return the largest absolute value of the known similarities, 1 if all are 0."""
    blocks = (sparse.csr_matrix(block).data for _, block in native_rows(training, len(training)))
    return max(float(np.abs(values).max(initial=0.0)) for values in blocks) or 1.0


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


@dataclass(frozen=True)
class LocalDensity:
    """How near the nearest samples are, compared with how near these are to their own class.

    With j = 1, ..., k the nearest training samples of x, of any class, and a_j the largest similarity of j to the
    others of its class, the score of x is the mean of ``s(x, j) - a_j``.
    """

    nearest: np.ndarray
    known: np.ndarray

    @classmethod
    def learn(cls, blocks: Callable[[], Iterator[tuple[slice, np.ndarray]]], codes: np.ndarray) -> LocalDensity:
        """Return the scores of the training samples."""
        n = len(codes)
        first, second, neighbour = np.full(n, -np.inf), np.full(n, -np.inf), np.zeros(n, dtype=np.intp)
        for rows, block in blocks():
            places = np.arange(rows.start, rows.stop)
            block[codes[places][:, None] != codes] = -np.inf
            block[np.arange(len(places)), places] = -np.inf
            neighbour[rows] = np.argmax(block, axis=1)
            first[rows] = block[np.arange(len(places)), neighbour[rows]]
            block[np.arange(len(places)), neighbour[rows]] = -np.inf
            second[rows] = block.max(axis=1)
        # A sample without others of its class is treated like the one that is farthest from its own class.
        lowest = np.min(first, where=np.isfinite(first), initial=np.inf)
        first = np.where(np.isfinite(first), first, lowest if np.isfinite(lowest) else 0.0)
        second = np.where(np.isfinite(second), second, first.min())
        known = np.empty(n)
        for rows, block in blocks():
            places = np.arange(rows.start, rows.stop)
            block[np.arange(len(places)), places] = -np.inf
            values, near = top_k(block, min(NEIGHBOURS, n - 1))
            # If the left-out sample was a neighbour's nearest, its second nearest is used.
            own = np.where(neighbour[near] == places[:, None], second[near], first[near])
            known[rows] = np.mean(values - own, axis=1)
        return cls(first, known)

    def scores(self, block: np.ndarray) -> np.ndarray:
        """Return the standardised scores of new samples."""
        values, near = top_k(block, min(NEIGHBOURS, block.shape[1] - 1))
        return self.standardised(np.mean(values - self.nearest[near], axis=1))

    def standardised(self, scores: np.ndarray) -> np.ndarray:
        """Return scores minus their median, divided by their mean deviation from it, over the training samples."""
        middle = np.median(self.known)
        deviation = np.mean(np.abs(self.known - middle))
        return (scores - middle) / (deviation if deviation > 0 else 1.0)


@dataclass(frozen=True)
class Familiarity:
    """The p-value of the hypothesis that x belongs to one of the classes.

    Two scores of :class:`LocalDensity` are used: that of the similarities, and that of the correlation between rows of
    similarities, which is large for samples that resemble the same samples. Each is standardised, and their sum is
    compared with those of the training samples. Unknown pairs count as far apart.
    """

    farthest: float
    columns: ColumnPositions
    profiles: np.ndarray
    direct: LocalDensity
    by_rows: LocalDensity
    known: np.ndarray

    @classmethod
    def learn(cls, training: Training, codes: np.ndarray) -> Familiarity:
        """Return the familiarity that is learned from training samples."""
        n = len(training)
        farthest = _farthest(training) if training.unknown or training.reader.absent == "farthest" else np.inf
        columns = np.unique(np.linspace(0, n - 1, min(n, COLUMNS)).astype(np.intp))
        profiles = np.empty((n, len(columns)))

        def given() -> Iterator[tuple[slice, np.ndarray]]:
            return ((rows, _known_or(farthest, block)) for rows, block in dense_rows(training, n))

        for rows, block in given():
            places, farthest = np.arange(rows.start, rows.stop), min(farthest, float(block.min()))
            # A new sample has no similarity to itself in its row, so that of the nearest takes its place.
            block[np.arange(len(places)), places] = -np.inf
            block[np.arange(len(places)), places] = block.max(axis=1)
            profiles[rows] = _standardised(block[:, columns])

        def of_rows() -> Iterator[tuple[slice, np.ndarray]]:
            step = max(1, BLOCK // n)
            for start in range(0, n, step):
                rows = slice(start, min(start + step, n))
                yield rows, profiles[rows] @ profiles.T

        direct, by_rows = LocalDensity.learn(given, codes), LocalDensity.learn(of_rows, codes)
        both = direct.standardised(direct.known) + by_rows.standardised(by_rows.known)
        return cls(farthest, columns, profiles, direct, by_rows, np.sort(both[training_evidence(training)]))

    def of_rows(self, rows: Rows) -> np.ndarray:
        """Return the p-values of new samples."""
        found = np.empty(len(rows))
        for part, block in dense_rows(rows, len(self.profiles)):
            block = _known_or(self.farthest, block)
            second = _standardised(block[:, self.columns]) @ self.profiles.T
            both = self.direct.scores(block) + self.by_rows.scores(second)
            found[part] = (1 + np.searchsorted(self.known, both, side="right")) / (1 + len(self.known))
        found[~rows.evidence] = np.nan
        return found


def learned_familiarity(training: Training, codes: np.ndarray) -> Familiarity | RelativeFamiliarity:
    """Return the familiarity that suits the similarities: relative to those within the classes if most are 0.

    Of many samples of which only some pairs are known, these alone are compared.
    """
    if are_hits(training):
        return RelativeFamiliarity.learn(training, codes)
    if training.unknown and len(training) > MOST_DENSE and is_sparse(training):
        return RelativeFamiliarity.learn(training, codes, _largest(training))
    return Familiarity.learn(training, codes)


def _farthest(training: Training) -> float:
    """Return the smallest known value, 0 if none is known."""
    blocks = (block for _, block in dense_rows(training, len(training)))
    lowest = min(float(block.min(where=np.isfinite(block), initial=np.inf)) for block in blocks)
    return lowest if np.isfinite(lowest) else 0.0


def _known_or(value: float, block: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(block), block, value)


def _standardised(rows: np.ndarray) -> np.ndarray:
    """Return rows with mean 0 and length 1; constant rows become 0."""
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    rows = rows / np.where(largest > 0, largest, 1.0)
    rows = rows - rows.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 1e-12, lengths, 1.0)
