"""The statistical tests of the papers' tables, and of comparisons over many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from similitude._utils.checks import check_interval
from similitude.numerics.significance import paired_differences, wilcoxon_greater


def t_greater(a: Any, b: Any) -> float:
    """Return the p-value of the one-sided paired t-test that a is larger than b, or 1 if no test is possible."""
    differences = paired_differences(a, b)
    if len(differences) < 2:
        return 1.0
    mean, deviation = differences.mean(), differences.std(ddof=1)
    if deviation == 0:
        return 0.0 if mean > 0 else 1.0
    return float(stats.t.sf(mean / deviation * np.sqrt(len(differences)), len(differences) - 1))


TESTS = {"wilcoxon": wilcoxon_greater, "t": t_greater}


def fewest_pairs(test: str, level: float) -> int:
    """Return the number of pairs below which no difference can be significant.

    The smallest p-value of the signed-rank test with n pairs is 2 to the power -n.
    """
    return 2 if test == "t" else int(np.ceil(np.log2(1 / level)))


def best_and_worst(
    errors: np.ndarray, test: Literal["wilcoxon", "t"] = "wilcoxon", level: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Return the methods that are not significantly worse than the best, and those not better than the worst."""
    compare = TESTS[test]
    best, worst = np.zeros((2, len(errors)), dtype=bool)
    present = np.flatnonzero(np.isfinite(errors).any(axis=1))
    if len(present) < 2:
        return best, worst
    means = np.full(len(errors), np.nan)
    means[present] = [np.nanmean(errors[i]) for i in present]
    low, high = int(np.nanargmin(means)), int(np.nanargmax(means))
    close = 1e-12 * np.nanmax(np.abs(means))
    best[present] = means[present] <= means[low] + close
    enough = np.isfinite(errors).sum(axis=1) >= fewest_pairs(test, level)
    if not enough[present].all():
        return best, worst
    for i in present:
        best[i] |= compare(errors[i], errors[low]) > level
    if compare(errors[high], errors[low]) <= level:
        worst[high] = True
        for i in present:
            worst[i] |= compare(errors[high], errors[i]) > level
    return best, worst


@dataclass(frozen=True)
class Ranking:
    """The average ranks of methods over data sets, and the difference from which on they differ significantly.

    Parameters
    ----------
    methods : tuple of str
        The names of the methods.
    ranks : ndarray of shape (methods,)
        The average rank of each method; 1 is the best.
    n_datasets : int
        The number of data sets.
    critical_difference : float
        Nemenyi's critical difference: methods whose average ranks differ by less are not significantly different.
    p_value : float
        The p-value of Friedman's test, which is small if the methods differ.
    level : float
        The significance level.

    See Also
    --------
    rank_methods
        Return the average ranks of methods over data sets, with Friedman's test and Nemenyi's critical
        difference.
    similitude.plotting.CriticalDifferenceDisplay
        Average ranks of methods over data sets; bars join those that do not differ significantly.
    """

    methods: tuple[str, ...]
    ranks: np.ndarray
    n_datasets: int
    critical_difference: float
    p_value: float
    level: float

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The largest groups of methods, the best first, within which none differs significantly."""
        order = np.argsort(self.ranks, kind="stable")
        runs: list[tuple[int, int]] = []
        for i in range(len(order)):
            near = self.ranks[order] - self.ranks[order[i]] <= self.critical_difference + 1e-12
            end = int(np.flatnonzero(near)[-1])
            if end > i and (not runs or end > runs[-1][1]):
                runs.append((i, end))
        return [tuple(self.methods[j] for j in order[i : end + 1]) for i, end in runs]


def rank_methods(errors: ArrayLike, methods: Sequence[str], level: float = 0.05) -> Ranking:
    """Return the average ranks of methods over data sets, with Friedman's test and Nemenyi's critical difference.

    Parameters
    ----------
    errors : array of shape (methods, datasets)
        The errors; data sets on which a method has none (NaN) are left out.
    methods : sequence of str
        The names of the methods.
    level : float, default=0.05
        The significance level.

    Returns
    -------
    Ranking
        The ranking.

    See Also
    --------
    Ranking : The average ranks of methods over data sets, and the difference from which on they differ significantly.
    similitude.plotting.CriticalDifferenceDisplay
        Average ranks of methods over data sets; bars join those that do not differ significantly.

    References
    ----------
    Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006, Section 3.2.2.

    Examples
    --------
    >>> from similitude.experiments.statistics import rank_methods
    >>> ranking = rank_methods([[1, 2, 1, 3], [2, 3, 2, 4], [3, 4, 3, 5]], ["a", "b", "c"])
    >>> ranking.ranks, round(ranking.critical_difference, 3), round(ranking.p_value, 3), ranking.groups
    (array([1., 2., 3.]), 1.657, 0.018, [('a', 'b'), ('b', 'c')])
    """
    errors = np.asarray(errors, dtype=float)
    if errors.ndim != 2 or len(errors) != len(methods):
        raise ValueError(f"errors must be of shape (methods, datasets), {len(methods)} methods; got {errors.shape}.")
    if len(methods) < 2:
        raise ValueError(f"methods: at least two are needed to rank them; got {len(methods)}.")
    check_interval(level, "level", "(0, 1)")
    errors = errors[:, np.isfinite(errors).all(axis=0)]
    k, n = errors.shape
    if n == 0:
        raise ValueError("errors: there is no data set on which every method has a result.")
    scale = np.abs(errors).max(axis=0)
    ranks = stats.rankdata(np.round(errors / np.where(scale > 0, scale, 1.0), 12), axis=0)
    spread = np.sum((ranks - (k + 1) / 2) ** 2)
    between = np.sum((ranks.sum(axis=1) - n * (k + 1) / 2) ** 2)
    statistic = 0.0 if spread == 0 else (k - 1) * between / spread
    studentized = stats.studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    return Ranking(
        methods=tuple(methods),
        ranks=ranks.mean(axis=1),
        n_datasets=n,
        critical_difference=float(studentized * np.sqrt(k * (k + 1) / (6 * n))),
        p_value=float(stats.chi2.sf(statistic, k - 1)),
        level=level,
    )
