"""What the local methods share where neighbours are searched among raw objects without a matrix."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from similitude.base import SimilarityEstimator, _check_objects
from similitude._utils.threads import over_row_blocks
from similitude.numerics.topk import top_k
from similitude.proximity.maps import LearnedMap
from similitude.similarities._blocks import Block, Failure, Task
from similitude.similarities.fingerprint import fingerprint_of_measure
from similitude.similarities.pairwise import _one_by_one
from similitude.similarities.registry import Measure, resolve

SEARCHES = ("matrix", "stream", "graph")

_PAIRS_AT_ONCE = 2**18


class Training(NamedTuple):
    """The training objects, and how others are compared with them."""

    objects: Any
    measure: Measure
    map: LearnedMap | None

    def __len__(self) -> int:
        return _num_samples(self.objects)

    def mapped(self, values: np.ndarray) -> np.ndarray:
        """Native values as similarities."""
        return values if self.map is None else self.map(values, name="X")

    def among(self, indices: np.ndarray) -> tuple[sparse.csr_matrix, int]:
        """Similarities among the samples in each row of ``indices``, and how many were computed.

        The CSR matrix (n, n) has the entries of these pairs alone, each computed once.
        """
        n, k = len(self), indices.shape[1]
        wide = indices.astype(np.int64)
        pairs = np.unique((wide[:, :, None] * n + wide[:, None, :]).reshape(-1, k * k))
        left, right = np.divmod(pairs, n)
        asked = left <= right if self.measure.symmetric else np.ones(len(pairs), dtype=bool)
        rows, starts = np.unique(left[asked], return_index=True)
        columns = np.split(right[asked], starts[1:])
        values = np.concatenate(Comparison(self.measure, self.objects)(self.objects, rows, columns))
        data = np.empty(len(pairs), dtype=values.dtype)
        data[asked] = values
        data[~asked] = data[np.searchsorted(pairs, (right * n + left)[~asked])]
        counts = np.bincount(left, minlength=n)
        matrix = sparse.csr_matrix((self.mapped(data), right, np.append(0, np.cumsum(counts))), shape=(n, n))
        matrix.has_canonical_format = True
        return matrix, len(values)


class Comparison:
    """Native values between chosen objects of two sequences."""

    def __init__(self, measure: Measure, objects: Any):
        self.measure = measure
        self.objects = self._cuttable(objects)

    def _cuttable(self, objects: Any) -> Any:
        return objects if self.measure.batch else _one_by_one(objects)

    def __call__(self, X: Any, rows: np.ndarray, columns: list[np.ndarray]) -> list[np.ndarray]:
        """For each of the ``rows`` of X, its values to the objects at ``columns``: one call of a batch function."""
        X = self._cuttable(X)
        answers: list[np.ndarray] = [np.empty(0)] * len(rows)

        def work(start: int, stop: int) -> None:
            for r in range(start, stop):
                if len(columns[r]):
                    answers[r] = self._row(X, int(rows[r]), columns[r])

        over_row_blocks(work, len(rows), max(16, -(-len(rows) // 8)) if self.measure.threads else len(rows))
        return answers

    def _row(self, X: Any, i: int, columns: np.ndarray) -> np.ndarray:
        task = Task.of(self.measure, places=([i], columns))
        block = Block(0, slice(0, 1), slice(0, len(columns)))
        _, values = task(block, _chosen(X, [i]), _chosen(self.objects, columns))
        if isinstance(values, Failure):
            raise ValueError(values.message) from values.cause
        return values[0]


def _chosen(objects: Any, places: Any) -> Any:
    if isinstance(objects, list):
        return [objects[j] for j in places]
    return objects[places] if isinstance(objects, np.ndarray) else _safe_indexing(objects, places)


def _sliceable(X: Any) -> Any:
    """Objects of which some can be taken; a list of those in a deque or an Index, which do not allow it."""
    objects = _check_objects(X)
    try:
        _safe_indexing(objects, slice(0, 1))
        _safe_indexing(objects, [0])
    except TypeError:
        return list(objects)
    return objects


def _same_values(new: Measure, old: Measure) -> bool:
    """Whether two measures are the same function, though one may have been through a file."""
    if replace(new, function=old.function) != old:
        return False
    if isinstance(new.function, BaseEstimator) and type(new.function) is type(old.function):
        return fingerprint_of_measure(new) == fingerprint_of_measure(old)
    return new.function == old.function


class NeighborSearch(SimilarityEstimator):
    """Base of the estimators with ``search=``: they find neighbours with or without the matrix of all similarities."""

    search: Any

    def _searcher(self) -> Any:
        """A fresh search of the kind that ``search`` says; None where that is the matrix."""
        from similitude.finders.graph import GraphSearch
        from similitude.finders.stream import StreamSearch

        chosen = self.search
        known = isinstance(chosen, (StreamSearch, GraphSearch))
        if not known and not (isinstance(chosen, str) and chosen in SEARCHES):
            raise ValueError(
                f"search must be one of {SEARCHES}, or a StreamSearch, GraphSearch or ClusterSearch; got {chosen!r}."
            )
        if not known:
            chosen = {"matrix": None, "stream": StreamSearch(), "graph": GraphSearch()}[chosen]
        if chosen is None:
            return None
        if self._is_precomputed:
            raise ValueError(
                f"search={self.search!r} needs raw objects: X is a precomputed matrix, where every similarity is "
                "known already. Pass similarity=..., or leave search='matrix'."
            )
        if self._map_name == "double-centring":
            raise ValueError(
                f"search={self.search!r}: the map 'double-centring' looks at whole rows; use search='matrix' or "
                "another map."
            )
        return clone(chosen)

    def _fit_search(self, searcher: Any, X: Any, y: Any) -> int:
        """Keep the objects and make ready to search among them; their number is returned."""
        objects = _sliceable(X)
        measure = resolve(self.similarity).learned(objects, y)
        learned = searcher.fit(objects, measure, self._map_name, self._map_scale)
        self._keep(objects, measure, learned)
        self.search_ = searcher
        return _num_samples(objects)

    @property
    def _grows(self) -> bool:
        """Whether new objects can be put into what an earlier fit has made."""
        from similitude.finders.graph import GraphSearch

        asked, made, measure = self._searcher(), vars(self).get("search_"), resolve(self.similarity)
        if not (isinstance(asked, GraphSearch) and isinstance(made, GraphSearch)) or measure.learns:
            return False
        # set_params may have asked for another graph since, or for other values on its edges.
        same_order = (self._map_name is None) == (self._learned_map is None)
        return same_order and made.is_built_as(asked) and _same_values(measure, self._measure)

    def _insert_objects(self, objects: Any, n_new: int) -> None:
        """Put the last of the objects into the graph."""
        searcher = copy.copy(self.search_)  # a failure leaves the fitted one as it is
        measure = resolve(self.similarity)  # after a pickle the kept one is nobody that is known by its name
        learned = searcher.insert(objects, n_new, measure, self._map_name, self._map_scale)
        self._keep(objects, measure, learned)
        self.search_ = searcher

    def _fit_matrix(self, X: Any, y: Any, **options: Any) -> Any:
        """The training similarities, or None as :meth:`_fit_proximities` says; nothing is left of an earlier search."""
        self.__dict__.pop("search_", None)
        given = self._fit_proximities(X, y, **options)
        return None if given is None else given.S

    @property
    def _training(self) -> Training:
        return Training(self.objects_, self._measure, self._learned_map)

    def _nearest(self, X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k most similar training samples of each sample: ``(similarities, indices)``, nearest first."""
        check_is_fitted(self)
        if not hasattr(self, "search_"):
            return top_k(self._new_proximities(X).S, k)
        return self.search_.kneighbors(self._training, _sliceable(X), k)

    def _lookup(self, S: Any, indices: np.ndarray) -> Any:
        """The training matrix S; where there is none, one that has the similarities among these neighbours."""
        if S is not None:
            return S
        matrix, count = self._training.among(indices)
        self.search_.add_local(count)
        return matrix

    def _lookup_blocks(self, S: Any, m: int, k: int) -> list[slice]:
        """Slices of m rows: all at once where S is there, else so many that the pairs among neighbours take no room."""
        step = max(m, 1) if S is not None else max(1, _PAIRS_AT_ONCE // k**2)
        return [slice(start, start + step) for start in range(0, max(m, 1), step)]

    @property
    def n_evaluations_(self) -> int:
        """Similarities computed by ``fit`` and ``partial_fit``, where ``search`` is not "matrix"."""
        return self._fitted_search().n_evaluations_

    @property
    def n_evaluations_per_query_(self) -> float:
        """Similarities computed for a sample, on average, by the last call that took samples."""
        return self._fitted_search().n_evaluations_per_query_

    def _fitted_search(self) -> Any:
        if "search_" not in vars(self):
            raise AttributeError("evaluations are counted where search is 'stream' or 'graph', once it is fitted.")
        return self.search_
