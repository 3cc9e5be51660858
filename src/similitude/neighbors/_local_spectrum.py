"""Compiled code for the k x k similarities among a test sample's neighbours, and the modification of their spectrum.

The neighbour lists are nested, and so are the matrices: a smaller one is the leading block of a larger one. One
Cholesky elimination tells for all sizes whether a block is positive semidefinite; only blocks that are not are
decomposed (``np.linalg.eigh``, LAPACK's ``evd`` driver, as in ``numerics.eigen``).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from similitude.numerics._cholesky_kernel import dot, factor
from similitude.numerics._compile import kernel
from similitude.numerics.eigen import ZERO_TOLERANCE

NONE, CLIP, FLIP, SHIFT = 0, 1, 2, 3

SPECTRA = {"none": NONE, "clip": CLIP, "flip": FLIP, "shift": SHIFT}
"""The modifications as compiled code knows them."""

_ROUNDING = 1e-12


def local_matrices(S, neighbors):
    """Return the symmetrised similarities among each row of neighbours, (m, k) to (m, k, k); S is dense or CSR."""
    matrices = np.empty((*neighbors.shape, neighbors.shape[1]))
    if sparse.issparse(S):
        _gather_csr_rows(S.data, S.indices, S.indptr, neighbors, matrices)
    else:
        _gather_rows(S, neighbors, matrices)
    return matrices


@kernel
def _gather_rows(S, neighbors, matrices):
    for row in range(neighbors.shape[0]):
        gather(S, neighbors[row], matrices[row])


@kernel
def _gather_csr_rows(data, columns, starts, neighbors, matrices):
    for row in range(neighbors.shape[0]):
        gather_csr(data, columns, starts, neighbors[row], matrices[row])


@kernel
def gather(S, neighbors, A):
    """Write the symmetrised similarities among the neighbours into A, from a dense S: ``(S[i, j] + S[j, i]) / 2``."""
    for a in range(neighbors.shape[0]):
        row = S[neighbors[a]]
        for b in range(neighbors.shape[0]):
            A[a, b] = row[neighbors[b]]
    _symmetrize(A)


@kernel
def _symmetrize(A):
    for a in range(A.shape[0]):
        for b in range(a):
            # Halved first: the sum of two numbers near the largest float would overflow.
            A[a, b] = A[b, a] = 0.5 * A[a, b] + 0.5 * A[b, a]


@kernel
def gather_csr(data, columns, starts, neighbors, A):
    """Do the same from the three arrays of a CSR matrix with sorted columns; what is absent is 0."""
    k = neighbors.shape[0]
    for a in range(k):
        i = neighbors[a]
        row = columns[starts[i] : starts[i + 1]]
        for b in range(k):
            place = np.searchsorted(row, neighbors[b])
            found = place < row.shape[0] and row[place] == neighbors[b]
            A[a, b] = data[starts[i] + place] if found else 0.0
    _symmetrize(A)


@kernel
def leading_semidefinite(A, spectrum, consistent, U):
    """Return how many leading rows and columns of A form a positive semidefinite block, up to rounding.

    Where the row of the test sample is modified too, which takes the eigenvectors anyway, the answer is 0. The answer
    for a leading block of A is the smaller of this one and the block's size. U is work space.
    """
    if consistent and spectrum in (CLIP, FLIP):
        return 0
    return factor(A, _ROUNDING, 0.0, 0.0, A.shape[0], U, np.empty(A.shape[0]))


@kernel
def eigh(A):
    """Return the eigenvalues, ascending, and the eigenvectors as rows."""
    values, vectors = np.linalg.eigh(A)
    return values, vectors.T


@kernel
def modified_eigenvalues(values, spectrum):
    """Return the new eigenvalues, and by what P multiplies each eigenvector's part of a new row."""
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


@kernel
def modify(A, s, k, spectrum, semidefinite, consistent, K, row):
    """Write the modified local matrix of k neighbours into K, and the row s, or P s where ``consistent``, into ``row``.

    ``semidefinite`` is the answer of :func:`leading_semidefinite`. Returns the eigenvalues of K and its eigenvectors,
    as rows; none where nothing had to be decomposed.
    """
    block = np.empty((k, k))
    for a in range(k):
        row[a] = s[a]
        for b in range(k):
            block[a, b] = K[a, b] = A[a, b]
    if spectrum == NONE or k <= semidefinite:
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
    for i in range(k):  # eigenvalues are in ascending order, so the few negative ones come first
        if values[i] >= 0.0:
            break
        for a in range(k):
            add(K[a], (modified[i] - values[i]) * vectors[i, a], vectors[i], k)
    return modified, vectors


@kernel
def add(x, weight, y, n):
    """Add ``weight y`` to x over the first n."""
    for i in range(n):
        x[i] += weight * y[i]


@kernel
def share_alike(matrices, rows, sizes, weights):
    """Give neighbours that could change places the same weight, which rounding may have kept from them.

    They are as similar to the test sample and to all other neighbours, so that swapping their weights changes nothing,
    and neither does, where the optimum is the only one, taking the mean.
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


@kernel
def _leaders(A, s, k, leader, count):
    """Find for each neighbour the first one that it could change places with; return whether there is any such pair."""
    found = False
    for i in range(k):
        leader[i], count[i] = i, 1
        j = i - 1
        while j >= 0 and s[j] == s[i]:  # nearest first: equally similar ones stand side by side
            if leader[j] == j and _interchangeable(A, i, j, k):
                leader[i] = j
                count[j] += 1
                found = True
                break
            j -= 1
    return found


@kernel
def _interchangeable(A, i, j, k):
    same, a = A[i, i] == A[j, j], 0
    while same and a < k:
        same = A[i, a] == A[j, a] or a in (i, j)
        a += 1
    return same
