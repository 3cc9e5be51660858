"""Pipelines on similarity features that are known from the literature, each with a grid of parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import discriminant_analysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from similitude._utils.checks import check_choice
from similitude.features.gaussian_svc import GaussianSVC
from similitude.features.linear_svc import LinearKernelSVC
from similitude.features.quadratic import RegularizedQuadratic
from similitude.labels import check_two_classes
from similitude.transform.similarity_features import SimilarityFeatures

if TYPE_CHECKING:
    from similitude._utils.types import RandomState

Recipe = tuple[Pipeline, dict[str, list]]


class LinearDiscriminantAnalysis(discriminant_analysis.LinearDiscriminantAnalysis):
    """Scikit-learn's linear discriminant analysis, with an error message for labels of one class."""

    _saved_state = {
        "classes_": "label[G]",
        "coef_": "double[scores, p]",
        "intercept_": "double[scores]",
        "n_features_in_": "size p",
        "priors_": "double[G] 0..",
        "means_": "double[G, p]",
        "covariance_?": "double[p, p]",
        "_max_components": "int 0..",
        "_n_features_out": "int 0..",
    }

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
