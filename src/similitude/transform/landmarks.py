"""The choice of landmarks, the few samples to which similarities are computed, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from similitude._utils.checks import check_choice, check_integer
from similitude._utils.types import ColumnPositions
from similitude.base import SimilarityEstimator
from similitude.labels import check_labels
from similitude.numerics.medoids import choose_by_class
from similitude.numerics.nystroem import NystroemSpectrum, decompose, decompose_whole, triangle
from similitude.proximity.check import check_similarity, dense, is_symmetric
from similitude.proximity.maps import LearnedMap
from similitude.proximity.split import cut
from similitude.proximity.symmetry import mean_of_directions, warn_of_asymmetry
from similitude.reader import Contract, Reader, Training

SELECTIONS = ("random", "stratified", "kmedoids", "leverage")

_ENTRIES = 2**21
"""Number of entries in a block of rows. They take 16 MB, and the computations on a block about five times as much."""

_UNIFORM = 0.1
"""Uniform share of the draw by leverage, so that a sample without leverage in the first approximation can be drawn."""


def row_blocks(n: int, width: int) -> list[slice]:
    """Return slices of consecutive rows that have about 2 million entries together."""
    length = max(1, _ENTRIES // max(1, width))
    return [slice(start, min(start + length, n)) for start in range(0, n, length)]


class ToLandmarks(NamedTuple):
    """How samples are compared with the landmarks."""

    positions: ColumnPositions
    map: LearnedMap | None
    asymmetric: bool

    def similarities(self, native: Any, *, transposed: bool = False) -> np.ndarray:
        """Return native values as similarities in double precision."""
        if self.map is None:
            return dense(native).astype(np.float64, copy=False)
        # A sparse matrix is passed to the map unchanged, which then raises the error.
        learned = self.map.transposed() if transposed else self.map
        return learned(native, name="X").astype(np.float64, copy=False)

    def block(self, native: Any, rows: slice) -> np.ndarray:
        """Return the similarities of consecutive samples to the landmarks."""
        C = self.similarities(native.block(rows, self.positions))
        back = native.back(rows, self.positions) if self.asymmetric else None
        return C if back is None else (C + self.similarities(back, transposed=True)) / 2

    def blocks(self, samples: Any) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield slices of the samples, and their similarities to the landmarks."""
        for rows in row_blocks(len(samples), len(self.positions)):
            yield rows, self.block(samples.native, rows)


class Landmarks:
    """The chosen landmarks, the similarities among them, and those of all training samples to them, block by block.

    The map from dissimilarities is learned from the landmarks alone. Where their own matrix is asymmetric, all
    similarities are the mean of both directions.
    """

    def __init__(self, training: Training, positions: np.ndarray, columns_matrix: Any = None):
        self.training = training
        fixed = columns_matrix is not None
        native = cut(columns_matrix, positions, positions) if fixed else training.native.among(positions)
        # Symmetry is that of the native values: mapped in single precision, both directions may be rounded differently.
        asymmetric = not is_symmetric(native)
        self.to = ToLandmarks(positions, training.reader.learned_map(native, training.reader.absent), asymmetric)
        self.own = self.to.similarities(native)
        self.W = mean_of_directions(self.own)
        # Where all samples are landmarks S~ is S, and computing it from W^+ would lose digits.
        self.are_all = not fixed and len(positions) == len(training)
        self._shared: dict[Any, Any] = {} if fixed else training.shared

    @property
    def positions(self) -> np.ndarray:
        """The positions of the landmarks among the columns."""
        return self.to.positions

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Return an iterator over slices of the training samples, and their similarities to the landmarks."""
        return self.to.blocks(self.training)

    def shared(self, key: tuple, work: Callable[[], Any]) -> Any:
        """Return the result of some work that methods on the same training samples and landmarks do once."""
        key = (self.positions.tobytes(), *key)
        if key not in self._shared:
            self._shared[key] = work()
        return self._shared[key]

    def spectrum(self, tol: float, R: Any = None, held: Iterable[np.ndarray] | None = None) -> NystroemSpectrum:
        """Return the spectrum of ``C W^+ C^T``, where C holds the samples' similarities to the landmarks.

        R is a triangle of C if one is known, and ``held`` are the blocks of C if they are there.
        """
        if self.are_all:
            return decompose_whole(self.W, tol)

        def found() -> NystroemSpectrum:
            known: Any = R
            if known is None:
                known = reduce(lambda above, C: triangle(C, above), held or (C for _, C in self.blocks()), known)
            return decompose(known, self.W, tol)

        # The digits of a triangle depend on what it was computed with.
        return self.shared(("spectrum", tol, R is None), found)

    def leverage(self, tol: float) -> np.ndarray:
        """Return the leverage of each training sample in ``C W^+ C^T = V diag(d) V^T``."""
        values, basis = self.spectrum(tol)
        vectors = basis / values
        return np.concatenate([np.square(C @ vectors).sum(axis=1) for _, C in self.blocks()])


class LandmarkEstimator(SimilarityEstimator):
    """Base of the estimators that need similarities to a few samples only, and choose these."""

    selection: Any
    landmark_similarity: Any
    random_state: Any
    tol: Any
    landmarks_: ColumnPositions

    _takes_columns = True
    _count_name = "n_components"

    def _contract(self) -> Contract:
        return Contract(self.similarity, self.dissimilarity, takes_columns=True, learns_map=False)

    def _check_landmark_parameters(self) -> None:
        check_integer(getattr(self, self._count_name), self._count_name, 1)
        check_choice(self.selection, "selection", SELECTIONS)
        if not isinstance(self.tol, Real) or not 0 <= float(self.tol) < 1:
            raise ValueError(f"tol must lie in [0, 1); got {self.tol!r}.")
        if self._contract().is_columns == (self.landmark_similarity is None):
            raise ValueError(
                "landmark_similarity must be the matrix of the columns' objects with similarity='columns', and None "
                f"otherwise; got {'None' if self.landmark_similarity is None else 'a matrix'} with "
                f"similarity={self.similarity!r}."
            )

    def _landmarks_of(self, training: Training, y: Any) -> Landmarks:
        """Choose landmarks among the training samples or the columns, and warn if their matrix is asymmetric."""
        fixed = self._columns_matrix(training.reader) if training.reader.is_columns else None
        landmarks = Landmarks(training, self._positions(training, y), fixed)
        if landmarks.to.asymmetric and training.announced:
            warn_of_asymmetry(type(self).__name__, landmarks.own, both_directions=not training.reader.is_matrix)
        return landmarks

    def _columns_matrix(self, reader: Reader) -> Any:
        """Return the checked native values among the columns."""
        orientation: Literal["similarity", "dissimilarity"] = (
            "similarity" if reader.map_name is None else "dissimilarity"
        )
        W = check_similarity(self.landmark_similarity, name="landmark_similarity", orientation=orientation)
        if W.shape[0] != reader.n_columns:
            raise ValueError(
                f"landmark_similarity must have a row and a column for each of X's {reader.n_columns} columns; got "
                f"shape {W.shape}."
            )
        return W

    def _positions(self, training: Training, y: Any) -> np.ndarray:
        """Return the positions of the landmarks among the columns, ascending."""
        n, m = training.reader.n_columns, int(getattr(self, self._count_name))
        if m >= n:
            return np.arange(n)
        rng = check_random_state(self.random_state)
        if self.selection == "random":
            return np.sort(rng.choice(n, m, replace=False))
        if training.reader.is_columns:
            raise ValueError(
                f"selection={self.selection!r} needs the training samples as columns; with similarity='columns' "
                "use selection='random'."
            )
        if self.selection == "leverage":
            scores = Landmarks(training, np.sort(rng.choice(n, m, replace=False))).leverage(self.tol)
            shares = scores / scores.sum() if scores.sum() > 0 else np.full(n, 1 / n)
            return np.sort(rng.choice(n, m, replace=False, p=(1 - _UNIFORM) * shares + _UNIFORM / n))
        if self.selection == "stratified":
            return choose_by_class("stratified", None, _codes(y, n), m, rng)
        native = dense(training.native.among(np.arange(n)))
        labels = np.zeros(n, dtype=np.intp) if y is None else _codes(y, n)
        return choose_by_class("kmedoids", native if training.reader.map_name is None else -native, labels, m, rng)

    def _keep_landmarks(self, reader: Reader, to: ToLandmarks) -> None:
        """Keep what is needed to transform new samples; of raw objects only the landmarks are kept."""
        both_directions = to.asymmetric and reader.measure is not None
        self._readers = {"S": replace(reader.reduced_to(to.positions), both_directions=both_directions)}
        self.landmarks_ = to.positions
        self.support_columns_ = self._reader.columns_read(to.positions)


def _codes(y: Any, n: int) -> np.ndarray:
    return np.unique(check_labels(y, n), return_inverse=True)[1]
