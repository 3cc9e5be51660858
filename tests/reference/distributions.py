"""Distances of distributions and point sets by their definitions."""

import math
from collections import Counter

import numpy as np
from scipy.optimize import linprog


def emd(p, q, ground):
    """The transport problem as a linear programme in all flows."""
    n, m = np.shape(ground)
    rows = [[1.0 if i == k else 0.0 for i in range(n) for _ in range(m)] for k in range(n)]
    columns = [[1.0 if j == k else 0.0 for _ in range(n) for j in range(m)] for k in range(m)]
    marginals = np.concatenate([np.asarray(p) / np.sum(p), np.asarray(q) / np.sum(q)])
    return linprog(np.ravel(ground), A_eq=np.array(rows + columns), b_eq=marginals, bounds=(0, None)).fun


def distances(x, z):
    return [[math.dist(a, b) for b in z] for a in x]


def directed_hausdorff(x, z):
    return max(min(row) for row in distances(x, z))


def hausdorff(x, z):
    return max(directed_hausdorff(x, z), directed_hausdorff(z, x))


def pyramid_match(x, z, origin, finest, n_levels):
    """sum_l (I_l - I_{l-1}) / 2^l, divided by the geometric mean of the two self-similarities."""

    def matches(u, v, level):
        width = finest * 2**level
        histograms = [
            Counter(tuple(math.floor((c - o) / width) for c, o in zip(point, origin)) for point in points)
            for points in (u, v)
        ]
        return sum((histograms[0] & histograms[1]).values())

    def kernel(u, v):
        counts = [0] + [matches(u, v, level) for level in range(n_levels)]
        return sum((counts[level + 1] - counts[level]) / 2**level for level in range(n_levels))

    return kernel(x, z) / math.sqrt(kernel(x, x) * kernel(z, z))
