"""The error as a function of the similarity to the nearest training sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from sklearn.base import BaseEstimator

from similitude._utils.docs import shared_docs
from similitude._utils.extras import require
from similitude._utils.types import Folds, LabelsLike, ListLike, SamplesLike
from similitude.plotting._drawing import Axes, axes_for, curves_on, draw_curve, literal
from similitude.splits.nearness import ErrorBySimilarity, error_by_similarity


@shared_docs
@dataclass(kw_only=True, eq=False, repr=False)
class ErrorBySimilarityDisplay:
    """The cross-validated error against the similarity to the nearest training sample, with a band.

    Each point is a bin of test samples, drawn at the median of their similarities; the band joins the intervals of
    Wilson of the bins. The most similar samples are on the left. A dotted line shows the error of all samples. To draw
    several curves on the same Axes, pass ``ax`` and ``name``.

    Parameters
    ----------
    found : ErrorBySimilarity
        The curve, from :func:`similitude.error_by_similarity`.
    {curve_name}

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
    band_ : PolyCollection

    See Also
    --------
    similitude.error_by_similarity
        Return the cross-validated error as a function of the similarity to the nearest training sample.
    ErrorCurveDisplay : The cross-validated error against a parameter, with a mark at the smallest error.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude import KNNClassifier
    >>> from similitude.datasets import load_voting
    >>> from similitude.plotting import ErrorBySimilarityDisplay
    >>> voting = load_voting()
    >>> display = ErrorBySimilarityDisplay.from_estimator(
    ...     KNNClassifier(5, similarity="counting"), voting.data, voting.target, name="k-NN")
    >>> display.ax_.get_ylabel(), display.line_.get_label()
    ('error %', 'k-NN')
    """

    found: ErrorBySimilarity
    name: str | None = None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into given Axes or a new figure.

        {plot}
        """
        bins = self.found.bins
        error, low, high = ([100 * getattr(found, name) for found in bins] for name in ("error", "low", "high"))
        (ax,) = axes_for(self, ax, 1, "the curve", figsize=(6.4, 4))
        n_curves = curves_on(ax)
        ax.autoscale(axis="y")  # the limit of an earlier curve must not cut this one off
        self.line_, self.band_ = draw_curve(ax, [found.middle for found in bins], error, low, high)
        self.line_.set(marker="o", markersize=4, label="error" if self.name is None else literal(self.name, 40))
        ax.axhline(100 * self.found.error, color=self.line_.get_color(), linewidth=0.8, linestyle=":")
        kind = "dissimilarity" if self.found.dissimilarity else "similarity"
        ax.set_xlabel(f"{kind} to the nearest training sample")
        ax.set_ylabel("error %")
        ax.set_ylim(bottom=0)
        if not n_curves and not self.found.dissimilarity:
            ax.invert_xaxis()
        if n_curves or self.name is not None:
            ax.legend(loc="best")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: SamplesLike,
        y: LabelsLike,
        *,
        cv: Folds = 5,
        groups: ListLike | None = None,
        n_bins: int = 10,
        confidence: float = 0.95,
        n_jobs: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Cross-validate a classifier and draw its error.

        Parameters
        ----------
        estimator : classifier
            The classifier.
        X, y
            The samples and their labels.
        cv, groups, n_bins, confidence, n_jobs
            As in :func:`similitude.error_by_similarity`.
        {curve_name}
        {ax}

        Returns
        -------
        ErrorBySimilarityDisplay
        """
        require("matplotlib.pyplot", "plot")
        found = error_by_similarity(
            estimator, X, y, cv=cv, groups=groups, n_bins=n_bins, confidence=confidence, n_jobs=n_jobs
        )
        return cls(found=found, name=name).plot(ax)
