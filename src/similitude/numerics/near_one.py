"""Feature vectors scaled to about 1, so that squares of their differences neither over- nor underflow."""

from __future__ import annotations

import numpy as np

_FAR = 1e150


def exponent_of(X: np.ndarray) -> int:
    """Return the exponent of the power of two by which features are to be divided, which changes no digit of them."""
    return int(np.frexp(np.max(np.abs(X), initial=0.0))[1])


def near_one(X: np.ndarray, exponent: int) -> np.ndarray:
    """Return the features divided by a power of two, in float64.

    The result is limited to 1e150 in size: at such a distance all training samples are equally far away, to the last
    digit.
    """
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(X.astype(np.float64, copy=False), -exponent), -_FAR, _FAR)
