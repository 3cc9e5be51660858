"""The tests of significance against enumeration, SciPy and published tables."""

from itertools import product

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.utils.fixes import parse_version

from similitude.experiments.statistics import (
    best_and_worst,
    fewest_pairs,
    rank_methods,
    t_greater,
    wilcoxon_greater,
)

ASYMPTOTIC = "asymptotic" if parse_version(scipy.__version__) >= parse_version("1.13") else "approx"


def _by_enumeration(a, b):
    """The share of all signs whose sum of positive ranks is at least the one found."""
    d = np.asarray(a, dtype=float) - b
    d = d[d != 0]
    if not len(d):
        return 1.0
    ranks = stats.rankdata(np.abs(d))
    found = ranks[d > 0].sum()
    sums = [np.dot(signs, ranks) for signs in product((0, 1), repeat=len(d))]
    return float(np.mean(np.array(sums) >= found - 1e-9))


class TestWilcoxon:
    @given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=9))
    @settings(max_examples=40)
    def test_ties_and_zeros_by_enumeration(self, pairs):
        a, b = np.array(pairs, dtype=float).T
        assert wilcoxon_greater(a, b) == pytest.approx(_by_enumeration(a, b), abs=1e-12)

    @pytest.mark.parametrize("n", [5, 20, 50])
    def test_without_ties_it_is_scipys_exact_one(self, n):
        rng = np.random.default_rng(n)
        a, b = rng.normal(0.3, 1, n), rng.normal(size=n)
        expected = stats.wilcoxon(a, b, alternative="greater", method="exact").pvalue
        assert wilcoxon_greater(a, b) == pytest.approx(expected, rel=1e-9)

    def test_many_pairs(self):
        rng = np.random.default_rng(0)
        a, b = rng.normal(0.05, 1, 800), rng.normal(size=800)
        expected = stats.wilcoxon(a, b, alternative="greater", method=ASYMPTOTIC, correction=True).pvalue
        assert wilcoxon_greater(a, b) == pytest.approx(expected, rel=1e-6)
        assert wilcoxon_greater(a[:500], b[:500]) == pytest.approx(
            stats.wilcoxon(a[:500], b[:500], alternative="greater", method=ASYMPTOTIC).pvalue, rel=0.02
        )

    def test_rounding_does_not_break_ties(self):
        """Errors are multiples of 1/87: 5/87 - 3/87 and 4/87 - 2/87 are the same difference."""
        a, b = np.array([5, 4, 9, 1]) / 87, np.array([3, 2, 7, 3]) / 87
        assert wilcoxon_greater(a, b) == _by_enumeration([2, 2, 2, -2], 0)

    def test_missing_pairs_are_left_out(self):
        assert wilcoxon_greater([1, 2, np.nan, 4], [0, np.nan, 1, 1]) == wilcoxon_greater([1, 4], [0, 1])

    def test_nothing_to_compare(self):
        assert wilcoxon_greater([], []) == wilcoxon_greater([np.nan], [1.0]) == wilcoxon_greater([2, 2], [2, 2]) == 1


class TestT:
    def test_is_scipys(self):
        rng = np.random.default_rng(0)
        a, b = rng.normal(0.3, 1, 12), rng.normal(size=12)
        assert t_greater(a, b) == pytest.approx(stats.ttest_rel(a, b, alternative="greater").pvalue)

    def test_constant_differences(self):
        assert t_greater([2, 2, 2], [1, 1, 1]) == 0
        assert t_greater([1, 1, 1], [2, 2, 2]) == t_greater([1, 1], [1, 1]) == t_greater([1], [0]) == 1


class TestBestAndWorst:
    def test_groups(self):
        rng = np.random.default_rng(0)
        base = rng.normal(10, 2, 20)
        errors = np.array([base, base + rng.normal(0, 1, 20), base + 5, base + 5 + rng.normal(0, 1, 20)])
        best, worst = best_and_worst(errors)
        assert best.tolist() == [True, True, False, False]
        assert worst.tolist() == [False, False, True, True]

    def test_all_alike(self):
        best, worst = best_and_worst(np.ones((3, 20)))
        assert best.all()
        assert not worst.any()

    def test_one_partition_marks_the_lowest_alone(self):
        best, worst = best_and_worst(np.array([[3.0], [1.0], [1.0]]))
        assert best.tolist() == [False, True, True]
        assert not worst.any()

    def test_four_partitions_cannot_tell(self):
        best, worst = best_and_worst(np.array([[1.0, 1, 1, 1], [9, 9, 9, 9]]))
        assert best.tolist() == [True, False]
        assert not worst.any()

    def test_one_method(self):
        assert not np.any(best_and_worst(np.ones((1, 20))))
        assert not np.any(best_and_worst(np.array([[1.0] * 20, [np.nan] * 20])))

    def test_missing_cells(self):
        errors = np.array([[1.0] * 20, [5.0] * 20, [np.nan] * 20])
        errors[0, 3] = np.nan
        best, worst = best_and_worst(errors)
        assert best.tolist() == [True, False, False]
        assert worst.tolist() == [False, True, False]

    def test_the_t_test_at_one_percent(self):
        rng = np.random.default_rng(1)
        base = rng.normal(10, 1, 5)
        errors = np.array([base, base + 0.5 + rng.normal(0, 0.1, 5)])
        assert best_and_worst(errors, "t", 0.01)[0].tolist() == [True, False]

    @pytest.mark.parametrize(("level", "fewest"), [(0.05, 5), (0.01, 7)])
    def test_so_many_pairs_are_needed_and_enough(self, level, fewest):
        assert fewest_pairs("wilcoxon", level) == fewest
        assert wilcoxon_greater([2.0] * fewest, [1.0] * fewest) <= level
        assert wilcoxon_greater([2.0] * (fewest - 1), [1.0] * (fewest - 1)) > level


class TestRanking:
    def test_friedman_is_scipys(self):
        rng = np.random.default_rng(0)
        errors = np.round(rng.random((4, 12)), 1)
        ranking = rank_methods(errors, "abcd")
        assert ranking.p_value == pytest.approx(stats.friedmanchisquare(*errors).pvalue)
        assert ranking.ranks == pytest.approx(stats.rankdata(errors, axis=0).mean(axis=1))

    def test_demsars_critical_values(self):
        """Demšar 2006, Table 5a: q at 5% and 10% for 2, 4 and 10 classifiers."""
        for k, q05, q10 in [(2, 1.960, 1.645), (4, 2.569, 2.291), (10, 3.164, 2.920)]:
            errors = np.tile(np.arange(k, dtype=float)[:, None], (1, 14))
            for level, q in ((0.05, q05), (0.10, q10)):
                expected = q * np.sqrt(k * (k + 1) / (6 * 14))
                found = rank_methods(errors, [str(i) for i in range(k)], level).critical_difference
                assert found == pytest.approx(expected, rel=1e-3)

    def test_data_sets_with_a_missing_method_are_left_out(self):
        ranking = rank_methods([[1, 2, 3], [2, np.nan, 1]], "ab")
        assert ranking.n_datasets == 2
        assert ranking.ranks.tolist() == [1.5, 1.5]

    def test_all_tied(self):
        ranking = rank_methods(np.ones((3, 4)), "abc")
        assert ranking.ranks.tolist() == [2, 2, 2]
        assert ranking.p_value == 1
        assert ranking.groups == [("a", "b", "c")]

    def test_a_method_on_its_own_is_in_no_group(self):
        errors = np.array([[0.0] * 30, [1.0] * 30, [1.0] * 30])
        assert rank_methods(errors, "abc").groups == [("b", "c")]

    @pytest.mark.parametrize(
        ("errors", "methods", "message"),
        [
            (np.ones((1, 3)), "a", "at least two"),
            (np.ones((2, 3)), "abc", "errors must be of shape"),
            (np.full((2, 3), np.nan), "ab", "no data set"),
            (np.ones(3), "abc", "errors must be of shape"),
        ],
    )
    def test_bad_input(self, errors, methods, message):
        with pytest.raises(ValueError, match=message):
            rank_methods(errors, methods)
        with pytest.raises(ValueError, match="level must be"):
            rank_methods(np.ones((2, 2)), "ab", level=1.0)
