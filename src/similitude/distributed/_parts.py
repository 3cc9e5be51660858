"""Consecutive objects of a longer sequence, and the similarities between two such parts."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import _num_samples

from similitude.proximity.maps import LearnedMap
from similitude.similarities._blocks import Failure, Grid, Task, default_length
from similitude.similarities.pairwise import _part, _Source
from similitude.similarities.registry import Measure

# Plain classes: Dask takes tuples, lists and dataclasses apart and looks for tasks inside.


class Part:
    """Consecutive objects, and the place of the first in the whole sequence."""

    def __init__(self, objects: Any, first: int):
        self.objects, self.first = objects, first

    def __len__(self) -> int:
        return _num_samples(self.objects)


class Rule:
    """How objects are compared."""

    def __init__(self, measure: Measure, map: LearnedMap | None = None):
        self.measure, self.map = measure, map


def cut(objects: Any, lengths: list[int]) -> list[Part]:
    """The objects in parts of these lengths."""
    parts, first = [], 0
    for length in lengths:
        parts.append(Part(_part(objects, slice(first, first + length)), first))
        first += length
    return parts


def even_lengths(n: int, count: int) -> list[int]:
    """So many lengths, or n where that is less, that differ by one at most and add up to n."""
    count = min(count, n)
    return [n // count + (i < n % count) for i in range(count)]


def lengths_of(n: int, length: int) -> list[int]:
    """As many of this length as n has, and one for the rest."""
    return [min(length, n - start) for start in range(0, n, length)]


def show(
    target: Any, rows: Part, columns: Part, measure: Measure, block_size: int | None = None, half: bool = False
) -> None:
    """Compute the values between two parts, block by block, and show them to the target.

    Errors name the objects by their places in the whole sequences. With ``half`` a target that mirrors gets the
    blocks on and above the diagonal.
    """
    m, n = len(rows), len(columns)
    length = block_size or default_length(m, n, measure, half, 1, True)
    source = _Source(rows.objects, columns.objects, measure.batch)
    places = range(rows.first, rows.first + m), range(columns.first, columns.first + n)
    task = Task.of(measure, half, places)
    for block in Grid(m, n, length, half):
        _, values = task(block, *source(block))
        if isinstance(values, Failure):
            raise ValueError(values.message) from values.cause
        target.write(block, values)
