"""The figures of a diagnosis, as functions of arrays.

Matrices are dense, in float64 and scaled to unit size (:func:`unit_scale`), so that no figure overflows or underflows.
A figure that is not defined (too few samples, no variation) is None.
"""

from __future__ import annotations

import hashlib
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude.numerics.eigen import cut_zeros, eigenvalues_only
from similitude.numerics.topk import top_k
from similitude.proximity.symmetry import symmetrize


def unit_scale(S: np.ndarray) -> tuple[np.ndarray, float]:
    """Return S / p in float64, with its largest absolute value in [1, 2), and the power of two p."""
    A = S.astype(np.float64)
    largest = float(max(A.max(), -A.min()))
    scale = float(2.0 ** np.floor(np.log2(largest))) if largest > 0 else 1.0
    A /= scale
    return A, scale


def eigenvalues(A: np.ndarray, symmetric: bool, tolerance: float) -> np.ndarray:
    """Return the eigenvalues of ``(A + A^T)/2`` in ascending order.

    Those with ``|lambda| <= tolerance * max|lambda|`` are set to zero.
    """
    return cut_zeros(eigenvalues_only(A if symmetric else symmetrize(A).S), tolerance)


def rescaled(eigenvalues: np.ndarray, scale: float) -> np.ndarray | None:
    """Return the eigenvalues in descending order, times the scale; None where that overflows."""
    with np.errstate(over="ignore"):
        values = eigenvalues[::-1] * scale
    return values if np.isfinite(values).all() else None


def not_maximal(A: np.ndarray, tolerance: float) -> float:
    """Return the share of rows whose diagonal entry is smaller, by more than rounding, than the largest."""
    return float(np.mean(np.diagonal(A) < A.max(axis=1) - tolerance))


def duplicate_rows(S: np.ndarray) -> int:
    """Return the number of rows that equal an earlier one."""
    # Adding zero turns -0.0 into 0.0, so that equal values have the same bytes.
    return len(S) - len({hashlib.blake2b((row + 0.0).tobytes(), digest_size=16).digest() for row in S})


def triangle_violations(A: np.ndarray, n_triples: int, rng: Any, tolerance: float, similarity: bool) -> float | None:
    """Return the share of triples of samples with ``d_ij > d_ik + d_kj`` for some order of the three.

    d is A, or ``max A - A`` if A is a similarity. All triples are examined if there are at most ``n_triples``,
    otherwise a random sample of that size.
    """
    n = len(A)
    if n < 3:
        return None
    triples = np.array(list(combinations(range(n), 3))).T if comb(n, 3) <= n_triples else _draw(n, n_triples, rng)
    largest = A.max()
    violated = np.zeros(triples.shape[1], dtype=bool)
    for i, j, k in ((0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)):
        sides = [A[triples[a], triples[b]] for a, b in ((i, j), (i, k), (k, j))]
        if similarity:
            sides = [largest - side for side in sides]
        violated |= sides[0] > sides[1] + sides[2] + tolerance
    return float(np.mean(violated))


def _draw(n: int, size: int, rng: Any) -> np.ndarray:
    """Return random triples of different samples, each equally likely: an array of shape (3, size)."""
    first, second, third = (rng.randint(n - taken, size=size) for taken in range(3))
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    third += third >= low
    third += third >= high
    return np.stack([first, second, third])


def intrinsic_dimension(A: np.ndarray, tolerance: float, similarity: bool) -> float | None:
    """Return ``2 mean(d^2)^2 / var(d^2)`` over the pairs of different samples.

    ``d^2_ij`` is ``s_ii + s_jj - s_ij - s_ji`` if A is a similarity, otherwise ``A_ij^2``.
    """
    n = len(A)
    n_pairs = n * (n - 1)
    if n < 3:
        return None
    if similarity:
        squares = -A - A.T
        own = np.diagonal(A)
        squares += own[:, None]
        squares += own[None, :]
    else:
        squares = A**2
    np.fill_diagonal(squares, 0.0)
    mean = float(squares.sum()) / n_pairs
    squares -= mean
    np.fill_diagonal(squares, 0.0)
    variance = float(np.vdot(squares, squares)) / n_pairs
    return 2 * mean**2 / variance if mean > 0 and variance > tolerance**2 else None


def nearest_others(A: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the similarities and positions of the k other samples most similar to each sample.

    Equally similar samples are in the order of their positions. The diagonal of A is changed and restored.
    """
    own = np.diagonal(A).copy()
    np.fill_diagonal(A, -np.inf)
    nearest = top_k(A, k)
    np.fill_diagonal(A, own)
    return nearest


_ROWS = 256


def neighbor_figures(
    k: int, occurrences: np.ndarray, tied: np.ndarray, evidence: np.ndarray, wrong: np.ndarray | None
) -> dict[str, Any]:
    """Return the figures of the lists of the k nearest others, by their names in a diagnosis.

    ``occurrences`` is the number of lists in which each sample is, ``tied`` whether its own list ends with a tie,
    ``evidence`` whether its similarities to the others are not all equal, and ``wrong`` the share of its nearest
    neighbours, which may be tied, that have another label.
    """
    return {
        "n_neighbors": k,
        "hubness": _skewness(occurrences - k) if k else None,
        "neighbor_ties": float(np.mean(tied)) if k else None,
        "without_evidence": int((~evidence).sum()),
        "leave_one_out_error": None if wrong is None or not evidence.any() else float(wrong[evidence].mean()),
    }


def _skewness(deviations: np.ndarray) -> float:
    """Return the third standardised moment of deviations from the mean, or 0 if all are zero."""
    spread = float(np.mean(deviations.astype(np.float64) ** 2)) ** 0.5
    return float(np.mean((deviations / spread) ** 3)) if spread > 0 else 0.0


def neighbors(A: np.ndarray, n_neighbors: int, labels: np.ndarray | None) -> dict[str, Any]:
    """Return the figures of the lists of nearest neighbours."""
    n = len(A)
    k = min(n_neighbors, n - 1)
    if k == 0:
        return neighbor_figures(0, np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool), None)
    values, indices = nearest_others(A, min(k + 1, n - 1))
    lists = shared_lists(A, k, values, indices)
    own = np.diagonal(A).copy()
    np.fill_diagonal(A, np.inf)
    evidence = A.min(axis=1) != values[:, 0]
    np.fill_diagonal(A, own)
    wrong = None if labels is None else _wrong(A, values, indices, labels)
    return neighbor_figures(k, lists.occurrences, lists.tied, evidence, wrong)


def _wrong(A: np.ndarray, values: np.ndarray, indices: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the share of the nearest neighbours of each sample, which may be tied, that have another label."""
    found = (labels[indices[:, 0]] != labels).astype(float)
    for i in np.flatnonzero(values[:, 0] == values[:, min(1, values.shape[1] - 1)]).tolist():
        nearest = A[i] == values[i, 0]
        nearest[i] = False
        found[i] = np.mean(labels[nearest] != labels[i])
    return found


class Lists(NamedTuple):
    """How many lists of n neighbours each sample is in, of samples of other classes, and which lists end with a tie."""

    n_neighbors: int
    occurrences: np.ndarray
    misleading: np.ndarray
    tied: np.ndarray


def shared_lists(
    A: np.ndarray, k: int, values: np.ndarray, indices: np.ndarray, labels: np.ndarray | None = None
) -> Lists:
    """Return how often each sample is among the k nearest of others, given the k + 1 nearest of each.

    Equally similar samples share the last places. Otherwise the first rows would be in nearly all lists of a matrix
    that consists mostly of zeros.
    """
    n = len(A)
    labels = np.zeros(n, dtype=np.intp) if labels is None else labels
    tied = values[:, k - 1] == values[:, k] if k < n - 1 else np.zeros(n, dtype=bool)
    places, owners = indices[~tied, :k], labels[~tied]
    occurrences = np.bincount(places.ravel(), minlength=n).astype(np.float64)
    misleading = np.bincount(places[labels[places] != owners[:, None]], minlength=n).astype(np.float64)
    rows = np.flatnonzero(tied)
    for start in range(0, len(rows), _ROWS):
        own = rows[start : start + _ROWS]
        last, similarities = values[own, k - 1, None], A[own]
        similarities[np.arange(len(own)), own] = -np.inf
        nearer, equal = similarities > last, similarities == last
        shares = (k - nearer.sum(axis=1, keepdims=True)) / equal.sum(axis=1, keepdims=True)
        weights = nearer + shares * equal
        occurrences += weights.sum(axis=0)
        misleading += np.sum(weights * (labels != labels[own, None]), axis=0)
    return Lists(k, occurrences, misleading, tied)


def class_means(A: np.ndarray, labels: np.ndarray, n_classes: int) -> list[tuple[float | None, float | None]]:
    """Return for each class the mean similarity of its samples to one another and to others (both directions)."""
    n = len(A)
    members = sparse.csr_matrix((np.ones(n), (labels, np.arange(n))), shape=(n_classes, n))
    counts = np.bincount(labels, minlength=n_classes)
    own = np.diagonal(A).copy()
    np.fill_diagonal(A, 0.0)
    sums = np.asarray(members @ np.asarray(members @ A).T)
    np.fill_diagonal(A, own)
    within = np.diagonal(sums).copy()
    np.fill_diagonal(sums, 0.0)
    return mean_pairs(within, (sums.sum(axis=0) + sums.sum(axis=1)) / 2, counts)


def mean_pairs(
    within: np.ndarray, between: np.ndarray, counts: np.ndarray, absent: float = 0.0
) -> list[tuple[float | None, float | None]]:
    """Return for each class the means of sums over pairs of different samples, which are relative to ``absent``."""
    pairs_within, pairs_between = counts * (counts - 1), counts * (counts.sum() - counts)
    return [
        (float(w / p + absent) if p else None, float(b / q + absent) if q else None)
        for w, p, b, q in zip(within, pairs_within, between, pairs_between)
    ]
