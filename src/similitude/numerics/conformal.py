"""Sets of classes from scores of left-out samples (conformal prediction).

A nonconformity score is large if a class does not suit a sample. The p-value of class g for a sample x compares its
score with those of left-out samples, with their true classes::

    p_g(x) = (1 + #{i : a_i >= a_g(x)}) / (1 + n)

where i runs over the n samples of class g, or over all samples. The set of x holds the classes whose p-value exceeds
1 - confidence.

References: Vovk, "Cross-conformal predictors", Annals of Mathematics and Artificial Intelligence 74, 2015; Sadinle, Lei
& Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", JASA 114, 2019 (LAC); Romano, Sesia &
Candès, "Classification with valid and adaptive coverage", NeurIPS 2020 (APS).
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

SCORES = ("lac", "aps")
"""The names of the nonconformity scores."""

NEARLY = 0.01
"""Scores of different fits that differ by no more than this count as equal: by LAC posteriors that differ by 1%."""

_DIGITS = 10
"""Scores are rounded to this many decimals, so that equal posteriors that were added in another order stay equal."""


def check_confidence(confidence: Any, name: str = "confidence") -> float:
    """Return the confidence, or raise a ValueError if it is not between 0 and 1."""
    if isinstance(confidence, bool) or not isinstance(confidence, Real) or not 0 < float(confidence) < 1:
        raise ValueError(
            f"{name} must be a number above 0 and below 1, such as 0.9 for sets that hold the class of 90% of the "
            f"samples; got {confidence!r}."
        )
    return float(confidence)


def samples_needed(confidence: float) -> int:
    """Return the smallest number of left-out samples with which a class can be excluded from a set."""
    return int(np.ceil(1 / (1 - confidence) - 1 - 1e-9))


def nonconformity(log_posteriors: np.ndarray, method: str) -> np.ndarray:
    """Return the nonconformity scores of all classes."""
    largest = log_posteriors.max(axis=1, keepdims=True)
    shifted = log_posteriors - np.where(np.isfinite(largest), largest, 0.0)
    posteriors = np.exp(shifted)
    total = posteriors.sum(axis=1, keepdims=True)
    if method == "lac":
        return np.round(np.log(total) - shifted, _DIGITS)
    posteriors = np.round(posteriors / total, _DIGITS)
    scores = np.empty_like(posteriors)
    for g in range(posteriors.shape[1]):
        own = posteriors[:, g : g + 1]
        scores[:, g] = np.sum(posteriors * (posteriors > own) + posteriors * (posteriors == own) / 2, axis=1)
    return np.round(scores, _DIGITS)


def counts_of_larger(
    scores: np.ndarray, known: np.ndarray, codes: np.ndarray | None, tolerance: float = 0.0
) -> np.ndarray:
    """Return how many known scores are at least as large as each score."""
    found = np.empty(scores.shape, dtype=np.intp)
    for g in range(scores.shape[1]):
        reference = np.sort(known if codes is None else known[codes == g])
        found[:, g] = len(reference) - np.searchsorted(reference, scores[:, g] - tolerance, side="left")
    return found
