"""Local Bayesian discriminant analysis, which is Bayesian QDA on the nearest samples of each class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import gammaln

from similitude._native import log_densities, negative_squares
from similitude._utils.checks import check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks
from similitude._utils.types import CostsLike, LabelsLike, PriorsLike, SamplesLike
from similitude.base import FeatureClassifier, FeatureVectors, FittedPath
from similitude.generative.base import answered, normalised
from similitude.labels import Labels
from similitude.numerics.near_one import exponent_of, near_one
from similitude.numerics.topk import check_n_neighbors, nearest_of_class, nearest_votes
from similitude.numerics.votes import first_of_best, log_of

_BLOCK = 2**18
_LARGEST = 1e140


@shared_docs
class LocalBDA(FeatureClassifier):
    """Classify feature vectors by Bayesian quadratic discriminant analysis on each class's k nearest samples.

    Let N_g(x) be the k training samples of class g nearest to x in Euclidean distance, z their mean and S their scatter
    matrix. The Gaussian of the class is integrated out under an inverted Wishart prior with q = d + 3 and
    B = 0.95 q diag(S / k) + reg I, so that x has Student's t distribution::

        p(x | g) = t(x; k + 4 degrees of freedom, location z, scale matrix (k + 1) / (k (k + 4)) (S + B))
        P(g) = (n_g + 1) / (k + G),  n_g the number of samples of class g among the k nearest of all training samples

    The class of least expected cost is predicted, which without ``costs`` is the one of largest p(x | g) P(g).

    X is an ordinary matrix of features, not of similarities (though rows of similarities can serve as features).
    Features larger than 1e140 raise an error.

    Training samples that tie for the last place among the k nearest share it in P(g). In N_g(x), all samples of the
    class that tie for the last place are taken if there are at most 2k then, and otherwise none of them; if that leaves
    none, all that tie for the first place are taken. Of tied classes the one with the nearest sample wins, then the
    larger one. If k < d, everything is computed from k x k matrices. ``PathSearchCV`` evaluates a whole grid of
    ``n_neighbors`` at once: one neighbour sort for each class, and one pass over the nested neighbourhoods.

    Parameters
    ----------
    n_neighbors : int, default=10
        The number k of neighbours; a class with fewer samples uses all of them.
    {model_priors}
    {costs}
    reg : float, default=0.05
        The multiple of the identity in B, above 0. It is not scaled with the features: with ``t X`` and ``t^2 reg`` the
        posteriors are the same. The default suits standardised features; for others, choose it relative to the mean of
        their variances.

    Attributes
    ----------
    {classes_}
    n_neighbors_ : ndarray of shape (G,)
        min(n_neighbors, samples of the class), in the order of ``classes_``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features. Only available if X has column names that are strings.

    See Also
    --------
    LocalSDA : The counterpart on similarities.
    FusedClassifier : Multiplies the posteriors of this and other classifiers.

    References
    ----------
    Cazzanti, Gupta & Srivastava, "Fusing similarities and Euclidean features with generative classifiers", FUSION 2009,
    eq. 1 (whose sums run over the k nearest samples, and which lacks the constant (2 pi)^(-d/2)). Srivastava, Gupta &
    Frigyik, "Bayesian quadratic discriminant analysis", JMLR 8, 2007.

    Examples
    --------
    >>> from similitude import LocalBDA
    >>> X = [[0, 0], [1, 0], [0, 2], [4, 4], [5, 4], [4, 6]]
    >>> model = LocalBDA(n_neighbors=3).fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.log_likelihoods([[1, 1]]).round(4)
    array([[ -2.3341, -11.0022]])
    >>> model.predict_proba([[1, 1], [2.5, 3]]).round(3)
    array([[1.   , 0.   ],
           [0.149, 0.851]])
    """

    _path_parameters = ("n_neighbors",)
    _responses = ("predict", "predict_proba", "predict_log_proba")

    def __init__(self, n_neighbors: int = 10, priors: PriorsLike = None, costs: CostsLike = None, *, reg: float = 0.05):
        self.n_neighbors = n_neighbors
        self.priors = priors
        self.costs = costs
        self.reg = reg

    def fit(self, X: SamplesLike, y: LabelsLike) -> Self:
        """Keep the training samples of each class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The feature vectors.
        {y_train}

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _point(self, parameters: dict[str, Any]) -> int:
        check_positive(self.reg, "reg")
        return check_n_neighbors(parameters["n_neighbors"])

    def _fit_path(self, training: FeatureVectors, labels: Labels, points: list[int]) -> LocalBDAPath:
        return LocalBDAPath([min(k, len(labels)) for k in points], labels, training.X, float(self.reg))

    def _checked(self, X: np.ndarray) -> np.ndarray:
        largest = np.max(np.abs(X))
        if largest > _LARGEST:
            raise ValueError(
                f"X has features as large as {largest:.3g}, whose squares overflow above {_LARGEST:g}; rescale X."
            )
        return X

    def predict_joint_log_proba(self, X: SamplesLike) -> np.ndarray:
        """Return log of p(x | g) P(g) for each class g.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The feature vectors.

        Returns
        -------
        ndarray of shape (m, G)
            The logarithms, in the order of ``classes_``.
        """
        return self._respond(X, "predict_joint_log_proba")

    def log_likelihoods(self, X: SamplesLike) -> np.ndarray:
        """Return log p(x | g) for each class g.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The feature vectors.

        Returns
        -------
        ndarray of shape (m, G)
            The logarithms, in the order of ``classes_``.
        """
        return self._respond(X, "log_likelihoods")


class LocalBDAPath(FittedPath):
    """The training samples of each class; a point is a number of neighbours."""

    def __init__(self, points: list[int], labels: Labels, X: np.ndarray, reg: float):
        self.points, self.labels, self.reg = points, labels, reg
        self._samples = [X[members] for members in labels.members]
        self._exponent = exponent_of(X)
        self._columns = [np.ascontiguousarray(near_one(samples, self._exponent).T) for samples in self._samples]

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self._class_sizes(np.array(self.points))[:, 0]}

    def _class_sizes(self, sizes: np.ndarray) -> np.ndarray:
        """Return how many neighbours of each class there are for each k, (G, sizes)."""
        return np.minimum(sizes, self.labels.counts[:, None])

    def answers(self, rows: np.ndarray, response: str) -> list[np.ndarray]:
        sizes, places = np.unique(self.points, return_inverse=True)
        scaled = near_one(rows, self._exponent)
        parts = {}

        def work(start: int, stop: int) -> None:
            logs, closeness = self._models(rows[start:stop], scaled[start:stop], sizes)
            parts[start] = self._decided(logs, closeness, sizes, response)

        # Blocks have at most 256 rows, so that the neighbour selection starts no threads of its own.
        over_row_blocks(work, len(rows), min(256, max(1, _BLOCK // self.labels.counts.max())))
        answers = np.concatenate([parts[start] for start in sorted(parts)])
        return [answers[:, place] for place in places]

    def _models(self, rows: np.ndarray, scaled: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log p(x | g) of a few rows, (m, sizes, G), and how close they are to the samples of each class."""
        own_sizes = self._class_sizes(sizes)
        logs, closeness = np.empty((len(own_sizes), len(rows), len(sizes))), []
        for g, (samples, columns) in enumerate(zip(self._samples, self._columns)):
            squares = np.empty((len(rows), len(samples)))
            negative_squares(scaled, columns, squares)
            closeness.append(squares)
            _, nearest, taken = nearest_of_class(squares, own_sizes[g])
            constants = _constants(taken, rows.shape[1])
            log_densities(samples, nearest, rows, taken, constants, self.reg, logs[g])
        return np.moveaxis(logs, 0, 2), np.concatenate(closeness, axis=1)

    def _decided(self, logs: np.ndarray, closeness: np.ndarray, sizes: np.ndarray, response: str) -> Any:
        if response == "log_likelihoods":
            return logs
        priors, costs, n_classes = self.labels.priors, self.labels.costs, self.labels.n_classes
        codes = np.repeat(np.arange(n_classes), self.labels.counts)
        values, classes, counts = nearest_votes(closeness, sizes, codes, n_classes)
        if priors is None:
            joint = logs + np.log((counts + 1) / (sizes[:, None] + n_classes))
        else:
            joint = logs + log_of(priors)
        if response == "predict_joint_log_proba":
            return joint
        # Some prior is positive, and every density is, so some joint probability is positive.
        return answered(
            normalised(joint),
            response,
            costs,
            lambda scores: first_of_best(scores, classes, values, counts, sizes, self.labels.counts),
        )


def _constants(k: np.ndarray, d: int) -> np.ndarray:
    """Return those terms of the log-density of Student's t that depend on k and d alone."""
    return gammaln((k + 4 + d) / 2) - gammaln((k + 4) / 2) - d / 2 * np.log(np.pi * (k + 1) / k)
