"""Rows that complete a learned kernel, nearest to given ones: eq. (8) of Chen, Gupta & Recht (ICML 2009)."""

from __future__ import annotations

import numpy as np

_EPS = float(np.finfo(float).eps)


def nearest_rows(
    eigenvalues: np.ndarray, eigenvectors: np.ndarray, rows: np.ndarray, self_similarity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each row s the k nearest to it that completes the kernel.

    Such k and r are nearest to s and psi(x, x) among those for which ``[K k; k^T r]`` is positive semidefinite. k is
    given by its coefficients in the basis of the eigenvectors of K with positive eigenvalues. With multiplier m these
    are ``2 lambda p / (2 lambda + m)``, where p are those of s, and ``r = psi(x, x) + m / 2``, where m is 0 or such
    that ``k^T K^+ k = r``.
    """
    p = rows @ eigenvectors
    # In units of the largest value, no square overflows.
    largest = max(np.max(part, initial=0.0) for part in (eigenvalues, np.abs(p), np.abs(self_similarity)))
    unit = largest if largest > 0.0 else 1.0
    lam, squares, own = eigenvalues / unit, (p / unit) ** 2, self_similarity / unit
    m = np.zeros(len(rows))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        outside = ~(np.sum(squares / lam, axis=1) <= own)
    if outside.any():
        m[outside] = unit * _multipliers(lam, squares[outside], own[outside])
    return p * (2.0 * eigenvalues / (2.0 * eigenvalues + m[:, None])), self_similarity + m / 2.0


def _multipliers(eigenvalues: np.ndarray, squares: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the m > 0 with ``L(m) = sum 4 lambda p^2 / (2 lambda + m)^2 = own + m / 2 = R(m)``, for all rows at once.

    Newton's method is applied to ``L^(-1/2) - R^(-1/2)``, whose first term is linear except for the spread of the
    eigenvalues. It stays within a bracket: at the lower end R or m is zero, and the upper end follows from the bound
    ``sum p^2 / (2 m)`` of L.
    """
    total = np.sum(squares, axis=1)
    root = np.hypot(own, np.sqrt(total))
    low = np.maximum(0.0, -2.0 * own)
    high = np.where(own > 0.0, total / np.where(own > 0.0, root + own, 1.0), root - own)
    m = high.copy()
    active = np.flatnonzero(high > low)
    for _ in range(200):
        if not active.size:
            break
        at = m[active]
        inverse = 1.0 / (2.0 * eigenvalues + at[:, None])
        terms = 4.0 * eigenvalues * squares[active] * inverse**2
        L, R = np.sum(terms, axis=1), own[active] + at / 2.0
        above = L > R
        low[active] = np.where(above, at, low[active])
        high[active] = np.where(above, high[active], at)
        with np.errstate(all="ignore"):
            slope = L**-1.5 * np.sum(terms * inverse, axis=1) + 0.25 * R**-1.5
            new = at - (L**-0.5 - R**-0.5) / slope
        inside = (new > low[active]) & (new < high[active])
        new = np.where(inside, new, 0.5 * (low[active] + high[active]))
        # A difference within the rounding errors of both sides cannot be reduced further.
        done = np.abs(L - R) <= 4.0 * _EPS * (L + np.abs(own[active]) + at / 2.0)
        m[active] = np.where(done, at, new)
        done |= (np.abs(new - at) <= 2.0 * _EPS * at) | (high[active] - low[active] <= 2.0 * _EPS * high[active])
        active = active[~done]
    return m
