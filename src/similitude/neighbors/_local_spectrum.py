"""Compiled k x k similarities among a test sample's neighbours, with a modified spectrum.

The neighbour lists are nested, and so are the matrices: the leading block of a larger one is the smaller one. One
Cholesky elimination determines for all sizes whether a block is positive semidefinite; only blocks that are not are
decomposed (``np.linalg.eigh``, LAPACK's ``evd`` driver, as in ``numerics.eigen``).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from similitude.numerics.cholesky import dot, factor
from similitude.numerics.compiled import compiled
from similitude.numerics.eigen import ZERO_TOLERANCE

NONE, CLIP, FLIP, SHIFT = range(4)
SPECTRA = {"none": NONE, "clip": CLIP, "flip": FLIP, "shift": SHIFT}
"""The codes of the modifications in compiled code."""

_ROUNDING = 1e-12


def local_matrices(S, neighbors):
    """Return the symmetrised similarities among each row of neighbours, (m, k) to (m, k, k); S is dense or CSR."""
    matrices = np.empty((*neighbors.shape, neighbors.shape[1]))
    if sparse.issparse(S):
        _gather_csr_rows(S.data, S.indices, S.indptr, neighbors, matrices)
    else:
        _gather_rows(S, neighbors, matrices)
    return matrices


@compiled
def _gather_rows(S, neighbors, matrices):
    for row in range(neighbors.shape[0]):
        gather(S, neighbors[row], matrices[row])


@compiled
def _gather_csr_rows(data, columns, starts, neighbors, matrices):
    for row in range(neighbors.shape[0]):
        gather_csr(data, columns, starts, neighbors[row], matrices[row])


@compiled
def gather(S, neighbors, A):
    """Write the symmetrised similarities among the neighbours, ``(S[i, j] + S[j, i]) / 2``, into A, from a dense S."""
    for a in range(neighbors.shape[0]):
        row = S[neighbors[a]]
        for b in range(neighbors.shape[0]):
            A[a, b] = row[neighbors[b]]
    _symmetrize(A)


@compiled
def _symmetrize(A):
    for a in range(A.shape[0]):
        for b in range(a):
            # Both are halved first, because the sum of two numbers near the largest float would overflow.
            A[a, b] = A[b, a] = 0.5 * A[a, b] + 0.5 * A[b, a]


@compiled
def gather_csr(data, columns, starts, neighbors, A):
    """Write the same as :func:`gather` from a CSR matrix with sorted columns, whose absent entries are 0."""
    k = neighbors.shape[0]
    for a in range(k):
        i = neighbors[a]
        row = columns[starts[i] : starts[i + 1]]
        for b in range(k):
            place = np.searchsorted(row, neighbors[b])
            found = place < row.shape[0] and row[place] == neighbors[b]
            A[a, b] = data[starts[i] + place] if found else 0.0
    _symmetrize(A)


@compiled
def leading_semidefinite(A, U):
    """Return how many leading rows and columns of A form a positive semidefinite block, up to rounding.

    U is work space. The result for a leading block of A is the minimum of this number and the size of the block.
    """
    return factor(A, _ROUNDING, 0.0, 0.0, A.shape[0], U, np.empty(A.shape[0]))


@compiled
def eigh(A):
    """Return the eigenvalues, ascending, and the eigenvectors as rows."""
    values, vectors = np.linalg.eigh(A)
    return values, vectors.T


@compiled
def modified_eigenvalues(values, spectrum):
    """Return the modified eigenvalues, and the factors by which P multiplies the components of a new row."""
    modified, kept = np.empty_like(values), np.empty_like(values)
    largest = max(abs(values[0]), abs(values[-1]))
    for i in range(values.shape[0]):
        value = values[i] if abs(values[i]) > ZERO_TOLERANCE * largest else 0.0
        if spectrum == SHIFT:
            modified[i], kept[i] = values[i] - min(values[0], 0.0), 1.0
        elif spectrum == CLIP:
            modified[i], kept[i] = max(value, 0.0), 1.0 if value > 0.0 else 0.0
        else:
            modified[i], kept[i] = abs(value), np.sign(value)
    return modified, kept


@compiled
def modify(A, s, k, spectrum, semidefinite, consistent, K, row):
    """Write the modified local matrix of k neighbours into ``K``, and s, or P s if ``consistent``, into ``row``.

    ``semidefinite`` is the result of :func:`leading_semidefinite`. Returns the eigenvalues of K and its eigenvectors as
    rows, or empty arrays if no decomposition was needed.
    """
    block = np.empty((k, k))
    for a in range(k):
        row[a] = s[a]
        for b in range(k):
            block[a, b] = K[a, b] = A[a, b]
    if spectrum == NONE or (k <= semidefinite and not (consistent and spectrum != SHIFT)):
        return np.empty(0), np.empty((0, 0))
    values, vectors = eigh(block)
    modified, kept = modified_eigenvalues(values, spectrum)
    if spectrum == SHIFT:
        for a in range(k):
            K[a, a] += modified[0] - values[0]
        return modified, vectors
    if consistent:
        for a in range(k):
            row[a] = 0.0
        for i in range(k):
            add(row, kept[i] * dot(vectors[i], s, k), vectors[i], k)
    if k > semidefinite:
        for i in range(k):  # eigenvalues are in ascending order, so the few negative ones come first
            if values[i] >= 0.0:
                break
            for a in range(k):
                add(K[a], (modified[i] - values[i]) * vectors[i, a], vectors[i], k)
    return modified, vectors


@compiled
def add(x, weight, y, n):
    """Add ``weight y`` to x over the first n entries."""
    for i in range(n):
        x[i] += weight * y[i]


@compiled
def share_alike(matrices, rows, sizes, weights):
    """Give the same weight to interchangeable neighbours, whose weights may differ by rounding.

    These are equally similar to the test sample and to all other neighbours, so that exchanging their weights does not
    change the objective, and neither does averaging them if the optimum is unique.
    """
    leader, count = np.empty(rows.shape[1], np.intp), np.empty(rows.shape[1], np.intp)
    for m in range(rows.shape[0]):
        for g in range(sizes.shape[0]):
            k = sizes[g]
            if not _leaders(matrices[m], rows[m], k, leader, count):
                continue
            for t in range(weights.shape[2]):
                w = weights[m, g, t]
                for i in range(k):
                    if leader[i] != i:
                        w[leader[i]] += w[i]
                for i in range(k):
                    if leader[i] == i:
                        w[i] /= count[i]
                    else:
                        w[i] = w[leader[i]]


@compiled
def _leaders(A, s, k, leader, count):
    """Write for each neighbour the first one that it is interchangeable with; return whether there is any such pair."""
    found = False
    for i in range(k):
        leader[i], count[i] = i, 1
        j = i - 1
        while j >= 0 and s[j] == s[i]:  # neighbours are sorted, so equally similar ones are adjacent
            if leader[j] == j and _interchangeable(A, i, j, k):
                leader[i] = j
                count[j] += 1
                found = True
                break
            j -= 1
    return found


@compiled
def _interchangeable(A, i, j, k):
    same, a = A[i, i] == A[j, j], 0
    while same and a < k:
        same = A[i, a] == A[j, a] or a in (i, j)
        a += 1
    return same
