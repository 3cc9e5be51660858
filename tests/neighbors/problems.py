"""Local problems, easy and ugly: similarities among k neighbours, and of a test sample to them."""

import numpy as np

KINDS = ["psd", "duplicates", "indefinite", "rounded", "zero rows", "constant", "distances", "random"]


def problem(rng, k, kind, scale=1.0):
    """``(S, s)``, S symmetric (k, k); positive semidefinite for the kinds psd, duplicates, rounded and zero rows."""
    X, x = rng.normal(size=(k, 3)), rng.normal(size=3)
    if kind in ("duplicates", "indefinite"):
        X = X[rng.integers(0, max(1, k // 2), k)]
    if kind == "rounded":
        X, x = np.round(X), np.round(x)
    S, s = X @ X.T, X @ x
    if kind == "indefinite":
        S = np.tanh(S - 1)
    if kind == "zero rows":
        zero = rng.random(k) < 0.4
        S[zero] = S[:, zero] = s[zero] = 0
    if kind == "constant":
        S, s = np.full((k, k), rng.choice([0.0, 1.0, -2.0])), np.full(k, 0.5)
    if kind == "distances":
        S, s = -((X[:, None] - X[None]) ** 2).sum(-1), -((X - x) ** 2).sum(-1)
    if kind == "random":
        S, s = rng.normal(size=(k, k)), rng.normal(size=k)
    return (S + S.T) / 2 * scale, s * scale
