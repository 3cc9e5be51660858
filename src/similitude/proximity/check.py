"""The checks of the input contract, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from similitude._utils.warn import warn

SYMMETRY_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""Largest ``|S - S^T| / max|S|`` that counts as symmetric."""

_BLOCK = 2**22


class SimilarityWarning(UserWarning):
    """Something about a similarity matrix that the user should know of: what it looks like, or what was done to it."""


def check_similarity(
    S: Any,
    *,
    name: str = "S",
    square: bool = True,
    accept_sparse: bool = True,
    orientation: str = "similarity",
    estimator: Any = None,
) -> Any:
    """Check a matrix of similarities and return it as a float array (or CSR matrix) that shares memory where it can.

    Parameters
    ----------
    S : array-like, memmap, DataFrame or sparse matrix of shape (m, n)
        The matrix; in a sparse one, what is absent is 0.
    name : str, default="S"
        What errors call it.
    square : bool, default=True
        Whether rows and columns must be the same samples.
    accept_sparse : bool, default=True
        Whether a sparse matrix is allowed.
    orientation : {"similarity", "dissimilarity"}, default="similarity"
        What the entries mean. A square similarity that looks like a dissimilarity (zero diagonal, positive
        elsewhere) gets a warning.
    estimator : object, default=None
        Named in errors.

    Returns
    -------
    ndarray or CSR matrix
        float32 stays float32, everything else becomes float64.

    Examples
    --------
    >>> from similitude import check_similarity
    >>> check_similarity([[2, 1], [1, 2]])
    array([[2., 1.],
           [1., 2.]])
    >>> check_similarity([[2, 1, 0], [1, 2, 0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: S must be square, one row and one column per sample; got shape (2, 3). Cut rows ...
    """
    if square and hasattr(S, "iloc") and list(S.index) != list(S.columns) and set(S.index) == set(S.columns):
        raise ValueError(f"{name} has the same names on its rows and its columns, but in another order; reorder one.")
    try:
        S = check_array(
            S,
            accept_sparse="csr" if accept_sparse else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            estimator=estimator,
        )
    except (ValueError, TypeError) as error:
        # scikit-learn's checks want the TypeError that an object which is no number causes.
        hint = " For raw objects name a similarity, such as similarity='levenshtein'." if estimator is not None else ""
        what = "has no rows" if "0 sample(s)" in str(error) else "is not a matrix of numbers"
        raise type(error)(f"{name} {what}: {error}{hint}") from error
    _check_finite(S, name)
    if square and S.shape[0] != S.shape[1]:
        raise ValueError(
            f"{name} must be square, one row and one column per sample; got shape {S.shape}. Cut rows and columns "
            "alike (similitude.train_test_split does); for rows of features name a similarity, such as "
            "similarity='euclidean'; if a scikit-learn meta-estimator cut the rows only, wrap it in "
            "similitude.PairwiseMeta."
        )
    if square and orientation == "similarity" and looks_like_dissimilarity(S):
        warn(
            f"{name} has a zero diagonal and is positive elsewhere: it looks like a dissimilarity, but larger values "
            f"are taken to mean more alike. If it is one, pass dissimilarity='max-minus' (or another map).",
            SimilarityWarning,
        )
    return S


def _check_finite(S: Any, name: str) -> None:
    """Refuse NaN and infinity, saying where the first one is; a memmap is read block by block."""
    if sparse.issparse(S):
        bad = np.flatnonzero(~np.isfinite(S.data))
        if bad.size:
            row = int(np.searchsorted(S.indptr, bad[0], side="right") - 1)
            _refuse(S.data[bad[0]], row, int(S.indices[bad[0]]), name)
        return
    rows = max(1, _BLOCK // max(1, S.shape[1]))
    for start in range(0, len(S), rows):
        block = S[start : start + rows]
        # The sum of finite numbers is finite unless it overflows: then look at each.
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum()
        if not np.isfinite(total):
            places = np.argwhere(~np.isfinite(block))
            if len(places):
                row, column = map(int, places[0])
                _refuse(block[row, column], start + row, column, name)


def _refuse(value: float, row: int, column: int, name: str) -> None:
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"{name} contains {what} (first at row {row}, column {column}); every similarity must be a finite number: "
        f"fill in or drop the samples concerned."
    )


def looks_like_dissimilarity(S: Any) -> bool:
    """Return whether a dense square matrix has a zero diagonal and is positive everywhere else."""
    if sparse.issparse(S) or len(S) < 2 or np.any(np.diagonal(S)):
        return False
    n = len(S)
    rows = max(1, _BLOCK // n)
    # With a zero diagonal, all else is positive just when each row has n - 1 positive entries.
    return all(np.count_nonzero(S[i : i + rows] > 0) == len(S[i : i + rows]) * (n - 1) for i in range(0, n, rows))


def dense(S: Any) -> np.ndarray:
    """S as an ndarray, for methods that need every entry at once."""
    return S.toarray() if sparse.issparse(S) else np.asarray(S)


def for_lookup(S: Any) -> Any:
    """S as it is; a CSR matrix with its columns sorted and each entry stored once, copied only where it is not."""
    if not sparse.issparse(S):
        return np.asarray(S)
    if not S.has_canonical_format:
        S = S.copy()
        S.sum_duplicates()
    return S


def asymmetry(S: Any) -> float:
    """Return the share of S that is antisymmetric: ``||S - S^T||_F / (2 ||S||_F)``, 0 (symmetric) to 1."""
    if sparse.issparse(S):
        S = S.astype(np.float64)
        S.sum_duplicates()
        S = S * (1 / (float(np.max(np.abs(S.data), initial=0.0)) or 1.0))
        squares = [float(np.sum(A.data**2)) for A in (S - S.T, S)]
    else:
        scale = _largest(S) or 1.0
        squares = [0.0, 0.0]
        rows = max(1, _BLOCK // len(S))
        for start in range(0, len(S), rows):
            block = S[start : start + rows].astype(np.float64) / scale
            other = S[:, start : start + rows].T.astype(np.float64) / scale
            squares[0] += float(np.sum((block - other) ** 2))
            squares[1] += float(np.sum(block**2))
    return float(np.sqrt(squares[0] / squares[1]) / 2) if squares[1] > 0 else 0.0


def is_symmetric(S: Any) -> bool:
    """Return whether S equals its transpose up to rounding."""
    tolerance = SYMMETRY_TOLERANCE[np.dtype(S.dtype)]
    if sparse.issparse(S):
        return bool(np.max(np.abs((S - S.T).data), initial=0.0) <= tolerance * np.max(np.abs(S.data), initial=0.0))
    limit = tolerance * _largest(S)
    side = 1024
    return all(
        np.max(np.abs(S[i : i + side, j : j + side] - S[j : j + side, i : i + side].T)) <= limit
        for i in range(0, len(S), side)
        for j in range(0, i + 1, side)
    )


def _largest(S: np.ndarray) -> float:
    """max |S| without a copy of S."""
    return float(max(S.max(initial=0.0), -S.min(initial=0.0)))
