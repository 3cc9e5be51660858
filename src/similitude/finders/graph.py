"""Approximate neighbours among raw objects, found by a graph that is built from similarities alone."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from similitude._native import both_directions, insert_neighbors, propose_neighbors, walk_graph
from similitude._utils.checks import check_choice, check_integer
from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude._utils.threads import over_row_blocks
from similitude._utils.types import ColumnPositions, RandomState
from similitude.finders._graph_build import (
    Untried,
    centred_ranks,
    most_alike,
    neighbors_by_pynndescent,
    unit_rows,
    uses_pynndescent,
)
from similitude.finders.finder import Collection, ObjectFinder, in_both_directions
from similitude.proximity.maps import WITH_WIDTH, LearnedMap, base_name, learned_constants_needed
from similitude.similarities import Measure
from similitude.similarities.pairwise import Comparison, compared, pairwise, sliceable

BUILDERS = ("auto", "own", "pynndescent")

_VISITS = 2**25  # the number of flags of visited objects that are held at a time
_ROWS = 8192
_MOST_COMPARED = 2**17
_ROUNDS = 10
_STEPS = 4
_RANDOM_EDGES = 2
_FEW_CHANGES = 0.01


class GraphSearch(ObjectFinder):
    """Find most of the k most similar training objects with few similarities, by a graph of neighbours.

    Only the order of similarities is used; neither the triangle inequality nor symmetry is needed. Each object is
    compared with the same few random objects, the pivots; its code consists of the ranks of these similarities, minus
    the average ranks. Objects that rank the pivots alike are candidates for neighbours (as in neighbourhood
    approximation by pivots). Neighbours of neighbours are tried, those with the most similar codes first, until the
    lists no longer change (as in NN-descent). The edges of the graph lead from each object to its neighbours, to the
    objects whose neighbour it is, and along random rings through all objects.

    A new sample is compared with the pivots, then with the ``search_width`` objects that have the most similar codes.
    The best of these are the start of a best-first walk along the edges, which ends when all neighbours of the best
    ``max(k, search_width // 2)`` objects found have been compared. The comparison of codes needs no similarity; its
    time is proportional to the number of objects (or its square, when the graph is built), and much shorter than that
    of a costly similarity.

    The constant of a map is learned from the dissimilarities that were computed: the largest of them, or the median of
    those to the pivots. It does not affect the neighbours. Objects that were not compared are unknown to the search, so
    of equally similar objects at the last place those that were found count, and not, as with the other finders, all of
    them: with many ties the result may depend on the order of the objects.

    Parameters
    ----------
    n_neighbors : int, default=16
        The length of the lists of neighbours; up to as many edges lead back.
    n_pivots : int, default=64
        The number of pivots.
    search_width : int, default=32
        How widely to search: the larger it is, the more neighbours are found and the more similarities are computed. It
        can be changed after ``fit``: ``model.search_.search_width = 128``.
    n_candidates : int, default=48
        The number of candidates that are tried for each object in each round of building.
    max_evaluations : int, default=800
        The largest number of similarities per object while the graph is built: a round that might exceed it is not
        begun.
    builder : {"auto", "own", "pynndescent"}, default="auto"
        The algorithm that finds the lists of neighbours. pynndescent (in the extra ``[graph]``) supports vector metrics
        such as euclidean, manhattan and cosine. "auto" uses it for these if it is installed and there are at least
        20,000 objects, because it compiles for a minute in each process. The similarities that it computes are not
        counted.
    random_state : int, RandomState or None, default=0
        The random state for the pivots and the random edges.

    Attributes
    ----------
    pivots_ : ndarray of shape (n_pivots,)
        The positions of the pivots.
    codes_ : ndarray of shape (n, n_pivots), float32
        The codes of the objects.
    neighbors_ : ndarray of shape (n, n_neighbors)
        The lists of neighbours, nearest first; -1 if there are fewer.
    edges_ : ndarray of int32
        The ends of the edges from each object; -1 if there are fewer.
    n_evaluations_ : int
        The number of similarities computed to build the graph.
    n_evaluations_per_query_ : float
        The mean number of similarities computed per sample in the last search, including those among its neighbours.

    See Also
    --------
    StreamSearch : Find neighbours exactly, with all similarities.

    References
    ----------
    Dong, Moses & Li, "Efficient k-nearest neighbor graph construction for generic similarity measures", WWW 2011.
    Tellez, Chavez & Navarro, "Succinct nearest neighbor search", Information Systems 38, 2013. Malkov & Yashunin,
    "Efficient and robust approximate nearest neighbor search using hierarchical navigable small world graphs", 2016.
    Goyal, Lifshits & Schuetze, "Disorder inequality", WSDM 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import KNNClassifier
    >>> rng = np.random.default_rng(0)
    >>> words = ["".join(rng.choice(list("ab"), 12)) for _ in range(500)]
    >>> y = [word.count("a") > 6 for word in words]
    >>> knn = KNNClassifier(3, similarity="levenshtein", search="graph").fit(words, y)
    >>> knn.predict(["aaaabaaabaaa", "babbbbabbbbb"])
    array([ True, False])
    >>> knn.n_evaluations_per_query_ < 250
    True
    """

    pivots_: ColumnPositions

    def __init__(
        self,
        *,
        n_neighbors: int = 16,
        n_pivots: int = 64,
        search_width: int = 32,
        n_candidates: int = 48,
        max_evaluations: int = 800,
        builder: Literal["auto", "own", "pynndescent"] = "auto",
        random_state: RandomState = 0,
    ):
        self.n_neighbors = n_neighbors
        self.n_pivots = n_pivots
        self.search_width = search_width
        self.n_candidates = n_candidates
        self.max_evaluations = max_evaluations
        self.builder = builder
        self.random_state = random_state

    def _collection(self, reader: Any) -> Collection:
        measure = reader.measure
        if self.symmetric_ and not measure.symmetric:
            # The constant of the map is known only when the graph is built, so unmapped values are averaged.
            measure = in_both_directions(measure, None)
        return Collection(reader.objects, measure, reader.map)

    def index(self, reader: Any, symmetric: bool = False) -> LearnedMap | None:
        self._check_parameters()
        self._begin(symmetric)
        objects, measure, _ = self._collection(reader)
        n = num_samples(objects)
        rng = check_random_state(self.random_state)
        self._seed = int(rng.randint(2**31 - 1))
        self._sign = 1.0 if reader.map_name is None else -1.0
        self._n_built = n
        self.pivots_ = np.sort(rng.permutation(n)[: self.n_pivots])
        self._high = -np.inf
        self.codes_ = np.empty((0, len(self.pivots_)), dtype=np.float32)
        self.neighbors_ = np.empty((0, self.n_neighbors), dtype=np.int32)
        self._closeness = np.empty((0, self.n_neighbors))
        values = self._to_pivots(objects, objects, measure)
        self._median, self._mean_ranks = float(np.median(-values)), centred_ranks(values).mean(axis=0)
        self._grow(objects, measure, values)
        return self._map(reader.map_name, reader.scale)

    def insert(self, reader: Any, n_new: int) -> LearnedMap | None:
        """Insert the last objects of the reader into the graph; if it has more than doubled since, it is built again.

        Parameters
        ----------
        reader : Reader
            The reader, whose objects include the new ones.
        n_new : int
            The number of new objects.

        Returns
        -------
        LearnedMap or None
            The map from values of the measure to similarities; None if they are similarities.
        """
        objects, measure, _ = self._collection(reader)
        n = num_samples(objects)
        self._check_graph(n - n_new)
        if n > 2 * self._n_built:
            spent = self.n_evaluations_
            learned = self.index(reader, self.symmetric_)
            self.n_evaluations_ += spent
            return learned
        fresh = safe_indexing(objects, np.arange(n - n_new, n))
        self._grow(objects, measure, self._to_pivots(fresh, objects, measure))
        return self._map(reader.map_name, reader.scale)

    def is_built_as(self, other: GraphSearch) -> bool:
        """Return whether the other finder would build the same graph, except for randomness.

        Parameters
        ----------
        other : GraphSearch
            The other finder.

        Returns
        -------
        bool
            Whether the parameters that determine the graph are equal.
        """
        chosen, asked = self.get_params(), other.get_params()
        return all(chosen[name] == asked[name] for name in chosen if name not in ("search_width", "random_state"))

    def nearest(self, rows: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        training, X = self._collection(rows.reader), sliceable(rows.objects)
        self._check_parameters()
        self._check_graph(len(training))
        m, n, k = len(rows), len(training), min(int(k), len(training))
        values, indices = np.empty((m, k)), np.empty((m, k), dtype=np.intp)
        compare = Comparison(training.measure, training.objects)
        count = 0
        step = max(1, _VISITS // n)
        for start in range(0, m, step):
            part = slice(start, min(start + step, m))
            values[part], indices[part], spent = self._walk(compare, training, safe_indexing(X, part), k)
            count += spent
        self._seen, self._local = (count, m), []
        return training.mapped(self._sign * values), indices

    @property
    def n_evaluations_per_query_(self) -> float:
        """The mean number of similarities computed per sample in the last search."""
        count, m = self._seen
        return (count + sum(self._local)) / m

    def _to_pivots(self, X: Any, objects: Any, measure: Measure) -> np.ndarray:
        """Return how alike each object of X is to the pivots, of shape (m, n_pivots); larger values mean more alike."""
        values = pairwise(X, safe_indexing(objects, self.pivots_), similarity=measure)
        return self._sign * values.astype(np.float64)

    def _codes_of(self, values: np.ndarray) -> np.ndarray:
        return unit_rows(centred_ranks(values) - self._mean_ranks)

    def _grow(self, objects: Any, measure: Measure, values: np.ndarray) -> None:
        """Create the lists of the objects that have none yet, from their similarities to the pivots."""
        first, K = len(self.codes_), self.n_neighbors
        n, new = first + len(values), np.arange(first, first + len(values))
        self.codes_ = np.concatenate([self.codes_, self._codes_of(values)])
        self.neighbors_ = np.concatenate([self.neighbors_, np.full((len(values), K), -1, dtype=np.int32)])
        self._closeness = np.concatenate([self._closeness, np.full((len(values), K), -np.inf)])
        fresh = np.zeros((n, K), dtype=bool)
        for start in range(0, len(new), _ROWS):
            some, part = new[start : start + _ROWS], values[start : start + _ROWS]
            pairs = np.repeat(some, part.shape[1]), np.tile(self.pivots_, len(some))
            self._insert(*pairs, part.ravel(), measure, fresh)
        self.n_evaluations_ += values.size
        budget = self.n_evaluations_ + self.max_evaluations * len(new) - values.size
        if first == 0 and uses_pynndescent(self.builder, objects, measure, K):
            found = neighbors_by_pynndescent(objects, measure, K, self._seed)
        else:
            # Of very many objects only some are compared; the rest is reached through neighbours of neighbours.
            some = np.sort(np.random.RandomState(self._seed).permutation(n)[:_MOST_COMPARED])
            found = some[most_alike(self.codes_[first:], self.codes_[some], min(self.n_candidates + 1, len(some)))]
        rows, columns = np.repeat(new, found.shape[1]), found.ravel()
        if first and not measure.symmetric:
            rows, columns = np.append(rows, columns), np.append(columns, rows)
        compare, untried = Comparison(measure, objects), Untried(n, self.pivots_, measure.symmetric)
        for _ in range(_ROUNDS):
            rows, columns = untried(rows, columns)
            if not len(rows) or self.n_evaluations_ + len(rows) > budget:
                break
            values = self._sign * compared(compare, objects, rows, columns)
            self.n_evaluations_ += len(rows)
            changes = self._insert(rows, columns, values, measure, fresh)
            if changes <= _FEW_CHANGES * K * len(new):
                break
            rows, columns = self._neighbors_of_neighbors(fresh)
            about_new = np.maximum(rows, columns) >= first
            rows, columns = rows[about_new], columns[about_new]
        self._connect()

    def _insert(
        self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, measure: Measure, fresh: np.ndarray
    ) -> int:
        self._high = max(self._high, float(np.max(-values)))
        others = rows != columns
        rows, columns, values = rows[others], columns[others], values[others]
        if measure.symmetric:
            rows, columns, values = np.append(rows, columns), np.append(columns, rows), np.append(values, values)
        return _insert_pairs(rows, columns, values, self.neighbors_, self._closeness, fresh)

    def _neighbors_of_neighbors(self, fresh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pairs to try next, which are reached by fresh links, and mark all links as no longer fresh."""
        n = len(fresh)
        links, new = self._links(fresh)
        fresh[:] = False
        proposed = np.empty((n, self.n_candidates), dtype=np.int32)

        def work(start: int, stop: int) -> None:
            propose_neighbors(links, new, self.neighbors_, self.codes_, start, proposed[start:stop])

        over_row_blocks(work, n, max(256, -(-n // 8)))
        rows, places = np.nonzero(proposed >= 0)
        return rows, proposed[rows, places]

    def _links(self, fresh: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours of each object and the objects whose neighbour it is, and which of these are fresh."""
        links = np.full((len(fresh), 2 * self.n_neighbors), -1, dtype=np.int32)
        new = np.zeros(links.shape, dtype=bool)
        both_directions(self.neighbors_, fresh, links, new)
        return links, new

    def _connect(self) -> None:
        links, _ = self._links(np.zeros(self.neighbors_.shape, dtype=bool))
        far = np.empty((len(links), _RANDOM_EDGES), dtype=np.int32)
        rng = np.random.RandomState(self._seed)
        for edge in range(_RANDOM_EDGES):
            # The random edges form a ring, so that every object can be reached from every other.
            ring = rng.permutation(len(links))
            far[ring, edge] = np.roll(ring, -1)
        self.edges_ = np.concatenate([links, far], axis=1)

    def _walk(self, compare: Comparison, training: Collection, X: Any, k: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the k best objects found for a few samples, their values, and the number of similarities computed.

        Larger values mean more alike.
        """
        m, n, p = num_samples(X), len(training), len(self.pivots_)
        width = min(max(k, self.search_width // 2), n)
        pool, closeness = np.full((m, width), -1, dtype=np.int32), np.full((m, width), -np.inf)
        waiting, visited = np.zeros((m, width), dtype=bool), np.zeros((m, n), dtype=bool)
        values = self._to_pivots(X, training.objects, training.measure)
        _insert_pairs(np.repeat(np.arange(m), p), np.tile(self.pivots_, m), values.ravel(), pool, closeness, waiting)
        visited[:, self.pivots_] = True
        found = most_alike(self._codes_of(values), self.codes_, min(max(k, self.search_width), n))
        found = np.where(np.take_along_axis(visited, found, axis=1), -1, found)
        rows, places = np.nonzero(found >= 0)
        visited[rows, found[rows, places]] = True
        spent = values.size
        while True:
            columns = found[rows, places]
            _insert_pairs(rows, columns, self._sign * compared(compare, X, rows, columns), pool, closeness, waiting)
            spent += len(rows)
            if not (waiting & (pool >= 0)).any():
                return closeness[:, :k], pool[:, :k], spent
            found = np.empty((m, _STEPS * self.edges_.shape[1]), dtype=np.int32)
            walk_graph(pool, waiting, self.edges_, _STEPS, visited, found)
            rows, places = np.nonzero(found >= 0)

    def _map(self, map_name: str | None, scale: float | None) -> LearnedMap | None:
        if map_name is None:
            return None
        if not learned_constants_needed(map_name):
            return LearnedMap(map_name, {})
        seen = self._median if base_name(map_name) in WITH_WIDTH else self._high
        return LearnedMap.learn(np.array([[seen, seen]]), map_name, scale=scale)

    def _check_graph(self, n: int) -> None:
        """Raise a ValueError if the graph, which may come from a file, is inconsistent."""
        shapes = self.codes_.shape, self._closeness.shape, self.edges_.ndim
        as_built = shapes == ((n, len(self.pivots_)), self.neighbors_.shape, 2)
        for places in (self.neighbors_, self.edges_, self.pivots_):
            right_type = places.dtype.kind == "i" if places is self.pivots_ else places.dtype == np.int32
            inside = right_type and -1 <= places.min(initial=0) <= places.max(initial=0) < n
            as_built = as_built and inside and (places is self.pivots_ or len(places) == n)
        if not as_built:
            raise ValueError(f"search: the graph does not belong to {n} objects; fit again.")

    def _check_parameters(self) -> None:
        for name in ("n_neighbors", "n_pivots", "search_width", "n_candidates", "max_evaluations"):
            check_integer(getattr(self, name), name, 1)
        check_choice(self.builder, "builder", BUILDERS)


def _insert_pairs(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, *lists: np.ndarray) -> int:
    """Insert pairs into lists of neighbours; return the number of changes."""
    # The positions are of any integer type, and those from np.nonzero are not contiguous.
    rows, columns = (np.ascontiguousarray(positions, dtype=np.intp) for positions in (rows, columns))
    return insert_neighbors(rows, columns, values, *lists)
