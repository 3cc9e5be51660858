"""Native values between samples, given as a matrix or computed from raw objects when they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude.proximity.split import cut
from similitude.similarities.pairwise import Named, named_values, pairwise


class GivenValues:
    """Native values of row samples to column samples, given as a matrix or a part of one."""

    def __init__(self, values: Any, rows: Any = None, columns: Any = None, *, square: bool = False):
        self.values, self.rows, self.columns, self.square = values, rows, columns, square

    def whole(self) -> Any:
        """Return all values, without a copy if they are the whole matrix."""
        if self.rows is None and self.columns is None:
            return self.values
        columns = np.arange(self.values.shape[1]) if self.columns is None else self.columns
        return cut(self.values, self._rows(slice(0, None)), columns)

    def block(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the values of consecutive rows to some of the columns."""
        return cut(self.values, self._rows(rows), self._columns(columns))

    def back(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the values in the other direction, of ``columns`` to ``rows``, transposed; None if not known."""
        return cut(self.values, self._columns(columns), self._rows(rows)).T if self.square else None

    def among(self, positions: np.ndarray) -> Any:
        """Return the values among some of the column samples."""
        return cut(self.values, self._columns(positions), self._columns(positions))

    def among_rows(self) -> Any:
        """Return the values among the row samples; None if they are not known."""
        return None if self.rows is None else cut(self.values, self.rows, self.rows)

    def at_rows(self, positions: np.ndarray) -> GivenValues:
        """Return the values of some of the row samples to all column samples."""
        return GivenValues(self.values, self._rows(slice(0, None))[positions], self.columns)

    def at_columns(self, positions: np.ndarray) -> GivenValues:
        """Return the values of all row samples to some of the column samples."""
        return GivenValues(self.values, self.rows, self._columns(positions))

    def filled(self, fill: Any) -> GivenValues:
        """Return the same values with unknown ones replaced."""
        if self.rows is None:
            return GivenValues(fill(self.values, square=self.square), None, self.columns, square=self.square)
        own = self.square and np.array_equal(self.rows, self.columns)
        return GivenValues(fill(self.whole(), square=own), square=self.square)

    def _rows(self, rows: slice) -> np.ndarray:
        everything = np.arange(self.values.shape[0]) if self.rows is None else self.rows
        return everything[rows]

    def _columns(self, columns: np.ndarray) -> np.ndarray:
        return columns if self.columns is None else self.columns[columns]


class ComputedValues:
    """Native values of raw objects to other objects, computed when they are needed; the methods are the same."""

    def __init__(self, measure: Any, objects: Any, others: Any, kept: np.ndarray | None = None, first: int = 0):
        self.measure, self.objects, self.others, self.kept, self.first = measure, objects, others, kept, first

    def whole(self) -> np.ndarray:
        if self.objects is self.others:
            return pairwise(self.objects, similarity=self.measure)
        return self.block(slice(0, num_samples(self.objects)), self._everything)

    @property
    def _everything(self) -> np.ndarray:
        return np.arange(num_samples(self.others)) if self.kept is None else self.kept

    def block(self, rows: slice, columns: np.ndarray) -> np.ndarray:
        if not len(columns):
            return np.empty((rows.stop - rows.start, 0))
        return named_values(self._rows(rows), self._columns(columns), self.measure)

    def back(self, rows: slice, columns: np.ndarray) -> np.ndarray:
        return named_values(self._columns(columns), self._rows(rows), self.measure).T

    def among(self, positions: np.ndarray) -> np.ndarray:
        return named_values(self._columns(positions), None, self.measure)

    def among_rows(self) -> np.ndarray:
        return named_values(self._rows(slice(0, num_samples(self.objects))), None, self.measure)

    def _rows(self, rows: slice) -> Named:
        whole = rows == slice(0, num_samples(self.objects))
        places = self.first + np.arange(rows.start, rows.stop)
        return Named(self.objects if whole else safe_indexing(self.objects, rows), places)

    def _columns(self, columns: np.ndarray) -> Named:
        places = columns if self.kept is None else np.searchsorted(self.kept, columns)
        whole = np.array_equal(places, np.arange(num_samples(self.others)))
        return Named(self.others if whole else safe_indexing(self.others, places), columns)
