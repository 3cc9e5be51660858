"""k nearest neighbours from similarities."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples

from similitude.base import (
    SimilarityClassifier,
    append_objects,
    check_labels,
    check_positive,
    costs_matrix,
    priors_vector,
    unchanged_on_failure,
)
from similitude.neighbors._search import NeighborSearch
from similitude.neighbors.local_weights import LOCAL_WEIGHTS, SPECTRA, local_weights
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.numerics.votes import (
    expected_costs,
    first_of_best,
    neighbor_votes,
    posterior_from_votes,
    rescaled_by_priors,
    weighting_votes,
)
from similitude.proximity.check import for_lookup
from similitude.proximity.symmetry import warn_of_asymmetry

WEIGHTS = ("uniform", "affinity", *LOCAL_WEIGHTS)

_BLOCK_BYTES = 32 * 2**20


def _takes_raw_objects(estimator: Any) -> bool:
    if estimator._is_precomputed:
        raise AttributeError(
            "partial_fit needs raw objects: a precomputed matrix of the new samples lacks the old ones' columns. "
            "Pass similarity=... or fit the whole matrix."
        )
    return True


class _Weighting(NamedTuple):
    """Everything about the weights but k and reg, which a path runs over."""

    weights: str
    spectrum: str = "none"
    consistent: bool = False
    restarts: int = 0


class KNNClassifier(NeighborSearch, SimilarityClassifier):
    """Classify by a vote of the k most similar training samples.

    The neighbours of x vote for their classes with weights w; the posterior of class g is ``sum of w_i over the
    neighbours of class g``, negative sums cut to 0, normalised. With s the similarities of x to its neighbours and S
    those among the neighbours, made positive semidefinite as ``spectrum`` says:

    * ``weights="uniform"``: w_i = 1/k.
    * ``weights="affinity"``: w_i = s_i / sum s (uniform where the sum is not positive).
    * ``weights="kri"``, kernel ridge interpolation: minimise ``w^T S w / 2 - s^T w + (reg/2) w^T w`` over w >= 0, sum
      w = 1. Similar neighbours get more weight (affinity), neighbours similar to one another share it (diversity).
    * ``weights="krr"``, kernel ridge regression: ``w = (S + reg I)^-1 s``; weights may be negative.
    * ``weights="lime"``: minimise ``w^T S w - 2 s^T w - reg H(w)`` over w >= 0, sum w = 1, H the entropy.

    Equally similar training samples are taken in their order in the training set. Classes whose totals lie within
    1e-12 (relative) of the largest are tied, and the tied class of the nearest neighbour wins; a class without a
    neighbour cannot win by votes. The similarity may be asymmetric: rows psi(x, .) are ranked as they are; KRI, KRR
    and LIME take (S + S^T)/2 among the neighbours, with a warning.

    Parameters
    ----------
    n_neighbors : int, default=5
        k; more than there are samples means all of them.
    weights : {"uniform", "affinity", "kri", "krr", "lime"}, default="uniform"
    reg : float, default=1.0
        lambda of KRI, KRR and LIME, above 0.
    spectrum : {"clip", "flip", "shift", "none", "pinv"}, default="clip"
        How each local k x k matrix is made positive semidefinite for KRI, KRR and LIME. With "none" KRI and LIME
        return a stationary point where S + reg I is indefinite, and no more is promised. "pinv", for KRR alone, is
        ``(S + reg I)^+ s`` on the unmodified S (so is "none" for KRR).
    consistent : bool, default=False
        Whether s is treated like S: P s, P the map of clip or flip. The papers' figures fit an untreated s; where
        the telling direction has a negative eigenvalue P s is much better, so search over both.
    restarts : int, default=0
        For KRI with ``spectrum="none"``: further starts, one from each of so many nearest neighbours; the best local
        optimum is kept.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g, in the order of ``classes_`` or by label;
        ``predict`` then minimises the expected cost (here a class without a neighbour may win).
    priors : array of shape (G,) or dict, default=None
        Class probabilities where the classifier is to be used; the posterior is rescaled by prior / training share.
    search : {"matrix", "stream", "graph"}, StreamSearch, GraphSearch or ClusterSearch, default="matrix"
        How neighbours of raw objects are found: from whole rows of similarities, from blocks that are not kept (the
        same answers), or by a neighbour graph (approximate, far fewer similarities). See the page on neighbour search.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    n_neighbors_ : int
        min(n_neighbors, n).
    n_evaluations_, n_evaluations_per_query_ : int, float
        Where ``search`` is not "matrix": similarities computed by ``fit``, and for a sample by the last query.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 5: KRI eq. 12, KRR eq. 15, LIME eq. 10.

    Examples
    --------
    >>> from similitude import KNNClassifier
    >>> S = [[5, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]]
    >>> knn = KNNClassifier(n_neighbors=3).fit(S, ["a", "b", "b", "a"])
    >>> knn.predict([[3, 4, 2, 1]])
    array(['b'], dtype='<U1')
    >>> knn.predict_proba([[3, 4, 2, 1]]).round(2)
    array([[0.33, 0.67]])

    Samples 1 and 2 are alike, and share their weight:

    >>> kri = KNNClassifier(n_neighbors=4, weights="kri", reg=0.1).fit(S, ["a", "b", "b", "a"])
    >>> indices, weights = kri.neighbor_weights([[3, 3, 3, 3]])
    >>> indices, weights.round(2)
    (array([[0, 1, 2, 3]]), array([[0.37, 0.17, 0.17, 0.28]]))
    """

    _path_parameters = ("n_neighbors", "weights", "reg", "spectrum", "consistent")

    def __init__(
        self,
        n_neighbors=5,
        weights="uniform",
        reg=1.0,
        spectrum="clip",
        consistent=False,
        *,
        restarts=0,
        costs=None,
        priors=None,
        search="matrix",
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.reg = reg
        self.spectrum = spectrum
        self.consistent = consistent
        self.restarts = restarts
        self.costs = costs
        self.priors = priors
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Keep the training labels (and objects, and for KRI, KRR and LIME the similarities)."""
        self._check_parameters()
        searcher = self._searcher()
        with unchanged_on_failure(self):
            S, local = None, self.weights in LOCAL_WEIGHTS
            if searcher is not None:
                self._fit_search(searcher, X, y)
            else:
                S = self._fit_matrix(X, y, needs_matrix=local)
            n = self.n_features_in_ if self._is_precomputed else _num_samples(self.objects_)
            self._fit_labels(check_labels(y, n))
            self._similarities = for_lookup(S) if local and searcher is None else None
            if self._similarities is not None:
                warn_of_asymmetry(f"KNNClassifier(weights={self.weights!r})", S)
        return self

    def _fit_labels(self, y):
        self._set_labels(y)
        self.n_neighbors_ = min(int(self.n_neighbors), len(y))
        self._costs = costs_matrix(self.costs, self.classes_)
        self._priors = priors_vector(self.priors, self.classes_)
        self._shares = np.bincount(self._labels) / len(y)

    @available_if(_takes_raw_objects)
    def partial_fit(self, X, y):
        """Append samples (raw objects only): the same as ``fit`` on all of them so far.

        A graph grows by the new samples alone, and is built anew only when it has doubled.
        """
        if not hasattr(self, "objects_"):
            return self.fit(X, y)
        n_new, known = _num_samples(X), self.classes_[self._labels]
        X = append_objects(self.objects_, X) if n_new else self.objects_
        # An empty list has the type of numbers, and would make numbers of all labels.
        y = np.concatenate([known, check_labels(y, n_new) if n_new or np.size(y) else known[:0]])
        if not self._grows:
            return self.fit(X, y)
        self._check_parameters()
        with unchanged_on_failure(self):
            y = check_labels(y, _num_samples(X))
            if n_new:
                self._insert_objects(X, n_new)
            self._fit_labels(y)
        return self

    def kneighbors(self, X, n_neighbors=None):
        """The nearest training samples: ``(similarities, indices)``, both of shape (m, k), nearest first."""
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        check_n_neighbors(k)
        return self._nearest(X, k)

    def neighbor_weights(self, X):
        """Who votes with what weight: ``(indices, weights)``, both of shape (m, k), nearest first."""
        similarities, indices = self.kneighbors(X)
        k = indices.shape[1]
        way, reg = self._point({})[1:]
        blocks = [
            self._weights_of(similarities[rows], indices[rows], [k], [reg], way)[:, 0, 0]
            for rows in self._row_blocks(len(indices), k, k)
        ]
        return indices, np.concatenate(blocks)

    def predict(self, X):
        """The class of least expected cost for each row."""
        return self._answers(self.kneighbors(X), [self._point({})], "predict")[0]

    def predict_proba(self, X):
        """The posterior of each class, in the order of ``classes_``."""
        return self._answers(self.kneighbors(X), [self._point({})], "predict_proba")[0]

    def _point(self, parameters):
        """One grid point, checked: ``(k, how the weights are made, reg)``."""
        merged = {name: parameters.get(name, getattr(self, name)) for name in self._path_parameters}
        self._check_parameters(**merged)
        way = _Weighting(merged["weights"])
        if way.weights not in LOCAL_WEIGHTS:
            return merged["n_neighbors"], way, 0.0
        # Grid points that come to the same are answered once.
        spectrum = "none" if merged["spectrum"] == "pinv" else merged["spectrum"]
        treated = bool(merged["consistent"]) and spectrum in ("clip", "flip")
        restarts = self.restarts if way.weights == "kri" and spectrum == "none" else 0
        return merged["n_neighbors"], _Weighting(way.weights, spectrum, treated, restarts), float(merged["reg"])

    def _answers(self, neighbors, points, response):
        """Predictions or posteriors for several points from one list of neighbours."""
        similarities, indices = neighbors
        points = [(min(int(k), indices.shape[1]), way, reg) for k, way, reg in points]
        answers: dict[Any, np.ndarray] = {}
        for way in dict.fromkeys(way for _, way, _ in points):
            asked = {(k, reg) for k, other, reg in points if other == way}
            sizes, regs = sorted({k for k, _ in asked}), sorted({reg for _, reg in asked})
            per_row = len(sizes) * len(regs) * (sizes[-1] + 4 * len(self.classes_))
            said = np.concatenate(
                [
                    self._say(similarities[rows], indices[rows], sizes, regs, way, response)
                    for rows in self._row_blocks(len(indices), per_row, sizes[-1])
                ]
            )
            for i, (k, reg) in enumerate((k, reg) for k in sizes for reg in regs):
                answers[k, way, reg] = said[:, i]
        return [answers[point] for point in points]

    def _say(self, similarities, indices, sizes, regs, way, response):
        """Predictions, (m, J), or posteriors, (m, J, G), for all J pairs of size and reg."""
        labels = self._labels[indices]
        counts, totals = self._votes(similarities, indices, labels, sizes, regs, way)
        if response == "predict_proba":
            return self._posterior(totals, counts)
        best = first_of_best(self._scores(totals, counts), labels, np.repeat(sizes, len(regs)))
        return self.classes_[best]

    def _votes(self, similarities, indices, labels, sizes, regs, way):
        """How many neighbours each class has and the sum of their weights, both (m, J, G)."""
        n_classes = len(self.classes_)
        counts = neighbor_votes(labels, np.ones(labels.shape), sizes, n_classes)
        if way.weights == "uniform":
            return counts, counts
        if way.weights == "affinity":
            totals = neighbor_votes(labels, _scaled(similarities), sizes, n_classes)
            return counts, np.where(totals.sum(axis=2, keepdims=True) > 0, totals, counts)
        W = self._weights_of(similarities, indices, sizes, regs, way)
        totals = weighting_votes(labels, W.reshape(len(W), -1, W.shape[-1]), n_classes)
        return np.repeat(counts, len(regs), axis=1), totals

    def _weights_of(self, similarities, indices, sizes, regs, way):
        """Weights of shape (m, len(sizes), len(regs), k); reg has no meaning for uniform and affinity."""
        if way.weights in LOCAL_WEIGHTS:
            if self._similarities is None and not hasattr(self, "search_"):
                raise ValueError(
                    f"weights={way.weights!r} needs the similarities among the training samples, which fit kept no "
                    f"copy of under the weights it was fitted with; fit again."
                )
            S = self._lookup(self._similarities, indices)
            if self._similarities is None and not self._measure.symmetric:
                warn_of_asymmetry(f"KNNClassifier(weights={way.weights!r})", S)
            return local_weights(S, similarities, indices, sizes, regs, **way._asdict())
        k = indices.shape[1]
        if way.weights == "affinity":
            scaled = _scaled(similarities)
            sums = scaled.sum(axis=1, keepdims=True)
            weights = np.where(sums > 0, scaled / np.where(sums > 0, sums, 1.0), 1.0 / k)
        else:
            weights = np.full(indices.shape, 1.0 / k)
        return weights[:, None, None, :]

    def _row_blocks(self, n_rows, numbers_per_row, k):
        """Slices of rows whose weights, and similarities among neighbours where these are computed, fit into memory."""
        step = max(1, _BLOCK_BYTES // (8 * max(1, numbers_per_row)))
        part = self._lookup_blocks(self._similarities if self.weights in LOCAL_WEIGHTS else (), n_rows, k)[0]
        step = min(step, part.stop)
        return [slice(start, start + step) for start in range(0, max(n_rows, 1), step)]

    def _posterior(self, totals, counts):
        posterior = posterior_from_votes(totals, counts > 0)
        return posterior if self._priors is None else rescaled_by_priors(posterior, self._priors, self._shares)

    def _scores(self, totals, counts):
        if self._costs is None and self._priors is None:
            return np.where(counts > 0, totals, -np.inf)
        posterior = self._posterior(totals, counts)
        return posterior if self._costs is None else -expected_costs(posterior, self._costs)

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One prediction (or posterior) per grid point from one neighbour sort."""
        points = [self._point(parameters) for parameters in grid]
        if len(y_train) != S_test.shape[1]:
            raise ValueError(f"S_test must have a column for each of {len(y_train)} labels; got {S_test.shape[1]}.")
        self._fit_labels(y_train)
        S_train, S_test = self._path_similarities(S_train, S_test)
        local = any(way.weights in LOCAL_WEIGHTS for _, way, _ in points)
        self._similarities = for_lookup(S_train) if local else None
        return self._answers(top_k(S_test, max(k for k, _, _ in points)), points, response)

    def _check_parameters(self, **given):
        """Check the parameters, those given in place of the estimator's own."""
        check_n_neighbors(given.get("n_neighbors", self.n_neighbors))
        check_positive(given.get("reg", self.reg), "reg")
        weights, spectrum = given.get("weights", self.weights), given.get("spectrum", self.spectrum)
        consistent = given.get("consistent", self.consistent)
        if not isinstance(weights, str) or weights not in WEIGHTS:
            raise ValueError(f"weights must be one of {WEIGHTS}; got {weights!r}.")
        if not isinstance(spectrum, str) or spectrum not in SPECTRA:
            raise ValueError(f"spectrum must be one of {SPECTRA}; got {spectrum!r}.")
        if spectrum == "pinv" and weights in ("kri", "lime"):
            raise ValueError(f"spectrum='pinv' is for weights='krr' alone; weights is {weights!r}. Use 'clip'.")
        if not isinstance(consistent, (bool, np.bool_)):
            raise ValueError(f"consistent must be True or False; got {consistent!r}.")
        if not isinstance(self.restarts, Integral) or isinstance(self.restarts, bool) or self.restarts < 0:
            raise ValueError(f"restarts must be an integer of at least 0; got {self.restarts!r}.")


def _scaled(similarities):
    """Each row divided by a power of two: sums cannot overflow, and no digit changes."""
    largest = np.max(np.abs(similarities), axis=1, keepdims=True, initial=0.0).astype(np.float64)
    return (similarities / np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))).astype(np.float64)
