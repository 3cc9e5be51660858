"""The standard family of elastic distances, as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude._utils.checks import check_bool
from similitude._utils.types import ListLike
from similitude.similarities.series import as_series, slopes
from similitude.similarities.series_distance import SeriesDistance
from similitude.similarities.series_edits import EDR, ERP, LCSS, MSM, TWE
from similitude.similarities.series_lockstep import SBD, SeriesEuclidean
from similitude.similarities.timeseries import ADTW, DTW, WDTW, ShapeDTW

# Costs and tolerances are in standard deviations of the series. Which of 39 settings are here was decided by
# cross-validation within the training parts of 20 sets of the UCR archive.
_FAMILY: dict[str, SeriesDistance] = {
    "euclidean": SeriesEuclidean(),
    "sbd": SBD(),
    "dtw-0.1": DTW(0.1),
    "dtw": DTW(),
    "wdtw": WDTW(),
    "adtw-0.1": ADTW(warp_penalty=0.1),
    "adtw-1": ADTW(warp_penalty=1.0),
    "erp-0": ERP(0.1),
    "erp-0.5": ERP(g=0.5),
    "lcss-0.1": LCSS(0.1, 0.1),
    "lcss-0.5": LCSS(epsilon=0.5),
    "edr": EDR(0.1, 0.25),
    "msm-0.1": MSM(c=0.1),
    "msm-0.5": MSM(c=0.5),
    "msm-2": MSM(c=2.0),
    "twe-0.1": TWE(nu=0.0001, lmbda=0.1),
    "twe-1": TWE(nu=0.0001, lmbda=1.0),
    "twe-stiff": TWE(nu=0.01, lmbda=1.0),
    "shape-dtw": ShapeDTW(0.1, 5),
}


def elastic_family(X: ListLike | None = None, *, derivatives: bool = True) -> dict[str, SeriesDistance]:
    """Return the standard family of elastic distances, a dict of names and measures.

    Pass it to an estimator that takes several similarities, such as :class:`~similitude.AutoClassifier` or
    :class:`~similitude.MixtureSVC`. Some costs are in standard deviations of the training series.
    ``similarity="elastic"`` in these estimators means the family of the series that ``fit`` gets.

    Parameters
    ----------
    X : sequence of series, default=None
        Training series, from which the standard deviation is taken. None gives measures that learn it from the
        training part in every fit; then a search computes the distances of every fold anew.
    derivatives : bool, default=True
        Whether each distance is also taken of the slopes of the series, under its name with "d-" before it.

    Returns
    -------
    dict of str and measures
        The distances.

    See Also
    --------
    DTW : Dynamic time warping: the smallest sum of squared differences when time may be stretched.
    as_series : Return time series as a list of arrays of shape (channels, time).

    References
    ----------
    J. Lines and A. Bagnall (2015), "Time series classification with ensembles of elastic distance measures".

    Examples
    --------
    >>> from similitude import MixtureSVC
    >>> from similitude.similarities import elastic_family
    >>> X = [[0.0, 1, 2, 3], [0, 1, 2, 2], [3, 2, 1, 0], [3, 3, 2, 0]]
    >>> family = elastic_family(X, derivatives=False)
    >>> family["msm-0.5"]
    MSM(c=0.558)
    >>> MixtureSVC(similarity=family, dissimilarity="gauss").fit(X, [0, 0, 1, 1]).predict([[0.0, 2, 2, 3]])
    array([0])
    """
    check_bool(derivatives, "derivatives")
    series = None if X is None else as_series(X, "X")
    family = {name: _in_unit(measure, series, False) for name, measure in _FAMILY.items()}
    if derivatives:
        family |= {f"d-{name}": _in_unit(measure, series, True) for name, measure in _FAMILY.items()}
    return family


def _in_unit(measure: SeriesDistance, series: list[np.ndarray] | None, derivative: bool) -> SeriesDistance:
    """Return the measure on the series or their slopes, with costs in their standard deviations."""
    parameters: dict[str, Any] = measure.get_params() | {"derivative": derivative}
    units = measure._powers
    if series is None:
        parameters |= {"relative": True} if units else {}
    else:
        values = np.concatenate([x.ravel() for x in (slopes(series, "X") if derivative else series)])
        unit = float(values.std()) or 1.0
        parameters |= {name: float(f"{parameters[name] * unit**power:.3g}") for name, power in units.items()}
    return type(measure)(**parameters)
