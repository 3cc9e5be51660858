"""Probabilities from decision values, on square similarity matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from similitude.meta import PairwiseMeta


def calibrated(estimator: Any, S: np.ndarray, y: Any) -> PairwiseMeta:
    """``estimator`` with a sigmoid fitted to its decision values on the left-out folds of S; it is refitted on all.

    Folds are five, or as many as the smallest class has samples.
    """
    smallest = int(np.min(np.unique(np.asarray(y), return_counts=True)[1]))
    if smallest < 2:
        raise ValueError(
            "probability=True needs at least two samples of every class, to calibrate by cross-validation."
        )
    folds = StratifiedKFold(min(5, smallest))
    return PairwiseMeta(CalibratedClassifierCV(estimator, cv=folds, ensemble=False)).fit(S, y)
