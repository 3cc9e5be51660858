"""The loop over pairs around aeon's compiled dynamic time warping.

aeon's own pairwise function uses numba's parallel loops. A process that has used these once may not fork any more
(OpenMP ends the child), and on some platforms two threads must not enter them at the same time. This loop has neither
restriction, and it releases the GIL. The module is imported on first use, because it imports aeon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
from aeon.distances import dtw_distance

if TYPE_CHECKING:
    import numpy as np


# Not cached on disk, because the cache would contain aeon's compiled code and outlive a new version of aeon.
@numba.njit(nogil=True, error_model="numpy")
def fill(
    a: np.ndarray,
    a_starts: np.ndarray,
    b: np.ndarray,
    b_starts: np.ndarray,
    channels: int,
    window: float | None,
    half: bool,
    out: np.ndarray,
) -> None:
    """Write the distance of series i of ``a`` and series j of ``b``, which are flat arrays, into ``out[i, j]``."""
    for i in range(len(a_starts) - 1):
        x = a[a_starts[i] : a_starts[i + 1]].reshape((channels, -1))
        for j in range(i + 1 if half else 0, len(b_starts) - 1):
            out[i, j] = dtw_distance(x, b[b_starts[j] : b_starts[j + 1]].reshape((channels, -1)), window)
            if half:
                out[j, i] = out[i, j]
