"""Matrices rescaled to the range from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import sparse

from similitude.proximity.check import check_similarity

if TYPE_CHECKING:
    from similitude._utils.types import Matrix, MatrixLike


def rescale(S: MatrixLike) -> Matrix:
    """Return S with its range mapped linearly onto [0, 1]; a constant matrix becomes zero.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (m, n)
        The matrix. The smallest entry of a sparse matrix must be 0, so that absent entries stay 0.

    Returns
    -------
    ndarray or CSR matrix of shape (m, n)
        The rescaled matrix.

    See Also
    --------
    Rescale : The same as a transformer.

    Examples
    --------
    >>> from similitude import rescale
    >>> rescale([[4.0, 2.0], [0.0, 4.0]])
    array([[1. , 0.5],
           [0. , 1. ]])
    """
    S = check_similarity(S, square=False)
    return apply_range(S, *value_range(S))


def value_range(S: Any) -> tuple[float, float]:
    """Return the smallest and the largest entry; absent entries of a sparse matrix are 0."""
    if sparse.issparse(S) and not S.has_canonical_format:
        S = S.copy()  # min and max would merge duplicate entries of the caller's matrix in place
    return float(S.min()), float(S.max())


def apply_range(S: Any, smallest: float, largest: float) -> Any:
    """Return ``(S - smallest) / (largest - smallest)``, computed without overflow."""
    if sparse.issparse(S) and smallest != 0:
        raise ValueError(
            f"S: a sparse matrix can only be rescaled if its smallest entry is 0 (here {smallest:.6g}); "
            "pass a dense one."
        )
    span = largest / 2 - smallest / 2
    if span == 0:
        return S * S.dtype.type(0)
    if sparse.issparse(S):
        return S * S.dtype.type(1 / largest)
    return ((S / 2 - smallest / 2) / span).astype(S.dtype, copy=False)
