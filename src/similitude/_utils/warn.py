"""Warnings that point to a line of the user's own code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

_PASSED_OVER = ("similitude", "sklearn", "joblib", "concurrent", "multiprocessing", "threading")
_GIVEN = "__similitude_warnings__"


def warn(message: str, category: type[Warning], about: str = "") -> None:
    """Issue a warning at the line outside of this package and of scikit-learn from which it was called.

    What a line of code says ``about`` a thing is said once during such a call, whose search may fit many estimators on
    similar parts of the same data; only of fits that do not converge each is reported.
    """
    level, frame = 1, sys._getframe(1)
    line = (frame.f_code.co_filename, frame.f_lineno, about)
    called = frame
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _PASSED_OVER:
        called = frame
        frame = frame.f_back
        level += 1
    # The record must end with the user's call: it is an additional local variable of the function that was called.
    given = called.f_locals.setdefault(_GIVEN, set())
    if line in given and not issubclass(category, ConvergenceWarning):
        return
    warnings.warn(message, category, stacklevel=level + 1)
    if not _are_silenced():
        given.add(line)  # neither if the warning was raised as an error


def _are_silenced() -> bool:
    """Return whether all warnings are ignored, as by :func:`silenced`; scikit-learn passes this on to its workers."""
    return bool(warnings.filters) and warnings.filters[0][:3] == ("ignore", None, Warning)


@contextmanager
def silenced() -> Iterator[None]:
    """Show no warnings: the user has been warned about the matrix, and a fit that warns is judged by its errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
