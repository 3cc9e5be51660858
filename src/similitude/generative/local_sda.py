"""Local similarity discriminant analysis, plain and regularized."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.threads import over_row_blocks
from similitude.base import check_labels, unchanged_on_failure
from similitude.generative.base import GenerativeClassifier, family_on, log_of, log_posterior
from similitude.generative.local_models import Neighborhoods
from similitude.generative.searched import SearchedNeighborhoods, searched_family
from similitude.neighbors._search import NeighborSearch
from similitude.numerics.topk import check_n_neighbors, top_k
from similitude.numerics.votes import expected_costs, first_of_best
from similitude.proximity.check import for_lookup

FALLBACKS = ("class", "k", "one", None)


class LocalSDA(NeighborSearch, GenerativeClassifier):
    """Similarity discriminant analysis among the k most similar training samples, for each sample anew.

    With N_g the neighbours of x of class g, n_g of them, and g and h running over the classes that have any::

        mu_h = argmax over mu in N_h of  sum over z in N_h of psi(z, mu)
        P_gh(s) = gamma_gh exp(lambda_gh s) on Omega,  with mean  (1/n_g) sum over z in N_g of psi(z, mu_h)
        P(x | g) = product over h of P_gh(psi(x, mu_h)),   P(g) = (n_g + 1) / (k + G)

    and x goes to the class of least expected cost, which without ``costs`` is the one of largest P(x | g) P(g).

    In small neighbourhoods many distributions are point masses, and the local nearest centroid decides in place of the
    model (its posterior is 1 for the class that it names), as ``fallback`` says:

    * ``"class"``: where a class among the neighbours has fewer than three of them;
    * ``"k"``: where k is at most 3;
    * ``"one"``: where a class among the neighbours has exactly one of them;
    * None: never;

    and always where P(x | g) P(g) is 0 for every class.

    ``alpha`` above 0 is regularized local SDA: in place of a fallback, the product is averaged with one of smooth
    distributions. P_ave(s | g, h) is the average of the distributions P_gh in the neighbourhoods of the training
    samples z, each without z itself, that have both classes (uniform where none has)::

        P(x, g) = (1 - alpha) P(x | g) P(g) + alpha (product over h of P_ave(psi(x, mu_h) | g, h)) (n_g + 1) / (n + G)

    where g runs over all classes (the first term of an absent one is 0), h over those among the neighbours, and n_g in
    the last factor counts training samples.

    Equally similar training samples are taken in their order in the training set, tied candidates for a centroid by
    similarity to x, and tied classes by their nearest neighbour. The similarity may be asymmetric: rows psi(x, .) are
    ranked as they are, and ``S[z, mu]`` is psi(z, mu). The training matrix is kept without a copy. ``PathSearchCV``
    takes a whole grid of ``n_neighbors``, ``alpha`` and ``fallback`` at once: one neighbour sort and one pass over the
    nested neighbourhoods.

    Parameters
    ----------
    n_neighbors : int, default=10
        k; more than there are samples means all of them.
    alpha : float, default=0.0
        The weight of the averages, from 0 to 1.
    fallback : {"class", "k", "one", None}, default="class"
        When the local nearest centroid decides; without meaning where alpha is above 0.
    omega : array-like, "continuous" or None, default=None
        The possible similarities. None takes the distinct ones of the training matrix (those within 1e-12 of one
        another, relative to the largest, are one); "continuous" the interval they span, with densities in place of
        probabilities.
    priors : array of shape (G,) or dict, default=None
        P(g), in the order of ``classes_`` or by label, in place of both estimates above.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g.
    search : {"matrix", "stream", "graph"}, StreamSearch, GraphSearch or ClusterSearch, default="matrix"
        How neighbours of raw objects are found: from whole rows of similarities, from blocks that are not kept (the
        same answers), or by a neighbour graph (approximate, far fewer similarities). See the page on neighbour search.
        With "stream", ``omega=None`` and "continuous" cost a pass over all pairs, alpha above 0 another; with "graph"
        omega must be an array and alpha 0.
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
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, eq. 4 to 9 (arg max in eq. 9 is arg min).
    Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", FUSION 2009,
    eq. 4 and 5. Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 6.1.

    Examples
    --------
    >>> from similitude import LocalSDA
    >>> S = [[5, 4, 3, 1, 0, 1], [4, 5, 3, 2, 1, 1], [3, 3, 5, 2, 2, 1],
    ...      [1, 2, 2, 5, 3, 4], [0, 1, 2, 3, 5, 2], [1, 1, 1, 4, 2, 5]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LocalSDA(n_neighbors=6).fit(S, y)
    >>> model.predict_joint_log_proba([[3, 4, 2, 3, 1, 2]]).round(4)
    array([[-4.132, -5.428]])
    >>> LocalSDA(n_neighbors=4, alpha=0.1).fit(S, y).predict_proba([[3, 4, 2, 3, 1, 2]]).round(3)
    array([[0.989, 0.011]])
    """

    _path_parameters = ("n_neighbors", "alpha", "fallback")

    def __init__(
        self,
        n_neighbors=10,
        alpha=0.0,
        fallback="class",
        omega=None,
        priors=None,
        costs=None,
        *,
        search="matrix",
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.fallback = fallback
        self.omega = omega
        self.priors = priors
        self.costs = costs
        self.search = search
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Keep the training similarities and labels; with alpha above 0, model the training samples' neighbourhoods."""
        check_parameters(self.n_neighbors, self.alpha, self.fallback)
        searcher = self._searcher()
        with unchanged_on_failure(self):
            S, n = None, 0
            if searcher is None:
                S = self._fit_matrix(X, y)
                n = S.shape[0]
            else:
                n = self._fit_search(searcher, X, y)
            self.n_neighbors_ = min(int(self.n_neighbors), n)
            # set_params after fit changes what the next fit does, not what this one has done.
            self._point = self.n_neighbors_, float(self.alpha), self.fallback
            self._fit_neighborhoods(S, check_labels(y, n), [self._point])
        return self

    def _fit_neighborhoods(self, S, y, points):
        self._set_labels(y)
        self._set_decision()
        S = None if S is None else for_lookup(S)
        regularized = sorted({k for k, alpha, _ in points if alpha > 0})
        family = searched_family(self, bool(regularized)) if S is None else family_on(self.omega, S)
        self._neighborhoods = Neighborhoods(S, self._labels, len(self.classes_), family)
        averages = self._hoods.average_pmfs(np.array(regularized)) if regularized else []
        self._averages = dict(zip(regularized, averages))

    @property
    def _hoods(self):
        """The neighbourhoods; where fit kept no matrix, they compute what they look at."""
        known = self._neighborhoods
        return known if known.S is not None else SearchedNeighborhoods(self._training, self.search_, known)

    def predict(self, X):
        """The class of least expected cost for each row; of tied ones that of the nearest neighbour."""
        return self._answer(X, "predict")

    def predict_proba(self, X):
        """The posterior of each class, in the order of ``classes_``."""
        return self._answer(X, "predict_proba")

    def predict_log_proba(self, X):
        """The logarithm of the posterior of each class, in the order of ``classes_``."""
        return self._answer(X, "predict_log_proba")

    def predict_joint_log_proba(self, X):
        """log of P(x, g) for each class, in the order of ``classes_``, before any fallback."""
        return self._answer(X, "predict_joint_log_proba")

    def _answer(self, X, response):
        check_is_fitted(self)
        return self._answers(self._nearest(X, self._point[0]), [self._point], response)[0]

    def _predict_path(self, S_train, y_train, S_test, grid, response="predict"):
        """One answer per grid point from one neighbour sort and one pass over the neighbourhoods."""
        n = len(y_train)
        if S_test.shape[1] != n:
            raise ValueError(f"S_test must have a column for each of {n} labels; got {S_test.shape[1]}.")
        points = []
        for parameters in grid:
            k, alpha, fallback = (parameters.get(name, getattr(self, name)) for name in self._path_parameters)
            check_parameters(k, alpha, fallback)
            points.append((min(int(k), n), float(alpha), fallback))
        S_train, S_test = self._path_similarities(S_train, S_test)
        self._fit_neighborhoods(S_train, y_train, points)
        return self._answers(top_k(S_test, max(k for k, _, _ in points)), points, response)

    def _answers(self, neighbors, points, response):
        """What is asked for, for several ``(k, alpha, fallback)``, from one neighbour sort."""
        sizes = np.unique([k for k, _, _ in points])
        similarities, indices = neighbors
        parts = {}

        def work(start: int, stop: int) -> None:
            block = slice(start, stop)
            joint, fallen, winners = self._models(similarities[block], indices[block], sizes, points)
            parts[start] = self._say(joint, fallen, winners, indices[block], points, response)

        m, k = indices.shape
        over_row_blocks(work, m, self._neighborhoods.rows_at_once(m, k, len(sizes)))
        answers = np.concatenate([parts[start] for start in sorted(parts)])
        return list(np.moveaxis(answers, 1, 0))

    def _models(self, similarities, indices, sizes, points):
        """Of a few rows: joint log-probabilities (m, points, G), whether the centroid decides, and its class."""
        hoods = self._hoods
        found = hoods.statistics(similarities, indices, sizes)
        counts = found.counts
        local = hoods.log_likelihoods(found, similarities) + self._local_log_priors(counts, sizes[:, None])
        at = np.searchsorted(sizes, [k for k, _, _ in points])
        alphas = np.array([alpha for _, alpha, _ in points])
        fallen = np.empty((len(counts), len(points)), dtype=bool)
        for j, (k, alpha, fallback) in enumerate(points):
            fallen[:, j] = alpha == 0 and falls_back(fallback, k, counts[:, at[j]])
        joint = local[:, at]
        if alphas.any():
            averages = self._averaged(found, similarities, sizes)[:, at]
            joint = np.logaddexp(log_of(1 - alphas)[:, None] + joint, log_of(alphas)[:, None] + averages)
        return joint, fallen | np.all(joint == -np.inf, axis=2), found.winners[:, at]

    def _averaged(self, found, similarities, sizes):
        """log of P_ave(x | g) P_ave(g), (m, sizes, G); 0 for sizes without averages."""
        hoods = self._neighborhoods
        ends = hoods.family.distances(found.at_centroids(similarities))
        logs = np.zeros(found.counts.shape)
        for i, k in enumerate(sizes.tolist()):
            if k in self._averages:
                below, above = (a[:, i] for a in ends)
                averages = hoods.average_log_likelihoods(self._averages[k], below, above, found.counts[:, i] > 0)
                logs[:, i] = averages + self._log_priors()
        return logs

    def _models_of(self, X):
        k, alpha, fallback = self._point
        neighbors = self._nearest(X, k)
        models = self._hoods.models_of(*neighbors, self._averages.get(k))
        counts, by_model = models["counts"], np.any(self.predict_joint_log_proba(X) > -np.inf)
        if alpha == 0:
            by_model &= not np.any(falls_back(fallback, k, counts[None]))
        return {**models, "log_priors": self._local_log_priors(counts, k), "by_centroid": not by_model}

    def _local_log_priors(self, counts, sizes):
        """log P(g) in neighbourhoods with these counts of the classes."""
        if self._priors is not None:
            return log_of(self._priors)
        return np.log((counts + 1) / (sizes + len(self.classes_)))

    def _say(self, joint, fallen, winners, indices, points, response):
        if response == "predict_joint_log_proba":
            return joint
        logs = log_posterior(joint, fallen, winners, self._priors)
        if response == "predict_log_proba":
            return logs
        scores = np.exp(logs)
        if response == "predict_proba":
            return scores
        if self._costs is not None:
            scores = -expected_costs(scores, self._costs)
        return self.classes_[first_of_best(scores, self._labels[indices], np.array([k for k, _, _ in points]))]


def falls_back(fallback: str | None, k: int, counts: np.ndarray) -> np.ndarray | bool:
    """Whether the local nearest centroid decides in neighbourhoods with these counts of the classes, (m, G)."""
    if fallback == "k":
        return k <= 3
    if fallback is None:
        return False
    fewest = 3 if fallback == "class" else 2
    return np.any((counts > 0) & (counts < fewest), axis=1)


def check_parameters(n_neighbors: Any, alpha: Any, fallback: Any) -> None:
    """Refuse values that are no parameters of LocalSDA."""
    check_n_neighbors(n_neighbors)
    if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 <= float(alpha) <= 1:
        raise ValueError(f"alpha must be a number from 0 to 1; got {alpha!r}.")
    if not (fallback is None or isinstance(fallback, str)) or fallback not in FALLBACKS:
        raise ValueError(f"fallback must be one of {FALLBACKS}; got {fallback!r}.")
