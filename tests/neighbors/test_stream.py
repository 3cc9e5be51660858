import warnings
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from joblib import parallel_config
from sklearn.base import clone

from similitude import KNNClassifier, LocalNearestCentroid, LocalSDA, LocalSVC, load_model, save_model
from similitude._native import offer
from similitude.finders.stream import StreamSearch, sorted_best
from similitude.proximity.check import SimilarityWarning
from similitude.similarities import batch
from tests.distributed.functions import agreement, longer, strings

SMALL = StreamSearch(block_size=7)


def pair(model, search=SMALL):
    """The same model with the matrix, and without."""
    return clone(model).set_params(search="matrix"), clone(model).set_params(search=search)


@given(
    arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 40)), elements=st.integers(-2, 3).map(float)),
    st.integers(1, 12),
    st.integers(1, 11),
    st.randoms(use_true_random=False),
)
def test_the_running_best_are_the_best_whatever_the_order_of_the_blocks(S, k, length, random):
    k = min(k, S.shape[1])
    values, places = np.full((len(S), k), -np.inf), np.full((len(S), k), S.shape[1])
    starts = list(range(0, S.shape[1], length))
    random.shuffle(starts)
    for start in starts:
        offer(np.ascontiguousarray(S[:, start : start + length]), start, values, places)
    values, places = sorted_best(values, places)
    expected = np.argsort(-S, axis=1, kind="stable")[:, :k]
    assert np.array_equal(places, expected)
    assert np.array_equal(values, np.take_along_axis(S, expected, axis=1))


@pytest.mark.parametrize("similarity", ["levenshtein", longer, agreement, "lcs"])
@pytest.mark.parametrize("search", ["stream", SMALL])
def test_neighbours_are_those_of_the_matrix_to_the_last_tie(similarity, search):
    X, y, new = strings()
    matrix, stream = (model.fit(X, y) for model in pair(KNNClassifier(similarity=similarity), search))
    for k in (1, 4, 17, 60, 100):
        for expected, found in zip(matrix.kneighbors(new, k), stream.kneighbors(new, k)):
            assert np.array_equal(found, expected)
            assert found.dtype == expected.dtype
    assert stream.n_evaluations_per_query_ == 60


@pytest.mark.parametrize("similarity", ["levenshtein", longer])
def test_several_workers_find_the_same(similarity):
    X, y, new = strings()
    search = StreamSearch(n_jobs=2, block_size=9, progress=True)
    matrix, stream = pair(KNNClassifier(similarity=similarity), search)
    with parallel_config("threading"):  # processes would take seconds to start
        for expected, found in zip(matrix.fit(X, y).kneighbors(new, 9), stream.fit(X, y).kneighbors(new, 9)):
            assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "model",
    [
        KNNClassifier(4),
        KNNClassifier(7, "affinity"),
        KNNClassifier(7, "distance"),
        KNNClassifier(6, "kri", reg=0.1),
        KNNClassifier(6, "krr", spectrum="flip", consistent=True),
        KNNClassifier(6, "lime", spectrum="shift"),
        LocalSVC(8),
        LocalSVC(9, C=10.0, spectrum="shift"),
        LocalNearestCentroid(9),
        LocalSDA(12),
        LocalSDA(12, fallback=None),
        LocalSDA(10, omega="continuous"),
        LocalSDA(10, omega=np.arange(-3.0, 20.0)),
        LocalSDA(12, alpha=0.2),
    ],
)
@pytest.mark.parametrize("similarity", ["levenshtein", longer])
def test_every_local_method_answers_as_with_the_matrix(model, similarity):
    X, y, new = strings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimilarityWarning)  # of asymmetry: the next test
        matrix, stream = (m.set_params(similarity=similarity).fit(X, y) for m in pair(model))
        assert np.array_equal(stream.predict(new), matrix.predict(new))
        for response in ("predict_proba", "decision_function", "neighbor_weights"):
            if hasattr(matrix, response):
                for a, b in zip(getattr(stream, response)(new), getattr(matrix, response)(new)):
                    assert np.allclose(a, b, rtol=0, atol=1e-12)
    assert stream.n_evaluations_per_query_ >= 60
    assert not any(getattr(part, "shape", None) == (60, 60) for part in vars(stream).values())


@pytest.mark.parametrize("how", ["log", "sqrt-max-minus"])
def test_the_range_of_single_precision_is_that_of_the_matrix(how):
    X, y, new = strings()

    @batch
    def disagreement(A, B):
        return np.float32(8.1 / 3) - agreement(A, B)

    model = LocalSDA(10, omega="continuous", similarity=disagreement, dissimilarity=how)
    matrix, stream = (m.fit(X, y).predict_proba(new) for m in pair(model))
    assert np.array_equal(stream, matrix)


@pytest.mark.parametrize("search", ["stream", "graph"])
def test_objects_that_cannot_be_sliced(search):
    pd = pytest.importorskip("pandas")
    X, y, new = strings()
    model = KNNClassifier(3, "kri", similarity="levenshtein", search=search)
    expected = clone(model).fit(X, y).predict_proba(new)
    for kind in (deque, pd.Index):
        assert np.array_equal(clone(model).fit(kind(X), y).predict_proba(kind(new)), expected)


def test_asymmetry_is_announced_once_and_both_directions_are_taken():
    X, y, new = strings()
    with pytest.warns(SimilarityWarning, match="asymmetric.*treated in the same way") as caught:
        model = KNNClassifier(5, "kri", similarity=longer, search="stream").fit(X, y)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimilarityWarning)
        answers = model.predict_proba(new)
    both = KNNClassifier(5, "kri", similarity=lambda a, b: (longer(a, b) + longer(b, a)) / 2).fit(X, y)
    assert np.allclose(answers, both.predict_proba(new))


def test_similarities_among_neighbours_are_computed_once():
    X, y, new = strings()
    calls = []

    def counted(a, b):
        calls.append((a, b))
        return longer(a, b)

    model = LocalNearestCentroid(5, similarity=counted, search="stream").fit(X, y)
    assert not calls
    assert model.n_evaluations_ == 0
    model.predict(new)
    assert len(calls) == round(model.n_evaluations_per_query_ * len(new))
    assert len(calls) <= len(new) * (60 + 25)


def test_a_map_with_a_constant_costs_one_pass():
    X, y, _ = strings()
    assert KNNClassifier(similarity="levenshtein", search="stream").fit(X, y).n_evaluations_ == 60 * 61 / 2
    assert (
        KNNClassifier(similarity="levenshtein", dissimilarity="negate", search="stream").fit(X, y).n_evaluations_ == 0
    )
    for model in (KNNClassifier(weights="distance"), LocalSDA(omega="continuous")):
        for how in ("max-minus", "negate"):  # the pass for the constant of the map is also the pass for the range
            model.set_params(similarity="levenshtein", dissimilarity=how, search="stream").fit(X, y)
            assert model.n_evaluations_ == 60 * 61 / 2


def test_partial_fit_goes_on():
    X, y, new = strings()
    model = KNNClassifier(3, similarity="levenshtein", search="stream")
    model.partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    whole = KNNClassifier(3, similarity="levenshtein").fit(X, y)
    assert np.array_equal(model.kneighbors(new)[1], whole.kneighbors(new)[1])


def test_a_later_fit_with_the_matrix_forgets_the_search():
    X, y, new = strings()
    model = KNNClassifier(3, "kri", similarity="levenshtein", search="stream").fit(X, y)
    model.set_params(search="matrix").fit(X, y)
    assert not hasattr(model, "n_evaluations_")
    assert np.array_equal(model.predict(new), KNNClassifier(3, "kri", similarity="levenshtein").fit(X, y).predict(new))


def test_a_model_file_holds_it(tmp_path):
    X, y, new = strings()
    for model in (
        KNNClassifier(3, "krr", similarity="levenshtein", search=StreamSearch(block_size=8)),
        LocalSDA(8, similarity="levenshtein", search="stream"),
    ):
        save_model(tmp_path / "m.model", model.fit(X, y))
        loaded = load_model(tmp_path / "m.model")
        assert np.array_equal(loaded.predict_proba(new), model.predict_proba(new))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KNNClassifier(search="tree", similarity="levenshtein"), "search must be one of"),
        (KNNClassifier(search=3, similarity="levenshtein"), "search must be one of"),
        (KNNClassifier(search="stream"), "search='stream' needs raw objects"),
        (KNNClassifier(search="stream", similarity="levenshtein", dissimilarity="gauss"), "median"),
        (KNNClassifier(search="stream", similarity="levenshtein", dissimilarity="double-centring"), "whole rows"),
        (KNNClassifier(search=StreamSearch(block_size=0), similarity="levenshtein"), "block_size"),
        (KNNClassifier(search=StreamSearch(n_jobs=0), similarity="levenshtein"), "n_jobs"),
        (LocalSDA(5, omega="all", similarity="levenshtein", search="stream"), "omega"),
    ],
)
def test_refusals(model, message):
    X, y, _ = strings()
    with pytest.raises(ValueError, match=message):
        model.fit(np.eye(4), [0, 1, 0, 1]) if model.similarity == "precomputed" else model.fit(X, y)


def test_omega_must_reach_over_what_is_met():
    X, y, new = strings()
    model = LocalSDA(8, omega=[2.0, 3.0], similarity="levenshtein", search="stream").fit(X, y)
    with pytest.raises(ValueError, match="omega must cover"):
        model.predict(new)


def test_a_failing_function_names_its_objects():
    X, y, _ = strings()

    def fails(a, b):
        if a == X[7] and b == X[11]:
            raise RuntimeError("no")
        return longer(a, b)

    model = LocalNearestCentroid(60, similarity=fails, search="stream").fit(X, y)
    with pytest.raises(ValueError, match="failed on objects 7 and 11: RuntimeError: no"):
        model.predict([X[3]])
