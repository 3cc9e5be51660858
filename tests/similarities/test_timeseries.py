"""Dynamic time warping."""

import multiprocessing
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from similitude import KNNClassifier
from similitude.similarities import pairwise
from similitude.similarities.registry import resolve
from similitude.similarities.timeseries import DTW
from tests.reference import timeseries as reference

number = st.integers(-20, 20).map(lambda k: k / 4)


def series_of(lengths, seed=0, channels=None):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=n if channels is None else (channels, n)) for n in lengths]


@st.composite
def collections(draw, equal=False):
    channels, n = draw(st.integers(1, 2)), draw(st.integers(1, 6))
    length = st.just(n) if equal else st.integers(1, 6)

    def one():
        size = draw(length)
        return [draw(st.lists(number, min_size=size, max_size=size)) for _ in range(channels)]

    return [one() for _ in range(draw(st.integers(1, 3)))], [one() for _ in range(draw(st.integers(1, 3)))]


def by_definition(A, B, window=None):
    return np.array([[reference.dtw(x, z, window) for z in B] for x in A])


def arrays(collection):
    return [np.array(x if len(x) > 1 else x[0]) for x in collection]


@given(collections())
def test_dtw_follows_its_recursion(case):
    A, B = case
    assert np.allclose(DTW()(arrays(A), arrays(B)), by_definition(A, B), atol=1e-12)
    assert np.allclose(pairwise(arrays(A), similarity="dtw"), by_definition(A, A), atol=1e-12)


@given(collections(equal=True), st.sampled_from([0.0, 0.2, 0.5, 1.0, 1]))
def test_a_window_bounds_the_warping(case, window):
    A, B = case
    assert np.allclose(DTW(window=window)(arrays(A), arrays(B)), by_definition(A, B, window), atol=1e-12)


@pytest.mark.filterwarnings("ignore:unsafe cast")
@pytest.mark.parametrize("channels", [None, 3])
@pytest.mark.parametrize("window", [None, 0.0, 0.1, 0.5])
def test_the_same_as_the_pairwise_function_of_aeon(window, channels):
    from aeon.distances import dtw_distance

    X = series_of([5, 30, 12, 30, 7, 18], channels=channels)
    expected = np.array([[dtw_distance(x, z, window=window) for z in X] for x in X])
    D = DTW(window=window)(X, X)
    assert np.allclose(D, expected, rtol=1e-10)
    assert np.array_equal(DTW(window=window)(X[:2], X[3:]), D[:2, 3:])


@given(collections())
def test_what_the_registry_says_is_true(case):
    X = arrays(case[0])
    measure = resolve("dtw")
    D = measure.function(X, list(X))
    assert measure.symmetric
    assert np.allclose(D, D.T, rtol=1e-12)
    assert np.array_equal(np.diagonal(D), np.zeros(len(X)))
    assert D.min() >= 0
    assert (measure.orientation, measure.metric) == ("dissimilarity", False)
    assert np.allclose(measure.function(X, X), D, rtol=1e-12)


def test_it_is_no_metric():
    D = DTW()([[0.0], [1.0], [2.0]], [[0.0], [1.0], [2.0]])
    assert D[0, 2] > D[0, 1] + D[1, 2]


def test_every_kind_of_collection():
    rows = np.arange(12.0).reshape(3, 4) % 5
    expected = DTW()(list(rows), list(rows))
    assert expected.max() > 0
    for kind in (np.asarray, pd.DataFrame, np.ndarray.tolist, np.float32, lambda r: r[:, None, :]):
        assert np.array_equal(DTW()(kind(rows), kind(rows)), expected)
    ragged = np.empty(2, dtype=object)
    ragged[:] = [np.array([1, 2]), np.array([1, 2, 2])]
    assert DTW()(ragged, ragged).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert DTW()([], rows).shape == (0, 3)


def test_the_series_are_left_alone():
    X = [x[::2] for x in series_of([10, 8])]
    kept = [x.copy() for x in X]
    DTW()(X, X)
    assert all(np.array_equal(x, k) for x, k in zip(X, kept))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["ab"], r"A\[0\] must be an array of numbers"),
        ([[1.0], [1.0, {}]], r"A\[1\] must be an array of numbers"),
        ([[1.0], [[1.0, 2.0], [1.0]]], r"A\[1\] must be an array of numbers"),
        ([[1.0], [1.0, None]], r"A\[1\] contains NaN"),
        ([[1.0], [1j]], r"A\[1\] must be an array of numbers"),
        ([[1.0], []], r"A\[1\] must be a series .*not empty; got \(0,\)"),
        ([3.0], r"A\[0\] must be a series .*got \(\)"),
        ([[[[1.0]]]], r"A\[0\] must be a series .*got \(1, 1, 1\)"),
        ([[1.0], [np.nan]], r"A\[1\] contains NaN"),
        ([[1.0], [np.inf]], r"A\[1\] contains NaN or infinity"),
        ([np.ones((1, 3)), np.ones((2, 3))], r"A\[1\] has 2 channel\(s\), but A\[0\] has 1"),
        ("text", r"A must be a sequence of time series; got str"),
        (5, r"A must be a sequence of time series; got int"),
    ],
)
def test_what_is_not_a_series(bad, message):
    with pytest.raises(ValueError, match=message):
        DTW()(bad, [[1.0]])


def test_channels_must_agree_and_windows_lie_between_0_and_1():
    with pytest.raises(ValueError, match="same channels; got 1 and 2"):
        DTW()([[1.0, 2.0]], [np.ones((2, 2))])
    with pytest.raises(ValueError, match=r"B\[1\] contains NaN"):
        DTW()([[1.0]], [[1.0], [np.nan]])
    for window in (-0.1, 1.5):
        with pytest.raises(ValueError, match=rf"window must .*got {window}"):
            DTW(window=window)([[1.0]], [[1.0]])


def test_clone_and_pickle():
    X = series_of([6, 9, 7])
    changed = DTW(window=0.3)
    for copy in (clone(changed), pickle.loads(pickle.dumps(changed))):
        assert copy.get_params() == {"window": 0.3}
        assert np.array_equal(copy(X, X), changed(X, X))


@pytest.mark.parametrize("similarity", ["dtw", DTW(window=0.5)])
def test_in_a_classifier(similarity):
    rng = np.random.default_rng(0)
    y = np.arange(18) % 2
    X = [np.sin(np.linspace(0, 3 + 6 * label, rng.integers(20, 30))) + rng.normal(0, 0.1) for label in y]
    knn = KNNClassifier(3, similarity=similarity).fit(X, y)
    assert knn.predict([np.sin(np.linspace(0, 3, 25)), np.sin(np.linspace(0, 9, 25))]).tolist() == [0, 1]
    scores = cross_val_score(KNNClassifier(1, similarity=similarity), X, y, cv=3, error_score="raise")
    assert scores.tolist() == [1.0, 1.0, 1.0]


def test_threads_may_share_the_work():
    X = series_of(np.arange(10, 30))
    expected = DTW()(X, X)
    with ThreadPoolExecutor(4) as pool:
        blocks = list(pool.map(lambda i: DTW()(X[i : i + 5], X), range(0, 20, 5)))
    assert resolve("dtw").threads
    assert np.allclose(np.vstack(blocks), expected, rtol=1e-12)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_used_it_may_still_fork():
    X = series_of([10, 12])
    here = DTW()(X, X)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(DTW(), (X, X)).get(timeout=60)
    assert np.array_equal(here, there)


def test_compiled_code_does_not_outlive_the_aeon_it_came_from():
    from similitude.similarities._dtw_compiled import fill

    DTW()(series_of([5]), series_of([6]))
    assert fill.signatures
    assert fill.stats.cache_path is None


@settings(max_examples=10)
@given(st.lists(number, min_size=1, max_size=5), st.integers(1, 4))
def test_repeating_values_costs_nothing(x, times):
    assert DTW()([x], [np.repeat(x, times)]).item() == 0


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "aeon", None)
    with pytest.raises(ImportError, match=r"needs aeon: pip install 'similitude\[timeseries\]'"):
        DTW()([[1.0]], [[2.0]])
