import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from similitude import PathSearchCV, Proximities
from similitude.kernel.learned_kernel import LearnedKernelSVC
from tests.kernel.test_learned_spectrum import KINDS, S5, Y5, _case
from tests.paths import path_answers
from tests.reference import learned_kernel as reference


@pytest.mark.parametrize(("eta", "gamma", "objective"), [(0.1, 1.0, 0.606840), (0.01, 0.1, 0.081552)])
def test_vectors(eta, gamma, objective):
    model = LearnedKernelSVC(eta, gamma).fit(S5, Y5)
    assert abs(model.objective_ - objective) < 6e-7
    assert model.duality_gap_ <= 1e-8


@pytest.mark.untraced
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_optimum_is_that_of_the_cone_program(kind):
    S, y = _case(kind, 7, 0)
    for eta, gamma in ((0.01, 0.02), (0.1, 1.0)):
        model = LearnedKernelSVC(eta, gamma).fit(S, y)
        objective, _, _, _ = reference.solve_full(S, y, eta, gamma)
        assert model.objective_ == pytest.approx(objective, rel=2e-6)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_kernel_coefficients_and_class_weights_of_the_cone_program():
    S, y = _case("indefinite", 10, 1)
    weight = np.where(y > 0, 2.0, 0.5)
    model = LearnedKernelSVC(0.05, 0.02, class_weight={1: 2.0, -1: 0.5}).fit(S, y)
    objective, K, z, b = reference.solve_full(S, y, 0.05, 0.02, weight)
    assert model.objective_ == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(model.kernel_, K, atol=1e-4)
    np.testing.assert_allclose(model.kernel_ @ model.dual_coef_ + model.intercept_, z + b, atol=1e-4)


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 12),
    seed=st.integers(0, 10**6),
    log_eta=st.floats(-3, 0),
    log_gamma=st.floats(-2, 2),
)
def test_gap_is_closed_and_honest(kind, n, seed, log_eta, log_gamma):
    S, y = _case(kind, n, seed)
    eta, gamma = 10.0**log_eta, 10.0**log_gamma
    model = LearnedKernelSVC(eta, gamma).fit(S, y)
    assert 0 <= model.duality_gap_ <= 1e-6
    K, c = model.kernel_, model.dual_coef_
    assert np.min(np.linalg.eigvalsh(K)) >= -1e-12 * np.max(np.abs(K))
    loss = np.mean(np.maximum(0, 1 - y * (K @ c + model.intercept_)))
    value = loss + eta * c @ K @ c + gamma * np.linalg.norm(K - S)
    assert value == pytest.approx(model.objective_, rel=1e-9)


def test_large_gamma_is_the_machine_on_the_clipped_kernel():
    S, y = _case("indefinite", 16, 2)
    eta = 0.01
    model = LearnedKernelSVC(eta, 1e5).fit(S, y)
    values, U = reference.spectrum(S)
    K = (U * np.maximum(values, 0)) @ U.T
    machine = SVC(C=1 / (2 * eta * 16), kernel="precomputed", tol=1e-10).fit(K, y)
    np.testing.assert_allclose(model.kernel_, K, atol=1e-4)
    values = model.kernel_ @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(values, machine.decision_function(K), atol=1e-3)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scale(scale):
    S, y = _case("indefinite", 10, 1)
    here = LearnedKernelSVC(0.01, 0.02).fit(S, y)
    there = LearnedKernelSVC(0.01 * scale, 0.02 / scale).fit(scale * S, y)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-7)
    np.testing.assert_allclose(there.kernel_ / scale, here.kernel_, atol=1e-6)
    np.testing.assert_allclose(there.decision_function(scale * S), here.decision_function(S), atol=1e-5)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_rows_are_those_of_equation_8():
    S, y = _case("indefinite", 8, 4)
    model = LearnedKernelSVC(0.05, 0.1).fit(S, y)
    rng = np.random.default_rng(0)
    rows, own = rng.normal(size=(4, 8)), np.array([0.1, 1.0, 3.0, 30.0])
    values = model.decision_function(Proximities(rows, self_similarity=own))
    for value, s, psi in zip(values, rows, own):
        k = reference.full_row(model.kernel_, s, psi)
        assert value == pytest.approx(model.dual_coef_ @ k + model.intercept_, abs=1e-4)


def test_path_and_several_classes():
    S, _ = _case("indefinite", 18, 0)
    y = np.arange(18) % 3
    search = PathSearchCV(LearnedKernelSVC(), {"eta": [0.01, 0.1], "gamma": [0.1, 1.0]}, cv=2).fit(S, y)
    model = search.best_estimator_
    assert len(model.kernel_) == len(model.dual_coef_) == len(model.intercept_) == 3
    grid = [{"eta": 0.01, "gamma": 0.1}, {"eta": 0.1, "gamma": 1.0}]
    path = path_answers(LearnedKernelSVC(), S, y, S, grid, "decision_function")
    for parameters, values in zip(grid, path):
        alone = LearnedKernelSVC(**parameters).fit(S, y)
        np.testing.assert_allclose(values, alone.decision_function(S), atol=1e-6)


def test_degenerate_input():
    model = LearnedKernelSVC().fit(np.zeros((4, 4)), [1, 1, 1, -1])
    assert model.duality_gap_ <= 1e-6
    assert model.predict(np.zeros((2, 4))).tolist() == [1, 1]


def test_too_many_samples():
    S, y = _case("indefinite", 20, 0)
    with pytest.raises(ValueError, match=r"max_samples=19.*LearnedSpectrumSVC"):
        LearnedKernelSVC(max_samples=19).fit(S, y)


@pytest.mark.parametrize("parameters", [{"eta": 0}, {"gamma": np.nan}, {"max_samples": 1}, {"max_samples": 2.5}])
def test_wrong_parameters(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        LearnedKernelSVC(**parameters).fit(S5, Y5)
