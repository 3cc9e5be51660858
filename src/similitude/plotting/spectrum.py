"""The eigenvalues of a similarity matrix, and what a modification makes of them."""

from __future__ import annotations

from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude._utils.extras import require
from similitude.numerics.eigen import cut_zeros, eigh, negative_eigenfraction
from similitude.plotting._drawing import COLORS, DASHES, as_axes, literal, number, size_in_points
from similitude.plotting._rank_axis import FEW, marked, rank_axis
from similitude.proximity.check import check_similarity, dense, is_symmetric
from similitude.proximity.proximities import Proximities
from similitude.proximity.symmetry import mean_of_directions, warn_of_asymmetry
from similitude.transform.spectrum import SpectrumModifier

_MODIFY: dict[str, Any] = {
    "clip": lambda values: np.maximum(values, 0.0),
    "flip": np.abs,
    "shift": lambda values: values - min(values.min(), 0.0),
    "square": np.square,
}
_LOOKS = {
    "clip": (COLORS[0], DASHES[1]),
    "flip": (COLORS[1], DASHES[2]),
    "shift": (COLORS[2], DASHES[3]),
    "square": (COLORS[4], DASHES[0]),
    "learned": (COLORS[4], DASHES[0]),
}

SCALES = ("auto", "linear", "symlog")


class SpectrumDisplay:
    """Eigenvalues before and after a modification of the spectrum, largest first.

    Where a long spectrum has many zeros, or few eigenvalues of one sign, the axis of the ranks is stretched by parts:
    lines part the positive, zero and negative eigenvalues, and the number of each stands above. Eigenvalues that span
    orders of magnitude are drawn on a symmetric logarithmic axis.

    With ``weights`` there are two Axes: on the left the eigenvalues lambda before and after, on the right the weights
    a that the eigenvalues are multiplied by, against lambda, beside those of clip (1 if lambda > 0, else 0) and flip
    (sgn lambda).

    Parameters
    ----------
    eigenvalues : array of shape (n,)
        In any order.
    modified : dict of arrays of shape (n,)
        By the name of the modification ("clip", "flip", "shift", "square", "learned" or another, shown literally):
        what becomes of each eigenvalue, in the order of ``eigenvalues``.
    weights : array of shape (n,), default=None
        Learned weights a, in the same order.
    name : str, default=None
        Above the title; shown literally.
    scale : {"auto", "linear", "symlog"}, default="auto"
        The axis of the eigenvalues; "auto" is "symlog" where the median one is below 2% of all that is drawn, or
        the most negative one below 5% (in absolute value, zeros aside).

    Attributes
    ----------
    ax_ : Axes, or with ``weights`` an ndarray of two
    figure_ : Figure
    lines_ : dict of Line2D
        The eigenvalues, "before" and by modification.
    weight_lines_ : dict of Line2D, or None
        The weights "learned", and those of "clip" and "flip".
    n_negative_ : int
        How many eigenvalues are negative.
    negative_eigenfraction_ : float
        ``sum |negative lambda| / sum |lambda|``.

    References
    ----------
    Chen, Gupta & Recht, "Learning kernels from indefinite similarities", ICML 2009, Figure 2 and Section 3.3.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude import SpectrumModifier
    >>> from similitude.plotting import SpectrumDisplay
    >>> S = [[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    >>> display = SpectrumDisplay.from_matrix(S)
    >>> display.eigenvalues
    array([ 2.,  1., -2.])
    >>> display.modified["flip"], display.modified["shift"]
    (array([2., 1., 2.]), array([4., 3., 0.]))
    >>> display.ax_.get_title()
    '1 of 3 eigenvalues negative, negative eigenfraction 0.4'
    >>> list(SpectrumDisplay.from_estimator(SpectrumModifier("clip").fit(S)).lines_)
    ['before', 'clip']
    """

    def __init__(self, *, eigenvalues, modified, weights=None, name=None, scale="auto"):
        self.eigenvalues = eigenvalues
        self.modified = modified
        self.weights = weights
        self.name = name
        self.scale = scale

    def plot(self, ax=None):
        """Draw.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            Two with ``weights``, else one; None makes a new figure.

        Returns
        -------
        self
        """
        pyplot = require("matplotlib.pyplot", "plot")
        if self.scale not in SCALES:
            raise ValueError(f"scale must be one of {SCALES}; got {self.scale!r}.")
        before = np.asarray(self.eigenvalues, dtype=float)
        if before.ndim != 1 or not len(before):
            raise ValueError(f"eigenvalues must be one or more numbers; got shape {before.shape}.")
        order = np.argsort(-before, kind="stable")
        after = {
            name: _one_each(values, before, f"modified[{name!r}]")[order] for name, values in self.modified.items()
        }
        weights = None if self.weights is None else _one_each(self.weights, before, "weights")[order]
        before = before[order]
        count = 1 if self.weights is None else 2
        if ax is None:
            _, ax = pyplot.subplots(1, count, figsize=(6.4 if count == 1 else 11.5, 4), layout="constrained")
        axes = as_axes(ax, count, "the eigenvalues" + (", and one for the weights" if count == 2 else ""))
        self.n_negative_ = int(np.sum(before < 0))
        self.negative_eigenfraction_ = abs(negative_eigenfraction(before))
        threshold = self._threshold(before, max(np.max(np.abs(values)) for values in (before, *after.values())))
        self.lines_ = self._spectra(axes[0], before, after, threshold)
        self.weight_lines_ = None
        if count == 2:
            self.weight_lines_ = self._weights(axes[1], before, weights, threshold)
        self.ax_ = axes if count == 2 else axes[0]
        self.figure_ = axes[0].figure
        return self

    @classmethod
    def from_matrix(cls, S, *, methods=("clip", "flip", "shift"), name=None, scale="auto", ax=None):
        """Draw the eigenvalues of a matrix and what modifications make of them.

        Parameters
        ----------
        S : array-like, DataFrame or sparse matrix of shape (n, n)
            An asymmetric one is symmetrised, with a warning.
        methods : str or sequence of {"clip", "flip", "shift", "square"}, default=("clip", "flip", "shift")
            May be empty.
        name : str, default=None
            Above the title.
        scale : {"auto", "linear", "symlog"}, default="auto"
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        SpectrumDisplay
        """
        require("matplotlib.pyplot", "plot")
        methods = [methods] if isinstance(methods, str) else list(methods)
        if not set(methods) <= set(_MODIFY):
            raise ValueError(f"methods must be some of {tuple(_MODIFY)}; got {methods!r}.")
        S = dense(check_similarity(S.S if isinstance(S, Proximities) else S))
        if warn_of_asymmetry("SpectrumDisplay", S, stacklevel=3):
            S = mean_of_directions(S)
        values = _descending(cut_zeros(eigh(S)[0]))
        modified = {method: _modified(method, values, "methods") for method in methods}
        return cls(eigenvalues=values, modified=modified, name=name, scale=scale).plot(ax)

    @classmethod
    def from_estimator(cls, estimator, *, pair=None, name=None, scale="auto", ax=None):
        """Draw what a fitted estimator does to the eigenvalues.

        Parameters
        ----------
        estimator : fitted SpectrumModifier, or classifier with learned weights
            The latter has ``eigenvalues_`` (those that are not zero) and ``spectrum_weights_``, two arrays or, one
            per pair of classes, two lists of arrays; weights are drawn beside those of clip and flip.
        pair : pair of labels or int, default=None
            Of several pairs of classes, which: its labels, or its position among the pairs (0, 1), (0, 2), ....
        name : str, default=None
            Above the title; None: with several pairs of classes the labels of the pair.
        scale : {"auto", "linear", "symlog"}, default="auto"
        ax : Axes or array of Axes, default=None
            With learned weights two; None makes a new figure.

        Returns
        -------
        SpectrumDisplay
        """
        require("matplotlib.pyplot", "plot")
        if isinstance(estimator, SpectrumModifier):
            if pair is not None:
                raise ValueError(f"pair must be None for a SpectrumModifier, which has one spectrum; got {pair!r}.")
            check_is_fitted(estimator)
            values = _descending(estimator.eigenvalues_)
            return cls(eigenvalues=values, modified=_of_modifier(estimator, values), name=name, scale=scale).plot(ax)
        if not (hasattr(estimator, "eigenvalues_") and hasattr(estimator, "spectrum_weights_")):
            if hasattr(estimator, "fit"):
                check_is_fitted(estimator)
            raise ValueError(
                "estimator must be a fitted SpectrumModifier, or have eigenvalues_ and spectrum_weights_; got "
                f"{type(estimator).__name__}."
            )
        values, weights, labels = _of_pair(estimator, pair)
        if name is None and labels is not None:
            name = " / ".join(map(str, labels))
        order = np.argsort(-values, kind="stable")
        values, weights = values[order], _one_each(weights, values, "spectrum_weights_ of estimator")[order]
        modified = {"clip": _MODIFY["clip"](values), "flip": np.abs(values), "learned": weights * values}
        return cls(eigenvalues=values, modified=modified, weights=weights, name=name, scale=scale).plot(ax)

    def _threshold(self, values, largest):
        """Below what a symmetric logarithmic axis is linear; None for a linear axis."""
        sizes = np.abs(values[values != 0])
        if self.scale == "linear" or not len(sizes):
            return None
        most_negative = -min(values.min(), 0.0)
        if self.scale == "auto" and np.median(sizes) >= 0.02 * largest and not 0 < most_negative < 0.05 * largest:
            return None
        smallest = np.quantile(sizes, 0.1)
        return 10.0 ** np.floor(np.log10(max(min(smallest, 0.1 * largest), 1e-5 * largest)))

    def _spectra(self, ax, before, after, threshold):
        n = len(before)
        ranks = np.arange(1, n + 1)
        marks = {"marker": "o", "markevery": marked(before)}
        ax.axhline(0, color="0.4", linewidth=0.8, zorder=0.9)
        (line,) = ax.plot(ranks, before, color="0.68", linewidth=5, markersize=8, label="before", **marks)
        lines = {"before": line}
        for i, (name, values) in enumerate(after.items()):
            color, dashes = _LOOKS.get(name, (COLORS[5 + i % 5], DASHES[i % len(DASHES)]))
            look = {"color": color, "linestyle": dashes, "linewidth": 1.8, "markersize": 4, **marks}
            if name == "learned" and n > FEW:  # unlike the others it may be ragged, and a line would fill the picture
                look = {"color": color, "linestyle": "none", "marker": "o", "markersize": _dot(n) / 1.5}
            (lines[name],) = ax.plot(ranks, values, label=literal(name), **look)
        if threshold is not None:
            ax.set_yscale("symlog", linthresh=threshold)
            _thin_symlog_ticks(ax.yaxis, 7)
        rank_axis(ax, before)
        ax.set_ylabel("eigenvalue")
        ax.set_title(self._title(ax, n), fontsize="medium", pad=18)
        ax.grid(axis="y", color="0.9")
        ax.set_axisbelow(True)
        ax.legend(handlelength=3, fontsize="small")
        return lines

    def _title(self, ax, n):
        name = "" if self.name is None else literal(self.name, 60) + "\n"
        what = "eigenvalues" if self.weights is None else "nonzero eigenvalues"
        fraction = number(self.negative_eigenfraction_)
        parts = f"{self.n_negative_} of {n} {what} negative,", f"negative eigenfraction {fraction}"
        # A letter is wider; but the layout will widen the Axes, and the title may exceed them a little.
        one_line = size_in_points(ax)[0] > 4.4 * sum(map(len, parts))
        return name + (" " if one_line else "\n").join(parts)

    def _weights(self, ax, values, weights, threshold):
        for line in (ax.axhline, ax.axvline):
            line(0, color="0.4", linewidth=0.8, zorder=0.9)
        ends = [min(values.min(), 0.0), 0.0, 0.0, max(values.max(), 0.0)]
        lines = {}
        for name, steps in (("clip", [0, 0, 1, 1]), ("flip", [-1, -1, 1, 1])):
            color, dashes = _LOOKS[name]
            (lines[name],) = ax.plot(ends, steps, color=color, linestyle=dashes, linewidth=1.8, label=name)
        color = _LOOKS["learned"][0]
        look = {"marker": "o", "markersize": _dot(len(values)), "markerfacecolor": (color, 0.35), "linestyle": "none"}
        (lines["learned"],) = ax.plot(values, weights, color=color, label="learned", zorder=1.9, **look)
        if threshold is not None:
            ax.set_xscale("symlog", linthresh=threshold)
            _thin_symlog_ticks(ax.xaxis, 5)
        ax.set_xlabel("eigenvalue before")
        ax.set_ylabel("weight a")
        ax.set_title("weights: after = a × before", fontsize="medium", pad=18)
        ax.grid(color="0.9")
        ax.set_axisbelow(True)
        ax.legend(handlelength=3, fontsize="small")
        return lines


def _descending(values):
    return np.sort(np.asarray(values, dtype=np.float64))[::-1]


def _one_each(numbers, eigenvalues, what):
    numbers = np.asarray(numbers, dtype=np.float64)
    if numbers.shape != eigenvalues.shape:
        raise ValueError(f"{what} must hold one number per eigenvalue ({len(eigenvalues)}); got shape {numbers.shape}.")
    return numbers


def _modified(method, values, argument):
    with np.errstate(over="ignore"):
        modified = _MODIFY[method](values)
    if not np.isfinite(modified).all():
        raise ValueError(f"{argument}: {method!r} overflows on eigenvalues as large as these; rescale S first.")
    return modified


def _of_modifier(modifier, values):
    """What a fitted SpectrumModifier makes of its eigenvalues, given in descending order."""
    method = modifier._method
    if method == "none":
        return {}
    if method == "square" and not is_symmetric(modifier._similarities):
        # S S^T has other eigenvectors than the symmetric part: its largest eigenvalue stands at the largest |lambda|.
        squares = np.empty_like(values)
        squares[np.argsort(-np.abs(values), kind="stable")] = (
            np.linalg.svd(modifier._similarities, compute_uv=False) ** 2
        )
        return {method: squares}
    return {method: _modified(method, values, "estimator")}


def _of_pair(estimator, pair):
    """Eigenvalues and weights of one pair of classes, and its labels where there are several."""
    values, weights = estimator.eigenvalues_, estimator.spectrum_weights_
    several = isinstance(weights, (list, tuple)) and len(weights) > 0 and np.ndim(weights[0]) == 1
    if not several:
        values, weights = [values], [weights]
    classes = getattr(estimator, "classes_", None)
    pairs = [None] * len(weights) if classes is None else list(combinations(np.asarray(classes).tolist(), 2))
    i = 0 if pair is None and len(weights) == 1 else _pair_position(pair, pairs)
    return (
        np.asarray(values[i], dtype=np.float64),
        np.asarray(weights[i], dtype=np.float64),
        pairs[i] if several else None,
    )


def _pair_position(pair, pairs):
    if isinstance(pair, Integral) and not isinstance(pair, bool) and 0 <= int(pair) < len(pairs):
        return int(pair)
    if isinstance(pair, (tuple, list)):
        for i, labels in enumerate(pairs):
            if labels is not None and len(pair) == 2 and tuple(pair) in (tuple(labels), tuple(labels)[::-1]):
                return i
    known = "" if pairs[0] is None else f", or two labels: one of {pairs[:6]}{' and so on' if len(pairs) > 6 else ''}"
    raise ValueError(f"pair must be a position from 0 to {len(pairs) - 1}{known}; got {pair!r}.")


def _dot(n):
    """The size of the mark of one of n eigenvalues."""
    return 6.0 if n <= FEW else max(2.0, 6.0 * (FEW / n) ** 0.3)


def _thin_symlog_ticks(axis, most):
    """Few enough powers of ten that those around zero do not run into each other; side by side they are wider."""
    axis.get_major_locator().set_params(numticks=most)
