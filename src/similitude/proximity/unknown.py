"""Unknown similarities: which they are, and the value that takes their place for methods that need all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from scipy import sparse

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


def known_pairs(S: Any) -> np.ndarray:
    """Return the known values of different samples if S is square, otherwise all known values."""
    n = S.shape[0]
    if S.shape[0] != S.shape[1] or n < 2:
        return np.ravel(known_values(S))
    if sparse.issparse(S):
        rows = np.repeat(np.arange(n), np.diff(S.indptr))
        values = S.data[rows != S.indices]
    else:
        values = np.asarray(S)[~np.eye(n, dtype=bool)]
    return values[~np.isnan(values)]


def known_counts(S: Any) -> np.ndarray:
    """Return the number of known values in each row."""
    return np.diff(S.indptr) if sparse.issparse(S) else np.count_nonzero(~np.isnan(S), axis=1)


@dataclass(frozen=True)
class LearnedFill:
    """The value of unknown pairs, learned from the known pairs of the training samples."""

    _saved_state = {"value": "float", "own": "float"}

    value: float
    own: float

    @classmethod
    def learn(cls, values: Any, fill: Any, *, dissimilarities: bool) -> LearnedFill:
        """Return the fill that is learned from known values."""
        known, pairs = known_values(values), known_pairs(values)
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
            rows = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
            unknown[rows, values.indices] = False
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
