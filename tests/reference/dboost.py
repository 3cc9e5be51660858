"""DBoost in NumPy: the rounds of ``similitude.boosting`` with every pair sorted, and a slow search over all cuts.

The random stream is the one that the package defines: ``uniforms[t, m]`` are the two numbers in [0, 1) that choose x+
and x- of pair m in round t, each by the cumulative weights of its class.
"""

from __future__ import annotations

import numpy as np

CAP = 1 - 1e-10
FLOOR = 1e-300
UNITS = 2.0**52


def drawn(weights, uniforms):
    """Positions chosen by numbers in [0, 1) in proportion to the weights."""
    cumulated = np.cumsum(weights)
    return np.minimum(np.searchsorted(cumulated, uniforms * cumulated[-1], side="right"), len(weights) - 1)


def in_units(weights):
    """The weights as whole numbers that add up to about 2^52: sums of them are exact in any order."""
    return np.floor(weights * (UNITS / np.cumsum(weights)[-1]) + 0.5)


def significant(values, sizes):
    """Values rounded to 35 significant bits, or 0 if they are at most 2^-40 of the size of their terms."""
    fractions, exponents = np.frexp(values)
    rounded = np.ldexp(np.sign(fractions) * np.floor(np.abs(fractions) * 2.0**35 + 0.5), exponents - 35)
    return np.where(np.abs(values) > 2.0**-40 * sizes, rounded, 0.0)


def differences_of(plus, minus):
    """The differences of two rows, without their rounding errors."""
    return significant(plus - minus, np.maximum(np.abs(plus), np.abs(minus)))


def middle(differences, exact, a, b):
    """A cut between the adjacent differences a < b, from their exact values: not above is a, above is b."""
    low = max(0.0 if a == 0 else value for value in exact[differences == a])
    high = min(0.0 if b == 0 else value for value in exact[differences == b])
    cut = significant(low + (high - low) / 2, max(abs(low), abs(high)))
    return a if cut >= b else cut


def z_value(positive, negative, positives, negatives):
    """Schapire & Singer's Z of a cut, of the masses of both classes at or below it."""
    return 2 * np.sqrt(positive * negative) + 2 * np.sqrt((positives - positive) * (negatives - negative))


def best_cut(S_T, y, units, pairs, real):
    """The first of the pairs with the least error (or Z), and its first such cut: ``(pair, cut)``."""
    plus, minus = S_T[pairs[:, 0]], S_T[pairs[:, 1]]
    differences = differences_of(plus, minus)
    order = np.argsort(differences, axis=1)
    values = np.take_along_axis(differences, order, axis=1)
    n_pairs, n = values.shape
    losses = np.zeros((n_pairs, n + 1))
    np.cumsum((y * units)[order], axis=1, out=losses[:, 1:])
    if real:
        below = np.zeros((n_pairs, n + 1))
        np.cumsum(np.where(y > 0, units, 0.0)[order], axis=1, out=below[:, 1:])
        losses = z_value(below, below - losses, units[y > 0].sum(), units[y < 0].sum())
    # No cut lies between equal values.
    losses[:, 1:-1][values[:, 1:] == values[:, :-1]] = np.inf
    pair, place = np.unravel_index(np.argmin(losses), losses.shape)
    if place == 0:
        return int(pair), -np.inf
    if place == n:
        return int(pair), np.inf
    exact = plus[pair] - minus[pair]
    return int(pair), float(middle(differences[pair], exact, values[pair, place - 1], values[pair, place]))


def boost(S, y, weights, uniforms, real=False):
    """The rounds: pairs (T, 2), cuts (T,), and what is added to the decision value below and above each cut.

    ``y`` is -1 or +1; of each class the samples are numbered in their order.
    """
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    # The classes one after the other: the order in which weights are added up.
    order = np.concatenate([positive, negative])
    S_T, y = np.ascontiguousarray(S[np.ix_(order, order)].T), y[order]
    weights = weights[order] / np.cumsum(weights[order])[-1]
    n_positive = len(positive)
    rounds = len(uniforms)
    chosen, cuts, outputs = np.empty((rounds, 2), dtype=int), np.empty(rounds), np.empty((rounds, 2))
    for t in range(rounds):
        plus = drawn(weights[:n_positive], uniforms[t, :, 0])
        minus = n_positive + drawn(weights[n_positive:], uniforms[t, :, 1])
        pair, cuts[t], outputs[t], weights = one_round(S_T, y, weights, np.column_stack([plus, minus]), real)
        chosen[t] = order[pair]
    return chosen, cuts, outputs


def boost_among(S_T, y, weights, pairs, n_rounds, real=False):
    """The rounds that choose among the same pairs of rows of ``S_T``, which are psi(x_i, x_j) of all samples x_i."""
    weights = weights / np.cumsum(weights)[-1]
    found = []
    for _ in range(n_rounds):
        *one, weights = one_round(S_T, y, weights, pairs, real)
        found.append(one)
    return tuple(map(np.array, zip(*found)))


def one_round(S_T, y, weights, pairs, real):
    """The best of the pairs, its cut, what is added below and above it, and the weights of the next round."""
    units = in_units(weights)
    m, cut = best_cut(S_T, y, units, pairs, real)
    above = differences_of(S_T[pairs[m, 0]], S_T[pairs[m, 1]]) > cut
    if real:
        masses = np.array([[units[side & (y == sign)].sum() for sign in (1, -1)] for side in (~above, above)])
        masses = masses / units.sum() + 1 / len(y)
        ratios = np.sqrt(masses[:, 1] / masses[:, 0])
        outputs = -np.log(ratios)
        factors = np.where(above, ratios[1], ratios[0])
        weights = np.where(y > 0, weights * factors, weights / factors)
    else:
        wrong = units[above != (y > 0)].sum()
        gamma = min(1 - 2 * wrong / units.sum(), CAP)
        outputs = np.log((1 + gamma) / (1 - gamma)) / 2 * np.array([-1, 1])
        weights = weights / np.where(above == (y > 0), 1 + gamma, 1 - gamma)
    return pairs[m], cut, outputs, np.maximum(weights / np.cumsum(weights)[-1], FLOOR)
