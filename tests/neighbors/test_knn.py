import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from joblib import Parallel, delayed, parallel_config
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline

from similitude import KNNClassifier, PathSearchCV, PseudoEuclideanEmbedding
from similitude.datasets import load_voting
from similitude.similarities import VDM, counting
from tests.reference import neighbors as reference

values = st.integers(-2, 3).map(float) | st.floats(-2, 3, width=32)


@given(
    arrays(float, st.tuples(st.integers(1, 3), st.just(9)), elements=values),
    arrays(int, 9, elements=st.integers(0, 3)),
    st.integers(1, 12),
    st.sampled_from(["uniform", "affinity"]),
    st.sampled_from([1.0, 2.0**-500, 2.0**500]),
)
def test_equals_the_definition(rows, y, k, weights, scale):
    knn = KNNClassifier(k, weights).fit(np.eye(9), y)
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
        ({"weights": "distance"}, "weights must be one of"),
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
    """Cazzanti & Gupta 2007, Table 3: VDM 4.37% (k = 3), as published; counting 6.67% (k = 4; published: 6.90)."""
    voting = load_voting()
    X, y = voting.data, voting.target
    for S, k, error in ((1 - VDM().fit(X, y)(X, X), 3, 0.0437), (counting(X, X), 4, 0.0667)):
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
