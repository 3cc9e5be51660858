"""Similarity matrices of all kinds, and labels, for the tests of this room."""

import numpy as np

KINDS = [
    "normal",
    "ties",
    "low rank",
    "duplicates",
    "equal rows",
    "constant columns",
    "smooth",
    "counts",
    "offset",
    "one column",
    "constant",
    "zero",
]


def matrix(kind, n, p, rng):
    """Similarities of n samples to p."""
    A = rng.normal(size=(n, p))
    if kind == "ties":
        return rng.integers(-1, 2, (n, p)).astype(float)
    if kind == "low rank":
        return rng.normal(size=(n, 2)) @ rng.normal(size=(2, p))
    if kind == "duplicates":
        return A[:, rng.integers(0, max(1, p // 3), p)]
    if kind == "equal rows":
        return A[rng.integers(0, max(1, n // 2), n)]
    if kind == "constant columns":
        A[:, ::2] = 0.1
        return A
    if kind == "smooth":
        return np.exp(-((rng.random(n)[:, None] - rng.random(p)) ** 2))
    if kind == "counts":
        return (rng.integers(0, 3, (n, 5))[:, None] == rng.integers(0, 3, (p, 5))[None]).sum(-1).astype(float)
    if kind == "offset":
        return 1e4 + A
    if kind == "one column":
        return A[:, :1]
    return {"normal": A, "constant": np.full((n, p), 0.1), "zero": np.zeros((n, p))}[kind]


def labels(n, rng):
    """-1 and +1 at random, both there."""
    y = rng.choice([-1.0, 1.0], n)
    y[0], y[-1] = 1.0, -1.0
    return y


def three_classes(n):
    """An asymmetric similarity of n samples of three classes, and their names."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(n, 4))
    y = np.arange(n) % 3
    X[:, 0] += 2.5 * y
    D = np.abs(X[:, None] - X[None]).sum(-1) ** 1.5
    return 1 - D / D.max() + 0.05 * rng.normal(size=D.shape), np.array(["a", "b", "c"])[y]
