import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from similitude import PathSearchCV
from similitude.datasets import make_perturbed_centroids
from similitude.generative.max_entropy import MaximumEntropy
from similitude.generative.mixture_sda import MixtureSDA, mixture
from similitude.generative.sda import SDA
from similitude.numerics.medoids import k_medoids
from similitude.persistence import load_model, save_model
from similitude.similarities import counting
from tests.generative.problems import close, fewer, labels, problem, scales, similarities
from tests.reference import sda as reference


@fewer
@given(similarities(), labels, scales)
def test_one_component_is_sda(given_problem, y, scale):
    S, rows = given_problem
    one, plain = MixtureSDA(1).fit(S * scale, y), SDA().fit(S * scale, y)
    assert np.array_equal(np.concatenate(one.centroids_), plain.centroids_)
    assert close(one.predict_joint_log_proba(rows * scale), plain.predict_joint_log_proba(rows * scale), 1e-12)
    assert np.array_equal(one.predict(rows * scale), plain.predict(rows * scale))
    assert all(np.array_equal(w, np.ones_like(w)) for w in one.weights_)


@fewer
@given(similarities(), st.integers(1, 4), scales)
def test_the_log_likelihood_never_falls(given_problem, c, scale):
    S, _ = given_problem
    fitted = mixture(MaximumEntropy(S.ravel() * scale), S[:, :c] * scale, 1e-8, 500)
    history = fitted.log_likelihoods
    assert np.all(np.diff(history) >= -1e-12 * np.abs(history[1:]) - 1e-13)
    assert fitted.weights.sum() == pytest.approx(1.0)
    assert np.isfinite(history).all()


@fewer
@given(similarities(), st.integers(1, 4))
def test_the_log_likelihood_is_that_of_the_definition(given_problem, c):
    S, _ = given_problem
    omega = reference.omega_of(S)
    family = MaximumEntropy(omega)
    fitted = mixture(family, S[:, :c], 1e-8, 500)
    lambdas = family.parameters(fitted.pmfs)[0]
    logs = [
        [
            np.log(w) + reference.log_pmf(omega, lam, value) if w > 0 else -np.inf
            for w, lam, value in zip(fitted.weights, lambdas, row)
        ]
        for row in S[:, :c]
    ]
    total = sum(logsumexp(row) for row in logs)
    assert fitted.log_likelihoods[-1] == pytest.approx(total, rel=1e-7, abs=1e-7)
    # At the end another step changes nothing: weights and means are those that the responsibilities give.
    shares = np.exp(np.array(logs) - logsumexp(logs, axis=1, keepdims=True))
    if len(fitted.log_likelihoods) < 500:
        assert np.allclose(shares.mean(axis=0), fitted.weights, atol=1e-3)


def test_no_other_mixture_nearby_is_better():
    train = make_perturbed_centroids(80, 25, random_state=3)
    S = counting(train.X, train.X).astype(float)
    family = MaximumEntropy(np.arange(26.0))
    members = np.flatnonzero(train.y == 1)
    places = members[k_medoids(S[np.ix_(members, members)], 2)[0]]
    values = S[np.ix_(members, places)]
    fitted = mixture(family, values, 1e-12, 10_000)
    best = fitted.log_likelihoods[-1]
    rng = np.random.default_rng(0)
    for _ in range(50):
        weights = np.clip(fitted.weights + 1e-3 * rng.normal() * np.array([1, -1]), 1e-9, 1)
        means = np.clip(fitted.means + 1e-2 * rng.normal(size=2), 0.1, 24.9)
        pmfs = family.fit(*family.distances(means))
        logs = np.log(weights / weights.sum()) + family.log_pmf(pmfs, *family.distances(values))
        assert logsumexp(logs, axis=1).sum() <= best + 1e-6


def test_two_components_find_two_centroids():
    """The classes of the perturbed centroids have two each: one component makes an error of 24%, two hardly any."""
    errors = {1: [], 2: []}
    for seed in range(4):
        train = make_perturbed_centroids(100, 50, random_state=seed)
        test = make_perturbed_centroids(500, centroids=train.centroids, random_state=100 + seed)
        for c, error in errors.items():
            model = MixtureSDA(c, similarity="counting").fit(train.X, train.y)
            error.append(1 - model.score(test.X, test.y))
            assert [len(centroids) for centroids in model.centroids_] == [c, c]
    assert np.mean(errors[1]) > 0.15
    assert np.mean(errors[2]) < 0.06


@pytest.mark.parametrize("omega", [None, "continuous"])
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_posteriors_do_not_depend_on_the_scale(scale, omega):
    S, rows, y = problem(integers=False)
    expected = MixtureSDA(3, omega).fit(S, y).predict_log_proba(rows)
    scaled = MixtureSDA(3, omega).fit(S * scale, y)
    assert close(scaled.predict_log_proba(rows * scale), expected, 1e-6)  # rounding may end a mixture a step earlier
    assert np.allclose(expected, np.log(MixtureSDA(3, omega).fit(S, y).predict_proba(rows)))


def test_priors_costs_and_columns():
    S, rows, y = problem(n=60, integers=False)
    plain = MixtureSDA(2).fit(S, y)
    priors = np.array([0.7, 0.1, 0.2])
    difference = MixtureSDA(2, priors=priors).fit(S, y).predict_joint_log_proba(rows)
    difference -= plain.predict_joint_log_proba(rows)
    assert np.allclose(difference, np.log(priors) - np.log((np.bincount(y) + 1) / (len(y) + 3)))
    costs = np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 9.0], [4.0, 1.0, 0.0]])
    by_cost = MixtureSDA(2, costs=costs).fit(S, y)
    assert np.array_equal(by_cost.predict(rows), np.argmin(plain.predict_proba(rows) @ costs.T, axis=1))
    assert len(plain.support_columns_) == 6
    assert np.array_equal(plain.predict_log_proba(rows[:, plain.support_columns_]), plain.predict_log_proba(rows))
    assert np.array_equal(pickle.loads(pickle.dumps(plain)).predict_log_proba(rows), plain.predict_log_proba(rows))
    stored = MixtureSDA(2).fit(sparse.csr_array(S), y).predict_log_proba(sparse.csr_array(rows))
    assert close(stored, plain.predict_log_proba(rows), 1e-12)


def test_numbers_of_components_by_class_are_those_of_the_definition(tmp_path):
    S, rows, y = problem(n=21, m=3, integers=False)
    names = np.array(["a", "b", "c"])[y]
    model = MixtureSDA([3, 1, 2], tol=1e-10).fit(S, names)
    assert [len(centroids) for centroids in model.centroids_] == [3, 1, 2]
    assert [weights.shape for weights in model.weights_] == [(3, 3), (3, 1), (3, 2)]
    expected = reference.mixture_sda(S, y, rows, model.centroids_, reference.omega_of(S), 1e-10)
    assert close(model.predict_joint_log_proba(rows), expected, 1e-5)  # rounding may end a mixture a step earlier
    by_label = MixtureSDA({"c": 2, "a": 3, "b": 1}, tol=1e-10).fit(S, names)
    assert np.array_equal(by_label.predict_log_proba(rows), model.predict_log_proba(rows))
    save_model(tmp_path / "model.similitude", by_label)
    loaded = load_model(tmp_path / "model.similitude")
    assert loaded.n_components == {"c": 2, "a": 3, "b": 1}
    assert np.array_equal(loaded.predict_log_proba(rows), model.predict_log_proba(rows))


def test_a_search_over_numbers_of_components_by_class():
    S, _, y = problem(n=45, integers=False)
    grid = {"n_components": [1, 2, [1, 2, 1], {0: 3, 1: 1, 2: 1}]}
    path, plain = (search(MixtureSDA(), grid, cv=3).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert path.best_params_ == plain.best_params_


def test_a_small_class_has_all_its_samples_as_centroids():
    S, rows, _ = problem(n=12)
    model = MixtureSDA(5).fit(S, [0] * 9 + [1] * 2 + [2])
    assert [len(centroids) for centroids in model.centroids_] == [5, 2, 1]
    assert np.allclose(model.predict_proba(rows).sum(axis=1), 1)


@pytest.mark.untraced
def test_a_hundred_classes_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 4)
    S = rng.random((400, 400)) + 3 * (y[:, None] == y)
    rows = rng.random((5, 400))
    model = MixtureSDA(2, max_iter=50, tol=1e-3).fit(S, y)
    assert np.allclose(np.exp(model.predict_log_proba(rows)).sum(axis=1), 1)
    joint = model.predict_joint_log_proba(rows)
    assert joint[np.isfinite(joint)].max() < -745  # the logarithm of the least positive number


def test_explanation():
    S, rows, y = problem(n=60, integers=False)
    model = MixtureSDA(2).fit(S, y)
    told = model.explain(rows[0])
    assert told.centroid_classes.tolist() == [0, 0, 1, 1, 2, 2]
    parts = np.log(told.weights) + told.log_pmf(told.similarities)[:, np.arange(6), np.arange(6)]
    by_class = logsumexp(parts.reshape(3, 3, 2), axis=2)
    assert np.allclose(by_class, told.log_likelihoods)
    assert np.allclose(told.log_likelihoods.sum(axis=1) + told.log_priors, told.log_joint)
    mass = np.exp(told.log_pmf(told.omega))
    assert np.allclose(mass @ told.omega, told.means)
    assert "MixtureSDA predicts" in str(told)


def test_parameters_set_after_fit_change_nothing_until_the_next():
    S, rows, y = problem()
    model = MixtureSDA(2).fit(S, y)
    before = model.predict_log_proba(rows)
    model.set_params(n_components=1, omega="continuous", priors=[1.0, 0.0, 0.0])
    assert np.array_equal(model.predict_log_proba(rows), before)
    assert len(model.centroids_[0]) == 2
    again = MixtureSDA(1, "continuous", priors=[1.0, 0.0, 0.0]).fit(S, y)
    assert np.array_equal(model.fit(S, y).predict_log_proba(rows), again.predict_log_proba(rows))


def test_mixtures_that_take_too_long_are_announced():
    S, _, y = problem(n=60, integers=False)
    with pytest.warns(ConvergenceWarning, match="did not converge in 3 steps"):
        model = MixtureSDA(3, max_iter=3).fit(S, y)
    assert model.n_iter_ == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MixtureSDA(1, max_iter=1).fit(S, y).n_iter_ == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1; got 0"),
        ({"n_components": 1.5}, "n_components must be an integer"),
        ({"n_components": [1, 2]}, r"n_components must be one integer, or one for each of the 3 classes; got \[1, 2\]"),
        ({"n_components": [1, 2, 0]}, "n_components must hold integers of at least 1"),
        ({"n_components": [1, 2, 1.5]}, "n_components must hold integers of at least 1"),
        ({"n_components": {0: 1, 1: 2}}, r"n_components must name every class once; missing \[2\]"),
        ({"n_components": "two"}, "n_components must be an integer"),
        ({"n_components": None}, "n_components must be an integer"),
        ({"max_iter": True}, "max_iter must be an integer"),
        ({"n_init": -1}, "n_init must be an integer"),
        ({"tol": 0.0}, "tol must be a finite number above 0"),
        ({"omega": "x"}, "omega must be None, 'continuous' or an array"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    S, rows, y = problem()
    with pytest.raises(ValueError, match=message):
        MixtureSDA(**parameters).fit(S, y)
    with pytest.raises(NotFittedError):
        MixtureSDA().predict(rows)
