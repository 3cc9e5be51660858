"""Condensed vectors: the upper triangle of a symmetric matrix without its diagonal, row by row."""

from __future__ import annotations

import math

import numpy as np


def side_of(length: int) -> int:
    """Return the number of samples of a condensed vector, or raise a ValueError if there is none.

    Parameters
    ----------
    length : int
        The number of its entries.

    Returns
    -------
    int
        The number n with n (n - 1) / 2 entries.

    Examples
    --------
    >>> from similitude.proximity.condensed import side_of
    >>> side_of(6)
    4
    """
    n = (1 + math.isqrt(1 + 8 * length)) // 2
    if length < 1 or n * (n - 1) // 2 != length:
        near = max(2, n)
        raise ValueError(
            f"it has {length} entries; a condensed vector of n samples has n (n - 1) / 2, such as "
            f"{near * (near - 1) // 2} for n = {near} or {near * (near + 1) // 2} for n = {near + 1}."
        )
    return n


def square_of(values: np.ndarray, diagonal: float = 0.0) -> np.ndarray:
    """Return the symmetric matrix of a condensed vector.

    Parameters
    ----------
    values : array-like of shape (n (n - 1) / 2,)
        The entries of the upper triangle, row by row, as SciPy's ``pdist`` returns them.
    diagonal : float, default=0.0
        The value of each sample with itself.

    Returns
    -------
    ndarray of shape (n, n)
        The matrix.

    Examples
    --------
    >>> from similitude.proximity.condensed import square_of
    >>> square_of([0.1, 0.2, 0.3])
    array([[0. , 0.1, 0.2],
           [0.1, 0. , 0.3],
           [0.2, 0.3, 0. ]])
    """
    values = np.asarray(values)
    n = side_of(len(values))
    S = np.empty((n, n), dtype=values.dtype if values.dtype == np.float32 else np.float64)
    upper = np.triu_indices(n, 1)
    S[upper] = values
    S.T[upper] = values
    np.fill_diagonal(S, diagonal)
    return S
