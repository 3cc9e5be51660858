"""The linear models of the landmark classifier that need all features at once, and their probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from similitude.features.landmark_moments import Linear
from similitude.transform.landmarks import row_blocks

# The limits of C for features of size 1. Beyond them the model is that without a penalty, or without features.
_LEAST, _MOST = 1e-10, 1e10
_MAX_ITER = 1000


def features_in_place(C: np.ndarray, projection: np.ndarray) -> np.ndarray:
    """Return ``C projection`` in the memory of C, which has at least as many columns."""
    k = projection.shape[1]
    for rows in row_blocks(*C.shape):
        C[rows, :k] = C[rows] @ projection
    return C[:, :k]


def linear_models(
    model: str, F: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, values_of_C: list[float]
) -> list[Linear]:
    """Return the coefficients of the features and the intercepts for each C; F is scaled by a power of two in place."""
    exponent = math.frexp(float(max(F.max(), -F.min())))[1]
    np.ldexp(F, -exponent, out=F)
    solutions = []
    for C in values_of_C:
        with np.errstate(over="ignore", under="ignore"):
            own = float(np.clip(np.ldexp(C, 2 * exponent), _LEAST, _MOST))
        estimator: Any
        if model == "logistic":
            estimator = LogisticRegression(C=own, solver="newton-cg", tol=1e-8, max_iter=_MAX_ITER)
        else:
            estimator = LinearSVC(C=own, dual=False, tol=1e-6, max_iter=_MAX_ITER)
        estimator.fit(F, labels, sample_weight=weights)
        solutions.append(Linear(np.ldexp(estimator.coef_, -exponent), estimator.intercept_))
    return solutions


def probabilities(decisions: np.ndarray) -> np.ndarray:
    """Return the probabilities, (n, G), that belong to logistic decision values, (n,) or (n, G)."""
    if decisions.ndim == 2:
        return softmax(decisions, axis=1)
    later = expit(decisions)
    return np.column_stack([expit(-decisions), later])
