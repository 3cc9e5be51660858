"""How kernels are compiled: lazily, without the GIL, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """``numba.njit`` with the package's settings.

    Where no cache directory can be written (numba says so when the function is decorated), the kernel is compiled
    anew in each process instead.
    """
    try:
        return numba.njit(function, nogil=True, cache=True, error_model="numpy")
    except RuntimeError:
        return numba.njit(function, nogil=True, error_model="numpy")
