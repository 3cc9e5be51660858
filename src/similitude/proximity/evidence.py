"""Which rows of a matrix give evidence: a row whose values are all equal favours no sample over another."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude.proximity.check import for_lookup


def gives_evidence(values: Any, *, absent_is_zero: bool = True) -> np.ndarray:
    """Return for each row whether its values are not all equal, where unknown counts as a value of its own.

    So a row that is all zero, an empty row of a sparse matrix, and a row of which nothing is known give no evidence.
    The cost is that of the entries that are stored.

    Parameters
    ----------
    values : ndarray or sparse matrix of shape (m, n)
        Rows of similarities or dissimilarities; unknown ones are NaN.
    absent_is_zero : bool, default=True
        Whether entries that a sparse matrix does not store are zeros, and not unknown.

    Returns
    -------
    ndarray of bool of shape (m,)
        Which rows give evidence.

    See Also
    --------
    known_pairs : Return how many pairs are known, altogether and for each sample, without expanding a sparse matrix.

    Examples
    --------
    >>> from similitude.proximity import gives_evidence
    >>> gives_evidence([[0.0, 0.0, 0.0], [0.2, 0.0, 0.9]])
    array([False,  True])
    """
    values = values.tocsr() if sparse.issparse(values) else np.asarray(values)
    if values.shape[1] == 0:
        return np.zeros(values.shape[0], dtype=bool)
    if sparse.issparse(values):
        return _sparse_rows(values, absent_is_zero)
    low, high = values.min(axis=1), values.max(axis=1)
    found = low != high
    some_unknown = np.flatnonzero(np.isnan(low))
    found[some_unknown] = ~np.isnan(values[some_unknown]).all(axis=1)
    return found


def _sparse_rows(S: Any, absent_is_zero: bool) -> np.ndarray:
    # The view remembers whether the format was examined, not the caller's matrix.
    S = for_lookup(type(S)((S.data, S.indices, S.indptr), shape=S.shape))
    counts = np.diff(S.indptr)
    found, filled = np.zeros(len(counts), dtype=bool), np.flatnonzero(counts)
    if not len(filled):
        return found
    stored = S.data[: S.indptr[-1]]
    low, high = (reduce.reduceat(stored, S.indptr[filled]) for reduce in (np.minimum, np.maximum))
    partial = counts[filled] < S.shape[1]
    differs = ((low != 0) | (high != 0)) if absent_is_zero else True
    found[filled] = (low != high) | (partial & differs)
    return found
