"""Checks of parameter values."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_positive(value: Any, name: str, *, zero: bool = False) -> float:
    """Return the value of the parameter ``name``; raise a ValueError unless it is a finite number above 0 (or 0)."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) < np.inf or (value == 0 and not zero):
        raise ValueError(f"{name} must be a finite number {'of at least' if zero else 'above'} 0; got {value!r}.")
    return float(value)


def check_share(value: Any, name: str) -> None:
    """Raise a ValueError unless the value of the parameter ``name`` is a number from 0 to 1."""
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a number in [0, 1]; got {value!r}.")


def check_interval(value: Any, name: str, interval: str) -> None:
    """Raise a ValueError unless the value of the parameter ``name`` is a number in an interval such as "[0, 1)"."""
    low, high = map(float, interval[1:-1].split(","))
    fine = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    ends = [low] * interval.startswith("[") + [high] * interval.endswith("]")
    if not fine or not (low < float(value) < high or float(value) in ends):
        raise ValueError(f"{name} must be a number in {interval}; got {value!r}.")


def check_integer(value: Any, name: str, least: int, why: str = "", *, none: bool = False) -> None:
    """Raise a ValueError unless the value of the parameter ``name`` is an integer of at least ``least``.

    ``why`` is added to the message; with ``none`` the value may be None.
    """
    if none and value is None:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        kind = "None or an integer" if none else "an integer"
        raise ValueError(f"{name} must be {kind} of at least {least}{why}; got {value!r}.")


def check_bool(value: Any, name: str) -> None:
    """Raise a ValueError unless the value of the parameter ``name`` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_choice(value: Any, name: str, allowed: Collection[Any], condition: str = "") -> None:
    """Raise a ValueError unless the value of the parameter ``name`` is one of those that are allowed.

    ``condition`` says in the message when these are the allowed ones.
    """
    if not any(value is known or (isinstance(value, str) and value == known) for known in allowed):
        raise ValueError(f"{name} must be one of {allowed}{condition}; got {value!r}.")


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA."""
    # Neither equality nor inequality of pandas.NA is a truth value.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def first_missing(labels: np.ndarray) -> int | None:
    """Return the position of the first label or group that is missing (None, NaN, NA or empty text), or None."""
    if labels.dtype.kind in "biu":
        return None
    empty = (i for i, label in enumerate(labels.tolist()) if is_missing(label) or _is_blank(label))
    return next(empty, None)


def _is_blank(label: Any) -> bool:
    return isinstance(label, (str, bytes)) and not label.strip()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean ...?" with the known name that is most like this one, or "" if none is like it."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
