"""The formulas of the room `similarities`, in plain Python loops."""

import math

import numpy as np


def counting(A, B):
    """How many columns agree."""
    return np.array([[float(sum(a == b for a, b in zip(x, z))) for z in B] for x in A])


def class_shares(X, y, column, value):
    """P(c | value) for each class in sorted order; the classes' overall shares where the value was not seen."""
    classes = sorted(set(y))
    labels = [label for row, label in zip(X, y) if row[column] == value]
    if not labels:
        labels = list(y)
    return [sum(label == c for label in labels) / len(labels) for c in classes]


def _vdm_one_way(X, y, x, z, weighted):
    total = 0.0
    for f in range(len(x)):
        p, q = class_shares(X, y, f, x[f]), class_shares(X, y, f, z[f])
        term = sum((a - b) ** 2 for a, b in zip(p, q))
        total += term * (math.sqrt(sum(a**2 for a in p)) if weighted else 1.0)
    return total


def vdm(X, y, A, B, weighted=False):
    """sum_f sum_c (P(c|x_f) - P(c|z_f))^2, divided by the largest among the training rows X."""

    def distance(x, z):
        return (_vdm_one_way(X, y, x, z, weighted) + _vdm_one_way(X, y, z, x, weighted)) / 2

    largest = max(distance(x, z) for x in X for z in X) or 1.0
    return np.array([[distance(x, z) / largest for z in B] for x in A])
