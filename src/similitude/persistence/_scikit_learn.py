"""The classes of scikit-learn that a model file may hold, and checks of those that pass on what they do not check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import SVC, NuSVC

ALLOWED = frozenset(
    f"sklearn.{name}"
    for name in (
        "calibration.CalibratedClassifierCV",
        "calibration._CalibratedClassifier",
        "calibration._SigmoidCalibration",
        "discriminant_analysis.LinearDiscriminantAnalysis",
        "discriminant_analysis.QuadraticDiscriminantAnalysis",
        "ensemble.BaggingClassifier",
        "ensemble.StackingClassifier",
        "ensemble.VotingClassifier",
        "feature_extraction.text.TfidfTransformer",
        "feature_extraction.text.TfidfVectorizer",
        "linear_model.LogisticRegression",
        "linear_model.RidgeClassifier",
        "model_selection.KFold",
        "model_selection.LeaveOneOut",
        "model_selection.ShuffleSplit",
        "model_selection.StratifiedKFold",
        "model_selection.StratifiedShuffleSplit",
        "naive_bayes.GaussianNB",
        "neighbors.NearestCentroid",
        "pipeline.Pipeline",
        "preprocessing.LabelBinarizer",
        "preprocessing.LabelEncoder",
        "preprocessing.MaxAbsScaler",
        "preprocessing.MinMaxScaler",
        "preprocessing.Normalizer",
        "preprocessing.RobustScaler",
        "preprocessing.StandardScaler",
        "svm.LinearSVC",
        "svm.NuSVC",
        "svm.SVC",
    )
)
"""The names of the classes."""


def _svm_fits(model: Any) -> bool:
    """Return whether the arrays that libsvm reads without any check belong together."""
    if not hasattr(model, "support_"):
        return True  # it is not fitted
    if model.kernel not in ("linear", "poly", "rbf", "sigmoid", "precomputed"):
        return False
    count, n_classes = len(model.support_), len(model.classes_)
    pairs = n_classes * (n_classes - 1) // 2
    n_fit, width = model.shape_fit_[0], model.n_features_in_
    vectors, dual = model.support_vectors_, model._dual_coef_
    fits = (
        _has(model.support_, np.int32, (count,))
        and _has(model._n_support, np.int32, (n_classes,))
        and _has(model._intercept_, np.float64, (pairs,))
        and _has(model._probA, np.float64, (len(model._probB),))
        and len(model._probA) in (0, pairs)
        and getattr(model, "_effective_probability", len(model._probA) > 0) is (len(model._probA) > 0)
        and int(model._n_support.min()) >= 0
        and int(model._n_support.sum()) == count
        and (count == 0 or 0 <= model.support_.min() <= model.support_.max() < n_fit)
        and dual.shape == (n_classes - 1, count)
    )
    if model._sparse:
        return (
            fits
            and sparse.issparse(vectors)
            and sparse.issparse(dual)
            and vectors.indices.dtype == np.int32
            and vectors.shape == (count, width)
            and dual.nnz == dual.shape[0] * dual.shape[1]
        )
    if model.kernel == "precomputed":
        return fits and _has(vectors, np.float64, (0, 0)) and width == n_fit
    return fits and _has(vectors, np.float64, (count, width))


def _has(array: Any, dtype: type, shape: tuple[int, ...]) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape


def _reads_texts(model: Any) -> bool:
    """Return whether a vectorizer reads texts as they are, not as names of files, by its own rules."""
    rules = ("preprocessor", "tokenizer", "token_pattern")
    default = TfidfVectorizer()
    by_name = isinstance(model.analyzer, str) and model.analyzer in ("word", "char", "char_wb")
    return (
        model.input == "content" and by_name and all(getattr(model, name) == getattr(default, name) for name in rules)
    )


CHECKS: dict[type, Callable[[Any], bool]] = {NuSVC: _svm_fits, SVC: _svm_fits, TfidfVectorizer: _reads_texts}
"""The checks of single classes, which return whether an object can be used."""
