"""Exact neighbours among raw objects, found without holding more than a block of similarities in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude._native import offer, offer_counting
from similitude._utils.checks import check_integer
from similitude._utils.scikit_learn import num_samples
from similitude.finders.finder import Collection, Neighbors, ObjectFinder
from similitude.numerics.topk import listed_counts
from similitude.proximity.maps import LearnedMap, learned_constants_needed
from similitude.similarities import Measure
from similitude.similarities.pairwise import Target, show_blocks, sliceable


class StreamSearch(ObjectFinder):
    """Find the k most similar training objects exactly, with a running list of the best for each sample.

    Similarities are computed block by block. Of each block, only the values that are better than the k-th best so far
    are kept. The neighbours, and the order of equally similar ones, are the same as those from the whole matrix.

    A map whose constant is learned from all training dissimilarities (``max-minus`` and ``sqrt-max-minus``, which need
    the largest one) requires one pass over all pairs in ``fit``, or over half of them if the measure is symmetric. Maps
    that learn a median, and the map that needs whole rows, raise an error. ``dissimilarity="negate"`` learns nothing.

    Parameters
    ----------
    n_jobs : int, default=None
        The number of blocks that are computed at the same time, in threads or processes, as in
        :func:`~similitude.similarities.pairwise`.
    block_size : int, default=None
        The number of rows and columns of a block.
    progress : bool, default=False
        Whether progress over the blocks is shown on stderr: a bar on a terminal, a line every ten seconds elsewhere.

    Attributes
    ----------
    n_evaluations_ : int
        The number of similarities computed in ``fit``. Each pair counts once if the measure is symmetric, although a
        function on batches computes whole blocks on the diagonal.
    n_evaluations_per_query_ : float
        The mean number of similarities computed per sample in the last search, including those among its neighbours.

    See Also
    --------
    GraphSearch : Find neighbours approximately, with fewer similarities.

    Examples
    --------
    >>> from similitude import KNNClassifier
    >>> words, y = ["tea", "tee", "coffee", "toffee"], ["hot", "hot", "brown", "brown"]
    >>> knn = KNNClassifier(2, similarity="levenshtein", dissimilarity="negate", search="stream").fit(words, y)
    >>> knn.kneighbors(["tree", "coffees"])[1]
    array([[1, 0],
           [2, 3]])
    >>> knn.n_evaluations_, knn.n_evaluations_per_query_
    (0, 4.0)
    """

    def __init__(self, *, n_jobs: int | None = None, block_size: int | None = None, progress: bool = False):
        self.n_jobs = n_jobs
        self.block_size = block_size
        self.progress = progress

    def index(self, reader: Any, symmetric: bool = False) -> LearnedMap | None:
        check_integer(self.block_size, "block_size", 1, none=True)
        self._begin(symmetric)
        self._ends: tuple[Any, Any] | None = None
        map_name, scale = reader.map_name, reader.scale
        if map_name is None:
            return None
        if not learned_constants_needed(map_name):
            return LearnedMap(map_name, {})
        if scale is not None:
            return LearnedMap.learn(np.ones((1, 1)), map_name, scale=scale)
        if map_name not in ("max-minus", "sqrt-max-minus"):
            raise ValueError(
                f"search='stream': the map {map_name!r} learns a median, which needs all training dissimilarities at "
                "once. Pass dissimilarity='max-minus', 'negate', 'reciprocal' or 'log', or use search='matrix'."
            )
        return LearnedMap.learn(np.array([self.ends(reader)]), map_name)

    def ends(self, reader: Any) -> tuple[Any, Any]:
        """Return the smallest and the largest value of the measure between training objects, which are computed once.

        Parameters
        ----------
        reader : Reader
            The reader whose objects were indexed.

        Returns
        -------
        low, high : numbers
            The values before the map, in the precision of the measure.
        """
        if self._ends is None:
            ends = Ends()
            self.over_pairs(reader.objects, reader.measure, ends)
            self._ends = ends.low, ends.high
        return self._ends

    def over_pairs(self, objects: Any, measure: Measure, target: Any) -> None:
        """Pass the values of all pairs of training objects to the target.

        Parameters
        ----------
        objects : sequence of objects
            The training objects.
        measure : Measure
            The measure.
        target : Target
            The target, whose ``write(block, values)`` is called for each block.
        """
        n = num_samples(objects)
        self._evaluate(objects, objects, measure, target, half=measure.symmetric)
        self.n_evaluations_ += n * (n + 1) // 2 if measure.symmetric else n * n

    def _evaluate(self, A: Any, B: Any, measure: Measure, target: Any, half: bool = False) -> None:
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "block_size": self.block_size, "progress": self.progress}
        show_blocks(target, A, B, measure, half=half, **options)

    def nearest(self, rows: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self._best(rows, k).sorted()

    def with_ties(self, rows: Any, k: int, codes: np.ndarray, n_classes: int) -> Neighbors:
        best = self._best(rows, k, (codes, n_classes))
        return Neighbors(*best.sorted(), best.beyond.__getitem__)

    def _best(self, rows: Any, k: int, classes: tuple[np.ndarray, int] | None = None) -> RunningBest:
        training, X = self._collection(rows.reader), sliceable(rows.objects)
        best = RunningBest(training, len(rows), min(int(k), len(training)), classes)
        self._evaluate(X, training.objects, training.measure, best)
        self._seen, self._local = (len(training), len(rows)), []
        return best

    def count_in_fit(self) -> None:
        """Count the similarities of the last search as computed by ``fit``."""
        n, m = self._seen
        self.n_evaluations_ += n * m + sum(self._local)
        self._seen, self._local = (0, 1), []

    @property
    def n_evaluations_per_query_(self) -> float:
        """The mean number of similarities computed per sample in the last search."""
        n, m = self._seen
        return n + sum(self._local) / m


class Ends(Target):
    """A target that keeps the smallest and the largest value."""

    low: Any = np.inf
    high: Any = -np.inf

    def write(self, block: Any, values: np.ndarray) -> None:
        """Update the smallest and the largest value."""
        # They are kept in the precision of the values, in which a map rounds.
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())


def sorted_best(values: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return lists of columns and their values, best first, with equal values in the order of their places."""
    order = _best_first(values, places)
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(places, order, axis=1)


def _best_first(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    by_place = np.argsort(places, axis=1)
    best = np.argsort(-np.take_along_axis(values, by_place, axis=1), axis=1, kind="stable")
    return np.take_along_axis(by_place, best, axis=1)


class RunningBest(Target):
    """A target that keeps the k best columns of each row."""

    def __init__(self, training: Collection, m: int, k: int, classes: tuple[np.ndarray, int] | None = None):
        self.training = training
        self.heaps: Any = None
        self.places = np.full((m, k), len(training), dtype=np.intp)
        self.classes = classes
        self.beyond = np.zeros((m, 0 if classes is None else classes[1]))

    def write(self, block: Any, values: np.ndarray) -> None:
        """Update the best columns with the values of a block."""
        values = self.training.mapped(values)
        if self.heaps is None:
            self.heaps = np.full(self.places.shape, -np.inf, dtype=values.dtype)
        elif values.dtype != self.heaps.dtype:
            self.heaps, values = self.heaps.astype(np.float64), values.astype(np.float64)
        values = np.ascontiguousarray(values)
        lists = self.heaps[block.rows], self.places[block.rows]
        if self.classes is None:
            offer(values, block.columns.start, *lists)
        else:
            offer_counting(values, block.columns.start, *lists, self.classes[0], self.beyond[block.rows])

    def sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the best columns of each row."""
        return sorted_best(self.heaps, self.places)


def best_of(k: int, *lists: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Return the k best of several lists of neighbours."""
    values, places = (np.concatenate(part, axis=1) for part in list(zip(*lists))[:2])
    order = _best_first(values, places)
    values, places = (np.take_along_axis(array, order, axis=1) for array in (values, places))
    best = values[:, :k].copy(), places[:, :k].copy()
    if len(lists[0]) == 2:
        return best
    last = best[0][:, -1:]
    classes = np.take_along_axis(np.concatenate([given[2] for given in lists], axis=1), order, axis=1)
    beyond = listed_counts(values[:, k:] == last, classes[:, k:], lists[0][3].shape[1])
    for given in lists:
        beyond += np.where(given[0][:, -1:] == last, given[3], 0.0)
    return *best, classes[:, :k].copy(), beyond
