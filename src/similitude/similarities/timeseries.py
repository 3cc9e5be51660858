"""Dynamic time warping, a dissimilarity of time series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from similitude._utils.extras import require
from similitude.similarities.registry import Measure, register

if TYPE_CHECKING:
    from similitude._utils.types import ListLike


def as_series(X: Any, name: str) -> list[np.ndarray]:
    """Return time series as float arrays of shape (channels, time), all with the same channels."""
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise ValueError(f"{name} must be a sequence of time series; got {type(X).__name__}.")
    series = []
    for i, item in enumerate(X.to_numpy() if hasattr(X, "iloc") else X):
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
            )
        if not np.isfinite(values).all():
            raise ValueError(f"{name}[{i}] contains NaN or infinity; every value must be finite.")
        series.append(np.atleast_2d(values))
        if len(series[i]) != len(series[0]):
            raise ValueError(f"{name}[{i}] has {len(series[i])} channel(s), but {name}[0] has {len(series[0])}.")
    return series


def _flat(series: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return all series in one flat array, and the position at which each starts."""
    starts = np.concatenate([[0], np.cumsum([x.size for x in series])]).astype(np.intp)
    return np.concatenate([x.ravel() for x in series]), starts


class DTW(BaseEstimator):
    """Dynamic time warping: the smallest sum of squared differences when time may be stretched.

    ``d(x, z) = D(|x|, |z|)`` with ``D(i, j) = sum_c (x_ci - z_cj)^2 + min(D(i-1, j), D(i, j-1), D(i-1, j-1))`` and
    ``D(0, 0) = 0``, over channels c; no root is taken. Series may differ in length. It is not a metric. The first call
    in a process compiles for about a second, and the first call after the installation of aeon for several seconds.

    Parameters
    ----------
    window : float between 0 and 1, default=None
        The width of the Sakoe-Chiba band: how far the path may leave the diagonal, as a share of the shorter series.
        None means that the path is not restricted.

    See Also
    --------
    RBF : Gaussian radial basis function of the Euclidean distance, ``exp(-gamma |x - z|^2)``.
    pairwise : Return the matrix of the similarities or dissimilarities between two sequences of objects.

    References
    ----------
    H. Sakoe and S. Chiba (1978), "Dynamic programming algorithm optimization for spoken word recognition";
    M. Middlehurst et al. (2024), "aeon: a Python toolkit for learning from time series".

    Examples
    --------
    >>> from similitude.similarities.timeseries import DTW
    >>> DTW()([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[0., 2.]])
    """

    def __init__(self, window: float | None = None):
        self.window = window

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the matrix of distances between two collections of time series."""
        if self.window is not None and not 0 <= self.window <= 1:
            raise ValueError(f"window must be None or lie between 0 and 1; got {self.window!r}.")
        require("aeon", "timeseries")
        left = as_series(A, "A")
        right = left if B is A else as_series(B, "B")
        D = np.zeros((len(left), len(right)))
        if D.size == 0:
            return D
        if len(left[0]) != len(right[0]):
            raise ValueError(f"A and B must have the same channels; got {len(left[0])} and {len(right[0])}.")
        from similitude.similarities._dtw_compiled import fill

        window = None if self.window is None else float(self.window)
        fill(*_flat(left), *_flat(right), len(left[0]), window, right is left, D)
        return D


register(
    Measure(
        DTW(),
        name="dtw",
        objects="time series",
        orientation="dissimilarity",
        to_similarity="max-minus",
        batch=True,
        symmetric=True,
        threads=True,
        range="from 0",
        library="aeon",
        reference="Sakoe & Chiba 1978",
    )
)
