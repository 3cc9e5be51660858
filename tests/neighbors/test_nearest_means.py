import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris, load_svmlight_file
from sklearn.model_selection import GridSearchCV, ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import similitude.neighbors.nearest_means as module
from similitude import PathSearchCV
from similitude.neighbors.nearest_means import LocalNearestMeans
from tests.paths import path_answers
from tests.reference import centroids as reference

N = 9
# Squared distances of these are exact, so that samples tie where they should; means are not.
values = st.integers(-2, 3).map(float) | st.integers(-128, 192).map(lambda i: i / 64)
problems = st.integers(1, 3).flatmap(lambda d: arrays(float, (N + 3, d), elements=values))
labels = arrays(int, N, elements=st.integers(0, 3)) | st.permutations(range(N)).map(np.array)


@given(problems, labels, st.integers(1, 12), st.sampled_from([1.0, 2.0**-500, 2.0**500, 2.0**-1000, 2.0**1000]))
def test_equals_the_definition(X, y, k, scale):
    model = LocalNearestMeans(k).fit(X[:N] * scale, y)
    assert model.n_neighbors_.tolist() == [min(k, np.sum(y == h)) for h in np.unique(y)]
    expected = [reference.local_nearest_means(X[:N], y, x, k) for x in X[N:]]
    assert model.predict(X[N:] * scale).tolist() == expected


@given(problems, labels, st.lists(st.integers(1, 12), min_size=1, max_size=6))
def test_the_path_equals_plain_fits(X, y, ks):
    answers = path_answers(LocalNearestMeans(), X[:N], y, X[N:], [{"n_neighbors": k} for k in ks])
    for k, answer in zip(ks, answers, strict=True):
        assert answer.tolist() == LocalNearestMeans(k).fit(X[:N], y).predict(X[N:]).tolist()


def test_the_path_search_equals_the_grid_search():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LocalNearestMeans())
    for estimator, name in ((LocalNearestMeans(0), "n_neighbors"), (pipeline, "localnearestmeans__n_neighbors")):
        ours, theirs = (
            search(estimator, {name: [1, 40, 3, 200]}, cv=5, error_score="raise").fit(X, y)
            for search in (PathSearchCV, GridSearchCV)
        )
        assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
        assert ours.best_params_ == theirs.best_params_


def test_between_the_nearest_neighbour_and_the_nearest_mean():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 3, 300)
    for k, other in ((1, KNeighborsClassifier(1)), (300, NearestCentroid())):
        ours = LocalNearestMeans(k).fit(X[:200], y[:200])
        assert np.array_equal(ours.predict(X[200:]), other.fit(X[:200], y[:200]).predict(X[200:]))


def test_ties_of_samples_and_of_classes():
    # Two samples of class 1 are equally near. With both its mean is 1/6 away, with one of them 0.75 or 0.25.
    X = np.array([[0.0, 0.5], [0.0, 1.0], [0.0, -1.0], [0.2, 0.0]])
    for order in ([0, 1, 2, 3], [0, 2, 1, 3]):
        assert LocalNearestMeans(2).fit(X[order], [1, 1, 1, 0]).predict([[0.0, 0.0]]).tolist() == [1]
    assert LocalNearestMeans(1).fit([[1.0], [-1.0]], ["b", "a"]).predict([[0.0]]).tolist() == ["a"]
    # Two means that differ by rounding only.
    thirds = [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]]
    for y in ([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]):
        assert LocalNearestMeans(3).fit(thirds + thirds[::-1], y).predict([[0.7, 0.1, 0.4]]).tolist() == [0]


def test_far_rows_and_constant_features():
    X, y = np.array([[0.0], [0.0], [1e-300], [1e-300]]), [0, 0, 1, 1]
    model = LocalNearestMeans(2).fit(X, y)
    with np.errstate(all="raise", under="ignore"):
        assert model.predict([[0.9e-300], [0.1e-300], [1e308], [-1e308]]).tolist() == [1, 0, 0, 0]
    assert LocalNearestMeans().fit(np.zeros((4, 2)), y).predict([[1.0, 1.0]]).tolist() == [0]


def test_far_from_the_origin_no_digit_is_lost():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 64, (60, 3)) / 8, rng.integers(0, 3, 60)
    expected = LocalNearestMeans(4).fit(X[:40], y[:40]).predict(X[40:])
    moved = X + 2.0**40
    assert np.array_equal(LocalNearestMeans(4).fit(moved[:40], y[:40]).predict(moved[40:]), expected)


def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (700, 3)).astype(float), rng.integers(0, 3, 700)
    model = LocalNearestMeans(4).fit(X[:100], y[:100])
    expected = model.predict(X)
    monkeypatch.setattr(module, "_BLOCK", 1000)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert np.array_equal(model.predict(X), expected)


def test_features_of_any_kind():
    X, y = load_iris(return_X_y=True)
    assert not get_tags(LocalNearestMeans()).input_tags.pairwise
    assert cross_val_score(LocalNearestMeans(10), X, y, cv=5).mean() > 0.95
    expected = LocalNearestMeans(10).fit(X, y).predict(X)
    names = pd.DataFrame(X, columns=list("abcd"))
    named = LocalNearestMeans(10).fit(names, pd.Series(y))
    assert named.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(named.predict(names), expected)
    X = X.round() + 0.125
    single = LocalNearestMeans(10).fit(X.astype(np.float32), y)
    assert {samples.dtype for samples in single._path.samples} == {np.dtype(np.float32)}
    assert np.array_equal(single.predict(X.astype(np.float32)), LocalNearestMeans(10).fit(X, y).predict(X))


def test_parameters_count_as_they_were_in_fit():
    X, y = load_iris(return_X_y=True)
    model = LocalNearestMeans(40).fit(X, y)
    expected = model.predict(X)
    assert np.array_equal(model.set_params(n_neighbors=1).predict(X), expected)
    with pytest.raises(ValueError, match="y must have one label per sample"):
        model.fit(X[:5, :2], y)
    assert np.array_equal(model.predict(X), expected)


@pytest.mark.parametrize("k", [0, -1, 2.0, True, None, "5"])
def test_bad_parameters_are_named(k):
    with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1"):
        LocalNearestMeans(k).fit(np.eye(4), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1"):
        path_answers(LocalNearestMeans(), np.eye(4), np.arange(4), np.eye(4), [{"n_neighbors": k}])


@pytest.mark.untraced
def test_pen_digits_error_is_the_published_one(data_folder):
    """Table 1 of the paper on local BDA: 2.29% on 3498 test samples, k by random 9:1 splits; two standard errors."""
    parts = []
    for part in ("train", "test"):
        path = data_folder / f"pendigits.{part}.libsvm"
        if not path.exists():
            pytest.skip(f"no {path.name} in {data_folder}")
        parts.append(load_svmlight_file(path, n_features=16))
    (X, y), (X_test, y_test) = ((X.toarray(), y) for X, y in parts)
    grid = {"localnearestmeans__n_neighbors": [*range(1, 21), *range(30, 101, 10)]}
    splits = ShuffleSplit(10, test_size=0.1, random_state=0)
    search = PathSearchCV(make_pipeline(StandardScaler(), LocalNearestMeans()), grid, cv=splits).fit(X, y)
    error = 1 - search.score(X_test, y_test)
    assert abs(error - 0.0229) < 2 * np.sqrt(0.0229 * (1 - 0.0229) / 3498)
