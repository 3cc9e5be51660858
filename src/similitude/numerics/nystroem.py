"""The spectrum of the Nystroem approximation ``C W^+ C^T``, computed from triangles of the size of W."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import linalg

from similitude._utils.threads import one_blas_thread
from similitude.numerics.eigen import cut_zeros, eigh

_PANEL = 32
"""The number of columns that LAPACK eliminates together; for 500 columns, 16 to 64 differ by less than a fifth."""


def triangle(rows: np.ndarray, above: np.ndarray | None = None, *, overwrite: bool = False) -> np.ndarray:
    """Return R, upper triangular, with ``R^T R = above^T above + rows^T rows``, computed by Householder reflections.

    R contains the same information as the moments ``rows^T rows``, to all digits instead of half of them, and takes two
    to three times as long to compute. The rows may be given in blocks, in any order, and triangles are joined like
    rows.
    """
    q = rows.shape[1]
    above = np.zeros((q, q), order="F") if above is None else above
    below = np.asfortranarray(rows)
    own = overwrite or not np.may_share_memory(below, rows)
    with one_blas_thread():  # panels are small: a second thread gains nothing, and is slow on a busy machine
        R, _, _, info = linalg.lapack.dtpqrt(0, min(_PANEL, q), np.asfortranarray(above), below, overwrite_b=own)
    if info != 0 or not np.isfinite(R).all():
        raise ValueError("X: the similarities are too large: their sums overflow. Rescale them first.")
    return np.triu(R)


class NystroemSpectrum(NamedTuple):
    """The nonzero eigenvalues of ``S~ = C W^+ C^T``, and its eigenvectors V as maps of similarities to landmarks."""

    values: np.ndarray
    basis: np.ndarray


def decompose(R: np.ndarray, W: np.ndarray, tol: float) -> NystroemSpectrum:
    """Return the spectrum of ``C W^+ C^T``, where ``C = Q R`` for some Q with orthonormal columns, which is not needed.

    With ``W = U diag(l) U^T`` without its zeros, ``A = R U |l|^(-1/2) = Q' R'`` and ``J = diag(sgn l)``::

        R' J R'^T = Z diag(d) Z^T,   V = Q Q' Z,   V^T C W^+ c = Z^T R' J |l|^(-1/2) U^T c
    """
    exponent = math.frexp(float(np.max(np.abs(W), initial=0.0)))[1]
    values, U = eigh(np.ldexp(W, -exponent))
    values = cut_zeros(values, tol)
    kept = values != 0
    signs, U = np.sign(values[kept]), U[:, kept] / np.sqrt(np.abs(values[kept]))
    with np.errstate(over="ignore", invalid="ignore"):
        A = np.ldexp(R, -exponent) @ U
        small = linalg.qr(A, mode="r", check_finite=False)[0][: A.shape[1]] if A.size else np.empty((0, 0))
        T = (small * signs) @ small.T
    if not np.isfinite(T).all():
        raise ValueError(
            "X: the similarities to the landmarks are too large compared with those among them; rescale X first."
        )
    d, Z = eigh((T + T.T) / 2)
    d = cut_zeros(d, tol)
    order = np.argsort(-np.abs(d), kind="stable")
    order = order[d[order] != 0]
    with np.errstate(over="ignore"):
        eigenvalues = np.ldexp(d[order], exponent)
    if not np.isfinite(eigenvalues).all():
        raise ValueError("X: the similarities are too large: their eigenvalues overflow. Rescale them first.")
    return NystroemSpectrum(eigenvalues, (U * signs) @ (small.T @ Z[:, order]))


def decompose_whole(S: np.ndarray, tol: float) -> NystroemSpectrum:
    """Return the spectrum for the case that all samples are landmarks, so that ``S~`` is S itself."""
    values, V = eigh(S)
    values = cut_zeros(values, tol)
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    return NystroemSpectrum(values[order], V[:, order])


class NystroemFeatures(NamedTuple):
    """The map from similarities to landmarks to vectors whose inner products are the modified kernel."""

    projection: np.ndarray
    eigenvalues: np.ndarray
    signs: np.ndarray


def modified_features(found: NystroemSpectrum, spectrum: str) -> NystroemFeatures:
    """Return the features of the modified spectrum; if no eigenvalue is left, there is one feature, which is 0.

    With ``V^T s~ = B^T c`` these are ``|d|^(-1/2) sgn(d) B^T c`` for "flip" and "none", the same for d > 0 for "clip",
    and ``B^T c`` for "square". On the training rows they equal ``V |d|^(1/2)`` and ``V d``.
    """
    d, B = found
    if spectrum == "clip":
        B, d = B[:, d > 0], d[d > 0]
    if len(d) == 0:
        return NystroemFeatures(np.zeros((len(B), 1)), np.zeros(1), np.ones(1))
    P = B if spectrum == "square" else B * (np.sign(d) / np.sqrt(np.abs(d)))
    # The sign of an eigenvector is arbitrary: the entry of largest size is made positive.
    largest = P[np.argmax(np.abs(P), axis=0), np.arange(len(d))]
    P = P * np.where(largest < 0, -1.0, 1.0)
    return NystroemFeatures(np.ascontiguousarray(P), d, np.sign(d) if spectrum == "none" else np.ones(len(d)))
