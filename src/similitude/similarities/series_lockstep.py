"""Distances of time series that do not stretch time: step by step, or with one shift of the whole series."""

from __future__ import annotations

import numpy as np
from scipy import fft

from similitude._utils.checks import check_bool
from similitude._utils.docs import shared_docs
from similitude._utils.threads import over_row_blocks, thread_count
from similitude.similarities.series_distance import ElasticDistance, SeriesDistance, register_series

_FFT_BYTES = 2**22
"""The size of the spectra that are transformed at once, which fit into a processor's cache."""


@shared_docs
class SeriesEuclidean(ElasticDistance):
    """Euclidean distance of time series, step by step.

    Of series of different lengths only the steps that both have are compared, as in aeon.

    Parameters
    ----------
    {derivative}
    {relative}

    See Also
    --------
    DTW : Dynamic time warping: the smallest sum of squared differences when time may be stretched.
    euclidean : Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.

    Examples
    --------
    >>> from similitude.similarities import SeriesEuclidean
    >>> SeriesEuclidean()([[0.0, 1.0, 2.0]], [[0.0, 4.0, 6.0, 2.0], [1.0, 1.0, 2.0]])
    array([[5., 1.]])
    """

    _compiled = "euclidean"

    def __init__(self, *, derivative: bool = False, relative: bool = False):
        self.derivative = derivative
        self.relative = relative


@shared_docs
class SBD(SeriesDistance):
    """Shape-based distance: one minus the largest cross-correlation of two series over all shifts.

    ``1 - max_s sum_t x_{t+s} z_t / (|x| |z|)``; of several channels it is the mean. A series without variation has the
    distance 1 from others that vary, and 0 from those that do not. With ``standardize`` a series of one step has the
    distance 0 from all, as in aeon.

    Parameters
    ----------
    standardize : bool, default=True
        Whether each channel of each series gets the mean 0 and the standard deviation 1 first.
    {derivative}

    See Also
    --------
    SeriesEuclidean : Euclidean distance of time series, step by step.

    References
    ----------
    J. Paparrizos and L. Gravano (2015), "k-Shape: efficient and accurate clustering of time series".

    Examples
    --------
    >>> from similitude.similarities import SBD
    >>> SBD()([[0.0, 1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0, 0.0], [1.0, 0.0, 1.0, 1.0]]).round(2)
    array([[0.08, 0.58]])
    """

    def __init__(self, standardize: bool = True, *, derivative: bool = False):
        self.standardize = standardize
        self.derivative = derivative

    def _check_parameters(self) -> None:
        check_bool(self.standardize, "standardize")

    def _distances(self, left: list[np.ndarray], right: list[np.ndarray], keep: int) -> np.ndarray:
        D = np.zeros((len(left), len(right)))
        size = fft.next_fast_len(max(x.shape[1] for x in left) + max(z.shape[1] for z in right) - 1, real=True)
        for channel in range(len(left[0])):
            x = self._spectra([series[channel] for series in left], size)
            z = x if right is left else self._spectra([series[channel] for series in right], size)
            D += self._of_one_channel(x, z, size)
        return D / len(left[0])

    def _spectra(self, series: list[np.ndarray], size: int) -> _Spectra:
        """Return the Fourier transforms of series that have the norm 1, or are 0 if they do not vary."""
        normed = np.zeros((len(series), size))
        for row, x in zip(normed, series):
            centred = x - x.mean() if self.standardize else x
            if self.standardize and np.ptp(x) == 0:
                centred = np.zeros(len(x))  # also where the mean is not exactly that of equal values
            norm = np.linalg.norm(centred)
            row[: len(x)] = centred / norm if norm > 0 else 0.0
        lengths = np.array([len(x) for x in series])
        return _Spectra(fft.rfft(normed), lengths, np.asarray(normed.any(axis=1)))

    def _of_one_channel(self, x: _Spectra, z: _Spectra, size: int) -> np.ndarray:
        D = np.empty((len(x.lengths), len(z.lengths)))
        shift = np.arange(size)
        step = max(1, _FFT_BYTES // (16 * size))
        half = z is x

        def work(start: int, stop: int) -> None:
            for i in range(start, stop):
                for first in range(i if half else 0, len(z.lengths), step):
                    part = slice(first, first + step)
                    correlations = fft.irfft(x.values[i] * z.values[part].conj(), size)
                    # Shifts at which the series do not overlap count nothing, not 0.
                    apart = (shift >= x.lengths[i]) & (shift <= size - z.lengths[part, None])
                    D[i, part] = np.abs(1.0 - np.where(apart, -np.inf, correlations).max(axis=1))

        over_row_blocks(work, len(D), max(1, len(D) // (16 * thread_count())))
        if half:
            D = np.where(np.tri(len(D), k=-1, dtype=bool), D.T, D)
        D[~x.varies[:, None] & ~z.varies] = 0.0
        if self.standardize:
            D[(x.lengths[:, None] == 1) | (z.lengths == 1)] = 0.0
        return D


class _Spectra:
    """Fourier transforms of series, with the lengths of these and whether they are other than 0."""

    def __init__(self, values: np.ndarray, lengths: np.ndarray, varies: np.ndarray):
        self.values, self.lengths, self.varies = values, lengths, varies


register_series(SeriesEuclidean(), "series_euclidean", "from 0", "")
register_series(SeriesEuclidean(derivative=True), "derivative_euclidean", "from 0", "")
register_series(SBD(), "sbd", "0 to 2", "Paparrizos & Gravano 2015")
