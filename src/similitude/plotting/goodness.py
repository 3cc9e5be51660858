"""How many samples fall short of a margin: the goodness of a similarity as a curve."""

from __future__ import annotations

import numpy as np

from similitude._utils.extras import require
from similitude.plotting._drawing import COLORS, DASHES, literal
from similitude.theory.goodness import goodness

_GRID = 401


class GoodnessDisplay:
    """epsilon against gamma: the share of samples whose margin falls short of gamma.

    The lower the curve, the better the similarity. The band holds the curve of the distribution that the samples come
    from, all of it, with the given confidence (:meth:`Goodness.band <similitude.theory.goodness.Goodness.band>`).
    The pseudo gamma, the mean margin, is marked on the curve; the dotted line at gamma = 0 meets it at the share of
    samples on which a vote of infinitely many random pairs errs.

    Several curves on the same Axes: pass ``ax=`` and ``name=``.

    Parameters
    ----------
    gammas : array of shape (n_values,)
        Ascending. The curve is a step that keeps its value from one gamma, itself left out, up to the next.
    epsilons : array of shape (n_values,)
    low, high : array of shape (n_values,), default=None
        The band; None draws none.
    pseudo_gamma : float, default=None
        None draws no mark.
    confidence : float, default=None
        Of the band.
    name : str, default=None
        In the legend; shown literally.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
    band_ : PolyCollection or None
    mark_ : Line2D or None
        At the pseudo gamma.

    References
    ----------
    Wang, Sugiyama, Yang, Hatano & Feng, "Theory and algorithm for learning with dissimilarity functions", Neural
    Computation 21, 2009, Definitions 1 and 11.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude.datasets import make_perturbed_centroids
    >>> from similitude.plotting import GoodnessDisplay
    >>> from similitude.similarities import pairwise
    >>> data = make_perturbed_centroids(60, 12, random_state=0)
    >>> display = GoodnessDisplay.from_matrix(pairwise(data.X, similarity="counting"), data.y, name="counting")
    >>> display.ax_.get_xlabel(), display.line_.get_label()
    ('margin gamma', 'counting: pseudo gamma 0.0732')
    """

    def __init__(self, *, gammas, epsilons, low=None, high=None, pseudo_gamma=None, confidence=None, name=None):
        self.gammas = gammas
        self.epsilons = epsilons
        self.low = low
        self.high = high
        self.pseudo_gamma = pseudo_gamma
        self.confidence = confidence
        self.name = name

    def plot(self, ax=None):
        """Draw.

        Parameters
        ----------
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        self
        """
        pyplot = require("matplotlib.pyplot", "plot")
        gammas, epsilons = np.asarray(self.gammas, dtype=float), np.asarray(self.epsilons, dtype=float)
        if ax is None:
            _, ax = pyplot.subplots(figsize=(6.4, 4), layout="constrained")
        count = len([line for line in ax.lines if not line.get_label().startswith("_")])
        color = COLORS[count % len(COLORS)]
        if not count:
            ax.axvline(0, color="0.5", linewidth=0.8, linestyle=":")
        (self.line_,) = ax.step(
            gammas, epsilons, where="pre", color=color, linestyle=DASHES[count % len(DASHES)], linewidth=1.8
        )
        self.line_.set_label(self._label())
        self.band_ = self.mark_ = None
        if self.low is not None:
            shades = {"facecolor": (color, 0.12), "edgecolor": (color, 0.4)}
            self.band_ = ax.fill_between(gammas, self.low, self.high, step="pre", linewidth=0.8, **shades)
        if self.pseudo_gamma is not None:
            height = epsilons[min(np.searchsorted(gammas, self.pseudo_gamma), len(epsilons) - 1)]
            (self.mark_,) = ax.plot(
                self.pseudo_gamma, height, "o", color=color, markersize=9, markerfacecolor="white", markeredgewidth=1.8
            )
        self._dress(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_matrix(cls, S, y, *, dissimilarity=None, confidence=0.95, name=None, ax=None):
        """Compute the goodness of a matrix and draw it.

        Parameters
        ----------
        S : square matrix or Proximities
            Similarities, or dissimilarities if ``dissimilarity`` is given.
        y : array-like of shape (n,)
        dissimilarity : str, default=None
            The map that makes S a similarity.
        confidence : float, default=0.95
            Of the band; None draws none.
        name : str, default=None
            In the legend.
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        GoodnessDisplay
        """
        require("matplotlib.pyplot", "plot")
        found = goodness(S, y, dissimilarity=dissimilarity)
        return cls.from_goodness(found, confidence=confidence, name=name, ax=ax)

    @classmethod
    def from_goodness(cls, found, *, confidence=0.95, name=None, ax=None):
        """Draw what :func:`similitude.theory.goodness.goodness` found, or one of its variants.

        Parameters
        ----------
        found : Goodness, ReweightedGoodness or SimilarityGoodness
            The first alone has a band, the first two have a pseudo gamma.
        confidence : float, default=0.95
            Of the band; None draws none.
        name : str, default=None
            In the legend.
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        GoodnessDisplay
        """
        require("matplotlib.pyplot", "plot")
        margins = found.margins[~np.isnan(found.margins)]
        grid = np.linspace(min(0.0, float(margins.min())), 1.0, _GRID)
        gammas = np.unique(np.concatenate([grid, margins]))
        low = high = None
        if confidence is not None and hasattr(found, "band"):
            low, high = found.band(gammas, confidence)
        return cls(
            gammas=gammas,
            epsilons=found.curve(gammas),
            low=low,
            high=high,
            pseudo_gamma=getattr(found, "pseudo_gamma", None),
            confidence=None if low is None else confidence,
            name=name,
        ).plot(ax)

    def _label(self):
        parts = [] if self.name is None else [literal(self.name, 40)]
        if self.pseudo_gamma is not None:
            parts.append(f"pseudo gamma {self.pseudo_gamma:.3g}".replace("-", "\N{MINUS SIGN}"))
        return ": ".join(parts) or "epsilon(gamma)"

    def _dress(self, ax):
        ax.set_xlabel("margin gamma")
        ax.set_ylabel("share of samples below, epsilon")
        ax.set_ylim(-0.03, 1.03)
        ax.grid(color="0.9")
        ax.set_axisbelow(True)
        ax.legend(loc="upper left")
