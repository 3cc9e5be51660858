"""The quadratic discriminant, regularised so that classes may have fewer samples than there are features."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import softmax

from similitude.base import FeatureClassifier, FeatureVectors, FittedPath
from similitude.labels import Labels
from similitude.one_vs_one import predicted


class RegularizedQuadratic(FeatureClassifier):
    """Classify feature vectors by a Gaussian for each class, with a covariance shrunk towards the identity.

    With n_g samples, mean mu_g and covariance S_g (divided by n_g) of class g, the predicted class has the largest

        log (n_g / n) - (x - mu_g)^T C_g^-1 (x - mu_g) / 2 - log det C_g / 2,   C_g = (1 - reg_param) S_g + reg_param I

    If it is equal for two classes, the second one is predicted. Unlike scikit-learn's
    ``QuadraticDiscriminantAnalysis``, this works for classes with fewer samples than features (similarities to many
    prototypes), and even with a single sample. The identity is a sensible target for features of unit variance: put a
    ``StandardScaler`` before it.

    Parameters
    ----------
    reg_param : float, default=0.1
        The weight of the identity, in (0, 1]; with 1 only the distances to the means are compared.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    means_ : ndarray of shape (G, d)
        The mean of each class.
    priors_ : ndarray of shape (G,)
        The shares of the classes.

    See Also
    --------
    sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis : Needs more samples than features in each class.
    similitude.SimilarityFeatures : Computes features from similarities.

    References
    ----------
    Pekalska & Duin, "Dissimilarity representations allow for building good classifiers", Pattern Recognition Letters
    23, 2002. Friedman, "Regularized discriminant analysis", JASA 84, 1989.

    Examples
    --------
    >>> from similitude.features import RegularizedQuadratic
    >>> model = RegularizedQuadratic().fit([[0.0, 0.0], [0.0, 1.0], [3.0, 3.0]], ["a", "a", "b"])
    >>> model.predict([[0.0, 4.0], [2.0, 3.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _path_parameters = ("reg_param",)
    _responses = ("predict", "predict_proba", "decision_function")
    _least_classes = 2

    def __init__(self, reg_param: float = 0.1):
        self.reg_param = reg_param

    def _point(self, parameters: dict[str, Any]) -> float:
        reg = parameters["reg_param"]
        if not isinstance(reg, Real) or isinstance(reg, bool) or not 0 < float(reg) <= 1:
            raise ValueError(f"reg_param must be a number in (0, 1]; got {reg!r}.")
        return float(reg)

    def _fit_path(self, training: FeatureVectors, labels: Labels, points: list[float]) -> QuadraticPath:
        return QuadraticPath(points, training.X, labels)


class QuadraticPath(FittedPath):
    """The mean, the share and the decomposed covariance of each class; ``reg_param`` is only used in the answers."""

    _saved_state = {
        "points": "list(1) of float 0..",
        "priors": "double[G] 0..",
        "means": "double[G, p]",
        "_covariances": "list(G) of _Covariance",
    }

    def __init__(self, points: list[float], X: np.ndarray, labels: Labels):
        self.points = points
        self.priors = labels.shares
        self.means = np.array([X[members].mean(axis=0) for members in labels.members])
        self._covariances = [_Covariance(X[members] - mean) for members, mean in zip(labels.members, self.means)]

    def answers(self, rows: np.ndarray, response: str) -> list[np.ndarray]:
        return [self._answer(rows, reg, response) for reg in self.points]

    def _answer(self, rows: np.ndarray, reg: float, response: str) -> np.ndarray:
        densities = [own.log_density(rows - mean, reg) for own, mean in zip(self._covariances, self.means)]
        joint = np.log(self.priors) + np.column_stack(densities)
        if response == "predict_proba":
            return softmax(joint, axis=1)
        scores = joint[:, 1] - joint[:, 0] if len(self.priors) == 2 else joint
        return predicted(scores) if response == "predict" else scores

    def attributes(self) -> dict[str, Any]:
        return {"means_": self.means, "priors_": self.priors}


class _Covariance:
    """The matrix ``(1 - reg) S + reg I`` of centred rows, given by the eigenvectors of S with nonzero eigenvalues."""

    _saved_state = {"vectors": "double[.k, p]", "values": "double[.k] 0.."}

    def __init__(self, centred: np.ndarray):
        values, self.vectors = np.linalg.svd(centred, full_matrices=False)[1:]
        self.values = values**2 / len(centred)

    def log_density(self, Z: np.ndarray, reg: float) -> np.ndarray:
        """Return the logarithm of the Gaussian density at rows Z, without (2 pi)^(-d/2)."""
        values = (1 - reg) * self.values + reg
        log_det = float(np.log(values).sum()) + (Z.shape[1] - len(values)) * np.log(reg)
        along = Z @ self.vectors.T
        beyond = np.sum((Z - along @ self.vectors) ** 2, axis=1)
        return -0.5 * (np.sum(along**2 / values, axis=1) + beyond / reg + log_det)
