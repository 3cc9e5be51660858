"""The axis of the ranks of eigenvalues, with enough room for positive, zero and negative ones to be visible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from similitude._utils.extras import require
from similitude.plotting._drawing import Axes, integer_ticks

_SIGNS = np.array(["positive", "zero", "negative"])

# Zeros get at most this share of the axis, positive and negative eigenvalues at least.
_MOST_FOR_ZEROS, _LEAST_FOR_A_SIGN = 0.16, 0.16
FEW = 40
"""Up to this number of eigenvalues, each has a mark, and the axis is not stretched."""


def rank_axis(ax: Axes, values: np.ndarray) -> None:
    """Make the x-axis one of ranks from 1 to n, stretched where a part would otherwise be too small to see."""
    counts = _counts(values)
    n, present = len(values), counts > 0
    shares = _shares(counts)
    edges = np.concatenate([[0.5], 0.5 + np.cumsum(counts[present])])
    places = np.concatenate([[0.0], np.cumsum(shares[present])])
    if np.allclose(shares, counts / n):
        integer_ticks(ax.xaxis)
    else:
        ticker = require("matplotlib.ticker", "plot")
        # The scale must also be invertible beyond the ends.
        at, to = [edges[0] - n, *edges, edges[-1] + n], [-1.0, *places, 2.0]
        functions = (lambda x: np.interp(x, at, to), lambda x: np.interp(x, to, at))
        ax.set_xscale("function", functions=functions)
        ax.xaxis.set_major_locator(ticker.FixedLocator(_ticks(counts, functions[0])))
        ax.xaxis.set_major_formatter(ticker.FormatStrFormatter("%d"))
        ax.xaxis.set_minor_locator(ticker.NullLocator())
    ax.set_xlim(edges[0], edges[-1])
    ax.set_xlabel("rank of the eigenvalue")
    for edge in edges[1:-1]:
        ax.axvline(edge, color="0.4", linewidth=0.8, linestyle=(0, (1, 2)), zorder=0.9)
    above: dict[str, Any] = {
        "xycoords": ("data", "axes fraction"),
        "textcoords": "offset points",
        "xytext": (0, 4),
    }
    # Names stand at the outer ends of their parts, where that of a small part has room.
    outer = [(edges[0], "left"), *((edge, "right") for edge in edges[2:])]
    for (x, side), count, sign in zip(outer, counts[present], _SIGNS[present]):
        ax.annotate(f"{count} {sign}", (x, 1), fontsize="small", color="0.3", ha=side, **above)


def marked(values: np.ndarray) -> list[int]:
    """Return the positions of eigenvalues whose sign is rare: on a line alone they would not be visible."""
    counts = _counts(values)
    few = [np.full(count, len(values) <= FEW or (count <= FEW and i != 1)) for i, count in enumerate(counts)]
    return np.flatnonzero(np.concatenate(few)).tolist()


def _counts(values: np.ndarray) -> np.ndarray:
    return np.array([np.sum(values > 0), np.sum(values == 0), np.sum(values < 0)])


def _shares(counts: np.ndarray) -> np.ndarray:
    """Return the shares of the axis for positive, zero and negative eigenvalues."""
    shares = counts / counts.sum()
    if counts.sum() <= FEW or shares[1] == 1:
        return shares
    shares[1] = min(shares[1], _MOST_FOR_ZEROS)
    rest = 1 - shares[1]
    signs = counts[[0, 2]] / counts[[0, 2]].sum() * rest
    if signs.min() > 0:
        signs = np.clip(signs, _LEAST_FOR_A_SIGN, rest - _LEAST_FOR_A_SIGN)
    shares[[0, 2]] = signs
    return shares


def _ticks(counts: np.ndarray, place: Callable[[float], float]) -> list[float]:
    """Return the ranks with ticks: the ends of the parts and round ranks between, as far as there is room."""
    ticker = require("matplotlib.ticker", "plot")
    n, first_negative, last_positive = counts.sum(), counts[0] + counts[1] + 1, counts[0]
    wanted = [1, n, first_negative, last_positive]
    for low, high in ((1, last_positive), (first_negative, n)):
        if high > low:
            bins = max(1, int(8 * (place(high) - place(low))))
            wanted += list(ticker.MaxNLocator(bins, integer=True).tick_values(low, high))
    kept: list[float] = []
    for rank in wanted:
        if 1 <= rank <= n and all(abs(place(rank) - place(other)) > 0.07 for other in kept):
            kept.append(rank)
    return sorted(kept)
