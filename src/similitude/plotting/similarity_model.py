"""How the similarities to the centroids are distributed in each class, and where one sample lies."""

from __future__ import annotations

import numpy as np

from similitude._utils.extras import require
from similitude.generative import GenerativeClassifier
from similitude.plotting._drawing import COLORS, DASHES, as_axes, literal, number

_PLACES = 1000
_DOTS = 40


class SimilarityModelDisplay:
    """The distributions that a generative classifier compares for one sample.

    One Axes for each centroid shows, for each class, the distribution of the similarity to it (dots where Omega is a
    small set; a point mass is a bar), with a line at the sample's own similarity. The higher the curve of a class is
    there, the more this centroid adds to its probability; the legend has the logarithms. In a mixture each centroid is
    a component, and its distribution is multiplied by its weight.

    Parameters
    ----------
    explanation : Explanation
        As ``explain`` of a generative classifier gives it.
    names : sequence, default=None
        What the centroids are called; None: their positions in the training set. Shown literally, long ones shortened.

    Attributes
    ----------
    ax_ : Axes, or ndarray of Axes where there are several centroids
    figure_ : Figure
    lines_ : list of dicts of Line2D
        For each centroid, the curves by class.

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

    def __init__(self, *, explanation, names=None):
        self.explanation = explanation
        self.names = names

    def plot(self, ax=None):
        """Draw the distributions.

        Parameters
        ----------
        ax : Axes or array of Axes, default=None
            One for each centroid; None makes a new figure.

        Returns
        -------
        self
        """
        pyplot = require("matplotlib.pyplot", "plot")
        told = self.explanation
        count = len(told.centroids)
        own = ax is None
        if own:
            columns = min(count, 3)
            rows = -(-count // columns)
            size = max(3.6 * columns, 4.8), 3.3 * rows + 0.4
            _, ax = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
            for spare in ax.ravel()[count:]:
                spare.remove()
            ax = ax.ravel()[:count]
        axes = as_axes(ax, count, f"each of the {count} centroids")
        if own:
            axes[0].figure.suptitle(self._title(), fontsize="medium")
        self.lines_ = [self._distributions(axes[j], j) for j in range(count)]
        self.ax_ = axes if count > 1 else axes[0]
        self.figure_ = axes[0].figure
        return self

    @classmethod
    def from_estimator(cls, estimator, X_row, *, ids=None, ax=None):
        """Draw the distributions that a fitted generative classifier compares for one sample.

        Parameters
        ----------
        estimator : fitted SDA, LocalSDA or MixtureSDA
        X_row : one sample as ``estimator.predict`` takes it
            A precomputed row may have the shape (n,), too; of raw objects, a sequence of one.
        ids : sequence of length n, default=None
            The names of the training samples; None: the ids given in ``fit``, or else their positions.
        ax : Axes or array of Axes, default=None
            One for each centroid; None makes a new figure.

        Returns
        -------
        SimilarityModelDisplay
        """
        require("matplotlib.pyplot", "plot")
        if not isinstance(estimator, GenerativeClassifier):
            raise ValueError(f"estimator must be SDA, LocalSDA or MixtureSDA; got {type(estimator).__name__}.")
        told = estimator.explain(X_row)
        n, known = estimator._reader.n_columns, (estimator._reader.column_ids, estimator._reader.column_names)
        if ids is None:
            ids = next((given for given in known if given is not None), range(n))
        elif isinstance(ids, str) or len(ids) != n:
            found = "a str" if isinstance(ids, str) else len(ids)
            raise ValueError(f"ids must hold one name for each training sample ({n}); got {found}.")
        return cls(explanation=told, names=[ids[i] for i in told.centroids]).plot(ax)

    def _title(self):
        told = self.explanation
        posterior = told.posterior[np.argmax(told.classes == told.prediction)]
        by = ", decided by the most similar centroid" if told.by_centroid else ""
        return f"{told.method} predicts {literal(told.prediction)}, with probability {number(posterior)}{by}"

    def _places(self, similarity):
        """The similarities at which curves are drawn: Omega, or some of it, and as far as the sample's own."""
        told = self.explanation
        omega = told.omega
        if told.family.continuous:
            return np.linspace(min(omega[0], similarity), max(omega[-1], similarity), _PLACES)
        if len(omega) > _PLACES:
            omega = omega[np.linspace(0, len(omega) - 1, _PLACES).astype(int)]
        return omega

    def _distributions(self, ax, j):
        told = self.explanation
        similarity = float(told.similarities[j])
        places = self._places(similarity)
        with np.errstate(divide="ignore"):
            weights = np.log(told.weights[:, j])
        curves = np.exp(weights[:, None] + told.log_pmf(places)[:, j])
        here = weights + told.log_pmf([similarity])[:, j, 0]
        dots = not told.family.continuous and len(places) <= _DOTS
        lines = {}
        for g in np.flatnonzero(~np.isnan(told.pmfs.rates[:, j])):
            color, label = COLORS[g % len(COLORS)], f"{literal(told.classes[g])}: {_log(here[g])}"
            style = {"color": color, "linestyle": DASHES[(g + g // len(COLORS)) % len(DASHES)], "linewidth": 1.8}
            if np.isinf(told.pmfs.rates[g, j]):
                end = places[-1] if told.pmfs.from_above[g, j] else places[0]
                (line,) = ax.plot([end, end], [0, np.exp(weights[g])], label=label, **style)
            else:
                marker = {"marker": "o", "markersize": 3.5} if dots else {}
                (line,) = ax.plot(places, curves[g], label=label, **style, **marker)
            if np.isfinite(here[g]):
                ax.plot(similarity, np.exp(here[g]), "o", color=color, markeredgecolor="black", markersize=7, zorder=3)
            lines[told.classes[g]] = line
        ax.axvline(similarity, color="black", linewidth=1, linestyle=(0, (2, 2)), zorder=1)
        ax.set_ylim(bottom=0)
        ax.margins(y=0.08)
        name = told.centroids[j] if self.names is None else self.names[j]
        ax.set_title(
            f"centroid of {literal(told.classes[told.centroid_classes[j]])}: {literal(name)}", fontsize="medium"
        )
        ax.set_xlabel(f"similarity to it; the sample's: {number(similarity)}")
        weighted = "weight × " if np.any(told.weights != 1) else ""
        ax.set_ylabel(f"{weighted}{'density' if told.family.continuous else 'probability'}")
        size = "medium" if len(lines) <= 6 else "x-small"
        ax.legend(title="class: log P at the sample's", title_fontsize="small", fontsize=size, framealpha=0.85)
        return lines


def _log(value):
    return number(value) if np.isfinite(value) else "\N{MINUS SIGN}∞"
