"""Warnings that point to a line of the user's own code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_PASSED_OVER = ("similitude", "sklearn")


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line outside of this package and of scikit-learn from which it was called."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _PASSED_OVER:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)


@contextmanager
def silenced() -> Iterator[None]:
    """Show no warnings: the user has been warned about the matrix, and a fit that warns is judged by its errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
