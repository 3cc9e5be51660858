"""Edge lists in memory: what absent, repeated and one-sided edges mean, against one pair at a time."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from similitude import KNNClassifier, Proximities
from similitude.proximity.edges import EdgeMeaning, best_of_each, edges_of, rows_to
from tests.reference.edge_lists import matrix_of


def random_edges(seed, n=9, m=40, own=True):
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in rng.permutation(n)]
    ends = rng.integers(0, n, (m, 2)).tolist() + ([[i, i] for i in range(n)] if own else [])
    return [(names[a], names[b], float(rng.integers(1, 20))) for a, b in ends]


def dense(S, absent):
    if not sparse.issparse(S):
        return S
    full = np.full(S.shape, np.nan if absent == "unknown" else 0.0)
    entries = S.tocoo()
    full[entries.row, entries.col] = entries.data
    return full


@pytest.mark.parametrize("missing", ["zero", "unknown", "farthest", 3.5])
@pytest.mark.parametrize("direction", ["keep", "max", "mean", "min"])
@pytest.mark.parametrize("orientation", ["similarity", "dissimilarity"])
def test_every_meaning_of_edges(missing, direction, orientation):
    for seed, (duplicates, normalise) in enumerate(itertools.product(["max", "min", "mean"], [None, "self"])):
        if normalise and orientation == "dissimilarity":
            continue
        edges = random_edges(seed, own=normalise is not None)
        options = {"missing": missing, "duplicates": duplicates, "direction": direction}
        options |= {"normalise": normalise, "orientation": orientation}
        P = Proximities.from_edges(*zip(*edges), **options)
        ids, expected = matrix_of(edges, **options)
        assert P.ids.tolist() == ids
        np.testing.assert_allclose(dense(P.S, P.absent), expected, rtol=1e-12)
        assert sparse.issparse(P.S) == (missing in ("zero", "unknown"))


@pytest.mark.parametrize("direction", ["keep", "max", "mean"])
@pytest.mark.parametrize("missing", [0.0, "unknown", 2.5])
@pytest.mark.parametrize("normalise", [None, "self"])
def test_rows_of_new_samples_are_those_of_the_whole_matrix(direction, missing, normalise):
    edges = random_edges(5, n=12, m=90)
    ids, M = matrix_of(
        edges,
        missing=missing,
        duplicates="max",
        direction=direction,
        normalise=normalise,
        orientation="similarity",
    )
    known, new = ids[:7][::-1], ids[7:]
    meaning = EdgeMeaning(missing, "max", direction, normalise)
    own = {query: score for query, target, score in sorted(edges, key=lambda e: e[2]) if query == target}
    S, names, counts = rows_to(edges_of(*zip(*edges)), known, meaning, np.array([own[name] for name in known]))
    assert sorted(names) == sorted(new)
    rows, columns = ([ids.index(name) for name in chosen] for chosen in (names, known))
    np.testing.assert_allclose(dense(S, missing), M[np.ix_(rows, columns)], rtol=1e-12)
    assert counts.all()


def test_new_samples_are_queries_and_may_have_no_edge():
    edges = edges_of(["new", "new", "lonely", "a"], ["a", "x", "x", "only a target"], [5, 6, 7, 8])
    S, names, counts = rows_to(edges, ["b", "a"], EdgeMeaning(), None)
    assert (names, counts.tolist()) == (["new", "lonely"], [1, 0])
    assert S.toarray().tolist() == [[0, 5], [0, 0]]


def test_a_complete_list_of_distances_has_nothing_missing():
    D = np.array([[0, 3, 1], [4, 0, 2], [1, 5, 0.5]])
    i, j = np.nonzero(~np.eye(3, dtype=bool))
    names = np.array(["a", "b", "c"])
    listed = Proximities.from_edges(names[i], names[j], D[i, j], orientation="dissimilarity")
    assert listed.S.tolist() == [[0, 3, 1], [4, 0, 2], [1, 5, 0]]
    i, j = np.triu_indices(3)
    once = Proximities.from_edges(names[i], names[j], D[i, j], direction="max", orientation="dissimilarity")
    assert once.S.tolist() == [[0, 3, 1], [3, 0, 2], [1, 2, 0.5]]
    with pytest.raises(ValueError, match=r"missing: 2 of 6 pairs have no edge.*--missing farthest"):
        Proximities.from_edges(list("aab"), list("bcb"), [1, 2, 3], direction="max", orientation="dissimilarity")


def test_estimators_take_them():
    P = Proximities.from_edges(["a", "b", "c", "d"], ["b", "a", "d", "c"], [1, 1, 2, 2])
    knn = KNNClassifier(1).fit(P, [0, 0, 1, 1])
    assert knn.predict(Proximities([[0, 0.5, 0, 0.6]], column_ids=P.ids)).tolist() == [1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "none"}, "missing must be 'zero', 'farthest', 'unknown' or a number; got 'none'"),
        ({"missing": np.nan}, "missing must be a finite number; got nan"),
        ({"orientation": "dissimilarity"}, r"direction: the list holds each pair once.*--direction max"),
        ({"duplicates": "first"}, r"duplicates must be one of \(None, 'max'"),
        ({"direction": "both"}, r"direction must be one of \('keep'"),
        ({"duplicates": "error"}, "duplicates='error': the pair 'a' and 'b' has 2 edges"),
        ({"normalise": "self"}, "normalise='self' needs a positive score of every sample with itself; 1 of 2 .*: 'b'"),
        ({"normalise": "self", "orientation": "dissimilarity", "missing": 1}, "normalise='self' is for similarities"),
    ],
)
def test_what_edges_cannot_mean(options, message):
    with pytest.raises(ValueError, match=message):
        Proximities.from_edges(["a", "a", "a"], ["b", "b", "a"], [1, 2, 3], **options)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ((["a"], ["b", "c"], [1]), r"one entry per edge; got the shapes \(1,\), \(2,\), \(1,\)"),
        ((["a"], ["b"], [np.nan]), "scores must be finite numbers; got nan for edge 0"),
        (([], [], []), "there is no edge"),
        ((["a"], ["b"], ["much"]), "scores must be finite numbers: could not convert string to float: 'much'"),
        ((["a", None], ["b", "c"], [1, 2]), "queries must name a sample for each edge; edge 1 has None"),
        (([1.0], [np.nan], [1]), "targets must name a sample for each edge; edge 0 has"),
    ],
)
def test_arrays_that_are_no_edges(edges, message):
    with pytest.raises(ValueError, match=message):
        Proximities.from_edges(*edges)


@pytest.mark.parametrize("scale", [1e300, 1.0, 1e-300])
def test_means_and_normalised_scores_do_not_overflow(scale):
    ends = ["a", "b", "a", "a"], ["a", "b", "b", "b"]
    P = Proximities.from_edges(*ends, np.array([4.0, 1, 0.5, 1.5]) * scale, duplicates="mean", normalise="self")
    assert np.allclose(P.S.toarray(), [[1, 0.5], [0, 1]])
    P = Proximities.from_edges(["a", "a"], ["b", "b"], [1.7e308, 1.7e308], duplicates="mean")
    assert P.S.toarray()[0, 1] == 1.7e308


@pytest.mark.parametrize("smallest", [False, True])
def test_the_best_edges_of_each_query(smallest):
    """Against a loop over the queries; the order of the edges, and selecting parts first, change nothing."""
    rng = np.random.default_rng(0)
    queries, targets, scores = rng.integers(0, 12, 400), rng.integers(0, 30, 400), rng.integers(1, 9, 400) / 2
    found = set(zip(*(part.tolist() for part in best_of_each(queries, targets, scores, 4, smallest=smallest))))
    expected = set()
    sign = -1 if smallest else 1
    for query in range(12):
        best = {}
        for target in range(30):
            own = scores[(queries == query) & (targets == target)]
            if len(own):
                best[target] = sign * max(sign * own)
        others = sorted((sign * value for target, value in best.items() if target != query), reverse=True)
        last = others[3] if len(others) > 3 else -np.inf
        expected |= {(query, t, value) for t, value in best.items() if t == query or sign * value >= last}
    assert found == expected
    order = rng.permutation(400)
    parts = [
        best_of_each(*(v[own] for v in (queries, targets, scores)), 4, smallest=smallest)
        for own in (order[:150], order[150:])
    ]
    again = best_of_each(*(np.concatenate(values) for values in zip(*parts)), 4, smallest=smallest)
    assert set(zip(*(part.tolist() for part in again))) == expected
