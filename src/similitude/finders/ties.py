"""Neighbours, where samples that tie for the last places share them: the order of the training set decides nothing.

A vote is the expectation over all orders of tied samples, for which it is enough to count them by class. Local weights
and local models need actual neighbours: see :func:`~similitude.numerics.ties.taken_sizes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from similitude.numerics.ties import listed_counts, run_ends, taken_sizes


class Neighbors(NamedTuple):
    """The k nearest samples of each row, equally similar ones by position, and those that tie with the last one.

    ``beyond(chosen)`` returns, for a slice or the positions of rows, how many samples of each class are not listed
    although they are as similar as the last one, of shape (rows, G).
    """

    similarities: np.ndarray
    indices: np.ndarray
    beyond: Callable[[Any], np.ndarray]


class LocalNeighbors(NamedTuple):
    """The neighbourhoods of local problems of several sizes, in which no tie is split.

    ``similarities`` and ``indices`` have the shape (m, k); the first ``sizes[i, j]`` of them are the neighbours of row
    i for the j-th wanted size. If ``alone[i, j]``, there is no neighbourhood, and the row has the posterior
    ``shares[i]``: the shares of the classes among the most similar samples.
    """

    similarities: np.ndarray
    indices: np.ndarray
    sizes: np.ndarray
    alone: np.ndarray
    shares: np.ndarray

    def at(self, wanted: Any) -> LocalNeighbors:
        """Return the neighbourhoods of some of the sizes, given by their positions."""
        sizes, alone = self.sizes[:, wanted], self.alone[:, wanted]
        width = int(sizes.max(initial=1))
        return self._replace(
            similarities=self.similarities[:, :width], indices=self.indices[:, :width], sizes=sizes, alone=alone
        )

    def part(self, chosen: Any) -> LocalNeighbors:
        """Return the neighbourhoods of some of the rows."""
        return LocalNeighbors(*(array[chosen] for array in self))


def local_neighbors(finder: Any, rows: Any, sizes: Any, codes: np.ndarray, n_classes: int) -> LocalNeighbors:
    """Return the neighbourhoods of the rows for local problems of several sizes."""
    n = len(codes)
    found = finder.with_ties(rows, min(2 * int(max(sizes)) + 1, n), codes, n_classes)
    return as_local(found, np.asarray(sizes, dtype=np.intp), n, codes, n_classes)


def as_local(found: Neighbors, sizes: np.ndarray, n: int, codes: np.ndarray, n_classes: int) -> LocalNeighbors:
    """Return the neighbourhoods of several sizes in lists of the nearest of n samples."""
    similarities, indices, beyond = found
    taken = taken_sizes(similarities, sizes, n)
    shares = np.zeros((len(indices), n_classes))
    none = np.flatnonzero((taken == 0).any(axis=1))
    if len(none):
        top = np.arange(indices.shape[1]) < run_ends(similarities[none])[1][:, :1]
        counts = listed_counts(top, codes[indices[none]], n_classes)
        whole = top.all(axis=1)
        counts[whole] += beyond(none[whole])
        shares[none] = counts / counts.sum(axis=1, keepdims=True)
    sizes = np.maximum(taken, 1)
    width = int(sizes.max(initial=1))
    # Places beyond the neighbourhood repeat the nearest neighbour, so that no similarity among them is looked up.
    used = np.arange(width) < sizes.max(axis=1, initial=1)[:, None]
    indices = np.where(used, indices[:, :width], indices[:, :1])
    return LocalNeighbors(similarities[:, :width], indices, sizes, taken == 0, shares)
