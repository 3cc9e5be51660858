"""Probabilities from the scores of left-out folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
        """Return of decision values (m,), or of scores (m, G), the probabilities (m, G)."""
        return self._fitted.predict_proba(_as_columns(scores))


def calibrators(
    scores_of: Callable[[np.ndarray, np.ndarray], list[np.ndarray]],
    classes: np.ndarray,
    labels: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> list[Calibrator]:
    """For each point of a grid a calibrator of its scores, fitted to scores of left-out folds.

    ``scores_of(train, test)`` gives, point by point, the scores of the test samples by what the training samples teach;
    ``labels`` are positions in ``classes``. There are five folds, or as many as the smallest class has samples. It
    equals ``PairwiseMeta(CalibratedClassifierCV(estimator, ensemble=False))``, but does what points share once, and
    does not fit the machine of all samples again. Samples of weight 0 are as good as absent.
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
    """Scores that are known already, in place of the estimator that gives them."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X):
        """Never asked, but scikit-learn wants classifiers to have it."""
        return self.classes_[(X[:, 0] >= 0).astype(int) if X.shape[1] == 1 else np.argmax(X, axis=1)]


def _as_columns(scores: np.ndarray) -> np.ndarray:
    return scores.reshape(len(scores), -1)
