"""The cut-off of an operating point: every test of every sequence, one by one."""

import numpy as np
from scipy.stats import binom


def proven(right, precision, alpha):
    """Return whether these predictions prove the precision at the level alpha."""
    return binom.sf(sum(right) - 1, len(right), precision) <= alpha


def assigned(confidence, right, precision, delta):
    """Return which predictions are assigned."""
    n = len(confidence)

    def needed(level):
        return next(r for r in range(1, 10**6) if precision**r <= level * (1 + 1e-12))

    beginnings = []
    while needed(delta) * 2 ** len(beginnings) <= n:
        beginnings.append(2 ** len(beginnings))
    best = np.zeros(n, dtype=bool)
    values = sorted(set(confidence.tolist()), reverse=True)
    for factor in beginnings:
        alpha = delta / len(beginnings)
        for value in values:
            above = confidence >= value
            if above.sum() < needed(alpha) * factor:
                continue
            if not proven(right[above], precision, alpha):
                break
            best |= above
    return best
