"""Every figure against the slow loops of tests/reference/diagnosis.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from similitude.diagnosis import diagnose
from similitude.diagnosis.figures import intrinsic_dimension, triangle_violations
from tests.reference import diagnosis as reference


def similarities(seed, n=30, symmetric=True):
    """An indefinite matrix with ties, zeros and a repeated sample."""
    rng = np.random.default_rng(seed)
    S = np.maximum(np.round(rng.normal(size=(n, n)), 1), 0)
    if symmetric:
        S = np.maximum(S, S.T)
    S[np.diag_indices(n)] = np.round(rng.uniform(1, 3, size=n), 1)
    copies = np.r_[np.arange(n), 3]
    return S[np.ix_(copies, copies)]


@pytest.fixture(params=[(0, True), (1, True), (2, False)], ids=["symmetric", "symmetric too", "asymmetric"])
def S(request):
    return similarities(*[request.param[0]], symmetric=request.param[1])


def test_figures_of_the_values(S):
    found = diagnose(S)
    assert found.n == found.n_sampled == 31
    assert found.dtype == "float64"
    assert found.symmetric == bool(np.all(S == S.T))
    assert found.asymmetry == pytest.approx(reference.asymmetry(S), abs=1e-12)
    assert (found.minimum, found.maximum) == (S.min(), S.max())
    assert found.sparsity == pytest.approx(reference.sparsity(S))
    assert found.n_distinct == reference.n_distinct(S)
    assert found.duplicates == reference.duplicates(S) == 1
    assert found.self_similarity_not_maximal == pytest.approx(reference.self_similarity_not_maximal(S))
    assert found.self_similarity_not_maximal > 0


def test_spectrum(S):
    found = diagnose(S)
    smallest, largest, nef, ner, rank = reference.spectrum(S)
    assert found.smallest_eigenvalue == pytest.approx(smallest)
    assert found.largest_eigenvalue == pytest.approx(largest)
    assert found.negative_eigenfraction == pytest.approx(nef)
    assert found.negative_eigenratio == pytest.approx(ner)
    # The copy makes one eigenvalue zero where rows and columns both repeat.
    assert found.rank == rank == 30
    assert not found.psd


def test_geometry(S):
    found = diagnose(S)
    assert found.triangle_violations == pytest.approx(reference.triangle_violations(S.max() - S))
    assert found.triangle_violations > 0
    assert found.intrinsic_dimension == pytest.approx(reference.intrinsic_dimension(reference.squared_distances(S)))
    assert found.n_neighbors == 10
    assert found.hubness == pytest.approx(reference.hubness(S, 10))
    assert found.neighbor_ties == pytest.approx(reference.neighbor_ties(S, 10))
    assert found.neighbor_ties > 0
    assert diagnose(S, n_neighbors=3).hubness == pytest.approx(reference.hubness(S, 3))


def test_classes(S):
    y = np.array(["a", "b", "a", "c", "b"])[np.arange(len(S)) % 5]
    found = diagnose(S, y)
    assert [(c.label, c.count) for c in found.classes] == [(g, int(np.sum(y == g))) for g in "abc"]
    for figures in found.classes:
        within, between = reference.class_means(S, y, figures.label)
        assert figures.within == pytest.approx(within)
        assert figures.between == pytest.approx(between)
    assert found.leave_one_out_error == pytest.approx(reference.leave_one_out_error(S, y))


def test_dissimilarity_as_given_and_as_mapped():
    rng = np.random.default_rng(0)
    D = rng.uniform(0.1, 2, size=(20, 20))
    D = np.triu(D, 1) + np.triu(D, 1).T
    y = np.arange(20) % 2
    found = diagnose(D, y, dissimilarity="max-minus")
    assert (found.minimum, found.maximum) == (0, D.max())
    assert found.triangle_violations == pytest.approx(reference.triangle_violations(D))
    assert found.triangle_violations > 0
    assert found.intrinsic_dimension == pytest.approx(reference.intrinsic_dimension(D**2))
    S = D.max() - D
    assert found.smallest_eigenvalue == pytest.approx(reference.spectrum(S)[0])
    assert found.hubness == pytest.approx(reference.hubness(S, 10))
    assert found.leave_one_out_error == reference.leave_one_out_error(S, y)
    assert found.self_similarity_not_maximal == 0
    assert not found.looks_like_dissimilarity
    assert diagnose(D).looks_like_dissimilarity


@pytest.mark.parametrize("dimension", [2, 5, 20])
def test_gaussian_data_has_its_own_dimension(dimension):
    X = np.random.default_rng(0).normal(size=(1500, dimension))
    S = X @ X.T
    assert intrinsic_dimension(S, 1e-10, similarity=True) == pytest.approx(dimension, rel=0.1)
    found = diagnose(S[:100, :100])
    assert found.rank == dimension
    assert found.psd


def test_intrinsic_dimension_is_the_same_from_distances():
    X = np.random.default_rng(1).normal(size=(100, 3))
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    from_distances = diagnose(D, dissimilarity="gauss").intrinsic_dimension
    assert from_distances == pytest.approx(diagnose(X @ X.T).intrinsic_dimension)


def test_distances_between_points_violate_nothing():
    X = np.random.default_rng(1).normal(size=(120, 1))  # on a line every triple is an equality
    D = np.abs(X - X.T)
    assert diagnose(D, dissimilarity="exp").triangle_violations == 0
    assert diagnose(D.astype(np.float32), dissimilarity="exp").triangle_violations == 0


def test_drawn_triples_come_near_the_share_of_all():
    rng = np.random.default_rng(0)
    D = rng.uniform(0.1, 2, size=(60, 60))
    exact = triangle_violations(D, 10**6, None, 1e-10, similarity=False)
    drawn = triangle_violations(D, 20_000, np.random.RandomState(0), 1e-10, similarity=False)
    assert exact == pytest.approx(reference.triangle_violations(D))
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=0.02)


def test_drawn_triples_are_of_different_samples():
    # Each self-distance alone would break the inequality; between different samples nothing does.
    D = np.ones((40, 40)) + 5 * np.eye(40)
    assert triangle_violations(D, 5_000, np.random.RandomState(0), 1e-10, similarity=False) == 0


def test_rounding_is_no_finding():
    X = np.random.default_rng(0).normal(size=(60, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[30:] = X[:30]
    S = X @ X.T
    assert diagnose(S).self_similarity_not_maximal == 0
    single = diagnose(S.astype(np.float32))
    assert single.dtype == "float32"
    assert single.psd
    assert single.rank == 4
    assert single.self_similarity_not_maximal == 0


matrices = st.integers(1, 7).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.integers(-3, 3).map(float)))


@settings(max_examples=60, deadline=None)
@given(matrices, st.integers(-450, 450))
def test_figures_do_not_depend_on_the_scale(S, exponent):
    y = np.arange(len(S)) % 2
    one, other = diagnose(S, y), diagnose(np.ldexp(S, exponent), y)
    for name in ("symmetric", "sparsity", "n_distinct", "duplicates", "rank", "psd", "triangle_violations", "hubness"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("asymmetry", "negative_eigenfraction", "intrinsic_dimension", "leave_one_out_error"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))
    assert np.ldexp(one.largest_eigenvalue, exponent) == pytest.approx(other.largest_eigenvalue)


@settings(max_examples=60, deadline=None)
@given(matrices, st.randoms(use_true_random=False))
def test_figures_do_not_depend_on_the_order(S, random):
    order = random.sample(range(len(S)), len(S))
    one, other = diagnose(S), diagnose(S[np.ix_(order, order)])
    names = ("asymmetry", "n_distinct", "duplicates", "self_similarity_not_maximal", "negative_eigenfraction", "rank")
    for name in (*names, "triangle_violations", "intrinsic_dimension", "neighbor_ties"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))
