"""Medoids and centres: samples that represent all samples, found from similarities alone.

In all functions, ``S[i, j]`` is the similarity of sample i to sample j as a medoid; S need not be symmetric.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similitude._utils.types import RandomState
from similitude.numerics.votes import TIE_TOLERANCE


def k_medoids(S: np.ndarray, k: int, random_state: RandomState = None, *, n_init: int = 1) -> tuple[np.ndarray, float]:
    """Return the k samples to which all samples are most similar in total.

    The problem is::

        maximise  sum_i max_{m in M} S[i, m]   over   M a set of k samples

    The result is a local optimum: no exchange of one medoid for another sample is better (by more than 1e-12 of the
    largest total of absolute similarities to a sample). The search starts from the greedy set, to which the sample with
    the largest gain is added at each step. Of tied samples, the one whose sorted similarities come last is taken, so
    that the order of the samples does not matter. The search then exchanges a medoid whenever that increases the
    objective (FasterPAM, which compares each candidate with all medoids at once, in O(n)). For k = 1 the result is the
    global optimum.

    References
    ----------
    Kaufman & Rousseeuw, "Clustering by means of medoids", 1987. Schubert & Rousseeuw, "Fast and eager k-medoids
    clustering", Information Systems 101, 2021.
    """
    A, exponent = _by_candidate(S)
    n = len(A)
    if k >= n:
        return np.arange(n), _unscaled(A.max(axis=0).sum(), exponent)
    order = _by_profile(A)
    A = A[np.ix_(order, order)]
    tolerance = TIE_TOLERANCE * float(np.abs(A).sum(axis=1).max())
    rng = check_random_state(random_state)
    best, objective = np.arange(0), -np.inf
    for start in range(1 if k == 1 else n_init):
        first = _greedy(A, k, tolerance) if start == 0 else rng.choice(n, k, replace=False)
        medoids = _exchanged(A, first, tolerance) if k > 1 else first
        value = float(A[medoids].max(axis=0).sum())
        if value > objective + tolerance:
            best, objective = medoids, value
    return np.sort(order[best]), _unscaled(objective, exponent)


def _by_candidate(S: np.ndarray) -> tuple[np.ndarray, int]:
    """Return S with a row for each candidate, divided by a power of two so that sums neither overflow nor vanish."""
    exponent = math.frexp(float(max(S.max(), -S.min())))[1]
    return np.ldexp(np.ascontiguousarray(S.T, dtype=np.float64), -exponent), exponent


def _by_profile(A: np.ndarray) -> np.ndarray:
    """Return the samples in an order that depends on their similarities alone: those with the largest ones first."""
    return np.lexsort((-np.arange(len(A)), *np.sort(A, axis=1).T))[::-1]


def _unscaled(value: float, exponent: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))


def _gain(row: np.ndarray, best: np.ndarray) -> float:
    return float(np.maximum(row - best, 0.0).sum())


def _greedy(A: np.ndarray, k: int, tolerance: float) -> np.ndarray:
    """Return the greedy set (BUILD of PAM): the sample with the largest total, then always the one that gains most."""
    totals = A.sum(axis=1)
    medoids = [int(np.argmax(totals >= totals.max() - tolerance))]
    best = A[medoids[0]]
    if k == 1:
        return np.array(medoids)
    waiting = [(-_gain(A[j], best), j) for j in range(len(A)) if j != medoids[0]]
    heapify(waiting)
    while len(medoids) < k:
        # Gains never grow as medoids are added, so a gain that is still the largest after its update is the largest.
        j = heappop(waiting)[1]
        updated = (-_gain(A[j], best), j)
        if waiting and updated > waiting[0]:
            heappush(waiting, updated)
        else:
            medoids.append(j)
            best = np.maximum(best, A[j])
    return np.array(medoids)


def _exchanged(A: np.ndarray, medoids: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the medoids after exchanging a medoid for another sample whenever that is a gain, until no exchange is."""
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
            # Some of the samples that would lose their medoid go to the candidate, which makes up for their loss.
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
    """Return the rows with the largest and the second largest value of each column, and these values."""
    columns = np.arange(near.shape[1])
    nearest = near.argmax(axis=0)
    first_value = near[nearest, columns]
    others = near.copy()
    others[nearest, columns] = -np.inf
    second = others.argmax(axis=0)
    return nearest, second, first_value, others[second, columns]


def k_centres(S: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    """Return the k samples such that no sample is far from all of them.

    The problem is::

        maximise  min_i max_{m in M} S[i, m]   over   M a set of k samples

    The first centre is the best single one. Each further one is the sample that is least similar to those chosen so far
    (farthest first), the first one if several are tied. Then each centre is moved to the best single centre of the
    samples nearest to it, as long as that increases the objective. If the dissimilarities ``-S`` are a metric, the
    largest dissimilarity of a sample to its nearest centre is at most twice the optimum.

    References
    ----------
    Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38, 1985.
    Pekalska, Duin & Paclik, "Prototype selection for dissimilarity-based classifiers", Pattern Recognition 39, 2006.
    """
    n = len(S)
    if k >= n:
        return np.arange(n), float(S.max(axis=1).min())
    centres = _farthest_first(S, k)
    value = float(S[:, centres].max(axis=1).min())
    while True:
        nearest = S[:, centres].argmax(axis=1)
        nearest[centres] = np.arange(k)  # also where a centre is more similar to another one than to itself
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
    """Return how many of p prototypes each class gets, in proportion to its size, but at least one.

    A class whose share is below one gets one, and the others share the rest. The shares with the largest remainders are
    rounded up, those of earlier classes first if remainders are equal. If p is smaller than the number of classes,
    there are as many prototypes as classes.
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


def choose_by_class(selection: str, S: Any, labels: np.ndarray, p: int, random_state: RandomState) -> np.ndarray:
    """Return the positions of about p prototypes, selected within each class."""
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
