"""The symmetric eigendecomposition used throughout the package, and figures computed from eigenvalues.

SciPy's divide-and-conquer driver (``evd``) is the fastest that LAPACK offers here: at n = 900 ``evr`` takes 1.2 times
and ``ev`` 5 to 6 times as long (``python -m benchmarks eigen``).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from similitude._utils.threads import suitable_blas_threads
from similitude.numerics.shared import once

ZERO_TOLERANCE = 1e-10
"""Eigenvalues with ``|lambda| <= ZERO_TOLERANCE * max|lambda|`` count as zero."""


def eigh(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues and eigenvectors of a symmetric matrix, in float64."""
    values, vectors = once("eigh", np.ascontiguousarray(S, dtype=np.float64), _decompose)
    return values, vectors


def _decompose(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Scaling to unit size prevents entries near 1e-300 or 1e300 from under- or overflowing inside LAPACK.
    scale = float(np.max(np.abs(S), initial=0.0))
    if scale == 0.0 or len(S) == 1:  # the LAPACK wrapper of older versions of SciPy fails on a single entry
        return np.diagonal(S).copy(), np.eye(len(S))
    exponent = float(2.0 ** np.floor(np.log2(scale)))
    with suitable_blas_threads(len(S)):
        values, vectors = linalg.eigh(S / exponent, driver="evd", check_finite=False, overwrite_a=True)
    with np.errstate(over="ignore"):
        values = values * exponent
    if not np.isfinite(values).all():
        raise ValueError("the similarities are too large: their eigenvalues overflow. Rescale them first.")
    return values, vectors


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
