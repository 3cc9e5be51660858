"""Unknown entries of sparse matrices, in the form in which methods expect them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude.proximity.check import for_lookup
from similitude.proximity.unknown import known_counts


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
        pairs -= int(np.count_nonzero(np.repeat(np.arange(S.shape[0]), np.diff(S.indptr)) == S.indices))
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
