"""Exact neighbours found by a cluster, from the best of each shard of the training objects."""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from similitude._utils.checks import check_integer
from similitude._utils.cluster import hold
from similitude._utils.extras import require
from similitude._utils.scikit_learn import num_samples
from similitude.distributed._cluster import current_client, reduce_tree, thread_total, waiting
from similitude.distributed._parts import Part, Rule, cut, even_lengths, lengths_of, show
from similitude.finders.finder import Collection, Neighbors
from similitude.finders.stream import Ends, RunningBest, StreamSearch, best_of
from similitude.proximity.maps import LearnedMap
from similitude.similarities import Block, Measure
from similitude.similarities.pairwise import Target, sliceable

_ADVICE = "lower block_size or batch_size of ClusterSearch, raise n_shards, or give the workers more memory"

_MOST_VALUES = 2**22

# The futures that a search has put on a cluster. They are no attributes, because a saved or sent model must not have
# them.
_held: WeakKeyDictionary[Any, tuple] = WeakKeyDictionary()


class ClusterSearch(StreamSearch):
    """Find the k most similar training objects exactly, on the current Dask cluster.

    The training objects are cut into shards, which the workers hold. For a batch of samples each shard returns its k
    best, and these lists are joined in a tree. Neighbours, and the order of equally similar ones, are the same as on
    one machine. So are all predictions of the local methods that accept it as ``search=``: k-NN with all its weights,
    ``LocalSVC``, ``LocalSDA`` and ``LocalNearestCentroid``, whose models of a few neighbours are fitted by the client.

    If a worker dies, another one repeats its work. The client must stay alive until the job ends.

    Parameters
    ----------
    n_shards : int, default=None
        The number of parts of the training objects. None means one for each thread of the workers.
    batch_size : int, default=1024
        The number of samples in one task.
    block_size : int, default=None
        The number of rows and columns of a block of similarities within a task. A block is dropped once its best are
        found.

    Attributes
    ----------
    n_evaluations_ : int
        The number of similarities computed in ``fit``.
    n_evaluations_per_query_ : float
        The mean number of similarities computed for a sample in the last search, including those among its neighbours.

    See Also
    --------
    similitude.finders.StreamSearch : Finds exact neighbours on one machine.
    similitude.finders.GraphSearch : Finds approximate neighbours with far fewer similarities.

    Examples
    --------
    >>> from distributed import Client
    >>> from similitude import KNNClassifier
    >>> from similitude.distributed import ClusterSearch
    >>> words, y = ["tea", "tee", "coffee", "toffee"], ["hot", "hot", "brown", "brown"]
    >>> knn = KNNClassifier(2, similarity="levenshtein", dissimilarity="negate", search=ClusterSearch()).fit(words, y)
    >>> with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
    ...     knn.kneighbors(["tree", "coffees"])[1]
    array([[1, 0],
           [2, 3]])
    """

    # This holds within a task; parallel work is done by the cluster.
    n_jobs = None
    progress = False

    def __init__(self, *, n_shards: int | None = None, batch_size: int = 1024, block_size: int | None = None):
        self.n_shards = n_shards
        self.batch_size = batch_size
        self.block_size = block_size

    def index(self, reader: Any, symmetric: bool = False) -> LearnedMap | None:
        self._check_parameters()
        _held.pop(self, None)
        return super().index(reader, symmetric)

    def nearest(self, rows: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        similarities, indices = self._gathered(rows, k)
        return similarities, indices

    def with_ties(self, rows: Any, k: int, codes: np.ndarray, n_classes: int) -> Neighbors:
        similarities, indices, _, beyond = self._gathered(rows, k, (codes, n_classes))
        return Neighbors(similarities, indices, beyond.__getitem__)

    def _gathered(self, rows: Any, k: int, classes: tuple[np.ndarray, int] | None = None) -> tuple[np.ndarray, ...]:
        """Return the joined lists of all shards, with classes also those that tie for the last place."""
        self._check_parameters()
        m, n = len(rows), rows.reader.n_columns
        k = min(int(k), n)
        client = current_client()
        rule, shards = self._shards(client, rows.reader)
        with waiting(_ADVICE):
            merge = partial(best_of, k)
            found = []
            own: list = [None] * len(shards)
            if classes is not None:
                own = [hold(client, part) for part in cut(classes[0], even_lengths(n, len(shards)))]
            n_classes = 0 if classes is None else classes[1]
            for batch in cut(sliceable(rows.objects), lengths_of(m, int(self.batch_size))):
                samples = hold(client, batch)
                lists = [
                    client.submit(_best_in, k, samples, shard, codes, n_classes, rule, self.block_size, pure=False)
                    for shard, codes in zip(shards, own)
                ]
                found.append(reduce_tree(client, merge, lists))
            parts = client.gather(found)
        self._seen, self._local = (n, m), []
        return tuple(np.concatenate(part) for part in zip(*parts))

    def _shards(self, client: Any, reader: Any) -> tuple[Any, list]:
        """Return futures of the measure and of the shards, those of the last search if they are still valid."""
        key = client, reader.objects, reader.measure, reader.map, self.n_shards
        known = _held.get(self)
        if known is not None and all(a is b for a, b in zip(known[0], key)) and _are_there(known[1]):
            return known[1][0], known[1][1:]
        training = self._collection(reader)
        count = self.n_shards or thread_total(client)
        rule = hold(client, Rule(training.measure, training.map))
        shards = [hold(client, part) for part in cut(training.objects, even_lengths(len(training), count))]
        _held[self] = key, [rule, *shards]
        return rule, shards

    def _evaluate(self, A: Any, B: Any, measure: Measure, target: Any, half: bool = False) -> None:
        """Pass the values of all pairs of training objects to the target, or as many of them as it needs."""
        client = current_client()
        distributed = require("distributed", "dask")
        rule = hold(client, Rule(measure))
        lengths = even_lengths(num_samples(A), self.n_shards or thread_total(client))
        shards = [hold(client, part) for part in cut(A, lengths)]
        look = partial(_values_between, isinstance(target, Ends), self.block_size)
        tiles = [(i, j) for i in range(len(shards)) for j in range(i if half else 0, len(shards))]
        futures = [client.submit(look, shards[i], shards[j], rule, half and i == j, pure=False) for i, j in tiles]
        with waiting(_ADVICE):
            for future in distributed.as_completed(futures):
                values = future.result()
                target.write(Block(0, slice(0, 1), slice(0, len(values))), values[None])

    def _check_parameters(self) -> None:
        check_integer(self.block_size, "block_size", 1, none=True)
        check_integer(self.n_shards, "n_shards", 1, none=True)
        check_integer(self.batch_size, "batch_size", 1)


def _are_there(futures: list) -> bool:
    return all(future.status in ("pending", "finished") for future in futures)


def _best_in(
    k: int, samples: Part, shard: Part, codes: Part | None, n_classes: int, rule: Rule, block_size: int | None
) -> tuple[np.ndarray, ...]:
    """Return, on a worker, the k best of one shard in the form of ``best_of``, with positions among all objects."""
    training = Collection(shard.objects, rule.measure, rule.map)
    classes = None if codes is None else (codes.objects, n_classes)
    best = RunningBest(training, len(samples), min(k, len(shard)), classes)
    show(best, samples, shard, rule.measure, block_size)
    values, places = best.sorted()
    found = values, places + shard.first
    return found if classes is None else (*found, classes[0][places], best.beyond)


class _Values(Target):
    """Target that keeps the distinct values."""

    def __init__(self) -> None:
        self.values = np.empty(0)

    def write(self, block: Block, values: np.ndarray) -> None:
        self.values = np.union1d(self.values, values)
        if len(self.values) > _MOST_VALUES:
            raise ValueError(
                f"omega=None uses the distinct training similarities, but there are more than {_MOST_VALUES}; pass "
                "omega, or use search='matrix'."
            )


def _values_between(
    ends_only: bool, block_size: int | None, rows: Part, columns: Part, rule: Rule, half: bool
) -> np.ndarray:
    """Return, on a worker, the distinct values between two shards, or the smallest and the largest."""
    seen: Any = Ends() if ends_only else _Values()
    show(seen, rows, columns, rule.measure, block_size, half)
    return np.array([seen.low, seen.high]) if ends_only else seen.values
