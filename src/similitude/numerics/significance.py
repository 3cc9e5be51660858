"""How sure a mean error is: its standard error, and the one significance test of the package, the signed-rank test."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

MOST_EXACT = 500
"""Up to so many pairs the signed-rank test is exact."""


def wilcoxon_greater(a: Any, b: Any) -> float:
    """Return the p-value of the one-sided signed-rank test that a is larger than b, over the pairs that both have.

    Differences of zero are left out; equal ones share their ranks. The distribution is exact, ties or not: all signs
    are equally likely (up to 500 pairs; above that the normal one with correction for continuity). Where no difference
    is left, it is 1.

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
    # The share of all signs that give each sum of the positive ranks.
    shares = np.zeros(total + 1)
    shares[0] = 1.0
    for rank in doubled:
        shares[rank:] = (shares[rank:] + shares[: total + 1 - rank]) / 2
        shares[:rank] /= 2
    return float(min(1.0, shares[above:].sum()))


def paired_differences(a: Any, b: Any) -> np.ndarray:
    """Return of the pairs without NaN; what differs by rounding only is made equal, for ties to be ties."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    differences = a - b
    differences = differences[np.isfinite(differences)]
    scale = max(np.nanmax(np.abs(a), initial=0.0), np.nanmax(np.abs(b), initial=0.0))
    return differences if scale == 0 else np.round(differences / scale, 12)


def standard_error(values: Any) -> float:
    """Return of the mean; 0 where there is one value only."""
    values = np.asarray(values, dtype=float)
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
