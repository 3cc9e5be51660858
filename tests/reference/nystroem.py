"""The Nystroem approximation as it is written: n x n matrices, a dense pseudo-inverse."""

import numpy as np

from tests.reference import spectrum


def approximation(C, W, tol=1e-10):
    """``C W^+ C^T``."""
    S = C @ np.linalg.pinv((W + W.T) / 2, rcond=tol, hermitian=True) @ C.T
    return (S + S.T) / 2


def kernel(C, W, how):
    return spectrum.kernel(approximation(C, W), how)


def row(C, W, c, how):
    """The kernel values of a new sample with similarities c to the landmarks, to the training samples."""
    extended = C @ np.linalg.pinv((W + W.T) / 2, rcond=1e-10, hermitian=True) @ c
    return spectrum.row(approximation(C, W), extended, how)


def leverage(C, W):
    values, V = np.linalg.eigh(approximation(C, W))
    return np.sum(V[:, np.abs(values) > 1e-10 * np.abs(values).max()] ** 2, axis=1)
