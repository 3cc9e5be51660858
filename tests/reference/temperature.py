"""Calibration by a temperature, with a general optimizer on the stated objective, and a loop over parts."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax


def objective(theta, z, codes, weights):
    """The log loss plus the penalties; ``theta`` is the factor and, for two classes, the offset of the second."""
    offset = np.r_[0.0, theta[1:]] if z.shape[1] == 2 else 0.0
    log_p = log_softmax(theta[0] * z + offset, axis=1)
    penalty = ((theta[0] - 1) ** 2 + np.sum(theta[1:] ** 2)) / 2
    return -np.sum(weights * log_p[np.arange(len(codes)), codes]) + penalty


def fit(z, codes, weights):
    """The factor and the offsets."""
    two = z.shape[1] == 2
    found = [
        minimize(
            objective,
            np.r_[start, [0.0] * two],
            (z, codes, weights),
            method="L-BFGS-B",
            bounds=[(0, None)] + [(None, None)] * two,
            options={"ftol": 1e-15, "gtol": 1e-9},
        )
        for start in (0.0, 1.0, 5.0)
    ]
    best = min(found, key=lambda result: result.fun).x
    return best[0], np.r_[0.0, best[1]] if two else np.zeros(z.shape[1])


def cross_fitted(answers, codes, parts, floor):
    """Posteriors calibrated on the samples of the other parts; the answers are posteriors of shape (n, G)."""
    z = np.log(answers + floor)
    posteriors = np.full(z.shape, np.nan)
    for part in np.unique(parts):
        own = parts == part
        factor, offsets = fit(z[~own], codes[~own], np.ones(np.sum(~own)))
        posteriors[own] = softmax(factor * z[own] + offsets, axis=1)
    return posteriors
