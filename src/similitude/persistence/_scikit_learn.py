"""The classes of scikit-learn that a model file may hold, and the descriptions of their fitted attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude.persistence._state import Sizes

_LINEAR = {"classes_": "label[G]", "coef_": "double[scores, p]", "intercept_": "double[scores]"}
_LIBSVM = {
    "classes_": "label[G]",
    "_sparse": "bool",
    "support_": "int32[support] 0..",
    "support_vectors_": "matrix[*, *]",
    "_n_support": "int32[G] 0..",
    "dual_coef_": "matrix[G-1, support]",
    "_dual_coef_": "matrix[G-1, support]",
    "intercept_": "double[pairs]",
    "_intercept_": "double[pairs]",
    "_probA": "double[*]",
    "_probB": "double[*]",
    "_gamma": "float | double[]",
    "shape_fit_": "tuple(2) of int 0..",
    "class_weight_?": "double[G]",
    "degree?": "int 0..",
    "coef0?": "float",
    "tol?": "float 0..",
    "C?": "float",
    "nu?": "float",
    "epsilon?": "float",
    "cache_size?": "float 0..",
    "shrinking?": "bool",
}

FITTED: dict[str, dict[str, str]] = {
    "calibration.CalibratedClassifierCV": {
        "classes_": "label[G]",
        "estimator": "None | object",
        "calibrated_classifiers_": "list of _CalibratedClassifier",
    },
    "calibration._CalibratedClassifier": {
        "estimator": "object",
        "calibrators": "list of _SigmoidCalibration",
        "classes": "label[G]",
        "method": "text",
    },
    "calibration._SigmoidCalibration": {"a_": "float", "b_": "float"},
    "discriminant_analysis.LinearDiscriminantAnalysis": {
        **_LINEAR,
        "priors_?": "double[G] 0..",
        "means_?": "double[G, p]",
        "covariance_?": "double[p, p]",
        "xbar_?": "double[p]",
        "scalings_?": "double[p, *]",
    },
    "discriminant_analysis.QuadraticDiscriminantAnalysis": {
        "classes_": "label[G]",
        "priors_": "double[G] 0..",
        "means_": "double[G, p]",
        "rotations_": "list(G) of double[p, *]",
        "scalings_": "list(G) of double[*]",
    },
    "ensemble.BaggingClassifier": {
        "estimator": "None | object",
        "classes_": "label[G]",
        "n_classes_": "size G",
        "estimators_": "list(members) of object",
        "estimators_features_": "list(members) of integer[p] 0..p",
        "_seeds?": "any",
    },
    "ensemble.StackingClassifier": {
        "classes_": "label[G]",
        "_label_encoder": "LabelEncoder",
        "estimators_": "list(members) of object",
        "stack_method_": "list of text",
        "final_estimator_": "object",
        "named_estimators_?": "any",
    },
    "ensemble.VotingClassifier": {
        "classes_": "label[G]",
        "le_": "LabelEncoder",
        "estimators_": "list of object",
        "named_estimators_?": "any",
    },
    "feature_extraction.text.TfidfTransformer": {"idf_?": "double[p]"},
    "feature_extraction.text.TfidfVectorizer": {"vocabulary_": "dict of int 0..", "_tfidf": "TfidfTransformer"},
    "linear_model.LogisticRegression": {**_LINEAR, "n_iter_?": "int32[*]"},
    "linear_model.RidgeClassifier": {
        "classes_?": "label[G]",
        "coef_": "double[p] | double[scores, p]",
        "intercept_": "double[scores] | float",
        "_label_binarizer": "LabelBinarizer",
    },
    "model_selection.KFold": {},
    "model_selection.LeaveOneOut": {},
    "model_selection.ShuffleSplit": {},
    "model_selection.StratifiedKFold": {},
    "model_selection.StratifiedShuffleSplit": {},
    "naive_bayes.GaussianNB": {
        "classes_": "label[G]",
        "theta_": "double[G, p]",
        "var_": "double[G, p] 0..",
        "class_prior_": "double[G] 0..",
        "class_count_?": "double[G] 0..",
    },
    "neighbors.NearestCentroid": {
        "classes_": "label[G]",
        "centroids_": "double[G, p]",
        "class_prior_?": "double[G] 0..",
        "deviations_?": "double[G, p]",
        "within_class_std_dev_?": "double[p]",
    },
    "pipeline.Pipeline": {"steps": "list of any"},
    "preprocessing.LabelBinarizer": {"classes_": "label[G]", "y_type_?": "text", "sparse_input_?": "bool"},
    "preprocessing.LabelEncoder": {"classes_": "label[G]"},
    "preprocessing.MaxAbsScaler": {"scale_": "float[p]", "max_abs_?": "float[p]"},
    "preprocessing.MinMaxScaler": {
        "scale_": "float[p]",
        "min_": "float[p]",
        "data_min_?": "float[p]",
        "data_max_?": "float[p]",
        "data_range_?": "float[p]",
    },
    "preprocessing.Normalizer": {},
    "preprocessing.RobustScaler": {"center_?": "None | float[p]", "scale_?": "None | float[p]"},
    "preprocessing.StandardScaler": {
        "mean_": "None | float[p]",
        "var_": "None | float[p] 0..",
        "scale_": "None | float[p]",
    },
    "svm.LinearSVC": _LINEAR,
    "svm.NuSVC": _LIBSVM,
    "svm.SVC": _LIBSVM,
}
"""The descriptions of the attributes by class, without the prefix ``sklearn.``."""


def _libsvm_fits(model: Any, sizes: Sizes) -> bool:
    """Return whether the arrays that libsvm reads without checks belong together."""
    count, width = len(model.support_), sizes.get("p", 0)
    vectors, dual = model.support_vectors_, model._dual_coef_
    n_fit = model.shape_fit_[0]
    if model.kernel not in ("linear", "poly", "rbf", "sigmoid", "precomputed") or int(model._n_support.sum()) != count:
        return False
    if count and int(model.support_.max()) >= n_fit:
        return False
    if len(model._probA) != len(model._probB) or len(model._probA) not in (0, sizes.value("pairs")):
        return False
    if getattr(model, "_effective_probability", len(model._probA) > 0) is not (len(model._probA) > 0):
        return False
    if model._sparse:
        stored = sparse.issparse(vectors) and sparse.issparse(dual) and vectors.indices.dtype == np.int32
        return stored and vectors.shape == (count, width) and dual.nnz == dual.shape[0] * dual.shape[1]
    if sparse.issparse(vectors) or sparse.issparse(dual) or vectors.dtype != np.float64 or dual.dtype != np.float64:
        return False
    return vectors.shape == ((0, 0) if model.kernel == "precomputed" else (count, width)) and (
        model.kernel != "precomputed" or width == n_fit
    )


def _vectorizer_fits(model: Any, sizes: Sizes) -> bool:
    """Return whether the words have the columns 0, 1, ..., and texts are read as they are, not as names of files."""
    places = sorted(model.vocabulary_.values())
    idf = getattr(model._tfidf, "idf_", None)
    return (
        model.input == "content"
        and places == list(range(len(places)))
        and all(isinstance(word, str) for word in model.vocabulary_)
        and (idf is None or len(idf) == len(places))
        and isinstance(model.dtype, type)
        and issubclass(model.dtype, np.floating)
        and not any(callable(getattr(model, name)) for name in ("preprocessor", "tokenizer", "analyzer"))
    )


def _calibrated_fits(model: Any, sizes: Sizes) -> bool:
    """Return whether there is a calibrator for each column of scores."""
    known = len(getattr(model.estimator, "classes_", ())) == sizes["G"]
    return known and len(model.calibrators) == sizes.value("scores") and model.method == "sigmoid"


def _encoder_fits(model: Any, sizes: Sizes) -> bool:
    """Return whether an ensemble and its encoder of labels have the same classes."""
    encoder: Any = getattr(model, "le_", getattr(model, "_label_encoder", None))
    return np.array_equal(encoder.classes_, model.classes_)


def _ridge_fits(model: Any, sizes: Sizes) -> bool:
    classes = model._label_binarizer.classes_
    binary = len(classes) == 2
    return model.coef_.shape in (((sizes["p"],), (1, sizes["p"])) if binary else ((len(classes), sizes["p"]),))


def _pipeline_fits(model: Any, sizes: Sizes) -> bool:
    """Return whether each step is a name with an estimator, or with the word for one that is left out."""
    return len(model.steps) > 0 and all(
        type(step) in (tuple, list)
        and len(step) == 2
        and isinstance(step[0], str)
        and (hasattr(step[1], "fit") or step[1] in (None, "passthrough"))
        for step in model.steps
    )


def _bagging_fits(model: Any, sizes: Sizes) -> bool:
    """Return whether the classes of each member are positions among those of the ensemble."""
    classes = [np.asarray(member.classes_) for member in model.estimators_]
    return len(classes) > 0 and all(
        own.dtype.kind in "iu" and own.size > 0 and own.min() >= 0 and own.max() < sizes["G"] for own in classes
    )


RELATIONS = {
    "calibration._CalibratedClassifier": _calibrated_fits,
    "ensemble.BaggingClassifier": _bagging_fits,
    "ensemble.StackingClassifier": _encoder_fits,
    "ensemble.VotingClassifier": _encoder_fits,
    "feature_extraction.text.TfidfVectorizer": _vectorizer_fits,
    "linear_model.RidgeClassifier": _ridge_fits,
    "pipeline.Pipeline": _pipeline_fits,
    "svm.NuSVC": _libsvm_fits,
    "svm.SVC": _libsvm_fits,
}
"""The checks of what a description of single attributes cannot say."""
