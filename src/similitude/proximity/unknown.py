"""Unknown similarities: which they are, the form in which methods expect them, and the value that takes their place."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from similitude.proximity.check import for_lookup

Absent: TypeAlias = Literal["zero", "farthest", "unknown"]
"""The parameter ``absent``."""

Fill: TypeAlias = Literal["class-blind mean", "class-blind median", "farthest"] | float | None
"""The parameter ``fill``."""

FILLS = ("class-blind mean", "class-blind median", "farthest")
ABSENT = ("zero", "farthest", "unknown")
NEEDS_ALL_PAIRS = "needs the similarities of all pairs"
"""The words of the error of a method that has no use for unknown pairs."""


def check_absent(absent: Any) -> Absent:
    """Return the meaning of the entries that a sparse matrix does not store, or raise a ValueError."""
    if not isinstance(absent, str) or absent not in ABSENT:
        raise ValueError(f"absent must be 'zero', 'farthest' or 'unknown'; got {absent!r}.")
    return cast(Absent, absent)


def check_fill(fill: Any) -> Fill:
    """Return what takes the place of unknown values, or raise a ValueError."""
    is_number = isinstance(fill, Real) and not isinstance(fill, bool) and np.isfinite(float(fill))
    if fill is None or is_number or (isinstance(fill, str) and fill in FILLS):
        return fill
    raise ValueError(f"fill must be one of {FILLS}, a finite number or None; got {fill!r}.")


def known_values(S: Any) -> np.ndarray:
    """Return the values that are known, in one dimension unless all are."""
    values = S.data if sparse.issparse(S) else np.asarray(S)
    unknown = np.isnan(values)
    return values[~unknown] if unknown.any() else values


def known_pair_values(S: Any) -> np.ndarray:
    """Return the known values of different samples if S is square, otherwise all known values."""
    n = S.shape[0]
    if S.shape[0] != S.shape[1] or n < 2:
        return np.ravel(known_values(S))
    if sparse.issparse(S):
        values = S.data[_rows_of_entries(S) != S.indices]
    else:  # without the first entry, the diagonal is the last column of n - 1 rows of n + 1 entries
        values = np.ravel(np.ravel(np.asarray(S))[1:].reshape(n - 1, n + 1)[:, :-1])
    unknown = np.isnan(values)
    return values[~unknown] if unknown.any() else values


def known_counts(S: Any) -> np.ndarray:
    """Return the number of known values in each row."""
    return np.diff(S.indptr) if sparse.issparse(S) else np.count_nonzero(~np.isnan(S), axis=1)


def known_in_either_direction(S: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the known pairs (i, j) of a CSR matrix as sorted numbers i n + j, and their values, or those of (j, i)."""
    n = S.shape[0]
    rows = _rows_of_entries(S)
    forth, back = rows * n + S.indices, S.indices.astype(np.int64) * n + rows
    keys, first = np.unique(np.concatenate([forth, back]), return_index=True)
    return keys, S.data[first % len(S.data)]


def _rows_of_entries(S: Any) -> np.ndarray:
    """Return the row of each stored entry of a CSR matrix."""
    return np.repeat(np.arange(S.shape[0], dtype=np.int64), np.diff(S.indptr))


class KnownPairs(NamedTuple):
    """How many pairs of different samples have a value."""

    known: int
    possible: int
    components: int
    largest: int
    lonely: int


def known_pairs(S: Any) -> KnownPairs:
    """Return how many pairs of a square matrix have a value.

    Parameters
    ----------
    S : ndarray or sparse matrix of shape (n, n)
        The matrix; unknown pairs are NaN, or not stored.

    Returns
    -------
    KnownPairs
        The counts.

    See Also
    --------
    similitude.diagnose : Return figures that describe a similarity matrix, and advice that follows from them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from similitude.proximity import known_pairs
    >>> known_pairs(sparse.csr_array(np.diag([1.0, 1.0, 1.0, 1.0]) + np.diag([0.5, 0, 0], 1)))
    KnownPairs(known=1, possible=6, components=3, largest=2, lonely=2)
    """
    n = S.shape[0]
    if sparse.issparse(S):
        entries = S.tocoo()
        known = (entries.row != entries.col) & ~np.isnan(entries.data)
        ends: Any = (entries.row[known], entries.col[known])
    else:
        known = ~np.isnan(np.asarray(S))
        np.fill_diagonal(known, False)
        ends = np.nonzero(known)
    graph = sparse.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    graph = ((graph + graph.T) > 0).tocsr()
    count, which = connected_components(graph, directed=False)
    lonely = int((np.diff(graph.indptr) == 0).sum())
    return KnownPairs(graph.nnz // 2, n * (n - 1) // 2, int(count), int(np.bincount(which).max()), lonely)


def training_values(S: Any, has_nan: bool, absent: str, *, distances: bool, square: bool) -> tuple[Any, bool]:
    """Return the values of training samples, and whether some of them are unknown.

    An entry of NaN of a CSR matrix is removed, which makes it absent. Distances of samples to themselves are stored.
    """
    if not sparse.issparse(S):
        _check_some_known(S, square, unknown=has_nan)
        return S, has_nan
    if absent == "farthest" and not distances and S.nnz and S.data.min() < 0:
        raise ValueError(
            "X: absent='farthest' means similarities of 0, but some similarities are negative; pass "
            "dissimilarity=... for dissimilarities, or absent='zero' or 'unknown'."
        )
    S = _without_nan(S, has_nan, absent)
    _check_some_known(S, square, unknown=absent == "unknown")
    return _stored_once(_with_own_distances(S) if distances and square else S, absent)


def _check_some_known(S: Any, square: bool, *, unknown: bool) -> None:
    """Raise a ValueError if the similarities of all pairs of training samples are unknown."""
    if not unknown or S.shape[0] < 2:
        return
    pairs = int(known_counts(S).sum())
    if square and sparse.issparse(S):
        pairs -= int(np.count_nonzero(_rows_of_entries(S) == S.indices))
    elif square:
        pairs -= int(np.count_nonzero(~np.isnan(np.diagonal(S))))
    if not pairs:
        raise ValueError(
            "X: no similarity of the training samples is known; those of all pairs are NaN, or absent from a sparse "
            "matrix whose absent entries are unknown."
        )


def row_values(S: Any, has_nan: bool, absent: str) -> tuple[Any, bool]:
    """Return the values of new rows, and whether some of them are unknown."""
    if not sparse.issparse(S):
        return S, has_nan
    return _stored_once(_without_nan(S, has_nan, absent), absent)


def _stored_once(S: Any, absent: str) -> tuple[Any, bool]:
    """Return a CSR matrix whose stored entries can be counted, and whether absent ones are unknown."""
    if absent != "unknown":
        return S, False
    # The caller's matrix remembers whether its format was examined; a view of its arrays does so instead.
    return for_lookup(type(S)((S.data, S.indices, S.indptr), shape=S.shape)), True


def _without_nan(S: Any, has_nan: bool, absent: str) -> Any:
    if not has_nan:
        return S
    if absent != "unknown":
        raise ValueError(
            f"X is a sparse matrix that contains NaN, but its absent entries are not unknown (absent={absent!r}). "
            "Remove the entries and pass Proximities(X, absent='unknown')."
        )
    entries, known = S.tocoo(), ~np.isnan(S.data)
    kept = (entries.data[known], (entries.row[known], entries.col[known]))
    return type(S)(kept, shape=S.shape)


def _with_own_distances(D: Any) -> Any:
    """Return a CSR matrix of dissimilarities in which those of samples to themselves are stored, 0 if absent."""
    entries = D.tocoo()
    stored = np.zeros(D.shape[0], dtype=bool)
    stored[entries.row[entries.row == entries.col]] = True
    if stored.all():
        return D
    absent = np.flatnonzero(~stored)
    data = np.append(entries.data, np.zeros(len(absent), dtype=D.dtype))
    return type(D)((data, (np.append(entries.row, absent), np.append(entries.col, absent))), shape=D.shape)


@dataclass(frozen=True)
class LearnedFill:
    """The value of unknown pairs, learned from the known pairs of the training samples."""

    value: float
    own: float

    @classmethod
    def learn(cls, values: Any, fill: Any, *, dissimilarities: bool) -> LearnedFill:
        """Return the fill that is learned from known values."""
        known, pairs = known_values(values), known_pair_values(values)
        if not known.size:
            raise ValueError("X: no similarity of the training samples is known.")
        pairs = pairs if pairs.size else np.ravel(known)
        smallest, largest = float(known.min()), float(known.max())
        nearest, farthest = (smallest, largest) if dissimilarities else (largest, smallest)
        if fill == "class-blind mean":
            value = _mean(pairs)
        elif fill == "class-blind median":
            value = float(np.median(pairs))
        else:
            value = farthest if fill == "farthest" else float(fill)
        diagonal = values.diagonal() if values.shape[0] == values.shape[1] else np.empty(0)
        if sparse.issparse(values):
            diagonal = diagonal[diagonal != 0]
        diagonal = diagonal[~np.isnan(diagonal)]
        return cls(value, _mean(diagonal) if diagonal.size else nearest)

    def __call__(self, values: Any, *, square: bool = False) -> Any:
        """Return the values with unknown ones filled; a CSR matrix stays one only if the fill is 0."""
        if not sparse.issparse(values):
            unknown = np.isnan(values)
            filled = np.where(unknown, values.dtype.type(self.value), values)
        elif self.value == 0 and not square:
            return values
        else:
            unknown = np.ones(values.shape, dtype=bool)
            unknown[_rows_of_entries(values), values.indices] = False
            filled = values.toarray()
            filled[unknown] = self.value
        if square:
            np.fill_diagonal(filled, np.where(np.diagonal(unknown), self.own, np.diagonal(filled)))
        return filled


def _mean(values: np.ndarray) -> float:
    """Return the mean, whose sum may overflow."""
    with np.errstate(over="ignore"):
        found = float(np.mean(values, dtype=np.float64))
    return found if np.isfinite(found) else float(np.sum(values / len(values), dtype=np.float64))


def fill_needed(who: str, S: Any) -> ValueError:
    """Return the error for a method that cannot use unknown similarities."""
    found = "X is a sparse matrix whose absent entries are unknown"
    if not sparse.issparse(S):
        # The training part of a fold may have all values, while the samples that are left out lack some.
        places = np.argwhere(np.isnan(S))
        found = "X contains NaN" + (f" (first at row {places[0, 0]}, column {places[0, 1]})" if len(places) else "")
    return ValueError(
        f"{found}, and {who} {NEEDS_ALL_PAIRS}. Pass Proximities(X, fill='class-blind mean') to fit "
        "(--fill class-blind-mean), or another fill ('class-blind median', 'farthest' or a number), which is learned "
        "on the training part; or use a method that votes among known neighbours, such as KNNClassifier."
    )
