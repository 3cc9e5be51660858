import os
import pickle
import sys
import types
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances

from similitude import KNNClassifier, LocalNearestCentroid, LocalSDA, LocalSVC, load_model, save_model
from similitude._native import both_directions, insert_neighbors, propose_neighbors, walk_graph
from similitude.finders._graph_build import distinct_pairs, most_alike
from similitude.finders.graph import GraphSearch
from similitude.proximity.check import SimilarityWarning
from similitude.similarities import JaroWinkler, Measure, pairwise


def strings(parents=80, copies=10, m=40, seed=0):
    """Copies of random strings with a tenth of the letters drawn anew; near ones are copies of the same."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 4, (parents, 60))
    y = np.append(np.repeat(np.arange(parents), copies), rng.integers(0, parents, m))
    letters = words[y]
    for row in letters:
        row[rng.choice(60, 6, replace=False)] = rng.integers(0, 4, 6)
    texts = ["".join("ACGT"[c] for c in row) for row in letters]
    return texts[:-m], y[:-m], texts[-m:], y[-m:]


def recall(model, X, new, k=10):
    """The share of the found neighbours that are as near as the k-th true one; counts are checked on the way."""
    values = pairwise(new, X, similarity=model._reader.measure)
    values = -values if model._reader.map_name else values
    _, indices = model.kneighbors(new, k)
    assert indices.shape == (len(new), min(k, len(X)))
    assert all(len(set(row)) == len(row) for row in indices.tolist())
    thresholds = -np.sort(-values, axis=1)[:, min(k, len(X)) - 1]
    return np.mean(np.take_along_axis(values, indices, axis=1) >= thresholds[:, None])


def test_lists_keep_the_nearest_each_once():
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 5, 300), rng.integers(0, 20, 300)
    closeness_of = rng.integers(0, 6, (5, 20)).astype(float)
    nearest, closeness = np.full((5, 4), -1, dtype=np.int32), np.full((5, 4), -np.inf)
    fresh = np.zeros((5, 4), bool)
    changes = insert_neighbors(rows, columns, closeness_of[rows, columns], nearest, closeness, fresh)
    assert changes >= np.sum(nearest >= 0)
    assert fresh.all()
    for i in range(5):
        met = np.unique(columns[rows == i])
        expected = met[np.argsort(-closeness_of[i, met], kind="stable")][:4]
        assert nearest[i].tolist() == expected.tolist()
        assert np.array_equal(closeness[i], closeness_of[i, expected])


def test_links_lead_both_ways():
    nearest = np.array([[1, 2], [0, -1], [0, 1], [0, 2]], dtype=np.int32)
    fresh = np.array([[True, False], [False, False], [False, True], [False, False]])
    links, new = np.full((4, 4), -1, dtype=np.int32), np.zeros((4, 4), bool)
    both_directions(nearest, fresh, links, new)
    assert [sorted(row[row >= 0].tolist()) for row in links] == [[1, 2, 3], [0, 2], [0, 1, 3], [0, 2]]
    assert links[:, 0].tolist() == [1, 0, 0, 0]
    assert new[0, 0]
    assert new[1, 1]  # 1 is a fresh neighbour of 2


def test_neighbours_of_neighbours_by_fresh_links_are_proposed():
    nearest = np.array([[1], [2], [3], [2]], dtype=np.int32)
    codes = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    proposed = np.empty((4, 2), dtype=np.int32)
    propose_neighbors(nearest, np.array([[True], [False], [False], [False]]), nearest, codes, 0, proposed)
    assert proposed.tolist() == [[2, -1], [-1, -1], [-1, -1], [-1, -1]]
    propose_neighbors(nearest, np.array([[False], [False], [True], [False]]), nearest, codes, 1, proposed[1:])
    assert proposed[1:].tolist() == [[3, -1], [-1, -1], [-1, -1]]


def test_a_walk_visits_each_sample_once():
    edges = np.array([[1, 2], [0, -1], [1, 3], [0, 0]], dtype=np.int32)
    pool, waiting = np.array([[0, 2, -1]], dtype=np.int32), np.array([[True, True, False]])
    visited, found = np.array([[True, False, True, False]]), np.empty((1, 4), dtype=np.int32)
    assert walk_graph(pool, waiting, edges, 1, visited, found) == 1
    assert found[0, 0] == 1
    assert waiting.tolist() == [[False, True, False]]
    assert walk_graph(pool, waiting, edges, 4, visited, found) == 1
    assert found[0, 0] == 3
    assert visited.all()


def test_codes_most_alike_and_pairs():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(50, 3)).astype(np.float32)
    expected = np.argsort(-(codes[:7] @ codes.T), axis=1)[:, :5]
    assert np.array_equal(most_alike(codes[:7], codes, 5), expected)
    left, right = distinct_pairs(np.array([3, 1, 1, 2, 2]), np.array([1, 3, 3, 2, 0]), 4, symmetric=True)
    assert (left.tolist(), right.tolist()) == ([0, 1], [2, 3])
    left, right = distinct_pairs(np.array([3, 1, 1, 2, 2]), np.array([1, 3, 3, 2, 0]), 4, symmetric=False)
    assert (left.tolist(), right.tolist()) == ([1, 2, 3], [3, 0, 1])


def test_copies_of_random_strings_are_found_with_few_evaluations():
    X, y, new, truth = strings()
    model = KNNClassifier(10, similarity="levenshtein", search="graph").fit(X, y)
    assert recall(model, X, new) > 0.97
    assert model.n_evaluations_per_query_ < 300
    assert 64 * len(X) < model.n_evaluations_ <= 800 * len(X)
    assert np.array_equal(model.predict(new), truth)
    few = model.n_evaluations_per_query_
    model.search_.search_width = 128
    assert recall(model, X, new) >= 0.99
    assert model.n_evaluations_per_query_ > few


def test_evaluations_are_counted_exactly():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(300, 3)), rng.normal(size=(7, 3))
    calls = [0]

    def closeness(a, b):
        calls[0] += 1
        return -float(np.abs(a - b).sum())

    model = KNNClassifier(5, similarity=closeness, search=GraphSearch(n_pivots=20)).fit(X, np.arange(300) % 2)
    assert calls[0] == model.n_evaluations_ <= 800 * 300
    calls[0] = 0
    assert recall(model, X, new, 5) > 0.9
    assert calls[0] - 7 * 300 == round(7 * model.n_evaluations_per_query_) < 7 * 300


@pytest.mark.parametrize("symmetric", [False, True])
def test_no_pair_is_compared_twice_in_building(symmetric):
    pairs = []

    def closeness(a, b):
        pairs.append((min(a, b), max(a, b)) if symmetric else (a, b))
        return -abs(np.sin(a) - np.sin(b))

    measure = Measure(closeness, symmetric=symmetric)
    model = KNNClassifier(similarity=measure, search=GraphSearch(n_pivots=8)).fit(list(range(90)), np.arange(90) % 2)
    between_pivots = 8 * 7 // 2 if symmetric else 0
    assert model.n_evaluations_ == len(pairs) == len(set(pairs)) + between_pivots
    pairs.clear()
    model.partial_fit(list(range(90, 99)), [0] * 9)
    assert len(pairs) == len(set(pairs)) > 8 * 9


def test_every_object_can_be_reached():
    for X in ([3.0] * 300, list(np.repeat(np.arange(5.0), 60)), list(np.random.default_rng(0).pareto(0.5, 300))):
        model = KNNClassifier(similarity=lambda a, b: b - 2 * abs(a - b), search="graph").fit(X, np.zeros(300))
        rows, places = np.nonzero(model.search_.edges_ >= 0)
        edges = np.ones(len(rows)), (rows, model.search_.edges_[rows, places])
        assert connected_components(sparse.csr_matrix(edges), connection="strong")[0] == 1


def test_a_width_beyond_all_objects_looks_at_all():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(200, 30)), rng.normal(size=(5, 30))
    model = KNNClassifier(7, similarity="euclidean", search=GraphSearch(search_width=10**9)).fit(X, np.zeros(200))
    expected = KNNClassifier(7, similarity="euclidean").fit(X, np.zeros(200)).kneighbors(new)[1]
    assert np.array_equal(model.kneighbors(new)[1], expected)
    assert model.n_evaluations_per_query_ == 200


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e150])
def test_asymmetric_similarities_of_any_scale(scale):
    rng = np.random.default_rng(1)
    X, new = rng.normal(size=(300, 3)), rng.normal(size=(30, 3))

    def skewed(A, B):
        return scale * (B.sum(axis=1)[None] * 0.3 - cdist(A, B))

    skewed.similitude_batch = True
    model = KNNClassifier(10, similarity=skewed, search="graph").fit(X, np.arange(300) % 2)
    assert recall(model, X, new) > 0.95
    assert model.n_evaluations_per_query_ < 200


def test_tiny_and_constant_and_duplicate_data():
    for X in ([0.0], [0.0, 0.0], [1.0, 2.0, 3.0], [5.0] * 200, list(np.repeat(np.arange(20.0), 12))):
        model = KNNClassifier(4, similarity=lambda a, b: -abs(a - b), search="graph").fit(X, np.arange(len(X)) % 2)
        similarities, indices = model.kneighbors([0.0, 2.2])
        assert indices.shape == (2, min(4, len(X)))
        assert np.array_equal(similarities, -np.abs(np.array(X)[indices] - np.array([[0.0], [2.2]])))
        assert np.all(np.diff(similarities, axis=1) <= 0)


@pytest.mark.parametrize("similarity", ["levenshtein", "lcs"])
def test_partial_fit_inserts(similarity):
    X, y, new, _ = strings()
    model = KNNClassifier(10, similarity=similarity, search="graph")
    model.partial_fit(X[:500], y[:500])
    pivots, spent = model.search_.pivots_, model.n_evaluations_
    model.partial_fit(X[500:], y[500:])
    assert np.array_equal(model.search_.pivots_, pivots)
    assert 64 * 300 < model.n_evaluations_ - spent <= 800 * 300
    assert recall(model, X, new) > 0.97
    model.partial_fit(X, y).partial_fit(X[:5], y[:5])  # doubled: built anew, then inserted
    assert len(model.search_.edges_) == len(model.objects_) == 2 * len(X) + 5
    assert recall(model, model.objects_, new) > 0.97


@pytest.mark.parametrize(
    "parameters",
    [
        {"similarity": "lcs"},
        {"similarity": JaroWinkler()},
        {"search": GraphSearch(n_neighbors=4)},
        {"similarity": lambda a, b: float(len(set(a) & set(b)))},
    ],
)
def test_partial_fit_after_set_params_is_fit(parameters):
    X, y, new, _ = strings(parents=20)
    model = KNNClassifier(3, similarity=lambda a, b: float(len(a) - len(b)), search="graph").fit(X[:150], y[:150])
    if "search" in parameters:
        model.set_params(similarity="levenshtein").fit(X[:150], y[:150])
    model.set_params(**parameters).partial_fit(X[150:], y[150:])
    whole = clone(model).fit(X, y)
    assert np.array_equal(model.search_.edges_, whole.search_.edges_)
    for found, expected in zip(model.kneighbors(new), whole.kneighbors(new)):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("similarity", ["levenshtein", JaroWinkler(), "euclidean"])
def test_a_graph_that_went_through_a_file_grows(similarity, tmp_path):
    X, y, new, _ = strings(parents=10)
    if similarity == "euclidean":
        X, new = (np.array([[len(set(text)), text.count("A")] for text in some], dtype=float) for some in (X, new))
    model = KNNClassifier(3, similarity=similarity, search="graph").fit(X, y)
    save_model(tmp_path / "m.model", model)
    for again in (load_model(tmp_path / "m.model"), pickle.loads(pickle.dumps(model))):
        again.partial_fit(new, y[: len(new)])
        assert np.array_equal(again.search_.codes_[: len(X)], model.search_.codes_)
        assert again.n_evaluations_ - model.n_evaluations_ < 150 * len(new)
        assert again._reader.measure.known


def test_a_failed_insertion_changes_nothing():
    X, y, new, _ = strings(parents=20)
    model = KNNClassifier(3, similarity="levenshtein", search="graph").fit(X, y)
    before = model.kneighbors(new)
    with pytest.raises(ValueError, match="string"):
        model.partial_fit([3.5], [1])
    for a, b in zip(before, model.kneighbors(new)):
        assert np.array_equal(a, b)


def test_a_model_file_holds_the_graph(tmp_path):
    X, y, new, _ = strings(parents=20)
    model = KNNClassifier(3, "krr", similarity="levenshtein", search=GraphSearch(search_width=16)).fit(X, y)
    save_model(tmp_path / "m.model", model)
    loaded = load_model(tmp_path / "m.model")
    assert np.array_equal(loaded.search_.edges_, model.search_.edges_)
    for a, b in zip(loaded.kneighbors(new), model.kneighbors(new)):
        assert np.array_equal(a, b)
    assert np.array_equal(loaded.predict_proba(new), model.predict_proba(new))
    assert loaded.n_evaluations_ == model.n_evaluations_
    loaded.partial_fit(new, y[: len(new)])
    assert len(loaded.search_.edges_) == len(X) + len(new)


@pytest.mark.parametrize("part", ["edges_", "neighbors_", "pivots_"])
def test_a_graph_that_leads_elsewhere_is_refused(part):
    X, y, new, _ = strings(parents=10)
    model = KNNClassifier(3, similarity="levenshtein", search="graph").fit(X, y)
    getattr(model.search_, part)[...] = 10**6
    with pytest.raises(ValueError, match="does not belong to 100 objects"):
        model.predict(new)
    with pytest.raises(ValueError, match="does not belong to 100 objects"):
        model.partial_fit(X[:1], y[:1])


@pytest.mark.parametrize("search", ["stream", "graph"])
def test_rows_of_tables_and_of_sparse_matrices(search):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 6)), np.arange(40) % 3
    for table, similarity in (
        (pd.DataFrame(X.astype(str)), "counting"),
        (sparse.csr_matrix(X), lambda a, b: -abs(float(a.data.sum() - b.data.sum()))),
        (X.astype(float), "cosine"),
        (pd.Series(["".join(map(str, row)) for row in X]), "levenshtein"),
    ):
        model = KNNClassifier(5, "krr", similarity=similarity, search=search).fit(table, y)
        exact = KNNClassifier(5, "krr", similarity=similarity).fit(table, y)
        some = table[:8] if not hasattr(table, "iloc") else table.iloc[:8]
        assert np.mean(model.predict(some) == exact.predict(some)) >= (1 if search == "stream" else 0.7)
        if search == "graph":
            model.partial_fit(some, y[:8])
            assert len(model.search_.edges_) == 48


@pytest.mark.parametrize("how", ["max-minus", "negate", "exp", "gauss", "reciprocal", "sqrt-max-minus"])
def test_similarities_are_mapped(how):
    X, y, new, _ = strings(parents=10)
    model = KNNClassifier(3, similarity="levenshtein", dissimilarity=how, search="graph").fit(X, y)
    similarities, indices = model.kneighbors(new)
    assert np.allclose(similarities, model._reader.map(np.take_along_axis(pairwise(new, X, "levenshtein"), indices, 1)))
    assert np.all(np.diff(similarities, axis=1) <= 0)


@pytest.mark.parametrize(
    "model",
    [
        KNNClassifier(6, "kri"),
        KNNClassifier(6, "affinity"),
        LocalSVC(8),
        LocalNearestCentroid(8),
        LocalSDA(8, omega=np.arange(-5.0, 60.0)),
    ],
)
def test_local_methods_walk_the_graph(model):
    X, _, new, _ = strings(parents=30)
    y = np.arange(len(X)) // 10 % 3
    graph = clone(model).set_params(similarity="levenshtein", dissimilarity="negate", search="graph")
    if isinstance(model, LocalSDA):
        graph.set_params(omega=np.arange(-60.0, 1.0))
    stream = clone(graph).set_params(search="stream")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        assert np.mean(graph.fit(X, y).predict(new) == stream.fit(X, y).predict(new)) > 0.95
    assert graph.n_evaluations_per_query_ < stream.n_evaluations_per_query_ + 60


def test_pynndescent_finds_the_lists_where_it_can(monkeypatch):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(400, 3)), rng.normal(size=(20, 3))
    y = np.arange(400) % 2
    asked = []

    class NNDescent:
        """Its interface, by brute force."""

        def __init__(self, data, metric, n_neighbors, random_state):
            asked.append((metric, data.dtype, n_neighbors))
            order = np.argsort(euclidean_distances(data), axis=1)[:, :n_neighbors]
            order[0, -1] = -1  # a place it could not fill
            self.neighbor_graph = order, None

    fake = types.ModuleType("pynndescent")
    fake.NNDescent = NNDescent
    monkeypatch.setitem(sys.modules, "pynndescent", fake)
    search = GraphSearch(builder="pynndescent")
    model = KNNClassifier(5, similarity="euclidean", search=search).fit(X, y)
    assert asked == [("euclidean", np.float32, 17)]
    assert recall(model, X, new, 5) > 0.95
    with pytest.raises(ValueError, match="builder='pynndescent' needs an array of numbers"):
        KNNClassifier(5, similarity="levenshtein", search=search).fit(["a", "b"], [0, 1])


@pytest.mark.skipif("SIMILITUDE_SLOW" not in os.environ, reason="pynndescent compiles itself for a minute or more")
def test_pynndescent_itself():
    pytest.importorskip("pynndescent")
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(800, 4)), rng.normal(size=(20, 4))
    for name in ("euclidean", "manhattan", "cosine"):
        search = GraphSearch(builder="pynndescent")
        assert recall(KNNClassifier(5, similarity=name, search=search).fit(X, np.arange(800) % 2), X, new, 5) > 0.9


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KNNClassifier(search="graph"), "search='graph' needs raw objects"),
        (LocalSDA(5, similarity="levenshtein", search="graph"), "omega must be an array"),
        (KNNClassifier(5, "distance", similarity="levenshtein", search="graph"), "weights='distance' .* use .*stream"),
        (LocalSDA(5, alpha=0.1, omega=[0.0, 60.0], similarity="levenshtein", search="graph"), "alpha must be 0"),
        (KNNClassifier(search=GraphSearch(search_width=0), similarity="levenshtein"), "search_width"),
        (KNNClassifier(search=GraphSearch(n_pivots=2.5), similarity="levenshtein"), "n_pivots"),
        (KNNClassifier(search=GraphSearch(builder="hnsw"), similarity="levenshtein"), "builder"),
    ],
)
def test_refusals(model, message):
    X, y, _, _ = strings(parents=4)
    with pytest.raises(ValueError, match=message):
        model.fit(np.eye(4), [0, 1, 0, 1]) if model.similarity == "precomputed" else model.fit(X, y)


def test_a_graph_does_not_grow_under_distance_weights():
    X, y, new, _ = strings(parents=4)
    model = KNNClassifier(3, similarity="levenshtein", search="graph").fit(X[:30], y[:30])
    expected = model.predict(new)
    with pytest.raises(ValueError, match="weights='distance' needs the largest training similarity"):
        model.set_params(weights="distance").partial_fit(X[30:], y[30:])
    assert np.array_equal(model.predict(new), expected)
