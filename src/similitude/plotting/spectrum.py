"""The eigenvalues of a similarity matrix before and after a modification of the spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_choice
from similitude._utils.extras import require
from similitude._utils.types import ProximityLike
from similitude.diagnosis.pictures import spectra
from similitude.numerics.eigen import modified_eigenvalues, negative_eigenfraction
from similitude.plotting._drawing import (
    COLORS,
    DASHES,
    Axes,
    AxesLike,
    Line2D,
    axes_for,
    light_grid,
    literal,
    number,
    size_in_points,
)
from similitude.plotting._rank_axis import FEW, marked, rank_axis
from similitude.proximity.check import check_similarity, dense, is_symmetric
from similitude.proximity.proximities import as_proximities
from similitude.proximity.symmetry import warn_of_asymmetry
from similitude.transform.spectrum import SpectrumModifier, method_of

METHODS = ("clip", "flip", "shift", "square")
SCALES = ("auto", "linear", "symlog")

_LOOKS = {
    "clip": (COLORS[0], DASHES[1]),
    "flip": (COLORS[1], DASHES[2]),
    "shift": (COLORS[2], DASHES[3]),
    "square": (COLORS[4], DASHES[0]),
    "learned": (COLORS[4], DASHES[0]),
}


@dataclass(kw_only=True, eq=False, repr=False)
class SpectrumDisplay:
    """Eigenvalues before and after a modification of the spectrum, largest first.

    If a long spectrum has many zeros, or few eigenvalues of one sign, parts of the axis of ranks are stretched: lines
    separate the positive, zero and negative eigenvalues, and their numbers are stated above. Eigenvalues that span
    orders of magnitude are drawn on a symmetric logarithmic axis.

    With ``weights`` there are two Axes. The left one shows the eigenvalues lambda before and after. The right one shows
    the weights a by which the eigenvalues are multiplied, against lambda, together with those of clip (1 if lambda > 0,
    else 0) and flip (sgn lambda).

    Parameters
    ----------
    eigenvalues : array of shape (n,)
        In any order.
    modified : dict of arrays of shape (n,)
        The eigenvalues after each modification, in the order of ``eigenvalues``. The keys are the names of the
        modifications: "clip", "flip", "shift", "square", "learned" or another name, shown literally.
    weights : array of shape (n,), default=None
        Learned weights a, in the same order.
    name : str, default=None
        First line of the title; shown literally.
    scale : {"auto", "linear", "symlog"}, default="auto"
        Scale of the axis of eigenvalues. "auto" is "symlog" if, in absolute value and without zeros, the median
        eigenvalue is below 2% of the largest value drawn, or the most negative one below 5%.

    Attributes
    ----------
    ax_ : Axes, or with ``weights`` an ndarray of two
    figure_ : Figure
    lines_ : dict of Line2D
        The eigenvalues, by the keys "before" and the names of the modifications.
    weight_lines_ : dict of Line2D, or None
        The weights, by the keys "learned", "clip" and "flip".
    n_negative_ : int
        The number of negative eigenvalues.
    negative_eigenfraction_ : float
        ``sum |negative lambda| / sum |lambda|``.

    See Also
    --------
    similitude.SpectrumModifier : Make a similarity matrix positive semidefinite, and transform new rows consistently.
    similitude.LearnedSpectrumSVC
        Classify by a support vector machine that learns how to modify the spectrum of the similarities.

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

    eigenvalues: ArrayLike
    modified: dict[str, Any]
    weights: ArrayLike | None = None
    name: str | None = None
    scale: Literal["auto", "linear", "symlog"] = "auto"

    def plot(self, ax: AxesLike | None = None) -> Self:
        """Draw into given Axes or a new figure.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            Two with ``weights``, else one; None makes a new figure.

        Returns
        -------
        self
        """
        check_choice(self.scale, "scale", SCALES)
        before = np.asarray(self.eigenvalues, dtype=float)
        if before.ndim != 1 or not len(before):
            raise ValueError(f"eigenvalues must be one or more numbers; got shape {before.shape}.")
        order = np.argsort(-before, kind="stable")
        after = {
            name: _one_each(values, before, f"modified[{name!r}]")[order] for name, values in self.modified.items()
        }
        weights = None if self.weights is None else _one_each(self.weights, before, "weights")[order]
        before = before[order]
        if weights is None:
            axes = axes_for(self, ax, 1, "the eigenvalues", figsize=(6.4, 4))
        else:
            axes = axes_for(self, ax, 2, "the eigenvalues, and one for the weights", figsize=(11.5, 4))
        self.n_negative_ = int(np.sum(before < 0))
        self.negative_eigenfraction_ = negative_eigenfraction(before)
        threshold = self._threshold(before, max(np.max(np.abs(values)) for values in (before, *after.values())))
        self.lines_ = self._spectra(axes[0], before, after, threshold)
        self.weight_lines_ = None if weights is None else self._weights(axes[1], before, weights, threshold)
        return self

    @classmethod
    def from_matrix(
        cls,
        S: ProximityLike,
        *,
        methods: Literal["clip", "flip", "shift", "square"] | Sequence[Literal["clip", "flip", "shift", "square"]] = (
            "clip",
            "flip",
            "shift",
        ),
        name: str | None = None,
        scale: Literal["auto", "linear", "symlog"] = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the eigenvalues of a matrix before and after modifications.

        Parameters
        ----------
        S : array-like, DataFrame or sparse matrix of shape (n, n)
            An asymmetric one is symmetrised, with a warning.
        methods : str or sequence of {"clip", "flip", "shift", "square"}, default=("clip", "flip", "shift")
            May be empty.
        name : str, default=None
            First line of the title.
        scale : {"auto", "linear", "symlog"}, default="auto"
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        SpectrumDisplay
        """
        require("matplotlib.pyplot", "plot")
        methods = [methods] if isinstance(methods, str) else list(methods)
        if not set(methods) <= set(METHODS):
            raise ValueError(f"methods must be some of {METHODS}; got {methods!r}.")
        S = dense(check_similarity(as_proximities(S).S))
        warn_of_asymmetry("SpectrumDisplay", S)
        found = spectra(S, methods)
        return cls(eigenvalues=found.before, modified=found.after, name=name, scale=scale).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        pair: tuple[Any, Any] | int | None = None,
        name: str | None = None,
        scale: Literal["auto", "linear", "symlog"] = "auto",
        ax: AxesLike | None = None,
    ) -> Self:
        """Draw the eigenvalues before and after the modification by a fitted estimator.

        Parameters
        ----------
        estimator : fitted SpectrumModifier, or classifier with learned weights
            The latter has the attributes ``eigenvalues_``, without zeros, and ``spectrum_weights_``: two arrays, or
            two lists with one array for each pair of classes.
        pair : pair of labels or int, default=None
            Which of several pairs of classes to draw: its labels, or its position among the pairs (0, 1), (0, 2), ...
        name : str, default=None
            First line of the title; None: the labels of the pair, if there are several.
        scale : {"auto", "linear", "symlog"}, default="auto"
        ax : Axes or array of Axes, default=None
            Two with learned weights, else one; None makes a new figure.

        Returns
        -------
        SpectrumDisplay
        """
        if isinstance(estimator, SpectrumModifier):
            if pair is not None:
                raise ValueError(f"pair must be None for a SpectrumModifier, which has one spectrum; got {pair!r}.")
            check_is_fitted(estimator)
            values = np.sort(estimator.eigenvalues_)[::-1]
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
        modified = {method: modified_eigenvalues(values, method) for method in ("clip", "flip")}
        modified["learned"] = weights * values
        return cls(eigenvalues=values, modified=modified, weights=weights, name=name, scale=scale).plot(ax)

    def _threshold(self, values: np.ndarray, largest: float) -> float | None:
        """Return the value below which a symmetric logarithmic axis is linear; None for a linear axis."""
        sizes = np.abs(values[values != 0])
        if self.scale == "linear" or not len(sizes):
            return None
        most_negative = -min(values.min(), 0.0)
        if self.scale == "auto" and np.median(sizes) >= 0.02 * largest and not 0 < most_negative < 0.05 * largest:
            return None
        smallest = np.quantile(sizes, 0.1)
        return 10.0 ** np.floor(np.log10(max(min(smallest, 0.1 * largest), 1e-5 * largest)))

    def _spectra(
        self, ax: Any, before: np.ndarray, after: dict[str, np.ndarray], threshold: float | None
    ) -> dict[str, Line2D]:
        n = len(before)
        ranks = np.arange(1, n + 1)
        marks: dict[str, Any] = {"marker": "o", "markevery": marked(before)}
        ax.axhline(0, color="0.4", linewidth=0.8, zorder=0.9)
        (line,) = ax.plot(ranks, before, color="0.68", linewidth=5, markersize=8, label="before", **marks)
        lines = {"before": line}
        for i, (name, values) in enumerate(after.items()):
            color, dashes = _LOOKS.get(name, (COLORS[5 + i % 5], DASHES[i % len(DASHES)]))
            look: dict[str, Any] = {"color": color, "linestyle": dashes, "linewidth": 1.8, "markersize": 4, **marks}
            if name == "learned" and n > FEW:  # it may be ragged, so a line would fill the picture
                look = {"color": color, "linestyle": "none", "marker": "o", "markersize": _dot(n) / 1.5}
            (lines[name],) = ax.plot(ranks, values, label=literal(name), **look)
        if threshold is not None:
            ax.set_yscale("symlog", linthresh=threshold)
            ax.yaxis.get_major_locator().set_params(numticks=7)
        rank_axis(ax, before)
        ax.set_ylabel("eigenvalue")
        _finish(ax, self._title(ax, n), "y")
        return lines

    def _title(self, ax: Axes, n: int) -> str:
        name = "" if self.name is None else literal(self.name, 60) + "\n"
        what = "eigenvalues" if self.weights is None else "nonzero eigenvalues"
        fraction = number(self.negative_eigenfraction_)
        parts = f"{self.n_negative_} of {n} {what} negative,", f"negative eigenfraction {fraction}"
        # Letters are wider than 4.4 points, but the layout will widen the Axes, and the title may exceed them a little.
        one_line = size_in_points(ax)[0] > 4.4 * sum(map(len, parts))
        return name + (" " if one_line else "\n").join(parts)

    def _weights(self, ax: Any, values: np.ndarray, weights: np.ndarray, threshold: float | None) -> dict[str, Line2D]:
        for line in (ax.axhline, ax.axvline):
            line(0, color="0.4", linewidth=0.8, zorder=0.9)
        ends = [min(values.min(), 0.0), 0.0, 0.0, max(values.max(), 0.0)]
        lines = {}
        for name, steps in (("clip", [0, 0, 1, 1]), ("flip", [-1, -1, 1, 1])):
            color, dashes = _LOOKS[name]
            (lines[name],) = ax.plot(ends, steps, color=color, linestyle=dashes, linewidth=1.8, label=name)
        color = _LOOKS["learned"][0]
        look: dict[str, Any] = {
            "marker": "o",
            "markersize": _dot(len(values)),
            "markerfacecolor": (color, 0.35),
            "linestyle": "none",
        }
        (lines["learned"],) = ax.plot(values, weights, color=color, label="learned", zorder=1.9, **look)
        if threshold is not None:
            ax.set_xscale("symlog", linthresh=threshold)
            ax.xaxis.get_major_locator().set_params(numticks=5)  # labels side by side take more room
        ax.set_xlabel("eigenvalue before")
        ax.set_ylabel("weight a")
        _finish(ax, "weights: after = a × before", "both")
        return lines


def _finish(ax: Axes, title: str, grid: str) -> None:
    ax.set_title(title, fontsize="medium", pad=18)
    light_grid(ax, grid)
    ax.legend(handlelength=3, fontsize="small")


def _one_each(numbers: ArrayLike, eigenvalues: np.ndarray, what: str) -> np.ndarray:
    numbers = np.asarray(numbers, dtype=np.float64)
    if numbers.shape != eigenvalues.shape:
        raise ValueError(f"{what} must hold one number per eigenvalue ({len(eigenvalues)}); got shape {numbers.shape}.")
    return numbers


def _of_modifier(modifier: SpectrumModifier, values: np.ndarray) -> dict[str, np.ndarray]:
    """Return the eigenvalues of a fitted SpectrumModifier after the modification, by method, in descending order."""
    method = method_of(modifier)
    if method == "none":
        return {}
    if method == "square" and not is_symmetric(modifier.transform_matrix_):
        # S S^T has other eigenvectors than the symmetric part: its largest eigenvalue is drawn at the largest |lambda|.
        squares = np.empty_like(values)
        singular = np.linalg.svd(modifier.transform_matrix_, compute_uv=False)
        squares[np.argsort(-np.abs(values), kind="stable")] = singular**2
        return {method: squares}
    return {method: modified_eigenvalues(values, method)}


def _of_pair(
    estimator: Any, pair: tuple[Any, Any] | int | None
) -> tuple[np.ndarray, np.ndarray, tuple[Any, Any] | None]:
    """Return the eigenvalues and weights of one pair of classes, and its labels if there are several pairs."""
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


def _pair_position(pair: Any, pairs: list[Any]) -> int:
    if isinstance(pair, Integral) and not isinstance(pair, bool) and 0 <= int(pair) < len(pairs):
        return int(pair)
    if isinstance(pair, (tuple, list)):
        for i, labels in enumerate(pairs):
            if labels is not None and len(pair) == 2 and tuple(pair) in (tuple(labels), tuple(labels)[::-1]):
                return i
    known = "" if pairs[0] is None else f", or two labels: one of {pairs[:6]}{' and so on' if len(pairs) > 6 else ''}"
    raise ValueError(f"pair must be a position from 0 to {len(pairs) - 1}{known}; got {pair!r}.")


def _dot(n: int) -> float:
    """Return the size of the mark of one of n eigenvalues."""
    return 6.0 if n <= FEW else max(2.0, 6.0 * (FEW / n) ** 0.3)
