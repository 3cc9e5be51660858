"""A forest of trees that compare the similarities of a sample to one training sample of each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from similitude._native import grow_trees, vote_trees
from similitude._utils.checks import check_integer
from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks
from similitude._utils.types import ColumnPositions, RandomState
from similitude.base import FittedPath, SimilarityClassifier
from similitude.labels import Labels
from similitude.proximity.check import dense
from similitude.reader import ByName, Training
from similitude.similarities.registry import SimilarityLike

_TREES_AT_ONCE = 10
"""The trees that are grown between two checks for Ctrl-C."""
_ENTRIES = 2**20
"""About the number of similarities that are copied for a block of rows."""


class Trees(NamedTuple):
    """The nodes of all trees, tree by tree; the children of a node follow each other.

    ``kinds`` has the number of the similarity of a node, -1 for a leaf, and -2 if a row counts in equal parts in all
    children. ``first`` is the first child, counted from the root of the tree, or the class of a leaf, and ``counts``
    the number of children. ``exemplars`` has the position in the columns of the exemplar by whose branch a node is
    reached, and -1 for the branch of ties.
    """

    kinds: np.ndarray
    first: np.ndarray
    counts: np.ndarray
    exemplars: np.ndarray
    starts: np.ndarray
    """The first node of each tree, and the number of all nodes."""

    @classmethod
    def grow(
        cls, similarities: np.ndarray, labels: Labels, n_candidates: int, seeds: np.ndarray
    ) -> tuple[Trees, np.ndarray]:
        """Return a tree for each seed, and the decrease of the Gini impurity by each similarity in each tree."""
        n_trees, most = len(seeds), 2 * len(labels) - 1
        kinds, first, counts, exemplars = (np.empty((n_trees, most), dtype=np.int32) for _ in range(4))
        sizes, gains = np.zeros(n_trees, dtype=np.intp), np.zeros((n_trees, len(similarities)))

        def work(start: int, stop: int) -> None:
            own = slice(start, stop)
            nodes = kinds[own], first[own], counts[own], exemplars[own]
            grow_trees(
                similarities, labels.codes, labels.n_classes, n_candidates, seeds[own], *nodes, sizes[own], gains[own]
            )

        over_row_blocks(work, n_trees, _TREES_AT_ONCE)
        used = np.arange(most) < sizes[:, None]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        return cls(kinds[used], first[used], counts[used], exemplars[used], starts), gains

    def part(self, start: int, stop: int) -> Trees:
        """Return some of the trees."""
        nodes = slice(self.starts[start], self.starts[stop])
        kinds, first, counts, exemplars = (values[nodes] for values in self[:4])
        return Trees(kinds, first, counts, exemplars, self.starts[start : stop + 1] - self.starts[start])

    def votes(self, rows: np.ndarray, n_classes: int) -> np.ndarray:
        """Return the sums of the votes of all trees, for rows of shape (similarities, m, columns)."""
        votes = np.zeros((rows.shape[1], n_classes))
        vote_trees(rows, *self, votes)
        return votes


class ForestPath(FittedPath):
    """One forest, whose first trees answer for every smaller number of trees."""

    used: ColumnPositions
    """The positions of all exemplars."""

    def __init__(self, points: list[int], trees: Trees, names: list[str], gains: np.ndarray, n_classes: int):
        self.points, self.trees, self.names = points, trees, names
        self.gains, self.n_classes = gains, n_classes
        found = np.unique(trees.exemplars[trees.exemplars >= 0]).astype(np.intp)
        self.used = found if len(found) else np.arange(1)

    @property
    def columns(self) -> np.ndarray:
        return self.used

    def answers(self, rows: Any, response: str) -> list[np.ndarray]:
        stages, places = np.unique(self.points, return_inverse=True)
        found = [np.empty((len(rows), self.n_classes)) for _ in stages]
        trees, numbers = self._numbered()
        blocks = [dense(rows.parts[self.names[v]].columns(self.used)) for v in numbers]

        def work(start: int, stop: int) -> None:
            own = np.empty((len(blocks), stop - start, len(self.used)))
            for values, block in zip(own, blocks):
                values[:] = block[start:stop]
            total, before = np.zeros((stop - start, self.n_classes)), 0
            for posteriors, stage in zip(found, stages):
                total += trees.part(before, stage).votes(own, self.n_classes)
                posteriors[start:stop] = total / stage
                before = stage

        over_row_blocks(work, len(rows), _ENTRIES // max(1, len(blocks) * len(self.used)))
        answers = [np.argmax(each, axis=1) for each in found] if response == "predict" else found
        return [answers[place] for place in places]

    def _numbered(self) -> tuple[Trees, np.ndarray]:
        """Return the trees with similarities and exemplars numbered as they are used, and the similarities."""
        numbers = np.unique(self.trees.kinds[self.trees.kinds >= 0])
        kinds, exemplars = self.trees.kinds.copy(), self.trees.exemplars.copy()
        kinds[kinds >= 0] = np.searchsorted(numbers, kinds[kinds >= 0])
        exemplars[exemplars >= 0] = np.searchsorted(self.used, exemplars[exemplars >= 0])
        return self.trees._replace(kinds=kinds, exemplars=exemplars), numbers

    def at(self, i: int) -> ForestPath:
        n = self.points[i]
        return ForestPath([n], self.trees.part(0, n), self.names, self.gains[:n], self.n_classes)

    def attributes(self) -> dict[str, Any]:
        gains = self.gains.sum(axis=0)
        shares = gains / (float(gains.sum()) or 1.0)
        return {"shares_": dict(zip(self.names, shares.tolist()))}


@shared_docs
class ProximityForest(SimilarityClassifier):
    """Classify by a forest of trees that compare the similarities of a sample to one exemplar of each class.

    A node of a tree draws a similarity v, if there are several, and one exemplar x_g of each class g among its own
    training samples. A sample x goes to the branch of ``argmax over g of psi_v(x, x_g)``. Of ``n_candidates`` such
    draws the one is kept that leaves the least Gini impurity::

        sum over branches b of n_b (1 - sum over classes g of (n_bg / n_b)^2)

    and the branches are divided again until all samples of a node are of one class. The posterior is the mean over all
    trees of the class at the end of the way of x. Nothing is chosen by cross-validation, so that the forest is a good
    method where training samples are few, and one of many similarities may be as good as another.

    Only comparisons within a row matter: the classifier is the same for any increasing function of each similarity.
    The similarities may be indefinite, asymmetric, or dissimilarities with any map. A sample that is equally similar to
    several exemplars of a node goes to a branch of its own; a new row for which there is no such branch counts in equal
    parts in those of these exemplars.

    Parameters
    ----------
    n_trees : int, default=300
        The number of trees. The first trees of a larger forest are those of a smaller one.
    n_candidates : int, default=10
        The number of draws among which a node chooses.
    random_state : int, RandomState or None, default=None
        Determines what is drawn.
    similarity : "precomputed", "elastic", a similarity on raw objects, or dict of these, default="precomputed"
        With "precomputed", X is a matrix, ``Proximities`` with several similarities, or a dict of matrices. For raw
        objects a dict has their similarities by name; for time series "elastic" means the family of
        :func:`~similitude.similarities.elastic_family`.
    dissimilarity : str or dict of str, default=None
        The map of all similarities, or the maps by name.

    Attributes
    ----------
    {classes_}
    shares_ : dict of float
        The share of each similarity in the decrease of the Gini impurity; a single one is named "S".
    {support_columns_}

    See Also
    --------
    DBoostClassifier : Boosts comparisons of the similarities to two training samples.
    MixtureSVC : A support vector machine on several similarities.

    References
    ----------
    Lucas, Shifaz, Pelletier, O'Neill, Zaidi, Goethals, Petitjean & Webb, "Proximity Forest: an effective and scalable
    distance-based classifier for time series", Data Mining and Knowledge Discovery 33, 2019, Algorithms 1 and 2. There
    each node computes its own distances, with parameters drawn at random; here all nodes share the matrices.

    Examples
    --------
    >>> from similitude import ProximityForest
    >>> taste = [[4, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 3], [0, 1, 3, 4]]
    >>> smell = [[4, 0, 3, 1], [0, 4, 1, 3], [3, 1, 4, 0], [1, 3, 0, 4]]
    >>> forest = ProximityForest(random_state=0).fit({"taste": taste, "smell": smell}, ["a", "a", "b", "b"])
    >>> forest.predict({"taste": [[3, 2, 1, 0]], "smell": [[1, 2, 2, 2]]})
    array(['a'], dtype='<U1')
    >>> max(forest.shares_, key=forest.shares_.get)
    'taste'
    """

    _path_parameters = ("n_trees",)
    _responses = ("predict", "predict_proba")
    _least_classes = 2
    _takes_several = True

    def __init__(
        self,
        n_trees: int = 300,
        n_candidates: int = 10,
        random_state: RandomState = None,
        *,
        similarity: SimilarityLike | Mapping[str, SimilarityLike] = "precomputed",
        dissimilarity: str | Mapping[str, str] | None = None,
    ):
        self.n_trees = n_trees
        self.n_candidates = n_candidates
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> int:
        check_integer(parameters["n_trees"], "n_trees", 1)
        check_integer(self.n_candidates, "n_candidates", 1)
        return int(parameters["n_trees"])

    def _fit_path(self, training: ByName[Training], labels: Labels, points: list[int]) -> ForestPath:
        similarities = np.empty((len(training.parts), len(labels), len(labels)))
        for values, part in zip(similarities, training.parts.values()):
            values[:] = dense(part.S)
        seeds = check_random_state(self.random_state).randint(2**63 - 1, size=max(points), dtype=np.int64)
        trees, gains = Trees.grow(similarities, labels, int(self.n_candidates), seeds.astype(np.uint64))
        return ForestPath(points, trees, list(training.parts), gains, labels.n_classes)
