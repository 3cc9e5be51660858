"""Checks of parameter values."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def check_positive(value: Any, name: str) -> None:
    """Raise a ValueError unless the value of the parameter ``name`` is a finite number above 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number above 0; got {value!r}.")
