"""The combined vote of the neighbours by similarity and the neighbours by features."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from similitude._utils.threads import over_row_blocks
from similitude.base import (
    SimilarityClassifier,
    check_labels,
    costs_matrix,
    priors_vector,
    unchanged_on_failure,
)
from similitude.numerics.near_one import exponent_of, near_one
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.numerics.votes import expected_costs, first_of_best, neighbor_votes, rescaled_by_priors
from similitude.proximity.check import dense
from similitude.proximity.proximities import as_proximities

_BLOCK = 2**20


class FusedKNN(SimilarityClassifier):
    """The majority among the k most similar training samples and the k nearest by features, 2k votes in all.

    With N(x) the k most similar training samples and M(x) the k nearest in Euclidean distance of the features::

        P(g | x) = (number of class g in N(x) + number of class g in M(x)) / 2k

    A sample in both votes twice. It is the baseline that :class:`FusedClassifier` is measured against: both kinds of
    neighbours always weigh the same. Features come in ``Proximities(S, features)``; without them the rows of
    similarities are the features. Tied classes: that of the nearest neighbour, the most similar before the nearest by
    features. ``PathSearchCV`` takes a whole grid of ``n_neighbors`` from two neighbour sorts.

    Parameters
    ----------
    n_neighbors : int, default=5
        k; more than there are samples means all of them.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g.
    priors : array of shape (G,) or dict, default=None
        The posterior is rescaled by these over the training frequencies.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    n_neighbors_ : int
        min(n_neighbors, n).

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

    def __init__(self, n_neighbors=5, *, costs=None, priors=None, similarity="precomputed", dissimilarity=None):
        self.n_neighbors = n_neighbors
        self.costs = costs
        self.priors = priors
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Keep the training labels and features."""
        check_n_neighbors(self.n_neighbors)
        with unchanged_on_failure(self):
            given = self._fit_proximities(X, y)
            self._keep_samples(given, check_labels(y, given.shape[0]))
            self.n_neighbors_ = min(int(self.n_neighbors), given.shape[0])
        return self

    def _keep_samples(self, given, y):
        self._set_labels(y)
        self._costs = costs_matrix(self.costs, self.classes_)
        self._priors = priors_vector(self.priors, self.classes_)
        self._shares = np.bincount(self._labels) / len(y)
        features = self._features_of(given)
        self._exponent = exponent_of(features)
        self._features = near_one(features, self._exponent)

    def _features_of(self, given):
        """The features of samples: those that came along, or the rows of similarities."""
        if given.features is None:
            return dense(given.S).astype(np.float64, copy=False)
        if isinstance(given.features, dict):
            raise ValueError("X holds feature sets by name, and one is needed here: X.select(features=name) picks one.")
        return check_array(given.features, dtype=np.float64, input_name="X.features")

    def predict(self, X):
        """The class of least expected cost for each row."""
        check_is_fitted(self)
        return self._answers(self._new_proximities(X), [self.n_neighbors_], "predict")[0]

    def predict_proba(self, X):
        """The posterior of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        return self._answers(self._new_proximities(X), [self.n_neighbors_], "predict_proba")[0]

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One answer per grid point from two neighbour sorts."""
        points = [parameters.get("n_neighbors", self.n_neighbors) for parameters in grid]
        for k in points:
            check_n_neighbors(k)
        given = [as_proximities(S) for S in (S_train, S_test)]
        S = self._path_similarities(S_train, S_test)
        train, test = (each._with(dense(values), each.features) for each, values in zip(given, S))
        self._keep_samples(train, y_train)
        return self._answers(test, [min(int(k), len(y_train)) for k in points], response)

    def _answers(self, given, points, response):
        """What is asked for, for several k."""
        sizes, places = np.unique(points, return_inverse=True)
        by_similarity = top_k(given.S, sizes[-1])[1]
        by_features = self._nearest(self._features_of(given), sizes[-1])
        # One of each in turn: of every size, the first 2k.
        labels = self._labels[np.stack([by_similarity, by_features], axis=2).reshape(len(by_similarity), -1)]
        votes = neighbor_votes(labels, np.ones(labels.shape), 2 * sizes, len(self.classes_))
        scores = votes / (2 * sizes[:, None])
        if self._priors is not None:
            scores = rescaled_by_priors(scores, self._priors, self._shares)
        if response == "predict":
            scores = scores if self._costs is None else -expected_costs(scores, self._costs)
            scores = self.classes_[first_of_best(scores, labels, 2 * sizes)]
        return [scores[:, place] for place in places]

    def _nearest(self, features, k):
        """The k nearest training samples by features, nearest first."""
        if features.shape[1] != self._features.shape[1]:
            raise ValueError(
                f"X.features must have {self._features.shape[1]} columns, as in fit; got {features.shape[1]}."
            )
        rows = near_one(features, self._exponent)
        nearest = np.empty((len(rows), k), dtype=np.intp)

        def work(start: int, stop: int) -> None:
            nearest[start:stop] = top_k(-cdist(rows[start:stop], self._features, "sqeuclidean"), k)[1]

        # At most 256 rows: the neighbour selection inside starts no threads of its own.
        over_row_blocks(work, len(rows), min(256, max(1, _BLOCK // len(self._features))))
        return nearest
