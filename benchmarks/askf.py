"""Adaptive subspace kernel fusion (ASKF) of Muench, Schleif and others, as a peer of MixtureSVC.

With U the eigenvectors of several symmetric matrices side by side and mu the absolute values of their eigenvalues, it
minimises over alpha and lambda together

    1/2 (y alpha)^T U diag(lambda) U^T (y alpha) - sum alpha + beta sum lambda + gamma ||U diag(lambda - mu) U^T||

subject to 0 <= alpha <= C, y^T alpha = 0, lambda >= 0 and sum lambda <= delta sum mu. In lambda this is the opposite of
multiple-kernel learning, which maximises over alpha: it takes weight from the directions that the machine uses. Here it
is solved by turns: libsvm for alpha, projected gradients for lambda, from lambda = mu on. The problem is not convex:
the result is the stationary point reached from there. beta = -1 and delta = 1 are the defaults of the authors'
code. New rows are treated as in MixtureSVC, and the scales are matched in the same way.
"""

from typing import NamedTuple

import numpy as np
from sklearn.svm import SVC

from similitude import MixtureSVC
from similitude.kernel.spectrum_solver import LearnedSpectrum, Spectra

TURNS, STEPS = 5, 50


class Point(NamedTuple):
    """One point of a grid."""

    C: float
    gamma: float


class SubspaceFusion(MixtureSVC):
    """ASKF with one machine for each pair of classes."""

    _path_parameters = ("C", "gamma")

    def __init__(self, C=1.0, gamma=1.0, *, beta=-1.0, delta=1.0, similarity="precomputed", dissimilarity=None):
        super().__init__(similarity=similarity, dissimilarity=dissimilarity)
        self.C = C
        self.gamma = gamma
        self.beta = beta
        self.delta = delta

    def _point(self, parameters):
        return Point(float(parameters["C"]), float(parameters["gamma"]))

    def _solve(self, matrices, y, weight, points):
        spectra = Spectra.of(matrices)
        return [_fused(spectra, y, point, self.beta, self.delta) for point in points]


def _fused(spectra, y, point, beta, delta):
    """Return the result of turns between alpha and lambda."""
    old = np.abs(spectra.values)
    products = (spectra.vectors.T @ spectra.vectors) ** 2
    weights = old
    for turn in range(TURNS):
        K = (spectra.vectors * weights) @ spectra.vectors.T
        machine = SVC(C=point.C, kernel="precomputed", tol=1e-6, max_iter=100_000).fit(K, y)
        c = np.zeros(len(y))
        c[machine.support_] = machine.dual_coef_[0]
        q = spectra.vectors.T @ c
        new = _nearest(weights, old, products, 0.5 * q**2 + beta, point.gamma, delta * old.sum())
        if turn == TURNS - 1 or np.linalg.norm(new - weights) <= 1e-6 * np.linalg.norm(weights):
            break
        weights = new
    # f = K c + b; the coefficient of the row of a matrix is U diag(lambda / value) U^T c.
    coefficients = spectra.coefficients(weights * q)
    b = float(machine.intercept_[0])
    return LearnedSpectrum(
        "askf", spectra.values, weights / spectra.values, coefficients, b, 0.0, 0.0, turn + 1, spectra.sizes
    )


def _nearest(weights, old, products, slope, gamma, most):
    """Return lambda that minimises ``slope^T lambda + gamma ||U diag(lambda - old) U^T||`` by projected gradients."""
    # The largest sum of a row bounds the largest eigenvalue of a matrix without negative entries.
    step = 0.1 * np.linalg.norm(old) / (gamma * np.max(products.sum(axis=1)))

    def value(at):
        return slope @ at + gamma * np.sqrt(max((at - old) @ products @ (at - old), 0.0))

    at, lowest = weights, value(weights)
    for _ in range(STEPS):
        away = products @ (at - old)
        size = np.sqrt(max((at - old) @ away, 1e-12 * (old @ old)))
        new = _onto(at - step * (slope + gamma * away / size), most)
        found = value(new)
        if found < lowest:
            at, lowest, step = new, found, 1.5 * step
        else:
            step *= 0.4
    return at


def _onto(values, most):
    """Return the nearest point with no negative entry and a sum of at most ``most``."""
    positive = np.maximum(values, 0.0)
    if positive.sum() <= most:
        return positive
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - most) / np.arange(1, len(values) + 1)
    return np.maximum(values - excess[np.flatnonzero(ordered > excess)[-1]], 0.0)
