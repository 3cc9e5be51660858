"""The rows of new samples, in the form in which a method reads them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from similitude.proximity.proximities import Extras, at_columns
from similitude.proximity.split import cut
from similitude.reader.base import NO_EXTRAS, ReadSamples


class Rows(ReadSamples):
    """New samples in the form in which a method reads them: their similarities to the training samples."""

    def __init__(
        self,
        reader: Any,
        m: int,
        native: Any,
        extras: Extras = NO_EXTRAS,
        *,
        objects: Any = None,
        support: np.ndarray | None = None,
        unknown: bool = False,
        announced: bool = True,
    ):
        super().__init__(reader, m, native, extras, unknown, announced)
        self.objects, self._support = objects, support

    @cached_property
    def S(self) -> Any:
        """The similarities psi(x, x_j) to the training samples, (m, n), or to those whose columns are given."""
        return self._similarities(self._given_columns)

    @cached_property
    def symmetric(self) -> Any:
        """The mean of both directions if these are known and differ, otherwise S."""
        return self._mean(self.S, self._given_columns)

    @cached_property
    def among(self) -> Any:
        """The similarities among the rows themselves, (m, m), or None if they are not known.

        They are known for raw objects, and in the folds of a search on a square matrix.
        """
        known = self.native is not None and not self.reader.is_columns
        values = self.native.among_rows() if known else None
        return None if values is None else self.reader.similarities(values)

    @cached_property
    def evidence(self) -> np.ndarray:
        """Whether each sample gives evidence, (m,): its values to the training samples are not all equal.

        It is True for all if it cannot be known, because only some of the columns are given, and if the samples have
        features in addition.
        """
        if self._support is not None or self.features is not None:
            return np.ones(len(self), dtype=bool)
        if self.native is None or self.reader.map is None:
            return self.reader.evidence(self.S)
        return self.reader.evidence(self.native.block(slice(0, len(self)), self._given_columns))

    @property
    def _given_columns(self) -> np.ndarray:
        return np.arange(self.reader.n_columns) if self._support is None else self._support

    def columns(self, used: np.ndarray, *, symmetric: bool = False) -> Any:
        """Return the similarities to the training samples at the given positions."""
        if self._computes_only(used):
            S = self._similarities(used)
            return self._mean(S, used) if symmetric else S
        S = self.symmetric if symmetric else self.S
        return at_columns(S, used if self._support is None else np.searchsorted(self._support, used))

    def read_as(self, reader: Any) -> Rows:
        """Return the same samples as read by another reader that was fitted to the same training samples."""
        if reader is self.reader or reader.map_name == self.reader.map_name:
            return self
        return Rows(
            reader,
            len(self),
            self.native,
            self.extras,
            objects=self.objects,
            support=self._support,
            unknown=self.unknown,
            announced=self.announced,
        )

    @cached_property
    def _completed(self) -> Rows:
        native = self.native.filled(self.reader.fill)
        return Rows(self.reader, len(self), native, self.extras, support=self._support, unknown=False)

    def take(self, positions: np.ndarray) -> Rows:
        """Return some of the samples, with their similarities."""
        extras = self.extras.take(positions)
        part = Rows(self.reader, len(positions), None, extras, support=self._support, unknown=self.unknown)
        part.S = cut(self.S, positions, np.arange(self.S.shape[1]))
        return part

    def _mean(self, S: Any, columns: np.ndarray) -> Any:
        """Return the mean of S and of the other direction if both are known and differ, otherwise S."""
        if not self.reader.asymmetric or self.native is None:
            return S
        back = self.native.back(slice(0, len(self)), columns)
        if back is None:
            return S
        half = S.dtype.type(0.5)
        return S * half + self.reader.similarities(back, transposed=True) * half
