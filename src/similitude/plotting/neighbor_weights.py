"""The weights of the neighbours of a sample, against lambda or as one bar for each neighbour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.types import MatrixLike, SamplesLike
from similitude.base import as_one_row, path_of
from similitude.neighbors.knn import KNNClassifier
from similitude.neighbors.weights import LOCAL_WEIGHTS, local_weights
from similitude.plotting._drawing import (
    COLORS,
    Axes,
    AxesLike,
    Line2D,
    axes_for,
    check_names,
    light_grid,
    line_style,
    literal,
    number,
    size_in_points,
    training_names,
)
from similitude.proximity.check import check_similarity
from similitude.proximity.symmetry import warn_of_asymmetry

_HATCHES = ("", "////", "....", "xxxx")

_LIKE_OTHERS = ((5, 1, 1, 1), (1, 5, 4, 2), (1, 4, 5, 2), (1, 2, 2, 5))
WEIGHT_EXAMPLES = MappingProxyType(
    {
        "affinity": (((5, 0, 0, 0), (0, 5, 0, 0), (0, 0, 5, 0), (0, 0, 0, 5)), (4, 3, 2, 1)),
        "diversity": (_LIKE_OTHERS, (3, 3, 3, 3)),
        "both": (_LIKE_OTHERS, (2, 4, 3, 3)),
    }
)
"""S and s of the three examples of Chen et al., JMLR 10, 2009, Section 5.2.2, by the property they illustrate."""


@dataclass(kw_only=True, eq=False, repr=False)
class NeighborWeightsDisplay:
    """The weights with which the neighbours of one sample vote.

    :meth:`from_matrix` draws the weights against lambda, one Axes for each kind of weights; :meth:`from_estimator`
    draws the vote of a fitted k-NN classifier on one sample: a bar for each neighbour, the nearest at the top, with the
    names on the left and the similarities on the right.

    Parameters
    ----------
    weights : dict of arrays
        By kind, a value of the parameter ``weights`` of ``KNNClassifier``: an array of shape (n_regs, k) where ``regs``
        is an array, else of shape (k,).
    similarities : array of shape (k,)
        The similarities of the sample to its neighbours.
    regs : array of shape (n_regs,), float or None, default=None
        Values of lambda. An array makes curves; a single value or None makes bars.
    names : sequence of length k, default=None
        Names of the neighbours, shown literally, long ones shortened; None: x_1, ..., x_k.
    labels : array of shape (k,), default=None
        The classes of the neighbours, for bars.
    classes : array of shape (G,), default=None
        All classes in the order of the colours: ten plain ones, then hatched ones; None: those in ``labels``.

    Attributes
    ----------
    ax_ : Axes, or ndarray of Axes where there are several kinds of weights
    figure_ : Figure
    lines_ : dict of lists of Line2D, or None
        The curves, by kind.
    bars_ : dict of BarContainer, or None
        The bars, by kind.

    See Also
    --------
    similitude.KNNClassifier : Classify by a vote of the k most similar training samples.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 5.2.2.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude import KNNClassifier
    >>> from similitude.plotting import WEIGHT_EXAMPLES, NeighborWeightsDisplay
    >>> S, s = WEIGHT_EXAMPLES["diversity"]
    >>> display = NeighborWeightsDisplay.from_matrix(S, s, regs=[0.1, 1, 10])
    >>> display.weights["kri"].round(2)
    array([[0.37, 0.17, 0.17, 0.28],
           [0.35, 0.19, 0.19, 0.28],
           [0.29, 0.22, 0.22, 0.26]])
    >>> [ax.get_title() for ax in display.ax_]
    ['KRI weights', 'KRR weights, shifted to sum 1']

    >>> knn = KNNClassifier(n_neighbors=3, weights="krr").fit(S, ["a", "b", "b", "a"])
    >>> display = NeighborWeightsDisplay.from_estimator(knn, [3, 4, 2, 1], ids=["ann", "bob", "cleo", "dan"])
    >>> display.names, [round(float(bar.get_width()), 2) for bar in display.bars_["krr"]]
    (['bob', 'ann', 'cleo'], [0.76, 0.41, -0.24])
    """

    weights: dict[str, Any]
    similarities: Any
    regs: Any = None
    names: Sequence[Any] | None = None
    labels: Any = None
    classes: Any = None

    def plot(self, ax: AxesLike | None = None) -> Self:
        """Draw into given Axes or a new figure.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            One for each kind of weights; None makes a new figure.

        Returns
        -------
        self
        """
        kinds, curves = list(self.weights), np.ndim(self.regs) == 1
        size = self._curves_size() if curves else (6.4 * len(kinds), min(1.6 + 0.27 * len(self.similarities), 16))
        axes = axes_for(self, ax, len(kinds), f"each of the weights {kinds}", figsize=size, sharey=curves)
        self.lines_ = self.bars_ = None
        if curves:
            self.lines_ = {kind: self._curves(axes[i], kind) for i, kind in enumerate(kinds)}
            axes[0].set_ylabel("weight")
            place = {"loc": "upper left", "bbox_to_anchor": (1, 1.02), "ncols": self._legend_columns()}
            letters = "small" if len(self.similarities) > 10 else "medium"
            axes[-1].legend(frameon=False, handlelength=2.6, fontsize=letters, labelspacing=0.35, **place)
        else:
            self.bars_ = {kind: self._bars(axes[i], kind) for i, kind in enumerate(kinds)}
        return self

    @classmethod
    def from_matrix(
        cls,
        S: MatrixLike,
        s: ArrayLike,
        *,
        regs: ArrayLike | None = None,
        weights: Literal["kri", "krr", "lime"] | Sequence[Literal["kri", "krr", "lime"]] = ("kri", "krr"),
        names: Sequence[Any] | None = None,
        ax: AxesLike | None = None,
    ) -> Self:
        """Draw the weights of given neighbours against lambda.

        KRR weights do not sum to 1. To make them comparable to the others, ``w - mean(w) + 1/k`` is shown instead. An
        indefinite S is clipped, as :class:`~similitude.KNNClassifier` does by default.

        Parameters
        ----------
        S : array-like of shape (k, k)
            Similarities among the neighbours.
        s : array-like of shape (k,)
            Similarities of the sample to them.
        regs : array-like of floats above 0, default=None
            Values of lambda; None: 0.01 to 100.
        weights : str or sequence of {"kri", "krr", "lime"}, default=("kri", "krr")
        names : sequence of length k, default=None
            Names of the neighbours; None: x_1, ..., x_k.
        ax : Axes or array of Axes, default=None
            One for each of ``weights``; None makes a new figure.

        Returns
        -------
        NeighborWeightsDisplay
        """
        S = check_similarity(S, accept_sparse=False)
        k = S.shape[0]
        row = check_similarity(np.reshape(s, (1, -1)), name="s", square=False, accept_sparse=False)[0]
        if len(row) != k:
            raise ValueError(f"s must hold one similarity for each of the {k} rows of S; got {len(row)}.")
        if names is not None:
            check_names(names, k, "names", "row of S")
            names = list(names)
        regs = _check_regs(regs)
        kinds = [weights] if isinstance(weights, str) else list(weights)
        if not kinds or not set(kinds) <= set(LOCAL_WEIGHTS):
            raise ValueError(f"weights must be some of {LOCAL_WEIGHTS}; got {weights!r}.")
        warn_of_asymmetry("NeighborWeightsDisplay", S)
        neighbors = row[None], np.arange(k)[None]
        found: dict[str, Any] = {kind: local_weights(S, *neighbors, [k], regs, weights=kind)[0, 0] for kind in kinds}
        if "krr" in found:
            found["krr"] += 1 / k - found["krr"].mean(axis=1, keepdims=True)  # footnote 5 of the paper
        return cls(weights=found, similarities=row, regs=regs, names=names).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: KNNClassifier,
        X_row: SamplesLike,
        *,
        ids: Sequence[Any] | np.ndarray | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the neighbours of one sample with the weights of their votes.

        Parameters
        ----------
        estimator : fitted KNNClassifier
        X_row : one sample as ``estimator.predict`` takes it
            A precomputed row may also have shape (n,); of raw objects, pass a sequence of one.
        ids : sequence of length n, default=None
            Names of the training samples; None: the ids given in ``fit``, or else their positions.
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        NeighborWeightsDisplay
        """
        if not hasattr(estimator, "neighbor_weights"):
            raise ValueError(f"estimator must be a fitted KNNClassifier; got {type(estimator).__name__}.")
        X_row = as_one_row(estimator, X_row)
        similarities = estimator.kneighbors(X_row)[0]
        indices, weights = estimator.neighbor_weights(X_row)
        if len(indices) != 1:
            raise ValueError(f"X_row must hold one sample, as predict takes it; got {len(indices)}.")
        ids, kind = training_names(estimator, ids), estimator.weights
        return cls(
            weights={kind: weights[0]},
            similarities=similarities[0],
            regs=float(estimator.reg) if kind in LOCAL_WEIGHTS else None,
            names=[ids[i] for i in indices[0]],
            labels=estimator.classes_[path_of(estimator).labels.codes[indices[0]]],
            classes=estimator.classes_,
        ).plot(ax)

    def _shown_names(self) -> list[str]:
        if self.names is None:
            return [f"$x_{{{i}}}$" for i in range(1, len(self.similarities) + 1)]
        return [literal(name) for name in self.names]

    def _legend_columns(self) -> int:
        return -(-len(self.similarities) // 16)

    def _curves_size(self) -> tuple[float, float]:
        """Return the size in inches; a legend of many long names needs room beside the curves."""
        letters = max(8, *map(len, self._shown_names()))
        return 3.3 * len(self.weights) + self._legend_columns() * (0.6 + 0.07 * letters), 3.4

    def _curves(self, ax: Axes, kind: str) -> list[Line2D]:
        ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        lines = []
        for i, (name, weights) in enumerate(zip(self._shown_names(), np.transpose(self.weights[kind]))):
            lines += ax.plot(self.regs, weights, label=name, **line_style(i))
        ax.set_xscale("log")
        ax.set_title(f"{_title(kind)} weights" + (", shifted to sum 1" if kind == "krr" else ""), fontsize="medium")
        ax.set_xlabel("lambda")
        return lines

    def _bars(self, ax: Axes, kind: str) -> Any:
        weights, labels = np.asarray(self.weights[kind]), np.asarray(self.labels)
        classes = np.unique(labels) if self.classes is None else np.asarray(self.classes)
        positions = np.argmax(labels[:, None] == classes, axis=1)
        styles = [_bar_style(position) for position in positions]
        rows = np.arange(len(weights))
        ax.use_sticky_edges = False  # otherwise the frame hides bars of width 0
        ax.axvline(0, color="black", linewidth=0.8, zorder=0.9)
        look: dict[str, Any] = {name: [s[name] for s in styles] for name in styles[0]}
        bars = ax.barh(rows, weights, height=0.7, linewidth=1.8, color=look.pop("facecolor"), **look)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        # In a crowded picture, letters of the usual size would be higher than the rows.
        width, height = size_in_points(ax)
        fontsize = min(9, 0.75 * height / len(rows))
        right = ax.secondary_yaxis("right")
        numbers = [number(value) for value in self.similarities]
        for side, texts in ((ax, self._shown_names()), (right, numbers)):
            side.set_yticks(rows, labels=texts, fontsize=fontsize)
            side.tick_params(axis="y", length=0)
        # The title is above the column: as an axis label it would seem to name the bars of the Axes to the right.
        beside: dict[str, Any] = {"xycoords": "axes fraction", "xytext": (4, 4), "textcoords": "offset points"}
        ax.annotate("similarity", (1, 1), fontsize=min(9, 1.2 * fontsize), **beside)
        reg = "" if self.regs is None else f", lambda = {self.regs:g}"
        ax.set_xlabel(f"{_title(kind)} weight{reg}")
        light_grid(ax, "x")
        present = np.unique(positions)
        handles = [bars[int(np.argmax(positions == i))] for i in present]
        entries = [f"{literal(classes[i])}: {number(weights[positions == i].sum())}" for i in present]
        columns = max(1, int(width / (6 * (max(map(len, entries)) + 5))))
        above: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": columns}
        ax.legend(handles, entries, title="class: total weight", frameon=False, **above)
        return bars


def _title(kind: str) -> str:
    return kind.upper() if kind in LOCAL_WEIGHTS else kind


def _bar_style(position: int) -> dict[str, Any]:
    """Return the look of the bars of a class; the edge is coloured too, so that a weight of 0 still shows the class."""
    color, hatch = COLORS[position % len(COLORS)], _HATCHES[position // len(COLORS) % len(_HATCHES)]
    return {"facecolor": "white" if hatch else color, "edgecolor": color, "hatch": hatch}


def _check_regs(regs: ArrayLike | None) -> np.ndarray:
    if regs is None:
        return np.logspace(-2, 2, 201)
    try:
        values = np.unique(np.asarray(regs, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"regs must be numbers above 0; got {regs!r}.") from error
    if np.ndim(regs) != 1 or not len(values) or not np.all((values > 0) & (values < np.inf)):
        raise ValueError(f"regs must be one or more finite numbers above 0; got {regs!r}.")
    return values
