"""The symmetric eigendecomposition used throughout the package, and modifications of the spectrum.

SciPy's divide-and-conquer driver (``evd``) is the fastest that LAPACK offers here: at n = 900 ``evr`` takes 1.3 times
and ``ev`` 4.9 times as long (``python -m benchmarks eigen``).

The modifications make a symmetric matrix positive semidefinite (Chen et al. 2009, Section 2). With ``S = V diag(values)
V^T`` the matrix becomes ``V diag(modified_eigenvalues) V^T``, and a new row s becomes ``P s`` with ``P = V
diag(row_map_weights) V^T``, so that new rows are treated like the rows of S (except by the shift, which changes only
the diagonal).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from similitude._utils.threads import suitable_blas_threads
from similitude.numerics.shared import once

ZERO_TOLERANCE = 1e-10
"""Eigenvalues with ``|lambda| <= ZERO_TOLERANCE * max|lambda|`` count as zero."""

MOST_DECOMPOSED = 1500
"""The largest number of samples whose whole matrix is decomposed to choose among methods, or only to describe it."""

SPECTRA = ("clip", "flip", "shift", "square", "none")
"""The names of the modifications."""


def eigh(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues and eigenvectors of a symmetric matrix, in float64.

    A matrix in other units, larger by a power of two, counts as equal for :func:`~similitude.numerics.shared.once`.
    """
    S, exponent = _near_one(S)
    values, vectors = once("eigh", S, _decompose, lasting=True)
    values = _in_units(values, exponent)
    values.flags.writeable = vectors.flags.writeable
    return values, vectors


def eigenvalues_only(S: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of a symmetric matrix in ascending order, which takes a third of the time of all."""
    S, exponent = _near_one(S)
    (values,) = once("eigenvalues", S, lambda own: (_solved(own, False),))
    return _in_units(values, exponent)


def _near_one(S: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a matrix in units of a power of two, and these units.

    Scaling to unit size prevents entries near 1e-300 or 1e300 from under- or overflowing inside LAPACK.
    """
    S = np.ascontiguousarray(S, dtype=np.float64)
    scale = float(np.max(np.abs(S), initial=0.0))
    exponent = float(2.0 ** np.floor(np.log2(scale))) if 0 < scale < np.inf else 1.0
    return S / exponent, exponent


def _in_units(values: np.ndarray, exponent: float) -> np.ndarray:
    with np.errstate(over="ignore"):
        values = values * exponent
    if not np.isfinite(values).all():
        raise ValueError("the similarities are too large: their eigenvalues overflow. Rescale them first.")
    return values


def _decompose(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _solved(S, True)


def _solved(S: np.ndarray, vectors: bool) -> Any:
    """Return the eigenvalues, and the vectors if they are wanted; S is overwritten."""
    if not S.any() or len(S) == 1:  # the LAPACK wrapper of older versions of SciPy fails on a single entry
        values = np.sort(np.diagonal(S))
        return (values, np.eye(len(S))) if vectors else values
    options = {"driver": "evd", "check_finite": False, "overwrite_a": True, "eigvals_only": not vectors}
    with suitable_blas_threads(len(S)):
        return linalg.eigh(S, **options)


def is_semidefinite(S: np.ndarray) -> bool:
    """Return whether a symmetric matrix has no eigenvalue below 1e-10 of its largest row sum, by Cholesky's method."""
    size = float(np.max(np.abs(S).sum(axis=1), initial=0.0))
    A = S + np.diag(np.full(len(S), ZERO_TOLERANCE * size))
    try:
        with suitable_blas_threads(len(S)):
            linalg.cholesky(A, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return size == 0.0
    return True


def cut_zeros(eigenvalues: np.ndarray, tol: float = ZERO_TOLERANCE) -> np.ndarray:
    """Return the eigenvalues, with those that count as zero set to zero."""
    largest = np.max(np.abs(eigenvalues), initial=0.0)
    return np.where(np.abs(eigenvalues) <= tol * largest, 0.0, eigenvalues)


def negative_eigenfraction(eigenvalues: np.ndarray) -> float:
    """Return the sum of the absolute negative eigenvalues over the sum of all absolute eigenvalues (NEF)."""
    largest = np.max(np.abs(eigenvalues), initial=0.0)
    if largest == 0:
        return 0.0
    sizes = np.abs(eigenvalues / largest)
    return abs(float(np.sum(sizes[eigenvalues < 0]) / np.sum(sizes)))  # the sum of no numbers may be -0.0


def spectrum_shift(values: np.ndarray) -> float:
    """Return what a shift adds to each eigenvalue, and to the diagonal: ``abs(min(lambda_min, 0))``."""
    return abs(float(np.min(values, initial=0.0)))


def modified_eigenvalues(values: np.ndarray, spectrum: str) -> np.ndarray:
    """Return the modified eigenvalues.

    ========  =====================================
    spectrum  the eigenvalue lambda becomes
    ========  =====================================
    clip      max(lambda, 0)
    flip      abs(lambda)
    shift     lambda + abs(min(lambda_min, 0))
    square    lambda^2
    none      lambda
    ========  =====================================
    """
    with np.errstate(over="ignore"):
        if spectrum == "clip":
            modified = np.maximum(values, 0.0)
        elif spectrum == "flip":
            modified = np.abs(values)
        elif spectrum == "shift":
            modified = values + spectrum_shift(values)
        elif spectrum == "square":
            modified = np.square(values)
        elif spectrum == "none":
            modified = values
        else:
            raise ValueError(f"spectrum must be clip, flip, shift, square or none; got {spectrum!r}.")
    if not np.isfinite(modified).all():
        raise ValueError(
            f"spectrum={spectrum!r} overflows because the eigenvalues of S are too large; rescale S first."
        )
    return modified


def row_map_weights(values: np.ndarray, spectrum: str) -> np.ndarray:
    """Return the eigenvalues of P, the linear map of new rows.

    ``modified_eigenvalues(values, spectrum)`` equals ``values`` times these weights, except for the shift, which does
    not change rows.
    """
    if spectrum == "clip":
        return (values > 0).astype(float)
    if spectrum == "flip":
        return np.sign(values)
    return values if spectrum == "square" else np.ones(len(values))


def modified_matrix(
    S: np.ndarray, spectrum: str, values: np.ndarray, vectors: np.ndarray, tol: float = ZERO_TOLERANCE
) -> np.ndarray:
    """Return the matrix with the modified spectrum."""
    if spectrum == "square":
        return S @ S.T
    K = S.copy()
    if spectrum == "none":
        return K
    cut = cut_zeros(values, tol)
    if spectrum == "shift":
        K[np.diag_indices_from(K)] += spectrum_shift(cut)
        return K
    modified = modified_eigenvalues(cut, spectrum)
    changed, remaining = modified != values, modified != 0
    # Multiply by the eigenvectors whose eigenvalues change or by those that remain, whichever are fewer.
    if np.sum(changed) <= np.sum(remaining):
        V = vectors[:, changed]
        K += (V * (modified - values)[changed]) @ V.T
    else:
        V = vectors[:, remaining]
        K = (V * modified[remaining]) @ V.T
    # Rounding makes the two triangles differ in the last bit.
    half = 0.5 * K
    return half + half.T


class RowMap:
    """The linear map of rows to ``rows P`` with ``P = V diag(weights) V^T``."""

    def __init__(self, vectors: np.ndarray, weights: np.ndarray):
        # P = base I + V diag(weights - base) V^T. The base is chosen so that fewer eigenvectors are multiplied by.
        self._base = 1.0 if np.sum(weights == 1.0) > np.sum(weights == 0.0) else 0.0
        chosen = weights != self._base
        self._vectors, self._weights = vectors[:, chosen], weights[chosen] - self._base

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Return the mapped rows."""
        return self._base * rows + ((rows @ self._vectors) * self._weights) @ self._vectors.T
