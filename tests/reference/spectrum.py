"""Spectrum modification by its definitions: full matrices, no shortcuts."""

import numpy as np


def _spectrum(S):
    values, V = np.linalg.eigh((S + S.T) / 2)
    values[np.abs(values) <= 1e-10 * np.abs(values).max()] = 0.0
    return values, V


def kernel(S, method):
    """The training kernel."""
    if method == "none":
        return S
    if method == "square":
        return S @ S.T
    values, V = _spectrum(S)
    if method == "shift":
        return (S + S.T) / 2 + abs(min(values.min(), 0)) * np.eye(len(S))
    return V @ np.diag({"clip": np.maximum(values, 0), "flip": np.abs(values)}[method]) @ V.T


def row(S, s, method):
    """What a new row becomes."""
    if method in ("shift", "none"):
        return s
    if method == "square":
        return S @ s
    values, V = _spectrum(S)
    return V @ np.diag({"clip": (values > 0) * 1.0, "flip": np.sign(values)}[method]) @ V.T @ s


def augmented_row(S, s, own, method):
    """Wu et al.: the last column of the modified matrix of all samples."""
    n = len(S)
    bigger = np.zeros((n + 1, n + 1))
    bigger[:n, :n], bigger[n, :n], bigger[:n, n], bigger[n, n] = S, s, s, own
    return kernel(bigger, method)[:n, n]
