"""Checks of similarity matrices, as the input contract requires them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from similitude._utils.forms import foreign_form, is_frame
from similitude._utils.ids import check_square_names, some
from similitude._utils.warn import warn

if TYPE_CHECKING:
    from similitude._utils.types import Matrix, MatrixLike

SYMMETRY_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""The largest ``|S - S^T| / max|S|`` for which a matrix counts as symmetric."""

_BLOCK = 2**22
_FEW, _NEARLY_ALL = 5, 0.95


class SimilarityWarning(UserWarning):
    """A warning about a similarity matrix: what it looks like, or how it was changed.

    See Also
    --------
    check_similarity
        Check a matrix of similarities and return it as a float array or CSR matrix, without a copy if possible.
    symmetrize : Return a symmetric version of a square matrix.
    diagnose : Return figures that describe a similarity matrix, and advice that follows from them.
    """


def check_similarity(
    S: MatrixLike,
    *,
    name: str = "S",
    square: bool = True,
    accept_sparse: bool = True,
    orientation: Literal["similarity", "dissimilarity", "any"] = "similarity",
    estimator: object | None = None,
) -> Matrix:
    """Check a matrix of similarities and return it as a float array or CSR matrix, without a copy if possible.

    Parameters
    ----------
    S : array-like, memmap, DataFrame or sparse matrix of shape (m, n)
        The matrix; the absent entries of a sparse matrix are 0.
    name : str, default="S"
        The name of the matrix in error messages.
    square : bool, default=True
        Whether rows and columns must be the same samples.
    accept_sparse : bool, default=True
        Whether a sparse matrix is allowed.
    orientation : {"similarity", "dissimilarity", "any"}, default="similarity"
        The meaning of the entries, if it is known. A square similarity matrix that looks like a dissimilarity matrix
        (the values of samples with themselves are the smallest of their rows) causes a warning.
    estimator : object, default=None
        The estimator that error messages name.

    Returns
    -------
    ndarray or CSR matrix
        The matrix; float32 stays float32, everything else becomes float64.

    See Also
    --------
    Proximities : A similarity matrix together with the data that belong to its samples, which are sliced together.
    diagnose : Return figures that describe a similarity matrix, and advice that follows from them.

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
    return read_similarity(
        S, name=name, square=square, accept_sparse=accept_sparse, orientation=orientation, estimator=estimator
    )[0]


def read_similarity(
    S: Any,
    *,
    name: str = "S",
    square: bool = True,
    accept_sparse: bool = True,
    orientation: Literal["similarity", "dissimilarity", "any"] = "similarity",
    estimator: Any = None,
    takes_nan: bool = False,
) -> tuple[Matrix, bool]:
    """Return a checked matrix as :func:`check_similarity` does, and whether it contains NaN."""
    given = S
    if square and is_frame(S):
        check_square_names(S, name)
        form = foreign_form(S)
        S = S if form is None else form.matrix
    try:
        S = check_array(
            S,
            accept_sparse="csr" if accept_sparse else False,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            estimator=estimator,
        )
    except (ValueError, TypeError) as error:
        if "Complex data not supported" in str(error):  # scikit-learn's checks require these words
            raise ValueError(
                f"{name} is complex. Complex data not supported; pass its real part ({name}.real)."
            ) from error
        # scikit-learn's checks require a TypeError for an object that is not a number.
        hint = " For raw objects name a similarity, such as similarity='levenshtein'." if estimator is not None else ""
        what = "has no rows" if "0 sample(s)" in str(error) else "is not a matrix of numbers"
        words = [column for column in given if given[column].dtype.kind not in "biufc"] if is_frame(given) else []
        if 0 < len(words) < given.shape[1]:
            hint = f" The columns {some(words)} hold no numbers; if they are ids, make them the index, or drop them."
        why = str(error).rstrip(".")
        raise type(error)(f"{name} {what}: {why}.{hint}") from error
    has_nan = _check_finite(S, name, takes_nan)
    if square and S.shape[0] != S.shape[1]:
        raise ValueError(
            f"{name} must be square, one row and one column per sample; got shape {S.shape}. Cut rows and columns "
            "alike (similitude.train_test_split does); for rows of features name a similarity, such as "
            "similarity='euclidean'; if a scikit-learn meta-estimator or pipeline cut the rows only, wrap it in "
            f"similitude.PairwiseMeta.{' It also contains NaN.' if has_nan else ''}"
        )
    if square and orientation == "similarity":
        warn_of_dissimilarity(S, name)
    return S, has_nan


def _check_finite(S: Any, name: str, takes_nan: bool) -> bool:
    """Return whether S contains NaN, or raise a ValueError that names the first NaN or infinity.

    A memmap is read block by block.
    """
    refused: Any = np.isinf if takes_nan else lambda values: ~np.isfinite(values)
    if sparse.issparse(S):
        bad = np.flatnonzero(refused(S.data))
        if bad.size:
            row = int(np.searchsorted(S.indptr, bad[0], side="right") - 1)
            _refuse(S.data[bad[0]], row, int(S.indices[bad[0]]), name)
        return bool(np.isnan(S.data).any())
    has_nan = False
    rows = max(1, _BLOCK // max(1, S.shape[1]))
    for start in range(0, len(S), rows):
        block = S[start : start + rows]
        # The sum of finite numbers is finite unless it overflows; only then is every entry checked.
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum()
        if not np.isfinite(total):
            places = np.argwhere(refused(block))
            if len(places):
                row, column = map(int, places[0])
                _refuse(block[row, column], start + row, column, name)
            has_nan |= bool(np.isnan(block).any())
    return has_nan


def _refuse(value: float, row: int, column: int, name: str) -> None:
    what = "NaN" if np.isnan(value) else "infinity"
    raise ValueError(
        f"{name} contains {what} (first at row {row}, column {column}); every similarity must be a finite number: "
        f"impute the values or drop the samples."
    )


def warn_of_dissimilarity(S: Matrix, name: str, one_of: str | None = None) -> None:
    """Warn if the values of a similarity, which may be ``one_of`` several, look like those of a dissimilarity."""
    if looks_like_dissimilarity(S):
        remedy = "'max-minus'" if one_of is None else f"{{{one_of!r}: 'max-minus'}}"
        warn(
            f"{name} looks like a dissimilarity (the values of samples with themselves are the smallest of their "
            f"rows), but it is used as a similarity. If it is a dissimilarity, pass dissimilarity={remedy} (or "
            "another map).",
            SimilarityWarning,
            about=name,
        )


def looks_like_dissimilarity(S: Matrix) -> bool:
    """Return whether 95% of the samples have a value with themselves that is smaller than 95% of those with others.

    Of fewer than five samples these may be the smallest by chance: then the diagonal must be zero, and all other values
    positive.
    """
    n = len(S) if not sparse.issparse(S) else 0
    own = np.diagonal(S) if n > 1 else np.empty(0)
    if n < 2 or (n < _FEW and np.any(own)):
        return False
    exceptions, start, rows = 0, 0, min(64, max(1, _BLOCK // n))
    while start < n:
        block = S[start : start + rows]
        places = np.arange(start, start + len(block))
        with np.errstate(invalid="ignore"):
            larger = np.count_nonzero(block > own[places, None], axis=1)
        others = np.count_nonzero(~np.isnan(block), axis=1) - 1
        needed = others if n < _FEW else _NEARLY_ALL * others
        exceptions += int(np.count_nonzero((larger < needed) | (others < 1) | np.isnan(own[places])))
        if exceptions > (0 if n < _FEW else (1 - _NEARLY_ALL) * n):
            return False
        start, rows = start + len(block), max(1, _BLOCK // n)  # of most similarities the first rows suffice
    return True


def dense(S: Any) -> np.ndarray:
    """Return S as an ndarray, for methods that need all entries at once."""
    return S.toarray() if sparse.issparse(S) else np.asarray(S)


def for_lookup(S: Any) -> Any:
    """Return S as an ndarray, or as a CSR matrix whose columns are sorted and whose entries are stored once."""
    if not sparse.issparse(S):
        return np.asarray(S)
    if not S.has_canonical_format:
        S = S.copy()
        S.sum_duplicates()
    return S


def csr_arrays(S: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of a CSR matrix as compiled functions take them: contiguous, with one type of index."""
    values = np.float32 if S.dtype == np.float32 else np.float64
    index = np.result_type(S.indices, S.indptr)
    indices, indptr = (np.ascontiguousarray(a, dtype=index) for a in (S.indices, S.indptr))
    return np.ascontiguousarray(S.data, dtype=values), indices, indptr


def asymmetry(S: Any) -> float:
    """Return the share of S that is antisymmetric, ``||S - S^T||_F / (2 ||S||_F)``."""
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


def is_symmetric(S: Matrix) -> bool:
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
    """Return max |S| without copying S."""
    return float(max(S.max(initial=0.0), -S.min(initial=0.0)))
