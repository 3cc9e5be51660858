"""An asymmetric matrix: the pairs whose two directions differ most, and which direction predicts better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from similitude.diagnosis import figures, stored

MOST_PAIRS = 10
"""The number of asymmetric pairs that are listed."""


@dataclass(frozen=True)
class AsymmetricPair:
    """A pair of samples, by their positions, and the values of both directions, of which the first is the larger."""

    first: int
    second: int
    forth: float
    back: float


@dataclass(frozen=True)
class DirectionErrors:
    """The leave-one-out errors of the nearest neighbour by rows, by columns, and by the mean of both."""

    rows: float
    columns: float
    mean: float

    @property
    def best(self) -> str:
        """The direction with the smallest error; "rows" if it is not larger than the others."""
        return min(("rows", "columns", "mean"), key=lambda name: getattr(self, name))


def asymmetric_pairs(values: np.ndarray, samples: np.ndarray) -> tuple[AsymmetricPair, ...]:
    """Return the pairs of a dense matrix that differ most; pairs of which a direction is unknown (NaN) do not count."""
    with np.errstate(over="ignore", invalid="ignore"):
        differences = np.nan_to_num(values - values.T, nan=0.0)
    most = min(MOST_PAIRS, int(np.count_nonzero(differences > 0)))
    # The larger direction of each pair has a positive difference; ties are in the order of the samples.
    flat = differences.ravel()
    if not most:
        return ()
    last = np.partition(flat, len(flat) - most)[len(flat) - most]
    order = np.flatnonzero(flat >= last)
    order = order[np.argsort(-flat[order], kind="stable")][:most]
    rows, columns = np.unravel_index(order, values.shape)
    return _pairs(rows, columns, values[rows, columns], values[columns, rows], samples)


def stored_asymmetric_pairs(given: stored.Stored, both_known: bool) -> tuple[AsymmetricPair, ...]:
    """Return the same pairs of a sparse matrix; with ``both_known`` only those that store both directions."""
    excess = sparse.csr_matrix((given.S.data - given.absent, given.S.indices, given.S.indptr), given.S.shape)
    differences = (excess - excess.T).tocsr()
    if both_known:
        pattern = sparse.csr_matrix((np.ones(given.S.nnz, np.int8), given.S.indices, given.S.indptr), given.S.shape)
        differences = differences.multiply(pattern.multiply(pattern.T)).tocsr()
    entries = differences.tocoo()
    found = np.flatnonzero(entries.data > 0)
    found = found[np.lexsort((entries.col[found], entries.row[found], -entries.data[found]))][:MOST_PAIRS]
    rows, columns = entries.row[found], entries.col[found]

    def at(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return np.array([float(excess[a, b]) + given.absent for a, b in zip(i.tolist(), j.tolist())])

    return _pairs(rows, columns, at(rows, columns), at(columns, rows), np.arange(given.S.shape[0]))


def _pairs(rows: Any, columns: Any, forth: Any, back: Any, samples: np.ndarray) -> tuple[AsymmetricPair, ...]:
    ends = zip(samples[rows].tolist(), samples[columns].tolist(), forth.tolist(), back.tolist())
    return tuple(AsymmetricPair(*each) for each in ends)


def direction_errors(A: np.ndarray, labels: np.ndarray) -> DirectionErrors | None:
    """Return the errors by direction of a dense matrix, or None if no row gives evidence."""
    return _errors(figures.neighbors(B, 1, labels) for B in (A, np.ascontiguousarray(A.T), (A + A.T) / 2))


def stored_direction_errors(given: stored.Stored, labels: np.ndarray) -> DirectionErrors | None:
    """Return the same errors of a sparse matrix."""
    excess = sparse.csr_matrix((given.S.data - given.absent, given.S.indices, given.S.indptr), given.S.shape)
    backward = excess.T.tocsr()
    found = []
    for part in (excess, backward, (excess + backward) / 2):
        part.sort_indices()
        own = sparse.csr_matrix((part.data + given.absent, part.indices, part.indptr), part.shape)
        found.append(stored.neighbors(stored.Stored(own, given.absent), 1, labels))
    return _errors(found)


def _errors(found: Any) -> DirectionErrors | None:
    errors = [each["leave_one_out_error"] for each in found]
    return None if None in errors else DirectionErrors(*errors)
