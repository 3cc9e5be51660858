"""Edit distances of time series: what it costs to change one into another."""

from __future__ import annotations

import numpy as np

from similitude._utils.checks import check_bool
from similitude._utils.docs import shared_docs
from similitude.similarities.series_distance import ElasticDistance, register_series


@shared_docs
class ERP(ElasticDistance):
    """Edit distance with real penalty: a step without a partner costs its distance from a reference value g.

    ``D(i, j) = min(D(i-1, j-1) + |x_i - z_j|, D(i-1, j) + |x_i - g|, D(i, j-1) + |z_j - g|)``, with Euclidean distances
    over channels. As in aeon, ``D(i, 0)`` is the sum of ``|x_i - g|`` over the whole series, and so is ``D(0, j)``.

    Parameters
    ----------
    {window}
    g : float, default=0.0
        The reference value, in every channel.
    {derivative}
    {relative}

    See Also
    --------
    TWE : Time warp edit distance: warping has a stiffness, and deleting a step a cost.

    References
    ----------
    L. Chen and R. Ng (2004), "On the marriage of Lp-norms and edit distance".

    Examples
    --------
    >>> from similitude.similarities import ERP
    >>> ERP()([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[0., 3.]])
    """

    _compiled = "erp"
    _least = {"g": -np.inf}
    _powers = {"g": 1}

    def __init__(
        self, window: float | None = None, g: float = 0.0, *, derivative: bool = False, relative: bool = False
    ):
        self.window = window
        self.g = g
        self.derivative = derivative
        self.relative = relative


@shared_docs
class EDR(ElasticDistance):
    """Edit distance on real sequence: the share of steps that have to be changed, inserted or deleted.

    ``D(i, j) = min(D(i-1, j-1) + [|x_i - z_j| >= epsilon], D(i-1, j) + 1, D(i, j-1) + 1)``, divided by the
    longer length. As in aeon, ``D(i, 0)`` and ``D(0, j)`` are 0.

    Parameters
    ----------
    {window}
    epsilon : float, default=None
        The distance below which two steps match. None means a quarter of the larger of the standard deviations of the
        two series.
    {derivative}
    {relative}

    See Also
    --------
    LCSS : Longest common subsequence of series: the share of steps that have no partner.

    References
    ----------
    L. Chen, M. T. Ozsu and V. Oria (2005), "Robust and fast similarity search for moving object trajectories".

    Examples
    --------
    >>> from similitude.similarities import EDR
    >>> EDR(epsilon=0.5)([[0.0, 1.0, 2.0]], [[0.0, 5.0, 2.0], [1.0, 2.0, 3.0]]).round(2)
    array([[0.33, 0.33]])
    """

    _compiled = "edr"
    _least = {"epsilon": 0.0}
    _powers = {"epsilon": 1}
    _none = -1.0

    def __init__(
        self,
        window: float | None = None,
        epsilon: float | None = None,
        *,
        derivative: bool = False,
        relative: bool = False,
    ):
        self.window = window
        self.epsilon = epsilon
        self.derivative = derivative
        self.relative = relative


@shared_docs
class LCSS(ElasticDistance):
    """Longest common subsequence of series: the share of steps that have no partner.

    ``1 - L(|x|, |z|) / min(|x|, |z|)`` with ``L(i, j) = L(i-1, j-1) + 1`` if ``|x_i - z_j| <= epsilon``, and otherwise
    ``max(L(i-1, j), L(i, j-1))``.

    Parameters
    ----------
    {window}
    epsilon : float, default=1.0
        The distance up to which two steps match.
    {derivative}
    {relative}

    See Also
    --------
    EDR : Edit distance on real sequence: the share of steps that have to be changed, inserted or deleted.

    References
    ----------
    M. Vlachos, G. Kollios and D. Gunopulos (2002), "Discovering similar multidimensional trajectories".

    Examples
    --------
    >>> from similitude.similarities import LCSS
    >>> LCSS(epsilon=0.5)([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]).round(2)
    array([[0.  , 0.33]])
    """

    _compiled = "lcss"
    _least = {"epsilon": 0.0}
    _powers = {"epsilon": 1}

    def __init__(
        self, window: float | None = None, epsilon: float = 1.0, *, derivative: bool = False, relative: bool = False
    ):
        self.window = window
        self.epsilon = epsilon
        self.derivative = derivative
        self.relative = relative


@shared_docs
class MSM(ElasticDistance):
    """Move-split-merge: values are moved, repeated ones merged, and single ones split.

    ``D(i, j) = min(D(i-1, j-1) + |x_i - z_j|, D(i-1, j) + C(x_i; x_{i-1}, z_j), D(i, j-1) + C(z_j; x_i, z_{j-1}))``,
    where ``C(v; a, b)`` is c plus the distance of v from the interval between a and b. Without a window it is a metric.

    Parameters
    ----------
    {window}
    c : float, default=1.0
        The cost of a split or merge.
    independent : bool, default=True
        Whether the distance is the sum of those of the channels. Otherwise the channels move together: distances are
        squared Euclidean ones, and ``C(v; a, b)`` is c if v lies in the ball between a and b, and otherwise c plus
        the distance to the nearer of them.
    {derivative}
    {relative}

    See Also
    --------
    TWE : Time warp edit distance: warping has a stiffness, and deleting a step a cost.

    References
    ----------
    A. Stefan, V. Athitsos and G. Das (2013), "The move-split-merge metric for time series".

    Examples
    --------
    >>> from similitude.similarities import MSM
    >>> MSM(c=0.5)([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[0.5, 3. ]])
    """

    _compiled = "msm"
    _least = {"c": 0.0}
    _powers = {"c": 1}

    def __init__(
        self,
        window: float | None = None,
        c: float = 1.0,
        independent: bool = True,
        *,
        derivative: bool = False,
        relative: bool = False,
    ):
        self.window = window
        self.c = c
        self.independent = independent
        self.derivative = derivative
        self.relative = relative

    @property
    def metric(self) -> bool:
        """Whether the axioms of a metric hold."""
        return bool(self.independent and self.window is None and self.c > 0 and not self.derivative)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_bool(self.independent, "independent")

    def _distances(self, left: list[np.ndarray], right: list[np.ndarray], keep: int) -> np.ndarray:
        if not self.independent:
            return self._computed("dependent_msm", left, right, keep)
        if len(left[0]) == 1:
            return self._computed("msm", left, right, keep)
        D = np.zeros((len(left), len(right)))
        for channel in range(len(left[0])):
            x = [series[channel : channel + 1] for series in left]
            z = x if right is left else [series[channel : channel + 1] for series in right]
            D += self._computed("msm", x, z, 0)
        return D


@shared_docs
class TWE(ElasticDistance):
    """Time warp edit distance: warping has a stiffness, and deleting a step a cost.

    ``D(i, j)`` is the smallest of ``D(i-1, j-1) + |x_i - z_j| + |x_{i-1} - z_{j-1}| + 2 nu |i - j|``,
    ``D(i-1, j) + |x_i - x_{i-1}| + nu + lmbda`` and ``D(i, j-1) + |z_j - z_{j-1}| + nu + lmbda``, with Euclidean
    distances over channels; ``x_0`` and ``z_0`` are 0.

    Parameters
    ----------
    {window}
    nu : float, default=0.001
        The stiffness.
    lmbda : float, default=1.0
        The cost of deleting a step.
    {derivative}
    {relative}

    See Also
    --------
    MSM : Move-split-merge: values are moved, repeated ones merged, and single ones split.

    References
    ----------
    P.-F. Marteau (2009), "Time warp edit distance with stiffness adjustment for time series matching".

    Examples
    --------
    >>> from similitude.similarities import TWE
    >>> TWE(nu=0.5)([[0.0, 1.0, 2.0]], [[0.0, 0.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    array([[3.5, 5. ]])
    """

    _compiled = "twe"
    _least = {"nu": 0.0, "lmbda": 0.0}
    _powers = {"nu": 1, "lmbda": 1}

    def __init__(
        self,
        window: float | None = None,
        nu: float = 0.001,
        lmbda: float = 1.0,
        *,
        derivative: bool = False,
        relative: bool = False,
    ):
        self.window = window
        self.nu = nu
        self.lmbda = lmbda
        self.derivative = derivative
        self.relative = relative


register_series(ERP(), "erp", "from 0", "Chen & Ng 2004")
register_series(EDR(), "edr", "0 to 1", "Chen et al. 2005")
register_series(LCSS(), "lcss", "0 to 1", "Vlachos et al. 2002")
register_series(MSM(), "msm", "from 0", "Stefan et al. 2013", metric=True)
register_series(TWE(), "twe", "from 0", "Marteau 2009")
