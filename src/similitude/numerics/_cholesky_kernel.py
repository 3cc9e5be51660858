"""Compiled: triangular factors of small symmetric matrices, ``A = U^T diag(signs) U``.

Row by row, so nested: the factor of a leading block is the leading block of the factor, to the last digit, and one
factorisation serves every number of neighbours. LAPACK's blocked order does not have that; up to n = 128 it is not
faster either.
"""

from __future__ import annotations

import numpy as np

from similitude.numerics._compile import kernel


@kernel
def dot(x, y, n):
    """``sum x[i] y[i]`` over the first n."""
    # Four sums at a time: the compiler may not reorder one sum, and BLAS costs more to call than these take.
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


@kernel
def factor(A, share, ridge, least, n, U, signs):
    """Factor ``A + diag(share * A_ii + ridge)``, n rows at most; returns how many went well.

    It ends at the first pivot that is not positive, or, with ``least > 0``, whose size is below ``least`` times its
    diagonal entry: then negative pivots are taken too, with sign -1. Without pivoting that is not stable for every
    matrix: check the residual.
    """
    for a in range(n):
        row = U[a]
        for c in range(a, n):
            row[c] = A[a, c]
        row[a] += share * A[a, a] + ridge
        own = row[a]
        whole = a - a % 4
        for b in range(0, whole, 4):  # four finished rows at a time: a fourth of the stores
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


@kernel
def forward(U, n, y):
    """Solve ``U^T x = y`` in place."""
    for a in range(n):
        y[a] /= U[a, a]
        row, known = U[a], y[a]
        for c in range(a + 1, n):
            y[c] -= row[c] * known


@kernel
def backward(U, n, z):
    """Solve ``U x = z`` in place."""
    for a in range(n - 1, -1, -1):
        z[a] = (z[a] - dot(U[a, a + 1 :], z[a + 1 :], n - a - 1)) / U[a, a]
