"""The loop over pairs around aeon's compiled dynamic time warping.

aeon's own pairwise function runs in numba's parallel loops: a process that has used those once may not fork any more
(OpenMP ends the child), and two threads must not enter them at a time everywhere. This loop does neither and releases
Python's lock. Imported on first use, since it imports aeon.
"""

import numba
from aeon.distances import dtw_distance


# Not cached on disk: the cache would hold aeon's compiled code too, and outlive a new version of aeon.
@numba.njit(nogil=True, error_model="numpy")
def fill(a, a_starts, b, b_starts, channels, window, half, out):
    """out[i, j] = dtw(series i of a, series j of b); series stand one after the other in flat arrays."""
    for i in range(len(a_starts) - 1):
        x = a[a_starts[i] : a_starts[i + 1]].reshape((channels, -1))
        for j in range(i + 1 if half else 0, len(b_starts) - 1):
            out[i, j] = dtw_distance(x, b[b_starts[j] : b_starts[j + 1]].reshape((channels, -1)), window)
            if half:
                out[j, i] = out[i, j]
