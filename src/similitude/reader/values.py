"""Native values between samples, given as a matrix or computed from raw objects when they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.proximity.split import cut
from similitude.similarities.pairwise import Named, named_values


def is_dict(value: Any) -> bool:
    """Return whether a value is a dict of similarities by name."""
    return isinstance(value, Mapping) and not hasattr(value, "shape")  # one of SciPy's sparse matrices is a dict


def matrix_of(X: Any) -> Any:
    """Return the matrix of ``Proximities`` or of a dict with one matrix, or X itself."""
    return as_proximities(X).S if isinstance(X, Proximities) or is_dict(X) else X


class NativeValues:
    """Base of the native values of row samples to column samples."""

    def block(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the values of consecutive rows to some of the columns."""
        raise NotImplementedError

    def back(self, rows: slice, columns: np.ndarray) -> Any:
        """Return the values in the other direction, of ``columns`` to ``rows``, transposed."""
        raise NotImplementedError

    def among(self, positions: np.ndarray) -> Any:
        """Return the values among some of the column samples."""
        raise NotImplementedError

    def among_rows(self) -> Any:
        """Return the values among the row samples."""
        raise NotImplementedError


class GivenValues(NativeValues):
    """Native values of row samples to column samples, given as a matrix or a part of one."""

    def __init__(self, values: Any, rows: Any = None, columns: Any = None, *, square: bool = False):
        self.values, self.rows, self.columns, self.square = values, rows, columns, square

    def block(self, rows: slice, columns: np.ndarray) -> Any:
        return cut(matrix_of(self.values), self._rows(rows), self._columns(columns))

    def back(self, rows: slice, columns: np.ndarray) -> Any:
        return cut(matrix_of(self.values), self._columns(columns), self._rows(rows)).T if self.square else None

    def among(self, positions: np.ndarray) -> Any:
        return cut(matrix_of(self.values), self._columns(positions), self._columns(positions))

    def among_rows(self) -> Any:
        return None if self.rows is None else cut(matrix_of(self.values), self.rows, self.rows)

    def filled(self, fill: Any) -> GivenValues:
        """Return the same values with unknown ones replaced."""
        if self.rows is None:
            values = fill(matrix_of(self.values), square=self.square)
            return GivenValues(values, None, self.columns, square=self.square)
        own = self.square and np.array_equal(self.rows, self.columns)
        return GivenValues(fill(cut(matrix_of(self.values), self.rows, self.columns), square=own), square=self.square)

    def _rows(self, rows: slice) -> np.ndarray:
        return np.arange(rows.start, rows.stop) if self.rows is None else self.rows[rows]

    def _columns(self, columns: np.ndarray) -> np.ndarray:
        return columns if self.columns is None else self.columns[columns]


class ComputedValues(NativeValues):
    """Native values of raw objects to other objects, computed when they are needed."""

    def __init__(self, measure: Any, objects: Any, others: Any, kept: np.ndarray | None = None, first: int = 0):
        self.measure, self.objects, self.others, self.kept, self.first = measure, objects, others, kept, first

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
