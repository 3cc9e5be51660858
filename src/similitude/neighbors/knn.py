"""The k-nearest-neighbour classifier on similarities."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_bool, check_choice, check_integer, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import available_if, num_samples
from similitude._utils.types import CostsLike, ListLike, PriorsLike, SamplesLike
from similitude.base import contract_of
from similitude.finders.finder import same_values
from similitude.finders.graph import GraphSearch
from similitude.finders.search import SearchLike, check_search
from similitude.labels import Labels, check_labels
from similitude.neighbors._knn_path import KNNPath, KNNPoint, Weighting
from similitude.neighbors.searching import SearchingClassifier
from similitude.neighbors.weights import LOCAL_WEIGHTS, NEEDS_LARGEST, SPECTRA, WEIGHTS
from similitude.numerics.topk import check_n_neighbors
from similitude.proximity.unknown import known_values
from similitude.reader import Training
from similitude.similarities.pairwise import append_objects
from similitude.similarities.registry import SimilarityLike, resolve


def _largest(training: Training, finder: Any) -> float:
    """Return the largest training similarity, for which an exact finder on raw objects computes all of them."""
    if training.has_matrix:
        return float(known_values(training.S).max()) if training.unknown else float(training.S.max())
    return float(training.reader.similarities(np.array([finder.ends(training.reader)])).max())


def _takes_raw_objects(estimator: Any) -> bool:
    if contract_of(estimator).is_precomputed:
        raise AttributeError(
            "partial_fit needs raw objects: a precomputed matrix of the new samples lacks the columns of the old ones. "
            "Pass similarity=... or fit the whole matrix."
        )
    return True


@shared_docs
class KNNClassifier(SearchingClassifier):
    """Classify by a vote of the k most similar training samples.

    The neighbours of x vote for their classes with weights w. The posterior of class g is the sum of w_i over the
    neighbours of class g, where negative sums are set to 0 and the result is normalised. With s the similarities of x
    to its neighbours and S those among the neighbours, made positive semidefinite according to ``spectrum``:

    * ``weights="uniform"``: w_i = 1/k.
    * ``weights="affinity"``: w_i = s_i / sum s (uniform if the sum is not positive).
    * ``weights="distance"``: w_i = (1/d_i) / sum 1/d, where d_i = max(c - s_i, 0) and c is the largest training
      similarity, the diagonal included. If neighbours have d = 0, these alone vote, with equal weights. See the notes.
    * ``weights="kri"``, kernel ridge interpolation: minimise ``w^T S w / 2 - s^T w + (reg/2) w^T w`` over w >= 0, sum
      w = 1. Similar neighbours get more weight (affinity), neighbours similar to one another share it (diversity).
    * ``weights="krr"``, kernel ridge regression: ``w = (S + reg I)^-1 s``; weights may be negative.
    * ``weights="lime"``: minimise ``w^T S w - 2 s^T w - reg H(w)`` over w >= 0, sum w = 1, where H is the entropy.

    The order of the training samples does not matter. Samples that tie for the last places share them: a vote is its
    expectation over all orders of equally similar samples. KRI, KRR and LIME need actual neighbours; they take all
    samples that tie for the last place if these are at most 2k neighbours together, and otherwise none of them. If that
    leaves no neighbour, or all training samples are equally similar, the posterior is the shares of the classes among
    the most similar samples. Classes whose totals lie within 1e-12 (relative) of the largest are tied; of these the one
    with the most similar neighbour wins, then the one with more training samples, then the first one. A class without a
    neighbour cannot win by votes. The similarity may be asymmetric: neighbours are ranked by the rows psi(x, .). KRI,
    KRR and LIME use (S + S^T)/2 among the neighbours, with a warning, and for them the rows of new raw objects are
    also averaged over both directions.

    Parameters
    ----------
    {n_neighbors}
    weights : {"uniform", "affinity", "distance", "kri", "krr", "lime"}, default="uniform"
        The weights of the neighbours.
    reg : float, default=1.0
        The regularisation lambda of KRI, KRR and LIME, above 0. With ``t S`` and ``t reg`` the weights are the same, so
        choose it relative to the scale of S, which is ``np.median(S.max(axis=1) - S.mean(axis=1))``.
    spectrum : {"clip", "flip", "shift", "none", "pinv"}, default="clip"
        How each local k x k matrix is made positive semidefinite for KRI, KRR and LIME. With "none" KRI and LIME return
        a stationary point if S + reg I is indefinite, which need not be the optimum. "pinv", for KRR only, is
        ``(S + reg I)^+ s`` on the unmodified S (and so is "none" for KRR).
    consistent : bool, default=False
        Whether s is modified like S: to P s, where P is the map of clip or flip. The figures of the papers agree with
        an unmodified s. If an informative direction has a negative eigenvalue, P s is much better, so search over both.
    restarts : int, default=0
        For KRI with ``spectrum="none"``, the number of further starts, one from each of the nearest neighbours; the
        best local optimum is kept.
    class_ties : {"nearest", "first"}, default="nearest"
        Which of tied classes wins: see above, or the first one.
    {costs}
        A class without a neighbour may then win.
    {priors}
    {search}
        Distance weights need the largest training similarity: with "stream", ``fit`` computes all training
        similarities once to find it, and with "graph" an error is raised.
    {similarity}

    Attributes
    ----------
    {classes_}
    {n_neighbors_}
    {n_evaluations_}

    See Also
    --------
    LocalSVC : Trains a support vector machine on the neighbours.
    LocalNearestCentroid : Predicts the class of the most similar centroid among the neighbours.
    LocalSDA : Fits a generative model to the neighbours.
    FusedKNN : A vote of the neighbours by similarity and by features.

    Notes
    -----
    With ``dissimilarity="max-minus"``, "one-minus" or "negate" the d of the distance weights is the given dissimilarity
    (up to rounding) if the smallest training dissimilarity is 0, and the posteriors are those of scikit-learn's
    ``KNeighborsClassifier(metric="precomputed", weights="distance")``; otherwise the smallest one is subtracted. With
    "sqrt-max-minus" and "sqrt-one-minus" it is the squared dissimilarity. With any other map, or given similarities, it
    is the difference from the largest training similarity; for example 1 - exp(-D/c) with "exp". A new sample may be
    more similar to a neighbour than any training sample is to another one or to itself: then d is clipped at 0.

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

    Samples 1 and 2 are alike and share their weight:

    >>> kri = KNNClassifier(n_neighbors=4, weights="kri", reg=0.1).fit(S, ["a", "b", "b", "a"])
    >>> indices, weights = kri.neighbor_weights([[3, 3, 3, 3]])
    >>> indices, weights.round(2)
    (array([[0, 1, 2, 3]]), array([[0.37, 0.17, 0.17, 0.28]]))
    """

    _path_parameters = ("n_neighbors", "weights", "reg", "spectrum", "consistent")
    _responses = ("predict", "predict_proba")

    def __init__(
        self,
        n_neighbors: int = 5,
        weights: Literal["uniform", "affinity", "distance", "kri", "krr", "lime"] = "uniform",
        reg: float = 1.0,
        spectrum: Literal["clip", "flip", "shift", "none", "pinv"] = "clip",
        consistent: bool = False,
        *,
        restarts: int = 0,
        class_ties: Literal["nearest", "first"] = "nearest",
        costs: CostsLike = None,
        priors: PriorsLike = None,
        search: SearchLike = "matrix",
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.reg = reg
        self.spectrum = spectrum
        self.consistent = consistent
        self.restarts = restarts
        self.class_ties = class_ties
        self.costs = costs
        self.priors = priors
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> KNNPoint:
        k, reg = check_n_neighbors(parameters["n_neighbors"]), check_positive(parameters["reg"], "reg")
        weights, spectrum, consistent = (parameters[name] for name in ("weights", "spectrum", "consistent"))
        check_choice(weights, "weights", WEIGHTS)
        check_choice(spectrum, "spectrum", SPECTRA)
        if spectrum == "pinv" and weights in ("kri", "lime"):
            raise ValueError(f"spectrum='pinv' is only for weights='krr'; weights is {weights!r}. Use 'clip'.")
        check_bool(consistent, "consistent")
        check_integer(self.restarts, "restarts", 0)
        check_choice(self.class_ties, "class_ties", ("nearest", "first"))
        if weights in NEEDS_LARGEST and isinstance(check_search(self.search), GraphSearch):
            raise ValueError(
                f"weights={weights!r} needs the largest training similarity, which search={self.search!r} does not "
                "compute; use search='stream' or 'matrix'."
            )
        if weights not in LOCAL_WEIGHTS:
            return KNNPoint(k, Weighting(weights), 0.0)
        # Grid points with the same meaning become equal, and so are computed once.
        spectrum = "none" if spectrum == "pinv" else spectrum
        treated = bool(consistent) and spectrum in ("clip", "flip")
        restarts = int(self.restarts) if weights == "kri" and spectrum == "none" else 0
        return KNNPoint(k, Weighting(weights, spectrum, treated, restarts), reg)

    def _prepared(self, training: Training, points: list[KNNPoint]) -> Training:
        kinds = sorted({point.weighting.is_local for point in points})
        if True in kinds:
            training = training.in_both_directions(f"KNNClassifier(weights={self.weights!r})")
        return training.indexed(*kinds)

    def _fit_path(self, training: Training, labels: Labels, points: list[KNNPoint]) -> KNNPath:
        kinds = sorted({point.weighting.is_local for point in points})
        finders = {local: training.finder(symmetric=local, lookup=local) for local in kinds}
        needed = any(point.weighting.weights in NEEDS_LARGEST for point in points)
        largest = _largest(training, finders[False]) if needed else None
        return KNNPath(points, labels, finders, largest, self.class_ties)

    def kneighbors(self, X: SamplesLike, n_neighbors: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest training samples.

        Parameters
        ----------
        {X_new}
        n_neighbors : int, default=None
            The number of neighbours; None means as many as vote.

        Returns
        -------
        similarities, indices : ndarrays of shape (m, k)
            The similarities and the positions of the neighbours, nearest first.
        """
        check_is_fitted(self)
        k = check_n_neighbors(self.n_neighbors_ if n_neighbors is None else n_neighbors)
        return self._path.finder.nearest(self._rows(X), k)

    def neighbor_weights(self, X: SamplesLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the training samples that vote, and their weights.

        Of samples that tie for the last place the first ones are listed, and the weights are those of the listed
        samples. ``predict`` and ``predict_proba`` share these places among all tied samples, so their votes may
        differ from the sums of these weights.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        indices, weights : ndarrays of shape (m, k)
            The positions and the weights of the neighbours, nearest first.
        """
        check_is_fitted(self)
        return self._path.neighbor_weights(self._rows(X))

    @available_if(_takes_raw_objects)
    def partial_fit(self, X: SamplesLike, y: ListLike) -> Self:
        """Append samples, which must be raw objects; the result is the same as that of ``fit`` on all samples so far.

        A neighbour graph grows by the new samples, and is built again only when it has more than doubled.

        Parameters
        ----------
        X : sequence of raw objects
            The new samples.
        y : array-like of shape (n_new,)
            Their labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        if not hasattr(self, "objects_"):
            return self.fit(X, y)
        y = labels_in_order(y, X)
        n_new, known = num_samples(X), self.classes_[self._path.labels.codes]
        X = append_objects(self.objects_, X) if n_new else self.objects_
        # An empty list becomes an array of floats, which would convert all labels to floats.
        y = np.concatenate([known, check_labels(y, n_new) if n_new or np.size(y) else known[:0]])  # type: ignore[arg-type]
        if not self._graph_grows():
            return self.fit(X, y)
        points = self._points([{}])
        about = {"objects": X, "n_columns": num_samples(X), "measure": resolve(self.similarity)}
        reader = replace(self._reader, dissimilarity=self.dissimilarity, **about)
        labels = self._labels_of(check_labels(y, reader.n_columns))
        finder = copy.copy(self._path.finder)  # if the insertion fails, the fitted finder is unchanged
        if n_new:
            reader = replace(reader, map=finder.insert(reader, n_new))
        path = KNNPath(points, labels, {points[0].weighting.is_local: finder}, class_ties=self.class_ties)
        self._adopt(Training(reader, reader.n_columns, None), labels, path)
        return self

    def _graph_grows(self) -> bool:
        """Return whether new objects can be inserted into the graph of an earlier fit."""
        asked, made, measure = check_search(self.search), self._path.finder, resolve(self.similarity)
        if not (isinstance(asked, GraphSearch) and isinstance(made, GraphSearch)) or measure.learns:
            return False
        # set_params may have changed the parameters of the graph, or of the similarity, since it was built.
        same_order = (self._contract().map_name is None) == (self._reader.map is None)
        symmetric = self._points([{}])[0].weighting.is_local == made.symmetric_
        return same_order and symmetric and made.is_built_as(asked) and same_values(measure, self._reader.measure)
