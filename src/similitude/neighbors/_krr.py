"""Compiled kernel ridge regression weights, ``w = (A + reg I)^-1 s`` (Chen et al. 2009, eq. 15), for many k and reg.

If the local matrix is not modified, one triangular factor per reg serves every k; if its spectrum is modified, one
eigendecomposition per k serves every reg.
"""

from __future__ import annotations

import numpy as np

from similitude.neighbors._local_spectrum import NONE, SHIFT, add, eigh, leading_semidefinite, modified_eigenvalues
from similitude.numerics.cholesky import backward, dot, factor, forward
from similitude.numerics.compiled import compiled

_EPS = 2.0**-52

# If a pivot is below this share of its diagonal entry, or a residual above that share, the eigendecomposition is used,
# which handles singular matrices.
_LEAST_PIVOT = 1e-6
_RESIDUAL = 1e-13


@compiled
def krr_rows(matrices, rows, sizes, regs, spectrum, consistent, weights):
    """Write the weights of the first ``k = sizes[g]`` neighbours at ``regs[t]`` into ``weights[m, g, t, :k]``.

    ``matrices`` (m, k, k) holds the similarities among each test sample's neighbours, ``rows`` (m, k) its own to them.
    """
    for m in range(rows.shape[0]):
        _one(matrices[m], rows[m], sizes, regs, spectrum, consistent, weights[m])


@compiled
def _one(A, s, sizes, regs, spectrum, consistent, weights):
    largest = sizes[-1]
    U, signs = np.empty((largest, largest)), np.empty(largest)
    y, z = np.empty(largest), np.empty(largest)
    untouched = largest
    if spectrum != NONE:
        untouched = 0 if consistent and spectrum != SHIFT else leading_semidefinite(A, U)
    solved = np.zeros((sizes.shape[0], regs.shape[0]), dtype=np.bool_)
    for t in range(regs.shape[0]):
        n = factor(A, 0.0, regs[t], _LEAST_PIVOT, min(untouched, largest), U, signs)
        for a in range(n):
            y[a] = s[a]
        forward(U, n, y)
        for g in range(sizes.shape[0]):
            k = sizes[g]
            if k <= n:
                for a in range(k):
                    z[a] = signs[a] * y[a]
                backward(U, k, z)
                solved[g, t] = _solves(A, s, k, regs[t], z)
                for a in range(k):
                    weights[g, t, a] = z[a]
    for g in range(sizes.shape[0]):
        if not np.all(solved[g]):
            _decomposed(A, s, sizes[g], regs, spectrum, consistent, solved[g], weights[g])


@compiled
def _solves(A, s, k, reg, w):
    """Return whether ``(A + reg I) w = s`` up to rounding."""
    error = size = 0.0
    for i in range(k):
        product = dot(A[i], w, k)
        error = max(error, abs(product + reg * w[i] - s[i]))
        size = max(size, abs(s[i]), abs(product), reg * abs(w[i]))
    return error <= _RESIDUAL * size


@compiled
def _decomposed(A, s, k, regs, spectrum, consistent, solved, weights):
    block = np.empty((k, k))
    for a in range(k):
        for b in range(k):
            block[a, b] = A[a, b]
    values, vectors = eigh(block)
    kept = np.ones(k)
    if spectrum != NONE:
        values, treated = modified_eigenvalues(values, spectrum)
        kept = treated if consistent else kept
    for t in range(regs.shape[0]):
        if solved[t]:
            continue
        largest = max(abs(values[0] + regs[t]), abs(np.max(values) + regs[t]))
        for i in range(k):
            weights[t, i] = 0.0
        for i in range(k):
            ridged = values[i] + regs[t]
            if abs(ridged) > k * _EPS * largest:
                add(weights[t], kept[i] * dot(vectors[i], s, k) / ridged, vectors[i], k)
