import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from similitude import PathSearchCV, SimilaritySVC
from similitude.datasets import make_negative_direction
from similitude.kernel import _spectrum_interior as interior
from similitude.kernel import spectrum_solver as solver
from similitude.kernel.learned_spectrum import COSTS, LearnedSpectrumSVC, choose_target
from tests.reference import learned_kernel as reference

S5 = np.array(
    [
        [1.0, 0.8, 0.3, 0.1, 0.2],
        [0.8, 1.0, 0.4, 0.2, 0.9],
        [0.3, 0.4, 1.0, 0.7, 0.6],
        [0.1, 0.2, 0.7, 1.0, 0.5],
        [0.2, 0.9, 0.6, 0.5, 1.0],
    ]
)
Y5 = np.array([1, 1, -1, -1, -1])
KINDS = ["indefinite", "psd", "negative", "random", "duplicates", "constant", "low rank", "identity", "steep"]
GRID = [(10.0**i, 10.0**j) for i in range(-4, 1) for j in range(-3, 4)]


def _matrix(kind, n, rng):
    X, A = rng.normal(size=(n, 3)), rng.normal(size=(n, n))
    D = np.abs(X[:, None] - X[None]).sum(-1) ** 1.5
    if kind == "indefinite":
        return 1 - D / D.max()
    if kind in ("psd", "negative"):
        return (1.0 if kind == "psd" else -1.0) * np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    if kind == "random":
        return (A + A.T) / 2
    if kind == "duplicates":
        i = rng.integers(0, max(1, n // 3), n)
        return (1 - D / D.max())[np.ix_(i, i)]
    if kind == "constant":
        return np.full((n, n), 0.7)
    if kind == "low rank":
        return (X * [1, -0.3, 0.5]) @ X.T
    if kind == "identity":
        return np.eye(n)
    signs = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
    Q = np.linalg.qr(A)[0]
    return (Q * (signs * 10.0 ** -np.linspace(0, 8, n))) @ Q.T


def _labels(n, rng):
    y = rng.choice([-1.0, 1.0], n)
    y[0], y[-1] = 1.0, -1.0
    return y


def _case(kind, n, seed):
    rng = np.random.default_rng(seed)
    S = _matrix(kind, n, rng)
    return (S + S.T) / 2, _labels(n, rng)


def _solve(S, y, eta, gamma, target, weight=None):
    return solver.learned_spectra([S], y, np.ones(len(y)) if weight is None else weight, [(eta, gamma)], target)[0]


def _penalty(a, values, target):
    clip, flip = (values > 0).astype(float), np.sign(values)
    norms = {
        "clip": [a - clip],
        "flip": [a - flip],
        "both": [a - clip, a - flip],
        "similarity": [values * (a - 1)],
    }
    return sum(np.linalg.norm(d) for d in norms[target])


def _objective(S, y, answer, eta, gamma, target):
    """(10) at what was returned, from the similarities themselves."""
    values, U = reference.spectrum(S)
    f = S @ answer.coefficients
    z, beta = U.T @ f, np.maximum(values * answer.spectrum_weights, 0.0)
    size = np.sum(np.divide(z**2, beta, out=np.zeros_like(z), where=beta > 0))
    np.testing.assert_allclose(z[beta == 0], 0.0, atol=1e-9)
    loss = np.mean(np.maximum(0, 1 - y * (f + answer.b)))
    return loss + eta * size + gamma * _penalty(answer.spectrum_weights, values, target)


@pytest.mark.parametrize(
    ("target", "objectives"),
    [("clip", (0.094413, 0.473900)), ("flip", (0.063808, 0.465420)), ("both", (0.163808, 1.461900))],
)
def test_vectors(target, objectives):
    for (eta, gamma), objective in zip(((0.01, 0.1), (0.1, 1.0)), objectives):
        model = LearnedSpectrumSVC(eta, gamma, target).fit(S5, Y5)
        assert abs(model.objective_ - objective) < 6e-7
        assert model.duality_gap_ <= 1e-8
        np.testing.assert_allclose(model.eigenvalues_[[0, -1]], [-0.14108264, 2.93660432], atol=1e-8)


@pytest.mark.untraced
@pytest.mark.parametrize("target", solver.TARGETS)
@pytest.mark.parametrize("kind", KINDS)
def test_optimum_is_that_of_the_cone_program(kind, target):
    for seed, (eta, gamma) in enumerate([(0.01, 0.01), (0.1, 1.0)]):
        S, y = _case(kind, 9, seed)
        answer = _solve(S, y, eta, gamma, target)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where the last digits are out of Clarabel's reach
            objective, _, _, _ = reference.solve_spectrum(S, y, eta, gamma, target)
        assert answer.objective == pytest.approx(objective, rel=1e-6)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("target", solver.TARGETS)
def test_weights_and_decision_of_the_cone_program(target):
    S, y = _case("indefinite", 12, 3)
    weight = np.where(y > 0, 2.0, 0.5)
    weight[3] = 0.0
    answer = _solve(S, y, 0.02, 0.01, target, weight)
    objective, a, w, b = reference.solve_spectrum(S, y, 0.02, 0.01, target, weight)
    assert answer.objective == pytest.approx(objective, rel=1e-7)
    np.testing.assert_allclose(answer.spectrum_weights, a, atol=2e-3)
    np.testing.assert_allclose(S @ answer.coefficients + answer.b, S @ w + b, atol=2e-3)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(2, 30),
    seed=st.integers(0, 10**6),
    target=st.sampled_from(solver.TARGETS),
    log_eta=st.floats(-4, 1),
    log_gamma=st.floats(-3, 3),
)
def test_gap_is_closed_and_honest(kind, n, seed, target, log_eta, log_gamma):
    S, y = _case(kind, n, seed)
    eta, gamma = 10.0**log_eta, 10.0**log_gamma
    answer = _solve(S, y, eta, gamma, target)
    assert 0 <= answer.gap <= solver.ACCEPTED
    values, U = reference.spectrum(S)
    assert np.all(values * answer.spectrum_weights >= 0)
    assert _objective(S, y, answer, eta, gamma, target) == pytest.approx(answer.objective, rel=1e-6)
    # No machine on another spectrum does better.
    rng = np.random.default_rng(seed)
    for a in (
        np.sign(values),
        (values > 0) * 1.0,
        answer.spectrum_weights + np.sign(values) * rng.exponential(0.1, len(values)),
    ):
        K = (U * (a * values)) @ U.T
        C = 0.5 / (eta * n)
        machine = SVC(C=C, kernel="precomputed", tol=1e-6).fit(K, y)
        v = np.zeros(n)
        v[machine.support_] = machine.dual_coef_[0]
        other = 2 * eta * (np.sum(np.abs(v)) - v @ K @ v / 2) + gamma * _penalty(a, values, target)
        assert answer.objective <= other * (1 + 1e-5)


@pytest.mark.parametrize(("target", "sign"), [("clip", lambda v: v > 0), ("flip", np.sign), ("both", np.sign)])
def test_large_gamma_is_the_machine_on_the_target(target, sign):
    S, y = _case("indefinite", 60, 0)
    eta = 0.005
    model = LearnedSpectrumSVC(eta, 1e4, target).fit(S, y)
    values, U = reference.spectrum(S)
    assert np.array_equal(model.spectrum_weights_, sign(values))
    assert model.n_iter_ == 0
    K = (U * (sign(values) * values)) @ U.T
    machine = SVC(C=1 / (2 * eta * 60), kernel="precomputed", tol=1e-10).fit(K, y)
    np.testing.assert_allclose(model.decision_function(S), machine.decision_function(K), atol=1e-6)


@pytest.mark.filterwarnings("ignore:S has")
@pytest.mark.parametrize("target", ["clip", "flip"])
def test_large_gamma_is_the_svm_on_the_modified_similarity(target):
    S, y = _case("indefinite", 90, 1)
    train, test = np.arange(60), np.arange(60, 90)
    block, new = S[np.ix_(train, train)], S[np.ix_(test, train)]
    for eta in (0.1, 0.005, 0.0005):
        model = LearnedSpectrumSVC(eta, 1e4, target).fit(block, y[train])
        known = {"clip": 1.0 * (model.eigenvalues_ > 0), "flip": np.sign(model.eigenvalues_)}[target]
        assert np.array_equal(model.spectrum_weights_, known)
        assert (model.eigenvalues_ < 0).sum() > 5
        machine = SimilaritySVC(C=1 / (2 * eta * 60), spectrum=target).fit(block, y[train])
        # libsvm stops where the optimality conditions hold to 1e-3.
        for rows in (block, new):
            np.testing.assert_allclose(model.decision_function(rows), machine.decision_function(rows), atol=5e-3)


def test_large_gamma_with_the_similarity_as_target_is_clip():
    S, y = _case("indefinite", 40, 0)
    near = LearnedSpectrumSVC(0.01, 1e4, "similarity").fit(S, y)
    clip = LearnedSpectrumSVC(0.01, 1e4, "clip").fit(S, y)
    np.testing.assert_allclose(near.spectrum_weights_, clip.spectrum_weights_, atol=1e-3)
    np.testing.assert_allclose(near.decision_function(S), clip.decision_function(S), atol=1e-3)


@pytest.mark.parametrize("target", solver.TARGETS)
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scale(scale, target):
    """a and the decisions stay, with eta * scale and, where h is in units of S, gamma / scale."""
    S, y = _case("indefinite", 20, 1)
    gamma = 0.01 / scale if target == "similarity" else 0.01
    here = _solve(S, y, 0.01, 0.01, target)
    there = _solve(scale * S, y, 0.01 * scale, gamma, target)
    assert there.objective == pytest.approx(here.objective, rel=1e-7)
    np.testing.assert_allclose(there.spectrum_weights, here.spectrum_weights, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(scale * there.coefficients, here.coefficients, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("target", solver.TARGETS)
@pytest.mark.parametrize("kind", ["indefinite", "random"])
def test_path_equals_separate_fits(target, kind):
    """The answers agree to the last digit: where the machines' warm starts begin does not depend on the grid."""
    S, y = _case(kind, 30, 2)
    order = np.random.default_rng(0).permutation(len(GRID))
    grid = [GRID[i] for i in order] + [GRID[0], (0.003, 0.003)]
    together = solver.learned_spectra([S], y, np.ones(30), grid, target)
    assert max(answer.gap for answer in together) <= 1e-8
    for i in [*range(0, len(grid), 4), len(grid) - 1, len(grid) - 2]:
        alone = _solve(S, y, *grid[i], target)
        assert (alone.objective, alone.b, alone.n_iter) == (together[i].objective, together[i].b, together[i].n_iter)
        assert np.array_equal(alone.spectrum_weights, together[i].spectrum_weights)
        assert np.array_equal(alone.coefficients, together[i].coefficients)


@pytest.mark.parametrize(
    "case",
    [
        ("duplicates", 25, 100361, 0.00012698330451089957, 0.0014045992472169258, "both"),
        ("steep", 5, 269041, 0.031402799573423526, 0.01075154575281586, "clip"),
    ],
)
def test_steps_do_not_end_short_of_the_optimum(case):
    """Steps that go nearly to the boundary at once, or that are not brought back to the path, fail on one of these."""
    kind, n, seed, *point = case
    assert _solve(*_case(kind, n, seed), *point).gap <= 1e-8


@pytest.mark.parametrize("target", ["clip", "flip", "both"])
def test_machine_on_the_target_need_not_be_found(target, monkeypatch):
    S, y = _case("indefinite", 25, 4)
    grid = GRID[::3]
    known = solver.learned_spectra([S], y, np.ones(25), grid, target)
    monkeypatch.setattr(solver, "target_machines", lambda *_: {})
    alone = solver.learned_spectra([S], y, np.ones(25), grid, target)
    assert any(answer.n_iter == 0 for answer in known)
    assert all(answer.n_iter > 0 for answer in alone)
    for one, other in zip(known, alone):
        assert max(one.gap, other.gap) <= 1e-8
        assert one.objective == pytest.approx(other.objective, rel=2e-8)


def test_search_by_path_equals_search_by_fits():
    S, y = _case("indefinite", 40, 5)
    grid = {"eta": [1e-3, 1e-1], "gamma": [1e-2, 1.0], "target": ["auto", "flip", "similarity"]}
    cv = StratifiedKFold(3)
    path = PathSearchCV(LearnedSpectrumSVC(), grid, cv=cv).fit(S, y)
    plain = GridSearchCV(LearnedSpectrumSVC(), grid, cv=cv).fit(S, y)
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_auto_takes_flip_where_the_direction_that_matters_is_negative():
    data = make_negative_direction(n_samples=120, n_classes=2, separation=3.0, random_state=0)
    model = LearnedSpectrumSVC().fit(data.S, data.y)
    assert model.target_ == "flip"
    assert model.score(data.S, data.y) > 0.9


def test_auto_takes_clip_where_the_negative_part_is_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, 1.0, -1.0)
    N = rng.normal(size=(80, 40))
    assert choose_target([X @ X.T - 0.5 * N @ N.T], y, np.ones(80)) == "clip"


def test_auto_takes_both_where_nothing_tells_them_apart():
    S, y = _case("psd", 30, 0)
    assert choose_target([S], y, np.ones(30)) == "both"
    alone = np.ones(30)
    alone[3] = -1
    assert choose_target([_matrix("indefinite", 30, np.random.default_rng(0))], alone, np.ones(30)) == "both"
    assert choose_target([np.zeros((30, 30))], y, np.ones(30)) == "both"


@pytest.mark.parametrize("seed", range(2))
def test_auto_counts_the_errors_of_libsvm(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0)
    Z, weight = rng.normal(size=(30, 3)), rng.uniform(0.5, 2.0, size=30)
    S = 7.0 * (X @ X.T - 0.5 * Z @ Z.T)
    errors = np.zeros((2, len(COSTS)))
    for train, test in StratifiedKFold(10).split(S, y):
        values, vectors = np.linalg.eigh(S[np.ix_(train, train)] / np.abs(S).max())
        values[np.abs(values) < 1e-10 * np.abs(values).max()] = 0.0
        for which, a in enumerate([values > 0, np.sign(values)]):
            P = (vectors * a) @ vectors.T
            K = (vectors * (a * values)) @ vectors.T
            for c, C in enumerate(COSTS):
                peer = SVC(kernel="precomputed", C=C, tol=1e-9).fit(K, y[train], sample_weight=weight[train])
                errors[which, c] += np.sum(peer.predict(S[np.ix_(test, train)] / np.abs(S).max() @ P) != y[test])
    clip, flip = errors.min(axis=1)
    assert choose_target([S], y, weight) == ("clip" if clip < flip else "flip" if flip < clip else "both")


@pytest.mark.parametrize("target", solver.TARGETS)
def test_two_samples(target):
    for S in ([[1, 0.5], [0.5, 1]], [[0, 1], [1, 0]], [[-1, 0], [0, -2]], [[1, 1], [1, 1]]):
        S = np.array(S, dtype=float)
        answer = _solve(S, np.array([1.0, -1.0]), 0.01, 0.01, target)
        assert answer.gap <= 1e-7
        if np.linalg.matrix_rank(S) == 2:
            values = S @ answer.coefficients + answer.b
            assert values[0] > 0 > values[1]


@pytest.mark.parametrize("target", solver.TARGETS)
def test_zero_matrix_decides_by_the_larger_class(target):
    y = np.array([1, 1, 1, -1])
    model = LearnedSpectrumSVC(target=target).fit(np.zeros((4, 4)), y)
    assert model.objective_ == pytest.approx(0.5)
    assert model.predict(np.zeros((2, 4))).tolist() == [1, 1]


def test_several_classes():
    S, y = _case("indefinite", 45, 0)
    y = np.arange(45) % 3
    model = LearnedSpectrumSVC(target="flip").fit(S, y)
    assert model.target_ == ["flip"] * 3
    assert [len(a) for a in model.spectrum_weights_] == [len(v) for v in model.eigenvalues_] == [30, 30, 30]
    assert model.objective_.shape == model.duality_gap_.shape == (3,)
    assert model.predict(S).shape == (45,)


def test_unfinished_problems_are_reported(monkeypatch):
    S, y = _case("indefinite", 30, 0)
    monkeypatch.setattr(interior, "_MAX_ITER", 2)
    with pytest.warns(ConvergenceWarning, match="not solved"):
        model = LearnedSpectrumSVC(1e-3, 1e-3, "clip").fit(S, y)
    assert model.duality_gap_ > 1e-6
    monkeypatch.undo()
    best = LearnedSpectrumSVC(1e-3, 1e-3, "clip").fit(S, y).objective_
    assert model.objective_ * (1 - model.duality_gap_) <= best <= model.objective_


@pytest.mark.parametrize("target", solver.TARGETS)
def test_ends_of_the_range(target):
    """Numbers that leave the range of floating point on the way leave a gap, not an error."""
    points = [(10.0**i, 10.0**j) for i in (-30, -14, 20) for j in (-40, 30)] + [(0.01, 0.001)]
    for kind, n in (("steep", 3), ("low rank", 8), ("negative", 5)):
        S, y = _case(kind, n, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            answers = solver.learned_spectra([S], y, np.ones(n), points, target)
        assert answers[-1].gap <= solver.ACCEPTED
        for answer in answers:
            assert np.isfinite([*answer.spectrum_weights, *answer.coefficients, answer.b, answer.objective]).all()


@pytest.mark.parametrize(
    "parameters", [{"eta": 0}, {"eta": np.inf}, {"gamma": -1.0}, {"gamma": "1"}, {"target": "shift"}, {"target": None}]
)
def test_wrong_parameters(parameters):
    name = next(iter(parameters))
    with pytest.raises(ValueError, match=name):
        LearnedSpectrumSVC(**parameters).fit(S5, Y5)
