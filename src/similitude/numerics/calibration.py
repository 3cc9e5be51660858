"""Probabilities from scores, calibrated on left-out folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

_FOLDS = 5


class Calibrator:
    """A sigmoid of each score, normalised over the classes."""

    def __init__(self, scores: np.ndarray, labels: np.ndarray, folds: Any, sample_weight: np.ndarray | None):
        known = CalibratedClassifierCV(_Known(), cv=folds, ensemble=False)
        self._fitted = known.fit(_as_columns(scores), labels, sample_weight=sample_weight)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for new scores."""
        return self._fitted.predict_proba(_as_columns(scores))


def calibrators(
    scores_of: Callable[[np.ndarray, np.ndarray], list[np.ndarray]],
    classes: np.ndarray,
    labels: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> list[Calibrator]:
    """Return for each point of a grid a calibrator of its scores, fitted to the scores of left-out folds.

    There are five folds, or as many as the smallest class has samples. The result equals that of
    ``PairwiseMeta(CalibratedClassifierCV(estimator, ensemble=False))``, but the work that the points share is done
    once, and the estimator is not fitted to all samples again. Samples of weight 0 are treated as absent.
    """
    present = np.arange(len(labels))
    if sample_weight is not None:
        present = np.flatnonzero(sample_weight)
        labels, sample_weight = labels[present], sample_weight[present]
    counts = np.bincount(labels)
    if counts.min() < 2:
        raise ValueError(
            "probability=True needs at least two samples of each class, to calibrate by cross-validation; class "
            f"{classes.tolist()[np.argmin(counts)]!r} has {counts.min()}."
        )
    folds = StratifiedKFold(min(_FOLDS, counts.min()))
    parts, places = [], []
    for train, test in folds.split(labels, labels):
        parts.append(scores_of(present[train], present[test]))
        places.append(test)
    order = np.argsort(np.concatenate(places))
    return [Calibrator(np.concatenate(scores)[order], labels, folds, sample_weight) for scores in zip(*parts)]


class _Known(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are known already and given as its input."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class with the best score; scikit-learn requires this method, but does not call it here."""
        return self.classes_[(X[:, 0] >= 0).astype(int) if X.shape[1] == 1 else np.argmax(X, axis=1)]


def _as_columns(scores: np.ndarray) -> np.ndarray:
    return scores.reshape(len(scores), -1)
