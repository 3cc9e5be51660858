"""The cross-validated error against a parameter, such as the size of the neighbourhood."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.model_selection import LeaveOneOut
from sklearn.utils.validation import check_is_fitted

from similitude._utils.extras import require
from similitude.plotting._drawing import COLORS, DASHES, literal
from similitude.search.path_search import PathSearchCV

LOG_AXIS = 10**1.5
"""Where the largest value is more than so many times the smallest, the axis is logarithmic."""

_MARKS = "osD^vph*"


class ErrorCurveDisplay:
    """The cross-validated error against a parameter, its least value marked.

    The error is the mean over folds, one minus the score; the band is one standard error of that mean. Under
    leave-one-out there is no band: a fold of one sample is right or wrong, and the spread of such folds tells nothing
    but their mean. Of equally small errors the one of the smallest parameter is marked.

    Several curves on the same Axes: pass ``ax=`` and ``name=``. From a logarithmic span of one and a half decades on
    the axis of the parameter is logarithmic.

    Parameters
    ----------
    param_name : str
    param_values : array of shape (n_values,)
        Ascending.
    errors : array of shape (n_values,)
    standard_errors : array of shape (n_values,), default=None
        None draws no band.
    params : list of n_values dicts, default=None
        All parameters of the search at each point of the curve.
    name : str, default=None
        In the legend; shown literally.
    error_name : str, default="error"
        At the axis.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D
    band_ : PolyCollection or None
    minimum_ : Line2D
        The mark at the least error.

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

    def __init__(
        self,
        *,
        param_name,
        param_values,
        errors,
        standard_errors=None,
        params=None,
        name=None,
        error_name="error",
    ):
        self.param_name = param_name
        self.param_values = param_values
        self.errors = errors
        self.standard_errors = standard_errors
        self.params = params
        self.name = name
        self.error_name = error_name

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
        values, errors = np.asarray(self.param_values, dtype=float), np.asarray(self.errors, dtype=float)
        if np.isnan(errors).all():
            raise ValueError("errors must hold a number to draw; every one of them is NaN: no fit gave a score.")
        if ax is None:
            _, ax = pyplot.subplots(figsize=(6.4, 4), layout="constrained")
        if not ax.lines:
            dashes = [DASHES[i % len(DASHES)] for i in range(len(COLORS))]
            ax.set_prop_cycle(color=COLORS, linestyle=dashes)
        (self.line_,) = ax.plot(values, errors, linewidth=1.8)
        color = self.line_.get_color()
        self.band_ = None
        if self.standard_errors is not None:
            low, high = errors - self.standard_errors, errors + self.standard_errors
            shades = {"facecolor": (color, 0.12), "edgecolor": (color, 0.5)}
            self.band_ = ax.fill_between(values, low, high, linewidth=0.8, **shades)
        # Means over folds of equal errors may differ in the last digit.
        best = int(np.flatnonzero(errors <= np.nanmin(errors) + 1e-12)[0])
        # Hollow, in another shape for each curve: least errors at the same place are all seen.
        mark = {"marker": _MARKS[len(ax.lines) // 2 % len(_MARKS)], "markersize": 10, "markeredgewidth": 1.8}
        (self.minimum_,) = ax.plot(
            values[best], errors[best], color=color, linestyle="none", markerfacecolor="none", **mark
        )
        name = "" if self.name is None else f"{literal(self.name, 40)}: "
        self.line_.set_label(f"{name}least {errors[best]:.3g} at {self._symbol} = {values[best]:g}")
        self._place_legend(ax)
        self._dress(ax, values)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator, X, y, *, param_name="n_neighbors", param_range, cv=None, name=None, ax=None):
        """Cross-validate over the whole range at once, and draw the error.

        For other scores, groups or jobs, fit a :class:`~similitude.PathSearchCV` and use :meth:`from_search`.

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
        name : str, default=None
            In the legend; None: the class of the estimator.
        ax : Axes, default=None
            None makes a new figure.

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
    def from_search(cls, search, param_name="n_neighbors", *, name=None, ax=None):
        """Draw the error of a finished search.

        Where the search ran over other parameters too, each point is the best over them, and ``params`` tells which
        that were. Scores whose name begins with ``neg_`` change their sign, all others become one minus the score; of
        several metrics the one that ``refit`` names is taken.

        Parameters
        ----------
        search : fitted PathSearchCV or GridSearchCV
        param_name : str, default="n_neighbors"
        name : str, default=None
            In the legend; None: the class of the estimator.
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        ErrorCurveDisplay
        """
        require("matplotlib.pyplot", "plot")
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
        # Of equally good candidates the first in the grid; one that failed only for want of others.
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
    def _place_legend(ax):
        """Within the Axes; of many curves above it, if the figure has a layout that makes room."""
        if len(ax.get_legend_handles_labels()[0]) > 4 and ax.figure.get_layout_engine() is not None:
            ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize="small", labelspacing=0.3)
        else:
            ax.legend()

    @property
    def _symbol(self):
        name = self.param_name.split("__")[-1]
        return "k" if name == "n_neighbors" else literal(name)

    def _dress(self, ax, values):
        """Axes in words; whole numbers stay whole, and powers of ten are written out where there is room."""
        ticker = require("matplotlib.ticker", "plot")
        if values[0] > 0 and values[-1] > LOG_AXIS * values[0]:
            ax.set_xscale("log")
            if values[-1] < 1e3 * values[0]:
                ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
                ax.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
                ax.xaxis.set_minor_formatter(ticker.NullFormatter())
        elif ax.get_xscale() == "linear" and np.all(values == values.round()):
            ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
        ax.set_xlabel("neighbourhood size k" if self._symbol == "k" else literal(self.param_name, 60))
        ax.set_ylabel(literal(self.error_name, 60))
        ax.grid(color="0.9")
        ax.set_axisbelow(True)


def _check_numbers(values, what):
    if not values or not all(isinstance(v, Real) and not isinstance(v, bool) and np.isfinite(float(v)) for v in values):
        raise ValueError(f"{what} must be one or more finite numbers; got {values!r}.")


def _fold_errors(search):
    """The error of each candidate on each fold, and what it is called."""
    metric, scoring = "score", search.scoring
    if search.multimetric_:
        if not isinstance(search.refit, str):
            raise ValueError(f"search has several metrics: its refit must name one of them; got {search.refit!r}.")
        metric = search.refit
        scoring = scoring[metric] if isinstance(scoring, dict) else metric
    scores = np.stack([search.cv_results_[f"split{i}_test_{metric}"] for i in range(search.n_splits_)], axis=1)
    how = "leave-one-out" if isinstance(search.cv, LeaveOneOut) else "cross-validated"
    if scoring in (None, "accuracy"):
        return 1 - scores, f"{how} error"
    said = scoring.replace("_", " ") if isinstance(scoring, str) else metric
    return (-scores, f"{how} {said[4:]}") if said.startswith("neg ") else (1 - scores, f"{how} 1 - {said}")
