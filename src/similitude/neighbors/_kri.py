"""Compiled code for kernel ridge interpolation weights (Chen et al. 2009, eq. 12) for many test samples, k and reg."""

from __future__ import annotations

import numpy as np

from similitude.neighbors._local_spectrum import NONE, add, leading_semidefinite, modify
from similitude.neighbors._simplex_qp import SIZE, STATE, ZERO, W, largest, solve, starts_full, workspace
from similitude.numerics._cholesky_kernel import dot
from similitude.numerics._compile import kernel

# At a reg below this share of the similarities rounding decides who is in the support: every solve then starts from
# scratch, so that a path and a single fit go the same way.
_WARM = 1e-3


@kernel
def _start_cold(k, V, N):
    N[STATE, SIZE] = -1
    for i in range(k):
        V[W, i] = 0.0


@kernel
def kri_rows(matrices, rows, sizes, regs, spectrum, consistent, weights):
    """Fill ``weights[m, g, t, :k]`` of the first ``k = sizes[g]`` neighbours at ``regs[t]``; return how many failed.

    ``matrices`` (m, k, k) are the similarities among each test sample's neighbours, ``rows`` (m, k) its own to them.
    """
    failed = 0
    K, row = np.empty_like(matrices[0]), np.empty_like(rows[0])
    for m in range(rows.shape[0]):
        A, s = matrices[m], rows[m]
        semidefinite = leading_semidefinite(A, spectrum, consistent, K)
        nested = 0
        while nested < sizes.shape[0] and (spectrum == NONE or sizes[nested] <= semidefinite):
            nested += 1
        failed += _nested(A, s, sizes[:nested], regs, semidefinite, weights[m])
        for g in range(nested, sizes.shape[0]):
            k = sizes[g]
            values, vectors = modify(A, s, k, spectrum, semidefinite, consistent, K, row)
            failed += _decomposed(K, row, k, regs, values, vectors, weights[m, g])
    return failed


@kernel
def _nested(A, s, sizes, regs, semidefinite, weights):
    """Solve with the same matrix for every k: one solution is where the next starts, where both are unique."""
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


@kernel
def _decomposed(K, row, k, regs, values, vectors, weights):
    """Solve with a decomposed matrix of this k alone: where all weights come out positive, they are the solution.

    Else those that do, or at small reg the support found at the reg before, are the guess to start from.
    """
    L, V, N = workspace(k)
    scale = largest(K, row, ZERO, k)
    parts = np.zeros((k, 2))  # of the row, and of all ones, along each eigenvector
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


@kernel
def _all_positive(values, vectors, parts, k, reg, w):
    """Write the optimum with all neighbours in the support, signs disregarded, into w; return its smallest weight."""
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


@kernel
def restart_rows(matrices, rows, sizes, regs, restarts, weights):
    """Start again with all weight on each of the nearest neighbours, and keep the best: S may be indefinite."""
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


@kernel
def _objective(A, s, k, reg, w):
    value = 0.0
    for i in range(k):
        if w[i] != 0.0:
            value += w[i] * (0.5 * dot(A[i], w, k) + 0.5 * reg * w[i] - s[i])
    return value
