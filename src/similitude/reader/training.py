"""The training samples, in the form in which a method reads them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from similitude._utils.scikit_learn import safe_indexing
from similitude.finders.finder import KnownFinder, MatrixFinder
from similitude.finders.search import check_search
from similitude.proximity.check import is_symmetric
from similitude.proximity.proximities import Extras, at_columns
from similitude.proximity.scale import similarity_scale
from similitude.proximity.split import cut
from similitude.proximity.symmetry import known_in_both_directions, mean_of_directions, warn_of_asymmetry
from similitude.reader.base import NO_EXTRAS, ReadSamples
from similitude.reader.rows import Rows
from similitude.similarities import pairwise

_SOME = slice(0, 16)


class Training(ReadSamples):
    """The training samples in the form in which a method reads them."""

    def __init__(
        self,
        reader: Any,
        n: int,
        load: Callable[[], Any],
        extras: Extras = NO_EXTRAS,
        *,
        native: Any = None,
        announced: bool = True,
        unknown: bool = False,
    ):
        super().__init__(reader, n, native, extras, unknown, announced)
        self._load = load

    @property
    def has_matrix(self) -> bool:
        """Whether the similarities are used as a whole, which a finder on raw objects avoids."""
        return check_search(self.reader.search) is None

    @cached_property
    def S(self) -> Any:
        """The similarities, (n, n) or, with fixed prototypes, (n, p)."""
        return self._load()

    @cached_property
    def scale(self) -> float:
        """The scale of the similarities, to which parameters of a method may be relative."""
        return similarity_scale(self.S, absent_is_zero=not self.unknown)

    def columns(self, used: np.ndarray) -> Any:
        """Return the similarities to the samples at the given positions.

        Those of raw objects to other samples are not computed, unless the map needs whole rows.
        """
        return self._similarities(used) if self._computes_only(used) else at_columns(self.S, used)

    def note_asymmetry(self, who: str) -> bool:
        """Return whether S is asymmetric, and warn that the mean of both directions is used instead if it is.

        After this call ``Rows.symmetric`` of new raw objects is also the mean of both directions.
        """
        measure = self.reader.measure
        if measure is not None and measure.symmetric:
            return False
        # If there is no matrix, a few objects are compared.
        S = self.S if self.has_matrix else pairwise(safe_indexing(self.reader.objects, _SOME), similarity=measure)
        S = known_in_both_directions(S) if self.unknown else S
        if self.announced:
            asymmetric = warn_of_asymmetry(who, S, both_directions=measure is not None)
        else:
            asymmetric = not is_symmetric(S)
        self.reader.asymmetric = asymmetric and measure is not None
        return asymmetric

    def symmetric(self, who: str) -> Any:
        """Return S if it is symmetric, otherwise ``(S + S^T)/2`` with one warning."""
        return mean_of_directions(self.S) if self.note_asymmetry(who) else self.S

    def replaced(self, S: Any) -> Training:
        """Return the same samples with other similarities."""
        return self._with(self.reader, lambda: S)

    @cached_property
    def _completed(self) -> Training:
        native = self.native.filled(self.reader.fill)
        values = native.block(slice(0, len(self)), np.arange(self.reader.n_columns))
        completed = self._with(self.reader, lambda: self.reader.similarities(values))
        completed.native, completed.unknown = native, False
        return completed

    def as_rows(self) -> Rows:
        """Return the training samples as rows, to be compared with themselves."""
        rows = Rows(self.reader, len(self), self.native, objects=self.reader.objects, unknown=self.unknown)
        if self.has_matrix:
            rows.S = self.S
        return rows

    def read_by(self, reader: Any) -> Training:
        """Return the same samples as read by another reader, whose map is learned from them."""
        for name in ("measure", "objects", "n_columns", "column_names", "column_ids", "extras", "absent", "fill"):
            setattr(reader, name, getattr(self.reader, name))
        values = self.native.block(slice(0, len(self)), np.arange(reader.n_columns))
        reader.map = reader.learned_map(values)
        return self._with(reader, lambda: reader.similarities(values))

    def mapped(self, map_name: str) -> Training:
        """Return the same samples with another map to similarities, which is learned once."""
        if map_name not in self._other_maps:
            reader = copy.copy(self.reader)
            reader.dissimilarity, reader.learns_map = map_name, True
            self._other_maps[map_name] = self.read_by(reader)
        return self._other_maps[map_name]

    @cached_property
    def _other_maps(self) -> dict[str, Training]:
        return {}

    def _with(self, reader: Any, load: Callable[[], Any]) -> Training:
        return Training(
            reader, len(self), load, self.extras, native=self.native, announced=self.announced, unknown=self.unknown
        )

    def finder(self, *, symmetric: bool = False, lookup: bool = False) -> Any:
        """Return a finder of the neighbours of new rows among the training samples."""
        chosen = check_search(self.reader.search)
        if chosen is None and self.unknown:
            return KnownFinder(self.S if lookup else None, self.reader)
        if chosen is None:
            return MatrixFinder(self.S if lookup else None, symmetric)
        finder = clone(chosen)
        self.reader.map = finder.index(self.reader, symmetric and self.reader.asymmetric)
        return finder

    def fold(self, kept: np.ndarray, left_out: np.ndarray) -> tuple[Training, Rows]:
        """Return a part of the training samples and the rows of others to it, mapped with the whole's constants."""
        S, columns = self.S, np.arange(self.S.shape[1]) if self.reader.is_columns else kept
        extras = Extras(self_similarity=self.self_similarity)
        part = Training(
            self.reader,
            len(kept),
            lambda: cut(S, kept, columns),
            extras.take(kept),
            announced=False,
            unknown=self.unknown,
        )
        rows = Rows(self.reader, len(left_out), None, extras.take(left_out), unknown=self.unknown, announced=False)
        rows.S = cut(S, left_out, columns)
        if not self.reader.is_columns:
            rows.among = cut(S, left_out, left_out)
        if self.reader.asymmetric:  # as in predict, both directions of raw objects are known
            rows.symmetric = cut(mean_of_directions(S), left_out, columns)
        return part, rows
