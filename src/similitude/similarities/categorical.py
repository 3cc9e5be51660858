"""Similarities of categorical rows: counting, and the value difference metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d

from similitude.similarities.registry import Measure, batch, register


def as_table(X: Any, name: str) -> np.ndarray:
    """Categorical rows as a 2-d array of objects; a missing value becomes "?", a value of its own."""
    table = np.asarray(X.to_numpy() if hasattr(X, "iloc") else X, dtype=object)
    if table.ndim != 2:
        raise ValueError(
            f"{name} must be a table of categorical rows, all of one length; got {table.ndim} dimension(s)."
        )
    missing = np.vectorize(_is_missing, otypes=[bool])(table) if table.size else np.zeros(table.shape, bool)
    return np.where(missing, "?", table) if missing.any() else table


def _is_missing(value: Any) -> bool:
    # NaN differs from itself, and what compares to pandas' NA is neither true nor false.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _codes(values: np.ndarray, known: dict[Any, int]) -> np.ndarray:
    """The code of each value; len(known) for a value that is not known."""
    return np.fromiter((known.get(value, len(known)) for value in values), dtype=np.intp, count=len(values))


@batch
def counting(A: Any, B: Any) -> np.ndarray:
    """The number of columns in which two categorical rows agree (paper of Chen et al. 2009, Section 7.1)."""
    A, B = as_table(A, "A"), as_table(B, "B")
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A and B must have the same columns; got {A.shape[1]} and {B.shape[1]}.")
    total = np.zeros((len(A), len(B)))
    for a, b in zip(A.T, B.T):
        known = {value: code for code, value in enumerate(dict.fromkeys(b))}
        total += _codes(a, known)[:, None] == _codes(b, known)[None, :]
    return total


class VDM(BaseEstimator):
    """Value difference metric (Stanfill & Waltz 1986), learned from labelled categorical rows.

    ``d(x, z) = sum_f sum_c (P(c | x_f) - P(c | z_f))^2`` over columns f and classes c, divided by the largest d among
    the training rows. P(c | v) is the share of class c among the training rows with value v in that column; a value
    not seen in training gets the classes' overall shares. As a similarity it is used as 1 - d.

    Parameters
    ----------
    weighted : bool, default=False
        Weight each column's term by ``sqrt(sum_c P(c | x_f)^2)``, and take the mean of both directions.

    Attributes
    ----------
    classes_ : ndarray
    largest_ : float
        The largest unscaled distance between training rows.

    Examples
    --------
    >>> from similitude.similarities import VDM
    >>> X, y = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")], [0, 0, 1, 1]
    >>> VDM().fit(X, y)(X[:1], X)
    array([[0., 0., 1., 1.]])
    """

    orientation = "dissimilarity"
    to_similarity = "one-minus"

    def __init__(self, weighted: bool = False):
        self.weighted = weighted

    def fit(self, X: Any, y: Any) -> VDM:
        """Count the classes behind each value."""
        if y is None:
            raise ValueError("y: the value difference metric needs class labels; pass y to fit.")
        table = as_table(X, "X")
        self.classes_, encoded = np.unique(column_or_1d(y), return_inverse=True)
        if len(encoded) != len(table):
            raise ValueError(f"y must have one label per row of X; got {len(encoded)} for {len(table)} rows.")
        overall = np.bincount(encoded, minlength=len(self.classes_)) / len(encoded)
        self._values = [{v: i for i, v in enumerate(dict.fromkeys(column))} for column in table.T]
        self._tables = []
        for column, known in zip(table.T, self._values):
            counts = np.zeros((len(known) + 1, len(self.classes_)))
            np.add.at(counts, (_codes(column, known), encoded), 1.0)
            shares = np.vstack([counts[:-1] / counts[:-1].sum(axis=1, keepdims=True), overall])
            self._tables.append(self._value_distances(shares))
        self.largest_ = float(self._distances(table, table).max())
        return self

    def _value_distances(self, shares: np.ndarray) -> np.ndarray:
        """Distance between every two values of a column."""
        squares = ((shares[:, None, :] - shares[None, :, :]) ** 2).sum(axis=2)
        if self.weighted:
            weights = np.sqrt((shares**2).sum(axis=1))
            squares = (weights[:, None] + weights[None, :]) / 2 * squares
        return squares

    def _distances(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        total = np.zeros((len(A), len(B)))
        # Summed column by column from tables: equal pairs of rows get equal distances, to the last bit.
        for a, b, known, distances in zip(A.T, B.T, self._values, self._tables):
            total += distances[np.ix_(_codes(a, known), _codes(b, known))]
        return total

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Distances between two batches of rows, as a share of the largest one in training."""
        check_is_fitted(self, "largest_")
        A, B = as_table(A, "A"), as_table(B, "B")
        for name, table in (("A", A), ("B", B)):
            if table.shape[1] != len(self._values):
                raise ValueError(f"{name} has {table.shape[1]} columns, but VDM was fitted on {len(self._values)}.")
        return self._distances(A, B) / (self.largest_ or 1.0)


register(
    Measure(
        counting,
        name="counting",
        objects="categorical rows",
        batch=True,
        symmetric=True,
        range="0 to the number of columns",
        reference="Chen et al. 2009, Section 7.1",
    )
)
register(
    Measure(
        VDM(),
        name="vdm",
        objects="categorical rows",
        orientation="dissimilarity",
        to_similarity="one-minus",
        symmetric=True,
        learns=True,
        range="0 to 1 on the training rows",
        reference="Stanfill & Waltz 1986",
    )
)
