"""Compiled kernel ridge interpolation weights (Chen et al. 2009, eq. 12) for many test samples, k and reg."""

from __future__ import annotations

import numpy as np

from similitude.neighbors._local_spectrum import CLIP, FLIP, NONE, add, leading_semidefinite, modify
from similitude.neighbors._simplex_qp import SIZE, STATE, ZERO, W, largest, solve, starts_full, workspace
from similitude.numerics.cholesky import dot
from similitude.numerics.compiled import compiled

# At a reg below this share of the similarities the support depends on rounding: every solve then starts from scratch,
# so that a path and a single fit have the same result.
_WARM = 1e-3


@compiled
def _start_cold(k, V, N):
    N[STATE, SIZE] = -1
    for i in range(k):
        V[W, i] = 0.0


@compiled
def kri_rows(matrices, rows, sizes, regs, spectrum, consistent, weights):
    """Write the weights of the first ``k = sizes[g]`` neighbours at ``regs[t]`` into ``weights[m, g, t, :k]``.

    ``matrices`` (m, k, k) holds the similarities among each test sample's neighbours, ``rows`` (m, k) its own to them.
    Returns the number of unsolved problems.
    """
    failed = 0
    K, row = np.empty_like(matrices[0]), np.empty_like(rows[0])
    for m in range(rows.shape[0]):
        A, s = matrices[m], rows[m]
        semidefinite = 0 if consistent and spectrum in (CLIP, FLIP) else leading_semidefinite(A, K)
        nested = 0
        while nested < sizes.shape[0] and (spectrum == NONE or sizes[nested] <= semidefinite):
            nested += 1
        failed += _nested(A, s, sizes[:nested], regs, semidefinite, weights[m])
        for g in range(nested, sizes.shape[0]):
            k = sizes[g]
            values, vectors = modify(A, s, k, spectrum, semidefinite, consistent, K, row)
            failed += _decomposed(K, row, k, regs, values, vectors, weights[m, g])
    return failed


@compiled
def _nested(A, s, sizes, regs, semidefinite, weights):
    """Write the weights for all k with the same matrix; return the number of unsolved problems.

    The solution for one k is the start for the next, if both are unique.
    """
    L, V, N = workspace(A.shape[0])
    failed = 0
    for t in range(regs.shape[0]):
        _start_cold(A.shape[0], V, N)
        scale, start = regs[t], ZERO
        for g in range(sizes.shape[0]):
            scale = max(scale, largest(A, s, start, sizes[g]))
            start = sizes[g]
            if sizes[g] > semidefinite or regs[t] < _WARM * scale:
                _start_cold(sizes[g], V, N)
            failed += not solve(A, s, sizes[g], regs[t], scale, L, V, N)
            for i in range(sizes[g]):
                weights[g, t, i] = V[W, i]
    return failed


@compiled
def _decomposed(K, row, k, regs, values, vectors, weights):
    """Write the weights for one k, whose matrix is decomposed; return the number of unsolved problems.

    If all weights of the unconstrained optimum are positive, it is the solution. Otherwise the start is the support of
    its positive weights, or at a small reg the support found at the previous reg.
    """
    L, V, N = workspace(k)
    scale = largest(K, row, ZERO, k)
    parts = np.zeros((k, 2))  # the components of the row and of the vector of ones along each eigenvector
    for i in range(k):
        parts[i, 0] = dot(vectors[i], row, k)
        for a in range(k):
            parts[i, 1] += vectors[i, a]
    failed = 0
    for t in range(regs.shape[0]):
        w, least = V[W], -1.0
        if regs[t] < _WARM * scale:
            _start_cold(k, V, N)
        elif starts_full(K, k, regs[t]):
            least = _all_positive(values, vectors, parts, k, regs[t], w)
        if not least > 0.0:
            N[STATE, SIZE] = -1
            failed += not solve(K, row, k, regs[t], max(scale, regs[t]), L, V, N)
        for i in range(k):
            weights[t, i] = w[i]
    return failed


@compiled
def _all_positive(values, vectors, parts, k, reg, w):
    """Write the optimum over all neighbours, whatever the signs, into w; return its smallest weight."""
    cross = square = 0.0
    for i in range(k):
        w[i] = 0.0
        cross += parts[i, 0] * parts[i, 1] / (values[i] + reg)
        square += parts[i, 1] * parts[i, 1] / (values[i] + reg)
    level = (cross - 1.0) / square
    for i in range(k):
        add(w, (parts[i, 0] - level * parts[i, 1]) / (values[i] + reg), vectors[i], k)
    least = np.inf
    for i in range(k):
        least = min(least, w[i])
    return least


@compiled
def restart_rows(matrices, rows, sizes, regs, restarts, weights):
    """Start again with all weight on each of the nearest neighbours, and keep the best, because S may be indefinite."""
    L, V, N = workspace(rows.shape[1])
    for m in range(rows.shape[0]):
        A, s = matrices[m], rows[m]
        for g in range(sizes.shape[0]):
            k = sizes[g]
            for t in range(regs.shape[0]):
                best = weights[m, g, t]
                scale = max(regs[t], largest(A, s, ZERO, k))
                for start in range(min(restarts, k)):
                    N[STATE, SIZE] = -1
                    for i in range(k):
                        V[W, i] = 1.0 if i == start else 0.0
                    reached = solve(A, s, k, regs[t], scale, L, V, N)
                    if reached and _objective(A, s, k, regs[t], V[W]) < _objective(A, s, k, regs[t], best):
                        best[:k] = V[W, :k]


@compiled
def _objective(A, s, k, reg, w):
    value = 0.0
    for i in range(k):
        if w[i] != 0.0:
            value += w[i] * (0.5 * dot(A[i], w, k) + 0.5 * reg * w[i] - s[i])
    return value
