"""Similarity discriminant analysis, which models the similarity to each class's centroid in each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from similitude._utils.docs import shared_docs
from similitude.generative.base import GenerativeClassifier
from similitude.generative.centroids import CentroidModels, CentroidsPath
from similitude.generative.max_entropy import Pmfs
from similitude.generative.omega import family_on
from similitude.neighbors.nearest_centroid import class_centroids
from similitude.proximity.check import dense, for_lookup
from similitude.proximity.split import cut

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from similitude._utils.types import CostsLike, PriorsLike
    from similitude.labels import Labels
    from similitude.reader import Training
    from similitude.similarities.registry import SimilarityLike


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

    def _point(self, parameters: dict[str, Any]) -> tuple[()]:
        return ()

    def _fit_path(self, training: Training, labels: Labels, points: list[Any]) -> CentroidsPath:
        S, members = for_lookup(training.S), labels.members
        family = family_on(self.omega, S)
        centroids = class_centroids(S, labels)
        ends = family.distances(dense(cut(S, np.arange(len(labels)), centroids)))
        below, above = (np.array([a[of_class].mean(axis=0) for of_class in members]) for a in ends)
        pmfs, means = family.fit(below, above), family.similarities(below, above)
        models = [
            CentroidModels(column, np.ones((len(means), 1)), means[:, [h]], Pmfs(*(part[:, [h]] for part in pmfs)))
            for h, column in enumerate(centroids[:, None])
        ]
        attributes = {"centroids_": centroids, "means_": means, "lambdas_": family.parameters(pmfs)[0]}
        return CentroidsPath(points, labels, family, models, attributes)
