"""Checks of the numbers that the generators take."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def check_share(name: str, value: Any) -> None:
    """Raise a ValueError unless the value is a number from 0 to 1."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a number in [0, 1]; got {value!r}.")


def check_amount(name: str, value: Any, *, zero: bool = True) -> None:
    """Raise a ValueError unless the value is a finite number of at least 0, or above 0 if ``zero`` is False."""
    if not isinstance(value, Real) or not 0 <= float(value) < np.inf or (value == 0 and not zero):
        raise ValueError(f"{name} must be a finite number {'of at least' if zero else 'above'} 0; got {value!r}.")
