"""Similarities of categorical rows: counting, its variants, Tversky's models and the value difference metric."""

from __future__ import annotations

from functools import partial
from numbers import Number
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, column_or_1d

from similitude._utils.checks import is_missing
from similitude._utils.ids import labels_in_order
from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchDistance, BatchSimilarity, Measure, batch, register
from similitude.similarities.sets import OBJECTS as SETS
from similitude.similarities.sets import incidence


def as_table(X: Any, name: str) -> np.ndarray:
    """Return categorical rows as a 2-d array of objects; a missing value becomes "?", which counts as a value."""
    table = np.asarray(X.to_numpy() if hasattr(X, "iloc") else X, dtype=object)
    if table.ndim != 2:
        raise ValueError(
            f"{name} must be a table of categorical rows, all of one length; got {table.ndim} dimension(s)."
        )
    missing = np.vectorize(is_missing, otypes=[bool])(table) if table.size else np.zeros(table.shape, bool)
    return np.where(missing, "?", table) if missing.any() else table


def _places(column: np.ndarray) -> dict[Any, int]:
    """Return the codes of the values of a column, in the order in which they occur."""
    return {value: code for code, value in enumerate(dict.fromkeys(column))}


def _codes(values: np.ndarray, known: dict[Any, int]) -> np.ndarray:
    """Return the code of each value; an unknown value has the code len(known)."""
    return np.fromiter((known.get(value, len(known)) for value in values), dtype=np.intp, count=len(values))


@batch
def counting(A: ListLike, B: ListLike) -> np.ndarray:
    """Return the numbers of columns in which categorical rows agree (Chen et al. 2009, Section 7.1).

    Parameters
    ----------
    A, B : tables of categorical rows
        The rows.

    Returns
    -------
    ndarray of shape (len(A), len(B))
        The similarities of the rows of A to those of B.

    See Also
    --------
    overlap : Return the shares of columns in which categorical rows agree: counting divided by the number of columns.
    VDM : Value difference metric (Stanfill & Waltz 1986), learned from labelled categorical rows.

    Examples
    --------
    >>> from similitude.similarities.categorical import counting
    >>> counting([("red", "round")], [("red", "square"), ("red", "round")])
    array([[1., 2.]])
    """
    return _weighted_agreement(*_two_tables(A, B))


def _two_tables(A: Any, B: Any, fitted: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Return both batches as tables, with the columns of each other and of the ``fitted`` measure."""
    left, right = as_table(A, "A"), as_table(B, "B")
    for name, table in (("A", left), ("B", right)) if fitted is not None else ():
        if table.shape[1] != len(fitted._values):
            kind = type(fitted).__name__
            raise ValueError(f"{name} has {table.shape[1]} columns, but {kind} was fitted on {len(fitted._values)}.")
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"A and B must have the same columns; got {left.shape[1]} and {right.shape[1]}.")
    return left, right


def _weighted_agreement(A: np.ndarray, B: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the total weight of the columns in which two rows agree.

    ``weights`` has an entry for each cell of A; None means ones.
    """
    total = np.zeros((len(A), len(B)))
    for f, (a, b) in enumerate(zip(A.T, B.T)):
        known = _places(b)
        agree = _codes(a, known)[:, None] == _codes(b, known)[None, :]
        total += agree if weights is None else agree * weights[:, f, None]
    return total


@batch
def overlap(A: ListLike, B: ListLike) -> np.ndarray:
    """Return the shares of columns in which categorical rows agree: counting divided by the number of columns.

    Parameters
    ----------
    A, B : tables of categorical rows
        The rows.

    Returns
    -------
    ndarray of shape (len(A), len(B))
        The similarities of the rows of A to those of B.

    See Also
    --------
    counting : Return the numbers of columns in which categorical rows agree (Chen et al. 2009, Section 7.1).
    Goodall : Goodall's similarity of categorical rows, in which agreement in a rare value has more weight.

    References
    ----------
    Boriah, Chandola & Kumar 2008, "Similarity measures for categorical data", SDM, Table 2 ("Overlap").

    Examples
    --------
    >>> from similitude.similarities.categorical import overlap
    >>> overlap([("red", "round")], [("red", "square"), ("red", "round")])
    array([[0.5, 1. ]])
    """
    left, right = _two_tables(A, B)
    return _weighted_agreement(left, right) / max(1, left.shape[1])


_NUMBERS = " Numbers mean present (1) and absent (0); pass text, or missing='value', for numbers that name categories."


class _Tversky(BatchSimilarity):
    """The base of both of Tversky's models: rows as sets of features, and the salience of their parts."""

    def __init__(
        self,
        alpha: float = 0.5,
        beta: float = 0.5,
        weights: ArrayLike | None = None,
        missing: Literal["value", "absent"] | None = None,
    ):
        self.alpha = alpha
        self.beta = beta
        self.weights = weights
        self.missing = missing

    @property
    def symmetric(self) -> bool:
        """Whether psi(a, b) = psi(b, a): if alpha = beta, or if all rows have the same number of features."""
        return self.alpha == self.beta or self.missing == "value"

    def _saliences(self, A: Any, B: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ``f(A n B)``, ``f(A - B)`` and ``f(B - A)`` for every pair of rows."""
        if self.missing not in (None, "value", "absent"):
            raise ValueError(f"missing must be None, 'value' or 'absent'; got {self.missing!r}.")
        kinds = {_kind(A), _kind(B)} if self.missing != "value" else {"categories"}
        if "categories" not in kinds and kinds != {"missing"}:
            return self._saliences_of_sets(_present(A), _present(B))
        left, right = _two_tables(A, B)
        columns = self._column_weights(left.shape[1])
        present = [np.ones(table.shape) for table in (left, right)]
        if self.missing == "absent":
            present = [(table != "?").astype(float) for table in (left, right)]
        common = _weighted_agreement(left, right, present[0] * columns)
        # Summed column by column like the common part, so that the difference of a row and itself is exactly zero.
        only_a, only_b = (
            np.cumsum(p * columns, axis=1)[:, -1:] if len(columns) else p.sum(1, keepdims=True) for p in present
        )
        return common, only_a - common, only_b.T - common

    def _saliences_of_sets(self, A: Any, B: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        left, right = incidence(A, B, None if self.weights is None else np.size(self.weights), _NUMBERS)
        if self.weights is not None and _holds(A, set, frozenset):
            raise ValueError("weights are those of columns, which sets do not have; pass rows of 0 and 1.")
        columns = self._column_weights(left.shape[1])
        common = (left.multiply(columns[None, :]).tocsr() @ right.T).toarray()
        return common, (left @ columns)[:, None] - common, (right @ columns)[None, :] - common

    def _column_weights(self, n_columns: int) -> np.ndarray:
        columns = np.ones(n_columns) if self.weights is None else np.asarray(self.weights, dtype=float)
        if columns.shape != (n_columns,) or not np.isfinite(columns).all() or (columns < 0).any():
            raise ValueError(
                f"weights must be non-negative numbers, one for each of the {n_columns} columns; got {self.weights!r}."
            )
        return columns


def _holds(X: Any, *kinds: type) -> bool:
    """Return whether X is a sequence of objects of these types."""
    if hasattr(X, "iloc") or sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim != 1):
        return False
    return all(isinstance(row, kinds) for row in X)


def _needs_no_table(X: Any) -> bool:
    """Return whether X holds sets, packed bits, or rows of a sparse matrix."""
    return sparse.issparse(X) or _holds(X, set, frozenset, bytes)


def _kind(X: Any) -> str:
    """Return "present" for sets and rows of numbers, "categories" for rows with text, "missing" for rows of neither."""
    if _needs_no_table(X) or getattr(X, "dtype", np.dtype(object)).kind in "biuf":
        return "present"
    cells = as_table(X, "X").ravel()
    known = cells[cells != "?"]
    if not len(known):
        return "missing"
    return "present" if all(isinstance(cell, (Number, np.bool_)) for cell in known) else "categories"


def _present(X: Any) -> Any:
    """Return sets as they are, and rows of numbers as an array in which missing ones are 0."""
    if _needs_no_table(X) or getattr(X, "dtype", np.dtype(object)).kind in "biu":
        return X
    table = as_table(X, "X")
    return np.where(table == "?", 0, table).astype(float)


class TverskyContrast(_Tversky):
    """Tversky's contrast model on categorical rows, sets or binary vectors.

    ``psi(a, b) = theta f(A n B) - alpha f(A - B) - beta f(B - A)``, where A is the set of a's features and f adds their
    weights. The features of a categorical row are its (column, value) pairs. Those of a set are its elements, and those
    of a row of 0 and 1 the columns of its ones: what both rows lack is no common feature.

    Parameters
    ----------
    theta, alpha, beta : float, default=1, 0.5, 0.5
        The weights of the features of both rows, of those of a only and of those of b only.
    weights : array-like, default=None
        The salience of each column; None means 1 each.
    missing : {"value", "absent"}, default=None
        Whether a missing value (None, NaN, "?", and 0 in rows of 0 and 1) counts as a value or as no feature at all. If
        all rows have the same number of features, f(A - B) = f(B - A), and the model is symmetric for any alpha and
        beta. None means "absent" for rows of 0 and 1, sets, sparse matrices and packed bits, "value" for all other
        rows. Rows of other numbers need "value", which makes the numbers categories.

    See Also
    --------
    TverskyRatio : Tversky's ratio model on categorical rows, sets or binary vectors.
    TverskyLinear : Tversky's linear contrast model on sets, with the number of elements as salience.

    References
    ----------
    Tversky 1977, "Features of similarity", Psychological Review 84.

    Examples
    --------
    >>> from similitude.similarities.categorical import TverskyContrast
    >>> TverskyContrast()([("red", "round", "big")], [("red", "round", "small"), ("blue", "flat", "small")])
    array([[ 1., -3.]])
    """

    def __init__(
        self,
        theta: float = 1.0,
        alpha: float = 0.5,
        beta: float = 0.5,
        weights: ArrayLike | None = None,
        missing: Literal["value", "absent"] | None = None,
    ):
        super().__init__(alpha, beta, weights, missing)
        self.theta = theta

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the similarities of the rows of A to those of B."""
        common, only_a, only_b = self._saliences(A, B)
        return self.theta * common - (self.alpha * only_a + self.beta * only_b)


class TverskyRatio(_Tversky):
    """Tversky's ratio model on categorical rows, sets or binary vectors.

    ``psi(a, b) = f(A n B) / (f(A n B) + alpha f(A - B) + beta f(B - A))``, where A is the set of a's features and f
    adds their weights; 0 / 0 is 0 if only one of a and b has features, else 1. The features of a categorical row are
    its (column, value) pairs. Those of a set are its elements, and those of a row of 0 and 1 the columns of its ones:
    what both rows lack is no common feature. On fingerprints of molecules, this is the Tversky index of RDKit (which is
    0 for two empty fingerprints, where it is 1 here).

    Parameters
    ----------
    alpha, beta : float, default=0.5
        The weights of the features of a only and of those of b only, not negative.
    weights : array-like, default=None
        The salience of each column; None means 1 each.
    missing : {"value", "absent"}, default=None
        Whether a missing value (None, NaN, "?", and 0 in rows of 0 and 1) counts as a value or as no feature at all.
        None means "absent" for rows of 0 and 1, sets, sparse matrices and packed bits, "value" for all other rows. Rows
        of other numbers need "value", which makes the numbers categories.

    See Also
    --------
    TverskyContrast : Tversky's contrast model on categorical rows, sets or binary vectors.
    TverskyLinear : Tversky's linear contrast model on sets, with the number of elements as salience.
    jaccard : Return the Jaccard similarities ``|A n B| / |A u B|``.

    References
    ----------
    Tversky 1977, "Features of similarity", Psychological Review 84.

    Examples
    --------
    >>> from similitude.similarities.categorical import TverskyRatio
    >>> TverskyRatio(alpha=1, beta=1)([("red", "round", "big")], [("red", "round", "small")])
    array([[0.5]])
    >>> part, whole = [[0, 1, 0, 0, 1]], [[0, 1, 1, 1, 1]]
    >>> model = TverskyRatio(alpha=0.9, beta=0.1)
    >>> model(part, whole).round(3), model(whole, part).round(3)
    (array([[0.909]]), array([[0.526]]))
    """

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the similarities of the rows of A to those of B."""
        if self.alpha < 0 or self.beta < 0:
            raise ValueError(f"alpha and beta must not be negative; got {self.alpha!r} and {self.beta!r}.")
        common, only_a, only_b = self._saliences(A, B)
        whole = common + (self.alpha * only_a + self.beta * only_b)
        alike = ((only_a > 0) == (only_b > 0)).astype(float)
        return np.divide(common, whole, out=alike, where=whole > 0)


class Goodall(BatchSimilarity):
    """Goodall's similarity of categorical rows, in which agreement in a rare value has more weight.

    ``psi(a, b) = mean_f [a_f = b_f] (1 - p_f(a_f))``, where ``p_f(v) = n_v (n_v - 1) / (n (n - 1))`` is the probability
    that two of the n training rows share the value v, which n_v of them have. This is the variant called Goodall3,
    learned from the training rows without their labels. A value that does not occur in training has the weight 1.

    Attributes
    ----------
    n_rows_ : int
        The number of training rows.

    See Also
    --------
    VDM : Value difference metric (Stanfill & Waltz 1986), learned from labelled categorical rows.
    overlap : Return the shares of columns in which categorical rows agree: counting divided by the number of columns.

    References
    ----------
    Goodall 1966, "A new similarity index based on probability", Biometrics 22.
    Boriah, Chandola & Kumar 2008, "Similarity measures for categorical data", SDM, Table 2 ("Goodall3").

    Examples
    --------
    >>> from similitude.similarities.categorical import Goodall
    >>> rows = [("a",), ("a",), ("a",), ("b",)]
    >>> Goodall().fit(rows)(rows, rows)[[0, 0, 3], [1, 3, 3]]
    array([0.5, 0. , 1. ])
    """

    def fit(self, X: ListLike, y: ListLike | None = None) -> Self:
        """Count how often each value occurs.

        Parameters
        ----------
        X : table of categorical rows
            The training rows.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        Goodall
            The fitted object.
        """
        table = as_table(X, "X")
        n = len(table)
        self._values = [_places(column) for column in table.T]
        self._weights = []
        for column, known in zip(table.T, self._values):
            counts = np.append(np.bincount(_codes(column, known), minlength=len(known)).astype(float), 0.0)
            self._weights.append(1.0 - counts * (counts - 1.0) / max(1, n * (n - 1)))
        self.n_rows_ = n
        return self

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the similarities of the rows of A to those of B."""
        check_is_fitted(self, "n_rows_")
        A, B = _two_tables(A, B, self)
        columns = zip(A.T, self._values, self._weights)
        weights = np.column_stack([weight[_codes(a, known)] for a, known, weight in columns] or [np.empty(len(A))])
        return _weighted_agreement(A, B, weights) / max(1, len(self._values))


class VDM(BatchDistance):
    """Value difference metric (Stanfill & Waltz 1986), learned from labelled categorical rows.

    ``d(x, z) = sum_f sum_c (P(c | x_f) - P(c | z_f))^2`` over columns f and classes c, divided by the largest d among
    the training rows. P(c | v) is the share of class c among the training rows with value v in that column; a value
    that does not occur in training gets the overall shares of the classes. The similarity is 1 - d.

    Parameters
    ----------
    weighted : bool, default=False
        Whether each column's term is weighted by ``sqrt(sum_c P(c | x_f)^2)``, averaged over both directions.

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    largest_ : float
        The largest unscaled distance between training rows.

    See Also
    --------
    Goodall : Goodall's similarity of categorical rows, in which agreement in a rare value has more weight.
    counting : Return the numbers of columns in which categorical rows agree (Chen et al. 2009, Section 7.1).

    Examples
    --------
    >>> from similitude.similarities import VDM
    >>> X, y = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")], [0, 0, 1, 1]
    >>> VDM().fit(X, y)(X[:1], X)
    array([[0., 0., 1., 1.]])
    """

    to_similarity = "one-minus"

    def __init__(self, weighted: bool = False):
        self.weighted = weighted

    def fit(self, X: ListLike, y: ListLike) -> Self:
        """Count the classes of the rows with each value.

        Parameters
        ----------
        X : table of categorical rows
            The training rows.
        y : array-like of shape (n,)
            Their class labels.

        Returns
        -------
        VDM
            The fitted object.
        """
        if y is None:
            raise ValueError("y: the value difference metric needs class labels; pass y to fit.")
        table = as_table(X, "X")
        self.classes_, encoded = np.unique(column_or_1d(labels_in_order(y, X)), return_inverse=True)
        if len(encoded) != len(table):
            raise ValueError(f"y must have one label per row of X; got {len(encoded)} for {len(table)} rows.")
        overall = np.bincount(encoded, minlength=len(self.classes_)) / len(encoded)
        self._values = [_places(column) for column in table.T]
        self._tables = []
        for column, known in zip(table.T, self._values):
            counts = np.zeros((len(known) + 1, len(self.classes_)))
            np.add.at(counts, (_codes(column, known), encoded), 1.0)
            shares = np.vstack([counts[:-1] / counts[:-1].sum(axis=1, keepdims=True), overall])
            self._tables.append(self._value_distances(shares))
        self.largest_ = float(self._distances(table, table).max())
        return self

    def _value_distances(self, shares: np.ndarray) -> np.ndarray:
        """Return the distance between every two values of a column."""
        squares = ((shares[:, None, :] - shares[None, :, :]) ** 2).sum(axis=2)
        if self.weighted:
            weights = np.sqrt((shares**2).sum(axis=1))
            squares = (weights[:, None] + weights[None, :]) / 2 * squares
        return squares

    def _distances(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        total = np.zeros((len(A), len(B)))
        # Summed column by column from tables, so that equal pairs of rows have equal distances, to the last bit.
        for a, b, known, distances in zip(A.T, B.T, self._values, self._tables):
            total += distances[np.ix_(_codes(a, known), _codes(b, known))]
        return total

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the distances between two batches of rows, as a share of the largest distance in training."""
        check_is_fitted(self, "largest_")
        A, B = _two_tables(A, B, self)
        return self._distances(A, B) / (self.largest_ or 1.0)


_rows = partial(Measure, objects="categorical rows", batch=True, symmetric=True)
_rows_or_sets = partial(_rows, objects=f"categorical rows, {SETS}", reference="Tversky 1977")

register(
    _rows(counting, name="counting", range="0 to the number of columns", reference="Cazzanti & Gupta 2007, Section 4")
)
register(
    _rows(
        VDM(),
        name="vdm",
        orientation="dissimilarity",
        to_similarity="one-minus",
        learns=True,
        range="0 to 1 on the training rows",
        reference="Stanfill & Waltz 1986",
    )
)
register(_rows(overlap, name="overlap", range="0 to 1", reference="Boriah et al. 2008, Table 2"))
register(
    _rows_or_sets(
        TverskyContrast(), name="tversky-contrast", range="minus the number of columns to the number of columns"
    )
)
register(_rows_or_sets(TverskyRatio(), name="tversky-ratio", range="0 to 1"))
register(
    _rows(Goodall(), name="goodall", learns=True, range="0 to 1", reference="Goodall 1966; Boriah et al. 2008, Table 2")
)
