"""Compiled parts of the tangent distance.

The tangent plane of an image is given as an orthonormal basis, with one row for each direction and rows of zeros if
there are fewer. A pair needs the inner products of two bases and the solution of a small linear system. The order of
summation depends only on the number of pixels, so equal pairs have equal distances, to the last bit. On 16 x 16 images
a pair takes 2 microseconds of one core. Computed pair by pair from the same tangent vectors, NumPy's least squares take
80 to 100 times as long and its normal equations 25 to 35 times (``benchmarks/bench_tangent.py``).
"""

from __future__ import annotations

import numba
import numpy as np

from similitude.numerics.compiled import compiled

# Only sums may be reordered, so that they use vector registers. This is five times as fast, and equal input still gives
# equal results. These functions are not cached, because they are inlined into cached functions.
_sums = numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


@_sums
def _inner(x, z):
    total = 0.0
    for q in range(x.shape[0]):
        total += x[q] * z[q]
    return total


@_sums
def _four_inner(P, Q, c, e, C):
    """Write the inner products of rows c, c + 1 of P with rows e, e + 1 of Q into C, with half of the memory reads."""
    first = second = third = fourth = 0.0
    for q in range(P.shape[1]):
        first += P[c, q] * Q[e, q]
        second += P[c, q] * Q[e + 1, q]
        third += P[c + 1, q] * Q[e, q]
        fourth += P[c + 1, q] * Q[e + 1, q]
    C[c, e] = first
    C[c, e + 1] = second
    C[c + 1, e] = third
    C[c + 1, e + 1] = fourth


@compiled
def orthonormalize(tangents, bases):
    """Write orthonormal bases of the spans of ``tangents`` (n, t, n_pixels) into ``bases``, which may have more rows.

    The Gram-Schmidt process is applied twice to each vector; a vector of which less than 1e-8 of its length is left
    adds no direction.
    """
    n, n_tangents, n_pixels = tangents.shape
    vector = np.empty(n_pixels)
    for row in range(n):
        bases[row] = 0.0
        found = 0
        for t in range(n_tangents):
            length = np.sqrt(_inner(tangents[row, t], tangents[row, t]))
            if length == 0.0:
                continue
            for q in range(n_pixels):
                vector[q] = tangents[row, t, q] / length
            for _ in range(2):
                for c in range(found):
                    inner = _inner(bases[row, c], vector)
                    for q in range(n_pixels):
                        vector[q] -= inner * bases[row, c, q]
            length = np.sqrt(_inner(vector, vector))
            if length > 1e-8:
                for q in range(n_pixels):
                    bases[row, found, q] = vector[q] / length
                found += 1


@compiled
def _cholesky_solve(M, x):
    """Solve M x = x in place for a symmetric positive definite M, given and overwritten in its lower half."""
    n = x.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = M[i, j]
            for c in range(j):
                total -= M[i, c] * M[j, c]
            M[i, j] = total / M[j, j] if j < i else np.sqrt(total)
    for i in range(n):
        for c in range(i):
            x[i] -= M[i, c] * x[c]
        x[i] /= M[i, i]
    for i in range(n - 1, -1, -1):
        for c in range(i + 1, n):
            x[i] -= M[c, i] * x[c]
        x[i] /= M[i, i]


@compiled
def two_sided(X, bases_x, Z, bases_z, spring, same, start, stop, squares):
    """Write rows start..stop of ``min_ab |x + P'a - z - Q'b|^2 + spring (|a|^2 + |b|^2)`` into ``squares``.

    P is the basis of x and Q that of z. With d = x - z, u = P d, v = Q d and C = P Q', the minimum is where ``((1 +
    spring)^2 I - C C') a = C v - (1 + spring) u`` and ``(1 + spring) b = v + C'a``; its value is ``|d|^2 + a'u - b'v``.
    If ``same`` is true, X is Z and only the columns after the diagonal are filled. Bases have an even number of rows,
    the last of which is not used: in P it holds d, so that v is computed along with C.
    """
    height, n_pixels = bases_x.shape[1:]
    width = height - 1
    P, d = np.empty((height, n_pixels)), np.empty(n_pixels)
    u, a = np.empty(width), np.empty(width)
    C, M = np.empty((height, height)), np.empty((width, width))
    stiff = 1.0 + spring
    for i in range(start, stop):
        P[:width] = bases_x[i, :width]
        for j in range(i + 1 if same else 0, Z.shape[0]):
            for q in range(n_pixels):
                d[q] = X[i, q] - Z[j, q]
            P[width] = d
            for c in range(0, height, 2):
                for e in range(0, height, 2):
                    _four_inner(P, bases_z[j], c, e, C)
            v = C[width]
            for c in range(width):
                u[c] = _inner(P[c], d)
                total = -stiff * u[c]
                for e in range(width):
                    total += C[c, e] * v[e]
                a[c] = total
                for e in range(c + 1):
                    total = stiff * stiff if e == c else 0.0
                    for f in range(width):
                        total -= C[c, f] * C[e, f]
                    M[c, e] = total
            _cholesky_solve(M, a)
            value = _inner(d, d)
            for c in range(width):
                b = v[c]
                for e in range(width):
                    b += C[e, c] * a[e]
                value += a[c] * u[c] - b / stiff * v[c]
            squares[i, j] = max(value, 0.0)


@compiled
def one_sided(X, Z, bases_z, spring, start, stop, squares):
    """Write rows start..stop of ``min_b |x - z - Q'b|^2 + spring |b|^2`` into ``squares``.

    The minimum is ``|d|^2 - |Q d|^2 / (1 + spring)`` with d = x - z.
    """
    d = np.empty(X.shape[1])
    for i in range(start, stop):
        for j in range(Z.shape[0]):
            for q in range(X.shape[1]):
                d[q] = X[i, q] - Z[j, q]
            value = _inner(d, d)
            for c in range(bases_z.shape[1]):
                value -= _inner(bases_z[j, c], d) ** 2 / (1.0 + spring)
            squares[i, j] = max(value, 0.0)
