"""The base of finders, finders on a matrix, and the base of finders on raw objects.

A finder is created by ``Training.finder`` and held by the fitted path of a method. It finds the nearest training
samples of rows, and returns the similarities among them. :class:`MatrixFinder` has all similarities; ``StreamSearch``,
``GraphSearch`` and ``ClusterSearch`` compute those that they need from raw objects.

Samples that tie for the last places share them: the order of the training set decides nothing. A vote is the
expectation over all orders of tied samples, for which it is enough to count them by class. Local weights and local
models need actual neighbours: see :func:`~similitude.numerics.topk.taken_sizes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from similitude._utils.scikit_learn import num_samples
from similitude._utils.types import Finite
from similitude.numerics.class_columns import columns_of
from similitude.numerics.distinct import distinct
from similitude.numerics.topk import listed_counts, run_ends, taken_sizes, tied_counts, tied_counts_in, top_k
from similitude.proximity.check import for_lookup
from similitude.proximity.maps import LearnedMap
from similitude.proximity.unknown import LearnedFill, known_in_either_direction
from similitude.similarities import Measure
from similitude.similarities.fingerprint import fingerprint_of_measure
from similitude.similarities.pairwise import Comparison

_PAIRS_AT_ONCE = 2**18


def pair_blocks(m: int, k: int) -> list[slice]:
    """Return slices of m rows that are so small that the pairs among their k neighbours take little memory."""
    step = max(1, _PAIRS_AT_ONCE // k**2)
    return [slice(start, start + step) for start in range(0, max(m, 1), step)]


def pairs_among(indices: np.ndarray, n: int) -> np.ndarray:
    """Return the pairs (i, j) of samples in the same row of ``indices`` as sorted numbers i n + j."""
    wide = indices.astype(np.int64)
    return distinct(wide[:, :, None] * n + wide[:, None, :])


def matrix_of_pairs(pairs: np.ndarray, values: np.ndarray, n: int) -> sparse.csr_matrix:
    """Return a matrix with the entries of these pairs only."""
    left, right = np.divmod(pairs, n)
    starts = np.append(0, np.cumsum(np.bincount(left, minlength=n)))
    matrix = sparse.csr_matrix((values, right, starts), shape=(n, n))
    matrix.has_canonical_format = True
    return matrix


class Neighbors(NamedTuple):
    """The k nearest samples of each row, equally similar ones by position, and those that tie with the last one.

    ``beyond(chosen)`` returns, for a slice or the positions of rows, how many samples of each class are not listed
    although they are as similar as the last one, of shape (rows, G). ``beyond_in(chosen, own)``, if there is one,
    returns the same numbers for the classes ``own`` (rows, c) of each row, or -1, and for all others together.
    """

    similarities: np.ndarray
    indices: np.ndarray
    beyond: Callable[[Any], np.ndarray]
    beyond_in: Callable[[Any, np.ndarray], np.ndarray] | None = None


class LocalNeighbors(NamedTuple):
    """The neighbourhoods of local problems of several sizes, in which no tie is split.

    ``similarities`` and ``indices`` have the shape (m, k); the first ``sizes[i, j]`` of them are the neighbours of row
    i for the j-th wanted size. If ``alone[i, j]``, there is no neighbourhood, and the row has the posterior
    ``shares[i]``: the shares of the classes among the most similar samples.
    """

    similarities: np.ndarray
    indices: np.ndarray
    sizes: np.ndarray
    alone: np.ndarray
    shares: np.ndarray

    def at(self, wanted: Any) -> LocalNeighbors:
        """Return the neighbourhoods of some of the sizes, given by their positions."""
        sizes, alone = self.sizes[:, wanted], self.alone[:, wanted]
        width = int(sizes.max(initial=1))
        return self._replace(
            similarities=self.similarities[:, :width], indices=self.indices[:, :width], sizes=sizes, alone=alone
        )

    def part(self, chosen: Any) -> LocalNeighbors:
        """Return the neighbourhoods of some of the rows."""
        return LocalNeighbors(*(array[chosen] for array in self))


def local_neighbors(finder: Any, rows: Any, sizes: Any, codes: np.ndarray, n_classes: int) -> LocalNeighbors:
    """Return the neighbourhoods of the rows for local problems of several sizes."""
    n = len(codes)
    found = finder.with_ties(rows, min(2 * int(max(sizes)) + 1, n), codes, n_classes)
    return as_local(found, np.asarray(sizes, dtype=np.intp), n, codes, n_classes)


def as_local(found: Neighbors, sizes: np.ndarray, n: int, codes: np.ndarray, n_classes: int) -> LocalNeighbors:
    """Return the neighbourhoods of several sizes in lists of the nearest of n samples."""
    similarities, indices, beyond, _ = found
    taken = taken_sizes(similarities, sizes, n)
    shares = np.zeros((len(indices), n_classes))
    none = np.flatnonzero((taken == 0).any(axis=1))
    if len(none):
        top = np.arange(indices.shape[1]) < run_ends(similarities[none])[1][:, :1]
        counts = listed_counts(top, codes[indices[none]], n_classes)
        whole = top.all(axis=1)
        counts[whole] += beyond(none[whole])
        shares[none] = counts / counts.sum(axis=1, keepdims=True)
    sizes = np.maximum(taken, 1)
    width = int(sizes.max(initial=1))
    # Places beyond the neighbourhood repeat the nearest neighbour, so that no similarity among them is looked up.
    used = np.arange(width) < sizes.max(axis=1, initial=1)[:, None]
    indices = np.where(used, indices[:, :width], indices[:, :1])
    return LocalNeighbors(similarities[:, :width], indices, sizes, taken == 0, shares)


class Finder:
    """Base of the objects that find the neighbours of rows among the training samples."""

    def nearest(self, rows: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most similar training samples of each row."""
        raise NotImplementedError

    def with_ties(self, rows: Any, k: int, codes: np.ndarray, n_classes: int) -> Neighbors:
        """Return the k most similar training samples of each row, and those that tie with the last one by class."""
        raise NotImplementedError

    def among(self, rows: Any, indices: np.ndarray) -> Any:
        """Return the similarities among the neighbours."""
        raise NotImplementedError

    def blocks(self, m: int, k: int) -> list[slice]:
        """Return slices of the rows for which ``among`` can be called at once."""
        raise NotImplementedError


class MatrixFinder(Finder):
    """A finder on whole rows of similarities."""

    def __init__(self, S: Finite = None, symmetric: bool = False):
        self.S = None if S is None else for_lookup(S)
        self.symmetric = symmetric

    def nearest(self, rows: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        return top_k(rows.symmetric if self.symmetric else rows.S, k, known_only=rows.unknown)

    def with_ties(self, rows: Any, k: int, codes: np.ndarray, n_classes: int) -> Neighbors:
        S = rows.symmetric if self.symmetric else rows.S
        n = S.shape[1]
        similarities, indices = self.nearest(rows, min(k + 1, n))
        k = min(k, n)
        tied = similarities[:, k] == similarities[:, k - 1] if k < n else np.zeros(len(indices), dtype=bool)
        similarities, indices = similarities[:, :k], indices[:, :k]

        def beyond(chosen: Any) -> np.ndarray:
            places = np.arange(len(tied))[chosen]
            counts, which = np.zeros((len(places), n_classes)), np.flatnonzero(tied[places])
            some = places[which]
            if len(some):
                last, own = similarities[some, -1], similarities[some]
                among_all = tied_counts(S[some], last, codes, n_classes, known_only=rows.unknown)
                counts[which] = among_all - listed_counts(own == last[:, None], codes[indices[some]], n_classes)
            return counts

        def beyond_in(chosen: Any, own: np.ndarray) -> np.ndarray:
            places = np.arange(len(tied))[chosen]
            counts, which = np.zeros((len(places), own.shape[1] + 1)), np.flatnonzero(tied[places])
            some = places[which]
            if len(some):
                last, listed, columns = similarities[some, -1], similarities[some], own[which]
                tied_here = tied_counts_in(S[some], last, codes, columns, known_only=rows.unknown)
                counts[which] = tied_here - listed_counts(
                    listed == last[:, None], columns_of(codes[indices[some]], columns), own.shape[1] + 1
                )
            return counts

        return Neighbors(similarities, indices, beyond, beyond_in if sparse.issparse(S) else None)

    def among(self, rows: Any, indices: np.ndarray) -> Any:
        return self.S

    def blocks(self, m: int, k: int) -> list[slice]:
        return [slice(0, max(m, 1))]  # nothing is computed for them


class Collection(NamedTuple):
    """Raw objects with the measure that compares other objects with them."""

    objects: Any
    measure: Measure
    map: LearnedMap | None

    @classmethod
    def of(cls, reader: Any, symmetric: bool = False) -> Collection:
        """Return the training objects of a fitted reader."""
        if not symmetric or reader.measure.symmetric:
            return cls(reader.objects, reader.measure, reader.map)
        return cls(reader.objects, in_both_directions(reader.measure, reader.map), None)

    def __len__(self) -> int:
        return num_samples(self.objects)

    def mapped(self, values: np.ndarray) -> np.ndarray:
        """Return values of the measure as similarities."""
        return values if self.map is None else self.map(values, name="X")

    def among(self, indices: np.ndarray) -> tuple[sparse.csr_matrix, int]:
        """Return the similarities among the samples in each row of ``indices``."""
        n = len(self)
        pairs = pairs_among(indices, n)
        left, right = np.divmod(pairs, n)
        asked = left <= right if self.measure.symmetric else np.ones(len(pairs), dtype=bool)
        rows, starts = np.unique(left[asked], return_index=True)
        columns = np.split(right[asked], starts[1:])
        values = np.concatenate(Comparison(self.measure, self.objects)(self.objects, rows, columns))
        data = np.empty(len(pairs), dtype=values.dtype)
        data[asked] = values
        data[~asked] = data[np.searchsorted(pairs, (right * n + left)[~asked])]
        return matrix_of_pairs(pairs, self.mapped(data), n), len(values)


class BothDirections:
    """The mean of psi(a, b) and psi(b, a), each of which is mapped first if there is a map."""

    def __init__(self, measure: Measure, learned: LearnedMap | None):
        self.measure, self.map = measure, learned

    def __call__(self, A: Any, B: Any) -> Any:
        """Return the mean for two objects, or for two batches of objects."""
        forth, back = (np.asarray(self.measure.function(*pair)) for pair in ((A, B), (B, A)))
        if self.map is not None:
            forth, back = (self.map(np.atleast_2d(values), name="X") for values in (forth, back))
        if not self.measure.batch:
            return float((forth.item() + back.item()) / 2)
        return forth / 2 + back.T / 2


def in_both_directions(measure: Measure, learned: LearnedMap | None) -> Measure:
    """Return the symmetric measure that is the mean of both directions of this one."""
    function = BothDirections(measure, learned)
    return replace(measure, function=function, name="", symmetric=True, orientation="similarity")


class ObjectFinder(BaseEstimator, Finder):
    """Base of the finders that compute the similarities of raw objects when they need them, and count them.

    A subclass supplies ``index`` and ``nearest``.
    """

    def index(self, reader: Any, symmetric: bool = False) -> LearnedMap | None:
        """Prepare the search among the reader's objects; return the map from the measure's values to similarities."""
        raise NotImplementedError

    def _begin(self, symmetric: bool) -> None:
        self.symmetric_ = symmetric
        self._local: list[int] = []
        self.n_evaluations_, self._seen = 0, (0, 1)

    def _collection(self, reader: Any) -> Collection:
        return Collection.of(reader, self.symmetric_)

    def among(self, rows: Any, indices: np.ndarray) -> Any:
        matrix, count = self._collection(rows.reader).among(indices)
        self._add_local(count)
        return matrix

    def with_ties(self, rows: Any, k: int, codes: np.ndarray, n_classes: int) -> Neighbors:
        # A finder that does not look at all training samples cannot know the others that tie.
        return Neighbors(
            *self.nearest(rows, k), lambda chosen: np.zeros((len(np.arange(len(rows))[chosen]), n_classes))
        )

    def blocks(self, m: int, k: int) -> list[slice]:
        return pair_blocks(m, k)

    def _add_local(self, count: int) -> None:
        """Add the number of similarities that were computed among neighbours."""
        self._local.append(count)  # appending is safe when several threads call this; adding to a number is not


def same_values(new: Measure, old: Any) -> bool:
    """Return whether two measures are the same function, even if one was loaded from a file."""
    if replace(new, function=old.function) != old:
        return False
    if isinstance(new.function, BaseEstimator) and type(new.function) is type(old.function):
        return fingerprint_of_measure(new) == fingerprint_of_measure(old)
    return new.function == old.function


class KnownFinder(MatrixFinder):
    """A finder on whole rows of similarities of which some are unknown.

    Neighbours are found among the samples whose similarity is known. If the similarity of two neighbours to each other
    is unknown in one direction, that in the other direction is used; if it is unknown in both, the value that
    ``Proximities(fill=...)`` names, by default the mean of the known similarities of different training samples.
    """

    values: Finite

    def __init__(self, S: Any, reader: Any):
        super().__init__(S)
        if self.S is None:
            return
        if reader.fill is None:
            fill = LearnedFill.learn(self.S, "class-blind mean", dissimilarities=False)
        else:
            values = np.array([[reader.fill.value, reader.fill.own]])
            fill = LearnedFill(*np.ravel(reader.similarities(values)).tolist())
        self.fill = fill
        if sparse.issparse(self.S):
            self.keys, self.values = known_in_either_direction(self.S)
        else:
            self.S = fill(np.where(np.isnan(self.S), self.S.T, self.S), square=True)

    def among(self, rows: Any, indices: np.ndarray) -> Any:
        if self.S is None or not sparse.issparse(self.S):
            return self.S
        n = self.S.shape[0]
        pairs = pairs_among(indices, n)
        left, right = np.divmod(pairs, n)
        keys, values = self.keys, self.values
        places = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
        missing = np.where(left == right, self.fill.own, self.fill.value)
        data = np.where(keys[places] == pairs, values[places], missing).astype(values.dtype, copy=False)
        return matrix_of_pairs(pairs, data, n)

    def blocks(self, m: int, k: int) -> list[slice]:
        return pair_blocks(m, k) if sparse.issparse(self.S) else super().blocks(m, k)
