"""Making an asymmetric matrix symmetric."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.warn import warn
from similitude.proximity.check import SimilarityWarning, asymmetry, check_similarity, is_symmetric


class Symmetrized(NamedTuple):
    """A symmetric matrix, and how asymmetric it was."""

    S: Any
    asymmetry: float


def symmetrize(S: Any, how: str = "mean") -> Symmetrized:
    """Make a square matrix symmetric.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (n, n)
    how : {"mean", "min", "max", "lower", "upper"}, default="mean"
        ``(S + S^T)/2``, the smaller or larger of the two directions, or one triangle mirrored.

    Returns
    -------
    Symmetrized
        The named tuple ``(S, asymmetry)``; asymmetry is ``||S - S^T||_F / (2 ||S||_F)`` of the input, from 0
        (symmetric) to 1 (antisymmetric).

    Examples
    --------
    >>> from similitude import symmetrize
    >>> S, how_asymmetric = symmetrize([[1.0, 0.5], [0.3, 1.0]])
    >>> S
    array([[1. , 0.4],
           [0.4, 1. ]])
    >>> round(how_asymmetric, 3)
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
    if how not in ways:
        raise ValueError(f"how must be one of {sorted(ways)}; got {how!r}.")
    result = ways[how](S)
    return Symmetrized(result.tocsr() if sparse.issparse(result) else result, asymmetry(S))


def mean_of_directions(S: Any) -> Any:
    """``(S + S^T)/2``."""
    # Halved first: the sum of two numbers near the largest float would overflow.
    half = S * S.dtype.type(0.5)
    return half + half.T


def _mirror(S: Any, triangle: Any) -> Any:
    strict = -1 if triangle in (np.tril, sparse.tril) else 1
    return triangle(S) + triangle(S, strict).T


def symmetrized_for(who: str, S: Any) -> Any:
    """Return S where it is symmetric, else ``(S + S^T)/2`` with one warning that says who needs it."""
    return mean_of_directions(S) if warn_of_asymmetry(who, S) else S


def warn_of_asymmetry(who: str, S: Any, *, both_directions: bool = False) -> bool:
    """Return whether S is asymmetric; if so, warn that ``who`` takes ``(S + S^T)/2`` instead.

    ``both_directions`` tells that new rows are treated alike.
    """
    if is_symmetric(S):
        return False
    rows = (
        "The rows of new samples are treated alike."
        if both_directions
        else "New rows are taken as they are: make them (psi(x, x_j) + psi(x_j, x))/2 where both directions are known. "
        "If S was symmetric before a scikit-learn meta-estimator drew samples from it, wrap that in "
        "similitude.PairwiseMeta."
    )
    warn(
        f"{who} needs a symmetric similarity; S is asymmetric ({asymmetry(S):.0%} of its norm) and (S + S^T)/2 is used "
        f"instead. {rows}",
        SimilarityWarning,
    )
    return True
