"""Symmetrisation of asymmetric matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.checks import check_choice
from similitude._utils.warn import warn
from similitude.proximity.check import SimilarityWarning, asymmetry, check_similarity, dense, for_lookup, is_symmetric

if TYPE_CHECKING:
    from similitude._utils.types import Matrix, MatrixLike


class Symmetrized(NamedTuple):
    """A symmetric matrix, and the asymmetry that it had."""

    S: Matrix
    asymmetry: float


def symmetrize(S: MatrixLike, how: Literal["mean", "min", "max", "lower", "upper"] = "mean") -> Symmetrized:
    """Return a symmetric version of a square matrix.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (n, n)
        The matrix.
    how : {"mean", "min", "max", "lower", "upper"}, default="mean"
        ``(S + S^T)/2``, the smaller or larger of the two directions, or one triangle mirrored.

    Returns
    -------
    Symmetrized
        The named tuple ``(S, asymmetry)``; asymmetry is ``||S - S^T||_F / (2 ||S||_F)`` of the input, from 0
        (symmetric) to 1 (antisymmetric).

    See Also
    --------
    diagnose : Return figures that describe a similarity matrix, and advice that follows from them.

    Examples
    --------
    >>> from similitude import symmetrize
    >>> S, asymmetry = symmetrize([[1.0, 0.5], [0.3, 1.0]])
    >>> S
    array([[1. , 0.4],
           [0.4, 1. ]])
    >>> round(asymmetry, 3)
    0.092
    """
    S = check_similarity(S, orientation="any")
    ways = {
        "mean": mean_of_directions,
        "min": lambda A: A.minimum(A.T) if sparse.issparse(A) else np.minimum(A, A.T),
        "max": lambda A: A.maximum(A.T) if sparse.issparse(A) else np.maximum(A, A.T),
        "lower": lambda A: _mirror(A, sparse.tril if sparse.issparse(A) else np.tril),
        "upper": lambda A: _mirror(A, sparse.triu if sparse.issparse(A) else np.triu),
    }
    check_choice(how, "how", sorted(ways))
    result = ways[how](S)
    return Symmetrized(result.tocsr() if sparse.issparse(result) else result, asymmetry(S))


def mean_of_directions(S: Matrix) -> Matrix:
    """Return ``(S + S^T)/2``."""
    # S is halved first, because the sum of two numbers near the largest float would overflow.
    half = S * S.dtype.type(0.5)
    return half + half.T


def _mirror(S: Any, triangle: Any) -> Any:
    strict = -1 if triangle in (np.tril, sparse.tril) else 1
    return triangle(S) + triangle(S, strict).T


def known_in_both_directions(S: Any) -> Any:
    """Return S with 0 for pairs that are not known in both directions."""
    if not sparse.issparse(S):
        return np.where(np.isnan(S) | np.isnan(S.T), S.dtype.type(0), S)
    known = S.copy()
    known.data = np.ones_like(S.data)
    return S.multiply(known.T).tocsr()


def warn_of_asymmetry(who: str, S: Any, *, both_directions: bool = False) -> bool:
    """Return whether S is asymmetric, and warn that ``(S + S^T)/2`` is used instead if it is."""
    if is_symmetric(S):
        return False
    rows = (
        "The rows of new samples are treated in the same way."
        if both_directions
        else "New rows are used unchanged: pass (psi(x, x_j) + psi(x_j, x))/2 if both directions are known. "
        "If S was symmetric before a scikit-learn meta-estimator drew samples from it, wrap that estimator in "
        "similitude.PairwiseMeta."
    )
    warn(
        f"{who} needs a symmetric similarity; S is asymmetric ({asymmetry(S):.0%} of its norm) and (S + S^T)/2 is used "
        f"instead. {rows}",
        SimilarityWarning,
    )
    return True


_ROWS_TRIED = 64
_FEWEST = 8


def check_same_order(S: Any, *, dissimilarity: bool = False) -> None:
    """Raise a ValueError if the rows of a square matrix were drawn from a larger or another one, but not its columns.

    ``BaggingClassifier`` does this to a matrix that it takes for feature vectors. It is noticed in a symmetric matrix
    whose samples are more similar to themselves than to any other: the largest entry of a row is then in the column of
    its own sample, and with the columns drawn like the rows the matrix is symmetric again.
    """
    n = S.shape[0]
    if n < _FEWEST:
        return
    tried = np.unique(np.linspace(0, n - 1, _ROWS_TRIED).astype(np.intp))
    some = dense(S[tried]) * (-1 if dissimilarity else 1)
    largest = some.max(axis=1, keepdims=True)
    moved = largest.ravel() > some[np.arange(len(tried)), tried]
    varied = np.array([len(np.unique(row)) > 2 for row in some])
    # A row whose largest entry occurs twice does not tell which sample it belongs to.
    tied = np.sum(some == largest, axis=1) > 1
    if np.mean(moved & varied) < 0.25 or tied.any() or is_symmetric(S):
        return
    if not is_symmetric(dense(S[tried])[:, some.argmax(axis=1)]):
        return  # the rows that are tried nearly always tell, and what follows takes memory for another S
    if sparse.issparse(S):  # a view, since argmax adds entries that are stored in parts, in place
        S = for_lookup(type(S)((S.data, S.indices, S.indptr), shape=S.shape))
    own = np.asarray(S.argmin(axis=1) if dissimilarity else S.argmax(axis=1)).ravel()
    if len(np.unique(own)) < n and is_symmetric(S[:, own]):
        first, second = np.flatnonzero(own == np.argmax(np.bincount(own)))[:2]
        raise ValueError(
            f"X must have a row and a column for each sample, in the same order; its rows {first} and {second} are the "
            f"same, that of the sample of column {own[first]}, while the columns are not. BaggingClassifier and others "
            "draw rows only: wrap them, PairwiseMeta(BaggingClassifier(...)), or cut rows and columns alike."
        )
