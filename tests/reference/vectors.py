"""The formulas of `similarities.vectors`, entry by entry in plain Python."""

import math

import numpy as np


def table(function, A, B):
    return np.array([[function(a, b) for b in B] for a in A])


def euclidean(x, z):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, z)))


def manhattan(x, z):
    return sum(abs(a - b) for a, b in zip(x, z))


def chebyshev(x, z):
    return max(abs(a - b) for a, b in zip(x, z))


def cosine(x, z):
    lengths = math.sqrt(sum(a * a for a in x)) * math.sqrt(sum(b * b for b in z))
    return sum(a * b for a, b in zip(x, z)) / lengths if lengths else 0.0


def correlation(x, z):
    x, z = ([a - sum(v) / len(v) for a in v] for v in (list(x), list(z)))
    return cosine(x, z)


def relative_entropy(x, z, smoothing):
    p, q = ([(1 - smoothing) * a / sum(v) + smoothing / len(v) for a in v] for v in (x, z))
    return sum(a * math.log(a / b) for a, b in zip(p, q) if a > 0)


def rbf(x, z, gamma):
    return math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z)))
