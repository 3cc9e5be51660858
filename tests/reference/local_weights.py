"""Weights of neighbours by their definitions, one problem at a time, as slowly as need be."""

from itertools import combinations

import numpy as np


def modify(S, s, spectrum, consistent):
    """A local matrix with its spectrum modified, and the row, treated or not."""
    values, V = np.linalg.eigh(S)
    if spectrum == "shift":
        return S + abs(min(values.min(), 0)) * np.eye(len(S)), s
    if spectrum not in ("clip", "flip"):
        return S, s
    values = np.where(np.abs(values) <= 1e-10 * np.abs(values).max(), 0, values)
    new = np.maximum(values, 0) if spectrum == "clip" else np.abs(values)
    P = V @ np.diag(values > 0 if spectrum == "clip" else np.sign(values)) @ V.T
    return V @ np.diag(new) @ V.T, P @ s if consistent else s


def kri(S, s, reg):
    """Try every support: on each the optimum is a linear system; the best that is feasible wins."""
    k = len(s)
    H = S + reg * np.eye(k)
    best, least = None, np.inf
    for size in range(1, k + 1):
        for support in combinations(range(k), size):
            i = list(support)
            system = np.block([[H[np.ix_(i, i)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            w = np.zeros(k)
            w[i] = np.linalg.lstsq(system, np.append(s[i], 1.0), rcond=None)[0][:size]
            value = w @ H @ w / 2 - s @ w
            if w.min() >= -1e-10 and abs(w.sum() - 1) < 1e-8 and value < least:
                best, least = w, value
    return best


def krr(S, s, reg):
    """The pseudo-inverse, by all eigenvalues."""
    values, V = np.linalg.eigh(S + reg * np.eye(len(s)))
    kept = np.abs(values) > len(s) * np.finfo(float).eps * np.abs(values).max()
    return V[:, kept] @ ((V[:, kept].T @ s) / values[kept])


def kri_residual(S, s, reg, w):
    """How far w is from the KKT conditions of eq. 12, relative to the size of the problem's numbers."""
    g = S @ w + reg * w - s
    level = g[w > 0].mean()
    scale = max(reg, np.abs(S).max(), np.abs(s).max())
    stationary = max(np.abs(g[w > 0] - level).max(), (level - g).max())
    return max(stationary / scale, abs(w.sum() - 1), -w.min())


def kri_gap(S, s, reg, w):
    """Primal minus dual objective: g^T w - min g at the gradient g, which bounds how far w is from optimal."""
    g = S @ w + reg * w - s
    return g @ w - g.min()


def lime_residual(S, s, reg, w):
    """How far the gradient of eq. 10 is from constant where weights have not underflown, relative to its parts."""
    seen = w > 1e-250
    parts = np.array([2 * S[seen] @ w, -2 * s[seen], reg * np.log(w[seen])])
    g = parts.sum(axis=0)
    return np.ptp(g) / max(reg, np.abs(parts).max())
