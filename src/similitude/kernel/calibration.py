"""Probabilities from decision values, on square similarity matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from similitude.meta import PairwiseMeta

_FOLDS = 5


def calibrates(estimator: Any) -> bool:
    """Whether ``predict_proba`` is there: what counts is the fit that was made, not a parameter set after it."""
    if not getattr(estimator, "_has_probability", estimator.probability):
        raise AttributeError("predict_proba needs probability=True, which calibrates the decision values in fit.")
    return True


def calibration_folds(classes: np.ndarray, labels: np.ndarray) -> StratifiedKFold:
    """Five folds, or as many as the smallest class has samples; ``labels`` are positions in ``classes``."""
    counts = np.bincount(labels)
    if counts.min() < 2:
        raise ValueError(
            "probability=True needs at least two samples of each class, to calibrate by cross-validation; class "
            f"{classes.tolist()[np.argmin(counts)]!r} has {counts.min()}."
        )
    return StratifiedKFold(min(_FOLDS, counts.min()))


def calibrated(estimator: Any, S: np.ndarray, y: Any) -> PairwiseMeta:
    """``estimator`` with a sigmoid fitted to its decision values on the left-out folds of S; it is refitted on all."""
    folds = calibration_folds(*np.unique(np.asarray(y), return_inverse=True))
    return PairwiseMeta(CalibratedClassifierCV(estimator, cv=folds, ensemble=False)).fit(S, y)
