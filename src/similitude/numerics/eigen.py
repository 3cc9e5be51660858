"""The symmetric eigendecomposition of the package, and what is computed from eigenvalues.

SciPy's divide-and-conquer driver (``evd``) is the fastest LAPACK offers here: at n = 900 ``evr`` takes 1.2 times and
``ev`` 5 to 6 times as long (``python -m benchmarks eigen``).
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from scipy import linalg

from similitude.numerics.shared import once
from similitude.numerics.threads import one_blas_thread

ZERO_TOLERANCE = 1e-10
"""Eigenvalues with ``|lambda| <= ZERO_TOLERANCE * max|lambda|`` count as zero."""

# Up to this size a second BLAS thread gains nothing, and on a busy machine it costs: at n = 900 four times as long.
_SMALL = 1000


def eigh(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix, in float64.

    Only the lower triangle is read.
    """
    values, vectors = once("eigh", np.ascontiguousarray(S, dtype=np.float64), _decompose)
    return values, vectors


def _decompose(S: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # Scaling to unit size keeps entries near 1e-300 or 1e300 from under- or overflowing inside LAPACK.
    scale = float(np.max(np.abs(S), initial=0.0))
    if scale == 0.0 or len(S) == 1:  # LAPACK's wrapper in older SciPy fails on a single entry
        return np.diagonal(S).copy(), np.eye(len(S))
    exponent = float(2.0 ** np.floor(np.log2(scale)))
    with one_blas_thread() if len(S) <= _SMALL else nullcontext():
        values, vectors = linalg.eigh(S / exponent, driver="evd", check_finite=False, overwrite_a=True)
    with np.errstate(over="ignore"):
        values = values * exponent
    if not np.isfinite(values).all():
        raise ValueError("the similarities are too large: their eigenvalues overflow. Rescale them first.")
    return values, vectors


def cut_zeros(eigenvalues: np.ndarray, tol: float = ZERO_TOLERANCE) -> np.ndarray:
    """Return the eigenvalues, with zeros in place of those that count as zero."""
    largest = np.max(np.abs(eigenvalues), initial=0.0)
    return np.where(np.abs(eigenvalues) <= tol * largest, 0.0, eigenvalues)


def spectrum_shift(values: np.ndarray) -> float:
    """Return ``abs(min(lambda_min, 0))``: what shift adds to each eigenvalue, and to the diagonal of the matrix."""
    return abs(float(np.min(values, initial=0.0)))


def modified_eigenvalues(values: np.ndarray, spectrum: str) -> np.ndarray:
    """Return the eigenvalues after a modification of the spectrum, one for each of the given ones.

    ========  =====================================
    spectrum  the eigenvalue lambda becomes
    ========  =====================================
    clip      max(lambda, 0)
    flip      abs(lambda)
    shift     lambda + abs(min(lambda_min, 0))
    square    lambda^2
    none      lambda
    ========  =====================================

    Parameters
    ----------
    values : ndarray of shape (n,)
        In any order.
    spectrum : {"clip", "flip", "shift", "square", "none"}

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from similitude.numerics.eigen import modified_eigenvalues
    >>> modified_eigenvalues(np.array([-2.0, 0.0, 3.0]), "shift")
    array([0., 2., 5.])
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
        raise ValueError(f"{spectrum!r} overflows on eigenvalues as large as these; rescale S first.")
    return modified


def negative_eigenfraction(eigenvalues: np.ndarray) -> float:
    """Return the sum of |negative eigenvalues| over the sum of all |eigenvalues| (NEF)."""
    largest = np.max(np.abs(eigenvalues), initial=0.0)
    if largest == 0:
        return 0.0
    sizes = np.abs(eigenvalues / largest)
    return abs(float(np.sum(sizes[eigenvalues < 0]) / np.sum(sizes)))  # the sum of no numbers may be -0.0
