"""Mixture similarity discriminant analysis: several centroids a class, weighted by expectation maximisation."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from similitude.base import check_labels, check_positive, unchanged_on_failure
from similitude.generative.base import GenerativeClassifier, family_on, log_of
from similitude.generative.max_entropy import MaximumEntropy, Pmfs
from similitude.numerics.medoids import k_medoids
from similitude.proximity.check import dense, for_lookup
from similitude.proximity.split import cut


class Mixture(NamedTuple):
    """Weights, means and distributions of the components, and the log-likelihood of the samples after each step."""

    weights: np.ndarray
    means: np.ndarray
    pmfs: Pmfs
    log_likelihoods: np.ndarray
    is_done: bool


def mixture(family: MaximumEntropy, similarities: np.ndarray, tol: float, max_iter: int) -> Mixture:
    """Fit a mixture to similarities (samples, components): by expectation maximisation, from equal shares."""
    from similitude.generative._mixture import fit_mixture

    c = similarities.shape[1]
    weights, rates, log_z, from_above = np.empty(c), np.empty(c), np.empty(c), np.empty(c, dtype=bool)
    means, history = np.empty((2, c)), np.empty(max_iter)
    places = (np.ascontiguousarray(a) for a in family.distances(similarities))
    how = family.floor, not family.continuous, *family.tables, tol
    steps = fit_mixture(*places, *how, weights, means, rates, log_z, from_above, history)
    pmfs = Pmfs(rates, log_z + family.log_unit, from_above)
    # The density's unit changes every component alike.
    logs = history[:steps] - len(similarities) * family.log_unit
    return Mixture(weights, family.similarities(*means), pmfs, logs, steps <= max_iter)


class MixtureSDA(GenerativeClassifier):
    """Similarity discriminant analysis with several centroids in each class.

    The centroids mu_ml of class m are its c medoids: ``sum over z in class m of max over l of psi(z, mu_ml)`` is as
    large as exchanges of one medoid can make it. For each class g, the similarities to the centroids of class m make a
    mixture of distributions of maximum entropy on Omega, fitted to the samples of class g by expectation maximisation::

        P(x | g) = product over m of  sum over l of  w_gml gamma_gml exp(lambda_gml psi(x, mu_ml))

    with weights w_gml >= 0 that sum to 1 over l, and P(g) = (n_g + 1) / (n + G). A step sets the responsibilities
    ``r_il`` proportional to ``w_l P_l(psi(z_i, mu_ml))``, w_l to their mean, and the mean of P_l to
    ``sum r_il psi(z_i, mu_ml) / sum r_il``; it starts from equal ones, and the centroids stay. With one component it is
    :class:`SDA`.

    Where P(x | g) is 0 for every class, the class of the most similar centroid is taken. The similarity may be
    asymmetric: ``S[z, mu]`` is psi(z, mu). Of the rows to predict only the centroids' columns are used
    (``support_columns_``).

    Parameters
    ----------
    n_components : int, default=2
        Centroids a class; a class with fewer samples has all of them.
    omega : array-like, "continuous" or None, default=None
        The possible similarities. None takes the distinct ones of the training matrix (those within 1e-12 of one
        another, relative to the largest, are one); "continuous" the interval they span, with densities in place of
        probabilities.
    priors : array of shape (G,) or dict, default=None
        P(g), in the order of ``classes_`` or by label, in place of the estimate above.
    costs : array of shape (G, G) or dict of dicts, default=None
        ``costs[f, g]`` is the cost of saying f when the truth is g.
    tol : float, default=1e-8
        Relative change of the log-likelihood at which a mixture is done.
    max_iter : int, default=10000
        Steps after which it is given up, with a warning.
    n_init : int, default=1
        Starts of the search for medoids: a greedy one, then random ones.
    random_state : int, RandomState or None, default=None
        For the random starts.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    centroids_ : list of ndarrays
        The positions of each class's centroids in the training set.
    weights_ : list of ndarrays of shape (G, c)
        For each class m, ``[g, l]``: w_gml.
    lambdas_ : list of ndarrays of shape (G, c)
        For each class m, ``[g, l]``: lambda_gml; infinite for a point mass.
    log_likelihoods_ : ndarray of shape (G, G)
        ``[g, m]``: the log-likelihood of class g's similarities to the centroids of class m.
    n_iter_ : int
        The steps of the mixture that took most.
    support_columns_ : ndarray of int
        The training columns that prediction needs, ascending.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 6.1.

    Examples
    --------
    >>> from similitude.datasets import make_perturbed_centroids
    >>> from similitude import MixtureSDA
    >>> train = make_perturbed_centroids(100, random_state=0)
    >>> test = make_perturbed_centroids(1000, centroids=train.centroids, random_state=1)
    >>> for c in (1, 2):
    ...     model = MixtureSDA(n_components=c, similarity="counting").fit(train.X, train.y)
    ...     print(f"{1 - model.score(test.X, test.y):.0%}")
    27%
    5%
    """

    def __init__(
        self,
        n_components=2,
        omega=None,
        priors=None,
        costs=None,
        *,
        tol=1e-8,
        max_iter=10_000,
        n_init=1,
        random_state=None,
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.n_components = n_components
        self.omega = omega
        self.priors = priors
        self.costs = costs
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y):
        """Find the centroids and fit the mixtures of the similarities to them."""
        check_positive(self.tol, "tol")
        for name in ("n_components", "max_iter", "n_init"):
            _check_count(name, getattr(self, name))
        with unchanged_on_failure(self):
            S = for_lookup(self._fit_proximities(X, y).S)
            self._set_labels(check_labels(y, S.shape[0]))
            self._set_decision()
            self._family = family_on(self.omega, S)
            members = [np.flatnonzero(self._labels == g) for g in range(len(self.classes_))]
            self.centroids_ = [self._medoids(S, of_class) for of_class in members]
            self.support_columns_ = self._columns_read(np.concatenate(self.centroids_))
            self._fit_mixtures(S, members)
        return self

    def _medoids(self, S, members):
        within = dense(cut(S, members, members))
        places, _ = k_medoids(within, int(self.n_components), self.random_state, n_init=int(self.n_init))
        return members[places]

    def _fit_mixtures(self, S, members):
        mixtures = [
            [mixture(self._family, dense(cut(S, of_class, centroids)), self.tol, self.max_iter) for of_class in members]
            for centroids in self.centroids_
        ]
        self._pmfs = [Pmfs(*(np.array(part) for part in zip(*(each.pmfs for each in of)))) for of in mixtures]
        self.weights_ = [np.array([each.weights for each in of]) for of in mixtures]
        self._means = [np.array([each.means for each in of]) for of in mixtures]
        self.lambdas_ = [self._family.parameters(pmfs)[0] for pmfs in self._pmfs]
        self.log_likelihoods_ = np.array([[each.log_likelihoods[-1] for each in of] for of in mixtures]).T
        self.n_iter_ = max(len(each.log_likelihoods) for of in mixtures for each in of)
        if not all(each.is_done for of in mixtures for each in of):
            warnings.warn(
                f"MixtureSDA: a mixture was given up after {self.max_iter} steps; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _statistics(self, X):
        """The similarities of new samples to the centroids of each class, (m, c) each."""
        check_is_fitted(self)
        columns = dense(self._new_columns(X, np.concatenate(self.centroids_)))
        return np.split(columns, np.cumsum([len(of_class) for of_class in self.centroids_[:-1]]), axis=1)

    def _log_likelihoods(self, statistics):
        """log of the mixtures at the similarities to the centroids of each class, of shape (m, g, m)."""
        logs = np.empty((len(statistics[0]), len(self.classes_), len(self.classes_)))
        for m, (values, pmfs, weights) in enumerate(zip(statistics, self._pmfs, self.weights_)):
            places = (a[:, None, :] for a in self._family.distances(values))
            parts = log_of(weights) + self._family.log_pmf(pmfs, *places)
            largest = parts.max(axis=2)
            largest = np.where(largest == -np.inf, 0.0, largest)
            logs[:, :, m] = largest + log_of(np.exp(parts - largest[..., None]).sum(axis=2))
        return logs

    def _joint(self, X):
        statistics = self._statistics(X)
        nearest = np.argmax([values.max(axis=1) for values in statistics], axis=0)
        return self._log_likelihoods(statistics).sum(axis=2) + self._log_priors(), nearest

    def _models_of(self, X):
        statistics = self._statistics(X)
        return {
            "centroids": np.concatenate(self.centroids_),
            "centroid_classes": np.repeat(np.arange(len(self.classes_)), [len(c) for c in self.centroids_]),
            "similarities": np.concatenate(statistics, axis=1)[0],
            "weights": np.concatenate(self.weights_, axis=1),
            "means": np.concatenate(self._means, axis=1),
            "log_likelihoods": self._log_likelihoods(statistics)[0],
            "log_priors": self._log_priors(),
            "family": self._family,
            "pmfs": Pmfs(*(np.concatenate(parts, axis=1) for parts in zip(*self._pmfs))),
        }


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
