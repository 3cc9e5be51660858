"""The weights of a sample's neighbours: against lambda, or neighbour by neighbour."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from similitude._utils.extras import require
from similitude.base import as_one_row
from similitude.neighbors.local_weights import LOCAL_WEIGHTS, local_weights
from similitude.plotting._drawing import COLORS, DASHES, as_axes, literal, number, size_in_points
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
"""S and s of the three examples of Chen et al., JMLR 10, 2009, Section 5.2.2, by what they illustrate."""


class NeighborWeightsDisplay:
    """The weights with which the neighbours of one sample vote.

    :meth:`from_matrix` draws the weights against lambda, one Axes for each kind of weights; :meth:`from_estimator`
    draws what a fitted k-NN classifier does with one sample, a bar for each neighbour, nearest at the top, names on
    the left and similarities on the right.

    Parameters
    ----------
    weights : dict of arrays
        By kind ("uniform", "affinity", "kri", "krr", "lime"): an array of shape (n_regs, k) where ``regs`` is an
        array, else of shape (k,).
    similarities : array of shape (k,)
        The similarities of the sample to its neighbours.
    regs : array of shape (n_regs,), float or None, default=None
        lambda. An array makes curves, a single one or None bars.
    names : sequence of length k, default=None
        What the neighbours are called; None: x_1, ..., x_k. Shown literally, long ones shortened.
    labels : array of shape (k,), default=None
        The neighbours' classes, for bars.
    classes : array of shape (G,), default=None
        All classes, whose order decides the colours: ten plain ones, then hatched; None: those of ``labels``.

    Attributes
    ----------
    ax_ : Axes, or ndarray of Axes where there are several kinds of weights
    figure_ : Figure
    lines_ : dict of lists of Line2D, or None
        The curves, by kind.
    bars_ : dict of BarContainer, or None
        The bars, by kind.

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

    def __init__(self, *, weights, similarities, regs=None, names=None, labels=None, classes=None):
        self.weights = weights
        self.similarities = similarities
        self.regs = regs
        self.names = names
        self.labels = labels
        self.classes = classes

    def plot(self, ax=None):
        """Draw.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            One for each kind of weights; None makes a new figure.

        Returns
        -------
        self
        """
        pyplot = require("matplotlib.pyplot", "plot")
        kinds, curves = list(self.weights), np.ndim(self.regs) == 1
        if ax is None:
            size = self._curves_size() if curves else (6.4 * len(kinds), min(1.6 + 0.27 * len(self.similarities), 16))
            _, ax = pyplot.subplots(1, len(kinds), figsize=size, sharey=curves, squeeze=False, layout="constrained")
        axes = as_axes(ax, len(kinds), f"each of the weights {kinds}")
        self.lines_ = self.bars_ = None
        if curves:
            self.lines_ = {kind: self._curves(axes[i], kind) for i, kind in enumerate(kinds)}
            axes[0].set_ylabel("weight")
            place = {"loc": "upper left", "bbox_to_anchor": (1, 1.02), "ncols": self._legend_columns()}
            size = "small" if len(self.similarities) > 10 else "medium"
            axes[-1].legend(frameon=False, handlelength=2.6, fontsize=size, labelspacing=0.35, **place)
        else:
            self.bars_ = {kind: self._bars(axes[i], kind) for i, kind in enumerate(kinds)}
        self.ax_ = axes if len(axes) > 1 else axes[0]
        self.figure_ = axes[0].figure
        return self

    @classmethod
    def from_matrix(cls, S, s, *, regs=None, weights=("kri", "krr"), names=None, ax=None):
        """Draw the weights of given neighbours against lambda.

        KRR weights do not sum to 1; to compare them with the others they are shown as ``w - mean(w) + 1/k``. An
        indefinite S is clipped, as by default in :class:`~similitude.KNNClassifier`.

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
            What the neighbours are called; None: x_1, ..., x_k.
        ax : Axes or array of Axes, default=None
            One for each of ``weights``; None makes a new figure.

        Returns
        -------
        NeighborWeightsDisplay
        """
        require("matplotlib.pyplot", "plot")
        S = check_similarity(S, accept_sparse=False)
        k = len(S)
        s = check_similarity(np.reshape(s, (1, -1)), name="s", square=False, accept_sparse=False)[0]
        if len(s) != k:
            raise ValueError(f"s must hold one similarity for each of the {k} rows of S; got {len(s)}.")
        names = _names(names, k, "names", "row of S")
        regs = _check_regs(regs)
        kinds = [weights] if isinstance(weights, str) else list(weights)
        if not kinds or not set(kinds) <= set(LOCAL_WEIGHTS):
            raise ValueError(f"weights must be some of {LOCAL_WEIGHTS}; got {weights!r}.")
        warn_of_asymmetry("NeighborWeightsDisplay", S, stacklevel=3)
        neighbors = s[None], np.arange(k)[None]
        found = {kind: local_weights(S, *neighbors, [k], regs, weights=kind)[0, 0] for kind in kinds}
        if "krr" in found:
            found["krr"] += 1 / k - found["krr"].mean(axis=1, keepdims=True)  # footnote 5 of the paper
        return cls(weights=found, similarities=s, regs=regs, names=names).plot(ax)

    @classmethod
    def from_estimator(cls, estimator, X_row, *, ids=None, ax=None):
        """Draw the neighbours of one sample, with the weights that they vote with.

        Parameters
        ----------
        estimator : fitted KNNClassifier
        X_row : one sample as ``estimator.predict`` takes it
            A precomputed row may be of shape (n,) too; of raw objects, a sequence of one.
        ids : sequence of length n, default=None
            What the training samples are called; None: the ids given in ``fit``, or else their positions.
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        NeighborWeightsDisplay
        """
        require("matplotlib.pyplot", "plot")
        if not hasattr(estimator, "neighbor_weights"):
            raise ValueError(f"estimator must be a fitted KNNClassifier; got {type(estimator).__name__}.")
        X_row = as_one_row(estimator, X_row)
        similarities = estimator.kneighbors(X_row)[0]
        indices, weights = estimator.neighbor_weights(X_row)
        if len(indices) != 1:
            raise ValueError(f"X_row must hold one sample, as predict takes it; got {len(indices)}.")
        n = len(estimator._labels)
        ids = _names(ids, n, "ids", "training sample") or _known_ids(estimator) or range(n)
        kind = estimator.weights
        return cls(
            weights={kind: weights[0]},
            similarities=similarities[0],
            regs=float(estimator.reg) if kind in LOCAL_WEIGHTS else None,
            names=[ids[i] for i in indices[0]],
            labels=estimator.classes_[estimator._labels[indices[0]]],
            classes=estimator.classes_,
        ).plot(ax)

    def _shown_names(self):
        if self.names is None:
            return [f"$x_{{{i}}}$" for i in range(1, len(self.similarities) + 1)]
        return [literal(name) for name in self.names]

    def _legend_columns(self):
        return -(-len(self.similarities) // 16)

    def _curves_size(self):
        """Inches: a legend of many long names stands beside the curves, not in their place."""
        letters = max(8, *map(len, self._shown_names()))
        return 3.3 * len(self.weights) + self._legend_columns() * (0.6 + 0.07 * letters), 3.4

    def _curves(self, ax, kind):
        ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
        lines = []
        for i, (name, weights) in enumerate(zip(self._shown_names(), np.transpose(self.weights[kind]))):
            style = {
                "color": COLORS[i % len(COLORS)],
                "linestyle": DASHES[(i + i // len(COLORS)) % len(DASHES)],
                "linewidth": 2,
            }
            lines += ax.plot(self.regs, weights, label=name, **style)
        ax.set_xscale("log")
        ax.set_title(f"{_title(kind)} weights" + (", shifted to sum 1" if kind == "krr" else ""), fontsize="medium")
        ax.set_xlabel("lambda")
        return lines

    def _bars(self, ax, kind):
        weights, labels = np.asarray(self.weights[kind]), np.asarray(self.labels)
        classes = np.unique(labels) if self.classes is None else np.asarray(self.classes)
        positions = np.argmax(labels[:, None] == classes, axis=1)
        styles = [_bar_style(position) for position in positions]
        rows = np.arange(len(weights))
        ax.use_sticky_edges = False  # bars of width 0 would vanish in the frame
        ax.axvline(0, color="black", linewidth=0.8, zorder=0.9)
        bars = ax.barh(
            rows, weights, height=0.7, linewidth=1.8, **{name: [s[name] for s in styles] for name in styles[0]}
        )
        ax.set_ylim(len(rows) - 0.4, -0.6)
        # Rows of a crowded picture are lower than letters of the usual size.
        width, height = size_in_points(ax)
        fontsize = min(9, 0.75 * height / len(rows))
        right = ax.secondary_yaxis("right")
        numbers = [number(value) for value in self.similarities]
        for side, texts in ((ax, self._shown_names()), (right, numbers)):
            side.set_yticks(rows, labels=texts, fontsize=fontsize)
            side.tick_params(axis="y", length=0)
        # A header over the column: set sideways it would read as the name of the next Axes' bars.
        beside = {"xycoords": "axes fraction", "xytext": (4, 4), "textcoords": "offset points"}
        ax.annotate("similarity", (1, 1), fontsize=min(9, 1.2 * fontsize), **beside)
        reg = "" if self.regs is None else f", lambda = {self.regs:g}"
        ax.set_xlabel(f"{_title(kind)} weight{reg}")
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)

        present = np.unique(positions)
        handles = [bars[int(np.argmax(positions == i))] for i in present]
        entries = [f"{literal(classes[i])}: {number(weights[positions == i].sum())}" for i in present]
        columns = max(1, int(width / (6 * (max(map(len, entries)) + 5))))
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": columns}
        ax.legend(handles, entries, title="class: total weight", frameon=False, **above)
        return bars


def _title(kind):
    return kind.upper() if kind in LOCAL_WEIGHTS else kind


def _bar_style(position):
    """Filled, then hatched; the edge has the colour too, so that a weight of 0 still shows its class."""
    color, hatch = COLORS[position % len(COLORS)], _HATCHES[position // len(COLORS) % len(_HATCHES)]
    return {"facecolor": "white" if hatch else color, "edgecolor": color, "hatch": hatch}


def _names(names, count, argument, of):
    if names is None:
        return None
    if isinstance(names, str) or len(names) != count:
        found = "a str" if isinstance(names, str) else len(names)
        raise ValueError(f"{argument} must hold one name for each {of} ({count}); got {found}.")
    return list(names)


def _known_ids(estimator):
    """The ids of Proximities, or the column names of a DataFrame, that a precomputed matrix came with."""
    for attribute in ("_column_ids", "feature_names_in_"):
        ids = getattr(estimator, attribute, None)
        if ids is not None:
            return list(ids)
    return None


def _check_regs(regs):
    if regs is None:
        return np.logspace(-2, 2, 201)
    try:
        values = np.unique(np.asarray(regs, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"regs must be numbers above 0; got {regs!r}.") from error
    if np.ndim(regs) != 1 or not len(values) or not np.all((values > 0) & (values < np.inf)):
        raise ValueError(f"regs must be one or more finite numbers above 0; got {regs!r}.")
    return values
