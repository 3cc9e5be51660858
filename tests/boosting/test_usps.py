"""The experiment on the USPS digits: what it computes, and a slice of it."""

import numpy as np
import pytest
from benchmarks import bench_usps
from benchmarks.bench_usps import Digits, errors, euclidean, fuzzy, load_usps, models, noisy, quantised, some
from hypothesis import given
from hypothesis import strategies as st

from similitude.similarities.images import Tangent


@pytest.fixture(scope="module")
def digits(data_folder):
    pytest.importorskip("rdata")
    try:
        return load_usps(data_folder)
    except FileNotFoundError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def few(digits):
    """120 training and 200 test images of all digits."""
    return some(digits, 120, 200)


def _slow_fuzzy(a, b):
    """The maximum over t. Between two differences the share does not change: t is best at one, or at the share."""
    difference = np.abs(a - b)
    candidates = [*difference, *(np.arange(len(a) + 1) / len(a))]
    return max(min(t, np.mean(difference >= t)) for t in candidates)


class TestFuzzy:
    @given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([2, 4, 1000]))
    def test_is_its_definition(self, seed, n_pixels, n_greys):
        rng = np.random.default_rng(seed)
        A, B = (rng.integers(0, n_greys, (n, n_pixels)) / (n_greys - 1) for n in (3, 4))
        slow = [[_slow_fuzzy(a, b) for b in B] for a in A]
        np.testing.assert_allclose(fuzzy(A, B), slow, atol=1e-6)

    def test_by_hand(self):
        images = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.4, 0.4, 0.4, 0.4], [1.0, 1.0, 0.9, 0.1]])
        np.testing.assert_allclose(fuzzy(images[:1], images)[0], [0, 0.25, 0.4, 0.75], atol=1e-7)

    def test_is_a_metric(self):
        images = np.random.default_rng(0).random((12, 9)) ** 3
        D = fuzzy(images, images)
        assert np.array_equal(D, D.T)
        assert not D.diagonal().any()
        assert (D[:, :, None] <= D[:, None, :] + D.T[None] + 1e-6).all()


class TestQuantised:
    D = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 5.0], [9.0, 5.0, 0.0]])

    def test_levels_of_equal_width(self):
        own, other = quantised(self.D, np.array([[2.9, 3.1, 100.0]]), 3)
        assert own.tolist() == [[1, 1, 3], [1, 1, 2], [3, 2, 1]]
        assert other.tolist() == [[1, 2, 3]]  # beyond the training distances: the last level

    def test_levels_of_equal_shares(self):
        X = np.random.default_rng(0).normal(size=(61, 3)) ** 3
        D = np.abs(X[:, None] - X[None]).sum(axis=2)
        own, other = quantised(D, D[:5], 3, equal="shares")
        assert np.array_equal(own[:5], other)
        above = own[np.triu_indices(61, 1)]
        assert [(above == level).sum() for level in (1, 2, 3)] == [610, 610, 610]


def test_noise_has_its_variance_and_is_new_for_each_image():
    blank = Digits(np.zeros((40, 256)), np.zeros(40), np.zeros((40, 256)), np.zeros(40))
    own = noisy(blank, 0.4)
    assert np.var(own.X) == pytest.approx(0.4, rel=0.05)
    assert np.var(own.X_test) == pytest.approx(0.4, rel=0.05)
    assert len(np.unique(np.concatenate([own.X, own.X_test])[:, 0])) == 80
    assert not noisy(blank, 0.0).X.any()


def test_without_the_data_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMILITUDE_DATA", str(tmp_path))
    (row,) = bench_usps.run()
    assert row["name"].startswith("USPS, not run: zip.train.RData and zip.test.RData: not in ")
    monkeypatch.delenv("SIMILITUDE_DATA")
    with pytest.raises(FileNotFoundError, match="no folder is set; SIMILITUDE_DATA"):
        load_usps()


class TestSlice:
    """Guessing errs in 82 of 100: the largest class is 18%."""

    def test_the_files_are_the_known_ones(self, digits):
        assert digits.X.shape == (7291, 256)
        assert digits.X_test.shape == (2007, 256)
        assert np.bincount(digits.y).tolist() == [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
        assert np.bincount(digits.y_test).tolist() == [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
        assert digits.X.min() == -1
        assert digits.X.max() == 1

    def test_each_digit_has_its_share(self, digits, few):
        shares = np.bincount(few.y) / 120 - np.bincount(digits.y) / 7291
        assert np.abs(shares).max() < 0.01
        assert len(few.y_test) == 200
        # Not sorted by digit: the first of equally near samples would then be of the first digits.
        assert (np.diff(few.y) < 0).sum() > 30

    def test_all_methods_learn(self, few):
        found = errors(*euclidean(few), few.y, few.y_test, models(n_rounds=30))
        assert len(found) == 3
        assert max(found) < 45

    def test_tangent_distance_is_better_than_euclidean(self, few):
        tangent, knn = Tangent(), models()["NN"]
        pairs = euclidean(few), (tangent(few.X, few.X), tangent(few.X_test, few.X))
        plain, invariant = (errors(*pair, few.y, few.y_test, {"NN": knn})[0] for pair in pairs)
        assert invariant < plain - 3

    def test_dboost_stands_three_levels_better_than_nearest_neighbour(self, few):
        chosen = {name: model for name, model in models(n_rounds=100).items() if name != "LSVM"}
        nearest, boosted = errors(*quantised(*euclidean(few), 3), few.y, few.y_test, chosen)
        assert boosted < nearest - 5
