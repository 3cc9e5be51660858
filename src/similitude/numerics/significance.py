"""The standard error of a mean, the signed-rank test, and a paired test of errors with a correction for many tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

MOST_EXACT = 500
"""The largest number of pairs for which the signed-rank test is exact."""


def wilcoxon_greater(a: ArrayLike, b: ArrayLike) -> float:
    """Return the p-value of the one-sided signed-rank test that a is larger than b.

    Differences of zero are left out, and equal differences share their ranks. The distribution under the null
    hypothesis, where all signs are equally likely, is exact up to 500 pairs, with or without ties; above that it is the
    normal approximation with a correction for continuity.
    """
    differences = paired_differences(a, b)
    differences = differences[differences != 0]
    n = len(differences)
    if n == 0:
        return 1.0
    doubled = np.round(2 * stats.rankdata(np.abs(differences))).astype(int)
    total, above = int(doubled.sum()), int(doubled[differences > 0].sum())
    if n > MOST_EXACT:
        deviation = np.sqrt(np.sum(doubled.astype(float) ** 2)) / 2
        return float(special.ndtr(-(above - 1 - total / 2) / deviation))
    # shares[s] is the share of all combinations of signs whose positive ranks have the sum s.
    shares = np.zeros(total + 1)
    shares[0] = 1.0
    for rank in doubled:
        shares[rank:] = (shares[rank:] + shares[: total + 1 - rank]) / 2
        shares[:rank] /= 2
    return float(min(1.0, shares[above:].sum()))


def paired_differences(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return the differences ``a - b``, scaled and rounded such that those that differ only by rounding are equal."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    differences = a - b
    differences = differences[np.isfinite(differences)]
    scale = max(np.nanmax(np.abs(a), initial=0.0), np.nanmax(np.abs(b), initial=0.0))
    return differences if scale == 0 else np.round(differences / scale, 12)


def standard_error(values: ArrayLike) -> float:
    """Return the standard error of the mean of the values; 0 if there is only one."""
    values = np.asarray(values, dtype=float)
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def weighted_mean(values: ArrayLike, weights: np.ndarray | None = None) -> tuple[float, float]:
    """Return the mean of values with weights, and its standard error."""
    values = np.asarray(values, dtype=float)
    if weights is None or len(values) < 2:
        return float(np.mean(values)), standard_error(values)
    mean, n = float(np.average(values, weights=weights)), len(values)
    return mean, float(np.sqrt(np.sum((weights * (values - mean)) ** 2) * n / (n - 1)) / np.sum(weights))


def mcnemar(a: ArrayLike, b: ArrayLike) -> float:
    """Return the p-value of the exact two-sided test that two classifiers make equally many errors on the same samples.

    Only samples on which one of them errs and the other does not count; under the null hypothesis each of these is
    equally likely to be an error of either (McNemar's test, a sign test).
    """
    a, b = np.asarray(a, dtype=bool), np.asarray(b, dtype=bool)
    first, second = int(np.sum(a & ~b)), int(np.sum(b & ~a))
    return 1.0 if first + second == 0 else float(stats.binomtest(first, first + second).pvalue)


def holm(p_values: ArrayLike) -> np.ndarray:
    """Return p-values corrected for their number by Holm's method.

    If those below a level are called significant, the probability of a false one among them is at most that level.

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    factors = np.arange(len(p_values), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return corrected
