"""Classifiers on similarities as features, by the names of the papers, with the quadratic discriminant of RQD."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn import discriminant_analysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from similitude._utils.checks import check_choice
from similitude._utils.types import RandomState
from similitude.base import FeatureClassifier, FeatureVectors, FittedPath
from similitude.features.vector_svc import GaussianSVC, LinearKernelSVC
from similitude.labels import Labels, check_two_classes
from similitude.one_vs_one import predicted
from similitude.transform.similarity_features import SimilarityFeatures


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

    def __init__(self, points: list[float], X: np.ndarray, labels: Labels):
        self.points = points
        self.priors = labels.shares
        self.means = np.array([X[members].mean(axis=0) for members in labels.members])
        self._covariances = [_Covariance(X[members] - mean) for members, mean in zip(labels.members, self.means)]

    def answers(self, rows: np.ndarray, response: str) -> list[np.ndarray]:
        return [self._at_point(rows, reg, response) for reg in self.points]

    def _at_point(self, rows: np.ndarray, reg: float, response: str) -> np.ndarray:
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


Recipe = tuple[Pipeline, dict[str, list]]


class LinearDiscriminantAnalysis(discriminant_analysis.LinearDiscriminantAnalysis):
    """Scikit-learn's linear discriminant analysis, with an error message for labels of one class."""

    def fit(self, X: Any, y: Any) -> LinearDiscriminantAnalysis:
        """Fit the model."""
        classes = np.unique(y)
        check_two_classes(classes)
        return super().fit(X, y)


def _powers(base: float, first: int, last: int, step: int = 1) -> list[float]:
    return [base**j for j in range(first, last + 1, step)]


def _linear_svm(random_state: Any, **contract: Any) -> Recipe:
    pipeline = make_pipeline(SimilarityFeatures(normalize="range", **contract), LinearKernelSVC())
    return pipeline, {"linearkernelsvc__C": _powers(10.0, -3, 3)}


def _rbf_svm(random_state: Any, **contract: Any) -> Recipe:
    pipeline = make_pipeline(SimilarityFeatures(normalize="range", **contract), GaussianSVC())
    return pipeline, {"gaussiansvc__C": _powers(10.0, -3, 1), "gaussiansvc__gamma": _powers(10.0, -5, 1)}


def _lsvm(random_state: Any, **contract: Any) -> Recipe:
    features = SimilarityFeatures(0.2, normalize="exp", random_state=random_state, **contract)
    return make_pipeline(features, LinearKernelSVC()), {"similarityfeatures__scale": _powers(2.0, -6, 8, 2)}


def _rfd(random_state: Any, **contract: Any) -> Recipe:
    features = SimilarityFeatures(normalize="range", **contract)
    return make_pipeline(features, LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")), {}


def _rqd(random_state: Any, **contract: Any) -> Recipe:
    features = SimilarityFeatures(0.05, "kmedoids", "range", random_state=random_state, **contract)
    pipeline = make_pipeline(features, StandardScaler(), RegularizedQuadratic())
    grid = {
        "similarityfeatures__n_prototypes": [0.02, 0.05, 0.1],
        "regularizedquadratic__reg_param": [0.01, 0.1, 0.3, 0.5],
    }
    return pipeline, grid


RECIPES: dict[str, Callable[..., Recipe]] = {
    "linear SVM": _linear_svm,
    "RBF SVM": _rbf_svm,
    "LSVM": _lsvm,
    "RFD": _rfd,
    "RQD": _rqd,
}
"""The function that makes each recipe, by its name: see :func:`recipe`."""


def recipe(name: str, *, random_state: RandomState = 0, **contract: Any) -> Recipe:
    """Return a pipeline on similarity features, and the grid of its parameters.

    ============  ===============================================================================================
    name
    ============  ===============================================================================================
    "linear SVM"  ``LinearKernelSVC`` of all similarities (Graepel et al. 1998; Chen et al. 2009, eq. 4); C 1e-3..1e3
    "RBF SVM"     ``GaussianSVC`` of them (Liao & Noble 2003); C 1e-3..10, gamma 1e-5..10
    "LSVM"        ``LinearKernelSVC``, C = 1, on exp(-d^2/sigma) to 20% random prototypes (Wang et al. 2009, after
                  Balcan & Blum); sigma = 2^j median(d)^2, j = -6, -4, ..., 8
    "RFD"         Fisher's discriminant with Ledoit & Wolf's covariance, on all similarities (Pekalska et al. 2001)
    "RQD"         quadratic discriminant on few prototypes, k-medoids of each class (Pekalska & Duin 2002); 2, 5 or
                  10% of the samples, reg_param 0.01, 0.1, 0.3, 0.5
    ============  ===============================================================================================

    Similarities are first mapped onto [0, 1] (for LSVM by the exponential), so that the grids suit any scale. The grids
    are those of Chen et al., Table 2, and of Wang et al., except that Table 2 goes up to C = 1e5 for "linear SVM",
    which is not chosen in practice.

    Parameters
    ----------
    name : str
        One of ``RECIPES``.
    random_state : int, RandomState or None, default=0
        Seed for the choice of prototypes.
    **contract
        ``similarity`` and ``dissimilarity``: see the page on input.

    Returns
    -------
    pipeline : Pipeline
        The pipeline, not fitted.
    grid : dict of lists
        The values of the parameters to choose from, by the names that the pipeline gives them.

    See Also
    --------
    similitude.SimilarityFeatures
        Represent a sample by its similarities to prototypes chosen among the training samples.
    similitude.auto.methods
        Return the methods by name, simplest first, each as an estimator with the grid of its parameters.

    Examples
    --------
    >>> from similitude import PathSearchCV
    >>> from similitude.datasets import load_voting
    >>> from similitude.features.recipes import recipe
    >>> voting = load_voting()
    >>> search = PathSearchCV(*recipe("LSVM", similarity="vdm"), cv=5).fit(voting.data, voting.target)
    >>> bool(search.best_score_ > 0.93)
    True
    """
    check_choice(name, "name", list(RECIPES))
    return RECIPES[name](random_state, **contract)
