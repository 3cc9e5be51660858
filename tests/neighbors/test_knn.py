import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from joblib import Parallel, delayed, parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline

from similitude import KNNClassifier, PathSearchCV, PseudoEuclideanEmbedding
from similitude.datasets import load_voting
from similitude.neighbors.weights import SIMILARITY_WEIGHTS
from similitude.similarities import VDM, counting, pairwise
from tests.reference import neighbors as reference

values = st.integers(-2, 3).map(float) | st.floats(-2, 3, width=32)


@given(
    arrays(float, st.tuples(st.integers(1, 3), st.just(9)), elements=values),
    arrays(int, 9, elements=st.integers(0, 3)),
    st.integers(1, 12),
    st.sampled_from(list(SIMILARITY_WEIGHTS)),
    st.sampled_from([1.0, 2.0**-500, 2.0**500]),
)
def test_equals_the_definition(rows, y, k, weights, scale):
    knn = KNNClassifier(k, weights).fit(np.eye(9) * scale, y)
    k = min(k, 9)
    assert knn.n_neighbors_ == k
    assert knn.predict(rows * scale).tolist() == [reference.predict(s, y, k, weights) for s in rows]
    expected = [reference.posterior(s, y, k, knn.classes_, weights) for s in rows]
    assert np.allclose(knn.predict_proba(rows * scale), expected, rtol=0, atol=1e-12)


def test_equals_scikit_learn_on_distances():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    D = euclidean_distances(X)
    ours = KNNClassifier(1, dissimilarity="negate").fit(D[:60, :60], y[:60])
    theirs = KNeighborsClassifier(1, metric="precomputed").fit(D[:60, :60], y[:60])
    assert np.array_equal(ours.predict(D[60:, :60]), theirs.predict(D[60:, :60]))
    similarities, indices = ours.kneighbors(D[60:, :60], 7)
    distances, expected = theirs.kneighbors(D[60:, :60], 7)
    assert np.array_equal(indices, expected)
    assert np.allclose(similarities, -distances)


def test_tie_goes_to_the_nearest_neighbour():
    knn = KNNClassifier(2).fit(np.eye(2), ["a", "b"])
    assert knn.predict([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]]).tolist() == ["b", "a", "a"]


def test_affinity_with_negative_weights_never_elects_an_absent_class():
    knn = KNNClassifier(3, "affinity").fit(np.eye(4), [0, 1, 1, 2])
    row = [[1.0, 0.9, -1.5, -2.0]]
    assert knn.predict(row).tolist() == [0]
    # The sum 1 + 0.9 - 1.5 is positive, and so are not all class sums.
    assert knn.predict_proba(row).tolist() == [[1.0, 0.0, 0.0]]


def _dissimilarities():
    """An asymmetric dissimilarity of 100 samples with many ties; the last 40 are new, 10 of them duplicates."""
    rng = np.random.default_rng(0)
    D = np.where(rng.random((100, 100)) < 0.5, rng.integers(1, 40, (100, 100)) / 8, rng.uniform(0.1, 5, (100, 100)))
    np.fill_diagonal(D, 0)
    D[60:70] = D[:10]
    D[10:20, :10] = 0
    return D[:60, :60], D[60:, :60], rng.integers(0, 3, 60)


@pytest.mark.parametrize("how", ["max-minus", "one-minus", "negate"])
def test_distance_weights_are_those_of_scikit_learn(how):
    D, rows, y = _dissimilarities()
    ranked = np.sort(rows, axis=1)
    for k in (1, 3, 10, 25, 60):
        ours = KNNClassifier(k, "distance", dissimilarity=how).fit(D, y)
        theirs = KNeighborsClassifier(k, metric="precomputed", weights="distance").fit(D, y)
        # If the last neighbour is tied with the next sample, scikit-learn chooses one of them arbitrarily.
        clear = ranked[:, k - 1] < (ranked[:, k] if k < 60 else np.inf)
        assert clear[:10].any()
        assert clear.sum() >= 20
        expected = theirs.predict_proba(rows[clear])
        assert np.allclose(ours.predict_proba(rows[clear]), expected, rtol=0, atol=1e-12)
        indices, weights = ours.neighbor_weights(rows[clear])
        votes = np.stack([np.where(y[indices] == label, weights, 0).sum(axis=1) for label in range(3)], axis=1)
        assert np.allclose(votes, expected, rtol=0, atol=1e-12)


def test_distances_are_measured_from_the_largest_training_similarity():
    S = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    knn = KNNClassifier(3, "distance").fit(S, [0, 1, 1])
    assert np.allclose(knn.neighbor_weights([[1.0, 0.0, -2.0]])[1], np.array([[4, 2, 1]]) / 7)
    # Two similarities are at least the largest one, 2: their distances are 0.
    assert knn.neighbor_weights([[2.0, 3.0, 1.9]])[1].tolist() == [[0.5, 0.5, 0.0]]
    assert knn.predict_proba([[2.0, 3.0, 1.9]]).tolist() == [[0.5, 0.5]]
    # Differences that overflow, and distances whose inverse does.
    wide = KNNClassifier(2, "distance").fit(np.diag([1e308, 1e308]), [0, 1])
    assert np.allclose(wide.predict_proba([[-1e308, 0.5e308]]), [[0.2, 0.8]])
    narrow = KNNClassifier(2, "distance").fit(np.diag([1e-310, 0.0]), [0, 1])
    assert np.allclose(narrow.predict_proba([[0.0, -1e-310]]), [[2 / 3, 1 / 3]])


def test_distance_weights_of_single_precision_and_sparse_similarities(tmp_path):
    S, y, _ = _two_blobs()
    S = np.where(S > -5, np.float32(6 + S), 0).astype(np.float32)
    expected = KNNClassifier(9, "distance").fit(S.astype(float), y).predict_proba(S[::-1].astype(float))
    np.save(tmp_path / "S.npy", S)
    for matrix in (S, sparse.csr_array(S), sparse.csr_matrix(S), np.load(tmp_path / "S.npy", mmap_mode="r")):
        found = KNNClassifier(9, "distance").fit(matrix, y).predict_proba(matrix[::-1])
        assert np.allclose(found, expected, rtol=0, atol=1e-12)
    # In a sparse matrix of negative similarities, the largest one is not stored.
    knn = KNNClassifier(2, "distance").fit(sparse.csr_array(np.diag([-1.0, -2.0])), [0, 1])
    assert np.allclose(knn.predict_proba([[-1.0, -3.0]]), [[0.75, 0.25]])


@pytest.mark.parametrize("how", ["max-minus", "negate", "exp"])
def test_distance_weights_of_raw_objects_are_those_of_their_matrix(how):
    words = ["tea", "tee", "tea", "coffee", "toffee", "coffe"]
    new, y = ["tea", "tree", "coffees"], [0, 0, 1, 1, 1, 0]
    matrix = KNNClassifier(4, "distance", dissimilarity=how).fit(pairwise(words, similarity="levenshtein"), y)
    expected = matrix.predict_proba(pairwise(new, words, similarity="levenshtein"))
    raw = KNNClassifier(4, "distance", similarity="levenshtein", dissimilarity=how)
    assert np.array_equal(clone(raw).fit(words, y).predict_proba(new), expected)
    pieces = clone(raw).partial_fit(words[3:], y[3:]).partial_fit(words[:3], y[:3])
    again = clone(raw).fit(words[3:] + words[:3], y[3:] + y[:3])
    assert np.array_equal(pieces.predict_proba(new), again.predict_proba(new))


def test_float32_similarities_stay_float32():
    S = np.eye(5, dtype=np.float32)
    assert KNNClassifier(2).fit(S, [0, 1, 0, 1, 0]).kneighbors(S)[0].dtype == np.float32


def test_costs_choose_the_least_expected_cost():
    S, y = np.eye(4), ["ill", "well", "well", "well"]
    row = [[3.0, 2.0, 1.0, 0.0]]
    assert KNNClassifier(3).fit(S, y).predict(row) == ["well"]
    costs = {"ill": {"ill": 0, "well": 1}, "well": {"ill": 10, "well": 0}}
    by_label = KNNClassifier(3, costs=costs).fit(S, y)
    by_matrix = KNNClassifier(3, costs=[[0, 1], [10, 0]]).fit(S, y)
    assert by_label.predict(row) == by_matrix.predict(row) == ["ill"]
    assert by_label.predict_proba(row).tolist() == KNNClassifier(3).fit(S, y).predict_proba(row).tolist()


def test_priors_rescale_the_posterior():
    S, y = np.eye(4), [0, 1, 1, 1]
    row = [[3.0, 2.0, 1.0, 0.0]]
    weights = np.array([1 / 3, 2 / 3]) * np.array([0.5 / 0.25, 0.5 / 0.75])
    knn = KNNClassifier(3, priors=[0.5, 0.5]).fit(S, y)
    assert knn.predict_proba(row)[0].tolist() == pytest.approx((weights / weights.sum()).tolist())
    assert knn.predict(row) == [0]
    impossible = KNNClassifier(1, priors={0: 0.0, 1: 1.0}).fit(S, y)
    assert impossible.predict_proba(row).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1; got 0"),
        ({"n_neighbors": 2.0}, "n_neighbors must be"),
        ({"n_neighbors": True}, "n_neighbors must be"),
        ({"weights": "gaussian"}, "weights must be one of"),
        ({"costs": [[0, 1]]}, r"costs must have shape \(2, 2\)"),
        ({"costs": [[0, np.nan], [1, 0]]}, "costs contains NaN"),
        ({"costs": {0: {0: 0, 1: 1}}}, r"costs must name every class once; missing \[1\]"),
        ({"priors": [0.5, 0.6]}, "priors must be non-negative and sum to 1"),
        ({"priors": {0: 0.5, 2: 0.5}}, r"priors must name every class once; missing \[1\], unknown \['2'\]"),
        ({"similarity": "levenstein"}, "similarity='levenstein' is not known"),
        ({"similarity": 3}, "similarity must be"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        KNNClassifier(**parameters).fit(np.eye(4), [0, 0, 1, 1])


def test_partial_fit_appends_raw_objects_only():
    voting = load_voting()
    X, y = voting.data, voting.target
    whole = KNNClassifier(3, similarity="vdm").fit(X[:300], y[:300])
    pieces = KNNClassifier(3, similarity="vdm").partial_fit(X[:100], y[:100]).partial_fit(X[100:300], y[100:300])
    assert np.array_equal(whole.predict_proba(X[300:]), pieces.predict_proba(X[300:]))
    words = KNNClassifier(1, similarity=lambda a, b: -abs(len(a) - len(b)))
    assert words.partial_fit(["a"], [0]).partial_fit(["bbb", "cc"], [1, 1]).predict(["d", "eeee"]).tolist() == [0, 1]
    for search in ("matrix", "stream", "graph"):
        words = KNNClassifier(1, similarity="levenshtein", search=search).fit(["a", "bbbb"], [0, 1])
        assert words.partial_fit([], []).predict(["a", "bbb"]).tolist() == [0, 1]
        assert words.classes_.dtype.kind == "i"
        for X, labels, message in ((["c"], None, "y must be given"), ([], [1], "1 labels for 0 samples")):
            with pytest.raises(ValueError, match=message):
                words.partial_fit(X, labels)
    assert not hasattr(KNNClassifier(), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        _ = KNNClassifier().partial_fit
    assert "partial_fit needs raw objects" in str(caught.value.__cause__)


@pytest.mark.untraced
def test_voting_leave_one_out_errors_are_those_of_the_reference_runs():
    """Cazzanti & Gupta 2007, Table 3: VDM 4.37% (k = 3), as published; counting 6.67% (k = 6; published: 6.90)."""
    voting = load_voting()
    X, y = voting.data, voting.target
    for S, k, error in ((1 - VDM().fit(X, y)(X, X), 3, 0.0437), (counting(X, X), 6, 0.0667)):
        search = PathSearchCV(KNNClassifier(), {"n_neighbors": list(range(1, 12))}, cv=LeaveOneOut()).fit(S, y)
        assert search.best_params_ == {"n_neighbors": k}
        assert 1 - search.best_score_ == pytest.approx(error, abs=5e-5)


def _two_blobs():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4)) + 3 * y[:, None]
    return -(np.abs(X[:, None] - X[None]).sum(-1) ** 1.5), y, X


def test_recipes_on_the_pseudo_euclidean_embedding():
    """Nearest mean and Fisher discriminant in the associated Euclidean space (Pekalska et al. 2001)."""
    S, y, X = _two_blobs()
    embedding = PseudoEuclideanEmbedding(10)
    for classifier in (NearestCentroid(), LinearDiscriminantAnalysis()):
        recipe = make_pipeline(embedding, classifier)
        assert cross_val_score(recipe, S, y, cv=5).mean() > 0.9
    # On a Euclidean Gram matrix the embedding is the data, rotated: nearest mean there is nearest mean here.
    X = X - X.mean(axis=0)
    recipe = make_pipeline(PseudoEuclideanEmbedding(), NearestCentroid()).fit(X[:40] @ X[:40].T, y[:40])
    plain = NearestCentroid().fit(X[:40], y[:40])
    assert np.array_equal(recipe.predict(X[40:] @ X[:40].T), plain.predict(X[40:]))


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_the_same_under_every_joblib_backend(backend):
    S, y, _ = _two_blobs()
    knn = KNNClassifier(5).fit(S, y)
    rows = np.tile(S, (20, 1))
    expected = knn.predict(rows)
    with parallel_config(backend=backend, n_jobs=2):
        for answer in Parallel()(delayed(knn.predict)(rows) for _ in range(4)):
            assert np.array_equal(answer, expected)
