"""Medoids and centres against every set of samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import euclidean_distances

from similitude import NearestCentroid
from similitude.neighbors.nearest_centroid import class_centroid
from similitude.numerics import medoids
from similitude.numerics.medoids import k_centres, k_medoids
from tests.reference import prototypes as reference


@st.composite
def matrices(draw, largest=9):
    n = draw(st.integers(1, largest))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["distances", "asymmetric", "ties", "duplicates", "constant", "zero", "huge", "tiny"]))
    X = rng.normal(size=(n, 2))
    if kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 2), n)]
    if kind in ("distances", "duplicates"):
        S = -euclidean_distances(X)
    elif kind == "ties":
        S = rng.integers(-1, 2, (n, n)).astype(float)
    elif kind in ("constant", "zero"):
        S = np.full((n, n), 0.1 if kind == "constant" else 0.0)
    else:
        S = rng.normal(size=(n, n)) * {"huge": 1e300, "tiny": 1e-300}.get(kind, 1.0)
    return S, draw(st.integers(1, n))


@settings(max_examples=40)
@given(matrices())
def test_no_exchange_of_one_medoid_is_better(problem):
    S, k = problem
    positions, objective = k_medoids(S, k)
    assert len(set(positions)) == k
    assert np.all(np.diff(positions) > 0)
    scale = np.abs(S).sum() or 1.0
    assert objective == pytest.approx(reference.medoid_value(S, positions), rel=1e-12, abs=1e-12 * scale)
    if k < len(S):
        assert reference.best_exchange(S, list(positions)) <= objective + 1e-11 * scale
    if k == 1:
        assert objective == pytest.approx(reference.best_medoid_value(S, 1), rel=1e-12, abs=1e-12 * scale)


@pytest.mark.parametrize("seed", range(6))
def test_no_exchange_is_better_whatever_the_start(seed):
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(40, 40)) if seed % 2 else -euclidean_distances(rng.normal(size=(40, 2)))
    for _ in range(5):
        positions = medoids._exchanged(np.ascontiguousarray(S.T), rng.choice(40, 9, replace=False), 1e-12)
        objective = S[:, positions].max(axis=1).sum()
        for m in positions:
            kept = S[:, positions[positions != m]].max(axis=1)
            assert np.maximum(S, kept[:, None]).sum(axis=0).max() <= objective + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_start_is_greedy(seed):
    S = np.random.default_rng(seed).normal(size=(25, 25))
    chosen, best = [], np.full(25, -np.inf)
    for _ in range(12):
        totals = np.maximum(S, best[:, None]).sum(axis=0)
        totals[chosen] = -np.inf
        chosen.append(int(np.argmax(totals)))
        best = np.maximum(best, S[:, chosen[-1]])
    assert medoids._greedy(np.ascontiguousarray(S.T), 12, 1e-12).tolist() == chosen


@pytest.mark.parametrize("seed", range(12))
def test_several_starts_find_the_best_of_all_sets(seed):
    rng = np.random.default_rng(seed)
    S, k = rng.normal(size=(9, 9)), 2 + seed % 3
    best = reference.best_medoid_value(S, k)
    values = [k_medoids(S, k, 0, n_init=n_init)[1] for n_init in (1, 20)]
    assert values[0] <= values[1] + 1e-12
    assert values[1] == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_medoids_of_blobs(seed):
    X, y = make_blobs(120, centers=10 * np.eye(6), random_state=seed)
    S = -euclidean_distances(X)
    positions, objective = k_medoids(S, 6)
    assert sorted(y[positions]) == list(range(6))
    # Within a blob the medoid is the nearest centroid's.
    np.testing.assert_array_equal(positions, np.sort(NearestCentroid().fit(S, y).centroids_))
    assert objective == pytest.approx(reference.medoid_value(S, positions), rel=1e-12)


def test_random_starts_depend_on_the_seed_alone():
    S = np.random.default_rng(0).normal(size=(40, 40))
    first, again = (k_medoids(S, 8, 3, n_init=5) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    assert first[1] == again[1] >= k_medoids(S, 8)[1]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_size_does_not_matter(k):
    S = np.random.default_rng(1).normal(size=(15, 15))
    expected, objective = k_medoids(S, k)
    for factor in (2.0**-1000, 2.0**1000):
        positions, value = k_medoids(S * factor, k)
        np.testing.assert_array_equal(positions, expected)
        assert value == objective * factor
    np.testing.assert_array_equal(k_medoids(S.astype(np.float32), k)[0], expected)


@settings(max_examples=30)
@given(matrices())
def test_one_medoid_is_the_centroid_of_nearest_centroid(problem):
    S, _ = problem
    assert k_medoids(S, 1)[0].tolist() == [class_centroid(S, np.arange(len(S)))]


def test_medoid_of_tied_totals_has_the_largest_similarity():
    S = np.array([[0.1, 0.4, 0.0], [0.2, 0.1, 0.0], [0.3, 0.1, 0.0]])
    assert S[:, 0].sum() > S[:, 1].sum()  # by the last digit
    assert k_medoids(S, 1)[0].tolist() == [1]


@pytest.mark.parametrize("function", [k_medoids, k_centres])
def test_all_samples_and_more(function):
    S = np.random.default_rng(2).normal(size=(4, 4))
    for k in (4, 7):
        positions, value = function(S, k)
        np.testing.assert_array_equal(positions, np.arange(4))
        best = S.max(axis=1)
        assert value == pytest.approx(best.sum() if function is k_medoids else best.min())


@settings(max_examples=40)
@given(matrices())
def test_centres_reach_what_they_say(problem):
    S, k = problem
    positions, value = k_centres(S, k)
    assert len(set(positions)) == k
    assert np.all(np.diff(positions) > 0)
    assert value == reference.centre_value(S, positions) <= reference.best_centre_value(S, k)
    if k == 1:
        assert value == reference.best_centre_value(S, 1)


@pytest.mark.parametrize("seed", range(8))
def test_centres_are_at_most_twice_as_far_as_the_best(seed):
    rng = np.random.default_rng(seed)
    S, k = -euclidean_distances(rng.normal(size=(10, 2))), 2 + seed % 4
    _, value = k_centres(S, k)
    best = reference.best_centre_value(S, k)
    assert 2 * best <= value <= best <= 0


def test_centres_move_after_farthest_first():
    # Farthest first ends on the rim of each group; the middle of the group is nearer to all of it.
    x = np.array([0.0, 1.0, 2.0, 3.0, 20.0, 21.0, 22.0, 23.0, 24.0])
    positions, value = k_centres(-np.abs(x[:, None] - x), 2)
    assert value == -2.0
    assert positions[1] == 6
