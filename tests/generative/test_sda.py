import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from similitude import NearestCentroid
from similitude.datasets import load_voting
from similitude.generative.max_entropy import MaximumEntropy, distinct_similarities
from similitude.generative.sda import SDA
from similitude.similarities import counting, pairwise
from tests.generative.problems import ROW_SIX, S_SIX, Y_SIX, N, close, labels, problem, scales, similarities
from tests.reference import sda as reference


@given(similarities(), labels, scales)
def test_it_equals_the_definition(given_problem, y, scale):
    S, rows = given_problem
    model = SDA().fit(S * scale, y)
    omega = reference.omega_of(S)
    joint = model.predict_joint_log_proba(rows * scale)
    for row, s in zip(joint, rows):
        assert close(row, reference.sda(S, y.tolist(), s, omega))
    posterior = model.predict_proba(rows * scale)
    assert np.allclose(posterior.sum(axis=1), 1.0)
    assert np.allclose(np.exp(model.predict_log_proba(rows * scale)), posterior)
    lost = np.all(joint == -np.inf, axis=1)
    nearest = NearestCentroid().fit(S, y).predict(rows)
    assert np.array_equal(model.predict(rows * scale)[lost], nearest[lost])


def test_the_six_samples():
    """With all six as neighbours local SDA has other centroids; by hand for the global ones."""
    model = SDA().fit(S_SIX, Y_SIX)
    assert model.centroids_.tolist() == [1, 3]  # of the tied totals 12 of class 0, sample 1 has more over all samples
    assert np.allclose(model.means_, [[4, 5 / 3], [4 / 3, 4]])
    family = MaximumEntropy(np.arange(6))
    lam, log_gamma = family.parameters(family.fit(*family.distances(model.means_)))
    assert np.allclose(model.lambdas_, lam)
    expected = np.log(0.5) + (log_gamma + lam * ROW_SIX[0, [1, 3]]).sum(axis=1)
    assert np.allclose(model.predict_joint_log_proba(ROW_SIX), expected)


@pytest.mark.untraced
def test_voting_leave_one_out_error_is_that_of_the_reference_runs(monkeypatch):
    """11.95% on counting (published: 11.72%); Omega here is that of all samples, once, which is faster."""
    voting = load_voting()
    y, S = voting.target, counting(voting.data, voting.data)
    family = MaximumEntropy(distinct_similarities(S))
    monkeypatch.setattr("similitude.generative.sda.family_on", lambda omega, S: family)
    wrong = 0
    for i in range(len(y)):
        others = np.delete(np.arange(len(y)), i)
        model = SDA().fit(S[np.ix_(others, others)], y[others])
        wrong += model.predict(S[i : i + 1, others])[0] != y[i]
    assert wrong / len(y) == pytest.approx(0.1195, abs=5e-5)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
@pytest.mark.parametrize("omega", [None, "continuous", "given"])
def test_posteriors_do_not_depend_on_the_scale(scale, omega):
    S, rows, y = problem(integers=False)
    values = np.linspace(0, 2, 21) if omega == "given" else omega
    scaled = values * scale if omega == "given" else omega
    expected = SDA(values).fit(S, y).predict_log_proba(rows)
    assert close(SDA(scaled).fit(S * scale, y).predict_log_proba(rows * scale), expected)


def test_a_hundred_classes_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), 3)
    S = rng.random((300, 300)) + 3 * (y[:, None] == y)
    model = SDA().fit(S, y)
    rows = rng.random((5, 300)) + 3 * (np.arange(5)[:, None] == y)
    logs = model.predict_log_proba(rows)
    assert np.isfinite(logs).all()
    assert np.allclose(np.exp(logs).sum(axis=1), 1)
    assert model.predict_joint_log_proba(rows).max() < -745  # the logarithm of the least positive number
    assert np.array_equal(model.predict(rows), np.argmax(logs, axis=1))


def test_omega_as_given():
    S, rows, y = problem()
    assert close(
        SDA(np.unique(S)[::-1]).fit(S, y).predict_log_proba(rows), SDA().fit(S, y).predict_log_proba(rows), 1e-12
    )
    wide, narrow = (SDA(omega).fit(S, y).predict_joint_log_proba(rows) for omega in (np.arange(-30, 31) / 10, None))
    assert not np.allclose(wide, narrow)
    with pytest.raises(
        ValueError,
        match=r"omega must cover the .*, which include 0 and 1.4; it ranges from 0 to 1",
    ):
        SDA([0.0, 1.0]).fit(S, y)
    with pytest.raises(ValueError, match="omega must be None, 'continuous' or an array"):
        SDA("discrete").fit(S, y)
    with pytest.raises(ValueError, match="omega must be one or more finite numbers"):
        SDA([0.0, np.inf]).fit(S, y)


def test_priors_and_costs():
    S, rows, y = problem(n=60)
    plain = SDA().fit(S, y)
    priors = np.array([0.7, 0.1, 0.2])
    given_priors = SDA(priors=priors).fit(S, y)
    counts = np.bincount(y)
    difference = given_priors.predict_joint_log_proba(rows) - plain.predict_joint_log_proba(rows)
    assert np.allclose(difference, np.log(priors) - np.log((counts + 1) / (len(y) + 3)))
    costs = np.array([[0.0, 5.0, 1.0], [1.0, 0.0, 9.0], [4.0, 1.0, 0.0]])
    by_cost = SDA(costs=costs).fit(S, y)
    assert np.array_equal(by_cost.predict(rows), np.argmin(plain.predict_proba(rows) @ costs.T, axis=1))
    assert not np.array_equal(by_cost.predict(rows), plain.predict(rows))
    impossible = SDA(priors=[0.0, 0.5, 0.5]).fit(S, y)
    assert not impossible.predict_proba(rows)[:, 0].any()
    assert 0 not in impossible.predict(rows)


def test_a_class_of_prior_zero_is_not_named_by_its_centroid():
    # Both classes are single samples: point masses, and the row is at none of them.
    model = SDA(priors=[0.0, 1.0]).fit([[2.0, 0.0], [0.0, 2.0]], [0, 1])
    assert model.predict_proba([[1.5, 1.0]]).tolist() == [[0.0, 1.0]]
    assert SDA().fit([[2.0, 0.0], [0.0, 2.0]], [0, 1]).predict_proba([[1.5, 1.0]]).tolist() == [[1.0, 0.0]]


def test_only_the_centroids_columns_are_needed():
    S, rows, y = problem()
    model = SDA().fit(S, y)
    assert model.support_columns_.tolist() == sorted(model.centroids_)
    assert np.array_equal(model.predict_log_proba(rows[:, model.support_columns_]), model.predict_log_proba(rows))
    words = ["tree", "trees", "free", "house", "mouse", "horse"]
    asked = []

    def overlap(a, b):
        asked.append(b)
        return len(set(a) & set(b)) - 0.1 * len(set(a) - set(b))

    raw = SDA(similarity=overlap).fit(words, [0, 0, 0, 1, 1, 1])
    asked.clear()
    raw.predict(["three"])
    assert asked == [words[i] for i in raw.support_columns_]


def test_sparse_float32_and_pickle():
    S, rows, y = problem()
    model = SDA().fit(S, y)
    expected = model.predict_log_proba(rows)
    assert close(SDA().fit(sparse.csr_array(S), y).predict_log_proba(sparse.csr_array(rows)), expected, 1e-12)
    assert close(SDA().fit(S.astype(np.float32), y).predict_log_proba(rows.astype(np.float32)), expected, 1e-3)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_log_proba(rows), expected)


def test_explanation():
    S, rows, y = problem()
    model = SDA().fit(S, np.array(["ape", "bat", "cat"])[y])
    told = model.explain(rows[0])
    joint = model.predict_joint_log_proba(rows[:1])[0]
    assert np.allclose(told.log_likelihoods.sum(axis=1) + told.log_priors, joint)
    assert np.array_equal(told.log_joint, joint)
    assert np.array_equal(told.posterior, model.predict_proba(rows[:1])[0])
    assert told.prediction == model.predict(rows[:1])[0]
    assert np.array_equal(told.similarities, rows[0, told.centroids])
    mass = np.exp(told.log_pmf(told.omega))
    assert np.allclose(mass.sum(axis=2), 1)
    assert np.allclose(mass @ told.omega, told.means)
    at_sample = told.log_pmf(told.similarities)[:, np.arange(3), np.arange(3)]
    assert np.allclose(at_sample, told.log_likelihoods)
    text = str(told)
    assert text.startswith(f"SDA predicts '{told.prediction}', by the distributions")
    assert all(f"log P( . | {name})" in text for name in ("ape", "bat", "cat"))
    assert f"{joint[1]:.4f}" in text
    with pytest.raises(ValueError, match="X must hold one sample, as predict takes it; got 15"):
        model.explain(rows)


def test_parameters_set_after_fit_change_nothing_until_the_next():
    S, rows, y = problem()
    model = SDA().fit(S, y)
    before = model.predict_joint_log_proba(rows), model.predict(rows)
    model.set_params(omega="continuous", priors=[1.0, 0.0, 0.0], costs=1 - np.eye(3), similarity="levenshtein")
    assert np.array_equal(model.predict_joint_log_proba(rows), before[0])
    assert np.array_equal(model.predict(rows), before[1])
    assert np.array_equal(model.explain(rows[0]).log_joint, before[0][0])


def test_an_asymmetric_function_is_taken_in_its_direction():
    words = ["tree", "trees", "free", "house", "mouse", "horse"]

    def one_way(a, b):
        return len(set(a) & set(b)) / len(a)

    S = pairwise(words, similarity=one_way)
    new = ["three", "hours"]
    raw = SDA(similarity=one_way).fit(words, [0, 0, 0, 1, 1, 1])
    stored = SDA().fit(S, [0, 0, 0, 1, 1, 1])
    rows = pairwise(new, words, similarity=one_way)
    assert np.array_equal(raw.predict_joint_log_proba(new), stored.predict_joint_log_proba(rows))
    assert not np.allclose(S, S.T)


def test_one_class_and_unfitted():
    assert SDA().fit(np.eye(3), ["a"] * 3).predict(np.eye(3)).tolist() == ["a"] * 3
    for method in ("predict", "predict_joint_log_proba", "explain"):
        with pytest.raises(NotFittedError):
            getattr(SDA(), method)(np.eye(3))


@given(st.permutations(range(N)))
@settings(max_examples=10)
def test_a_failed_fit_leaves_the_model_as_it_was(order):
    S, rows, y = problem(n=N, n_classes=2, seed=2)
    model = SDA().fit(S[np.ix_(order, order)], y[list(order)])
    before = model.predict_log_proba(rows[:, order])
    with pytest.raises(ValueError, match="costs must have shape"):
        model.set_params(costs=np.eye(5)).fit(S, y)
    assert np.array_equal(clone(model).set_params(costs=None).fit(S, y).classes_, model.classes_)
    assert np.array_equal(model.predict_log_proba(rows[:, order]), before)
