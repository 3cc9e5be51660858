"""The scores of the labels and posteriors that an entrant predicted."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from benchmarks.arena.data import Split
from benchmarks.arena.store import Result

BINS = 10


def brier_score(posteriors: np.ndarray, classes: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean over samples of the squared distance between the posteriors and the indicator of the class.

    It is between 0 and 2. A class of which there is no training sample has the posterior 0.
    """
    hits = labels[:, None] == classes
    return float(np.mean(np.sum((posteriors - hits) ** 2, axis=1) + ~hits.any(axis=1)))


def calibration_error(posteriors: np.ndarray, classes: np.ndarray, labels: np.ndarray, n_bins: int = BINS) -> float:
    """Return the expected calibration error (ECE).

    Samples are put into bins of equal width by their largest posterior. The absolute differences between the mean
    largest posterior and the share of right labels are averaged over the bins, weighted by their numbers of samples.
    """
    confidence = posteriors.max(axis=1)
    right = classes[posteriors.argmax(axis=1)] == labels
    # The edges belong to the bin below them, so that 1 is in the last one; rounding makes 0.3 an edge.
    bins = np.clip(np.ceil(np.round(confidence * n_bins, 9)).astype(int) - 1, 0, n_bins - 1)
    gaps = np.bincount(bins, weights=confidence - right, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(labels))


def score(entrant: str, kind: str, fitted: Any, split: Split, seconds: float, note: str = "") -> Result:
    """Return the result of a fitted classifier on the test part of a split.

    ``seconds`` is the time that the choice of parameters and the fit took; that of the prediction of labels is added.
    """
    start = time.process_time()
    predicted = np.asarray(fitted.predict(split.X_test))
    seconds += time.process_time() - start
    if hasattr(fitted, "predict_proba"):
        posteriors = np.asarray(fitted.predict_proba(split.X_test))
        return score_posteriors(entrant, kind, posteriors, fitted.classes_, split, seconds, note, predicted)
    return Result(entrant, kind, float(np.mean(predicted != split.y_test)), math.nan, math.nan, seconds, note)


def score_posteriors(
    entrant: str,
    kind: str,
    posteriors: np.ndarray,
    classes: np.ndarray,
    split: Split,
    seconds: float,
    note: str = "",
    predicted: np.ndarray | None = None,
) -> Result:
    """Return the result of posteriors of the test part; without labels the most probable class is predicted."""
    if predicted is None:
        predicted = classes[np.argmax(posteriors, axis=1)]
    brier = brier_score(posteriors, classes, split.y_test)
    ece = calibration_error(posteriors, classes, split.y_test)
    return Result(entrant, kind, float(np.mean(predicted != split.y_test)), brier, ece, seconds, note)
