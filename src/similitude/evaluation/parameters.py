"""Parameters as text for people, as Python code, and as plain values for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np


def parameters_text(parameters: Mapping[str, Any]) -> str:
    """Return parameters as one line of text for people: ``n_neighbors=3, reg=0.1``.

    A nested parameter is named by the last part of its name if that is unique.
    """
    short = {name: name.split("__")[-1] for name in parameters}
    count = Counter(short.values())
    return ", ".join(
        f"{short[name] if count[short[name]] == 1 else name}={_text(value)}" for name, value in parameters.items()
    )


def parameters_code(parameters: Mapping[str, Any]) -> str:
    """Return parameters as the keyword arguments of a call in Python: ``C=10.0, kernel='rbf'``."""
    return ", ".join(f"{name}={python_value(value)!r}" for name, value in parameters.items())


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as values for JSON: numbers, strings, booleans and None unchanged, all others as strings."""
    plain = {name: python_value(value) for name, value in parameters.items()}
    return {
        name: value if value is None or isinstance(value, (str, int, float)) else str(value)
        for name, value in plain.items()
    }


def python_value(value: Any) -> Any:
    """Return the Python number, boolean or string for a NumPy scalar, and any other value unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    value = python_value(value)
    return format(value, "g") if isinstance(value, float) else str(value)
