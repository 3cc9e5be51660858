"""Parts of the construction of the neighbour graph that do not depend on estimators: codes, candidates and pairs.

For vectors and the metrics that it knows, pynndescent may find the lists of neighbours.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import rankdata

from similitude._native import offer
from similitude._utils.extras import require
from similitude._utils.scikit_learn import num_samples
from similitude.finders.stream import sorted_best
from similitude.similarities import Measure

_PRODUCTS = 2**22  # the number of products of codes that are computed at a time


def centred_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of each row's values, minus their mean."""
    return rankdata(values, axis=1) - (values.shape[1] + 1) / 2


def unit_rows(ranks: np.ndarray) -> np.ndarray:
    """Return the rows scaled to length 1 in single precision; rows of zeros remain zero."""
    lengths = np.sqrt((ranks**2).sum(axis=1, keepdims=True))
    return (ranks / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def most_alike(some: np.ndarray, codes: np.ndarray, count: int) -> np.ndarray:
    """Return for each row of ``some`` the rows of ``codes`` with the largest inner products, of shape (m, count)."""
    m, n = len(some), len(codes)
    values = np.full((m, count), -np.inf, dtype=np.float32)
    places = np.full((m, count), n, dtype=np.intp)
    rows = min(m, 1024)
    columns = max(1, _PRODUCTS // rows)
    for top in range(0, m, rows):
        part = slice(top, top + rows)
        for left in range(0, n, columns):
            offer(some[part] @ codes[left : left + columns].T, left, values[part], places[part])
    return sorted_best(values, places)[1]


def distinct_pairs(rows: np.ndarray, columns: np.ndarray, n: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return each pair of different objects once, in ascending order.

    If the measure is symmetric, (i, j) and (j, i) are the same pair.
    """
    rows, columns = rows.astype(np.int64), columns.astype(np.int64)
    if symmetric:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    keys = np.unique((rows * n + columns)[rows != columns])
    left, right = np.divmod(keys, n)
    return left, right


class Untried:
    """A function that selects the pairs of n objects that have not been compared yet.

    Pairs with a pivot are never returned, because they are compared first; all others are returned once.
    """

    def __init__(self, n: int, pivots: np.ndarray, symmetric: bool):
        self.n, self.symmetric = n, symmetric
        self.is_pivot = np.zeros(n, dtype=bool)
        self.is_pivot[pivots] = True
        self.tried = np.empty(0, dtype=np.int64)

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct pairs among these that were not returned before."""
        rows, columns = distinct_pairs(rows, columns, self.n, self.symmetric)
        known = self.is_pivot[columns] | (self.symmetric & self.is_pivot[rows])
        keys = np.setdiff1d((rows * self.n + columns)[~known], self.tried, assume_unique=True)
        self.tried = np.sort(np.append(self.tried, keys))
        left, right = np.divmod(keys, self.n)
        return left, right


_OWN_NAMES = ["euclidean", "manhattan", "chebyshev", "cosine", "correlation", "canberra", "braycurtis", "hamming"]
_OTHER_NAMES = {"l2": "euclidean", "sqeuclidean": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
METRICS = {**{name: name for name in _OWN_NAMES}, **_OTHER_NAMES}
"""The names that pynndescent uses for the measures it supports."""

_WORTH_COMPILING = 20_000


def uses_pynndescent(builder: str, objects: Any, measure: Measure, n_neighbors: int) -> bool:
    """Return whether pynndescent is to find the neighbours; raise a ValueError if it must and cannot."""
    numeric = isinstance(objects, np.ndarray) and objects.ndim == 2 and objects.dtype.kind in "biuf"
    known = measure.known and measure.name in METRICS and numeric and _fits_single_precision(objects)
    if builder == "pynndescent" and not known:
        raise ValueError(
            "builder='pynndescent' needs an array of numbers, the largest within 1e-12 and 1e12, and one of the "
            f"metrics {sorted(METRICS)}; got {type(objects).__name__} and {measure.name!r}."
        )
    n = num_samples(objects)
    if builder == "auto":
        known = known and n >= _WORTH_COMPILING and find_spec("pynndescent") is not None
    return known and builder != "own" and n > n_neighbors + 1


def neighbors_by_pynndescent(objects: np.ndarray, measure: Measure, n_neighbors: int, seed: int) -> np.ndarray:
    """Return the positions of the neighbours of each object, of shape (n, n_neighbors + 1)."""
    index = require("pynndescent", "graph").NNDescent(
        np.asarray(objects, dtype=np.float32),
        metric=METRICS[measure.name],
        n_neighbors=n_neighbors + 1,
        random_state=seed,
    )
    indices = np.asarray(index.neighbor_graph[0])
    own = np.arange(len(indices))[:, None]
    # Places that it could not fill are -1; the pair of an object with itself is ignored later.
    return np.where(indices < 0, own, indices)


def _fits_single_precision(X: np.ndarray) -> bool:
    """Return whether pynndescent, which computes in single precision, can distinguish the rows without overflow."""
    largest = float(np.max(np.abs(X), initial=0.0))
    return 1e-12 < largest < 1e12
