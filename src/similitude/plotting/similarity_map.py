"""The samples as points in the plane, by classical scaling of their similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.docs import shared_docs
from similitude._utils.extras import require
from similitude._utils.ids import names_of
from similitude._utils.types import ListLike, ProximityLike
from similitude.diagnosis.pictures import sample_map
from similitude.labels import check_labels
from similitude.plotting._drawing import COLORS, Axes, axes_for, check_names, literal
from similitude.proximity.check import check_similarity, dense
from similitude.proximity.maps import LearnedMap, check_map
from similitude.proximity.proximities import as_proximities
from similitude.proximity.unknown import LearnedFill

_MARKERS = ("o", "s", "D", "^", "v")
_MOST_NAMED = 60
_NEAREST = 5


@shared_docs
@dataclass(kw_only=True, eq=False, repr=False)
class SimilarityMapDisplay:
    """A map of the samples: those that are alike lie close together, as far as a plane can show it.

    The places are the two leading coordinates of classical scaling, with ``d^2_ij = s_ii + s_jj - 2 s_ij`` as squared
    distances; an asymmetric matrix counts with the mean of both directions. With at most 60 samples each has its name.
    In a window, the sample under the pointer shows its name and its nearest neighbours, and lines lead to these.

    Parameters
    ----------
    places : array of shape (n, 2)
        The places of the samples.
    labels : array of shape (n,)
        Their classes.
    names : sequence of length n
        Their names.
    neighbors : array of shape (n, k)
        The positions of the nearest neighbours of each, the nearest first.
    kept : float, default=None
        The share of the nearest neighbours that are also nearest on the map, which the title shows.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    points_ : dict of PathCollection
        The points of each class.
    names_ : list of Annotation
        The names on the map; none if there are many samples.

    See Also
    --------
    SimilarityMatrixDisplay : A similarity matrix as an image, with samples ordered by class.
    similitude.PseudoEuclideanEmbedding : Embed samples in a pseudo-Euclidean space, and new samples by projection.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from similitude.plotting import SimilarityMapDisplay
    >>> x = np.array([0.0, 1.0, 2.0, 9.0, 10.0])
    >>> display = SimilarityMapDisplay.from_matrix(-np.abs(x[:, None] - x), ["a", "a", "a", "b", "b"])
    >>> display.places[:, 0].argsort().tolist() in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])
    True
    >>> display.about(4)
    '4 (b)\\nnearest: 3, 2, 1, 0'
    """

    places: ArrayLike
    labels: ArrayLike
    names: ListLike
    neighbors: ArrayLike
    kept: float | None = None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into given Axes or a new figure.

        {plot}
        """
        places, labels = np.asarray(self.places, dtype=float), np.asarray(self.labels)
        check_names(self.names, len(places), "names", "sample")
        found: Any = axes_for(self, ax, 1, "the map", figsize=(6.4, 5.6))[0]
        self._draw(found, places, labels)
        return self

    def _draw(self, ax: Any, places: np.ndarray, labels: np.ndarray) -> None:
        """Draw the points and their names, and watch the pointer."""
        self.points_: dict[Any, Any] = {}
        for i, label in enumerate(np.unique(labels).tolist()):
            own = labels == label
            look: dict[str, Any] = {"color": COLORS[i % 10], "marker": _MARKERS[i // 10 % 5], "edgecolors": "white"}
            self.points_[label] = ax.scatter(*places[own].T, s=38, linewidths=0.6, label=literal(label), **look)
        self.names_: list[Any] = []
        if len(places) <= _MOST_NAMED:
            names: Any = self.names
            for name, place in zip(names, places):
                shown = literal(name, 20)
                look = {"xytext": (5, 3), "textcoords": "offset points", "fontsize": 7, "color": "0.35"}
                self.names_.append(ax.annotate(shown, place, **look))
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xticks=[], yticks=[])
        if self.kept is not None:
            ax.set_title(f"{self.kept:.0%} of the nearest neighbours are nearest on the map", fontsize=9)
        if len(self.points_) > 1:
            ax.legend(fontsize=8)
        self._lines: Any = ax.plot([], [], color="0.6", linewidth=1, zorder=0)[0]
        self._note: Any = ax.annotate("", (0, 0), (10, 10), textcoords="offset points", fontsize=8, zorder=5)
        self._note.set(bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "0.7"}, visible=False)
        ax.figure.canvas.mpl_connect("motion_notify_event", self._hover)

    def about(self, i: int) -> str:
        """Return what is shown of a sample: its name, its class and its nearest neighbours.

        Parameters
        ----------
        i : int
            The position of the sample.

        Returns
        -------
        str
            The text.
        """
        names: Any = self.names
        near = [str(names[j]) for j in np.asarray(self.neighbors)[i, :_NEAREST].tolist()]
        return f"{names[i]} ({np.asarray(self.labels)[i]})\nnearest: {', '.join(near)}"

    def _hover(self, event: Any) -> None:
        """Show the sample that is nearest to the pointer, if one is near."""
        ax = self._note.axes
        if event.inaxes is not ax:
            return
        places = np.asarray(self.places, dtype=float)
        away = np.hypot(*(ax.transData.transform(places) - (event.x, event.y)).T)
        i = int(np.argmin(away))
        shown = bool(away[i] < 12)
        if shown:
            self._note.xy = places[i]
            self._note.set_text("\n".join(literal(line, 60) for line in self.about(i).splitlines()))
            near = np.asarray(self.neighbors)[i, :_NEAREST]
            path = np.stack([np.broadcast_to(places[i], (len(near), 2)), places[near]], axis=1).reshape(-1, 2)
            self._lines.set_data(*path.T)
        else:
            self._lines.set_data([], [])
        self._note.set_visible(shown)
        ax.figure.canvas.draw_idle()

    @classmethod
    def from_matrix(
        cls,
        S: ProximityLike,
        y: ListLike,
        *,
        names: ListLike | None = None,
        dissimilarity: str | None = None,
        n_neighbors: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the places of the samples of a matrix and draw them.

        Parameters
        ----------
        S : square matrix or Proximities
            Similarities, or dissimilarities if ``dissimilarity`` is given. Unknown pairs get the fill of
            ``Proximities``, by default the mean of the known ones.
        y : array-like of shape (n,)
        names : sequence of length n, default=None
            The names of the samples; the default is the ids of S, or their positions.
        dissimilarity : str, default=None
            The map that turns S into a similarity.
        n_neighbors : int, default=10
            The number of nearest neighbours by which the map is judged.
        {ax}

        Returns
        -------
        SimilarityMapDisplay
        """
        require("matplotlib.pyplot", "plot")
        given = as_proximities(S, distances=dissimilarity is not None)
        values: Any = given.S
        if np.isnan(values.data if hasattr(values, "tocsr") else values).any() or given.absent == "unknown":
            fill = LearnedFill.learn(
                values, given.fill or "class-blind mean", dissimilarities=dissimilarity is not None
            )
            values = fill(values, square=True)
        if dissimilarity is not None:
            check_map(dissimilarity, "dissimilarity")
            values = LearnedMap.learn(values, dissimilarity, name="S")(values, name="S")
        values = dense(check_similarity(values, orientation="any"))
        labels = check_labels(y, len(values))
        found = sample_map(values, n_neighbors)
        if found is None:
            raise ValueError(f"S must have at least three samples for a map; got {len(values)}.")
        if names is None:
            known = names_of(given)
            names = list(range(len(values))) if known is None else list(known.values)
        return cls(places=found.places, labels=labels, names=names, neighbors=found.neighbors, kept=found.kept).plot(ax)
