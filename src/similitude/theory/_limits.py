"""Confidence limits of shares that are means over pairs, and of a whole distribution function."""

from __future__ import annotations

import numpy as np


def dkw_width(n: int, level: float) -> float:
    """Return a bound of the difference between an empirical distribution function of n samples and the true one.

    The largest difference exceeds the bound with probability at most ``level``.
    """
    return float(np.sqrt(np.log(2 / level) / (2 * n)))


def share_limits(shares: np.ndarray, k: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return limits below and above the true shares; a share is beyond its limits with probability at most ``level``.

    By Chernoff's inequality, a mean p of k independent trials with true share q is beyond ``KL(p, q) = ln(1/a) / k``,
    on either side, with probability at most a. By Hoeffding (1963, Section 5) the same holds for a mean over all pairs
    of two groups, of which the smaller has k members, because it is a mean of means of k independent pairs.
    """
    reach = np.log(2 / level) / k
    return _farthest(shares, reach, np.zeros_like(shares)), _farthest(shares, reach, np.ones_like(shares))


def _farthest(p: np.ndarray, reach: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the q between p and ``end`` that is farthest from p with ``KL(p, q) <= reach``, found by bisection."""
    inside, outside = p.copy(), end.copy()
    for _ in range(60):
        middle = (inside + outside) / 2
        within = _relative_entropy(p, middle) <= reach
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    return outside


def _relative_entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return ``p ln(p/q) + (1-p) ln((1-p)/(1-q))``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(p > 0, p * np.log(p / q), 0.0)
        second = np.where(p < 1, (1 - p) * np.log((1 - p) / (1 - q)), 0.0)
    return first + second
