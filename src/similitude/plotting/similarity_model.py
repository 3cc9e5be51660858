"""The distributions of the similarities to the centroids in each class, with the similarities of one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from similitude._utils.types import SamplesLike
from similitude.generative.base import Explanation, GenerativeClassifier
from similitude.plotting._drawing import (
    Axes,
    AxesLike,
    Line2D,
    axes_for,
    line_style,
    literal,
    number,
    training_names,
)

_PLACES = 1000
_DOTS = 40


@dataclass(kw_only=True, eq=False, repr=False)
class SimilarityModelDisplay:
    """The distributions that a generative classifier compares for one sample.

    There is one Axes for each centroid. It shows, for each class, the distribution of the similarity to the centroid,
    with dots if Omega is a small set and a bar for a point mass, and a line at the similarity of the sample. The higher
    the curve of a class is at the line, the more the centroid favours the class; the legend states the logarithms. Each
    centroid of a mixture is a component, whose distribution is multiplied by its weight.

    Parameters
    ----------
    explanation : Explanation
        As ``explain`` of a generative classifier returns it.
    names : sequence, default=None
        Names of the centroids, shown literally, long ones shortened; None: their positions in the training set.

    Attributes
    ----------
    ax_ : Axes, or ndarray of Axes where there are several centroids
    figure_ : Figure
    lines_ : list of dicts of Line2D
        For each centroid, the curves by class.

    See Also
    --------
    similitude.LocalSDA
        Classify each sample by similarity discriminant analysis among its k most similar training samples.
    similitude.generative.Explanation
        The centroids, the distributions of the similarities to them, and the contribution of each to each
        class.

    References
    ----------
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, eq. 7.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude import LocalSDA
    >>> from similitude.plotting import SimilarityModelDisplay
    >>> S = [[5, 4, 3, 1, 0, 1], [4, 5, 3, 2, 1, 1], [3, 3, 5, 2, 2, 1],
    ...      [1, 2, 2, 5, 3, 4], [0, 1, 2, 3, 5, 2], [1, 1, 1, 4, 2, 5]]
    >>> model = LocalSDA(n_neighbors=6).fit(S, ["a", "a", "a", "b", "b", "b"])
    >>> display = SimilarityModelDisplay.from_estimator(model, [3, 4, 2, 3, 1, 2])
    >>> [ax.get_title() for ax in display.ax_]
    ['centroid of a: 1', 'centroid of b: 3']
    >>> display.lines_[0]["a"].get_ydata().round(3)
    array([0.021, 0.039, 0.072, 0.136, 0.255, 0.478])
    """

    explanation: Explanation
    names: Sequence[Any] | None = None

    def plot(self, ax: AxesLike | None = None) -> Self:
        """Draw into given Axes or a new figure.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            One for each centroid; None makes a new figure.

        Returns
        -------
        self
        """
        count = len(self.explanation.centroids)
        columns = min(count, 3)
        size = max(3.6 * columns, 4.8), 3.3 * -(-count // columns) + 0.4
        axes = axes_for(self, ax, count, f"each of the {count} centroids", columns=columns, figsize=size)
        if ax is None:
            axes[0].figure.suptitle(self._title(), fontsize="medium")
        self.lines_ = [self._distributions(axes[j], j) for j in range(count)]
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: GenerativeClassifier,
        X_row: SamplesLike,
        *,
        ids: Sequence[Any] | np.ndarray | None = None,
        ax: AxesLike | None = None,
    ) -> Self:
        """Draw how a fitted generative classifier explains its prediction for one sample.

        Parameters
        ----------
        estimator : fitted SDA, LocalSDA or MixtureSDA
        X_row : one sample as ``estimator.predict`` takes it
            A precomputed row may also have shape (n,); of raw objects, pass a sequence of one.
        ids : sequence of length n, default=None
            Names of the training samples; None: the ids given in ``fit``, or else their positions.
        ax : Axes or array of Axes, default=None
            One for each centroid; None makes a new figure.

        Returns
        -------
        SimilarityModelDisplay
        """
        if not isinstance(estimator, GenerativeClassifier):
            raise ValueError(f"estimator must be SDA, LocalSDA or MixtureSDA; got {type(estimator).__name__}.")
        explanation = estimator.explain(X_row)
        ids = training_names(estimator, ids)
        return cls(explanation=explanation, names=[ids[i] for i in explanation.centroids]).plot(ax)

    def _title(self) -> str:
        found = self.explanation
        posterior = found.posterior[np.argmax(found.classes == found.prediction)]
        by = ", decided by the most similar centroid" if found.by_centroid else ""
        return f"{found.method} predicts {literal(found.prediction)}, with probability {number(posterior)}{by}"

    def _places(self, similarity: float) -> np.ndarray:
        """Return the similarities at which curves are drawn: all or some of Omega, extended to that of the sample."""
        omega = self.explanation.omega
        if self.explanation.family.continuous:
            return np.linspace(min(omega[0], similarity), max(omega[-1], similarity), _PLACES)
        if len(omega) > _PLACES:
            omega = omega[np.linspace(0, len(omega) - 1, _PLACES).astype(int)]
        return omega

    def _distributions(self, ax: Axes, j: int) -> dict[Any, Line2D]:
        found = self.explanation
        similarity = float(found.similarities[j])
        places = self._places(similarity)
        with np.errstate(divide="ignore"):
            weights = np.log(found.weights[:, j])
        curves = np.exp(weights[:, None] + found.log_pmf(places)[:, j])
        here = weights + found.log_pmf([similarity])[:, j, 0]
        dots = not found.family.continuous and len(places) <= _DOTS
        lines = {}
        for g in np.flatnonzero(~np.isnan(found.pmfs.rates[:, j])):
            style = {"label": f"{literal(found.classes[g])}: {_log(here[g])}", **line_style(g)}
            if np.isinf(found.pmfs.rates[g, j]):
                end = places[-1] if found.pmfs.from_above[g, j] else places[0]
                (line,) = ax.plot([end, end], [0, np.exp(weights[g])], **style)
            else:
                marker: dict[str, Any] = {"marker": "o", "markersize": 3.5} if dots else {}
                (line,) = ax.plot(places, curves[g], **style, **marker)
            if np.isfinite(here[g]):
                dot = {"color": style["color"], "markeredgecolor": "black", "markersize": 7}
                ax.plot(similarity, np.exp(here[g]), "o", zorder=3, **dot)
            lines[found.classes[g]] = line
        ax.axvline(similarity, color="black", linewidth=1, linestyle=(0, (2, 2)), zorder=1)
        ax.set_ylim(bottom=0)
        ax.margins(y=0.08)
        name = found.centroids[j] if self.names is None else self.names[j]
        ax.set_title(
            f"centroid of {literal(found.classes[found.centroid_classes[j]])}: {literal(name)}", fontsize="medium"
        )
        ax.set_xlabel(f"similarity to it; the sample's: {number(similarity)}")
        weighted = "weight × " if np.any(found.weights != 1) else ""
        ax.set_ylabel(f"{weighted}{'density' if found.family.continuous else 'probability'}")
        size = "medium" if len(lines) <= 6 else "x-small"
        ax.legend(title="class: log P at the sample's", title_fontsize="small", fontsize=size, framealpha=0.85)
        return lines


def _log(value: float) -> str:
    return number(value) if np.isfinite(value) else "\N{MINUS SIGN}∞"
