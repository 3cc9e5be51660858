"""Landmarks: the few samples to which similarities are computed, and blocks of rows of these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from similitude.base import SimilarityEstimator, _check_objects, _matrix, check_labels
from similitude.numerics.medoids import choose_by_class
from similitude.proximity.check import check_similarity, dense, is_symmetric
from similitude.proximity.maps import LearnedMap
from similitude.proximity.proximities import as_proximities
from similitude.proximity.symmetry import mean_of_directions, warn_of_asymmetry
from similitude.similarities import pairwise, resolve
from similitude.similarities.pairwise import Named, _checked_objects, named_values
from similitude.transform._nystroem import Spectrum, decompose, decompose_whole, triangle

SELECTIONS = ("random", "stratified", "kmedoids", "leverage")

_ENTRIES = 2**21
"""Of a block of rows: 16 MB, and about five times that in all while it is worked on."""

_UNIFORM = 0.1
"""The share of the draw by leverage that is uniform, so that a sample of no leverage in the sketch can be drawn."""


def row_blocks(n: int, width: int) -> list[slice]:
    """Consecutive rows that have about 2 million entries together."""
    length = max(1, _ENTRIES // max(1, width))
    return [slice(start, min(start + length, n)) for start in range(0, n, length)]


class MatrixRows:
    """Training samples that are rows of a square matrix."""

    def __init__(self, S: Any):
        self.S, self.n = S, S.shape[0]
        self.n_columns: int = S.shape[1]

    def to(self, rows: slice, columns: np.ndarray) -> Any:
        """Native values of these rows, and of all where ``columns`` are all."""
        block = self.S[rows]
        return block if len(columns) == self.n_columns else block[:, columns]

    def back(self, rows: slice, columns: np.ndarray) -> Any:
        """Native values the other way round: of ``columns`` to ``rows``, transposed."""
        return self.S[columns, rows].T

    def among(self, positions: np.ndarray) -> Any:
        """Native values among these columns."""
        return self.S[positions][:, positions]

    def whole(self) -> np.ndarray:
        return dense(self.S)


class FixedColumns(MatrixRows):
    """Training samples as rows of values to fixed objects, whose own matrix is given."""

    def __init__(self, rows: Any, landmark_similarity: Any):
        super().__init__(rows)
        self.W = landmark_similarity

    def back(self, rows: slice, columns: np.ndarray) -> Any:
        """Unknown: as the rows."""
        return self.to(rows, columns)

    def among(self, positions: np.ndarray) -> Any:
        return self.W[positions][:, positions]


class ObjectRows:
    """Training samples that are raw objects."""

    def __init__(self, objects: Any, measure: Any):
        self.objects, self.measure = objects, measure
        self.n = self.n_columns = _num_samples(objects)

    def to(self, rows: slice, columns: np.ndarray) -> np.ndarray:
        return named_values(self._rows(rows), self._at(columns), self.measure)

    def back(self, rows: slice, columns: np.ndarray) -> np.ndarray:
        return named_values(self._at(columns), self._rows(rows), self.measure).T

    def among(self, positions: np.ndarray) -> np.ndarray:
        return named_values(self._at(positions), None, self.measure)

    def whole(self) -> np.ndarray:
        return pairwise(self.objects, similarity=self.measure)

    def _rows(self, rows: slice) -> Named:
        return Named(_safe_indexing(self.objects, rows), np.arange(rows.start, rows.stop))

    def _at(self, positions: np.ndarray) -> Named:
        return Named(_safe_indexing(self.objects, positions), positions)


class Landmarks:
    """The similarities to chosen samples: those among them at once, those of the training samples block by block.

    The map from dissimilarities is learned from the landmarks alone. Where their own matrix is asymmetric all is
    taken as the mean of both directions.
    """

    def __init__(self, source: Any, positions: np.ndarray, learn: Callable[[Any], LearnedMap | None]):
        self.source, self.positions = source, positions
        native = source.among(positions)
        self.map = learn(native)
        self.own = similarities(native, self.map)
        # Of the native values: in single precision the two directions may be rounded differently.
        self.asymmetric = not is_symmetric(native)
        self.W = mean_of_directions(self.own)

        # Then S~ is S, and the detour over W^+ would cost digits.
        self.are_all = not isinstance(source, FixedColumns) and len(positions) == source.n

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows, and their similarities to the landmarks in double precision."""
        for rows in row_blocks(self.source.n, len(self.positions)):
            C = similarities(self.source.to(rows, self.positions), self.map)
            if self.asymmetric:
                C = (C + similarities(self.source.back(rows, self.positions), self.map)) / 2
            yield rows, C

    def spectrum(self, tol: float, R: Any = None, held: Iterable[np.ndarray] | None = None) -> Spectrum:
        """Of ``C W^+ C^T``; R is the triangle of C, and ``held`` C in blocks of rows, where one is at hand."""
        if self.are_all:
            return decompose_whole(self.W, tol)
        if R is None:
            R = reduce(lambda above, C: triangle(C, above), held or (C for _, C in self.blocks()), None)
        return decompose(R, self.W, tol)

    def leverage(self, tol: float) -> np.ndarray:
        """``sum_k V[i, k]^2`` over the eigenvectors V of ``C W^+ C^T`` that have a nonzero eigenvalue."""
        values, basis = self.spectrum(tol)
        vectors = basis / values
        return np.concatenate([np.square(C @ vectors).sum(axis=1) for _, C in self.blocks()])


def similarities(native: Any, learned: LearnedMap | None) -> np.ndarray:
    """Native values as similarities in double precision."""
    # A sparse matrix goes to the map as it is, which refuses it.
    S = dense(native) if learned is None else learned(native, name="X")
    return S.astype(np.float64, copy=False)


class LandmarkEstimator(SimilarityEstimator):
    """Base of what needs similarities to a few samples only: reads the input, chooses landmarks, takes new rows."""

    selection: Any
    landmark_similarity: Any
    random_state: Any
    tol: Any

    _takes_columns = True
    _count_name = "n_components"

    def _check_landmark_parameters(self) -> None:
        count = getattr(self, self._count_name)
        if not isinstance(count, Integral) or isinstance(count, bool) or int(count) < 1:
            raise ValueError(f"{self._count_name} must be a whole number of at least 1; got {count!r}.")
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection must be one of {SELECTIONS}; got {self.selection!r}.")
        if not isinstance(self.tol, Real) or not 0 <= float(self.tol) < 1:
            raise ValueError(f"tol must lie in [0, 1); got {self.tol!r}.")
        if self._is_columns == (self.landmark_similarity is None):
            raise ValueError(
                "landmark_similarity must be the matrix of the columns' objects with similarity='columns', and None "
                f"otherwise; got {'None' if self.landmark_similarity is None else 'a matrix'} with "
                f"similarity={self.similarity!r}."
            )

    def _chosen_landmarks(self, X: Any, y: Any) -> Landmarks:
        """Read the training samples and choose; what prediction needs is kept, of raw objects the landmarks alone."""
        source = self._read(X, y)
        landmarks = Landmarks(source, self._positions(source, y), self._learned)
        if landmarks.asymmetric:
            warn_of_asymmetry(type(self).__name__, landmarks.own, stacklevel=5)
        self.landmarks_ = self.support_columns_ = landmarks.positions
        if isinstance(source, ObjectRows):
            self._keep(_safe_indexing(source.objects, self.landmarks_), source.measure, None)
            self.support_columns_ = np.arange(len(self.landmarks_))
        else:
            self._keep(None, None, None)
        self._landmark_map, self._asymmetric = landmarks.map, landmarks.asymmetric
        return landmarks

    def _learned(self, native: Any) -> LearnedMap | None:
        how = self._map_name
        return None if how is None else self._learn_map(native, how)

    def _read(self, X: Any, y: Any) -> Any:
        how = self._map_name
        if not self._is_matrix:
            objects = _checked_objects(_check_objects(X), "X")
            return ObjectRows(objects, resolve(self.similarity).learned(objects, y))
        orientation = "similarity" if how is None else "dissimilarity"
        square = not self._is_columns
        S = check_similarity(_matrix(X), name="X", square=square, orientation=orientation, estimator=self)
        validate_data(self, _matrix(X), reset=True, skip_check_array=True)
        given = as_proximities(X)
        self._column_ids = given.column_ids
        extras = ("features", "self_similarity", "ids") if square else ("features", "self_similarity")
        self._extras = {name for name in extras if getattr(given, name) is not None}
        if square:
            return MatrixRows(S)
        W = check_similarity(self.landmark_similarity, name="landmark_similarity", orientation=orientation)
        if W.shape[0] != S.shape[1]:
            raise ValueError(
                f"landmark_similarity must have a row and a column for each of X's {S.shape[1]} columns; got shape "
                f"{W.shape}."
            )
        return FixedColumns(S, W)

    def _positions(self, source: Any, y: Any) -> np.ndarray:
        """Which samples, ascending."""
        n, m = source.n_columns, int(getattr(self, self._count_name))
        if m >= n:
            return np.arange(n)
        rng = check_random_state(self.random_state)
        if self.selection == "random":
            return np.sort(rng.choice(n, m, replace=False))
        if self._is_columns:
            raise ValueError(
                f"selection={self.selection!r} needs the training samples as columns; with similarity='columns' "
                "landmarks can be chosen by selection='random' alone."
            )
        if self.selection == "leverage":
            sketch = Landmarks(source, np.sort(rng.choice(n, m, replace=False)), self._learned)
            scores = sketch.leverage(self.tol)
            shares = scores / scores.sum() if scores.sum() > 0 else np.full(n, 1 / n)
            return np.sort(rng.choice(n, m, replace=False, p=(1 - _UNIFORM) * shares + _UNIFORM / n))
        if self.selection == "stratified":
            return choose_by_class("stratified", None, _codes(y, n), m, rng)
        S = source.whole()
        labels = np.zeros(n, dtype=np.intp) if y is None else _codes(y, n)
        return choose_by_class("kmedoids", S if self._map_name is None else -S, labels, m, rng)

    def _new_blocks(self, X: Any, both: bool = False) -> Iterator[np.ndarray]:
        """Similarities of new samples to the landmarks, in double precision, block by block.

        With ``both``, those of raw objects are made as the training samples' are: of an asymmetric measure the mean of
        both directions.
        """
        check_is_fitted(self)
        if self._is_matrix:
            C = self._new_columns(X, self.landmarks_)
            for rows in row_blocks(C.shape[0], C.shape[1]):
                yield similarities(C[rows], self._landmark_map)
            return
        objects = _check_objects(X)
        n, landmarks = _num_samples(objects), Named(self.objects_, self.landmarks_)
        for rows in row_blocks(n, len(self.landmarks_)):
            samples = Named(_safe_indexing(objects, rows), np.arange(rows.start, rows.stop))
            C = similarities(named_values(samples, landmarks, self._measure), self._landmark_map)
            if both and self._asymmetric:
                back = named_values(landmarks, samples, self._measure).T
                C = (C + similarities(back, self._landmark_map)) / 2
            yield C


def _codes(y: Any, n: int) -> np.ndarray:
    return np.unique(check_labels(y, n), return_inverse=True)[1]
