"""Dynamic time warping by its recursion."""

import math
from functools import cache


def dtw(x, z, window=None):
    """x and z are lists of channels; a window only for series of equal length, as a share of it."""
    n, m = len(x[0]), len(z[0])
    reach = max(n, m) if window is None else int(window * n)

    @cache
    def D(i, j):
        if i == j == 0:
            return 0.0
        if i == 0 or j == 0 or (abs(i - j) > reach and n == m):
            return math.inf
        step = sum((a[i - 1] - b[j - 1]) ** 2 for a, b in zip(x, z))
        return step + min(D(i - 1, j), D(i, j - 1), D(i - 1, j - 1))

    return D(n, m)
