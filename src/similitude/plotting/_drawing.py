"""Helpers of the Display classes: colours, line styles, texts of the user, Axes, grids and names of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from similitude._utils.extras import require
from similitude.base import reader_of

if TYPE_CHECKING:
    from matplotlib import axes, lines

# For annotations, because matplotlib is optional.
Axes: TypeAlias = "axes.Axes"
Line2D: TypeAlias = "lines.Line2D"
AxesLike: TypeAlias = "axes.Axes | Sequence[axes.Axes] | np.ndarray"
"""The parameter ``ax`` of a picture with several Axes."""

COLORS = (
    "#3f90da",
    "#e76300",
    "#832db6",
    "#717581",
    "#bd1f01",
    "#92dadd",
    "#ffa90e",
    "#a96b59",
    "#b9ac70",
    "#94a4a2",
)
"""Ten colours that colour-blind readers can tell apart (Petroff, arXiv:2107.02270), the clearest on white first."""

DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 2.5)), (0, (6, 1.5, 1.5, 1.5)))
"""Line styles with gaps at different places: lines that coincide are visible through the gaps of one another."""


def line_style(i: int) -> dict[str, Any]:
    """Return the look of line number i: no two of the first forty are alike."""
    return {
        "color": COLORS[i % len(COLORS)],
        "linestyle": DASHES[(i + i // len(COLORS)) % len(DASHES)],
        "linewidth": 1.8,
    }


def literal(text: Any, width: int = 28) -> str:
    """Return text that matplotlib shows literally: without mathematics, on one line, shortened in the middle."""
    shown = " ".join(str(text).split())
    if len(shown) > width:
        end = (width - 1) // 2
        shown = f"{shown[: width - 1 - end]}…{shown[-end:]}"
    shown = shown.replace("$", r"\$")
    # matplotlib omits labels with a leading underscore from legends; a zero-width space before it prevents that.
    return f"\u200b{shown}" if shown.startswith("_") else shown


def number(value: float) -> str:
    """Return a number with three digits and the minus sign that axes have."""
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def axes_for(
    display: Any, ax: AxesLike | None, count: int, each: str, *, columns: int | None = None, **options: Any
) -> np.ndarray:
    """Return the Axes that a display draws on as an array, given or of a new figure; it keeps them as ``ax_``.

    Errors say that each Axes is for ``each``.
    """
    if ax is None:
        columns = columns or count
        options = {"layout": "constrained", **options}
        pyplot = require("matplotlib.pyplot", "plot")
        _, grid = pyplot.subplots(-(-count // columns), columns, squeeze=False, **options)
        for spare in grid.ravel()[count:]:
            spare.remove()
        found = grid.ravel()[:count]
    else:
        found = np.asarray(ax, dtype=object).ravel()
        if len(found) != count:
            raise ValueError(f"ax must be one Axes for {each}; got {len(found)}.")
    display.ax_ = found if count > 1 else found[0]
    display.figure_ = found[0].figure
    return found


def size_in_points(ax: Any) -> np.ndarray:
    """Return width and height of an Axes in the unit of font sizes."""
    return 72 * ax.get_window_extent().size / ax.figure.dpi


def light_grid(ax: Any, axis: str = "both") -> None:
    """Draw light lines at the ticks, behind everything else."""
    ax.grid(axis=axis, color="0.9")
    ax.set_axisbelow(True)


def integer_ticks(axis: Any) -> None:
    """Put the ticks of an axis at integers."""
    ticker = require("matplotlib.ticker", "plot")
    axis.set_major_locator(ticker.MaxNLocator("auto", integer=True, min_n_ticks=1))


def curves_on(ax: Any) -> int:
    """Return the number of curves with a label on an Axes."""
    return sum(not line.get_label().startswith("_") for line in ax.lines)


def draw_curve(ax: Any, x: Any, y: Any, low: Any, high: Any, step: str | None = None) -> tuple[Any, Any]:
    """Draw a further curve and, unless ``low`` is None, a band in a light shade; return the line and the band."""
    style = line_style(curves_on(ax))
    light_grid(ax)
    (line,) = ax.plot(x, y, drawstyle="default" if step is None else f"steps-{step}", **style)
    if low is None:
        return line, None
    shades = {"facecolor": (style["color"], 0.12), "edgecolor": (style["color"], 0.5)}
    return line, ax.fill_between(x, low, high, step=step, linewidth=0.8, **shades)


def check_names(names: Any, count: int, argument: str, of: str) -> None:
    """Raise an error if there is not one name for each of ``count`` things."""
    if isinstance(names, str) or len(names) != count:
        found = "a str" if isinstance(names, str) else len(names)
        raise ValueError(f"{argument} must hold one name for each {of} ({count}); got {found}.")


def training_names(estimator: Any, ids: Any) -> Any:
    """Return the names of the training samples: ``ids``, the ids or column names given in ``fit``, or positions."""
    reader = reader_of(estimator)
    if ids is None:
        known = (reader.column_ids, reader.column_names)
        return next((found for found in known if found is not None), range(reader.n_columns))
    check_names(ids, reader.n_columns, "ids", "training sample")
    return ids
