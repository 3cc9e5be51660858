"""Compiled triangular factorisations of small symmetric matrices, ``A = U^T diag(signs) U``.

The factor is computed row by row, so that factors are nested: the factor of a leading block is the leading block of
the factor, to the last digit, and one factorisation serves every number of neighbours. LAPACK's blocked algorithms do
not have this property, and up to n = 128 they are not faster.
"""

from __future__ import annotations

import numpy as np

from similitude.numerics.compiled import compiled


@compiled
def dot(x, y, n):
    """Return ``sum x[i] y[i]`` over the first n entries."""
    # Four partial sums are kept, because the compiler may not reorder a single one. Calling BLAS would take longer.
    a = b = c = d = 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        a += x[i] * y[i]
        b += x[i + 1] * y[i + 1]
        c += x[i + 2] * y[i + 2]
        d += x[i + 3] * y[i + 3]
    for i in range(whole, n):
        a += x[i] * y[i]
    return (a + b) + (c + d)


@compiled
def factor(A, share, ridge, least, n, U, signs):
    """Factor at most n rows of ``A + diag(share * A_ii + ridge)`` into U and ``signs``; return how many were factored.

    The factorisation ends at the first pivot that is not positive. With ``least > 0`` it ends at the first pivot whose
    size is below ``least`` times its diagonal entry, and negative pivots are accepted with the sign -1. Without
    pivoting this is not stable for every matrix, so check the residual.
    """
    for a in range(n):
        row = U[a]
        for c in range(a, n):
            row[c] = A[a, c]
        row[a] += share * A[a, a] + ridge
        own = row[a]
        whole = a - a % 4
        for b in range(0, whole, 4):  # four finished rows at a time need a fourth of the stores
            f, g = U[b, a] * signs[b], U[b + 1, a] * signs[b + 1]
            h, i = U[b + 2, a] * signs[b + 2], U[b + 3, a] * signs[b + 3]
            p, q, r, s = U[b], U[b + 1], U[b + 2], U[b + 3]
            for c in range(a, n):
                row[c] -= f * p[c] + g * q[c] + h * r[c] + i * s[c]
        for b in range(whole, a):
            f, p = U[b, a] * signs[b], U[b]
            for c in range(a, n):
                row[c] -= f * p[c]
        pivot = row[a]
        if not (abs(pivot) > least * abs(own) if least > 0.0 else pivot > 0.0):
            return a
        signs[a] = 1.0 if pivot > 0.0 else -1.0
        inverse = signs[a] / np.sqrt(abs(pivot))
        for c in range(a, n):
            row[c] *= inverse
    return n


@compiled
def forward(U, n, y):
    """Solve ``U^T x = y`` in place."""
    for a in range(n):
        y[a] /= U[a, a]
        row, known = U[a], y[a]
        for c in range(a + 1, n):
            y[c] -= row[c] * known


@compiled
def backward(U, n, z):
    """Solve ``U x = z`` in place."""
    for a in range(n - 1, -1, -1):
        z[a] = (z[a] - dot(U[a, a + 1 :], z[a + 1 :], n - a - 1)) / U[a, a]
