"""Dynamic time warping of time series and its variants."""

from __future__ import annotations

import numpy as np

from similitude._utils.checks import check_integer
from similitude._utils.docs import shared_docs
from similitude.similarities.series_distance import ElasticDistance, register_series


@shared_docs
class DTW(ElasticDistance):
    """Dynamic time warping: the smallest sum of squared differences when time may be stretched.

    ``d(x, z) = D(|x|, |z|)`` with ``D(i, j) = sum_c (x_ci - z_cj)^2 + min(D(i-1, j), D(i, j-1), D(i-1, j-1))`` and
    ``D(0, 0) = 0``, over channels c; no root is taken. Series may differ in length. It is not a metric.
    With ``derivative`` it is derivative dynamic time warping, registered as "ddtw".

    Parameters
    ----------
    {window}
    {derivative}
    {relative}

    See Also
    --------
    WDTW : Weighted dynamic time warping: differences far from the diagonal weigh more.
    ADTW : Amerced dynamic time warping: every step off the diagonal costs a penalty.
    elastic_family : Return the standard family of elastic distances, a dict of names and measures.
    pairwise : Return the matrix of the similarities or dissimilarities between two sequences of objects.

    References
    ----------
    H. Sakoe and S. Chiba (1978), "Dynamic programming algorithm optimization for spoken word recognition";
    E. Keogh and M. Pazzani (2001), "Derivative dynamic time warping".

    Examples
    --------
    >>> from similitude.similarities import DTW
    >>> DTW()([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[0., 2.]])
    """

    _compiled = "dtw"

    def __init__(self, window: float | None = None, *, derivative: bool = False, relative: bool = False):
        self.window = window
        self.derivative = derivative
        self.relative = relative


@shared_docs
class WDTW(ElasticDistance):
    """Weighted dynamic time warping: differences far from the diagonal weigh more.

    Dynamic time warping in which the squared difference of x_i and z_j is multiplied by ``1 / (1 + exp(-g (|i - j| -
    L / 2)))``, where L is the length of the longer series. With ``derivative`` it is registered as "wddtw".

    Parameters
    ----------
    {window}
    g : float, default=0.05
        How much less differences near the diagonal weigh; 0 gives half of dynamic time warping.
    {derivative}
    {relative}

    See Also
    --------
    DTW : Dynamic time warping: the smallest sum of squared differences when time may be stretched.

    References
    ----------
    Y.-S. Jeong, M. K. Jeong and O. A. Omitaomu (2011), "Weighted dynamic time warping for time series classification".

    Examples
    --------
    >>> from similitude.similarities import WDTW
    >>> WDTW(g=0)([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[0., 1.]])
    """

    _compiled = "wdtw"
    _least = {"g": 0.0}

    def __init__(
        self, window: float | None = None, g: float = 0.05, *, derivative: bool = False, relative: bool = False
    ):
        self.window = window
        self.g = g
        self.derivative = derivative
        self.relative = relative


@shared_docs
class ADTW(ElasticDistance):
    """Amerced dynamic time warping: every step off the diagonal costs a penalty.

    ``D(i, j) = sum_c (x_ci - z_cj)^2 + min(D(i-1, j-1), D(i-1, j) + w, D(i, j-1) + w)`` with the penalty w.

    Parameters
    ----------
    {window}
    warp_penalty : float, default=1.0
        The penalty. 0 gives dynamic time warping, and a large one the squared Euclidean distance.
    {derivative}
    {relative}

    See Also
    --------
    DTW : Dynamic time warping: the smallest sum of squared differences when time may be stretched.

    References
    ----------
    M. Herrmann and G. I. Webb (2023), "Amercing: an intuitive and effective constraint for dynamic time warping".

    Examples
    --------
    >>> from similitude.similarities import ADTW
    >>> ADTW(warp_penalty=0.25)([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[0.25, 2.5 ]])
    """

    _compiled = "adtw"
    _least = {"warp_penalty": 0.0}
    _powers = {"warp_penalty": 2}

    def __init__(
        self,
        window: float | None = None,
        warp_penalty: float = 1.0,
        *,
        derivative: bool = False,
        relative: bool = False,
    ):
        self.window = window
        self.warp_penalty = warp_penalty
        self.derivative = derivative
        self.relative = relative


@shared_docs
class ShapeDTW(ElasticDistance):
    """Shape dynamic time warping: steps are aligned by the shape of the series around them.

    The best path is that of dynamic time warping of descriptors: at each step the values within ``reach`` steps, where
    the first and last value are repeated beyond the ends. The distance is the sum of the squared differences of
    the series themselves along this path; of several best paths the one with the smallest sum counts.

    Parameters
    ----------
    {window}
    reach : int, default=15
        The number of steps before and after each step that describe it. With 0 it is dynamic time warping.
    {derivative}
    {relative}

    See Also
    --------
    DTW : Dynamic time warping: the smallest sum of squared differences when time may be stretched.

    References
    ----------
    J. Zhao and L. Itti (2018), "shapeDTW: shape dynamic time warping".

    Examples
    --------
    >>> from similitude.similarities import ShapeDTW
    >>> ShapeDTW(reach=1)([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[0., 2.]])
    """

    _compiled = "shape_dtw"
    _least = {"reach": 0.0}

    def __init__(
        self, window: float | None = None, reach: int = 15, *, derivative: bool = False, relative: bool = False
    ):
        self.window = window
        self.reach = reach
        self.derivative = derivative
        self.relative = relative

    def _check_parameters(self) -> None:
        check_integer(self.reach, "reach", 0)
        super()._check_parameters()

    def _distances(self, left: list[np.ndarray], right: list[np.ndarray], keep: int) -> np.ndarray:
        padded = [self._padded(x) for x in left]
        others = padded if right is left else [self._padded(z) for z in right]
        return self._computed("shape_dtw", padded, others, keep)

    def _padded(self, x: np.ndarray) -> np.ndarray:
        return np.pad(x, ((0, 0), (self.reach, self.reach)), mode="edge")


register_series(DTW(), "dtw", "from 0", "Sakoe & Chiba 1978")
register_series(DTW(derivative=True), "ddtw", "from 0", "Keogh & Pazzani 2001")
register_series(WDTW(), "wdtw", "from 0", "Jeong et al. 2011")
register_series(WDTW(derivative=True), "wddtw", "from 0", "Jeong et al. 2011")
register_series(ADTW(), "adtw", "from 0", "Herrmann & Webb 2023")
register_series(ShapeDTW(), "shape_dtw", "from 0", "Zhao & Itti 2018")
