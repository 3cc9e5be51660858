"""Mixture similarity discriminant analysis, with several centroids in each class."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similitude._native import fit_mixture
from similitude._utils.checks import check_integer, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.types import CostsLike, PriorsLike, RandomState
from similitude._utils.warn import warn
from similitude.generative.base import GenerativeClassifier
from similitude.generative.max_entropy import MaximumEntropy, Pmfs, family_on
from similitude.generative.sda import CentroidModels, CentroidsPath
from similitude.labels import Labels, numbers_by_class
from similitude.neighbors.nearest_centroid import class_centroid
from similitude.numerics.medoids import k_medoids
from similitude.proximity.check import dense, for_lookup
from similitude.proximity.split import cut
from similitude.reader import Training
from similitude.similarities.registry import SimilarityLike


class Mixture(NamedTuple):
    """Weights, means and distributions of the components, and the log-likelihood of the samples after each step."""

    weights: np.ndarray
    means: np.ndarray
    pmfs: Pmfs
    log_likelihoods: np.ndarray
    is_done: bool


def mixture(family: MaximumEntropy, similarities: np.ndarray, tol: float, max_iter: int) -> Mixture:
    """Return the mixture fitted to similarities, (samples, components), by expectation maximisation."""
    c = similarities.shape[1]
    weights, rates, log_z, from_above = np.empty(c), np.empty(c), np.empty(c), np.empty(c, dtype=bool)
    means, history = np.empty((2, c)), np.empty(max_iter)
    below, above = (np.ascontiguousarray(a) for a in family.distances(similarities))
    lower, upper = family.tables
    settings = family.floor, not family.continuous, lower, upper, tol
    steps = fit_mixture(below, above, *settings, weights, means, rates, log_z, from_above, history)
    pmfs = Pmfs(rates, log_z + family.log_unit, from_above)
    # The unit of the density is the same for every component.
    logs = history[:steps] - len(similarities) * family.log_unit
    return Mixture(weights, family.similarities(*means), pmfs, logs, steps <= max_iter)


@shared_docs
class MixtureSDA(GenerativeClassifier):
    """Classify by similarity discriminant analysis with several centroids in each class.

    The centroids mu_ml of class m are its c_m medoids: exchanging one of them cannot increase
    ``sum over z in class m of max over l of psi(z, mu_ml)``. For each class g, the similarities to the centroids of
    class m are modelled by a mixture of distributions of maximum entropy on Omega, fitted to the samples of class g by
    expectation maximisation::

        P(x | g) = product over m of  sum over l of  w_gml gamma_gml exp(lambda_gml psi(x, mu_ml))

    with weights w_gml >= 0 that sum to 1 over l, and P(g) = (n_g + 1) / (n + G). A step sets the responsibilities
    ``r_il`` proportional to ``w_l P_l(psi(z_i, mu_ml))``, w_l to their mean, and the mean of P_l to
    ``sum r_il psi(z_i, mu_ml) / sum r_il``. The first responsibilities are equal, and the centroids stay the same. With
    one component the classifier is :class:`SDA`.

    If P(x | g) is 0 for every class, the class of the most similar centroid is predicted. The similarity may be
    asymmetric: ``S[z, mu]`` is psi(z, mu). Prediction only needs the columns of the centroids (``support_columns_``).

    Parameters
    ----------
    n_components : int, array-like of shape (G,) or dict, default=2
        The number c_m of centroids of each class m: one number for all classes, or one for each, in the order of
        ``classes_`` or by label. In a class with fewer samples, all are centroids.
    {omega}
    {model_priors}
    {costs}
    tol : float, default=1e-8
        The relative change of the log-likelihood at which the iteration ends.
    max_iter : int, default=10000
        The number of steps after which the iteration stops with a warning.
    n_init : int, default=1
        The number of starts of the search for medoids; the first is greedy, the others are random.
    random_state : int, RandomState or None, default=None
        Seed for the random starts.
    {similarity}

    Attributes
    ----------
    {classes_}
    centroids_ : list of ndarrays
        The positions of each class's centroids in the training set.
    weights_ : list of ndarrays of shape (G, c_m)
        For each class m, ``[g, l]``: w_gml.
    lambdas_ : list of ndarrays of shape (G, c_m)
        For each class m, ``[g, l]``: lambda_gml; infinite for a point mass.
    log_likelihoods_ : ndarray of shape (G, G)
        ``[g, m]``: the log-likelihood of class g's similarities to the centroids of class m.
    n_iter_ : int
        The largest number of steps over all mixtures.
    {support_columns_}

    See Also
    --------
    SDA : Uses one centroid for each class.
    LocalSDA : Uses the nearest neighbours of each sample.

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
    26%
    5%
    """

    def __init__(
        self,
        n_components: int | ArrayLike | Mapping[Any, int] = 2,
        omega: ArrayLike | Literal["continuous"] | None = None,
        priors: PriorsLike = None,
        costs: CostsLike = None,
        *,
        tol: float = 1e-8,
        max_iter: int = 10_000,
        n_init: int = 1,
        random_state: RandomState = None,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
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

    def _point(self, parameters: dict[str, Any]) -> tuple[()]:
        check_positive(self.tol, "tol")
        for name in ("max_iter", "n_init"):
            check_integer(getattr(self, name), name, 1)
        if not isinstance(self.n_components, Mapping) and np.ndim(self.n_components) == 0:
            check_integer(self.n_components, "n_components", 1)
        return ()

    def _fit_path(self, training: Training, labels: Labels, points: list[Any]) -> CentroidsPath:
        S, members = for_lookup(training.S), labels.members
        family = family_on(self.omega, S)
        numbers = _component_numbers(self.n_components, labels.classes)
        centroids = [self._medoids(S, of_class, c) for of_class, c in zip(members, numbers)]
        mixtures = [
            [mixture(family, dense(cut(S, of_class, places)), self.tol, self.max_iter) for of_class in members]
            for places in centroids
        ]
        models = [_together(places, of_class) for places, of_class in zip(centroids, mixtures)]
        if not all(each.is_done for of_class in mixtures for each in of_class):
            warn(
                f"MixtureSDA: a mixture did not converge in {self.max_iter} steps; raise max_iter or tol.",
                ConvergenceWarning,
            )
        attributes = {
            "centroids_": centroids,
            "weights_": [of_class.weights for of_class in models],
            "lambdas_": [family.parameters(of_class.pmfs)[0] for of_class in models],
            "log_likelihoods_": np.array([[each.log_likelihoods[-1] for each in of_class] for of_class in mixtures]).T,
            "n_iter_": max(len(each.log_likelihoods) for of_class in mixtures for each in of_class),
        }
        return CentroidsPath(points, labels, family, models, attributes)

    def _medoids(self, S: Any, members: np.ndarray, n_components: int) -> np.ndarray:
        if n_components == 1:
            return np.array([class_centroid(S, members)])
        within = dense(cut(S, members, members))
        places, _ = k_medoids(within, n_components, self.random_state, n_init=int(self.n_init))
        return members[places]


def _together(centroids: np.ndarray, mixtures: list[Mixture]) -> CentroidModels:
    """Return the mixtures of all classes at the centroids of one class."""
    weights, means, pmfs, _, _ = zip(*mixtures)
    return CentroidModels(centroids, np.array(weights), np.array(means), Pmfs(*(np.array(part) for part in zip(*pmfs))))


def _component_numbers(given: Any, classes: np.ndarray) -> list[int]:
    """Return the number of components of each class."""
    if isinstance(given, Integral):
        return [int(given)] * len(classes)
    numbers = numbers_by_class(given, classes, "n_components")
    if numbers.shape != (len(classes),):
        raise ValueError(
            f"n_components must be one integer, or one for each of the {len(classes)} classes; got {given!r}."
        )
    if not np.all((numbers >= 1) & (numbers == np.floor(numbers)) & np.isfinite(numbers)):
        raise ValueError(f"n_components must hold integers of at least 1; got {given!r}.")
    return numbers.astype(int).tolist()
