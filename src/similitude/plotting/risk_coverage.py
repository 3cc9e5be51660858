"""The error of the most confident predictions against their share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from similitude._utils.docs import shared_docs
from similitude._utils.extras import require
from similitude._utils.ids import given_names, labels_in_order
from similitude._utils.types import ListLike, SamplesLike
from similitude.auto import AutoClassifier
from similitude.plotting._drawing import Axes, axes_for, curves_on, draw_curve, literal
from similitude.sets import OperatingPoint


@shared_docs
@dataclass(kw_only=True, eq=False, repr=False)
class RiskCoverageDisplay:
    """The error among the most confident predictions against the share of samples that are predicted.

    The samples are sorted by their confidence, the largest posterior or another score; a classifier that abstains from
    the others has the error of the curve at that share. At a share of 1 the curve is the usual error. The faster it
    falls to the left, the better the confidence tells right predictions from wrong ones. The band is one standard
    error. Samples of equal confidence are predicted or left out together, so the curve has a point for each
    confidence.

    To draw several curves on the same Axes, pass ``ax`` and ``name``.

    Parameters
    ----------
    shares : array of shape (n_values,)
        The shares of samples that are predicted, ascending.
    errors : array of shape (n_values,)
        The error among them.
    thresholds : array of shape (n_values,)
        The smallest confidence among them.
    n_samples : int
        The number of all samples.
    {curve_name}
    points : sequence of OperatingPoint, default=None
        Operating points, each of which is marked at its share and its error.

    Attributes
    ----------
    area_ : float
        The mean error over all shares, the area under the curve.
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
    band_ : PolyCollection
    points_ : PathCollection or None
        The marks of the operating points at which samples are assigned.

    See Also
    --------
    similitude.PredictionSets
        Predict sets of classes that hold the true class with a stated confidence (cross-conformal prediction).
    ErrorCurveDisplay : The cross-validated error against a parameter, with a mark at the smallest error.

    References
    ----------
    El-Yaniv & Wiener, "On the foundations of noise-free selective classification", JMLR 11, 2010.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from similitude.plotting import RiskCoverageDisplay
    >>> correct, confidence = [True, True, False, True], [0.9, 0.8, 0.7, 0.6]
    >>> display = RiskCoverageDisplay.from_predictions(correct, confidence)
    >>> display.shares.tolist(), display.errors.round(2).tolist()
    ([0.25, 0.5, 0.75, 1.0], [0.0, 0.0, 0.33, 0.25])
    """

    shares: ArrayLike
    errors: ArrayLike
    thresholds: ArrayLike
    n_samples: int
    name: str | None = None
    points: Sequence[OperatingPoint] | None = None

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into given Axes or a new figure.

        {plot}
        """
        shares, errors = np.asarray(self.shares, dtype=float), np.asarray(self.errors, dtype=float)
        widths = np.diff(shares, prepend=0.0)
        self.area_ = float(np.sum(widths * errors))
        (ax,) = axes_for(self, ax, 1, "the curve", figsize=(6.4, 4))
        spread = np.sqrt(errors * (1 - errors) / (shares * self.n_samples))
        low, high = np.maximum(errors - spread, 0), np.minimum(errors + spread, 1)
        self.line_, self.band_ = draw_curve(ax, shares, errors, low, high)
        name = "" if self.name is None else f"{literal(self.name, 40)}: "
        self.line_.set_label(f"{name}error {errors[-1]:.3g}, mean over shares {self.area_:.3g}")
        self._mark_points(ax)
        ax.legend(loc="upper left")
        ticker = require("matplotlib.ticker", "plot")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(ticker.PercentFormatter(1.0))
        ax.set_xlim(0, 1)
        # The first few samples have errors of any size, which should not set the scale.
        usual = errors[shares >= 0.1]
        top = max(ax.get_ylim()[1] if curves_on(ax) > 1 else 0.0, 1.5 * float(usual.max(initial=0.0)), 0.02)
        ax.set_ylim(-0.02 * min(top, 1.0), min(top, 1.0))  # so that a line at 0 is visible
        ax.set_xlabel("share of samples that are predicted, the most confident first")
        ax.set_ylabel("error among them")
        return self

    def _mark_points(self, ax: Axes) -> None:
        """Mark the operating points, each with its precision."""
        shown = [point for point in self.points or () if point.assigned.any()]
        self.points_ = None
        if not shown:
            return
        places = np.array([(point.coverage, 1 - point.measured_precision) for point in shown])
        color = self.line_.get_color()
        self.points_ = ax.scatter(places[:, 0], places[:, 1], s=36, color=color, zorder=3)
        # Points at the same place, such as those that assign everything, share one text.
        for place in dict.fromkeys(map(tuple, places.tolist())):
            here = [point for point, own in zip(shown, places.tolist()) if tuple(own) == place]
            text = ", ".join(f"{point.precision:g}" for point in here)
            ax.annotate(text, place, xytext=(-4, 6), textcoords="offset points", ha="right", fontsize="small")
        self.points_.set_label(f"wanted precision, missed with a probability of at most {shown[0].delta:g}")

    @classmethod
    def from_predictions(
        cls,
        correct: ArrayLike,
        confidence: ArrayLike,
        *,
        name: str | None = None,
        points: Sequence[OperatingPoint] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of predictions that are right or wrong.

        Parameters
        ----------
        correct : array-like of bool of shape (n,)
            Whether each prediction is right.
        confidence : array-like of shape (n,)
            Its confidence: the larger, the more certain. It may be the largest posterior, or a p-value.
        {curve_name}
        points : sequence of OperatingPoint, default=None
            Operating points that are marked, such as ``auto.operating_points()``.
        {ax}

        Returns
        -------
        RiskCoverageDisplay
        """
        correct, confidence = np.asarray(correct), np.asarray(confidence, dtype=float)
        if correct.ndim != 1 or correct.shape != confidence.shape or not len(correct):
            raise ValueError(
                f"correct and confidence must have one value for each sample; got shapes {correct.shape} and "
                f"{confidence.shape}."
            )
        if correct.dtype != bool and not np.isin(correct, (0, 1)).all():
            raise ValueError("correct must hold True and False, whether each prediction is right.")
        if np.isnan(confidence).any():
            raise ValueError("confidence contains NaN; every sample needs a number.")
        order = np.argsort(-confidence, kind="stable")
        ranked = confidence[order]
        last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        wrong = np.cumsum(~correct.astype(bool)[order])[last]
        n = len(correct)
        return cls(
            shares=(last + 1) / n,
            errors=wrong / (last + 1),
            thresholds=ranked[last],
            n_samples=n,
            name=name,
            points=points,
        ).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: SamplesLike, y: ListLike, *, name: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the curve of a fitted classifier for test samples, with its largest posterior as the confidence.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``predict_proba``.
        X : test samples
        y : array-like of shape (m,)
            Their labels.
        {curve_name}
            None means the class of the estimator.
        {ax}

        Returns
        -------
        RiskCoverageDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(f"estimator must have predict_proba; {type(estimator).__name__} has none.")
        correct = np.asarray(estimator.predict(X)) == np.asarray(labels_in_order(y, X))
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(correct, estimator.predict_proba(X).max(axis=1), name=name, ax=ax)

    @classmethod
    def from_auto(
        cls,
        auto: AutoClassifier,
        y: ListLike,
        *,
        name: str | None = None,
        points: Sequence[OperatingPoint] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of a fitted ``AutoClassifier`` from its predictions for left-out samples.

        Parameters
        ----------
        auto : AutoClassifier
            The fitted classifier.
        y : array-like of shape (n,)
            The labels that it was fitted with.
        {curve_name}
            None means the chosen method.
        points : sequence of OperatingPoint, default=None
            Operating points that are marked, such as ``auto.operating_points()``.
        {ax}

        Returns
        -------
        RiskCoverageDisplay
        """
        check_is_fitted(auto)
        names = given_names(auto.ids_, adopted=True) if hasattr(auto, "ids_") else None
        found, y = auto.out_of_fold_, np.asarray(labels_in_order(y, names))
        if len(y) <= found.samples.max():
            raise ValueError(f"y must be the labels that auto was fitted with; got {len(y)} of them.")
        name = auto.best_method_ if name is None else name
        correct = found.labels == y[found.samples]
        return cls.from_predictions(correct, found.proba.max(axis=1), name=name, points=points, ax=ax)
