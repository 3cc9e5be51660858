"""k nearest neighbours from similarities."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from similitude.base import (
    SimilarityClassifier,
    append_objects,
    check_labels,
    costs_matrix,
    priors_vector,
    unchanged_on_failure,
)
from similitude.numerics.topk import top_k
from similitude.numerics.votes import expected_costs, first_of_best, neighbor_votes, posterior_from_votes

WEIGHTS = ("uniform", "affinity")


def _takes_raw_objects(estimator: Any) -> bool:
    if estimator._is_precomputed:
        raise AttributeError(
            "partial_fit needs raw objects: a precomputed matrix of the new samples lacks the old ones' columns. "
            "Pass similarity=... or fit the whole matrix."
        )
    return True


class KNNClassifier(SimilarityClassifier):
    """Classify by a vote of the k most similar training samples.

    The neighbours of x vote for their classes with weights w; the posterior of class g is ``sum of w_i over the
    neighbours of class g``, negative sums cut to 0, normalised.

    * ``weights="uniform"``: w_i = 1/k.
    * ``weights="affinity"``: w_i = s_i / sum s (uniform where the sum is not positive).

    Equally similar training samples are taken in their order in the training set. Classes whose totals lie within
    1e-12 (relative) of the largest are tied, and the tied class of the nearest neighbour wins; a class without a
    neighbour cannot win by votes. The similarity may be asymmetric: rows psi(x, .) are ranked as they are.

    Parameters
    ----------
    n_neighbors : int, default=5
        k; more than there are samples means all of them.
    weights : {"uniform", "affinity"}, default="uniform"
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g, in the order of ``classes_`` or by label;
        ``predict`` then minimises the expected cost (here a class without a neighbour may win).
    priors : array of shape (G,) or dict, default=None
        Class probabilities where the classifier is to be used; the posterior is rescaled by prior / training share.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    n_neighbors_ : int
        min(n_neighbors, n).

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 5.

    Examples
    --------
    >>> from similitude import KNNClassifier
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> knn = KNNClassifier(n_neighbors=3).fit(S, ["a", "a", "b", "b"])
    >>> knn.predict([[2, 3, 1, 0]])
    array(['a'], dtype='<U1')
    >>> knn.predict_proba([[2, 3, 1, 0]]).round(2)
    array([[0.67, 0.33]])
    """

    _path_parameters = ("n_neighbors", "weights")

    def __init__(
        self,
        n_neighbors=5,
        weights="uniform",
        *,
        costs=None,
        priors=None,
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.costs = costs
        self.priors = priors
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Keep the training labels (and objects)."""
        self._check_parameters(self.n_neighbors, self.weights)
        with unchanged_on_failure(self):
            self._fit_proximities(X, y, needs_matrix=False)
            n = self.n_features_in_ if self._is_precomputed else _num_samples(self.objects_)
            self._fit_labels(check_labels(y, n))
        return self

    def _fit_labels(self, y):
        self._set_labels(y)
        self.n_neighbors_ = min(self.n_neighbors, len(y))
        self._costs = costs_matrix(self.costs, self.classes_)
        self._priors = priors_vector(self.priors, self.classes_)
        self._shares = np.bincount(self._labels) / len(y)

    @available_if(_takes_raw_objects)
    def partial_fit(self, X, y):
        """Append samples (raw objects only): the same as ``fit`` on all of them so far."""
        if hasattr(self, "objects_"):
            X = append_objects(self.objects_, X)
            y = np.concatenate([self.classes_[self._labels], np.asarray(y)])
        return self.fit(X, y)

    def kneighbors(self, X, n_neighbors=None):
        """The nearest training samples: ``(similarities, indices)``, both of shape (m, k), nearest first."""
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        self._check_parameters(k, self.weights)
        return top_k(self._new_proximities(X).S, k)

    def predict(self, X):
        """The class of least expected cost for each row."""
        return self._answer(self.kneighbors(X), "predict")

    def predict_proba(self, X):
        """The posterior of each class, in the order of ``classes_``."""
        return self._answer(self.kneighbors(X), "predict_proba")

    def _answer(self, neighbors, response):
        grid = [(neighbors[0].shape[1], self.weights)]
        return self._answers(neighbors, grid, response)[0]

    def _answers(self, neighbors, grid, response):
        """Predictions or posteriors for several ``(k, weights)`` from one list of neighbours."""
        similarities, indices = neighbors
        labels = self._labels[indices]
        sizes = np.unique([k for k, _ in grid])
        answers: dict[str, np.ndarray] = {}
        for weights in dict.fromkeys(weights for _, weights in grid):
            totals, counts = self._votes(similarities, labels, sizes, weights)
            if response == "predict_proba":
                answers[weights] = self._posterior(totals, counts)
            else:
                answers[weights] = self.classes_[first_of_best(self._scores(totals, counts), labels, sizes)]
        place = {int(size): i for i, size in enumerate(sizes)}
        return [answers[weights][:, place[k]] for k, weights in grid]

    def _votes(self, similarities, labels, sizes, weights):
        """Totals per row, neighbourhood size and class, and how many neighbours each class has there."""
        n_classes = len(self.classes_)
        counts = neighbor_votes(labels, np.ones(labels.shape), sizes, n_classes)
        if weights == "uniform":
            return counts, counts
        # A power of two keeps the sums from overflowing without changing a digit.
        largest = np.max(np.abs(similarities), axis=1, keepdims=True, initial=0.0).astype(np.float64)
        scaled = similarities / np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))
        totals = neighbor_votes(labels, scaled.astype(np.float64), sizes, n_classes)
        return np.where(totals.sum(axis=2, keepdims=True) > 0, totals, counts), counts

    def _posterior(self, totals, counts):
        posterior = posterior_from_votes(totals, counts > 0)
        if self._priors is not None:
            posterior = posterior * (self._priors / self._shares)
            sums = posterior.sum(axis=-1, keepdims=True)
            # Only classes of prior 0 among the neighbours: nothing is known but the priors.
            posterior = np.where(sums > 0, posterior / np.where(sums > 0, sums, 1.0), self._priors)
        return posterior

    def _scores(self, totals, counts):
        if self._costs is None and self._priors is None:
            return np.where(counts > 0, totals, -np.inf)
        posterior = self._posterior(totals, counts)
        return posterior if self._costs is None else -expected_costs(posterior, self._costs)

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One prediction (or posterior) per grid point from one neighbour sort."""
        points = []
        for parameters in grid:
            k = parameters.get("n_neighbors", self.n_neighbors)
            weights = parameters.get("weights", self.weights)
            self._check_parameters(k, weights)
            points.append((min(k, S_test.shape[1]), weights))
        if len(y_train) != S_test.shape[1]:
            raise ValueError(f"S_test must have a column for each of {len(y_train)} labels; got {S_test.shape[1]}.")
        self._fit_labels(y_train)
        _, S_test = self._path_similarities(S_train, S_test)
        neighbors = top_k(S_test, max(k for k, _ in points))
        return self._answers(neighbors, points, response)

    @staticmethod
    def _check_parameters(n_neighbors, weights):
        if not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool) or n_neighbors < 1:
            raise ValueError(f"n_neighbors must be an integer of at least 1; got {n_neighbors!r}.")
        if weights not in WEIGHTS:
            raise ValueError(f"weights must be one of {WEIGHTS}; got {weights!r}.")
