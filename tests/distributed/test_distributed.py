"""What needs no cluster, or one within this process."""

import pickle
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone

from similitude import (
    KNNClassifier,
    LandmarkClassifier,
    LocalNearestCentroid,
    LocalSDA,
    LocalSVC,
    load_model,
    save_model,
)
from similitude.distributed import ClusterSearch, compute, fit_landmarks, pairwise
from similitude.distributed._parts import even_lengths, lengths_of
from similitude.distributed.neighbors import _held
from similitude.finders.stream import best_of
from similitude.proximity.check import SimilarityWarning
from similitude.similarities import VDM, Measure, batch
from similitude.similarities import pairwise as pairwise_here
from tests.distributed.functions import agreement, fails, hungry, longer, strings

SMALL = ClusterSearch(batch_size=5, block_size=7)
EXTRA = r"pip install 'similitude\[dask\]'"


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed: similitude[dask]")
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.Client(**settings) as client:
        yield client


@pytest.mark.parametrize("library", ["dask", "distributed"])
def test_a_missing_library_is_named_with_its_extra(monkeypatch, library):
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    model = KNNClassifier(1, similarity=longer, search=ClusterSearch()).fit(["a", "b"], [0, 1])
    if library == "dask":
        with pytest.raises(ImportError, match=EXTRA):
            pairwise(["a", "b"], similarity=longer)
        return
    with pytest.raises(ImportError, match=EXTRA):
        model.predict(["a"])
    with pytest.raises(ImportError, match=EXTRA):
        fit_landmarks(LandmarkClassifier(similarity=longer), ["a", "b"], [0, 1])


def pair(model, search=SMALL):
    return clone(model).set_params(search="matrix"), clone(model).set_params(search=search)


@settings(max_examples=30)
@given(
    arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 20)), elements=st.integers(-2, 2).map(float)),
    st.integers(1, 12),
    st.integers(1, 9),
    st.randoms(use_true_random=False),
)
def test_lists_of_shards_give_the_best_of_all_in_whatever_order_they_come(S, k, count, random):
    k, lists, first = min(k, S.shape[1]), [], 0
    for length in even_lengths(S.shape[1], count):
        part = S[:, first : first + length]
        best = np.argsort(-part, axis=1, kind="stable")[:, : min(k, length)]
        lists.append((np.take_along_axis(part, best, axis=1), best + first))
        first += length
    random.shuffle(lists)
    half = len(lists) // 2
    if half:
        lists = [best_of(k, *lists[:half]), best_of(k, *lists[half:])]
    values, places = best_of(k, *lists)
    expected = np.argsort(-S, axis=1, kind="stable")[:, :k]
    assert np.array_equal(places, expected)
    assert np.array_equal(values, np.take_along_axis(S, expected, axis=1))


def test_lengths():
    assert even_lengths(10, 3) == [4, 3, 3]
    assert even_lengths(2, 5) == [1, 1]
    assert lengths_of(10, 4) == [4, 4, 2]


class TestMatrix:
    @pytest.fixture(autouse=True)
    def _dask(self):
        pytest.importorskip("dask.array", reason="the extra dask is not installed: similitude[dask]")

    @pytest.mark.parametrize("similarity", ["levenshtein", longer, agreement])
    @pytest.mark.parametrize("chunks", ["auto", 7, (20, 9)])
    def test_square(self, similarity, chunks):
        X, _, _ = strings()
        lazy = pairwise(X, similarity=similarity, chunks=chunks)
        expected = pairwise_here(X, similarity=similarity)
        found = compute(lazy)
        assert np.array_equal(found, expected)
        assert lazy.dtype == found.dtype == expected.dtype

    def test_rectangle_and_what_is_computed_from_it(self):
        X, _, new = strings()
        lazy, expected = pairwise(new, X, longer, chunks=(5, 11)), pairwise_here(new, X, longer)
        assert lazy.chunks == ((5, 5, 3), (11, 11, 11, 11, 11, 5))
        assert np.array_equal(compute(lazy.max(axis=1)), expected.max(axis=1))
        assert np.array_equal(lazy[3:7, ::2].compute(), expected[3:7, ::2])

    def test_only_blocks_that_are_asked_for_and_half_of_a_symmetric_one(self):
        calls = []

        def count(a, b):
            calls.append((a, b))
            return float(a == b)

        lazy = pairwise(list(range(10)), similarity=Measure(count, symmetric=True), chunks=4)
        assert calls == []
        lazy[8:, :2].compute()
        assert sorted(calls) == [(i, j) for i in range(4) for j in (8, 9)]
        calls.clear()
        assert np.array_equal(lazy.compute(scheduler="sync"), np.eye(10))
        assert sorted(calls) == [(i, j) for i in range(10) for j in range(i, 10)]

    def test_a_similarity_learns_from_all_of_A_unless_it_has_learned(self):
        rng = np.random.default_rng(0)
        X, y, other = rng.integers(0, 3, (30, 4)), rng.integers(0, 2, 30), rng.integers(0, 3, (30, 4))
        expected = pairwise_here(X, similarity=VDM().fit(X, y))
        assert np.array_equal(compute(pairwise(X, similarity="vdm", y=y, chunks=8)), expected)
        assert np.array_equal(compute(pairwise(X, similarity=VDM(), y=y, chunks=8)), expected)
        fitted = VDM().fit(other, y)
        found = compute(pairwise(X, similarity=fitted, chunks=8))
        assert np.array_equal(found, pairwise_here(X, similarity=fitted))
        assert not np.array_equal(found, expected)

    def test_errors(self):
        words = ["a"] * 8 + ["odd"]
        with pytest.raises(ValueError, match="objects 8 and 5: ArithmeticError: these two"):
            compute(pairwise(words, ["b"] * 5 + ["strange"], fails, chunks=4))
        with pytest.raises(ValueError, match="A and B must not be empty; got 9 and 0"):
            pairwise(words, [], fails)
        with pytest.raises(ValueError, match="A must be a sequence"):
            pairwise("words", similarity=fails)
        for chunks in (0, ((0, 9), 9)):
            with pytest.raises(ValueError, match="chunks must be above 0; got"):
                pairwise(words, similarity=fails, chunks=chunks)


class TestSearch:
    def test_an_error_names_objects_by_their_places_in_the_whole(self, client):
        search = ClusterSearch(n_shards=3, batch_size=2, block_size=2)
        model = KNNClassifier(1, similarity=fails, search=search).fit(["b"] * 7 + ["strange"], [0, 1] * 4)
        with pytest.raises(ValueError, match="objects 4 and 7: ArithmeticError: these two"):
            model.predict(["a"] * 4 + ["odd"])

    def test_the_large_map_is_learned_from_all_pairs(self, client):
        X, y, new = strings()
        model = KNNClassifier(3, "affinity", similarity="levenshtein", dissimilarity="max-minus")
        here = clone(model).fit(X, y)
        there = model.set_params(search=ClusterSearch(n_shards=4)).fit(X, y)
        assert there.n_evaluations_ == 60 * 61 // 2
        assert np.array_equal(there.kneighbors(new)[0], here.kneighbors(new)[0])

    def test_many_distinct_similarities_are_refused(self, client, monkeypatch):
        monkeypatch.setattr("similitude.distributed.neighbors._MOST_VALUES", 50)
        x = np.random.default_rng(0).normal(size=20).tolist()
        model = LocalSDA(3, search=ClusterSearch(), similarity=lambda a, b: a * b)
        with pytest.raises(ValueError, match="omega=None uses the distinct training similarities"):
            model.fit(x, [0, 1] * 10)

    def test_shards_are_put_anew_for_other_objects_and_where_they_are_gone(self, client):
        X, y, new = strings()
        model = KNNClassifier(3, similarity=longer, search=ClusterSearch(n_shards=2)).fit(X[:30], y[:30])
        model.predict(new)
        model.partial_fit(X[30:], y[30:])
        expected = KNNClassifier(3, similarity=longer).fit(X, y).kneighbors(new)[1]
        assert np.array_equal(model.kneighbors(new)[1], expected)
        client.cancel(_held[model.search_][1])
        assert np.array_equal(model.kneighbors(new)[1], expected)

    def test_a_model_file(self, client, tmp_path):
        X, y, new = strings()
        model = KNNClassifier(3, similarity="levenshtein", search=ClusterSearch(n_shards=2)).fit(X, y)
        expected = model.predict(new)
        save_model(tmp_path / "a.model", model)
        loaded = load_model(tmp_path / "a.model")
        assert isinstance(loaded.search_, ClusterSearch)
        assert np.array_equal(loaded.predict(new), expected)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_shards": 0}, "n_shards must be None or an integer of at least 1; got 0"),
            ({"n_shards": True}, "n_shards must be"),
            ({"batch_size": None}, "batch_size must be an integer of at least 1; got None"),
            ({"block_size": 0}, "block_size must be"),
        ],
    )
    def test_parameters(self, parameters, message):
        model = KNNClassifier(1, similarity=longer, search=ClusterSearch(**parameters))
        with pytest.raises(ValueError, match=message):
            model.fit(["a", "b"], [0, 1])

    def test_a_matrix_is_refused(self):
        with pytest.raises(ValueError, match="needs raw objects"):
            KNNClassifier(1, search=ClusterSearch()).fit(np.eye(2), [0, 1])


@pytest.mark.parametrize("similarity", ["levenshtein", longer, agreement])
@pytest.mark.parametrize("n_shards", [None, 5])
def test_neighbours_are_those_of_one_machine_to_the_last_tie(client, similarity, n_shards):
    X, y, new = strings()
    search = ClusterSearch(n_shards=n_shards, batch_size=8, block_size=7)
    here, there = (model.fit(X, y) for model in pair(KNNClassifier(similarity=similarity), search))
    for k in (9, 100):
        for expected, found in zip(here.kneighbors(new, k), there.kneighbors(new, k)):
            assert np.array_equal(found, expected)
            assert found.dtype == expected.dtype
    assert there.n_evaluations_per_query_ == 60


@pytest.mark.parametrize(
    ("model", "similarity"),
    [
        (KNNClassifier(7, "affinity"), longer),
        (KNNClassifier(7, "distance"), longer),
        (KNNClassifier(7, "distance"), "levenshtein"),
        (KNNClassifier(6, "kri", reg=0.1), longer),
        (LocalSVC(8), longer),
        (LocalNearestCentroid(9), longer),
        (LocalSDA(12), "levenshtein"),
        (LocalSDA(10, omega="continuous"), longer),
    ],
)
def test_every_local_method_answers_as_on_one_machine(client, model, similarity):
    X, y, new = strings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)
        here, there = (m.set_params(similarity=similarity).fit(X, y) for m in pair(model))
        stream = clone(here).set_params(search="stream").fit(X, y)
        assert np.array_equal(there.predict(new), here.predict(new))
        for response in ("predict_proba", "decision_function", "neighbor_weights"):
            if hasattr(here, response):
                for a, b in zip(getattr(there, response)(new), getattr(here, response)(new)):
                    assert np.allclose(a, b, rtol=0, atol=1e-12)
        assert np.array_equal(there.predict(new), stream.predict(new))
    assert there.n_evaluations_ == stream.n_evaluations_
    assert there.n_evaluations_per_query_ == stream.n_evaluations_per_query_


def test_what_the_similarity_learns_it_learns_from_all(client):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (70, 4)), rng.integers(0, 2, 70)
    here, there = (m.fit(X[:50], y[:50]) for m in pair(KNNClassifier(3, similarity="vdm")))
    for expected, found in zip(here.kneighbors(X[50:]), there.kneighbors(X[50:])):
        assert np.array_equal(found, expected)
    lazy = pairwise(X[:50], X[50:], "vdm", y=y[:50], chunks=(20, 7))
    assert np.array_equal(compute(lazy), pairwise_here(X[:50], X[50:], VDM().fit(X[:50], y[:50])))


def test_a_model_travels_without_what_the_cluster_holds_for_it(client):
    X, y, new = strings()
    model = KNNClassifier(3, similarity="levenshtein", search=SMALL).fit(X, y)
    expected = model.predict(new)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(new), expected)
    shards = _held[model.search_][1]
    assert np.array_equal(model.predict(new), expected)
    assert _held[model.search_][1] is shards


@pytest.mark.parametrize("kind", ["array", "frame", "sparse", "tuple"])
def test_kinds_of_objects(client, kind):
    rng = np.random.default_rng(0)
    V, y = rng.integers(0, 3, (40, 4)), rng.integers(0, 2, 40)
    pandas = pytest.importorskip("pandas") if kind == "frame" else None
    X = {
        "array": lambda: V,
        "frame": lambda: pandas.DataFrame(V),
        "sparse": lambda: sparse.csr_matrix(V),
        "tuple": lambda: tuple(map(tuple, V)),
    }[kind]()
    similarity = batch(lambda A, B: A @ B.T) if kind == "sparse" else "counting"
    here, there = (m.fit(X, y) for m in pair(KNNClassifier(3, similarity=similarity)))
    for expected, found in zip(here.kneighbors(X), there.kneighbors(X)):
        assert np.array_equal(found, expected)
    S = compute(pairwise(X, similarity=similarity, chunks=11))
    assert np.array_equal(S, pairwise_here(X, similarity=similarity))
    model = LandmarkClassifier(6, random_state=0, similarity=similarity)
    coef = fit_landmarks(model, X, y, block_size=9).coef_
    assert np.allclose(coef, model.fit(X, y).coef_, rtol=0, atol=1e-8)


class TestMemory:
    """The error says which parameter to lower, and lowering it helps."""

    X, y, new = [float(i) for i in range(500)], [0, 1] * 250, [0.5] * 500

    def test_a_worker_that_says_so(self, client):
        model = KNNClassifier(1, similarity=hungry(True), search=ClusterSearch(block_size=50))
        with pytest.raises(RuntimeError, match=r"ran out of memory: lower block_size .*no room"):
            model.fit(self.X, self.y).kneighbors(self.new)
        lazy = pairwise(self.X[:40], similarity=hungry(True), chunks=20)
        with pytest.raises(RuntimeError, match=r"lower chunks .*20 by 20"):
            compute(lazy)
        with pytest.raises(MemoryError, match=r"20 by 20 objects: lower chunks"):
            lazy.compute()
        small = compute(pairwise(self.X[:40], similarity=hungry(True), chunks=10))
        assert np.array_equal(small, np.subtract.outer(self.X[:40], self.X[:40]))

    def test_landmarks(self, client):
        model = LandmarkClassifier(8, random_state=0, similarity=hungry(True))
        before = dict(vars(model))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)
            with pytest.raises(RuntimeError, match="lower block_size of fit_landmarks or n_landmarks"):
                fit_landmarks(model, self.X, self.y)
            assert vars(model) == before
            assert fit_landmarks(model, self.X, self.y, block_size=10).coef_.shape == (1, 8)


class TestLandmarks:
    @pytest.mark.parametrize(("similarity", "class_weight"), [("levenshtein", None), (longer, "balanced")])
    def test_objects(self, client, similarity, class_weight):
        X, y, new = strings()
        model = LandmarkClassifier(
            20, "clip", selection="stratified", class_weight=class_weight, random_state=1, similarity=similarity
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)
            here, there = clone(model).fit(X, y), fit_landmarks(clone(model), X, y, block_size=7)
        self.check_same(here, there, new)
        if class_weight is None:
            self.check_same(here.partial_fit(X[:9], y[:9]), there.partial_fit(X[:9], y[:9]), new)

    @pytest.mark.parametrize("n_landmarks", [15, 60])
    def test_matrices(self, client, n_landmarks):
        X, y, new = strings()
        S, rows = pairwise_here(X, similarity=longer), pairwise_here(new, X, longer)
        S = S + S.T
        model = LandmarkClassifier(n_landmarks, "flip", random_state=1)
        self.check_same(clone(model).fit(S, y), fit_landmarks(clone(model), S, y, client=client), rows)
        model.set_params(similarity="columns", landmark_similarity=S[:30, :30])
        C = S[:, :30]
        self.check_same(clone(model).fit(C, y), fit_landmarks(clone(model), C, y, block_size=11), rows[:, :30])

    @staticmethod
    def check_same(here, there, new):
        assert np.allclose(there.coef_, here.coef_, rtol=0, atol=1e-8)
        assert np.allclose(there.intercept_, here.intercept_, rtol=0, atol=1e-8)
        assert np.array_equal(there.landmarks_, here.landmarks_)
        assert np.array_equal(there.predict(new), here.predict(new))

    def test_refusals(self, client):
        words, y = ["a", "b"], [0, 1]
        with pytest.raises(ValueError, match="model must be a LandmarkClassifier; got KNNClassifier"):
            fit_landmarks(KNNClassifier(), words, y)
        with pytest.raises(ValueError, match="model must be 'ridge'"):
            fit_landmarks(LandmarkClassifier(model="svm", similarity=longer), words, y)
        with pytest.raises(ValueError, match=r"client must be a distributed\.Client or None; got str"):
            fit_landmarks(LandmarkClassifier(similarity=longer), words, y, client="here")
        with pytest.raises(ValueError, match="block_size must be"):
            fit_landmarks(LandmarkClassifier(similarity=longer), words, y, block_size=0)
        with pytest.raises(ValueError, match="alpha must be"):
            fit_landmarks(LandmarkClassifier(alpha=0, similarity=longer), words, y)
        with pytest.raises(ValueError, match="at least two classes"):
            fit_landmarks(LandmarkClassifier(similarity="levenshtein"), words, [0, 0])

    def test_a_closed_client(self, client):
        distributed = pytest.importorskip("distributed")
        with distributed.Client(client.cluster, set_as_default=False) as other:
            pass
        with pytest.raises(ValueError, match="client is closed"):
            fit_landmarks(LandmarkClassifier(similarity="levenshtein"), ["a", "b"], [0, 1], client=other)

    def test_an_error_names_objects_by_their_places_in_the_whole(self, client):
        words = ["strange", *["b"] * 7, "odd"]
        model = LandmarkClassifier(1, similarity=fails, random_state=0)
        while clone(model).fit(["b"] * 9, [0, 1, 0] * 3).landmarks_[0] != 0:  # until the landmark is the first word
            model.set_params(random_state=model.random_state + 1)
        for fit in (model.fit, lambda X, y: fit_landmarks(model, X, y, block_size=4)):
            with pytest.raises(ValueError, match="objects 8 and 0: ArithmeticError: these two"):
                fit(words, [0, 1, 0] * 3)


def test_within_tasks_of_the_cluster(client):
    X, y, new = strings()

    def there(seed):
        knn = KNNClassifier(3, similarity="levenshtein", search=ClusterSearch(n_shards=3)).fit(X, y)
        landmarks = LandmarkClassifier(9, random_state=seed, similarity="levenshtein")
        return knn.predict(new), fit_landmarks(landmarks, X, y, block_size=30).coef_

    # As many as there are threads: each waits for tasks that need one.
    found = client.gather(client.map(there, range(2), pure=False))
    for seed, (said, coef) in enumerate(found):
        assert np.array_equal(said, KNNClassifier(3, similarity="levenshtein").fit(X, y).predict(new))
        here = LandmarkClassifier(9, random_state=seed, similarity="levenshtein").fit(X, y)
        assert np.allclose(coef, here.coef_, rtol=0, atol=1e-8)


def test_without_a_cluster(monkeypatch):
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed: similitude[dask]")

    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "get_client", none)
    model = KNNClassifier(1, similarity=longer, search=ClusterSearch()).fit(["a", "b"], [0, 1])
    with pytest.raises(ValueError, match=r"client: there is no cluster; start one with distributed\.Client"):
        model.predict(["a"])
