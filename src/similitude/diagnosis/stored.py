"""The figures of a diagnosis that follow from the stored entries of a sparse matrix, at the cost of these entries.

The entries are similarities, larger means more alike, and all pairs that are not stored have one similarity.
"""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from similitude.diagnosis.figures import mean_pairs, neighbor_figures
from similitude.proximity.check import SYMMETRY_TOLERANCE, for_lookup

_ENOUGH = 1e-6
_ITERATIONS = 300


class Stored(NamedTuple):
    """The entries of a square CSR matrix, and the similarity of the pairs that it does not store."""

    S: Any
    absent: float

    @property
    def rows(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(self.S.shape[0]), np.diff(self.S.indptr))

    @property
    def has_absent(self) -> bool:
        """Whether some pair is not stored."""
        return self.S.nnz < self.S.shape[0] ** 2


def stored_entries(S: Any, absent: float = 0.0, own: float | None = None) -> Stored:
    """Return the entries of a canonical matrix; absent ones of the diagonal get the value ``own``, if it is given."""
    if own is not None:
        n = S.shape[0]
        entries = S.tocoo()
        lacking = np.setdiff1d(np.arange(n), entries.row[entries.row == entries.col])
        data = np.concatenate([entries.data, np.full(len(lacking), own, dtype=S.dtype)])
        places = (np.concatenate([entries.row, lacking]), np.concatenate([entries.col, lacking]))
        S = for_lookup(sparse.csr_matrix((data, places), shape=S.shape))
    return Stored(S, absent)


def unit_scale(given: Stored) -> tuple[Stored, float]:
    """Return the similarities divided by a power of two, with the largest absolute value in [1, 2), and this power."""
    largest = max(abs(bound) for bound in value_range(given))
    scale = float(2.0 ** np.floor(np.log2(largest))) if largest > 0 else 1.0
    data = given.S.data.astype(np.float64) / scale
    return Stored(
        sparse.csr_matrix((data, given.S.indices, given.S.indptr), given.S.shape), given.absent / scale
    ), scale


def value_range(given: Stored) -> tuple[float, float]:
    """Return the smallest and the largest value."""
    others = [given.absent] if given.has_absent else []
    ends = [*others, *([given.S.data.min(), given.S.data.max()] if given.S.nnz else [])]
    return float(min(ends)), float(max(ends))


def zeros(given: Stored) -> float:
    """Return the share of zeros."""
    size = given.S.shape[0] ** 2
    lacking = size - given.S.nnz if given.absent == 0 else 0
    return (lacking + int(np.count_nonzero(given.S.data == 0))) / size


def n_distinct(given: Stored) -> int:
    """Return the number of distinct values."""
    return len(np.unique(np.append(given.S.data, [given.absent] if given.has_absent else [])))


def is_symmetric(given: Stored) -> bool:
    """Return whether the matrix equals its transpose up to rounding."""
    tolerance = SYMMETRY_TOLERANCE[np.dtype(given.S.dtype)]
    return bool(np.max(np.abs(_differences(unit_scale(given)[0])), initial=0.0) <= tolerance)


def asymmetry(given: Stored) -> float:
    """Return ``||S - S^T||_F / (2 ||S||_F)``."""
    A = unit_scale(given)[0]
    total = float(np.sum(A.S.data**2)) + (A.S.shape[0] ** 2 - A.S.nnz) * A.absent**2
    return float(np.sqrt(np.sum(_differences(A) ** 2) / total) / 2) if total > 0 else 0.0


def _differences(given: Stored) -> np.ndarray:
    """Return the entries of ``S - S^T`` that may differ from 0."""
    excess = sparse.csr_matrix((given.S.data - given.absent, given.S.indices, given.S.indptr), given.S.shape)
    return (excess - excess.T).data


def extreme_eigenvalues(given: Stored) -> tuple[float, float] | None:
    """Return the smallest and the largest eigenvalue of ``(A + A^T)/2`` by Lanczos' method; None if it fails.

    They are exact to a millionth of the larger absolute value; the smallest is 0 if it is not below that.
    """
    n = given.S.shape[0]
    excess = sparse.csr_matrix((given.S.data - given.absent, given.S.indices, given.S.indptr), given.S.shape)
    transposed = excess.T.tocsr()

    def product(x: np.ndarray) -> np.ndarray:
        return (excess @ x + transposed @ x) / 2 + given.absent * x.sum()

    operator = linalg.LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.random.RandomState(0).standard_normal(n)
    try:
        ends = linalg.eigsh(
            operator, 2, which="BE", v0=start, tol=_ENOUGH / 10, maxiter=_ITERATIONS, return_eigenvectors=False
        )
    except (linalg.ArpackError, linalg.ArpackNoConvergence):
        return None
    smallest, largest = float(ends.min()), float(ends.max())
    return (smallest if smallest < -_ENOUGH * max(abs(smallest), abs(largest)) else max(smallest, 0.0)), largest


def duplicate_rows(given: Stored) -> int:
    """Return the number of rows that equal an earlier one."""
    kept = given.S.data != given.absent
    ends = np.concatenate([[0], np.cumsum(kept)])[given.S.indptr].tolist()
    data, columns = given.S.data[kept] + 0.0, given.S.indices[kept].astype(np.int64)
    found = {
        hashlib.blake2b(columns[a:b].tobytes() + data[a:b].tobytes(), digest_size=16).digest()
        for a, b in pairwise(ends)
    }
    return given.S.shape[0] - len(found)


def not_maximal(given: Stored, tolerance: float) -> float:
    """Return the share of rows whose diagonal entry is smaller, by more than rounding, than the largest."""
    n = given.S.shape[0]
    largest = np.where(np.diff(given.S.indptr) < n, given.absent, -np.inf)
    np.maximum.at(largest, given.rows, given.S.data)
    own = np.full(n, given.absent)
    diagonal = given.rows == given.S.indices
    own[given.rows[diagonal]] = given.S.data[diagonal]
    return float(np.mean(own < largest - tolerance))


class Shares(NamedTuple):
    """How the k places among the nearest others are shared by those that are equally similar."""

    entries: np.ndarray
    """The share of each entry without the diagonal."""
    absent: np.ndarray
    """For each row the share of each other sample that is not stored."""
    tied: np.ndarray
    """Whether the last place of each row is shared."""


def others(given: Stored) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows, columns and values of the entries without the diagonal."""
    rows, columns = given.rows, given.S.indices
    kept = rows != columns
    return rows[kept], columns[kept], given.S.data[kept]


def shared_places(n: int, rows: np.ndarray, values: np.ndarray, absent: float, k: int) -> Shares:
    """Return how the entries of each row and the other samples that are not stored share k places."""
    stored = np.bincount(rows, minlength=n)
    lacking = n - 1 - stored
    above = np.bincount(rows[values > absent], minlength=n)
    level = np.bincount(rows[values == absent], minlength=n) + lacking
    # The last place belongs to an entry that is nearer than absent ones, to these, or to one that is farther.
    order = np.lexsort((-values, rows))
    starts = np.concatenate([[0], np.cumsum(stored)])[:-1]
    place = np.where(above >= k, k - 1, k - 1 - lacking)
    from_entries = (above >= k) | (above + level < k)
    last = np.full(n, absent, dtype=np.float64)
    last[from_entries] = values[order[(starts + place)[from_entries]]]
    nearer, equal = (np.bincount(rows[found], minlength=n) for found in (values > last[rows], values == last[rows]))
    nearer, equal = nearer + lacking * (absent > last), equal + lacking * (absent == last)
    share = (k - nearer) / equal
    entries = np.where(values > last[rows], 1.0, np.where(values == last[rows], share[rows], 0.0))
    return Shares(entries, np.where(absent > last, 1.0, np.where(absent == last, share, 0.0)), nearer + equal > k)


def neighbors(given: Stored, n_neighbors: int, labels: np.ndarray | None) -> dict[str, Any]:
    """Return the figures of the lists of nearest neighbours."""
    n = given.S.shape[0]
    k = min(n_neighbors, n - 1)
    if k == 0:
        return neighbor_figures(0, np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool), None)
    rows, columns, values = others(given)
    places = shared_places(n, rows, values, given.absent, k)
    # Each row gives its share to all absent samples: to all others but those that it stores.
    occurrences = places.absent.sum() - places.absent
    occurrences += np.bincount(columns, places.entries - places.absent[rows], minlength=n)
    counts = np.bincount(rows, minlength=n)
    low, high = np.where(counts < n - 1, given.absent, np.inf), np.where(counts < n - 1, given.absent, -np.inf)
    np.minimum.at(low, rows, values)
    np.maximum.at(high, rows, values)
    wrong = None if labels is None else _wrong(n, rows, columns, values, given.absent, labels)
    return neighbor_figures(k, occurrences, places.tied, low != high, wrong)


def _wrong(
    n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, absent: float, labels: np.ndarray
) -> np.ndarray:
    """Return for each sample the share of its nearest others, which may be tied, that have another label."""
    nearest = shared_places(n, rows, values, absent, 1)
    same = labels[columns] == labels[rows]
    lacking = np.bincount(labels)[labels] - 1 - np.bincount(rows[same], minlength=n)
    right = np.bincount(rows[same], nearest.entries[same], minlength=n) + nearest.absent * lacking
    return np.clip(1 - right, 0.0, 1.0)


def class_means(given: Stored, labels: np.ndarray, n_classes: int) -> list[tuple[float | None, float | None]]:
    """Return for each class the mean similarity of its samples to one another and to others (both directions)."""
    rows, columns, values = others(given)
    excess, own = values - given.absent, labels[rows] == labels[columns]
    within = np.bincount(labels[rows[own]], excess[own], minlength=n_classes)
    ends = np.concatenate([labels[rows[~own]], labels[columns[~own]]])
    between = np.bincount(ends, np.tile(excess[~own], 2) / 2, minlength=n_classes)
    return mean_pairs(within, between, np.bincount(labels, minlength=n_classes), given.absent)
