"""Margins of samples, the share of the samples whose margin is below gamma, and confidence limits of shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.checks import check_interval

ROUNDING = 1e-12
"""A margin that is smaller than gamma by less than this counts as reaching it."""


class MarginCurve:
    """A margin for each sample, and the share of the samples whose margin is below gamma."""

    def __init__(self, margins: np.ndarray):
        self.margins = margins
        self._sorted = np.sort(margins[~np.isnan(margins)])

    def curve(self, gamma: ArrayLike) -> Any:
        """Return epsilon(gamma), the share of samples with a margin below gamma.

        Parameters
        ----------
        gamma : float or array-like
            The margin, or several margins.

        Returns
        -------
        float or ndarray
            The share for each gamma.
        """
        short = np.searchsorted(self._sorted, numbers(gamma) - ROUNDING, side="left") / len(self._sorted)
        return float(short) if np.ndim(gamma) == 0 else short

    def gamma_at(self, epsilon: float) -> float:
        """Return the largest gamma that all but a share epsilon of the samples reach.

        Parameters
        ----------
        epsilon : float
            The share, in [0, 1).

        Returns
        -------
        float
            The margin gamma.
        """
        check_interval(epsilon, "epsilon", "[0, 1)")
        n = len(self._sorted)
        return float(self._sorted[min(int(epsilon * n + 1e-9), n - 1)])


class ReweightedGoodness(MarginCurve):
    """The (epsilon, gamma, B)-goodness of :meth:`Goodness.reweighted`.

    Parameters
    ----------
    shares : ndarray of shape (n,)
        g(z) with x' and x'' drawn by weight; NaN if no other sample of the class has a positive weight.
    ratios : ndarray of shape (n,)
        The weights, scaled to mean 1 within each class.
    thresholds : ndarray of shape (G,)
        The numbers b that are added to the similarities to the samples of each class.

    Attributes
    ----------
    per_sample : ndarray of shape (n,)
        The shares.
    margins : ndarray of shape (n,)
        2 g(z) - 1.
    B : float
        The square of the largest ratio, on which the number ``(16 B^2/gamma^2) ln(1/delta)`` of pairs depends (Theorem
        4).
    pseudo_gamma : float
        2 mean(g) - 1.

    See Also
    --------
    Goodness : The result of ``goodness``.
    similitude.goodness
        Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to
        others.
    """

    def __init__(self, shares: np.ndarray, ratios: np.ndarray, thresholds: np.ndarray):
        super().__init__(2 * shares - 1)
        self.per_sample, self.ratios, self.thresholds = shares, ratios, thresholds
        self.B = float(ratios.max()) ** 2
        self.pseudo_gamma = float(np.mean(self._sorted))

    def B_at(self, eta: float) -> float:
        """Return the smallest B whose root no more than a share eta of the samples' ratios exceed (Definition 7).

        Parameters
        ----------
        eta : float
            The share, in [0, 1).

        Returns
        -------
        float
            B, at least 1; for eta = 0 it is the attribute ``B``.
        """
        check_interval(eta, "eta", "[0, 1)")
        n = len(self.ratios)
        return max(float(np.sort(self.ratios)[n - 1 - int(eta * n + 1e-9)]) ** 2, 1.0)

    def __repr__(self) -> str:
        return (
            f"<ReweightedGoodness of {len(self.margins)} samples: pseudo gamma {self.pseudo_gamma:.3g}, "
            f"epsilon(0) = {self.curve(0):.3g}, B = {self.B:.3g}>"
        )


class SimilarityGoodness(MarginCurve):
    """The goodness by mean similarities of :meth:`Goodness.balcan_blum` and :meth:`Goodness.reasonable`.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        The margins, in units of ``scale``.
    scale : float
        The number by which S was divided.
    R : ndarray of shape (n,), default=None
        The reasonable points, from 0 to 1.

    Attributes
    ----------
    tau : float or None
        The share of the reasonable points.

    See Also
    --------
    Goodness : The result of ``goodness``.
    similitude.goodness
        Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to
        others.
    """

    def __init__(self, margins: np.ndarray, scale: float, R: np.ndarray | None = None):
        super().__init__(margins)
        self.scale, self.R = scale, R
        self.tau = None if R is None else float(R.mean())

    def __repr__(self) -> str:
        tau = "" if self.tau is None else f", tau = {self.tau:.3g}"
        return f"<SimilarityGoodness of {len(self.margins)} samples: epsilon(0) = {self.curve(0):.3g}{tau}>"


def numbers(gamma: Any) -> np.ndarray:
    """Return gamma as an array, or raise a ValueError."""
    try:
        values = np.asarray(gamma, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if np.isnan(values).any():
        raise ValueError(f"gamma must be a number or an array of numbers; got {gamma!r}.")
    return values


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
