"""Average ranks of methods over data sets, and which of them differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.docs import shared_docs
from similitude.experiments.results import Results
from similitude.experiments.statistics import Ranking, rank_methods
from similitude.plotting._drawing import COLORS, Axes, axes_for, literal, number

_ROW, _BAR, _TICK = 1.0, 0.55, 0.22
"""The heights of a name, of a bar that joins methods, and of a tick."""


@shared_docs
@dataclass(kw_only=True, eq=False, repr=False)
class CriticalDifferenceDisplay:
    """Average ranks of methods over data sets; bars join those that do not differ significantly.

    Rank 1 is the best method on a data set; methods with equal errors share their ranks. By Nemenyi's test, methods
    differ significantly if their average ranks are further apart than the critical difference, which is drawn above the
    axis as a scale. Each bar joins a largest group of methods that do not differ. The title states the p-value of
    Friedman's test that all methods are equally good; if it is large, differences of ranks mean nothing.

    Parameters
    ----------
    methods : sequence of str
    ranks : array of shape (n_methods,)
        Average ranks.
    critical_difference : float
    n_datasets : int, default=None
    p_value : float, default=None
        The p-value of Friedman's test.
    level : float, default=0.05

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    bars_ : list of Line2D
        One for each group of methods that do not differ, the best group first.
    labels_ : list of Text
        Names and average ranks of the methods, the best first.
    scale_ : Line2D
        The scale that shows the critical difference.

    See Also
    --------
    similitude.experiments.rank_methods
        Return the average ranks of methods over data sets, with Friedman's test and Nemenyi's critical
        difference.
    ErrorCurveDisplay : The cross-validated error against a parameter, with a mark at the smallest error.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, Section 3.2.2 and Figure 1.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude.plotting import CriticalDifferenceDisplay
    >>> errors = [[5, 12, 3, 20], [6, 14, 4, 22], [9, 15, 8, 30]]
    >>> display = CriticalDifferenceDisplay.from_errors(errors, ["SVM", "k-NN", "centroid"])
    >>> [label.get_text() for label in display.labels_], len(display.bars_)
    (['SVM  1', 'k-NN  2', '3  centroid'], 2)
    """

    methods: Sequence[str]
    ranks: ArrayLike
    critical_difference: float
    n_datasets: int | None = None
    p_value: float | None = None
    level: float = 0.05

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into given Axes or a new figure.

        {plot}
        """
        ranks = np.asarray(self.ranks, dtype=float)
        if ranks.ndim != 1 or len(ranks) != len(self.methods) or len(ranks) < 2 or not np.isfinite(ranks).all():
            raise ValueError(f"ranks must be one finite number for each of two or more methods; got {self.ranks!r}.")
        order = np.argsort(ranks, kind="stable")
        ranking = Ranking(tuple(map(str, range(len(ranks)))), ranks, 0, self.critical_difference, 1.0, self.level)
        groups = [[int(i) for i in group] for group in ranking.groups]
        left = (len(order) + 1) // 2
        longest = [max(len(literal(self.methods[i])) for i in half) for half in (order[:left], order[left:])]
        size = (4.4 + 0.085 * sum(longest), 1.5 + 0.14 * len(groups) + 0.26 * left)
        (ax,) = axes_for(self, ax, 1, "the ranks", figsize=size)
        ends = self._axis(ax, ranks)
        self.bars_: list[Any] = []
        for i, group in enumerate(groups):
            y = -_BAR * (i + 0.9)
            across = [ranks[group].min() - 0.02, ranks[group].max() + 0.02]
            self.bars_ += ax.plot(across, [y, y], color=COLORS[1], linewidth=3.5, solid_capstyle="round", zorder=3)
        self._names(ax, ranks, order, left, ends, -_BAR * (len(groups) + 0.6))
        ax.set_title(self._title(), fontsize="small", color="0.3", pad=20)
        return self

    @classmethod
    def from_errors(
        cls, errors: ArrayLike, methods: Sequence[str], *, level: float = 0.05, ax: Axes | None = None
    ) -> Self:
        """Rank methods by their errors on each data set, and draw the ranks.

        Parameters
        ----------
        errors : array of shape (n_methods, n_datasets)
            Data sets with a NaN are excluded.
        methods : sequence of str
        level : float, default=0.05
        {ax}

        Returns
        -------
        CriticalDifferenceDisplay
        """
        return cls._from_ranking(rank_methods(errors, methods, level), ax)

    @classmethod
    def from_results(cls, results: Results, *, level: float = 0.05, ax: Axes | None = None) -> Self:
        """Rank the methods of an experiment by their mean errors on each data set, and draw the ranks.

        Parameters
        ----------
        results : similitude.experiments.Results
        level : float, default=0.05
        {ax}

        Returns
        -------
        CriticalDifferenceDisplay
        """
        return cls._from_ranking(results.ranking(level), ax)

    @classmethod
    def _from_ranking(cls, ranking: Ranking, ax: Axes | None) -> Self:
        return cls(**vars(ranking)).plot(ax)

    def _axis(self, ax: Axes, ranks: np.ndarray) -> tuple[float, float]:
        """Draw the line of ranks with its ticks, and the scale above it, and return the ends of the line."""
        low, high = np.floor(ranks.min()), np.ceil(ranks.max())
        high = max(high, low + 1)
        black: dict[str, Any] = {"color": "0.15", "linewidth": 1.0}
        ax.plot([low, high], [0, 0], **black)
        step = max(1, round((high - low) / 12))
        for tick in np.arange(low, high + 0.5, step):
            ax.plot([tick, tick], [0, _TICK], **black)
            ax.text(tick, 1.6 * _TICK, f"{tick:g}", ha="center", va="bottom", fontsize="small")
        width = min(self.critical_difference, high - low)
        y = 1.35 + _TICK
        (self.scale_,) = ax.plot([low, low + width], [y, y], color=COLORS[1], linewidth=1.4, marker="|", markersize=7)
        wide = "" if width == self.critical_difference else ", wider than the axis"
        text = f"critical difference {number(self.critical_difference)}{wide}"
        ax.annotate(text, (low, y), (0, 4), textcoords="offset points", va="bottom", fontsize="small")
        ax.set_axis_off()
        return low, high

    def _names(
        self, ax: Axes, ranks: np.ndarray, order: np.ndarray, left: int, ends: tuple[float, float], top: float
    ) -> None:
        """Draw names with lines to their ranks: the better half on the left, the others on the right."""
        self.labels_ = []
        gap = 0.03 * (ends[1] - ends[0])
        for place, i in enumerate(order):
            on_left = place < left
            row = place if on_left else len(order) - 1 - place
            y = top - _ROW * (row + 0.4)
            x = ends[0] - gap if on_left else ends[1] + gap
            ax.plot([ranks[i], ranks[i], x], [0, y, y], color="0.45", linewidth=0.8, zorder=1)
            name, rank = literal(self.methods[i]), number(ranks[i])
            text = f"{name}  {rank}" if on_left else f"{rank}  {name}"
            side: dict[str, Any] = {"ha": "right" if on_left else "left", "xytext": (-3 if on_left else 3, 0)}
            self.labels_.append(ax.annotate(text, (x, y), textcoords="offset points", va="center", **side))

    def _title(self) -> str:
        parts = ["average rank" if self.n_datasets is None else f"average rank over {self.n_datasets} data sets"]
        if self.p_value is not None:
            parts.append(f"Friedman p = {self.p_value:.2g}")
        return f"{'; '.join(parts)}; Nemenyi at {100 * self.level:g}%"
