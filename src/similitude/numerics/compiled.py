"""The settings with which functions are compiled: lazily, without the GIL, and cached on disk where possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function compiled by ``numba.njit`` with the package's settings.

    Where no cache directory can be written, numba raises an error when the function is decorated; the function is then
    compiled anew in each process.
    """
    try:
        return numba.njit(function, nogil=True, cache=True, error_model="numpy")
    except RuntimeError:
        return numba.njit(function, nogil=True, error_model="numpy")
