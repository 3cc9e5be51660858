"""All samples of a search, read once and divided into folds."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.scikit_learn import feature_names, num_samples, safe_indexing
from similitude.finders.search import check_search
from similitude.proximity.check import read_similarity
from similitude.proximity.proximities import Extras, Proximities, as_proximities
from similitude.proximity.split import cut
from similitude.proximity.symmetry import check_same_order
from similitude.reader.base import NO_EXTRAS, SearchSamples
from similitude.reader.reader import Reader
from similitude.reader.rows import Rows
from similitude.reader.training import Training
from similitude.reader.values import GivenValues, matrix_of
from similitude.similarities.pairwise import check_objects, pairwise
from similitude.similarities.registry import resolve


class Samples(SearchSamples):
    """All samples of a search, which are read once and divided into folds."""

    def __init__(self, reader: Any, X: Any, y: Any, *, warns: bool = True):
        X = X if reader is None else reader.adopted(X)
        self.reader, self.X, self.y = reader, X, y
        self.n = num_samples(X)
        if reader is None:
            return
        self.unknown = False
        if reader.is_matrix:
            self.values = self._checked(X, warns)
        else:
            self.X = check_objects(X)

    def _checked(self, X: Any, warns: bool) -> Any:
        """Return the checked matrix, so that its folds need not be checked; a DataFrame becomes an array."""
        orientation = "similarity" if warns and self.reader.map_name is None else "dissimilarity"
        options: dict[str, Any] = {"name": "X", "square": not self.reader.is_columns, "orientation": orientation}
        given, checked = as_proximities(X), {}
        for name, values in given.similarities.items():
            S, has_nan = read_similarity(values, takes_nan=True, **options)
            if self.reader.is_precomputed:
                check_same_order(S, dissimilarity=self.reader.map_name is not None)
            S, unknown = self.reader.note_unknown(given, S, has_nan)
            checked[name] = S if sparse.issparse(S) else np.asarray(S)
            self.unknown |= unknown
        return given.replaced(checked, given.features) if isinstance(X, Proximities) else checked["S"]

    @cached_property
    def values(self) -> Any:
        """The native values between all samples, computed once, by a similarity that has learned from all of them."""
        return pairwise(self.X, similarity=resolve(self.reader.similarity).learned(self.X, self.y))

    @property
    def learns(self) -> bool:
        """Whether the similarity learns from data; each fold then has its own values."""
        return not self.reader.is_matrix and resolve(self.reader.similarity).learns

    def fold(self, train: np.ndarray, test: np.ndarray) -> tuple[Training, Rows]:
        reader = self._fresh()
        reader.search = "matrix"
        if self.learns:
            training = reader.fit(safe_indexing(self.X, train), safe_indexing(self.y, train), warns=False)
            training.announced = False
            return training, reader.rows(safe_indexing(self.X, test))
        columns = np.arange(self.values.shape[1]) if reader.is_columns else train
        training = self._training(reader, train, columns)
        training.announced = False
        # For a matrix, predict gets only the rows, so the other direction must not be used.
        native = GivenValues(self.values, test, columns, square=not reader.is_matrix)
        objects = None if reader.is_matrix else safe_indexing(self.X, test)
        extras = _extras(self.values, test)
        rows = Rows(
            reader, len(test), native, extras, objects=objects, unknown=self._stays_unknown(reader), announced=False
        )
        if self.unknown and not rows.unknown:
            rows.native = native.filled(reader.fill)
        return training, rows

    def evidence(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        reader = self._fresh()
        if self.learns:
            reader.learns_map = False  # native values are looked at
            reader.fit(safe_indexing(self.X, train), safe_indexing(self.y, train), warns=False)
            return reader.rows(safe_indexing(self.X, test)).evidence
        if _extras(self.values, test).features is not None:
            return np.ones(len(test), dtype=bool)
        columns = np.arange(self.values.shape[1]) if reader.is_columns else train
        return reader.evidence(_similarities(self.values, test, columns))

    def whole(self) -> Training:
        reader = self._fresh()
        if self.learns or check_search(reader.search) is not None:
            return reader.fit(self.X, self.y)
        everything = np.arange(self.n)
        columns = np.arange(self.values.shape[1]) if reader.is_columns else everything
        training = self._training(reader, everything, columns)
        if reader.is_matrix:
            given = as_proximities(self.X)
            reader.column_names, reader.column_ids = feature_names(matrix_of(self.X)), given.column_ids
            reader.note_extras(given.extras, ids=not given.adopted)
        return training

    def _fresh(self) -> Reader:
        return copy.copy(self.reader)

    def _training(self, reader: Reader, rows: np.ndarray, columns: np.ndarray) -> Training:
        """Return some of the samples; their values are not read unless the map learns from them."""
        reader.n_columns = len(columns)
        if not reader.is_matrix:
            reader.measure, reader.objects = resolve(reader.similarity), safe_indexing(self.X, rows)
        extras = _extras(self.values, rows)
        native = GivenValues(self.values, rows, columns, square=not reader.is_columns)
        fill = self.values.fill if isinstance(self.values, Proximities) else None
        if fill is not None:
            reader.learn_fill(fill, _similarities(self.values, rows, columns))
        unknown = self._stays_unknown(reader)
        if not reader.learns_map or reader.map_name is None:
            return Training(
                reader,
                len(rows),
                lambda: _similarities(self.values, rows, columns),
                extras,
                native=native,
                unknown=unknown,
            )
        values = _similarities(self.values, rows, columns)
        if self.unknown and not unknown:
            native = native.filled(reader.fill)
            values = native.values
        reader.map = reader.learned_map(values)
        return Training(reader, len(rows), lambda: reader.similarities(values), extras, native=native, unknown=unknown)

    def _stays_unknown(self, reader: Reader) -> bool:
        """Return whether unknown values are passed on; double-centring needs them filled before."""
        return self.unknown and (reader.map_name != "double-centring" or reader.fill is None)

    def precomputed(self) -> Samples:
        if self.reader.is_matrix:
            return self
        part = copy.copy(self)
        part.reader, part.X = Reader("precomputed", self.reader.map_name), self.values
        return part

    def part(self, rows: np.ndarray) -> Samples:
        y = safe_indexing(self.y, rows)
        if self.reader is None or self.learns:
            return Samples(self.reader, safe_indexing(self.X, rows), y, warns=False)
        columns = np.arange(self.values.shape[1]) if self.reader.is_columns else rows
        part = copy.copy(self)
        part.y, part.n, part.values = y, len(rows), cut(self.values, rows, columns)
        part.X = part.values if self.reader.is_matrix else safe_indexing(self.X, rows)
        return part


def _similarities(values: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    S = values.S if isinstance(values, Proximities) else values
    whole = len(rows) == S.shape[0] and len(columns) == S.shape[1]
    return S if whole and np.array_equal(rows, np.arange(len(rows))) else cut(S, rows, columns)


def _extras(values: Any, rows: np.ndarray) -> Extras:
    """Return the data of these samples in addition to their similarities."""
    return values.extras.take(rows) if isinstance(values, Proximities) else NO_EXTRAS
