"""A matrix of similarities packed into text for the page that draws it."""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass

import numpy as np

from similitude.diagnosis.figures import unit_scale
from similitude.diagnosis.pictures import color_range

SIXTEEN_BITS_UP_TO = 600
"""The largest number of samples for which values have 16 bits. The matrix then takes less than a megabyte."""


@dataclass(frozen=True)
class PackedMatrix:
    """Values rounded to the nearest of ``2^bits`` equally spaced numbers from ``low`` to ``high``."""

    text: str
    bits: int
    low: float
    high: float
    triangle: bool
    colors: tuple[float, float]

    @property
    def rounding(self) -> float:
        """Return the largest difference between a value and the level that is shown for it."""
        return (self.high / 2 - self.low / 2) / (2**self.bits - 1)


def pack(S: np.ndarray, bits: int | None = None) -> PackedMatrix:
    """Return a square matrix rounded, compressed and encoded."""
    if bits is None:
        bits = 16 if len(S) <= SIXTEEN_BITS_UP_TO else 8
    A, scale = unit_scale(S)
    low, high = float(A.min()), float(A.max())
    levels = np.rint((A - low) * ((2**bits - 1) / (high - low) if high > low else 0.0)).astype(f"<u{bits // 8}")
    # Values that differ only by rounding have equal levels.
    triangle = bool(np.array_equal(levels, levels.T))
    values = levels[np.tril_indices(len(levels))] if triangle else levels
    packed = gzip.compress(values.tobytes(), 9 if values.nbytes < 2**21 else 6, mtime=0)
    text = base64.b64encode(packed).decode()
    return PackedMatrix(text, bits, low * scale, high * scale, triangle, color_range(S))
