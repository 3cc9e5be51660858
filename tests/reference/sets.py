"""The formulas of `similarities.sets` and Tversky's and Goodall's on rows, with Python sets and loops."""

import numpy as np


def table(function, A, B):
    return np.array([[float(function(a, b)) for b in B] for a in A])


def members(row):
    """The set behind a binary vector."""
    return {i for i, value in enumerate(row) if value}


def jaccard(a, b):
    return len(a & b) / len(a | b) if a | b else 1.0


def dice(a, b):
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 1.0


def contrast(a, b, theta, alpha, beta, salience=len):
    return theta * salience(a & b) - alpha * salience(a - b) - beta * salience(b - a)


def ratio(a, b, alpha, beta, salience=len):
    whole = salience(a & b) + alpha * salience(a - b) + beta * salience(b - a)
    return salience(a & b) / whole if whole else float((salience(a) > 0) == (salience(b) > 0))


def features(row, absent=()):
    """A categorical row as the set of its (column, value) pairs."""
    return {(column, value) for column, value in enumerate(row) if value not in absent}


def goodall(X, a, b):
    """Goodall3 of Boriah et al. with the value counts of the rows X."""
    n, total = len(X), 0.0
    for column, (v, w) in enumerate(zip(a, b)):
        count = sum(row[column] == v for row in X)
        if v == w:
            total += 1 - (count * (count - 1) / (n * (n - 1)) if n > 1 else 0.0)
    return total / len(a)
