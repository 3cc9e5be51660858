"""The scale of a similarity: how far the similarities of related samples stand out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from similitude.proximity.check import for_lookup

_BITS = 24


def similarity_scale(S: Any, *, absent_is_zero: bool = True) -> float:
    """Return the median over the rows of the largest similarity less the mean one.

    For similarities that are 1 for a sample and itself, it is 1 less a typical similarity. That of ``a S + b``, a > 0,
    is a times as large. Unknown values, which are NaN or, without ``absent_is_zero``, the absent entries of a CSR
    matrix, and rows whose known values are all equal, are left out; if no row remains, it is 1. The result is rounded
    to 24 bits, so that the order in which sums are formed does not matter. The cost is that of the stored entries.
    """
    low, high, mean = _sparse_rows(S, absent_is_zero) if sparse.issparse(S) else _dense_rows(np.asarray(S))
    found = (high - mean)[low < high]
    fraction, exponent = math.frexp(np.median(found) if len(found) else 1.0)
    return math.ldexp(round(fraction * 2**_BITS), exponent - _BITS)


def _dense_rows(S: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the smallest, largest and mean known value of each row; rows without a known value are left out."""
    if not S.shape[1]:
        return (np.empty(0),) * 3
    low, high, mean = S.min(axis=1), S.max(axis=1), S.mean(axis=1, dtype=np.float64)
    partial = np.flatnonzero(np.isnan(low))
    if len(partial):
        known = ~np.isnan(S[partial])
        some = known.any(axis=1)
        left, partial, known = np.setdiff1d(partial, partial[some]), partial[some], known[some]
        for values, reduce in ((low, np.nanmin), (high, np.nanmax)):
            values[partial] = reduce(S[partial], axis=1)
        mean[partial] = np.where(known, S[partial], 0.0).sum(axis=1, dtype=np.float64) / known.sum(axis=1)
        low, high, mean = (np.delete(values, left) for values in (low, high, mean))
    return low, high, mean


def _sparse_rows(S: Any, absent_is_zero: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same of the rows of a sparse matrix that store something."""
    S = S.tocsr()
    # The view remembers whether the format was examined, not the caller's matrix.
    S = for_lookup(type(S)((S.data, S.indices, S.indptr), shape=S.shape))
    counts = np.diff(S.indptr)
    filled = np.flatnonzero(counts)
    if not len(filled):
        return (np.empty(0),) * 3
    stored, starts = S.data[: S.indptr[-1]], S.indptr[filled]
    low, high = (reduce.reduceat(stored, starts) for reduce in (np.minimum, np.maximum))
    total, counts = np.add.reduceat(stored, starts, dtype=np.float64), counts[filled]
    if not absent_is_zero:
        return low, high, total / counts
    partial = counts < S.shape[1]
    low, high = np.where(partial, np.minimum(low, 0), low), np.where(partial, np.maximum(high, 0), high)
    return low, high, total / S.shape[1]
