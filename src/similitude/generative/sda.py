"""Similarity discriminant analysis, which models the similarity to each class's centroids in each class."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.docs import shared_docs
from similitude._utils.types import ColumnPositions, CostsLike, LabelsLike, PriorsLike, SamplesLike
from similitude.generative.base import GenerativeClassifier, GenerativePath, answered, first_of_tied, log_posterior
from similitude.generative.max_entropy import MaximumEntropy, Pmfs, family_on
from similitude.labels import Labels
from similitude.neighbors.nearest_centroid import class_centroids
from similitude.numerics.votes import log_of
from similitude.proximity.check import dense, for_lookup
from similitude.proximity.split import cut
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike


class CentroidModels(NamedTuple):
    """The c centroids of one class, and for each class g a mixture of distributions of the similarities to them.

    ``centroids`` (c,) are positions in the training set; ``weights``, ``means`` and ``pmfs`` have the shape (G, c).
    """

    centroids: ColumnPositions
    weights: np.ndarray
    means: np.ndarray
    pmfs: Pmfs


class CentroidsPath(GenerativePath):
    """The models of the similarities to the centroids of each class, which have no parameters on the path."""

    def __init__(
        self,
        points: list,
        labels: Labels,
        family: MaximumEntropy,
        models: list[CentroidModels],
        attributes: dict[str, Any],
    ):
        self.points, self.labels, self.family, self.models = points, labels, family, models
        self._attributes = attributes

    def attributes(self) -> dict[str, Any]:
        return self._attributes

    @property
    def columns(self) -> np.ndarray:
        return np.concatenate([of_class.centroids for of_class in self.models])

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        similarities = self._similarities(rows)
        joint = self._log_likelihoods(similarities).sum(axis=2) + self.log_priors
        if response == "predict_joint_log_proba":
            return [joint] * len(self.points)
        nearest = np.argmax([values.max(axis=1) for values in similarities], axis=0)
        logs = log_posterior(joint, np.all(joint == -np.inf, axis=1), nearest, self.labels.priors)
        return [answered(logs, response, self.labels.costs, first_of_tied)] * len(self.points)

    def _similarities(self, rows: Any) -> list[np.ndarray]:
        """Return the similarities of the rows to the centroids of each class, (rows, c) each."""
        ends = np.cumsum([len(of_class.centroids) for of_class in self.models[:-1]])
        return np.split(dense(rows.columns(self.columns)), ends, axis=1)

    def _log_likelihoods(self, similarities: list[np.ndarray]) -> np.ndarray:
        """Return the logarithm of the mixture of class g at the similarities to the centroids of h, (rows, g, h)."""
        logs = np.empty((len(similarities[0]), len(self.models), len(self.models)))
        for h, (values, of_class) in enumerate(zip(similarities, self.models)):
            places = (a[:, None, :] for a in self.family.distances(values))
            parts = log_of(of_class.weights) + self.family.log_pmf(of_class.pmfs, *places)
            largest = parts.max(axis=2)
            largest = np.where(largest == -np.inf, 0.0, largest)
            logs[:, :, h] = largest + log_of(np.exp(parts - largest[..., None]).sum(axis=2))
        return logs

    def models_of(self, rows: Rows) -> dict[str, Any]:
        similarities = self._similarities(rows)
        return {
            "centroids": self.columns,
            "centroid_classes": np.repeat(np.arange(len(self.models)), [values.shape[1] for values in similarities]),
            "similarities": np.concatenate(similarities, axis=1)[0],
            "weights": np.concatenate([of_class.weights for of_class in self.models], axis=1),
            "means": np.concatenate([of_class.means for of_class in self.models], axis=1),
            "log_likelihoods": self._log_likelihoods(similarities)[0],
            "log_priors": self.log_priors,
            "pmfs": Pmfs(*(np.concatenate(parts, axis=1) for parts in zip(*(each.pmfs for each in self.models)))),
        }


@shared_docs
class SDA(GenerativeClassifier):
    """Classify by the distributions of the similarities to the classes' centroids in each class.

    The centroid mu_m of class m is its training sample of largest total similarity to the class. For each class g, the
    similarity to each centroid has the distribution of maximum entropy on Omega with the mean of the class::

        P_gm(s) = gamma_gm exp(lambda_gm s),   sum over Omega of s P_gm(s) = mean over z in class g of psi(z, mu_m)

        P(x | g) = product over m of P_gm(psi(x, mu_m)),   P(g) = (n_g + 1) / (n + G)

    The class of least expected cost is predicted, which without ``costs`` is the one of largest P(x | g) P(g); if
    several are tied, the first of them. If the mean is at an end of Omega, the distribution is a point mass there. The
    formula also applies to a similarity that is not in Omega. If P(x | g) is 0 for every class, the class of the most
    similar centroid is predicted.

    The similarity may be asymmetric: ``S[z, mu]`` is psi(z, mu). Prediction only needs the columns of the centroids
    (``support_columns_``).

    Parameters
    ----------
    {omega}
    {model_priors}
    {costs}
    {similarity}

    Attributes
    ----------
    {classes_}
    centroids_ : ndarray of shape (G,)
        The positions of the centroids in the training set.
    means_ : ndarray of shape (G, G)
        ``[g, m]``: the mean similarity of class g to the centroid of class m.
    lambdas_ : ndarray of shape (G, G)
        ``[g, m]``: lambda_gm; infinite for a point mass.
    {support_columns_}

    See Also
    --------
    LocalSDA : Uses the nearest neighbours of each sample.
    MixtureSDA : Uses several centroids for each class.
    NearestCentroid : Predicts the class of the most similar centroid.

    References
    ----------
    Cazzanti, Gupta & Koppal, "Generative models for similarity-based classification", Pattern Recognition 41, 2008.
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 6, eq. 17 to 20.

    Examples
    --------
    >>> from similitude import SDA
    >>> S = [[5, 4, 3, 1, 0, 1], [4, 5, 3, 2, 1, 1], [3, 3, 5, 2, 2, 1],
    ...      [1, 2, 2, 5, 3, 4], [0, 1, 2, 3, 5, 2], [1, 1, 1, 4, 2, 5]]
    >>> model = SDA().fit(S, ["a", "a", "a", "b", "b", "b"])
    >>> model.centroids_, model.means_.round(2).tolist()
    (array([1, 3]), [[4.0, 1.67], [1.33, 4.0]])
    >>> model.predict_proba([[3, 4, 2, 3, 1, 2]]).round(3)
    array([[0.785, 0.215]])
    """

    def __init__(
        self,
        omega: ArrayLike | Literal["continuous"] | None = None,
        priors: PriorsLike = None,
        costs: CostsLike = None,
        *,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.omega = omega
        self.priors = priors
        self.costs = costs
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        {X_train}
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The weights of the samples in the centroids, the means and the priors; samples of weight 0 are left out.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

    def _point(self, parameters: dict[str, Any]) -> tuple[()]:
        return ()

    def _fit_path(self, training: Training, labels: Labels, points: list[Any]) -> CentroidsPath:
        S, members, weights = for_lookup(training.S), labels.members, labels.sample_weight
        kept = None if weights is None or weights.all() else np.flatnonzero(weights)
        family = family_on(self.omega, S if kept is None else for_lookup(cut(S, kept, kept)))
        centroids = class_centroids(S, labels)
        ends = family.distances(dense(cut(S, np.arange(len(labels)), centroids)))
        if weights is None:
            below, above = (np.array([a[of_class].mean(axis=0) for of_class in members]) for a in ends)
        else:
            shares = np.stack([np.where(labels.codes == g, weights, 0.0) for g in range(labels.n_classes)])
            below, above = (shares @ a / shares.sum(axis=1, keepdims=True) for a in ends)
        pmfs, means = family.fit(below, above), family.similarities(below, above)
        models = [
            CentroidModels(column, np.ones((len(means), 1)), means[:, [h]], Pmfs(*(part[:, [h]] for part in pmfs)))
            for h, column in enumerate(centroids[:, None])
        ]
        attributes = {"centroids_": centroids, "means_": means, "lambdas_": family.parameters(pmfs)[0]}
        return CentroidsPath(points, labels, family, models, attributes)
