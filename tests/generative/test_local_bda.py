import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import similitude.generative.local_bda as module
from similitude import LocalBDA, PathSearchCV
from tests.paths import path_answers
from tests.reference import local_bda as reference

N = 9
# Squared distances of these are exact, so that samples tie where they should.
values = st.integers(-2, 3).map(float) | st.integers(-128, 192).map(lambda i: i / 64)
problems = st.integers(1, 5).flatmap(lambda d: arrays(float, (N + 3, d), elements=values))
labels = arrays(int, N, elements=st.integers(0, 3)) | st.permutations(range(N)).map(np.array)
RESPONSES = ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "log_likelihoods")


def gaussians(n=60, m=20, d=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n + m) % n_classes
    X = rng.normal(size=(n + m, d)) * rng.uniform(0.5, 2, d) + 2 * rng.normal(size=(n_classes, d))[y]
    return X[:n], y[:n], X[n:]


@pytest.mark.parametrize(
    ("Z", "x", "expected"),
    [
        ([[0, 0], [1, 0], [0, 2]], [1, 1], -2.3341176857),
        ([[0.3], [1.1], [-0.4]], [0.9], -0.9577537403),
        ([[1, 2, 3]], [1, 2, 2], -6.3477216817),
        ([[0, 0, 1], [1, 1, 0], [2, 0, 0], [0, 3, 1]], [0.5, 0.5, 0.5], -2.6781416466),
    ],
)
def test_known_log_densities(Z, x, expected):
    assert LocalBDA().fit(Z, [0] * len(Z)).log_likelihoods([x]) == pytest.approx(expected, abs=1e-10)
    Z, x = np.array(Z, dtype=float), np.array(x, dtype=float)
    for density in (reference.log_likelihood, reference.student, reference.predictive):
        assert density(Z, x) == pytest.approx(expected, abs=1e-10)


@given(problems, labels, st.integers(1, 12), st.sampled_from([reference.student, reference.predictive]))
def test_equals_the_definition(X, y, k, density):
    model = LocalBDA(k).fit(X[:N], y)
    assert model.n_neighbors_.tolist() == [min(k, np.sum(y == g)) for g in np.unique(y)]
    likelihoods = [reference.log_likelihoods(X[:N], y, x, k, density) for x in X[N:]]
    assert np.allclose(model.log_likelihoods(X[N:]), likelihoods, rtol=1e-9, atol=1e-9)
    joint = np.array([reference.joint(X[:N], y, x, k, density) for x in X[N:]])
    assert np.allclose(model.predict_joint_log_proba(X[N:]), joint, rtol=1e-9, atol=1e-9)
    posterior = np.exp(joint - joint.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(X[N:]), posterior, rtol=1e-8)
    said = np.searchsorted(model.classes_, model.predict(X[N:]))
    assert np.allclose(posterior[np.arange(3), said], posterior.max(axis=1))


@given(problems, labels, st.lists(st.integers(1, 12), min_size=1, max_size=6), st.sampled_from(RESPONSES))
def test_the_path_equals_plain_fits(X, y, ks, response):
    answers = path_answers(LocalBDA(), X[:N], y, X[N:], [{"n_neighbors": k} for k in ks], response)
    for k, answer in zip(ks, answers, strict=True):
        assert np.array_equal(answer, getattr(LocalBDA(k).fit(X[:N], y), response)(X[N:]))


def test_the_path_search_equals_the_grid_search():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LocalBDA())
    for estimator, name in ((LocalBDA(0), "n_neighbors"), (pipeline, "localbda__n_neighbors")):
        options = {"scoring": ["accuracy", "neg_log_loss"], "refit": "accuracy", "error_score": "raise"}
        ours, theirs = (
            search(estimator, {name: [1, 40, 3, 200]}, cv=3, **options).fit(X, y)
            for search in (PathSearchCV, GridSearchCV)
        )
        for score in ("mean_test_accuracy", "mean_test_neg_log_loss"):
            assert np.allclose(ours.cv_results_[score], theirs.cv_results_[score], rtol=1e-13, atol=0)
        assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("k", [1, 7, 30])
def test_both_sides_of_d(k):
    for d in (k - 1, k, k + 1, 3 * k):
        if d:
            X, y, rows = gaussians(n=80, m=5, d=d, n_classes=2)
            expected = [reference.log_likelihoods(X, y, x, k) for x in rows]
            assert np.allclose(LocalBDA(k).fit(X, y).log_likelihoods(rows), expected, rtol=1e-11)


def test_many_features():
    rng = np.random.default_rng(0)
    X, y, x = rng.normal(size=(40, 2000)), np.arange(40) % 2, rng.normal(size=2000)
    found = LocalBDA(12).fit(X, y).log_likelihoods([x])[0]
    assert np.allclose(found, reference.log_likelihoods(X, y, x, 12), rtol=1e-11)


def test_with_all_samples_it_comes_near_quadratic_discriminant_analysis():
    X, y, rows = gaussians(n=6000, m=50, d=2)
    qda = QuadraticDiscriminantAnalysis().fit(X, y)
    ours = LocalBDA(6000).fit(X, y).predict_proba(rows)
    assert np.allclose(ours, qda.predict_proba(rows), atol=0.02)


def test_it_learns_and_knows_how_sure_it_is():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), LocalBDA(15))
    assert cross_val_score(model, X, y, cv=5).mean() > 0.94
    assert cross_val_score(model, X, y, cv=5, scoring="neg_log_loss").mean() > -0.2


def test_a_hundred_classes_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 3)
    X = rng.normal(size=(300, 400)) + 0.2 * rng.normal(size=(100, 400))[y]
    for rows in (X[:5] + 50.0, X[:5]):
        model = LocalBDA(3).fit(X, y)
        logs = model.predict_log_proba(rows)
        assert np.isfinite(logs).all()
        assert np.allclose(np.exp(logs).sum(axis=1), 1)
    far = model.predict_joint_log_proba(X[:5] + 50.0)
    assert far.max() < -745  # the logarithm of the least positive number
    assert np.isfinite(far).all()


def test_priors_and_costs():
    X, y, rows = gaussians(d=2, m=60)
    rows = rows / 2
    plain = LocalBDA(8).fit(X, y)
    given_priors = LocalBDA(8, priors={0: 0.7, 1: 0.0, 2: 0.3}).fit(X, y)
    with np.errstate(divide="ignore"):
        expected = plain.log_likelihoods(rows) + np.log([0.7, 0.0, 0.3])
    assert np.allclose(given_priors.predict_joint_log_proba(rows), expected)
    assert set(given_priors.predict(rows)) == {0, 2}
    assert np.all(given_priors.predict_proba(rows)[:, 1] == 0)
    costs = np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 9.0], [4.0, 1.0, 0.0]])
    by_cost = clone(plain).set_params(costs=costs).fit(X, y)
    assert np.array_equal(by_cost.predict(rows), np.argmin(plain.predict_proba(rows) @ costs.T, axis=1))
    assert not np.array_equal(by_cost.predict(rows), plain.predict(rows))
    path = path_answers(LocalBDA(costs=costs), X, y, rows, [{"n_neighbors": 8}])
    assert np.array_equal(path[0], by_cost.predict(rows))


def test_the_prior_counts_the_nearest_of_all_classes():
    X, y = np.array([[0.0], [1.0], [2.0], [9.0], [10.0], [2.0]]), np.array([0, 1, 0, 1, 1, 1])
    model = LocalBDA(3).fit(X, y)
    # 0, 1, and half of each of the two samples at 2.
    priors = model.predict_joint_log_proba([[0.5]]) - model.log_likelihoods([[0.5]])
    assert np.allclose(priors, np.log([2.5 / 5, 2.5 / 5]))
    all_six = LocalBDA(99).fit(X, y)
    priors = all_six.predict_joint_log_proba([[0.5]]) - all_six.log_likelihoods([[0.5]])
    assert np.allclose(priors, np.log([3 / 8, 5 / 8]))


def test_ties_of_samples_and_of_classes():
    # Two samples of the class are equally near: both are taken if they are at most 2k with the nearer one.
    X = np.array([[0.0, 0.5], [0.0, 1.0], [0.0, -1.0]])
    for k, n_taken in ((2, 3), (1, 1)):
        found = LocalBDA(k).fit(X[[1, 0, 2]], [1, 1, 1]).log_likelihoods([[0.0, 0.0]])
        assert found == pytest.approx(reference.log_likelihood(X[:n_taken], np.zeros(2)))
    # More than 2k are the nearest: all of them.
    ring = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [3.0, 3.0]])
    found = LocalBDA(1).fit(ring, [1] * 5).log_likelihoods([[0.0, 0.0]])
    assert found == pytest.approx(reference.log_likelihood(ring[:4], np.zeros(2)))
    # Two classes, mirror images of one another, and a third sample of class 1: it is larger.
    mirrored = LocalBDA(2, priors=[0.5, 0.5]).fit([[1.0], [2.0], [-1.0], [-2.0], [9.0]], [0, 0, 1, 1, 1])
    assert np.allclose(mirrored.predict_proba([[0.0]]), 0.5)
    assert mirrored.predict([[0.0]]).tolist() == [1]


def test_duplicates_and_constant_features():
    X = np.repeat([[0.1, 0.7, 0.3], [0.2, 0.7, 0.4]], 5, axis=0)
    y = np.repeat([0, 1], 5)
    model = LocalBDA(5).fit(X, y)
    expected = [reference.log_likelihoods(X, y, x, 5) for x in X]
    assert np.allclose(model.log_likelihoods(X), expected, rtol=1e-12)
    # Without any scatter only the 0.05 I of the prior is left.
    assert model.log_likelihoods(X[:1])[0, 0] == pytest.approx(reference.student(X[:5] * 0, np.zeros(3)))
    assert np.isfinite(LocalBDA(3).fit(np.zeros((4, 2)), [0, 0, 1, 1]).predict_log_proba([[1.0, 1.0]])).all()


@pytest.mark.parametrize("k", [2, 7])
def test_shifts_turns_and_the_order_of_features_change_nothing(k):
    X, y, rows = gaussians()
    expected = LocalBDA(k).fit(X, y).log_likelihoods(rows)
    order = [2, 0, 3, 1]
    assert np.allclose(LocalBDA(k).fit(-X[:, order], y).log_likelihoods(-rows[:, order]), expected)
    # Eighths stay exact however far from the origin they are.
    X, rows = np.round(8 * X) / 8, np.round(8 * rows) / 8
    expected = LocalBDA(k).fit(X, y).log_likelihoods(rows)
    moved = LocalBDA(k).fit(X + 2.0**40, y).log_likelihoods(rows + 2.0**40)
    assert np.allclose(moved, expected, rtol=1e-12)


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("scale", [1e20, 1e100, 1e139])
def test_at_large_scales_the_density_scales_with_the_features(scale, k):
    X, y, rows = gaussians()
    d, base = X.shape[1], 1e10  # so large that 0.05 I is nothing
    expected = LocalBDA(k).fit(X * base, y)
    scaled = LocalBDA(k).fit(X * scale, y)
    drop = d * np.log(scale / base)
    assert np.allclose(scaled.log_likelihoods(rows * scale), expected.log_likelihoods(rows * base) - drop, rtol=1e-12)
    assert np.allclose(scaled.predict_proba(rows * scale), expected.predict_proba(rows * base))


@pytest.mark.parametrize("k", [3, 12])
@pytest.mark.parametrize("scale", [2.0**-20, 1e-3, 1e6])
def test_with_a_scaled_addition_the_posteriors_are_the_same_at_any_scale(scale, k):
    X, y, rows = gaussians()
    expected = LocalBDA(k).fit(X, y).predict_log_proba(rows)
    scaled = LocalBDA(k, reg=0.05 * scale**2).fit(X * scale, y)
    assert np.allclose(scaled.predict_log_proba(rows * scale), expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-20, 1e-100, 1e-200, 1e-300])
def test_at_tiny_scales_the_neighbours_are_still_found(scale):
    X, y, rows = gaussians()
    expected, tiny = LocalBDA(7).fit(X, y), LocalBDA(7).fit(X * scale, y)
    # The prior's 0.05 I is all there is; the nearest samples still make P(g).
    alone = reference.log_likelihood(np.zeros((7, 4)), np.zeros(4))
    assert np.allclose(tiny.log_likelihoods(rows * scale), alone)
    priors = expected.predict_joint_log_proba(rows) - expected.log_likelihoods(rows)
    assert np.allclose(tiny.predict_joint_log_proba(rows * scale), alone + priors)
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(tiny.predict_log_proba([[1e100, 1.0, -1e140, 0.0]])).all()


def test_a_feature_of_huge_scale_beside_a_constant_one():
    X, y, rows = gaussians(d=2)
    wide, new = (np.column_stack([a[:, 0] * 1e100, np.full(len(a), 3.0)]) for a in (X, rows))
    found = LocalBDA(9).fit(wide, y).log_likelihoods(new)
    # Where features are not correlated M is diagonal; one of them has no scatter at all.
    for x, logs in zip(new, found):
        for g in range(3):
            Z = wide[y == g]
            Z = Z[np.argsort(np.abs(Z[:, 0] - x[0]))[:9]]
            M = np.array([(1 + 0.95 * 5 / 9) * 9 * Z[:, 0].var() + 0.05, 0.05])
            form = np.sum((x - Z.mean(axis=0)) ** 2 / M)
            rest = module._constants(np.array([9]), 2)[0]
            assert logs[g] == pytest.approx(rest - 0.5 * np.log(M).sum() - 7.5 * np.log1p(0.9 * form))


def test_blocks_and_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (700, 3)).astype(float), rng.integers(0, 3, 700)
    model = LocalBDA(4).fit(X[:100], y[:100])
    expected = model.predict_log_proba(X)
    monkeypatch.setattr(module, "_BLOCK", 1000)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert np.array_equal(model.predict_log_proba(X), expected)


def test_features_of_any_kind():
    X, y = load_iris(return_X_y=True)
    assert not get_tags(LocalBDA()).input_tags.pairwise
    expected = LocalBDA(10).fit(X, y).predict_proba(X)
    names = pd.DataFrame(X, columns=list("abcd"))
    named = LocalBDA(10).fit(names, pd.Series(y))
    assert named.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(named.predict_proba(names), expected)
    locked = X.copy()
    locked.flags.writeable = False
    assert np.array_equal(LocalBDA(10).fit(locked, y).predict_proba(locked), expected)
    whole = (8 * X).round()
    single = LocalBDA(10).fit(whole.astype(np.float32), y)
    assert np.array_equal(single.predict_proba(whole), LocalBDA(10).fit(whole, y).predict_proba(whole))


def test_parameters_of_the_next_fit_do_not_change_this_one():
    X, y, rows = gaussians()
    model = LocalBDA(9).fit(X, y)
    before = model.predict_log_proba(rows)
    model.set_params(n_neighbors=2, priors=[1.0, 0.0, 0.0])
    assert np.array_equal(model.predict_log_proba(rows), before)
    with pytest.raises(ValueError, match="y must have one label per sample"):
        model.fit(X, y[1:])
    assert np.array_equal(model.predict_log_proba(rows), before)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1; got 0"),
        ({"n_neighbors": 2.5}, "n_neighbors must be an integer"),
        ({"priors": [1.0]}, "priors must have one entry per class"),
        ({"costs": [[1.0]]}, "costs must have shape"),
        ({"reg": 0.0}, "reg must be a finite number above 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    X, y, rows = gaussians()
    with pytest.raises(ValueError, match=message):
        LocalBDA(**parameters).fit(X, y)
    with pytest.raises(ValueError, match=message):
        path_answers(LocalBDA(**parameters), X, y, rows, [{}])


def test_bad_rows_are_refused():
    X, y, rows = gaussians()
    with pytest.raises(NotFittedError):
        LocalBDA().predict(rows)
    model = LocalBDA().fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(rows[:, 1:])
    with pytest.raises(ValueError, match="X has features as large as 1e\\+141"):
        model.predict([[0.0, 0.0, -1e141, 0.0]])
    with pytest.raises(ValueError, match="overflow above 1e\\+140; rescale X"):
        LocalBDA().fit(X * 1e200, y)
