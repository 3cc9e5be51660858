"""Consecutive objects of a longer sequence, and the similarities between two such parts."""

from __future__ import annotations

from typing import Any

from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude.proximity.maps import LearnedMap
from similitude.similarities import Measure
from similitude.similarities.pairwise import show_blocks

# These are plain classes, because Dask takes tuples, lists and dataclasses apart to find tasks inside.


class Part:
    """Consecutive objects, and the position of the first in the whole sequence."""

    def __init__(self, objects: Any, first: int):
        self.objects, self.first = objects, first

    def __len__(self) -> int:
        return num_samples(self.objects)


class Rule:
    """The measure by which objects are compared, and the map of its values."""

    def __init__(self, measure: Measure, map: LearnedMap | None = None):
        self.measure, self.map = measure, map


def cut(objects: Any, lengths: list[int]) -> list[Part]:
    """Return the objects in parts of these lengths."""
    parts, first = [], 0
    for length in lengths:
        parts.append(Part(safe_indexing(objects, slice(first, first + length)), first))
        first += length
    return parts


def even_lengths(n: int, count: int) -> list[int]:
    """Return ``count`` lengths (at most n) that differ by one at most and add up to n."""
    count = min(count, n)
    return [n // count + (i < n % count) for i in range(count)]


def lengths_of(n: int, length: int) -> list[int]:
    """Return parts of this length that add up to n, where the last one may be shorter."""
    return [min(length, n - start) for start in range(0, n, length)]


def show(
    target: Any, rows: Part, columns: Part, measure: Measure, block_size: int | None = None, half: bool = False
) -> None:
    """Compute the values between two parts, block by block, and pass them to the target.

    Errors name the objects by their positions in the whole sequences. With ``half`` a target that mirrors gets only the
    blocks on and above the diagonal.
    """
    places = range(rows.first, rows.first + len(rows)), range(columns.first, columns.first + len(columns))
    options: dict[str, Any] = {"n_jobs": 1, "block_size": block_size, "places": places}
    show_blocks(target, rows.objects, columns.objects, measure, half=half, **options)
