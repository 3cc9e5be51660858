import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from similitude import diagnose, goodness
from similitude.diagnosis import pictures
from tests.reference import diagnosis as reference
from tests.report.standin import clusters


def test_spectra_are_the_eigenvalues_of_the_symmetric_part():
    rng = np.random.default_rng(0)
    S = rng.normal(size=(9, 9))
    found = pictures.spectra(S)
    expected = np.linalg.eigvalsh((S + S.T) / 2)[::-1]
    np.testing.assert_allclose(found.before, expected, atol=1e-12)
    np.testing.assert_allclose(found.after["clip"], np.where(expected > 0, expected, 0), atol=1e-12)
    np.testing.assert_allclose(found.after["flip"], np.abs(expected), atol=1e-12)
    np.testing.assert_allclose(found.after["shift"], expected - expected[-1], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_separation_counts_every_pair_once(scale):
    S, labels = clusters(20)
    found = pictures.separation(S * scale, labels, 3)
    for label in range(3):
        within, between = np.zeros((2, pictures.N_BINS), dtype=int)
        for i in np.flatnonzero(labels == label):
            for j in range(20):
                if i != j:
                    value = min(max(S[i, j] * scale, found.edges[0]), found.edges[-1])
                    bin_ = min(np.searchsorted(found.edges, value, side="right") - 1, pictures.N_BINS - 1)
                    (within if labels[j] == label else between)[bin_] += 1
        # A value on an edge may round to either side.
        assert np.abs(np.cumsum(found.within[label] - within)).max() <= 1
        assert np.abs(np.cumsum(found.between[label] - between)).max() <= 1
        assert found.within[label].sum() == within.sum()
        assert found.between[label].sum() == between.sum()


@given(st.integers(2, 8), st.sampled_from([0.0, 1.0, -3e100]))
@settings(max_examples=15)
def test_constant_matrices(n, value):
    S, labels = np.full((n, n), value), np.arange(n) % 2
    found = pictures.separation(S, labels, 2)
    assert found.edges[0] < value < found.edges[-1] or value == 0
    assert found.within.sum() + found.between.sum() == n * (n - 1)
    low, high = pictures.color_range(S)
    assert low < high
    assert low <= value <= high
    assert np.isfinite(pictures.spectra(S).before).all()
    assert sorted(pictures.ordered_by_class(S, labels)) == list(range(n))


def test_hubness_counts_lists_and_misleading_ones():
    S, labels = clusters(25)
    found = pictures.hubness(S, labels, 4)
    times, wrong = np.zeros((2, 25), dtype=int)
    for i in range(25):
        others = sorted((j for j in range(25) if j != i), key=lambda j: (-S[i, j], j))[:4]
        for j in others:
            times[j] += 1
            wrong[j] += labels[i] != labels[j]
    np.testing.assert_array_equal(found.occurrences, times)
    np.testing.assert_array_equal(found.misleading, wrong)
    assert pictures.hubness(np.ones((1, 1)), np.zeros(1, dtype=int), 4) is None


@pytest.mark.parametrize("gammas", [None, np.linspace(-1, 1, 21)])
def test_goodness_curve_and_its_band(gammas):
    S, labels = clusters(30)
    expected = goodness(S, labels)
    found = pictures.goodness_curve(expected, confidence=0.9, gammas=gammas)
    np.testing.assert_array_equal(found.epsilons, expected.curve(found.gammas))
    np.testing.assert_array_equal([found.low, found.high], expected.band(found.gammas, 0.9))
    assert (found.confidence, found.vote_error) == (0.9, expected.curve(0.0))
    assert found.pseudo_gamma == expected.pseudo_gamma
    if gammas is None:
        assert set(expected.margins) <= set(found.gammas)
    else:
        np.testing.assert_array_equal(found.gammas, gammas)


def test_a_goodness_without_a_band():
    S, labels = clusters(30)
    means = pictures.goodness_curve(goodness(S, labels).balcan_blum())
    without = pictures.goodness_curve(goodness(S, labels), confidence=None)
    for found in (means, without):
        assert (found.low, found.high, found.confidence) == (None, None, None)
    assert means.pseudo_gamma is None
    assert without.pseudo_gamma is not None


def test_colours_leave_out_the_diagonal_and_extremes_but_let_zeros_in():
    rng = np.random.default_rng(0)
    S = rng.uniform(1, 2, size=(40, 40))
    S[np.diag_indices(40)] = 100.0
    S[3, 4] = -50.0
    low, high = pictures.color_range(S)
    assert 1 <= low < high <= 2
    S[5] = 0.0
    assert pictures.color_range(S) == (0.0, pytest.approx(high, abs=0.01))


def test_eigenvalues_that_overflow_are_refused():
    with pytest.raises(ValueError, match="its eigenvalues overflow"):
        pictures.spectra(np.full((4, 4), 1e308), ())


def test_rounding_of_float32_is_no_eigenvalue():
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    assert np.count_nonzero(pictures.spectra(X @ X.T).before) == 3


def test_order_is_by_class_then_by_mean_similarity_to_the_class():
    S, labels = clusters(24)
    order = pictures.ordered_by_class(S, labels)
    assert (np.diff(labels[order]) >= 0).all()
    means = [np.mean([S[i, j] for j in range(24) if j != i and labels[j] == labels[i]]) for i in order]
    for label in range(3):
        own = np.array(means)[labels[order] == label]
        assert (np.diff(own) <= 1e-12).all()


def test_equally_similar_neighbours_share_the_places_of_a_list():
    """In a matrix of zeros nobody is a hub; by position the first rows would be in nearly all lists."""
    S = np.eye(40)
    S[0, 1] = S[1, 0] = 0.5
    labels = np.arange(40) % 2
    found = pictures.hubness(S, labels, 5)
    assert found.occurrences.sum() == pytest.approx(40 * 5)
    assert found.occurrences.max() < 7
    # Sample 1 is in the list of 0, and has its share of 5 places among 39 in those of the 38 others.
    assert found.occurrences[1] == pytest.approx(1 + 38 * 5 / 39)
    assert found.misleading[1] == pytest.approx(1 + 19 * 5 / 39)
    assert diagnose(S).hubness == pytest.approx(reference.hubness(S, 10))
