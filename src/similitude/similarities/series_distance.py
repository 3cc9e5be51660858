"""What the distances of time series have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._native import elastic_distances
from similitude._utils.checks import check_bool, check_integer
from similitude._utils.threads import over_row_blocks, thread_count
from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchDistance, Measure, register
from similitude.similarities.series import Flat, as_series, flattened, slopes


class SeriesDistance(BatchDistance):
    """What the distances of time series have in common: how series are read, and `fit`, which learns their scale."""

    _saved_state = {"scale_?": "float 0.."}

    derivative = False
    relative = False
    _powers: Mapping[str, int] = {}
    """The parameters in units of the series, with the power of this unit."""

    @property
    def learns(self) -> bool:
        """Whether the distance has to be fitted."""
        return bool(self.relative)

    def fit(self, X: ListLike, y: Any = None) -> SeriesDistance:
        """Learn the standard deviation of the training series, if ``relative`` asks for it.

        Parameters
        ----------
        X : collection of time series
            The training series.
        y : ignored
            The labels.

        Returns
        -------
        self
        """
        if self.relative:
            values = np.concatenate([x.ravel() for x in self._read(X, "X")])
            self.scale_ = float(values.std()) or 1.0
        return self

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the matrix of distances between two collections of time series."""
        self._check_parameters()
        left, right = self._two_collections(A, B)
        if not left or not right:
            return np.zeros((len(left), len(right)))
        return self._distances(left, right, 0)

    def nearest(self, A: ListLike, B: ListLike, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Return the positions in B of the k nearest series of each series of A, nearest first, and their distances.

        Tables are abandoned as soon as all distances in them exceed the k-th smallest that has been found, where the
        measure allows that; the result is that of sorting the whole matrix, with ties in the order of B.

        Parameters
        ----------
        A, B : collections of time series
            See :func:`as_series`.
        k : int, default=1
            The number of neighbours, at most that of the series in B.

        Returns
        -------
        positions, distances : ndarrays of shape (len(A), k)
            The neighbours of each series.
        """
        self._check_parameters()
        check_integer(k, "k", 1)
        left, right = self._two_collections(A, B)
        if k > len(right):
            raise ValueError(f"k must be at most the number of series in B, which is {len(right)}; got {k}.")
        if not left:
            return np.zeros((0, k), dtype=np.intp), np.zeros((0, k))
        D = self._distances(left, list(right), k)
        positions = np.argsort(D, axis=1, kind="stable")[:, :k]
        return positions, np.take_along_axis(D, positions, axis=1)

    def _two_collections(self, A: Any, B: Any) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return both collections as they are to be compared; one object if A is B."""
        check_bool(self.relative, "relative")
        if self.relative:
            check_is_fitted(self, "scale_")
        left = self._scaled(self._read(A, "A"))
        right = left if B is A else self._scaled(self._read(B, "B"))
        if left and right and len(left[0]) != len(right[0]):
            raise ValueError(f"A and B must have the same channels; got {len(left[0])} and {len(right[0])}.")
        return left, right

    def _read(self, X: Any, name: str) -> list[np.ndarray]:
        check_bool(self.derivative, "derivative")
        check_bool(self.relative, "relative")
        series = as_series(X, name)
        return slopes(series, name) if self.derivative else series

    def _scaled(self, series: list[np.ndarray]) -> list[np.ndarray]:
        return [x / self.scale_ for x in series] if self.relative else series

    def _check_parameters(self) -> None:
        """Raise a ValueError if a parameter has a wrong value."""

    def _distances(self, left: list[np.ndarray], right: list[np.ndarray], keep: int) -> np.ndarray:
        """Return the distances; if ``keep`` is not 0, only that many smallest ones of each row need be right."""
        raise NotImplementedError


class ElasticDistance(SeriesDistance):
    """A distance that compiled code computes, by a table for each pair of series or step by step."""

    window: float | None = None
    _compiled = ""
    _least: Mapping[str, float] = {}
    """The parameters besides the window, with the least value of each."""
    _none: float | None = None
    """The number that stands for a parameter that is None, if that is allowed."""

    def _check_parameters(self) -> None:
        window: Any = self.window
        if window is not None and not 0 <= window <= 1:
            raise ValueError(f"window must be None or lie between 0 and 1; got {window!r}.")
        for name, least in self._least.items():
            value = getattr(self, name)
            if value is None and self._none is not None:
                continue
            if not isinstance(value, (int, float, np.integer, np.floating)) or not np.isfinite(value):
                raise ValueError(f"{name} must be a finite number; got {value!r}.")
            if value < least:
                raise ValueError(f"{name} must be at least {least:g}; got {value!r}.")

    def _numbers(self) -> list[float]:
        """Return the parameters that compiled code takes besides the window."""
        values = [getattr(self, name) for name in self._least]
        return [float(self._none if value is None else value) for value in values]  # type: ignore[arg-type]

    def _distances(self, left: list[np.ndarray], right: list[np.ndarray], keep: int) -> np.ndarray:
        return self._computed(self._compiled, left, right, keep)

    def _computed(self, measure: str, left: list[np.ndarray], right: list[np.ndarray], keep: int) -> np.ndarray:
        X = flattened(left)
        Z = X if right is left else flattened(right)
        D = np.empty((len(left), len(right)))
        numbers = np.array(self._numbers(), dtype=np.float64)
        window = -1.0 if self.window is None else float(self.window)
        channels = len(left[0])

        def work(start: int, stop: int) -> None:
            arrays = (X.values, X.starts, Z.values, Z.starts)
            elastic_distances(measure, numbers, window, channels, *arrays, Z is X, keep, start, stop, D)

        over_row_blocks(work, len(left), max(1, len(left) // (16 * thread_count())))
        return _in_order(D, X, Z)


def _in_order(D: np.ndarray, X: Flat, Z: Flat) -> np.ndarray:
    """Return the matrix with rows and columns in the order before series were sorted by their length."""
    if X.order is None and Z.order is None:
        return D
    rows = np.arange(D.shape[0]) if X.order is None else X.order
    columns = np.arange(D.shape[1]) if Z.order is None else Z.order
    ordered = np.empty_like(D)
    ordered[np.ix_(rows, columns)] = D
    return ordered


def register_series(function: SeriesDistance, name: str, range: str, reference: str, metric: bool = False) -> None:
    """Register a distance of time series."""
    register(
        Measure(
            function,
            name=name,
            objects="time series",
            orientation="dissimilarity",
            to_similarity="max-minus",
            batch=True,
            symmetric=True,
            metric=metric,
            threads=True,
            range=range,
            reference=reference,
        )
    )
