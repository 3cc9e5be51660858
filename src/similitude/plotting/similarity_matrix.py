"""A similarity matrix as an image, with samples ordered by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from similitude._utils.extras import require
from similitude._utils.ids import labels_in_order
from similitude._utils.types import ListLike, ProximityLike
from similitude.diagnosis.pictures import color_range
from similitude.plotting._drawing import (
    COLORS,
    Axes,
    AxesLike,
    axes_for,
    integer_ticks,
    literal,
    number,
    size_in_points,
)
from similitude.proximity.check import asymmetry, check_similarity, is_symmetric
from similitude.proximity.proximities import as_proximities

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

MOST_PIXELS = 1000
"""The largest number of pixels on a side; the pixels of a larger matrix are means of blocks."""

_ENTRIES_AT_ONCE = 2**20
_FONT_SIZES = (9.0, 8.0, 7.0, 6.0)


@dataclass(kw_only=True, eq=False, repr=False)
class SimilarityMatrixDisplay:
    """A similarity matrix as an image, with samples ordered by class.

    Classes are in sorted order, samples within a class in the given order. The name of each class is at the middle of
    its block, and lines separate the blocks; if there are too many classes, only the largest ones are named. Black is
    the largest similarity, white the smallest. The colours span the middle 98% of the similarities of different samples
    (zeros not counted); a pointed end of the colour bar means that there are values beyond.

    The asymmetric part (S - S^T)/2 can be drawn beside it, with zero in the middle of its colours.

    Parameters
    ----------
    image : array of shape (m, m)
        Similarities, or the means of blocks of them.
    n_samples : int, default=None
        None: m.
    block : int, default=1
        The number of samples in a row or column of the image; the last one may hold fewer.
    classes : sequence of length G, default=None
        The classes in the order of the image; shown literally, long names shortened.
    class_counts : sequence of G ints, default=None
        The number of samples in each class.
    asymmetric_image : array of shape (m, m), default=None
        The asymmetric part; None does not draw it.
    asymmetry : float, default=None
        ``||S - S^T||_F / (2 ||S||_F)``, for the title of the asymmetric part.

    Attributes
    ----------
    ax_ : Axes, or with ``asymmetric_image`` an ndarray of two
    figure_ : Figure
    images_ : list of AxesImage
    colorbars_ : list of Colorbar

    See Also
    --------
    SpectrumDisplay : Eigenvalues before and after a modification of the spectrum, largest first.
    similitude.diagnose : Return figures that describe a similarity matrix, and advice that follows from them.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Figure 1.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude.plotting import SimilarityMatrixDisplay
    >>> S = [[3, 0, 2], [0, 3, 1], [2, 0, 3]]
    >>> display = SimilarityMatrixDisplay.from_matrix(S, ["cat", "ape", "cat"], asymmetric=True)
    >>> display.image
    array([[3., 0., 1.],
           [0., 3., 2.],
           [0., 2., 3.]])
    >>> display.asymmetric_image
    array([[ 0. ,  0. ,  0.5],
           [ 0. ,  0. ,  0. ],
           [-0.5,  0. ,  0. ]])
    >>> [label.get_text() for label in display.ax_[0].get_yticklabels()]
    ['ape', 'cat']
    """

    image: np.ndarray | Sequence[Sequence[float]]
    n_samples: int | None = None
    block: int = 1
    classes: Sequence[Any] | np.ndarray | None = None
    class_counts: ArrayLike | None = None
    asymmetric_image: ArrayLike | None = None
    asymmetry: float | None = None

    def plot(
        self,
        ax: AxesLike | None = None,
        *,
        cmap: str | Colormap = "gray_r",
        vmin: float | None = None,
        vmax: float | None = None,
    ) -> Self:
        """Draw into given Axes or a new figure.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            Two with ``asymmetric_image``, else one; None makes a new figure.
        cmap : str or Colormap, default="gray_r"
        vmin, vmax : float, default=None
            The similarities at the ends of the colours; None: the middle 98%, see above.

        Returns
        -------
        self
        """
        pyplot = require("matplotlib.pyplot", "plot")
        image = np.asarray(self.image, dtype=float)
        limits, cmap = _limits(image, vmin, vmax), pyplot.get_cmap(cmap)
        count = 1 if self.asymmetric_image is None else 2
        each = "the matrix" + (", and one for its asymmetric part" if count == 2 else "")
        axes = axes_for(self, ax, count, each, figsize=self._figure_size(count), layout="compressed")
        self.images_: list[Any] = []
        self.colorbars_: list[Any] = []
        self._draw(axes[0], image, limits, cmap, COLORS[1], self._title(), "similarity")
        if count == 2:
            part = np.asarray(self.asymmetric_image, dtype=float)
            most = color_range(np.abs(part))[1]
            share = "" if self.asymmetry is None else f": {100 * self.asymmetry:.2g}% of the norm"
            label = "(S \N{MINUS SIGN} Sᵀ)/2"
            self._draw(axes[1], part, (-most, most), "PuOr", "0.4", f"asymmetric part{share}", label)
            if ax is None:
                axes[1].tick_params(labelleft=False)
                axes[1].set_ylabel("")
        return self

    @classmethod
    def from_matrix(
        cls,
        S: ProximityLike,
        y: ListLike | None = None,
        *,
        asymmetric: bool = False,
        cmap: str | Colormap = "gray_r",
        vmin: float | None = None,
        vmax: float | None = None,
        ax: AxesLike | None = None,
    ) -> Self:
        """Draw a matrix.

        The pixels of a matrix of more than 1000 samples are means of blocks; it is read a few rows at a time.

        Parameters
        ----------
        S : array-like, memmap, DataFrame or sparse matrix of shape (n, n)
        y : array-like of shape (n,), default=None
            The classes; None: samples in the order given.
        asymmetric : bool, default=False
            Whether to draw (S - S^T)/2 beside it.
        cmap : str or Colormap, default="gray_r"
        vmin, vmax : float, default=None
            The similarities at the ends of the colours; None: the middle 98%, see above.
        ax : Axes or array of Axes, default=None
            Two with ``asymmetric``, else one; None makes a new figure.

        Returns
        -------
        SimilarityMatrixDisplay
        """
        require("matplotlib.pyplot", "plot")
        y = labels_in_order(y, S)
        S = check_similarity(as_proximities(S).S, orientation="any")
        n = S.shape[0]
        classes, counts, order = _by_class(y, n)
        block = -(-n // MOST_PIXELS)
        image = _block_means(S, order, block)
        part = share = None
        if asymmetric:
            symmetric = is_symmetric(S)  # up to rounding, which would otherwise be all that the picture shows
            part = np.zeros_like(image) if symmetric else image / 2 - image.T / 2
            share = 0.0 if symmetric else asymmetry(S)
        return cls(
            image=image,
            n_samples=n,
            block=block,
            classes=classes,
            class_counts=counts,
            asymmetric_image=part,
            asymmetry=share,
        ).plot(ax, cmap=cmap, vmin=vmin, vmax=vmax)

    @property
    def _labels(self) -> list[Any]:
        return [] if self.classes is None else list(self.classes)

    @property
    def _n(self) -> int:
        return len(self.image) if self.n_samples is None else self.n_samples

    def _title(self) -> str:
        classes = f", {len(self._labels)} classes" if len(self._labels) > 1 else ""
        pixel = f"; a pixel is the mean of {self.block} × {self.block}" if self.block > 1 else ""
        return f"{self._n} sample{'s' if self._n > 1 else ''}{classes}{pixel}"

    def _figure_size(self, count: int) -> tuple[float, float]:
        """Return the size in inches, with room for long names beside the image."""
        letters = max((len(literal(label)) for label in self._labels), default=5)
        names = 0.35 + 0.07 * letters
        return names + 4.6 * count, 4.0 + (names if letters > 3 and self._labels else 0.35)

    def _draw(
        self,
        ax: Axes,
        image: np.ndarray,
        limits: tuple[float, float],
        cmap: str | Colormap,
        line_color: str,
        title: str,
        label: str,
    ) -> None:
        n, end = self._n, len(image) * self.block - 0.5
        extent = (-0.5, end, end, -0.5)  # a sample is at its position among the ordered ones
        shown = ax.imshow(image, cmap=cmap, vmin=limits[0], vmax=limits[1], extent=extent, aspect="equal")
        ax.set_xlim(-0.5, n - 0.5)
        ax.set_ylim(n - 0.5, -0.5)
        below, beyond = image.min() < limits[0], image.max() > limits[1]
        extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[int(below), int(beyond)]
        self.images_.append(shown)
        self.colorbars_.append(ax.figure.colorbar(shown, ax=ax, extend=extend, fraction=0.046, pad=0.03, label=label))
        ax.set_title(title, fontsize="medium")
        if self._labels:
            self._name_classes(ax, n, line_color)
            return
        for axis in (ax.xaxis, ax.yaxis):
            integer_ticks(axis)
            axis.set_label_text("sample")

    def _name_classes(self, ax: Axes, n: int, line_color: str) -> None:
        counts = np.asarray(self.class_counts)
        ends = np.cumsum(counts) - 0.5
        # The layout will take room for the names and the colour bar.
        point = 0.8 * size_in_points(ax).min() / n
        chosen, fontsize = _nameable(counts, ends, point)
        labels = [literal(self._labels[i]) for i in chosen]
        places = (ends - counts / 2)[chosen]
        room = np.diff(places).min(initial=n) * point
        flat = max(len(label) for label in labels) * 0.62 * fontsize < 0.95 * room
        ax.set_yticks(places, labels=labels, fontsize=fontsize)
        ax.set_xticks(places, labels=labels, fontsize=fontsize, rotation=0 if flat else 90)
        ax.tick_params(length=0)
        typical = float(np.median(counts)) * point
        if typical >= 2:
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_ticks(ends[:-1], minor=True)
            ax.tick_params(which="minor", length=5)
        if typical >= 5:  # otherwise the lines would hide the blocks
            for draw in (ax.axvline, ax.axhline):
                for end in ends[:-1]:
                    draw(end, color=line_color, linewidth=float(np.clip(0.04 * typical, 0.25, 0.9)))


def _by_class(y: ListLike | None, n: int) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray]:
    """Return the classes, the number of samples in each, and the positions of the samples ordered by class."""
    if y is None:
        return None, None, np.arange(n)
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one class for each of the {n} samples; got shape {labels.shape}.")
    try:
        classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise ValueError("y must hold classes that can be sorted, such as all text or all numbers.") from error
    return classes, counts, np.argsort(codes, kind="stable")


def _block_means(S: Any, order: np.ndarray, block: int) -> np.ndarray:
    """Return the means of blocks of the ordered matrix, which is read a few rows at a time."""
    n = len(order)
    bins = np.arange(n) // block
    m = int(bins[-1]) + 1
    share = (1 / np.bincount(bins))[bins]
    means = sparse.csr_array((share, (bins, order)), shape=(m, n))
    if sparse.issparse(S):
        return (means @ sparse.csr_array(S).astype(np.float64) @ means.T).toarray()
    image = np.empty((m, m))
    step = max(1, _ENTRIES_AT_ONCE // (n * block))
    for start in range(0, m, step):
        low, high = start * block, min((start + step) * block, n)
        rows = np.asarray(S[order[low:high]], dtype=np.float64)
        if block == 1:
            image[start : start + step] = rows[:, order]
        else:
            local = sparse.csr_array((share[low:high], (bins[low:high] - start, np.arange(high - low))))
            image[start : start + step] = (local @ rows) @ means.T
    return image


def _limits(image: np.ndarray, vmin: float | None, vmax: float | None) -> tuple[float, float]:
    """Return the similarities at the ends of the colours."""
    low, high = color_range(image)
    low, high = low if vmin is None else vmin, high if vmax is None else vmax
    if not low < high:
        raise ValueError(f"vmin must be below vmax; got {number(low)} and {number(high)}.")
    return float(low), float(high)


def _nameable(counts: np.ndarray, ends: np.ndarray, point: float) -> tuple[np.ndarray, float]:
    """Return the classes whose names do not overlap, and the size of letters: the largest at which all fit, if any."""
    middles = (ends - counts / 2) * point
    for fontsize in _FONT_SIZES:
        if np.diff(middles).min(initial=np.inf) >= 1.15 * fontsize:
            return np.arange(len(counts)), fontsize
    kept: list[Any] = []
    for i in np.argsort(-counts, kind="stable"):
        if all(abs(middles[i] - middles[j]) >= 1.15 * 7 for j in kept):
            kept.append(i)
    return np.sort(kept), 7.0
