"""Equally similar samples: how many there are of each class, and which neighbourhoods they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude._native import tied_classes
from similitude.numerics.topk import top_k
from similitude.numerics.votes import neighbor_votes, weighting_votes


def tied_counts(S: Any, values: np.ndarray, codes: np.ndarray, n_classes: int, *, known_only: bool) -> np.ndarray:
    """Return how many columns of each class are equal to the value of their row, (m, G), in O(stored entries).

    Entries that a sparse matrix does not store are unknown with ``known_only``, and otherwise 0.
    """
    if not sparse.issparse(S):
        counts = np.zeros((S.shape[0], n_classes))
        S = np.asarray(S, dtype=np.float32 if S.dtype == np.float32 else np.float64)
        tied_classes(S, np.ascontiguousarray(values, dtype=S.dtype), codes, counts)
        return counts
    rows = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    absent_tied = (values == 0) & (not known_only)
    # Absent entries that are tied are all that there are less those with another value.
    counted = np.where(absent_tied[rows], S.data != 0, S.data == values[rows])
    places = rows[counted] * n_classes + codes[S.indices[counted]]
    counts = np.bincount(places, minlength=S.shape[0] * n_classes).reshape(-1, n_classes).astype(float)
    return np.where(absent_tied[:, None], np.bincount(codes, minlength=n_classes) - counts, counts)


def listed_counts(chosen: np.ndarray, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many of the chosen neighbours, a mask of shape (m, k) or (m, J, k), belong to each class."""
    masks = chosen if chosen.ndim == 3 else chosen[:, None]
    found = weighting_votes(np.ascontiguousarray(classes, dtype=np.intp), masks.astype(float), n_classes)
    return found if chosen.ndim == 3 else found[:, 0]


def run_ends(similarities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the run of equal values around each place of a sorted row starts, and where it stops."""
    m, k = similarities.shape
    places = np.broadcast_to(np.arange(k), (m, k))
    changes = similarities[:, 1:] != similarities[:, :-1]
    edge = np.ones((m, 1), dtype=bool)
    starts = np.maximum.accumulate(np.where(np.hstack([edge, changes]), places, 0), axis=1)
    last = np.where(np.hstack([changes, edge]), places + 1, k)
    return starts, np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]


def taken_sizes(similarities: np.ndarray, sizes: np.ndarray, n: int) -> np.ndarray:
    """Return how many neighbours a local problem of each size takes, (m, sizes), so that it splits no tie.

    ``similarities`` (m, K) are those of the nearest of n samples, where K is n or more than twice the largest size. All
    that tie for the last place are taken if they then are at most twice the size, and otherwise none of them. 0 means
    that there is no neighbourhood: all n samples are equally similar, or too many are the most similar.
    """
    starts, stops = run_ends(similarities)
    starts, stops = starts[:, sizes - 1], stops[:, sizes - 1]
    return np.where((stops <= 2 * sizes) & (stops - starts < n), stops, starts)


def nearest_of_class(closeness: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the closeness and the columns of the nearest samples of a class, and how many each size takes.

    They have the shapes (m, k), (m, k) and (m, sizes). Ties are as in :func:`taken_sizes`; if that leaves no sample,
    all that tie for the first place are taken.
    """
    n = closeness.shape[1]
    values, nearest = top_k(closeness, min(2 * int(sizes[-1]) + 1, n))
    taken = taken_sizes(values, sizes, n + 1)
    if not taken.all():
        values, nearest = top_k(closeness, n)
        taken = np.where(taken == 0, run_ends(values)[1][:, :1], taken)
    width = int(taken.max())
    return values[:, :width], np.ascontiguousarray(nearest[:, :width]), np.ascontiguousarray(taken)


def nearest_votes(
    closeness: np.ndarray, sizes: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the closeness and the classes of the nearest columns, (m, k), and their votes by class, (m, sizes, G)."""
    values, nearest = top_k(closeness, int(sizes[-1]))
    classes, last = codes[nearest], values[:, -1]
    beyond = tied_counts(closeness, last, codes, n_classes, known_only=True)
    beyond -= listed_counts(values == last[:, None], classes, n_classes)
    return values, classes, neighbor_votes(classes, values, np.ones(values.shape), beyond, sizes)
