"""Feature vectors brought near 1, so that squares of their differences neither over- nor underflow."""

from __future__ import annotations

import numpy as np

_FAR = 1e150


def exponent_of(X: np.ndarray) -> int:
    """Return the power of two by which the training samples are divided: it changes no digit."""
    return int(np.frexp(np.max(np.abs(X), initial=0.0))[1])


def near_one(X: np.ndarray, exponent: int) -> np.ndarray:
    """Features over that power of two, in float64.

    New samples are cut at 1e150: so far away every training sample is at the same distance, to the last digit.
    """
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(X.astype(np.float64, copy=False), -exponent), -_FAR, _FAR)
