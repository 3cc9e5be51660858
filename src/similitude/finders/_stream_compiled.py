"""Compiled selection of the k best columns of each row of a matrix that is given block by block."""

from __future__ import annotations

import numpy as np

from similitude.numerics.compiled import compiled

_CHUNK = 32


@compiled
def offer(block, first, values, places):
    """Update the k best columns of a few rows with the columns ``first, first + 1, ...`` of a block.

    ``values`` and ``places`` (m, k) are heaps with the worst on top; the values are minus infinity at the start. Of
    equal values the smaller place is the better one, so the blocks may be given in any order.
    """
    n = block.shape[1]
    for row in range(block.shape[0]):
        worst = values[row, 0]
        for start in range(0, n, _CHUNK):
            stop = min(start + _CHUNK, n)
            # Most chunks contain no better value. Counting needs no branch, so the compiler vectorises it.
            hits = 0
            for j in range(start, stop):
                hits += block[row, j] >= worst
            if hits == 0:
                continue
            for j in range(start, stop):
                value = block[row, j]
                if value > worst or (value == worst and first + j < places[row, 0]):
                    _replace_worst(values[row], places[row], value, first + j)
                    worst = values[row, 0]


@compiled
def _replace_worst(values, places, value, place):
    """Replace the worst value of a heap, and restore the order of the heap."""
    k = values.shape[0]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= k:
            break
        other = child + 1
        if other < k and _worse(values[other], places[other], values[child], places[child]):
            child = other
        if not _worse(values[child], places[child], value, place):
            break
        values[i], places[i] = values[child], places[child]
        i = child
    values[i], places[i] = value, place


@compiled
def _worse(value, place, other, other_place):
    return value < other or (value == other and place > other_place)


def sorted_best(values: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the heaps as lists, best first, with equal values in the order of their places."""
    by_place = np.argsort(places, axis=1)
    values, places = (np.take_along_axis(a, by_place, axis=1) for a in (values, places))
    best_first = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(values, best_first, axis=1), np.take_along_axis(places, best_first, axis=1)
