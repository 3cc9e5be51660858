"""Local BDA by its definition: one sample and one class at a time, d x d matrices."""

import numpy as np
from scipy.special import gammaln, multigammaln
from scipy.stats import multivariate_t

from tests.reference.neighbors import votes


def nearest(Z, x, k):
    """Places of the nearest rows of Z, nearest first: all that tie for the last place if they are at most 2k, or none.

    If that leaves none, all that tie for the first place.
    """
    squares = np.sum((Z - x) ** 2, axis=1)
    last = np.sort(squares)[min(k, len(Z)) - 1]
    kept = np.flatnonzero(squares <= last if np.sum(squares <= last) <= 2 * k else squares < last)
    kept = kept if len(kept) else np.flatnonzero(squares == squares.min())
    return kept[np.argsort(squares[kept], kind="stable")]


def log_likelihood(Z, x):
    """Eq. 1 of Cazzanti, Gupta & Srivastava (2009) with its constant: the inverted Wishart integral, term by term."""
    k, d = Z.shape
    mean = Z.mean(axis=0)
    S = (Z - mean).T @ (Z - mean)
    M = S + 0.95 * (d + 3) * np.diag(np.diag(S) / k) + 0.05 * np.eye(d)
    L = np.linalg.cholesky(M)
    w = np.linalg.solve(L, x - mean)
    constant = gammaln((k + d + 4) / 2) - gammaln((k + 4) / 2) + d / 2 * np.log(k / (k + 1)) - d / 2 * np.log(np.pi)
    return constant - np.log(np.diag(L)).sum() - (k + d + 4) / 2 * np.log1p(k / (k + 1) * (w @ w))


def student(Z, x):
    """The same from SciPy's Student t."""
    k, d = Z.shape
    S = k * np.cov(Z.T, bias=True).reshape(d, d)
    B = 0.95 * (d + 3) * np.diag(np.diag(S) / k) + 0.05 * np.eye(d)
    shape = (k + 1) / (k * (k + 4)) * (S + B)
    return multivariate_t(loc=Z.mean(axis=0), shape=shape, df=k + 4).logpdf(x)


def evidence(Z, B):
    """log of the integral of the Gaussian likelihood of Z over mean and covariance.

    The prior is |Sigma|^(-q/2) exp(-tr(Sigma^-1 B)/2), the measure d mean d Sigma / |Sigma|^((d + 2)/2), as in
    Srivastava, Gupta & Frigyik (2007).
    """
    k, d = Z.shape
    n = k + d + 3
    S = k * np.cov(Z.T, bias=True).reshape(d, d)
    logs = (n - k + 1) * d / 2 * np.log(2) - (k - 1) * d / 2 * np.log(np.pi) - d / 2 * np.log(k)
    return logs + multigammaln(n / 2, d) - n / 2 * np.linalg.slogdet(S + B)[1]


def predictive(Z, x):
    """The same once more: the ratio of the evidence with x and without, both under the prior that Z gives."""
    d = Z.shape[1]
    B = 0.95 * (d + 3) * np.diag(Z.var(axis=0)) + 0.05 * np.eye(d)
    return evidence(np.vstack([Z, x]), B) - evidence(Z, B)


def log_likelihoods(X, y, x, k, density=log_likelihood):
    """log p(x | g) for the classes in order."""
    own = (X[y == g] for g in np.unique(y))
    return np.array([density(Z[nearest(Z, x, k)], x) for Z in own])


def joint(X, y, x, k, density=log_likelihood):
    """log p(x | g) P(g) with the priors of the k nearest samples of all."""
    classes = np.unique(y)
    counts = votes(-np.sum((X - x) ** 2, axis=1), y.tolist(), k, "uniform")
    priors = [(counts.get(g, 0.0) + 1) / (min(k, len(y)) + len(classes)) for g in classes.tolist()]
    return log_likelihoods(X, y, x, k, density) + np.log(priors)


def loop(X, y, rows, k):
    """log p(x | g) of each row, (m, G): a plain loop over rows and classes, the classes cut out once."""
    own = [X[y == g] for g in np.unique(y)]
    return np.array([[log_likelihood(Z[nearest(Z, x, k)], x) for Z in own] for x in rows])
