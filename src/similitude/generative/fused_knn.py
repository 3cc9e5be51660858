"""The combined vote of the neighbours by similarity and the neighbours by features."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks
from similitude._utils.types import CostsLike, Finite, PriorsLike
from similitude.base import FittedPath, SimilarityClassifier
from similitude.finders.finder import MatrixFinder
from similitude.labels import Labels
from similitude.numerics.near_one import exponent_of, near_one
from similitude.numerics.topk import check_n_neighbors, nearest_votes
from similitude.numerics.votes import expected_costs, first_of_best, neighbor_votes, rescaled_by_priors
from similitude.proximity.check import dense
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike

_BLOCK = 2**20


@shared_docs
class FusedKNN(SimilarityClassifier):
    """Classify by a vote of the k most similar training samples and the l nearest by features, k + l votes in all.

    With N(x) the k most similar training samples and M(x) the l nearest in Euclidean distance of the features::

        P(g | x) = (number of class g in N(x) + number of class g in M(x)) / (k + l)

    A sample in both sets votes twice. Every neighbour has the same weight, so this is the baseline for
    :class:`FusedClassifier`. Features are passed as ``Proximities(S, features)``; without them the rows of
    similarities are the features. Training samples that tie for the last places share them. Of tied classes, the one
    with the most similar neighbour is predicted, then the one with more training samples. ``PathSearchCV`` evaluates a
    whole grid of ``n_neighbors`` with two neighbour sorts.

    Parameters
    ----------
    n_neighbors : int or pair of int, default=5
        The number of neighbours of each kind, or the pair (k, l); at most the number of samples is used.
    {costs}
    {priors}
    {similarity}

    Attributes
    ----------
    {classes_}
    {n_neighbors_}

    See Also
    --------
    FusedClassifier : Multiplies the posteriors of classifiers on similarities and on features.
    KNNClassifier : Votes with the neighbours by similarity only.

    References
    ----------
    Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", FUSION 2009,
    Section 6.2.

    Examples
    --------
    >>> from similitude import FusedKNN, Proximities
    >>> S = [[5, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]]
    >>> model = FusedKNN(n_neighbors=2).fit(Proximities(S, [[0.0], [1.0], [1.1], [0.1]]), ["a", "b", "b", "a"])
    >>> model.predict_proba(Proximities([[1, 4, 3, 2]], [[0.4]]))
    array([[0.5, 0.5]])
    >>> model.predict(Proximities([[1, 4, 3, 2]], [[0.4]]))
    array(['b'], dtype='<U1')
    """

    _path_parameters = ("n_neighbors",)
    _responses = ("predict", "predict_proba")

    def __init__(
        self,
        n_neighbors: int | tuple[int, int] = 5,
        *,
        costs: CostsLike = None,
        priors: PriorsLike = None,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.costs = costs
        self.priors = priors
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> int | tuple[int, int]:
        asked = parameters["n_neighbors"]
        if not isinstance(asked, (tuple, list)):
            return check_n_neighbors(asked)
        if len(asked) != 2:
            raise ValueError(f"n_neighbors must be an integer or a pair of integers; got {asked!r}.")
        return check_n_neighbors(asked[0]), check_n_neighbors(asked[1])

    def _fit_path(self, training: Training, labels: Labels, points: list[int | tuple[int, int]]) -> FusedKNNPath:
        n = len(labels)
        kept = [min(k, n) if isinstance(k, int) else (min(k[0], n), min(k[1], n)) for k in points]
        return FusedKNNPath(kept, labels, _features_of(training))


class FusedKNNPath(FittedPath):
    """The features and labels of the training samples; a point is the number of neighbours, or one for each kind."""

    _features: Finite

    def __init__(self, points: list[int | tuple[int, int]], labels: Labels, features: np.ndarray):
        self.points, self.labels = points, labels
        self._exponent = exponent_of(features)
        self._features = near_one(features, self._exponent)

    @property
    def n_features(self) -> int:
        """The number of features that new samples must have."""
        return self._features.shape[1]

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self.points[0]}

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        by_similarity, by_features = np.array([(k, k) if isinstance(k, int) else k for k in self.points]).T
        sizes, place = np.unique(by_similarity, return_inverse=True)
        feature_sizes, feature_place = np.unique(by_features, return_inverse=True)
        labels = self.labels
        found = MatrixFinder().with_ties(rows, sizes[-1], labels.codes, labels.n_classes)
        similarities, classes = found.similarities, labels.codes[found.indices]
        counts = neighbor_votes(classes, similarities, np.ones(classes.shape), found.beyond(slice(None)), sizes)
        counts = counts[:, place]
        votes = counts + self._feature_votes(_features_of(rows), feature_sizes)[:, feature_place]
        scores = votes / (by_similarity + by_features)[:, None]
        if labels.priors is not None:
            scores = rescaled_by_priors(scores, labels.priors, labels.shares)
        if response == "predict":
            scores = scores if labels.costs is None else -expected_costs(scores, labels.costs)
            scores = first_of_best(scores, classes, similarities, counts, by_similarity, labels.counts)
        return [scores[:, place] for place in range(len(self.points))]

    def _feature_votes(self, features: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the votes of the training samples that are nearest by features, (m, sizes, G)."""
        if features.shape[1] != self.n_features:
            raise ValueError(f"X.features must have {self.n_features} columns, as in fit; got {features.shape[1]}.")
        rows = near_one(features, self._exponent)
        codes, n_classes = self.labels.codes, self.labels.n_classes
        votes = np.empty((len(rows), len(sizes), n_classes))

        def work(start: int, stop: int) -> None:
            closeness = -cdist(rows[start:stop], self._features, "sqeuclidean")
            votes[start:stop] = nearest_votes(closeness, sizes, codes, n_classes)[2]

        # Blocks have at most 256 rows, so that the neighbour selection starts no threads of its own.
        over_row_blocks(work, len(rows), min(256, max(1, _BLOCK // len(self._features))))
        return votes


def _features_of(samples: Any) -> np.ndarray:
    """Return the given features of samples, or the rows of similarities if there are none."""
    if samples.features is None:
        return dense(samples.S).astype(np.float64, copy=False)
    if isinstance(samples.features, dict):
        raise ValueError("X holds several feature sets, but one is needed: choose it by X.select(features=name).")
    return check_array(samples.features, dtype=np.float64, input_name="X.features")
