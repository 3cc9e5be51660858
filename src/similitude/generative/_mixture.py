"""Compiled: expectation maximisation for mixtures of maximum-entropy distributions, one component a centroid."""

from __future__ import annotations

import math

import numpy as np

from similitude.generative._max_entropy import solve
from similitude.numerics.compiled import compiled


@compiled
def fit_mixture(below, above, floor, atoms, lower, upper, tol, weights, means, rates, log_z, from_above, history):
    """Maximise  sum over samples i of log(sum over components l of w_l P_l(s_il)),  s_il the similarity to centroid l.

    The similarities, (n, c), are given by their distances from the ends of Omega; ``floor`` to ``upper`` are as
    :func:`solve` takes them. The start is uniform responsibilities. ``means`` (2, c) gets the mean distances,
    ``history`` the log-likelihood after each step. Returned is the number of steps, after the last of which it changed
    by no more than ``tol`` of itself, or one more than there is room for.
    """
    n, c = below.shape
    shares = np.full((n, c), 1.0 / c)
    for step in range(history.shape[0]):
        for component in range(c):
            total, low, high = 0.0, 0.0, 0.0
            for i in range(n):
                total += shares[i, component]
                low += shares[i, component] * below[i, component]
                high += shares[i, component] * above[i, component]
            weights[component] = total / n
            means[0, component] = low / total if total > 0.0 else 0.5
            means[1, component] = high / total if total > 0.0 else 0.5
        solve(means[0], means[1], floor, atoms, lower, upper, rates, log_z, from_above)
        history[step] = _expect(below, above, weights, rates, log_z, from_above, shares)
        if c == 1 or (step > 0 and abs(history[step] - history[step - 1]) <= tol * abs(history[step])):
            return step + 1
    return history.shape[0] + 1


@compiled
def _expect(below, above, weights, rates, log_z, from_above, shares):
    """Return the components' shares in each sample, and the log-likelihood of all samples."""
    total = 0.0
    for i in range(below.shape[0]):
        largest = -np.inf
        for component in range(below.shape[1]):
            distance = above[i, component] if from_above[component] else below[i, component]
            value = -np.inf
            if rates[component] == np.inf:
                value = 0.0 if distance == 0.0 else -np.inf
            elif weights[component] > 0.0:
                value = -rates[component] * distance - log_z[component]
            value += math.log(weights[component]) if weights[component] > 0.0 else -np.inf
            shares[i, component] = value
            largest = max(largest, value)
        mass = 0.0
        for component in range(below.shape[1]):
            shares[i, component] = math.exp(shares[i, component] - largest)
            mass += shares[i, component]
        for component in range(below.shape[1]):
            shares[i, component] /= mass
        total += largest + math.log(mass)
    return total
