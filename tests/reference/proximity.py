"""The formulas of the room `proximity`, entry by entry in plain Python loops."""

import math

import numpy as np


def asymmetry(S):
    """||S - S^T||_F / (2 ||S||_F)."""
    n = len(S)
    scale = max((abs(float(S[i][j])) for i in range(n) for j in range(n)), default=0.0)
    if scale == 0:
        return 0.0
    difference = whole = 0.0
    for i in range(n):
        for j in range(n):
            a, b = float(S[i][j]) / scale, float(S[j][i]) / scale
            difference += (a - b) ** 2
            whole += a**2
    return math.sqrt(difference) / (2 * math.sqrt(whole))


def symmetrize(S, how):
    n = len(S)
    result = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            a, b = float(S[i][j]), float(S[j][i])
            result[i][j] = {
                "mean": a / 2 + b / 2,
                "min": min(a, b),
                "max": max(a, b),
                "lower": a if i >= j else b,
                "upper": a if i <= j else b,
            }[how]
    return np.array(result)


def median_of_pairs(D):
    values = sorted(float(D[i][j]) for i in range(len(D)) for j in range(len(D)) if i != j)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def to_similarity(D, how, train=None):
    """Rows D (m, n) mapped with the constants of the training matrix (n, n); D itself where None."""
    train = D if train is None else train
    n = len(train)
    largest = max(float(d) for row in train for d in row)
    median = median_of_pairs(train) if n > 1 else float(train[0][0])
    column_means = [sum(float(train[i][j]) ** 2 for i in range(n)) / n for j in range(n)]
    overall = sum(column_means) / n
    result = np.empty((len(D), n))
    for i in range(len(D)):
        row_mean = sum(float(d) ** 2 for d in D[i]) / n
        for j in range(n):
            d = float(D[i][j])
            if how == "max-minus":
                s = largest - d
            elif how == "one-minus":
                s = 1 - d
            elif how == "negate":
                s = -d
            elif how == "reciprocal":
                s = 1 / (1 + d)
            elif how == "exp":
                s = math.exp(-d / median)
            elif how == "gauss":
                s = math.exp(-(d**2) / (2 * median**2))
            elif how == "log":
                s = -math.log(1 + d)
            elif how == "sqrt-one-minus":
                s = 1 - d**2
            elif how == "sqrt-max-minus":
                s = largest**2 - d**2
            elif how == "double-centring":
                s = -(d**2 - row_mean - column_means[j] + overall) / 2
            result[i, j] = s
    return result


def to_dissimilarity(S, how, c=1.0):
    """The other way round with the constant c."""
    n = len(S)
    result = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            s = float(S[i][j])
            if how == "max-minus":
                d = c - s
            elif how == "one-minus":
                d = 1 - s
            elif how == "negate":
                d = -s
            elif how == "reciprocal":
                d = 1 / s - 1
            elif how == "exp":
                d = -c * math.log(s)
            elif how == "gauss":
                d = c * math.sqrt(-2 * math.log(s))
            elif how == "log":
                d = math.exp(-s) - 1
            elif how == "sqrt-one-minus":
                d = math.sqrt(1 - s)
            elif how == "sqrt-max-minus":
                d = math.sqrt(c - s)
            elif how == "double-centring":
                d = math.sqrt(max(float(S[i][i]) + float(S[j][j]) - 2 * s, 0.0))
            result[i, j] = d
    return result


def inner_product(x, z, signature):
    """Pseudo-Euclidean: the last q coordinates count negatively."""
    p, q = signature
    total = 0.0
    for a in range(p + q):
        total += (1 if a < p else -1) * float(x[a]) * float(z[a])
    return total
