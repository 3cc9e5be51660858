"""Two time series and the steps that a warping distance aligns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.checks import check_integer
from similitude._utils.docs import shared_docs
from similitude._utils.extras import require
from similitude.plotting._drawing import COLORS, Axes, axes_for, literal, number
from similitude.similarities import DTW
from similitude.similarities.warping_path import warping_path

_MOST_LINES = 60
"""The largest number of pairs that are joined, so that single lines can be seen."""


@shared_docs
@dataclass(kw_only=True, eq=False, repr=False)
class AlignmentDisplay:
    """Two time series, one above the other, with lines between the steps that a warping distance aligns.

    Where the lines are slanted or meet in one step, time is stretched. If a series is misclassified, its alignments
    with the nearest training series of the predicted class and of its own class show why.

    Parameters
    ----------
    first, second : arrays of shape (time,)
        The series, drawn above and below.
    path : array of shape (k, 2)
        The positions of aligned steps in both series.
    distance : float, default=None
        The distance, which is shown in the title.
    names : tuple of two, default=("first", "second")
        The names of the series, shown literally.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    lines_ : list of Line2D
        The two series.
    pairs_ : LineCollection
        The lines between aligned steps, at most 60.

    See Also
    --------
    similitude.similarities.DTW
        Dynamic time warping: the smallest sum of squared differences when time may be stretched.
    NeighborWeightsDisplay : The weights with which the neighbours of one sample vote.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude.plotting import AlignmentDisplay
    >>> display = AlignmentDisplay.from_series([0, 0, 1, 2], [0, 1, 2, 2])
    >>> display.path.tolist(), display.distance
    ([[0, 0], [1, 0], [2, 1], [3, 2], [3, 3]], 0.0)
    """

    first: ArrayLike
    second: ArrayLike
    path: ArrayLike
    distance: float | None = None
    names: tuple[Any, Any] = ("first", "second")

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into given Axes or a new figure.

        {plot}
        """
        LineCollection = require("matplotlib.collections", "plot").LineCollection
        (ax,) = axes_for(self, ax, 1, "the alignment", figsize=(6.8, 3.6))
        x, z, path = np.asarray(self.first, float), np.asarray(self.second, float), np.asarray(self.path)
        # The series are moved apart by a little more than they overlap.
        gap = float(z.max() - x.min()) + 0.35 * float(max(np.ptp(x), np.ptp(z)) or 1.0)
        some = path[np.unique(np.linspace(0, len(path) - 1, min(len(path), _MOST_LINES)).round().astype(int))]
        segments = [[(i, x[i] + gap), (j, z[j])] for i, j in some]
        self.pairs_ = ax.add_collection(LineCollection(segments, colors="0.7", linewidths=0.8, zorder=1))
        self.lines_: list[Any] = []
        for i, (values, name) in enumerate(zip((x + gap, z), self.names)):
            style: dict[str, Any] = {"color": COLORS[i], "linewidth": 1.8, "label": literal(name, 40)}
            self.lines_ += ax.plot(np.arange(len(values)), values, **style)
        ax.set_yticks([])
        ax.set_xlabel("time")
        ax.margins(y=0.08)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        if self.distance is not None:
            ax.set_title(f"distance {number(self.distance)}", fontsize="medium")
        return self

    @classmethod
    def from_series(
        cls,
        first: ArrayLike,
        second: ArrayLike,
        *,
        measure: Any = None,
        channel: int = 0,
        names: tuple[Any, Any] = ("first", "second"),
        ax: Axes | None = None,
    ) -> Self:
        """Align two series, and draw them.

        Parameters
        ----------
        first, second : arrays of shape (time,) or (channels, time)
            The series, which may differ in length.
        measure : DTW, WDTW or ADTW, default=None
            The distance that aligns them, fitted if it is relative; None means ``DTW()``.
        channel : int, default=0
            The channel that is drawn; all of them are aligned together.
        names : tuple of two, default=("first", "second")
            The names of the series.
        {ax}

        Returns
        -------
        AlignmentDisplay
            The display.
        """
        measure = DTW() if measure is None else measure
        path = warping_path(first, second, measure)
        if measure.derivative:  # the first slope is that of the second step
            path = path + 1
        x, z = (np.atleast_2d(np.asarray(series, dtype=float)) for series in (first, second))
        check_integer(channel, "channel", 0)
        if channel >= len(x):
            raise ValueError(f"channel must be below {len(x)}, the number of channels; got {channel!r}.")
        distance = float(measure([x], [z])[0, 0])
        return cls(first=x[channel], second=z[channel], path=path, distance=distance, names=names).plot(ax)
