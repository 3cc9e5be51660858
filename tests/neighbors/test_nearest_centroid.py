import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, LeaveOneOut

import similitude.neighbors.nearest_centroid as module
from similitude import PathSearchCV, Proximities
from similitude.datasets import load_voting, make_perturbed_centroids
from similitude.neighbors.nearest_centroid import LocalNearestCentroid, NearestCentroid
from similitude.similarities import batch, counting
from tests.generative.problems import N, labels, problem, scales, similarities
from tests.paths import path_answers
from tests.reference import centroids as reference

BOTH = [NearestCentroid(), LocalNearestCentroid(4)]


def _path(S, y, rows, ks):
    return path_answers(LocalNearestCentroid(), S, y, rows, [{"n_neighbors": k} for k in ks])


@given(similarities(), labels, scales)
def test_nearest_centroid_equals_the_definition(problem, y, scale):
    S, rows = problem
    model = NearestCentroid().fit(S * scale, y)
    assert model.centroids_.tolist() == reference.centroids(S, y)
    assert model.predict(rows * scale).tolist() == [reference.nearest_centroid(S, y, s) for s in rows]


@given(similarities(), labels, st.integers(1, 12), scales)
def test_local_nearest_centroid_equals_the_definition(problem, y, k, scale):
    S, rows = problem
    model = LocalNearestCentroid(k).fit(S * scale, y)
    assert model.n_neighbors_ == min(k, N)
    assert model.predict(rows * scale).tolist() == [reference.local_nearest_centroid(S, y, s, k) for s in rows]


@given(similarities(), labels, st.lists(st.integers(1, 12), min_size=1, max_size=6))
def test_the_path_equals_plain_fits(problem, y, ks):
    S, rows = problem
    for k, answer in zip(ks, _path(S, y, rows, ks), strict=True):
        assert answer.tolist() == LocalNearestCentroid(k).fit(S, y).predict(rows).tolist()


def test_the_path_search_equals_the_grid_search():
    S, _, y = problem()
    for X in (S, sparse.csr_array(S), Proximities(S, ids=np.arange(len(S))), S.astype(np.float32)):
        ours, theirs = (
            search(LocalNearestCentroid(), {"n_neighbors": [1, 7, 3, 64, 7]}, cv=3, error_score="raise").fit(X, y)
            for search in (PathSearchCV, GridSearchCV)
        )
        for fold in range(3):
            score = f"split{fold}_test_score"
            assert np.array_equal(ours.cv_results_[score], theirs.cv_results_[score])
        assert ours.best_params_ == theirs.best_params_
    mapped = LocalNearestCentroid(dissimilarity="gauss")
    ours, theirs = (
        search(mapped, {"n_neighbors": [1, 9]}, cv=3).fit(1 - S / 9, y) for search in (PathSearchCV, GridSearchCV)
    )
    assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_the_centroid_has_the_largest_column_sum():
    # Sample 1 is said to be like the others, sample 0 says that it is.
    S = [[1.0, 5.0, 0.0], [0.0, 1.0, 0.0], [4.0, 5.0, 1.0]]
    model = NearestCentroid().fit(S, [0, 0, 0])
    assert model.centroids_.tolist() == [1]
    assert NearestCentroid().fit(np.transpose(S), [0, 0, 0]).centroids_.tolist() == [2]
    assert model.decision_function([[1.0, 2.0, 3.0]]).tolist() == [[2.0]]


def test_sums_that_differ_by_rounding_are_tied():
    parts = [0.1, 0.2, 0.3]
    assert (0.1 + 0.2) + 0.3 > (0.3 + 0.2) + 0.1  # (since Python 3.12 sum() makes up for rounding)
    S = np.zeros((4, 4))
    S[:3, 0], S[:3, 1] = parts[::-1], parts
    assert NearestCentroid().fit(S, [0, 0, 0, 1]).centroids_.tolist() == [0, 3]
    # Both are centroids of class 0: the nearer one is taken, which is nearer than the other class's, or farther.
    rows = [[3.0, 1.0, 0.0, 2.0], [1.0, 3.0, 0.0, 2.0]]
    assert LocalNearestCentroid(4).fit(S, [0, 0, 0, 1]).predict(rows).tolist() == [0, 0]
    # Differences beyond rounding count: only sample 1 is the centroid.
    S[0, 1] += 1e-9
    assert LocalNearestCentroid(4).fit(S, [0, 0, 0, 1]).predict(rows).tolist() == [1, 0]


def test_ties_between_classes():
    S = np.eye(5)
    assert NearestCentroid().fit(S, list("babab")).predict([np.ones(5)]).tolist() == ["a"]
    # Equally similar centroids: the class with more neighbours, the nearest one, more training samples, the first.
    row = [[2.0, 2.0, 2.0, 2.0, 1.0]]
    assert LocalNearestCentroid(4).fit(S, [0, 1, 1, 1, 0]).predict(row).tolist() == [1]
    assert LocalNearestCentroid(4).fit(S, [0, 0, 1, 1, 1]).predict(row).tolist() == [1]
    assert LocalNearestCentroid(4).fit(S, [1, 1, 0, 0, 2]).predict(row).tolist() == [0]


def test_decision_function_agrees_with_predict():
    S, rows, y = problem()
    model = NearestCentroid().fit(S, y)
    scores = model.decision_function(rows)
    assert np.array_equal(scores, rows[:, model.centroids_])
    assert np.array_equal(model.classes_[scores.argmax(axis=1)], model.predict(rows))
    two = NearestCentroid().fit(S, np.where(y == 1, "yes", "no"))
    scores = two.decision_function(rows)
    assert scores.shape == (15,)
    assert 0.0 in scores
    assert np.array_equal(np.where(scores > 0, "yes", "no"), two.predict(rows))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_is_dense_with_zeros(index):
    S, rows, y = problem()
    for estimator in BOTH:
        expected = clone(estimator).fit(S, y).predict(rows)
        for wrap in (sparse.csr_array, sparse.csr_matrix):
            stored = wrap(S)
            stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
            assert np.array_equal(clone(estimator).fit(stored, y).predict(wrap(rows)), expected)
        empty = clone(estimator).fit(sparse.csr_array(S.shape), y)
        assert np.array_equal(empty.predict(rows), clone(estimator).fit(np.zeros_like(S), y).predict(rows))


def test_sparse_entries_stored_out_of_order_or_in_parts():
    S, rows, y = problem()
    stored = sparse.csr_array(S)
    halves = sparse.csr_array(
        (
            np.repeat(stored.data / 2, 2)[::-1],
            np.repeat(stored.indices, 2)[::-1],
            2 * (stored.nnz - stored.indptr[::-1]),
        ),
        shape=S.shape,
    )
    assert not halves.has_sorted_indices
    before = halves.data.copy(), halves.indices.copy()
    for estimator in BOTH:
        expected = clone(estimator).fit(S[::-1], y).predict(rows)
        assert np.array_equal(clone(estimator).fit(halves, y).predict(rows), expected)
    assert np.array_equal(before[0], halves.data)
    assert np.array_equal(before[1], halves.indices)


def test_the_training_matrix_is_kept_in_place(tmp_path):
    S, rows, y = problem()
    expected = LocalNearestCentroid(7).fit(S, y).predict(rows)
    np.save(tmp_path / "S.npy", S)
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    for X in (S, S.astype(np.float32), mapped, np.asfortranarray(S), np.repeat(S, 2, axis=1)[:, ::2]):
        model = LocalNearestCentroid(7).fit(X, y)
        assert np.shares_memory(model._path.finder.S, X)
        assert np.array_equal(model.predict(rows), expected)
        assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(rows), expected)
    stored = sparse.csr_array(S)
    assert np.shares_memory(LocalNearestCentroid(7).fit(stored, y)._path.finder.S.data, stored.data)


def test_blocks_and_threads_change_nothing(monkeypatch):
    S, rows, y = problem(60, 200)
    ks = [1, 4, 60]
    expected = _path(S, y, rows, ks)
    centroids = NearestCentroid().fit(S, y).centroids_
    monkeypatch.setattr(module, "_BLOCK", 40)
    monkeypatch.setattr(module, "_LOCAL_BLOCK", 3 * 60**2)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert np.array_equal(_path(S, y, rows, ks), expected)
    for X in (S, sparse.csr_array(S)):
        assert np.array_equal(NearestCentroid().fit(X, y).centroids_, centroids)


def test_float32_similarities_stay_float32():
    S, rows, y = (a.astype(np.float32) if a.dtype == float else a for a in problem())
    assert NearestCentroid().fit(S, y).decision_function(rows).dtype == np.float32


def test_more_similar_than_any_sum_can_hold():
    S, rows, y = problem()
    largest = np.finfo(float).max
    for estimator in BOTH:
        expected = clone(estimator).fit(S, y).predict(rows)
        with np.errstate(over="raise"):
            huge = clone(estimator).fit(S / S.max() * largest, y).predict(rows / S.max() * largest)
        assert np.array_equal(huge, expected)


def test_raw_objects_are_compared_with_the_centroids_only():
    words = ["tree", "trees", "free", "house", "mouse", "horse", "green", "greed"]
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    asked = []

    @batch
    def overlap(A, B):
        asked.append((len(A), len(B)))
        return np.array([[len(set(a) & set(b)) - 0.1 * len(set(a) - set(b)) for b in B] for a in A])

    new = ["three", "hose", "queen"]
    S, rows = overlap(words, words), overlap(new, words)
    raw = NearestCentroid(similarity=overlap).fit(words, y)
    asked.clear()
    assert np.array_equal(raw.decision_function(new), NearestCentroid().fit(S, y).decision_function(rows))
    assert asked == [(3, 3)]
    for how in ("max-minus", "double-centring"):
        mapped = NearestCentroid(similarity=overlap, dissimilarity=how)
        plain = NearestCentroid(dissimilarity=how).fit(S + 9, y)
        shifted = clone(mapped).set_params(similarity=batch(lambda A, B: overlap(A, B) + 9)).fit(words, y)
        assert np.array_equal(shifted.decision_function(new), plain.decision_function(rows + 9))


def test_parameters_count_as_they_were_in_fit():
    S, rows, y = problem()
    model = LocalNearestCentroid(9).fit(S, y)
    expected = model.predict(rows)
    assert np.array_equal(model.set_params(n_neighbors=1).predict(rows), expected)
    with pytest.raises(ValueError, match="y must have one label per sample"):
        model.fit(S[:5, :5], y)
    assert np.array_equal(model.predict(rows), expected)


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (0, "n_neighbors must be an integer of at least 1; got 0"),
        (2.0, "n_neighbors must be an integer of at least 1; got 2.0"),
        (True, "n_neighbors must be"),
        (None, "n_neighbors must be"),
    ],
)
def test_bad_parameters_are_named(k, message):
    with pytest.raises(ValueError, match=message):
        LocalNearestCentroid(k).fit(np.eye(4), [0, 0, 1, 1])
    with pytest.raises(ValueError, match=message):
        _path(np.eye(4), np.arange(4), np.eye(4), [k])


def test_other_errors_are_named():
    for estimator in BOTH:
        with pytest.raises(ValueError, match="y must be given"):
            clone(estimator).fit(np.eye(4), None)
        with pytest.raises(NotFittedError):
            clone(estimator).predict(np.eye(4))
        with pytest.raises(ValueError, match="X has 3 features"):
            clone(estimator).fit(np.eye(4), [0, 0, 1, 1]).predict(np.ones((1, 3)))


@pytest.mark.untraced
def test_voting_leave_one_out_errors_are_those_of_the_reference_runs():
    """Cazzanti & Gupta 2007, Table 3, counting: local 7.36% (published: 6.90%), overall 11.49% (published: 12.18%).

    The sums of small integers tie often. Neighbours and centroids by their position in the training set make 6.67%.
    """
    voting = load_voting()
    X, y = voting.data, voting.target
    S = counting(X, X)
    grid = {"n_neighbors": list(range(1, 12))}
    local = PathSearchCV(LocalNearestCentroid(), grid, cv=LeaveOneOut(), refit=False).fit(S, y)
    assert 1 - local.best_score_ == pytest.approx(0.0736, abs=5e-5)
    overall = PathSearchCV(NearestCentroid(), {}, cv=LeaveOneOut(), refit=False).fit(S, y)
    assert 1 - overall.best_score_ == pytest.approx(0.1149, abs=5e-5)


@pytest.mark.untraced
def test_perturbed_centroids_errors_are_those_of_the_reference_runs():
    """d = 25 of Table 1 there: 3.85 (1.43) and 23.64 (10.95) % over 20 runs; within three standard errors."""
    local, overall = [], []
    for seed in range(30):
        train = make_perturbed_centroids(100, 25, random_state=seed)
        test = make_perturbed_centroids(1000, centroids=train.centroids, random_state=1000 + seed)
        S, rows = counting(train.X, train.X), counting(test.X, train.X)
        overall.append(100 - 100 * NearestCentroid().fit(S, train.y).score(rows, test.y))
        if seed < 5:
            search = PathSearchCV(LocalNearestCentroid(), {"n_neighbors": list(range(1, 100))}, cv=LeaveOneOut())
            local.append(100 - 100 * search.fit(S, train.y).score(rows, test.y))
    for errors, mean, deviation in ((local, 3.85, 1.43), (overall, 23.64, 10.95)):
        assert abs(np.mean(errors) - mean) < 3 * deviation * np.sqrt(1 / 20 + 1 / len(errors))
