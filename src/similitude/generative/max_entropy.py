"""Maximum-entropy distributions with given means, on Omega: the finite set or the interval of possible similarities."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._native import keep_distinct, recurrences, solve_max_entropy, tabulate_partition
from similitude.finders.stream import StreamSearch
from similitude.similarities.pairwise import Target

ROUNDING = 1e-12
"""Similarities that differ by less than this share of the largest count as one."""

_QUADRATURE = 80
_POINTS = 12
_CELLS = 0.5 / 1.25 ** np.arange(126)
_BLOCK = 2**21
_FAR = 1e100
_ORDER = 16  # the degree of the Taylor series in native/generative/max_entropy.hpp
_MOST_INTERVALS = 4096


class Pmfs(NamedTuple):
    """Fitted distributions ``log P = -rate * distance - log_z``, with the distance from the lower or the upper end."""

    rates: np.ndarray
    log_z: np.ndarray
    from_above: np.ndarray


class MaximumEntropy:
    """The distributions of maximum entropy on one Omega, given by their means (ICML 2007, eq. 6 to 8)::

        maximise  - sum over s in Omega of P(s) log P(s)   subject to   sum P(s) = 1,  sum s P(s) = mean

    The solution is ``P(s) = gamma exp(lambda s)``; with the mean at an end of Omega, a point mass there.
    Omega is scaled to [0, 1], and distances are measured from the end that is nearer to the mean. For each end the
    logarithm of the partition function is tabulated once, by Taylor series that agree with the sum over Omega to 1e-12.
    Solving for a mean then takes at most 0.25 microseconds, whatever the size of Omega (``python -m benchmarks sda``).
    """

    def __init__(self, omega: np.ndarray, continuous: bool = False):
        # Division by a power of two prevents overflow of differences and changes no digit.
        self.exponent = max(math.frexp(float(np.max(np.abs(omega))))[1], -1000)
        values = distinct(np.ldexp(np.asarray(omega, dtype=np.float64), -self.exponent))
        self.low, self.high = float(values[0]), float(values[-1])
        largest = max(abs(self.low), abs(self.high))
        self.span = self.high - self.low or largest or 1.0
        self.continuous = continuous and len(values) > 1
        self.values = None if self.continuous else values
        self.tolerance = ROUNDING if self.continuous else ROUNDING * largest / self.span
        # A mean over fewer than a million samples that are not all at the end is farther away from it.
        self.floor = ROUNDING if self.continuous else 1e-6 * self.tolerance
        if self.continuous:
            self.log_unit = math.log(self.span) + self.exponent * math.log(2.0)
            self.log_uniform = -self.log_unit
            self.tables: Any = (_interval_table(),) * 2
        else:
            self.log_unit = 0.0
            self.log_uniform = -math.log(len(values))
            below, above, weights = compressed((values - self.low) / self.span, (self.high - values) / self.span)
            self.tables = (
                _table(below, weights, self.floor, atoms=True),
                _table(above[::-1], weights[::-1], self.floor, atoms=True),
            )

    @property
    def omega(self) -> np.ndarray:
        """The possible similarities, ascending, or the two ends of an interval."""
        return np.ldexp(np.array([self.low, self.high]) if self.values is None else self.values, self.exponent)

    def distances(self, similarities: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances of similarities from the two ends of Omega, as shares of its span.

        Distances beyond an end are negative, and those within rounding of 0 are 0.
        """
        with np.errstate(over="ignore"):
            scaled = np.clip(np.ldexp(np.asarray(similarities, dtype=np.float64), -self.exponent), -_FAR, _FAR)
        ends = (scaled - self.low) / self.span, (self.high - scaled) / self.span
        below, above = (np.where(np.abs(distance) <= self.tolerance, 0.0, distance) for distance in ends)
        return below, above

    def similarities(self, below: np.ndarray, above: np.ndarray) -> np.ndarray:
        """Return the similarities with these distances from the two ends."""
        scaled = np.where(below <= above, self.low + self.span * below, self.high - self.span * above)
        return np.ldexp(scaled, self.exponent)

    def fit(self, below: np.ndarray, above: np.ndarray) -> Pmfs:
        """Return the distributions with these mean distances from the two ends (arrays of one shape)."""
        shape = np.shape(below)
        rates, log_z, from_above = np.empty(shape), np.empty(shape), np.empty(shape, dtype=bool)
        low, high = (np.ascontiguousarray(a, dtype=np.float64).ravel() for a in (below, above))
        answers: Any = [a.reshape(-1) for a in (rates, log_z, from_above)]
        solve_max_entropy(low, high, self.floor, not self.continuous, *self.tables, *answers)
        return Pmfs(rates, log_z + self.log_unit, from_above)

    def log_pmf(self, pmfs: Pmfs, below: np.ndarray, above: np.ndarray) -> np.ndarray:
        """Return the logarithm of P where similarities have these distances from the ends; all arrays broadcast."""
        distance = np.where(pmfs.from_above, above, below)
        with np.errstate(invalid="ignore"):
            smooth = -pmfs.rates * distance - pmfs.log_z
        return np.where(np.isinf(pmfs.rates), np.where(distance == 0, 0.0, -np.inf), smooth)

    def parameters(self, pmfs: Pmfs) -> tuple[np.ndarray, np.ndarray]:
        """Return lambda and log gamma of ``P(s) = gamma exp(lambda s)``; for a point mass infinity and NaN."""
        rates = np.where(pmfs.from_above, 1.0, -1.0) * pmfs.rates / self.span
        with np.errstate(invalid="ignore", over="ignore"):
            log_gamma = -pmfs.log_z - rates * np.where(pmfs.from_above, self.high, self.low)
            return np.ldexp(rates, -self.exponent), np.where(np.isinf(rates), np.nan, log_gamma)


def distinct(values: Any) -> np.ndarray:
    """Return the distinct values in ascending order; values that differ only by rounding count as one."""
    values = np.sort(np.ravel(values).astype(np.float64, copy=False))
    return values[: keep_distinct(values, ROUNDING * max(abs(values[0]), abs(values[-1])))]


def distinct_similarities(S: Any) -> np.ndarray:
    """Return the distinct entries of a matrix, read block by block; absent entries of a sparse matrix are 0."""
    if sparse.issparse(S):
        absent = [0.0] if S.nnz < S.shape[0] * S.shape[1] else []
        return distinct(np.append(S.data, absent))
    rows = max(1, _BLOCK // S.shape[1])
    blocks = []
    for start in range(0, len(S), rows):
        block = S[start : start + rows]
        # The columns of a symmetric matrix up to the diagonal contain all its values.
        if S.shape[0] == S.shape[1] and np.array_equal(block, S[:, start : start + rows].T):
            block = block[:, : start + rows]
        blocks.append(distinct(block))
    return blocks[0] if len(blocks) == 1 else distinct(np.concatenate(blocks))


def check_omega(omega: Any) -> np.ndarray:
    """Return Omega as an array of finite numbers, at least one."""
    try:
        values = np.asarray(omega, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"omega must be numbers, the possible similarities; got {omega!r}.") from error
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(f"omega must be one or more finite numbers, the possible similarities; got {omega!r}.")
    return values


def _table(distances: np.ndarray, weights: np.ndarray, floor: float, atoms: bool) -> tuple[np.ndarray, ...]:
    """Return the Taylor series of log Z from where the mean distance is at least 1/2 to where it is ``floor`` or less.

    They are given by the logarithms of the means at the edges of intervals of rates, descending, the centres and the
    half-widths of the intervals, and the coefficients in (rate - centre) / half-width.
    """
    if len(distances) == 1:
        return np.zeros(2), np.zeros(1), np.ones(1), np.zeros((1, _ORDER + 1))
    log_means, centres, widths = np.empty(_MOST_INTERVALS + 1), np.empty(_MOST_INTERVALS), np.empty(_MOST_INTERVALS)
    coefficients = np.empty((_MOST_INTERVALS, _ORDER + 1))
    points = np.ascontiguousarray(distances), np.ascontiguousarray(weights)
    count = tabulate_partition(*points, atoms, floor, log_means, centres, widths, coefficients)
    return log_means[: count + 1].copy(), centres[:count].copy(), widths[:count].copy(), coefficients[:count].copy()


@lru_cache(maxsize=1)
def _interval_table() -> tuple[np.ndarray, ...]:
    """Return the table for either end of [0, 1], computed by Gauss-Legendre quadrature."""
    places, weights = np.polynomial.legendre.leggauss(_QUADRATURE)
    return _table((places + 1) / 2, weights / 2, ROUNDING, atoms=False)


def compressed(below: np.ndarray, above: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return few weighted points instead of many: ``(below, above, weights)``, with the distances from the two ends.

    The points in a crowded cell are replaced by the twelve nodes of its Gauss quadrature. The width of a cell is a
    fourth of its distance from the nearer end. This changes the share of a cell in the mean by a relative error of less
    than 1e-12, up to rates at which the mean is 1e-18, and leaves about a hundred points, however many there were.
    """
    near, far = np.minimum(below, above), np.maximum(below, above)
    cells = np.searchsorted(-_CELLS, -near)
    cells = np.where(below <= above, -cells, cells)
    starts = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
    counts = np.diff(starts, append=len(cells))
    crowded = counts > 3 * _POINTS
    if not crowded.any():
        return below, above, np.ones(len(below))
    gone, first, last = np.repeat(crowded, counts), starts[crowded], (starts + counts - 1)[crowded]
    places, weights = _gauss(near[gone], counts[crowded])
    half = ((near[last] - near[first]) / 2)[:, None]
    new_near = ((near[last] + near[first]) / 2)[:, None] + half * places
    new_far = ((far[last] + far[first]) / 2)[:, None] - half * places
    is_lower = (below[first] <= above[first])[:, None]
    below = np.append(below[~gone], np.where(is_lower, new_near, new_far))
    above = np.append(above[~gone], np.where(is_lower, new_far, new_near))
    order = np.lexsort((-above, below))
    return below[order], above[order], np.append(np.ones(np.sum(~gone)), weights)[order]


def _gauss(values: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes and weights of the Gauss quadratures of groups of ordered values, each scaled to [-1, 1]."""
    jacobi = np.zeros((len(counts), _POINTS, _POINTS))
    recurrences(values, np.append(0, np.cumsum(counts)), jacobi)
    places, vectors = np.linalg.eigh(jacobi)
    return places, counts[:, None] * vectors[:, 0] ** 2


_MOST_VALUES = 2**20


def family_on(omega: Any, S: Any) -> MaximumEntropy:
    """Return the distributions on the Omega that the parameter defines, for these training similarities."""
    if omega is None:
        return MaximumEntropy(distinct_similarities(S))
    low, high = float(S.min()), float(S.max())
    if isinstance(omega, str):
        _check_name(omega)
        return MaximumEntropy(np.array([low, high]), continuous=True)
    family = MaximumEntropy(check_omega(omega))
    check_reach(family, low, high)
    return family


def searched_family(omega: Any, reader: Any, finder: Any) -> MaximumEntropy:
    """Return the distributions on the Omega that the parameter defines, for raw objects without their matrix.

    If Omega is taken from the similarities, an exact finder computes those of all pairs. If Omega is given,
    :func:`check_reach` is applied later to the similarities that are computed.
    """
    if omega is not None and not isinstance(omega, str):
        return MaximumEntropy(check_omega(omega))
    if not isinstance(finder, StreamSearch):
        raise ValueError(
            f"omega must be an array with search={reader.search!r}: None and 'continuous' need all training "
            "similarities, which are not computed."
        )
    if omega is None:
        found = _Distinct(reader)
        finder.over_pairs(reader.objects, reader.measure, found)
        return MaximumEntropy(found.values)
    _check_name(omega)
    interval = np.sort(reader.similarities(np.array([finder.ends(reader)]))[0])
    return MaximumEntropy(interval, continuous=True)


def _check_name(omega: str) -> None:
    if omega != "continuous":
        raise ValueError(f"omega must be None, 'continuous' or an array of similarities; got {omega!r}.")


def check_reach(family: MaximumEntropy, low: float, high: float) -> None:
    """Raise an error if Omega does not include the smallest and the largest of the training similarities."""
    below, above = family.distances([low, high])
    if min(below[0], above[1]) < -family.tolerance:
        raise ValueError(
            f"omega must cover the training similarities, which include {low:g} and {high:g}; it ranges from "
            f"{family.omega[0]:g} to {family.omega[-1]:g}."
        )


class _Distinct(Target):
    """The distinct similarities in the blocks so far."""

    def __init__(self, reader: Any):
        self.reader, self.values = reader, np.empty(0)

    def write(self, block: Any, values: np.ndarray) -> None:
        self.values = distinct(np.append(self.values, distinct(self.reader.similarities(values))))
        if len(self.values) > _MOST_VALUES:
            raise ValueError(
                f"omega=None uses the distinct training similarities, but there are more than {_MOST_VALUES}; pass "
                "omega, or use search='matrix'."
            )
