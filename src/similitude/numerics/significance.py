"""The standard error of a mean, and the Wilcoxon signed-rank test."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

MOST_EXACT = 500
"""The largest number of pairs for which the signed-rank test is exact."""


def wilcoxon_greater(a: Any, b: Any) -> float:
    """Return the p-value of the one-sided signed-rank test that a is larger than b.

    Differences of zero are left out, and equal differences share their ranks. The distribution under the null
    hypothesis, where all signs are equally likely, is exact up to 500 pairs, with or without ties; above that it is the
    normal approximation with a correction for continuity.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired values; a pair with a NaN is left out.

    Returns
    -------
    float
        The p-value; 1 if no difference is left.

    Examples
    --------
    >>> from similitude.numerics.significance import wilcoxon_greater
    >>> wilcoxon_greater([3, 4, 5, 6, 7], [1, 1, 1, 1, 1])
    0.03125
    >>> wilcoxon_greater([1, 2, 3], [1, 2, 3])
    1.0
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


def paired_differences(a: Any, b: Any) -> np.ndarray:
    """Return the differences ``a - b``, scaled and rounded so that those that differ only by rounding errors are equal.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired values; a pair with a NaN is left out.

    Returns
    -------
    ndarray
        The differences, divided by the largest absolute value.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    differences = a - b
    differences = differences[np.isfinite(differences)]
    scale = max(np.nanmax(np.abs(a), initial=0.0), np.nanmax(np.abs(b), initial=0.0))
    return differences if scale == 0 else np.round(differences / scale, 12)


def standard_error(values: Any) -> float:
    """Return the standard error of the mean of the values; 0 if there is only one.

    Parameters
    ----------
    values : array-like of shape (n,)
        The values.

    Returns
    -------
    float
        The standard error.
    """
    values = np.asarray(values, dtype=float)
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
