"""Collections of time series: the forms they come in, and the one in which compiled code takes them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from similitude._utils.types import ListLike


def as_series(X: ListLike, name: str = "X") -> list[np.ndarray]:
    """Return time series as a list of arrays of shape (channels, time).

    Measures of time series, and estimators that use them, take any of these forms but the last, whose rows are not
    samples: convert it with this function first.

    Parameters
    ----------
    X : sequence of series
        An array of shape (n, time) or (n, channels, time); a list of arrays, lists or pandas Series of shape (time,) or
        arrays or DataFrames of shape (channels, time), which may differ in length; a DataFrame with a series in each
        row, or whose cells are series, with a column for each channel (the nested form); or a DataFrame with a
        column for each channel, indexed by case and time (pd-multiindex): the cases are in the order of their first
        rows, and the values of a case in the order of time.
    name : str, default="X"
        What error messages call the collection.

    Returns
    -------
    list of ndarray of shape (channels, time)
        The series, all with the same number of channels.

    Raises
    ------
    ValueError
        If a series is empty, has other channels than the first, or contains NaN or infinity. The message names it.

    See Also
    --------
    DTW : Dynamic time warping: the smallest sum of squared differences when time may be stretched.

    Examples
    --------
    >>> from similitude.similarities import as_series
    >>> [x.shape for x in as_series([[1.0, 2.0, 3.0], [4.0, 5.0]])]
    [(1, 3), (1, 2)]
    """
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise ValueError(f"{name} must be a sequence of time series; got {type(X).__name__}.")
    given: Any = X
    if getattr(getattr(given, "index", None), "nlevels", 1) == 2:
        cases = given.index.get_level_values(0).unique()
        return as_series([given.loc[case].sort_index(kind="stable").to_numpy().T for case in cases], name)
    if hasattr(given, "iloc"):
        given = given.to_numpy()
        if given.dtype == object and given.ndim == 2 and given.size and np.ndim(given[0, 0]) == 1:
            given = [list(row) for row in given]
    numeric = isinstance(given, np.ndarray) and given.ndim in (2, 3) and given.dtype.kind in "biuf" and given.size > 0
    if numeric and np.isfinite(given).all():
        return list(given.astype(np.float64, copy=False).reshape(len(given), -1, given.shape[-1]))
    series = []
    for i, item in enumerate(given):
        try:
            values = np.asarray(item)
            if np.iscomplexobj(values) or values.dtype.kind in "USMm":
                raise TypeError(f"values of type {values.dtype}")
            values = values.astype(np.float64, copy=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}[{i}] must be an array of numbers: {error}.") from error
        if values.ndim not in (1, 2) or values.size == 0:
            raise ValueError(
                f"{name}[{i}] must be a series of shape (time,) or (channels, time), not empty; got {values.shape}."
                f"{' One series is a collection of one: [x].' if values.ndim == 0 else ''}"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"{name}[{i}] contains NaN or infinity; every value must be finite.")
        series.append(np.atleast_2d(values))
        if len(series[i]) != len(series[0]):
            raise ValueError(
                f"{name}[{i}] has {len(series[i])} channel(s), but {name}[0] has {len(series[0])}. A series has the "
                "shape (channels, time)."
            )
    return series


def slopes(series: list[np.ndarray], name: str) -> list[np.ndarray]:
    """Return the slopes of Keogh and Pazzani's derivative dynamic time warping, two steps fewer than in the series."""
    for i, x in enumerate(series):
        if x.shape[1] < 3:
            raise ValueError(f"{name}[{i}] has {x.shape[1]} time step(s); derivative needs at least 3.")
    return [((x[:, 1:-1] - x[:, :-2]) + (x[:, 2:] - x[:, :-2]) / 2) / 2 for x in series]


class Flat(NamedTuple):
    """Series in ascending order of length, one after the other, with the channels of a time step together."""

    values: np.ndarray
    starts: np.ndarray
    order: np.ndarray | None
    """The positions of the series before they were sorted, or None if they keep their order."""


def flattened(series: list[np.ndarray]) -> Flat:
    """Return series of shape (channels, time) in the form that compiled code takes."""
    lengths = np.array([x.shape[1] for x in series], dtype=np.intp)
    order = None
    if (np.diff(lengths) < 0).any():
        order = np.argsort(lengths, kind="stable")
        series, lengths = [series[i] for i in order], lengths[order]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
    return Flat(np.concatenate([x.T.ravel() for x in series]), starts, order)
