"""The cross-validated error against a parameter, such as the size of the neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.utils.validation import check_is_fitted

from similitude._utils.docs import shared_docs
from similitude._utils.extras import require
from similitude._utils.types import Folds, LabelsLike, SamplesLike
from similitude.evaluation.path_search import PathSearchCV
from similitude.plotting._drawing import Axes, axes_for, curves_on, draw_curve, integer_ticks, literal

LOG_AXIS = 10**1.5
"""If the largest value is more than this many times the smallest, the axis is logarithmic."""

_MARKS = "osD^vph*"


@shared_docs
@dataclass(kw_only=True, eq=False, repr=False)
class ErrorCurveDisplay:
    """The cross-validated error against a parameter, with a mark at the smallest error.

    The error is one minus the score, averaged over folds; the band is one standard error of that mean. Under
    leave-one-out there is no band: a fold of one sample is right or wrong, so the spread of the folds follows from
    their mean. Of equally small errors, the one at the smallest parameter is marked.

    To draw several curves on the same Axes, pass ``ax`` and ``name``. The axis of the parameter is logarithmic if its
    values span more than one and a half decades.

    Parameters
    ----------
    param_name : str
    param_values : array of shape (n_values,)
        Ascending.
    errors : array of shape (n_values,)
    standard_errors : array of shape (n_values,), default=None
        Half the width of the band; None draws no band.
    params : list of n_values dicts, default=None
        All parameters of the search at each point of the curve.
    {curve_name}
    error_name : str, default="error"
        Label of the axis of errors.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
    band_ : PolyCollection or None
    minimum_ : Line2D
        The mark at the smallest error.

    See Also
    --------
    similitude.PathSearchCV : Cross-validated search over a grid in which the work that grid points share is done once.
    ErrorBySimilarityDisplay
        The cross-validated error against the similarity to the nearest training sample, with a band.

    References
    ----------
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, Figure 1.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from sklearn.model_selection import LeaveOneOut
    >>> from similitude import KNNClassifier
    >>> from similitude.datasets import make_perturbed_centroids
    >>> from similitude.plotting import ErrorCurveDisplay
    >>> data = make_perturbed_centroids(60, 12, random_state=0)
    >>> knn = KNNClassifier(similarity="counting")
    >>> display = ErrorCurveDisplay.from_estimator(knn, data.X, data.y, param_range=range(1, 21), cv=LeaveOneOut())
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('neighbourhood size k', 'leave-one-out error')
    """

    param_name: str
    param_values: ArrayLike
    errors: ArrayLike
    standard_errors: ArrayLike | None = None
    params: list[dict[str, Any]] | None = None
    name: str | None = None
    error_name: str = "error"

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into given Axes or a new figure.

        {plot}
        """
        values, errors = np.asarray(self.param_values, dtype=float), np.asarray(self.errors, dtype=float)
        if np.isnan(errors).all():
            raise ValueError("errors must hold a number to draw; all of them are NaN, because no fit gave a score.")
        (ax,) = axes_for(self, ax, 1, "the curve", figsize=(6.4, 4))
        n_curves = curves_on(ax)
        low = high = None
        if self.standard_errors is not None:
            low, high = errors - self.standard_errors, errors + self.standard_errors
        self.line_, self.band_ = draw_curve(ax, values, errors, low, high)
        # Means over folds of equal errors may differ in the last digit.
        best = int(np.flatnonzero(errors <= np.nanmin(errors) + 1e-12)[0])
        # Marks are hollow and have another shape for each curve, so that all marks at the same place are visible.
        mark: dict[str, Any] = {"marker": _MARKS[n_curves % len(_MARKS)], "markersize": 10, "markeredgewidth": 1.8}
        mark |= {"color": self.line_.get_color(), "markerfacecolor": "none", "linestyle": "none"}
        self.minimum_: Any
        (self.minimum_,) = ax.plot(values[best], errors[best], **mark)
        name = "" if self.name is None else f"{literal(self.name, 40)}: "
        self.line_.set_label(f"{name}least {errors[best]:.3g} at {self._symbol} = {values[best]:g}")
        self._place_legend(ax)
        self._dress(ax, values)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: SamplesLike,
        y: LabelsLike,
        *,
        param_name: str = "n_neighbors",
        param_range: Sequence[float] | np.ndarray,
        cv: Folds = None,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Cross-validate over the whole range at once, and draw the error.

        To use other scores, groups or jobs, fit a :class:`~similitude.PathSearchCV` and use :meth:`from_search`.

        Parameters
        ----------
        estimator : classifier
        X : square matrix, Proximities, or sequence of raw objects
        y : array-like of shape (n,)
        param_name : str, default="n_neighbors"
        param_range : sequence of numbers
            The values of the parameter.
        cv : int, splitter or iterable, default=None
            As in ``GridSearchCV``; None: five folds.
        {curve_name}
            None means the class of the estimator.
        {ax}

        Returns
        -------
        ErrorCurveDisplay
        """
        require("matplotlib.pyplot", "plot")
        param_range = list(param_range)
        _check_numbers(param_range, "param_range")
        search = PathSearchCV(estimator, {param_name: param_range}, cv=cv, refit=False, error_score="raise")
        return cls.from_search(search.fit(X, y), param_name, name=name, ax=ax)

    @classmethod
    def from_search(
        cls, search: GridSearchCV, param_name: str = "n_neighbors", *, name: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the error of a fitted search.

        If the search ran over other parameters too, each point of the curve is the best over them, and ``params`` holds
        these. A score whose name begins with ``neg_`` changes its sign, any other becomes one minus the score. Of
        several metrics, the one that ``refit`` names is drawn.

        Parameters
        ----------
        search : fitted PathSearchCV or GridSearchCV
        param_name : str, default="n_neighbors"
        {curve_name}
            None means the class of the estimator.
        {ax}

        Returns
        -------
        ErrorCurveDisplay
        """
        check_is_fitted(search, "cv_results_")
        candidates = search.cv_results_["params"]
        rows = [i for i, candidate in enumerate(candidates) if param_name in candidate]
        if not rows:
            known = sorted({key for candidate in candidates for key in candidate})
            raise ValueError(f"param_name must be a parameter of the search, one of {known}; got {param_name!r}.")
        values = [candidates[i][param_name] for i in rows]
        _check_numbers(values, f"values of {param_name!r}")
        folds, error_name = _fold_errors(search)
        means = folds.mean(axis=1)
        # Among equally good candidates the first in the grid is used; a failed one only if there is no other.
        order = sorted(
            rows, key=lambda i: (candidates[i][param_name], np.isnan(means[i]), round(np.nan_to_num(means[i]), 12))
        )
        best = {candidates[i][param_name]: i for i in reversed(order)}
        chosen = [best[value] for value in sorted(best)]
        n_folds = folds.shape[1]
        band = n_folds > 1 and not isinstance(search.cv, LeaveOneOut)
        return cls(
            param_name=param_name,
            param_values=np.array(sorted(best)),
            errors=means[chosen],
            standard_errors=folds[chosen].std(axis=1, ddof=1) / np.sqrt(n_folds) if band else None,
            params=[candidates[i] for i in chosen],
            name=type(search.estimator).__name__ if name is None else name,
            error_name=error_name,
        ).plot(ax)

    @staticmethod
    def _place_legend(ax: Axes) -> None:
        """Place the legend in the Axes; for many curves above it, if the layout of the figure makes room."""
        if len(ax.get_legend_handles_labels()[0]) > 4 and ax.figure.get_layout_engine() is not None:
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize="small", labelspacing=0.3)
        else:
            ax.legend()

    @property
    def _symbol(self) -> str:
        name = self.param_name.split("__")[-1]
        return "k" if name == "n_neighbors" else literal(name)

    def _dress(self, ax: Axes, values: np.ndarray) -> None:
        """Label the axes; ticks of integers are integers, and powers of ten are written out where there is room."""
        ticker = require("matplotlib.ticker", "plot")
        if values[0] > 0 and values[-1] > LOG_AXIS * values[0]:
            ax.set_xscale("log")
            if values[-1] < 1e3 * values[0]:
                ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
                ax.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
                ax.xaxis.set_minor_formatter(ticker.NullFormatter())
        elif ax.get_xscale() == "linear" and np.all(values == values.round()):
            integer_ticks(ax.xaxis)
        ax.set_xlabel("neighbourhood size k" if self._symbol == "k" else literal(self.param_name, 60))
        ax.set_ylabel(literal(self.error_name, 60))


def _check_numbers(values: list[Any], what: str) -> None:
    if not values or not all(isinstance(v, Real) and not isinstance(v, bool) and np.isfinite(float(v)) for v in values):
        raise ValueError(f"{what} must be one or more finite numbers; got {values!r}.")


def _fold_errors(search: GridSearchCV) -> tuple[np.ndarray, str]:
    """Return the error of each candidate on each fold, and its name."""
    metric, scoring = "score", search.scoring
    if search.multimetric_:
        if not isinstance(search.refit, str):
            raise ValueError(f"search has several metrics: its refit must name one of them; got {search.refit!r}.")
        metric = search.refit
        scoring = scoring[metric] if isinstance(scoring, dict) else metric
    scores = np.stack([search.cv_results_[f"split{i}_test_{metric}"] for i in range(search.n_splits_)], axis=1)
    kind = "leave-one-out" if isinstance(search.cv, LeaveOneOut) else "cross-validated"
    if scoring in (None, "accuracy"):
        return 1 - scores, f"{kind} error"
    name = scoring.replace("_", " ") if isinstance(scoring, str) else metric
    return (-scores, f"{kind} {name[4:]}") if name.startswith("neg ") else (1 - scores, f"{kind} 1 - {name}")
