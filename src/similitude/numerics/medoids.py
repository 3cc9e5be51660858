"""Medoids and centres: samples that stand for all, found from similarities alone.

Throughout, ``S[i, j]`` is the similarity of sample i to sample j as a medoid; S need not be symmetric.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similitude.numerics.votes import TIE_TOLERANCE


def k_medoids(S: np.ndarray, k: int, random_state: Any = None, *, n_init: int = 1) -> tuple[np.ndarray, float]:
    """Return the k samples to which all samples are most similar in total::

        maximise  sum_i max_{m in M} S[i, m]   over   M a set of k samples

    A local optimum: no exchange of one medoid for another sample is better (by more than 1e-12 of the largest total
    of absolute similarities to a sample). It starts from the greedy set, to which the sample of largest gain is added
    each time, ties to the first, and exchanges whenever that gains (FasterPAM: each candidate is weighed against all
    medoids at once, in O(n)). For k = 1 it is the optimum, the first of tied ones.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Finite similarities of any size.
    k : int
        How many; at least n means all.
    random_state : int, RandomState or None, default=None
        For the random starts.
    n_init : int, default=1
        How many starts: the greedy set, then random ones. The best result counts, of equal ones the first.

    Returns
    -------
    positions : ndarray of int
        Of the medoids, ascending.
    objective : float
        The sum above.

    References
    ----------
    Kaufman & Rousseeuw, "Clustering by means of medoids", 1987. Schubert & Rousseeuw, "Fast and eager k-medoids
    clustering", Information Systems 101, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude.numerics.medoids import k_medoids
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 13.0])
    >>> positions, objective = k_medoids(-abs(x[:, None] - x), 2)
    >>> positions, objective
    (array([1, 4]), -5.0)
    """
    A, exponent = _by_candidate(S)
    n = len(A)
    if k >= n:
        return np.arange(n), _unscaled(A.max(axis=0).sum(), exponent)
    tolerance = TIE_TOLERANCE * float(np.abs(A).sum(axis=1).max())
    rng = check_random_state(random_state)
    best, objective = np.arange(0), -np.inf
    for start in range(1 if k == 1 else n_init):
        first = _greedy(A, k, tolerance) if start == 0 else rng.choice(n, k, replace=False)
        medoids = _exchanged(A, first, tolerance) if k > 1 else first
        value = float(A[medoids].max(axis=0).sum())
        if value > objective + tolerance:
            best, objective = medoids, value
    return np.sort(best), _unscaled(objective, exponent)


def _by_candidate(S: np.ndarray) -> tuple[np.ndarray, int]:
    """Return a row for each candidate, divided by a power of two so that sums neither overflow nor vanish."""
    exponent = math.frexp(float(max(S.max(), -S.min())))[1]
    return np.ldexp(np.ascontiguousarray(S.T, dtype=np.float64), -exponent), exponent


def _unscaled(value: float, exponent: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))


def _gain(row: np.ndarray, best: np.ndarray) -> float:
    return float(np.maximum(row - best, 0.0).sum())


def _greedy(A: np.ndarray, k: int, tolerance: float) -> np.ndarray:
    """BUILD of PAM: the sample of largest total first, then always the one that gains most."""
    totals = A.sum(axis=1)
    medoids = [int(np.argmax(totals >= totals.max() - tolerance))]
    best = A[medoids[0]]
    if k == 1:
        return np.array(medoids)
    waiting = [(-_gain(A[j], best), j) for j in range(len(A)) if j != medoids[0]]
    heapify(waiting)
    while len(medoids) < k:
        # Gains only shrink as medoids are added: what is still the largest after an update is the largest.
        j = heappop(waiting)[1]
        updated = (-_gain(A[j], best), j)
        if waiting and updated > waiting[0]:
            heappush(waiting, updated)
        else:
            medoids.append(j)
            best = np.maximum(best, A[j])
    return np.array(medoids)


def _exchanged(A: np.ndarray, medoids: np.ndarray, tolerance: float) -> np.ndarray:
    """Exchange a medoid for another sample as soon as that gains, until none does."""
    n, k = len(A), len(medoids)
    medoids = medoids.copy()
    is_medoid = np.zeros(n, dtype=bool)
    is_medoid[medoids] = True
    near = A[medoids]
    nearest, second, first_value, second_value = _two_nearest(near)
    candidate = tried = 0
    losses = np.bincount(nearest, second_value - first_value, k)
    while tried < n:
        row = A[candidate]
        if not is_medoid[candidate]:
            # Of the samples that would lose their medoid some go to the candidate, which makes up for their loss.
            kept = np.where(row > first_value, first_value, np.maximum(row, second_value)) - second_value
            gains = losses + np.bincount(nearest, kept, k)
            slot = int(np.argmax(gains))
            if gains[slot] + _gain(row, first_value) > tolerance:
                changed = (nearest == slot) | (second == slot) | (row > second_value)
                is_medoid[medoids[slot]], is_medoid[candidate] = False, True
                medoids[slot], near[slot] = candidate, row
                nearest[changed], second[changed], first_value[changed], second_value[changed] = _two_nearest(
                    near[:, changed]
                )
                losses = np.bincount(nearest, second_value - first_value, k)
                tried = 0
        candidate, tried = (candidate + 1) % n, tried + 1
    return medoids


def _two_nearest(near: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return of each column the rows with the largest and the second largest value, and these values."""
    columns = np.arange(near.shape[1])
    nearest = near.argmax(axis=0)
    first_value = near[nearest, columns]
    others = near.copy()
    others[nearest, columns] = -np.inf
    second = others.argmax(axis=0)
    return nearest, second, first_value, others[second, columns]


def k_centres(S: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    """Return the k samples such that no sample is far from all of them::

        maximise  min_i max_{m in M} S[i, m]   over   M a set of k samples

    First comes the best single centre, then always the sample least similar to those chosen (farthest first), ties to
    the first sample. Then, as long as that makes the value larger, each centre moves to the best single centre of the
    samples nearest to it. For dissimilarities ``-S`` that are a metric, the largest is at most twice the optimum.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Finite similarities.
    k : int
        How many; at least n means all.

    Returns
    -------
    positions : ndarray of int
        Of the centres, ascending.
    objective : float
        The value above: the similarity of the sample least similar to its nearest centre.

    References
    ----------
    Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985.
    Pekalska, Duin & Paclik, "Prototype selection for dissimilarity-based classifiers", Pattern Recognition 39, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude.numerics.medoids import k_centres
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 13.0])
    >>> k_centres(-abs(x[:, None] - x), 2)
    (array([1, 4]), -2.0)
    """
    n = len(S)
    if k >= n:
        return np.arange(n), float(S.max(axis=1).min())
    centres = _farthest_first(S, k)
    value = float(S[:, centres].max(axis=1).min())
    while True:
        nearest = S[:, centres].argmax(axis=1)
        nearest[centres] = np.arange(k)  # even a sample that is more similar to another than to itself
        moved = np.array([_single_centre(S, np.flatnonzero(nearest == m)) for m in range(k)])
        better = float(S[:, moved].max(axis=1).min())
        if better <= value:
            return np.sort(centres), value
        centres, value = moved, better


def _farthest_first(S: np.ndarray, k: int) -> np.ndarray:
    centres = [_single_centre(S, np.arange(len(S)))]
    reached = S[:, centres[0]].copy()
    reached[centres[0]] = np.inf
    while len(centres) < k:
        centres.append(int(np.argmin(reached)))
        np.maximum(reached, S[:, centres[-1]], out=reached)
        reached[centres[-1]] = np.inf
    return np.array(centres)


def _single_centre(S: np.ndarray, members: np.ndarray) -> int:
    return int(members[np.argmax(S[np.ix_(members, members)].min(axis=0))])


def per_class(sizes: np.ndarray, p: int) -> np.ndarray:
    """p prototypes shared among classes of these sizes, in proportion, at least one each: there are never fewer.

    A class whose share is below one gets one, and the others share the rest; of their exact shares the largest
    remainders, equal ones of the first classes, are rounded up.
    """
    left, rest = min(max(p, len(sizes)), int(sizes.sum())), np.ones(len(sizes), dtype=bool)
    while True:
        total = int(sizes[rest].sum())
        small = rest & (left * sizes < total)
        if not small.any():
            break
        left, rest = left - int(small.sum()), rest & ~small
    counts = np.ones(len(sizes), dtype=np.intp)
    counts[rest], remainders = np.divmod(left * sizes[rest], total)
    upwards = np.argsort(-remainders, kind="stable")[: left - int(counts[rest].sum())]
    counts[np.flatnonzero(rest)[upwards]] += 1
    return counts


def choose_by_class(selection: str, S: Any, labels: np.ndarray, p: int, random_state: Any) -> np.ndarray:
    """Return positions, ascending, of about p prototypes: "stratified", "kmedoids" or "kcentres" within each class."""
    rng = check_random_state(random_state)
    chosen = []
    for g, count in enumerate(per_class(np.bincount(labels), p)):
        members = np.flatnonzero(labels == g)
        if selection == "stratified":
            positions = rng.choice(len(members), count, replace=False)
        elif selection == "kmedoids":
            positions = k_medoids(S[np.ix_(members, members)], count, rng)[0]
        else:
            positions = k_centres(S[np.ix_(members, members)], count)[0]
        chosen.append(members[positions])
    return np.sort(np.concatenate(chosen))
