"""Similarity discriminant analysis by its definitions: one root search per parameter, one sample at a time."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from tests.reference.centroids import centroid, centroids, local_centroid
from tests.reference.neighbors import neighbors, shares, taken

ROUNDING = 1e-12


def omega_of(S):
    """The distinct values in ascending order; those closer than rounding are one."""
    kept = []
    limit = ROUNDING * np.max(np.abs(S))
    for value in np.unique(np.asarray(S, dtype=float)):
        if not kept or value - kept[-1] > limit:
            kept.append(value)
    if len(kept) > 1:
        kept[-1] = np.max(S)
    return np.array(kept)


def max_entropy(omega, mean):
    """lambda of the distribution proportional to exp(lambda s) on omega with this mean, between its ends."""
    omega = np.asarray(omega, dtype=float)
    span = omega.max() - omega.min()
    unit = (omega - omega.min()) / span

    def excess(lam):
        logs = lam * unit
        p = np.exp(logs - logs.max())
        return p @ unit / p.sum() - (mean - omega.min()) / span

    low, high = -1.0, 1.0
    while excess(low) > 0:
        low *= 2
    while excess(high) < 0:
        high *= 2
    return brentq(excess, low, high, xtol=1e-14, rtol=8.9e-16, maxiter=500) / span


def fitted(omega, values):
    """lambda of the distribution whose mean is that of these values; infinite where all of them are at one end."""
    limit = ROUNDING * np.max(np.abs(omega))
    if all(abs(value - min(omega)) <= limit for value in values):
        return -math.inf
    if all(abs(value - max(omega)) <= limit for value in values):
        return math.inf
    return max_entropy(omega, np.mean(values))


def log_pmf(omega, lam, s):
    """log P(s); a point mass where lambda is infinite."""
    omega = np.asarray(omega, dtype=float)
    if math.isinf(lam):
        end = omega.max() if lam > 0 else omega.min()
        return 0.0 if abs(s - end) <= ROUNDING * np.max(np.abs(omega)) else -math.inf
    return lam * (s - omega[0]) - logsumexp(lam * (omega - omega[0]))


def log_density(low, high, mean, s):
    """log of the density proportional to exp(rate s) on [low, high] with this mean, at s (rates up to 700)."""
    place = (mean - low) / (high - low)
    rate = brentq(lambda r: -1 / math.expm1(-r) - 1 / r - place, *((1e-6, 700) if place > 0.5 else (-700, -1e-6)))
    return rate * (s - low) / (high - low) - math.log(math.expm1(rate) / rate) - math.log(high - low)


def sda(S, y, s, omega, priors=None):
    """log P(x | g) P(g) for each class, in their order."""
    classes = sorted(set(y))
    members = {g: [i for i in range(len(y)) if y[i] == g] for g in classes}
    mu = dict(zip(classes, centroids(S, y)))
    joint = []
    for number, g in enumerate(classes):
        prior = (len(members[g]) + 1) / (len(y) + len(classes)) if priors is None else priors[number]
        joint.append(_log(prior) + sum(_term(S, members[g], mu[h], s, omega) for h in classes))
    return np.array(joint)


def local_sda(S, y, s, k, omega, alpha=0.0, priors=None, by_position=False):
    """log of P(x, g) for each class, in their order; regularized where alpha is above 0.

    ``by_position`` takes exactly k neighbours, and tied ones and tied centroids in the order of the samples.
    """
    classes = sorted(set(y))
    nearest = neighbors(s, k) if by_position else taken(s, k)
    if not nearest:
        posterior = shares(s, y, classes)
        if priors is not None:
            posterior = posterior * np.asarray(priors) / [list(y).count(g) / len(y) for g in classes]
        return np.array([_log(p) for p in posterior / posterior.sum()])
    members, mu = _neighborhood(S, y, s, nearest, by_position)
    joint = []
    for number, g in enumerate(classes):
        prior = (len(members.get(g, [])) + 1) / (len(nearest) + len(classes)) if priors is None else priors[number]
        local = -math.inf
        if g in members:
            local = _log(prior) + sum(_term(S, members[g], mu[h], s, omega) for h in mu)
        if alpha > 0:
            prior = (list(y).count(g) + 1) / (len(y) + len(classes)) if priors is None else priors[number]
            average = sum(log_average(S, y, g, h, s[mu[h]], min(k, len(y)), omega, by_position) for h in mu)
            local = np.logaddexp(_log(1 - alpha) + local, _log(alpha) + average + _log(prior))
        joint.append(local)
    return np.array(joint)


def log_average(S, y, g, h, value, k, omega, by_position=False):
    """log P_ave(value | g, h), over the training samples whose neighbourhoods (without themselves) have both."""
    logs = []
    for z in range(len(y)):
        others = [i for i in range(len(y)) if i != z]
        choose = neighbors if by_position else taken
        nearest = [others[i] for i in choose([S[z][i] for i in others], k)] if others else []
        members, mu = _neighborhood(S, y, S[z], nearest, by_position)
        if g in members and h in members:
            logs.append(log_pmf(omega, fitted(omega, [S[v][mu[h]] for v in members[g]]), value))
    return logsumexp(logs) - math.log(len(logs)) if logs else -math.log(len(omega))


def falls_back(y, s, k, fallback):
    """Whether the local nearest centroid decides."""
    counts = [[y[i] for i in taken(s, k)].count(g) for g in set(y)]
    if fallback == "k":
        return min(k, len(y)) <= 3
    return fallback not in (None, "grow") and any(0 < count < {"class": 3, "one": 2}[fallback] for count in counts)


def grown(y, s, k):
    """The least size from k on, with all that tie, at which every class present has three neighbours, or all it has."""
    y, size = list(y), min(k, len(y))
    while True:
        last = sorted(s, reverse=True)[size - 1]
        near = [y[i] for i in range(len(s)) if s[i] >= last]
        if all(near.count(g) >= min(3, y.count(g)) for g in set(near)):
            return len(near)
        size += 1


def mixture_log_likelihood(values, weights, lambdas, omega):
    """Sum over the rows of ``values`` (samples, components) of log sum_l w_l P_l(value_l)."""
    total = 0.0
    for row in values:
        logs = [_log(w) + log_pmf(omega, lam, v) for w, lam, v in zip(weights, lambdas, row)]
        total += logsumexp(logs)
    return total


def mixture_sda(S, y, rows, centroids, omega, tol):
    """log P(x | g) P(g) of mixture SDA, (m, G), given the centroids of each class, whose numbers may differ."""
    classes = sorted(set(y))
    joint = np.empty((len(rows), len(classes)))
    for number, g in enumerate(classes):
        members = [i for i in range(len(y)) if y[i] == g]
        joint[:, number] = _log((len(members) + 1) / (len(y) + len(classes)))
        for places in centroids:
            weights, lambdas = _mixture([[S[z][mu] for mu in places] for z in members], omega, tol)
            for i, s in enumerate(rows):
                logs = [_log(w) + log_pmf(omega, lam, s[mu]) for w, lam, mu in zip(weights, lambdas, places)]
                joint[i, number] += logsumexp(logs)
    return joint


def _mixture(values, omega, tol):
    """Weights and lambdas by expectation maximisation, from equal responsibilities."""
    values = np.array(values, dtype=float)
    n, c = values.shape
    shares = np.full((n, c), 1 / c)
    before = -math.inf
    while True:
        weights = shares.mean(axis=0)
        means = [shares[:, j] @ values[:, j] / shares[:, j].sum() for j in range(c)]
        lambdas = [fitted(omega, [mean]) for mean in means]
        logs = [[_log(w) + log_pmf(omega, lam, v) for w, lam, v in zip(weights, lambdas, row)] for row in values]
        now = sum(logsumexp(row) for row in logs)
        if abs(now - before) <= tol * abs(now):
            return weights, lambdas
        shares, before = np.exp(np.array(logs) - logsumexp(logs, axis=1, keepdims=True)), now


def _neighborhood(S, y, s, nearest, by_position):
    """The neighbours of each class, nearest first, and the centroids."""
    members = {}
    for i in nearest:
        members.setdefault(y[i], []).append(i)
    if by_position:
        return members, {h: centroid(S, of_class) for h, of_class in members.items()}
    return members, {h: local_centroid(S, y, s, nearest, h) for h in members}


def _term(S, members, mu, s, omega):
    return log_pmf(omega, fitted(omega, [S[z][mu] for z in members]), s[mu])


def _log(p):
    return math.log(p) if p > 0 else -math.inf
