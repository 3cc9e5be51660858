"""The columns of answers: one for each class or, if there are many, for the classes that have evidence in each row.

Samples with hits resemble samples of a few classes, and a method gives all other classes about the same value. With
many samples and classes only the values of some classes are kept for each sample, and one value for all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

KEPT = 15
"""The number of classes of each sample that have a column of their own, if not all have one."""
LARGEST = 2**20
"""The largest number of samples times classes for which all classes have columns."""
_BLOCK = 2**22


@dataclass(frozen=True)
class ClassColumns:
    """Which class each column of the answers for some samples stands for.

    ``own`` (n, k) are the positions of the classes that have a column in each row; the last column then holds the mean
    value of the other classes. If it is None, there is a column for each class, the same in all rows.
    """

    n_classes: int
    own: np.ndarray | None = None

    @property
    def counts(self) -> np.ndarray | None:
        """The number of classes that each column stands for; None if each stands for one."""
        if self.own is None:
            return None
        return np.append(np.ones(self.own.shape[1]), float(self.n_classes - self.own.shape[1]))

    @property
    def number(self) -> int:
        """The number of columns."""
        return self.n_classes if self.own is None else self.own.shape[1] + 1

    def at(self, samples: Any) -> Self:
        """Return the columns of some of the samples."""
        return self if self.own is None else replace(self, own=self.own[samples])

    def codes(self, classes: np.ndarray) -> np.ndarray:
        """Return the columns of the given class of each sample."""
        if self.own is None:
            return classes
        same = self.own == classes[:, None]
        return np.where(same.any(axis=1), np.argmax(same, axis=1), self.own.shape[1])

    def classes(self, columns: np.ndarray) -> np.ndarray:
        """Return the class of a column of each sample, which must not be the last one."""
        return columns if self.own is None else self.own[np.arange(len(columns)), columns]

    def taken(self, values: np.ndarray) -> np.ndarray:
        """Return values (m, G) of all classes in columns; those of the others are averaged if they are finite."""
        if self.own is None:
            return values
        rows = np.arange(len(values))[:, None]
        found = np.empty((len(values), self.own.shape[1] + 1), dtype=values.dtype)
        found[:, :-1] = values[rows, self.own]
        known = np.isfinite(values)
        if known.all():
            total, count = values.sum(axis=1, dtype=np.float64), np.full(len(values), values.shape[1])
            count -= self.own.shape[1]
        else:
            total, count = np.sum(values, axis=1, where=known, dtype=np.float64), known.sum(axis=1)
            count -= known[rows, self.own].sum(axis=1)
        kept = np.where(np.isfinite(found[:, :-1]), found[:, :-1], 0.0).sum(axis=1, dtype=np.float64)
        rest = np.where(count > 0, (total - kept) / np.maximum(count, 1), -np.inf)
        # The difference of two sums is exact only up to rounding: a mean of values lies between them.
        lowest = np.min(values, axis=1, where=known, initial=np.inf)
        found[:, -1] = np.where(count > 0, np.maximum(rest, lowest), rest)
        return found

    def all(self, values: np.ndarray) -> np.ndarray:
        """Return values (..., m, columns) with a column for each class."""
        if self.own is None:
            return values
        found = np.repeat(values[..., -1:], self.n_classes, axis=-1)
        np.put_along_axis(
            found, np.broadcast_to(self.own, (*values.shape[:-1], self.own.shape[1])), values[..., :-1], -1
        )
        return found


def columns_of(classes: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the columns of classes (m, k): those in the rows of ``own`` (m, c) have one each, all others the last."""
    columns = np.full(classes.shape, own.shape[1], dtype=np.intp)
    for j, each in enumerate(own.T):
        columns[classes == each[:, None]] = j
    return columns


def too_many(n: int, n_classes: int) -> bool:
    """Return whether there are too many samples and classes for answers with a column for each class."""
    return n_classes > 2 * KEPT and n * n_classes > LARGEST


def class_columns(S: Any, codes: np.ndarray, n_classes: int, *, smaller: bool = False) -> ClassColumns:
    """Return the columns of all samples: of each the classes of the samples that it resembles most, itself left out.

    Places that are left go to the largest classes. The columns of a sample are in the order of the classes' sizes.
    ``smaller`` is whether smaller values of S mean more alike.
    """
    n = S.shape[0]
    if not too_many(n, n_classes) or S.shape[1] != n:
        return ClassColumns(n_classes)
    by_size = np.argsort(-np.bincount(codes, minlength=n_classes), kind="stable")
    own = np.empty((n, KEPT), dtype=np.int32)
    step = max(1, _BLOCK // n_classes) if sparse.issparse(S) else max(1, _BLOCK // n)
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        own[rows] = _nearest_classes(S[rows], rows.start, codes, by_size, -1.0 if smaller else 1.0)
    return ClassColumns(n_classes, own)


def _nearest_classes(S: Any, first: int, codes: np.ndarray, by_size: np.ndarray, sign: float) -> np.ndarray:
    """Return the nearest classes of the samples of a block of rows; of those that are equally near the larger ones."""
    if sparse.issparse(S):
        block = S.tocsr()
        rows, columns = np.repeat(np.arange(S.shape[0]), np.diff(block.indptr)), block.indices
        values = sign * block.data
    else:
        rows, columns = (part.ravel() for part in np.indices(S.shape))
        values = sign * np.asarray(S, dtype=float).ravel()
    used = (rows + first != columns) & ~np.isnan(values)
    place = np.empty(len(by_size), dtype=np.intp)
    place[by_size] = np.arange(len(by_size))
    rows, ranks, values = rows[used], place[codes[columns[used]]], values[used]
    order = np.lexsort((ranks, -values, rows))
    rows, ranks = rows[order], ranks[order]
    # The first entry of each class in each row is its nearest sample.
    _, nearest = np.unique(rows * len(by_size) + ranks, return_index=True)
    nearest.sort()
    rows, ranks = rows[nearest], ranks[nearest]
    number = np.arange(len(rows)) - np.searchsorted(rows, rows)
    kept = number < KEPT
    rows, ranks, number = rows[kept], ranks[kept], number[kept]
    m = S.shape[0]
    found = np.full((m, KEPT), -1, dtype=np.intp)
    found[rows, number] = ranks
    taken = np.zeros((m, 2 * KEPT), dtype=bool)  # enough of twice as many of the largest classes are not taken
    large = ranks < 2 * KEPT
    taken[rows[large], ranks[large]] = True
    lacking = KEPT - np.bincount(rows, minlength=m)
    free = np.cumsum(~taken, axis=1)
    at, filler = np.nonzero(~taken & (free <= lacking[:, None]))
    found[at, (KEPT - lacking)[at] + free[at, filler] - 1] = filler
    return by_size[np.sort(found, axis=1)]  # so that the first of tied columns is the largest class
