import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.optimize import linprog
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from similitude import DBoostClassifier, Proximities, SimilarityWarning
from similitude.datasets import load_voting
from similitude.similarities import VDM, pairwise
from similitude.theory import _pairs
from similitude.theory.curves import share_limits
from similitude.theory.goodness import goodness
from tests.reference import goodness as reference

GAMMAS = [-1.5, -1.0, -0.5, 0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5]


@st.composite
def problems(draw):
    """Ugly matrices with labels: ties, duplicates, constants, asymmetry, huge and tiny scales, singletons."""
    n = draw(st.integers(3, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["normal", "ties", "constant", "zero", "identity", "distances", "duplicates"]))
    S = {
        "normal": rng.normal(size=(n, n)),
        "ties": rng.integers(-1, 2, (n, n)).astype(float),
        "constant": np.full((n, n), -2.5),
        "zero": np.zeros((n, n)),
        "identity": np.eye(n),
        "distances": -np.abs(np.subtract.outer(*2 * [rng.normal(size=n)])),
        "duplicates": -np.abs(np.subtract.outer(*2 * [rng.integers(0, 3, n).astype(float)])),
    }[kind]
    S = S * draw(st.sampled_from([1.0, 1e-150, 1e150, 5e307]))
    y = rng.integers(0, draw(st.sampled_from([2, 2, 3, 5])), n)
    y[:3] = [0, 0, 1]
    return S, y


def _quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return goodness(*arguments, **options)


def _floats(values):
    return np.array([np.nan if v is None else float(v) for v in values])


def _interval(n):
    """Evenly spaced on [1/8, 9/8] and its mirror image: Figure 1 of the paper."""
    x = (np.arange(n) + 0.5) / n + 1 / 8
    x = np.concatenate([x, -x])
    return x, np.abs(x[:, None] - x[None, :]), np.sign(x)


@settings(max_examples=40)
@given(problems(), st.sampled_from([np.float64, np.float32]))
def test_every_figure_equals_the_sum_over_triples(problem, dtype):
    S, y = problem
    if dtype == np.float32:
        S = np.clip(S, -1e38, 1e38).astype(np.float32)
    found = _quiet(S, y)
    g = reference.shares(S, y)
    assert np.array_equal(found.per_sample, _floats(g), equal_nan=True)
    margins = [None if v is None else 2 * v - 1 for v in g]
    assert np.array_equal(found.margins, _floats(margins), equal_nan=True)
    attained = [m for m in margins if m is not None]
    assert found.pseudo_gamma == pytest.approx(float(sum(attained) / len(attained)), abs=1e-14)
    for gamma in [Fraction(v) for v in GAMMAS] + attained:
        assert found.curve(float(gamma)) == float(reference.curve(margins, gamma))
    assert found.curve(GAMMAS).tolist() == [found.curve(v) for v in GAMMAS]


@settings(max_examples=25)
@given(problems(), st.integers(0, 10**6), st.sampled_from([1.0, 1e-300, 1e300]))
def test_reweighted_equals_the_weighted_sum_over_triples(problem, seed, scale):
    S, y = problem
    weights = np.random.default_rng(seed).integers(0, 4, len(y)).astype(float)
    weights[[0, 1]] = 1, 3
    for label in np.unique(y):
        weights[np.flatnonzero(y == label)[0]] = 1
    found = _quiet(S, y).reweighted(weights * scale)
    g = _floats(reference.shares(S, y, weights))
    assert np.allclose(found.per_sample, g, rtol=0, atol=1e-13, equal_nan=True)
    for label in np.unique(y):
        assert found.ratios[y == label].mean() == pytest.approx(1)
    assert pytest.approx(found.ratios.max() ** 2) == found.B
    there = ~np.isnan(g)
    assert found.pseudo_gamma == pytest.approx(2 * g[there].mean() - 1, abs=1e-12)
    for gamma in 2 * g[there] - 1:
        assert found.curve(gamma) == pytest.approx(np.mean(2 * g[there] - 1 < gamma - 1e-9))


@settings(max_examples=25)
@given(problems(), st.integers(0, 10**6))
def test_mean_similarities_equal_their_definitions(problem, seed):
    S, y = problem
    w = np.random.default_rng(seed).uniform(size=len(y))
    found = _quiet(S, y)
    for weights in (None, w):
        margins = reference.balcan_blum(S, y, np.ones(len(y)) if weights is None else weights)
        assert np.allclose(found.balcan_blum(weights).margins, _floats(margins), atol=1e-12, equal_nan=True)
    for R in (w, w > 0.7, np.arange(len(y)) == 2):
        if R.any():
            part = found.reasonable(R)
            assert np.allclose(part.margins, _floats(reference.reasonable(S, y, R)), atol=1e-12, equal_nan=True)
            assert part.tau == pytest.approx(np.mean(R))


def test_the_paper_s_example_of_two_intervals():
    x, D, y = _interval(1000)
    found = goodness(D, y, dissimilarity="negate")
    exact = 1 - np.maximum(1 - 2 * np.abs(x), 0) ** 2 / 2
    assert np.abs(found.per_sample - exact).max() < 1e-3
    assert found.pseudo_gamma == pytest.approx(0.9296875, abs=1e-3)
    assert found.curve(0.75) == pytest.approx(1 / 8, abs=1e-3)
    for gamma in np.linspace(0.1, 0.95, 18):
        assert found.curve(gamma) == pytest.approx(max(0, (1 - np.sqrt(1 - gamma)) / 2 - 1 / 8), abs=2e-3)
    assert found.gamma_at(1 / 8) == pytest.approx(0.75, abs=2e-3)


def test_the_paper_s_example_from_random_samples():
    rng = np.random.default_rng(1)
    x = rng.uniform(1 / 8, 9 / 8, 2000) * rng.choice([-1, 1], 2000)
    found = goodness(-np.abs(x[:, None] - x), np.sign(x))
    assert found.pseudo_gamma == pytest.approx(0.9296875, abs=0.01)
    assert found.curve(0.75) == pytest.approx(1 / 8, abs=0.025)


def test_pairs_near_the_boundary_make_the_two_intervals_perfect():
    x, D, y = _interval(200)
    found = goodness(D, y, dissimilarity="negate").reweighted(np.abs(x) <= 3 / 8)
    assert (found.curve(1.0), found.B) == (0.0, 16.0)


@pytest.mark.parametrize(("weighted", "pseudo_gamma"), [(False, 0.769), (True, 0.777)])
def test_voting(weighted, pseudo_gamma):
    voting = load_voting()
    D = VDM(weighted=weighted).fit(voting.data, voting.target)(voting.data, voting.data)
    assert goodness(D, voting.target, dissimilarity="one-minus").pseudo_gamma == pytest.approx(pseudo_gamma, abs=5e-4)


def test_a_class_whose_weight_is_on_one_sample():
    S = [[5, 4, 1, 2], [4, 5, 1, 2], [1, 2, 5, 4], [2, 1, 4, 5]]
    found = goodness(S, [0, 0, 1, 1]).reweighted([1, 0, 1, 1])
    assert np.isnan(found.per_sample).tolist() == [True, False, False, False]
    assert (found.curve(1.0), found.pseudo_gamma, found.B) == (0.0, 1.0, 4.0)


def test_the_lcs_length_of_four_strings_is_indefinite():
    S = pairwise(["a", "b", "ab", "ba"], similarity="lcs")
    assert S.tolist() == [[1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 2, 1], [1, 1, 1, 2]]
    assert np.linalg.eigvalsh(S)[0] == pytest.approx(-0.23606798, abs=1e-8)


class TestProposition9:
    """Order and mean similarity are different conditions: neither goodness implies the other."""

    @pytest.mark.parametrize(("gamma", "B"), [(1.0, 1.0), (0.5, 4.0), (0.1, 2.0)])
    def test_good_by_order_but_not_by_means(self, gamma, B):
        # The own class is always closer, by a hair: no weighting makes the difference of means larger than the hair.
        y = np.repeat([0, 1], 6)
        hair = gamma / B / 2
        S = np.where(y[:, None] == y, -1 + hair, -1.0)
        found = goodness(S, y)
        assert found.curve(1.0) == 0
        assert found.balcan_blum().margins == pytest.approx(np.full(12, hair))
        # The best weighting of all, by a linear program: maximise t, margin of each sample >= t, 0 <= w <= 1.
        same = y[:, None] == y
        means = np.where(same, S / 5, -S / 6) * ~np.eye(12, dtype=bool)
        best = linprog(
            np.r_[np.zeros(12), -1.0],
            A_ub=np.c_[-means, np.ones(12)],
            b_ub=np.zeros(12),
            bounds=[(0, 1)] * 12 + [(None, None)],
        )
        assert -best.fun == pytest.approx(hair, abs=1e-9)
        assert -best.fun < gamma / B
        assert found.balcan_blum(best.x[:12].clip(0, 1)).gamma_at(0) == pytest.approx(hair, abs=1e-9)

    @pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9])
    @settings(max_examples=10)
    @given(seed=st.integers(0, 10**6))
    def test_good_by_means_but_not_by_order(self, gamma, seed):
        # Each class has two blocks: a sample is very similar to its own block, and least of all to the other one.
        y, block = np.repeat([0, 1], 40), np.tile(np.repeat([0, 1], 20), 2)
        same = y[:, None] == y
        across = -gamma - 1 / 39
        S = np.where(same, np.where(block[:, None] == block, 1.0, -1.0), across)
        found = goodness(S, y)
        assert found.balcan_blum().gamma_at(0) == pytest.approx(gamma)
        weights = np.random.default_rng(seed).exponential(size=80) ** 3
        assert found.curve(0) == 1
        # Whatever the weights, one block of a class has at most half of them: its samples have g of 1/2 or less.
        assert found.reweighted(weights).gamma_at(0) <= 0


class TestProposition10:
    """Neither goodness by order nor goodness by reasonable points implies the other."""

    @pytest.mark.parametrize(("gamma", "B"), [(1.0, 1.0), (0.5, 4.0), (0.1, 2.0)])
    def test_good_by_order_but_not_by_reasonable_points(self, gamma, B):
        # The own class is always closer, by a hair: strongly (0, 1)-good, and so (0, gamma, B)-good for any of them.
        y = np.repeat([0, 1], 6)
        hair = gamma / B
        S = np.where(y[:, None] == y, 1.0, 1.0 - hair)
        found = goodness(S, y)
        assert found.gamma_at(0) == 1
        # tau times the least margin is linear in R: the best R of all by a linear program, 0 <= R <= 1.
        signed = np.where(y[:, None] == y, S, -S) / 12
        best = linprog(
            np.r_[np.zeros(12), -1.0],
            A_ub=np.c_[-signed, np.ones(12)],
            b_ub=np.zeros(12),
            bounds=[(0, 1)] * 12 + [(None, None)],
        )
        assert -best.fun == pytest.approx(hair / 2)
        assert -best.fun < gamma / B
        for R in (np.ones(12), y == 1, np.arange(12) % 6 == 0, np.random.default_rng(0).uniform(size=12)):
            some = found.reasonable(R)
            assert some.tau * some.gamma_at(0) < gamma / B

    @pytest.mark.parametrize("gamma", [0.05, 0.3, 0.6, 0.9])
    def test_good_by_reasonable_points_but_not_by_order(self, gamma):
        # Each sample is similar to a share q of its class, the next ones on a circle, and least of all to the others.
        n, q = 100, gamma + (1 - gamma) / 4  # between gamma and 1/2 + gamma/2
        y, step = np.repeat([0, 1], n), (np.arange(n)[None] - np.arange(n)[:, None]) % n
        own = np.where((step > 0) & (step <= round(q * n)), 1.0, -1.0)
        across = -1.0 + 1e-6
        S = np.block([[own, np.full((n, n), across)], [np.full((n, n), across), own]])
        found = goodness(S, y)
        # All points are reasonable: tau = 1, and the margin is at least gamma.
        assert found.reasonable().tau == 1
        assert found.reasonable().gamma_at(0) >= gamma
        # By order it would have to be 1/2 + B gamma'/2 for a gamma' >= max(gamma, tau) = 1, but even 1/2 + gamma/2 is
        # beyond all weights: each x' is near to a share q of its class, so that the mean of g is q for any weights.
        near = (own > 0).astype(float)
        best = linprog(
            np.r_[np.zeros(n), -1.0],
            A_ub=np.c_[-near, np.ones(n)],
            b_ub=np.zeros(n),
            A_eq=[[1.0] * n + [0.0]],
            b_eq=[1.0],
            bounds=[(0, 1)] * n + [(None, None)],
        )
        assert -best.fun == pytest.approx(round(q * n) / n)
        assert -best.fun < 0.5 + gamma / 2
        for seed in range(3):
            weights = np.random.default_rng(seed).exponential(size=2 * n) ** 2
            assert found.reweighted(weights).gamma_at(0) < gamma


@settings(max_examples=40)
@given(problems(), st.integers(0, 10**6))
def test_thresholds_equal_the_sum_over_triples(problem, seed):
    S, y = problem
    rng = np.random.default_rng(seed)
    weights, size = rng.uniform(0.1, 1, len(y)), float(np.max(np.abs(S)))
    # Quarters of the range: sums are exact where the similarities are few, and ties remain ties.
    b = rng.integers(-2, 3, int(y.max()) + 1) * 0.25 * (size or 1.0)
    b = b[np.unique(y)]
    names = np.unique(y)
    found = _quiet(S, y).reweighted(weights, thresholds=b)
    expected = _floats(reference.shares(S, y, weights, dict(zip(names, b))))
    tied = _close_to_ties(S, y, dict(zip(names, b)), size)
    assert np.allclose(found.per_sample[~tied], expected[~tied], rtol=1e-9, atol=1e-12, equal_nan=True)
    by_label = _quiet(S, y).reweighted(weights, thresholds=dict(zip(names.tolist(), b)))
    assert np.array_equal(by_label.per_sample, found.per_sample, equal_nan=True)
    # Without thresholds, and with equal ones, it is the goodness with weights.
    plain = _quiet(S, y).reweighted(weights)
    assert np.array_equal(plain.thresholds, np.zeros(len(names)))


def _close_to_ties(S, y, b, size):
    """The samples for which rounding may decide, since two sums differ in the last digits."""
    added = np.array([b[label] for label in y])
    close = np.zeros(len(y), dtype=bool)
    for i in range(len(y)):
        own, other = S[i] / 2 + added / 2, S[i] / 2 + added / 2
        near, far = own[(y == y[i]) & (np.arange(len(y)) != i)], other[y != y[i]]
        gaps = np.abs(np.subtract.outer(near, far))
        exact = np.array_equal(S[i] / 2 + added / 2 - added / 2, S[i] / 2)
        close[i] = not exact and bool(np.any(gaps <= 1e-12 * size))
    return close


@settings(max_examples=25)
@given(problems(), st.floats(-0.9, 1.0), st.booleans())
def test_best_thresholds_are_better_than_all_others(problem, gamma, negate):
    S, y = problem
    y = np.minimum(y, 1)
    S = S / max(np.abs(S).max(), 1e-300)
    found = _quiet(-S, y, dissimilarity="negate") if negate else _quiet(S, y)
    b = found.best_thresholds(gamma)
    assert b[0] == 0
    least = found.reweighted(thresholds=b).curve(gamma)
    assert least <= found.reweighted().curve(gamma)
    for v in np.linspace(-2.1, 2.1, 22):
        assert least <= found.reweighted(thresholds=[0.0, v]).curve(gamma)


def test_a_threshold_makes_a_shifted_class_good():
    # One class is close to everything: without a threshold the other class is lost, with one all is right.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    S = rng.uniform(0, 0.4, (60, 60)) + (y[:, None] == y) + 2.0 * (y == 0)
    found = goodness(S, y)
    assert found.curve(0) == 0.5
    b = found.best_thresholds()
    assert 1.0 < b[1] < 3.0
    assert found.reweighted(thresholds=b).gamma_at(0) > 0.9
    # The thresholds of pairs are those of a boosted vote, whose margins are the goodness of its own pairs.
    model = DBoostClassifier(1, "all").fit(S, y)
    assert np.all(model.margins(S, y) == 1)
    assert abs(model.thresholds_[0] - b[1]) < 1.0
    for thresholds in ([1.0], [0.0, np.inf], ["a", "b"], {0: 1.0}, 1.0):
        with pytest.raises(ValueError, match="thresholds must"):
            found.reweighted(thresholds=thresholds)
    for gamma in (-1, 2, "a"):
        with pytest.raises(ValueError, match="gamma must be a number in"):
            found.best_thresholds(gamma)
    with pytest.raises(ValueError, match="best_thresholds needs two classes; y has 3"):
        goodness(np.eye(6), [0, 0, 1, 1, 2, 2]).best_thresholds()


def test_eta_leaves_out_the_largest_ratios():
    rng = np.random.default_rng(1)
    y = np.arange(40) % 2
    found = goodness(rng.normal(size=(40, 40)), y).reweighted(rng.exponential(size=40) ** 2)
    assert found.B_at(0) == found.B
    for eta in (0.0, 0.01, 0.025, 0.1, 0.5, 0.99):
        B = found.B_at(eta)
        assert np.mean(found.ratios > np.sqrt(B) * (1 + 1e-12)) <= eta
        smaller = found.ratios[found.ratios < np.sqrt(B) * (1 - 1e-12)]
        assert B == 1 or not smaller.size or np.mean(found.ratios > smaller.max()) > eta
    for eta in (-0.1, 1, "a", None):
        with pytest.raises(ValueError, match="eta must be a number in"):
            found.B_at(eta)


class TestProposition12:
    """Strong (epsilon, gamma)-goodness implies pseudo goodness with (1 - epsilon) gamma - epsilon."""

    @settings(max_examples=40)
    @given(problems())
    def test_it_holds_at_every_gamma(self, problem):
        found = _quiet(*problem)
        for gamma in np.r_[np.linspace(-1, 1, 21), found.margins[~np.isnan(found.margins)]]:
            epsilon = found.curve(gamma)
            assert found.pseudo_gamma >= (1 - epsilon) * gamma - epsilon - 1e-12

    def test_an_example_where_it_is_an_equality(self):
        # A fifth of the samples loses every pair, the others win three of four.
        y = np.repeat([0, 1], 5)
        S = np.empty((10, 10))
        for i in range(10):
            S[i] = np.where(y == y[i], 2.0, 1.0)
            if i % 5 == 0:
                S[i] = -S[i]
            else:
                S[i, next(j for j in range(10) if j != i and y[j] == y[i])] = 0.0
        found = goodness(S, y)
        assert sorted(set(found.margins)) == [-1.0, 0.5]
        assert found.curve(0.5) == 0.2
        assert found.pseudo_gamma == pytest.approx(0.8 * 0.5 - 0.2)


class TestProposition13:
    """Pseudo goodness promises nothing: the vote of all pairs may err on more than half of the samples."""

    @pytest.mark.parametrize(("delta", "n"), [(0.05, 200), (0.1, 100), (0.2, 50)])
    def test_a_symmetric_dissimilarity(self, delta, n):
        # In each class 1/2 - delta of the samples are near all of it, the others near these alone: g = 1, 1/2 - delta.
        near = np.tile(np.arange(n) < round((0.5 - delta) * n), 2)
        y = np.repeat([-1, 1], n)
        D = np.where(y[:, None] != y, 1.0, np.where(near[:, None] | near, 0.0, 2.0))
        assert np.array_equal(D, D.T)
        found = goodness(D, y, dissimilarity="max-minus")
        assert found.per_sample[near].tolist() == [1.0] * int(near.sum())
        assert np.allclose(found.per_sample[~near], 0.5 - delta, atol=1 / n)
        assert found.pseudo_gamma == pytest.approx(0.5 - 2 * delta - 2 * delta**2, abs=2 / n)
        votes = np.array([np.sign(D[i][y == -1][:, None] - D[i][y == 1][None, :]).sum() for i in range(2 * n)])
        assert np.mean(votes * y < 0) == found.curve(0) == pytest.approx(0.5 + delta)


class TestBand:
    def test_it_holds_the_true_curve(self):
        rng = np.random.default_rng(0)
        gammas = np.linspace(0, 1, 101)
        truth = np.maximum(0, (1 - np.sqrt(1 - gammas)) / 2 - 1 / 8)
        for _ in range(20):
            x = rng.uniform(1 / 8, 9 / 8, 60) * rng.choice([-1, 1], 60)
            low, high = goodness(-np.abs(x[:, None] - x), np.sign(x)).band(gammas)
            assert np.all((low <= truth) & (truth <= high))

    def test_it_holds_where_every_sample_has_the_same_goodness(self):
        # Similarities that tell nothing: g = 1/2 for all, a step that the estimated curve misses by a half.
        rng = np.random.default_rng(1)
        gammas = np.linspace(-0.5, 0.5, 101)
        for _ in range(10):
            found = goodness(rng.normal(size=(80, 80)), np.arange(80) % 2)
            low, high = found.band(gammas)
            truth = (gammas > 0).astype(float)
            assert np.all((low <= truth) & (truth <= high))
            assert np.abs(found.curve(gammas) - truth).max() > 0.3

    def test_it_holds_the_estimate_and_narrows(self):
        widths = []
        for n in (50, 200, 800):
            _, D, y = _interval(n)
            found = goodness(D, y, dissimilarity="negate")
            low, high = found.band(GAMMAS)
            assert np.all((low <= found.curve(GAMMAS)) & (found.curve(GAMMAS) <= high))
            widths.append(np.mean(high - low))
            assert found.band(0.5, 0.99)[1] > found.band(0.5, 0.9)[1]
            assert found.band(0.5) == (low[6], high[6])
        assert widths[0] > widths[1] > widths[2]

    def test_the_limits_of_a_share_are_chernoff_s(self):
        p, k, level = np.array([0.0, 0.3, 0.5, 1.0]), np.array([10, 20, 5, 100]), 0.01
        low, high = share_limits(p, k, level)
        assert (low[0], high[3]) == (0.0, 1.0)
        assert high[0] == pytest.approx(1 - (level / 2) ** (1 / 10))
        assert low[3] == pytest.approx((level / 2) ** (1 / 100))
        for limit in (low[1], high[1]):
            assert 20 * stats.entropy([0.3, 0.7], [limit, 1 - limit]) == pytest.approx(np.log(2 / level))

    def test_the_limits_hold_for_means_over_pairs(self):
        rng = np.random.default_rng(2)
        near, far = rng.normal(1, 1, (500, 15, 1)), rng.normal(0, 1, (500, 1, 25))
        low, high = share_limits(np.mean(near > far, axis=(1, 2)), np.full(500, 15), 0.2)
        truth = stats.norm.cdf(1 / np.sqrt(2))
        assert np.mean((truth < low) | (truth > high)) <= 0.2

    @pytest.mark.parametrize("confidence", [0, 1, -0.5, "high", None, np.nan])
    def test_confidence_is_checked(self, confidence):
        _, D, y = _interval(5)
        with pytest.raises(ValueError, match="confidence must be a number in"):
            goodness(-D, y).band(0.5, confidence)


def test_equal_weights_change_nothing():
    rng = np.random.default_rng(3)
    S, y = rng.integers(0, 6, (40, 40)).astype(float), rng.integers(0, 3, 40)
    found = goodness(S, y)
    for weights in (np.full(40, 7.0), np.bincount(y)[y]):
        again = found.reweighted(weights)
        assert np.allclose(again.per_sample, found.per_sample, atol=1e-14)
        assert pytest.approx(1) == again.B
        assert again.curve(GAMMAS).tolist() == found.curve(GAMMAS).tolist()


class _Voted(BaseEstimator):
    """What a classifier that votes by pairs keeps."""

    def __init__(self, pairs=None, alphas=None, n_classes=2):
        self.pairs, self.alphas, self.n_classes = pairs, alphas, n_classes

    def fit(self):
        self.pairs_, self.alphas_ = np.array(self.pairs), np.array(self.alphas)
        self.classes_ = np.arange(self.n_classes)
        return self


def test_weights_of_a_vote_of_pairs():
    rng = np.random.default_rng(13)
    S, y = rng.normal(size=(8, 8)), np.arange(8) % 2
    found = goodness(S, y)
    model = _Voted([(1, 0), (3, 0), (1, 2), (7, 6)], [0.5, 1.0, 0.25, 0.125]).fit()
    by_hand = found.reweighted([1.5, 0.75, 0.25, 1.0, 0, 0, 0.125, 0.125])
    assert np.array_equal(found.reweighted(model).per_sample, by_hand.per_sample)
    assert found.reweighted(model).B == by_hand.B
    with pytest.raises(NotFittedError):
        found.reweighted(_Voted())
    with pytest.raises(ValueError, match="weights: a boosted classifier must have two classes; got one with 3"):
        found.reweighted(_Voted([(1, 0)], [1.0], 3).fit())
    with pytest.raises(ValueError, match="weights: the classifier must be trained on these"):
        found.reweighted(_Voted([(9, 0)], [1.0]).fit())


def test_gamma_at_is_the_inverse_of_the_curve():
    rng = np.random.default_rng(4)
    found = goodness(rng.normal(size=(20, 20)), np.arange(20) % 2)
    for epsilon in (0, 0.05, 0.1, 0.33, 0.5, 0.95, 0.999):
        gamma = found.gamma_at(epsilon)
        assert found.curve(gamma) <= epsilon < found.curve(gamma + 1e-9)
    for epsilon in (-0.1, 1, "a", np.nan):
        with pytest.raises(ValueError, match="epsilon must be a number in"):
            found.gamma_at(epsilon)


@pytest.mark.parametrize("how", ["negate", "max-minus", "one-minus", "reciprocal", "exp", "gauss", "log"])
def test_only_the_order_of_dissimilarities_matters(how):
    rng = np.random.default_rng(5)
    # One enormous value makes all others equal after most maps, but not in order.
    D = rng.uniform(size=(30, 30))
    D[0, 1] = 1e20
    y = np.arange(30) % 2
    assert np.array_equal(goodness(D, y, dissimilarity=how).per_sample, goodness(-D, y).per_sample)


def test_double_centring_changes_the_order():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30, 2)) * [1, 5]
    D, y = np.linalg.norm(X[:, None] - X, axis=2), np.arange(30) % 2
    centred = X - X.mean(axis=0)
    inner = goodness(np.round(centred @ centred.T, 9), y)
    by_map = goodness(D, y, dissimilarity="double-centring")
    assert np.allclose(by_map.per_sample, inner.per_sample)
    assert not np.allclose(by_map.per_sample, goodness(-D, y).per_sample)


def test_similarities_of_a_map_serve_the_means():
    _, D, y = _interval(10)
    found = goodness(D, y, dissimilarity="exp")
    S = np.exp(-D / np.median(D[~np.eye(20, dtype=bool)]))
    assert np.allclose(found.balcan_blum().margins, goodness(S, y).balcan_blum().margins)
    assert found.balcan_blum().scale == pytest.approx(S[~np.eye(20, dtype=bool)].max())


class TestReasonablePoints:
    def test_few_reasonable_points_beat_all(self):
        # Two samples of each class know it; the similarities to all others are noise.
        rng = np.random.default_rng(7)
        y = np.arange(60) % 2
        S = rng.uniform(-1, 1, (60, 60))
        S[:, :4] = np.where(y[:, None] == y[:4], 0.8, -0.8)
        found = goodness(S, y)
        best = found.reasonable(tau=4 / 60)
        assert np.flatnonzero(best.R).tolist() == [0, 1, 2, 3]
        assert best.tau == pytest.approx(4 / 60)
        scale = np.abs(S[~np.eye(60, dtype=bool)]).max()
        assert best.gamma_at(0) == pytest.approx(0.8 / scale)
        assert found.reasonable().gamma_at(0.1) < 0.2
        assert found.reasonable().tau == 1

    def test_arguments(self):
        found = goodness(np.eye(4), [0, 0, 1, 1])
        assert found.reasonable(tau=1e-9).R.sum() == 1
        for tau in (0, 1.5, "a"):
            with pytest.raises(ValueError, match="tau must be a number in"):
                found.reasonable(tau=tau)
        with pytest.raises(ValueError, match="tau must be None if R is given"):
            found.reasonable(np.ones(4), tau=0.5)
        with pytest.raises(ValueError, match="R must hold at least one reasonable point"):
            found.reasonable(np.zeros(4))
        for R in (np.ones(3), [2, 0, 0, 0], [-1, 0, 0, 0], ["a"] * 4, [np.nan] * 4):
            with pytest.raises(ValueError, match="R must"):
                found.reasonable(R)


def test_singletons_are_left_out_with_a_warning():
    S = np.random.default_rng(9).normal(size=(6, 6))
    with pytest.warns(SimilarityWarning, match="1 of 6 samples are alone in their class"):
        found = goodness(S, list("aabbbc"))
    assert np.isnan(found.per_sample).tolist() == [False] * 5 + [True]
    assert found.pseudo_gamma == pytest.approx(np.mean(found.margins[:5]))
    assert found.curve(2.0) == 1
    assert found.band(0.0) == (0.0, 1.0)
    assert np.isnan(found.balcan_blum().margins[5])


@pytest.mark.parametrize("dissimilarity", [None, "negate"])
def test_kinds_of_input(dissimilarity, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(10)
    S = rng.integers(0, 4, (30, 30)).astype(float)
    y = rng.integers(0, 3, 30)
    kept = S.copy()
    expected = goodness(S, y, dissimilarity=dissimilarity)
    np.save(tmp_path / "S.npy", S)
    others = [
        pandas.DataFrame(S),
        Proximities(S, ids=np.arange(30)),
        S.tolist(),
        S.astype(np.float32),
        np.asfortranarray(S),
        np.load(tmp_path / "S.npy", mmap_mode="r"),
    ]
    if dissimilarity is None:
        others.append(sparse.csr_matrix(S))
    for other in others:
        found = goodness(other, y, dissimilarity=dissimilarity)
        assert np.array_equal(found.per_sample, expected.per_sample)
        assert np.allclose(found.balcan_blum().margins, expected.balcan_blum().margins)
        assert np.allclose(found.reasonable(tau=0.3).R, expected.reasonable(tau=0.3).R)
    assert np.array_equal(S, kept)
    again = pickle.loads(pickle.dumps(expected))
    assert again.reweighted(np.ones(30)).pseudo_gamma == pytest.approx(expected.pseudo_gamma)


def test_rows_are_taken_as_they_are():
    # Row i holds psi(x_i, .): of an asymmetric matrix and its transpose other samples are near.
    S = np.random.default_rng(11).normal(size=(12, 12))
    y = np.arange(12) % 2
    assert not np.array_equal(goodness(S, y).per_sample, goodness(S.T, y).per_sample)
    assert np.array_equal(goodness(S.T, y).per_sample, _floats(reference.shares(S.T, y)))


def test_results_do_not_depend_on_blocks_and_threads(monkeypatch):
    rng = np.random.default_rng(12)
    S, y = rng.normal(size=(150, 150)), rng.integers(0, 4, 150)
    whole = goodness(S, y)
    weights = rng.uniform(size=150)
    monkeypatch.setattr(_pairs, "_BLOCK_BYTES", 8 * 150 * 7)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    parts = goodness(S, y)
    assert np.array_equal(whole.per_sample, parts.per_sample)
    assert np.array_equal(whole.reweighted(weights).per_sample, parts.reweighted(weights).per_sample)
    assert np.array_equal(whole.balcan_blum(weights).margins, parts.balcan_blum(weights).margins)
    assert np.allclose(whole.reasonable(tau=0.2).margins, parts.reasonable(tau=0.2).margins)


@pytest.mark.parametrize(
    ("S", "y", "options", "message"),
    [
        (np.ones((3, 4)), [0, 1, 1], {}, "S must be square"),
        (np.full((2, 2), np.nan), [0, 1], {}, "S contains NaN"),
        (np.eye(3), [0, 1], {}, "y must have one label per sample"),
        (np.eye(3), [0, 0, 0], {}, "y must have at least two classes"),
        (np.eye(2), [0, 1], {}, "y must have a class of at least two samples"),
        (np.eye(3), None, {}, "y must be given"),
        (np.eye(3), [0, 0, 1], {"dissimilarity": "nope"}, "dissimilarity must be one of"),
        (-np.eye(3), [0, 0, 1], {"dissimilarity": "gauss"}, "every entry of S must be non-negative"),
        (sparse.eye(3, format="csr"), [0, 0, 1], {"dissimilarity": "negate"}, "S: a sparse matrix cannot be mapped"),
    ],
)
def test_errors_name_the_argument(S, y, options, message):
    with pytest.raises(ValueError, match=message):
        goodness(S, y, **options)


def test_weights_are_checked():
    found = _quiet(np.eye(5), [0, 0, 1, 1, 2])
    for weights in (np.ones(4), [-1, 1, 1, 1, 1], [np.inf, 1, 1, 1, 1], ["a"] * 5):
        with pytest.raises(ValueError, match="weights must"):
            found.reweighted(weights)
    with pytest.raises(ValueError, match="every class a sample of positive weight"):
        found.reweighted([1, 1, 0, 0, 1])
    with pytest.raises(ValueError, match="weights must be numbers from 0 to 1"):
        found.balcan_blum([1, 1, 2, 1, 1])
    for gamma in ("a", np.nan, [0.1, np.nan], None):
        with pytest.raises(ValueError, match="gamma must be a number or an array of numbers"):
            found.curve(gamma)


def test_they_say_what_they_are():
    found = goodness([[5, 4, 3, 1], [4, 5, 1, 3], [1, 1, 5, 2], [1, 3, 2, 5]], [0, 0, 1, 1])
    assert repr(found) == "<Goodness of 4 samples: pseudo gamma 0.75, epsilon(0) = 0>"
    assert repr(found.reweighted([1, 1, 1, 3])) == (
        "<ReweightedGoodness of 4 samples: pseudo gamma 0.75, epsilon(0) = 0, B = 2.25>"
    )
    assert repr(found.balcan_blum()) == "<SimilarityGoodness of 4 samples: epsilon(0) = 0>"
    assert repr(found.reasonable()) == "<SimilarityGoodness of 4 samples: epsilon(0) = 0.25, tau = 1>"


def test_weights_of_a_boosted_classifier_are_those_of_its_pairs():
    voting = load_voting()
    S = 1 - VDM().fit(voting.data, voting.target)(voting.data, voting.data)
    model = DBoostClassifier(n_rounds=100, random_state=0).fit(S, voting.target)
    found = goodness(S, voting.target)
    boosted = found.reweighted(model)
    weights = np.zeros(len(S))
    for pair, alpha in zip(model.pairs_, model.alphas_):
        weights[pair] += alpha
    assert np.allclose(boosted.per_sample, found.reweighted(weights).per_sample, equal_nan=True)
    assert boosted.curve(0) < found.curve(0)
    assert boosted.B > 1


def test_what_can_only_be_a_dissimilarity_is_taken_as_one():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=30), np.arange(30) % 2
    D = np.abs(x[:, None] - x)
    with pytest.warns(SimilarityWarning, match="treated as a dissimilarity"):
        taken = goodness(D, y)
    assert np.array_equal(taken.per_sample, goodness(D, y, dissimilarity="negate").per_sample)
    assert np.array_equal(taken.per_sample, goodness(-D, y).per_sample)
