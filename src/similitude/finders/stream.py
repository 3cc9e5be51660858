"""Exact neighbours among raw objects, without ever holding more than a block of similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from similitude.finders.finder import Collection, ObjectFinder
from similitude.proximity.maps import LearnedMap, learned_constants_needed
from similitude.similarities import Measure, check_block_size, show_blocks, sliceable


class StreamSearch(ObjectFinder):
    """Find the k most similar training objects exactly, with a running list of the best for each sample.

    Similarities are computed block by block and forgotten: of each block only what is better than the k-th best so far
    is kept. Neighbours, and the order of equally similar ones, are those that the whole matrix gives.

    A map whose constant is learned from all training dissimilarities (``max-minus`` and ``sqrt-max-minus``: their
    largest) costs ``fit`` one pass over all pairs, half of them where the measure is symmetric; those that learn a
    median are refused, as is one that looks at whole rows. ``dissimilarity="negate"`` needs none.

    Parameters
    ----------
    n_jobs : int, default=None
        Blocks computed at the same time, in threads or processes, as in :func:`~similitude.similarities.pairwise`.
    block_size : int, default=None
        Rows and columns of a block.
    progress : bool, default=False
        A bar over the blocks, on a terminal.

    Attributes
    ----------
    n_evaluations_ : int
        Similarities computed in ``fit``; of a symmetric measure each pair counts once, though a function on batches is
        asked for whole blocks on the diagonal.
    n_evaluations_per_query_ : float
        Similarities computed for a sample, on average, in the last search, those among its neighbours included.

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

    def __init__(self, *, n_jobs=None, block_size=None, progress=False):
        self.n_jobs = n_jobs
        self.block_size = block_size
        self.progress = progress

    def index(self, reader: Any, symmetric: bool = False) -> LearnedMap | None:
        """Make ready to search among the reader's objects, and return the map from native values to similarities.

        With ``symmetric`` samples are compared in both directions, where these may differ.
        """
        check_block_size(self.block_size)
        self._begin(symmetric)
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
        ends = Ends()
        self.over_pairs(reader.objects, reader.measure, ends)
        return LearnedMap.learn(np.array([[ends.low, ends.high]]), map_name)

    def over_pairs(self, objects: Any, measure: Measure, target: Any) -> None:
        """Show all pairs of training objects to the target."""
        n = _num_samples(objects)
        self._evaluate(objects, objects, measure, target, half=measure.symmetric)
        self.n_evaluations_ += n * (n + 1) // 2 if measure.symmetric else n * n

    def _evaluate(self, A: Any, B: Any, measure: Measure, target: Any, half: bool = False) -> None:
        options = {"n_jobs": self.n_jobs, "block_size": self.block_size, "progress": self.progress}
        show_blocks(target, A, B, measure, half=half, **options)

    def nearest(self, rows: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return ``(similarities, indices)`` of the k most similar training objects, both (m, k), nearest first."""
        training, X = self._collection(rows.reader), sliceable(rows.objects)
        best = RunningBest(training, len(rows), min(int(k), len(training)))
        self._evaluate(X, training.objects, training.measure, best)
        self._seen, self._local = (len(training), len(rows)), []
        return best.sorted()

    def count_in_fit(self) -> None:
        """Count the similarities of the last search as computed by ``fit``."""
        n, m = self._seen
        self.n_evaluations_ += n * m + sum(self._local)
        self._seen, self._local = (0, 1), []

    @property
    def n_evaluations_per_query_(self) -> float:
        """Similarities computed for a sample, on average, in the last search."""
        n, m = self._seen
        return n + sum(self._local) / m


class Target:
    """What looks at blocks of values and keeps none of them."""

    done = frozenset[int]()


class Ends(Target):
    """The smallest and the largest value."""

    low: Any = np.inf
    high: Any = -np.inf

    def write(self, block: Any, values: np.ndarray) -> None:
        # In the precision of the values: a map rounds in it.
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())


class RunningBest(Target):
    """The k best columns of each row so far."""

    def __init__(self, training: Collection, m: int, k: int):
        self.training = training
        self.heaps: Any = None
        self.places = np.full((m, k), len(training), dtype=np.intp)

    def write(self, block: Any, values: np.ndarray) -> None:
        from similitude.finders._stream_kernel import offer

        values = self.training.mapped(values)
        if self.heaps is None:
            self.heaps = np.full(self.places.shape, -np.inf, dtype=values.dtype)
        elif values.dtype != self.heaps.dtype:
            self.heaps, values = self.heaps.astype(np.float64), values.astype(np.float64)
        values = np.ascontiguousarray(values)
        offer(values, block.columns.start, self.heaps[block.rows], self.places[block.rows])

    def sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the similarities and positions of the best, nearest first."""
        from similitude.finders._stream_kernel import sorted_best

        return sorted_best(self.heaps, self.places)


def best_of(k: int, *lists: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the k best of several lists of neighbours.

    Parameters
    ----------
    k : int
    *lists : tuples (similarities, indices)
        Arrays with m rows.

    Returns
    -------
    similarities, indices : ndarrays of shape (m, k)
        Nearest first.
    """
    from similitude.finders._stream_kernel import sorted_best

    values, places = sorted_best(*(np.concatenate(part, axis=1) for part in zip(*lists)))
    return values[:, :k].copy(), places[:, :k].copy()
