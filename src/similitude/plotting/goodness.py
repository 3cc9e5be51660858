"""The goodness of a similarity as a curve, the share of samples below a margin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.docs import shared_docs
from similitude._utils.extras import require
from similitude._utils.types import ListLike, ProximityLike
from similitude.diagnosis.pictures import goodness_curve
from similitude.plotting._drawing import Axes, axes_for, curves_on, draw_curve, literal, number
from similitude.theory import Goodness, ReweightedGoodness, SimilarityGoodness, goodness


@shared_docs
@dataclass(kw_only=True, eq=False, repr=False)
class GoodnessDisplay:
    """The goodness curve, the share epsilon of samples whose margin is below gamma.

    The lower the curve, the better the similarity. With the given confidence, the band contains the whole curve of the
    distribution that the samples come from (:meth:`Goodness.band <similitude.theory.goodness.Goodness.band>`). The
    pseudo gamma, the mean margin, is marked on the curve. At the dotted line, gamma = 0, the curve is the share of
    samples that a vote of infinitely many random pairs misclassifies.

    To draw several curves on the same Axes, pass ``ax`` and ``name``.

    Parameters
    ----------
    gammas : array of shape (n_values,)
        The margins, in ascending order. The curve is a step function that is constant between a gamma and the one
        before, which is excluded.
    epsilons : array of shape (n_values,)
        The share of samples for each gamma.
    low, high : array of shape (n_values,), default=None
        The ends of the band; None draws no band.
    pseudo_gamma : float, default=None
        Where to mark the curve; None draws no mark.
    confidence : float, default=None
        Confidence of the band.
    {curve_name}

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
    band_ : PolyCollection or None
    mark_ : Line2D or None
        The mark at the pseudo gamma.

    See Also
    --------
    similitude.goodness
        Estimate the goodness of Wang et al. (2009): how often samples are closer to their own class than to
        others.
    SimilarityMatrixDisplay : A similarity matrix as an image, with samples ordered by class.

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

    gammas: ArrayLike
    epsilons: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    pseudo_gamma: float | None = None
    confidence: float | None = None
    name: str | None = None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into given Axes or a new figure.

        {plot}
        """
        gammas, epsilons = np.asarray(self.gammas, dtype=float), np.asarray(self.epsilons, dtype=float)
        (ax,) = axes_for(self, ax, 1, "the curve", figsize=(6.4, 4))
        if not curves_on(ax):
            ax.axvline(0, color="0.5", linewidth=0.8, linestyle=":")
        self.line_, self.band_ = draw_curve(ax, gammas, epsilons, self.low, self.high, step="pre")
        parts = [] if self.name is None else [literal(self.name, 40)]
        if self.pseudo_gamma is not None:
            parts.append(f"pseudo gamma {number(self.pseudo_gamma)}")
        self.line_.set_label(": ".join(parts) or "epsilon(gamma)")
        self.mark_ = None
        if self.pseudo_gamma is not None:
            height = epsilons[min(int(np.searchsorted(gammas, self.pseudo_gamma)), len(epsilons) - 1)]
            look: dict[str, Any] = {"markersize": 9, "markerfacecolor": "white", "markeredgewidth": 1.8}
            (self.mark_,) = ax.plot(self.pseudo_gamma, height, "o", color=self.line_.get_color(), **look)
        ax.set_xlabel("margin gamma")
        ax.set_ylabel("share of samples below, epsilon")
        ax.set_ylim(-0.03, 1.03)
        ax.legend(loc="upper left")
        return self

    @classmethod
    def from_matrix(
        cls,
        S: ProximityLike,
        y: ListLike,
        *,
        dissimilarity: str | None = None,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the goodness of a matrix and draw it.

        Parameters
        ----------
        S : square matrix or Proximities
            Similarities, or dissimilarities if ``dissimilarity`` is given.
        y : array-like of shape (n,)
        dissimilarity : str, default=None
            The map that turns S into a similarity.
        confidence : float, default=0.95
            Confidence of the band; None draws no band.
        {curve_name}
        {ax}

        Returns
        -------
        GoodnessDisplay
        """
        require("matplotlib.pyplot", "plot")
        found = goodness(S, y, dissimilarity=dissimilarity)
        return cls.from_goodness(found, confidence=confidence, name=name, ax=ax)

    @classmethod
    def from_goodness(
        cls,
        found: Goodness | ReweightedGoodness | SimilarityGoodness,
        *,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a goodness, as :func:`similitude.theory.goodness.goodness` returns it, or one of its variants.

        Parameters
        ----------
        found : Goodness, ReweightedGoodness or SimilarityGoodness
            Only the first has a band, the first two have a pseudo gamma.
        confidence : float, default=0.95
            Confidence of the band; None draws no band.
        {curve_name}
        {ax}

        Returns
        -------
        GoodnessDisplay
        """
        curve = asdict(goodness_curve(found, confidence=confidence))
        del curve["vote_error"]
        return cls(**curve, name=name).plot(ax)
