"""What the Display classes share: colours, line styles, text of the user, Axes of the user."""

from __future__ import annotations

from typing import Any

import numpy as np

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
"""Line styles with gaps at different places: of lines that coincide, each shows through the gaps of the next."""


def literal(text: Any, width: int = 28) -> str:
    """Text of the user as matplotlib shows it letter for letter: no mathematics, on one line, shortened in the middle.

    Examples
    --------
    >>> from similitude.plotting._drawing import literal
    >>> print(literal("costs $5 or $6"), literal("a/long/path/to/scan_17.png", 16))
    costs \\$5 or \\$6 a/long/p…_17.png
    """
    shown = " ".join(str(text).split())
    if len(shown) > width:
        end = (width - 1) // 2
        shown = f"{shown[: width - 1 - end]}…{shown[-end:]}"
    shown = shown.replace("$", r"\$")
    # matplotlib leaves what begins with an underscore out of legends; a space without width keeps it in.
    return f"\u200b{shown}" if shown.startswith("_") else shown


def number(value: float) -> str:
    """Three digits, with the minus sign of the axes."""
    return f"{value:.3g}".replace("-", "\N{MINUS SIGN}")


def as_axes(ax: Any, count: int, each: str) -> np.ndarray:
    """The Axes given as ``ax``, one for each of what is drawn, as an array."""
    axes = np.asarray(ax, dtype=object).ravel()
    if len(axes) != count:
        raise ValueError(f"ax must be one Axes for {each}; got {len(axes)}.")
    return axes


def size_in_points(ax: Any) -> np.ndarray:
    """Width and height of an Axes, in the unit of font sizes."""
    return 72 * ax.get_window_extent().size / ax.figure.dpi
