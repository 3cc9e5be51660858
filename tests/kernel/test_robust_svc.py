import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from similitude import PathSearchCV, Proximities, _native
from similitude.kernel import _robust_solver as solver
from similitude.kernel.base import nearest_rows
from similitude.kernel.robust_svc import RobustSVC
from tests.reference import robust_svm as reference

S5 = np.array(
    [[1, 0.8, 0.3, 0.1, 0.2], [0.8, 1, 0.4, 0.2, 0.9], [0.3, 0.4, 1, 0.7, 0.6], [0.1, 0.2, 0.7, 1, 0.5]]
    + [[0.2, 0.9, 0.6, 0.5, 1]]
)
Y5 = np.array([1.0, 1.0, -1.0, -1.0, -1.0])
KINDS = ["indefinite", "semidefinite", "negative", "duplicates", "constant", "zero", "identity", "ties", "distances"]
GRID = [(10.0**a, 10.0**b) for b in range(-3, 4) for a in range(-3, 4)]


def _matrix(kind, n, rng):
    X = rng.normal(size=(n, 3))
    if kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 2), n)]
    if kind in ("duplicates", "distances"):
        return 2 - np.abs(X[:, None] - X[None]).sum(-1)
    if kind == "indefinite":
        A = rng.normal(size=(n, n))
        return (A + A.T) / 2
    if kind == "ties":
        A = rng.integers(-1, 2, (n, n)).astype(float)
        return A + A.T
    if kind == "semidefinite":
        return X @ X.T
    if kind == "negative":
        return -X @ X.T - np.eye(n)
    return {"constant": np.full((n, n), 2.5), "zero": np.zeros((n, n)), "identity": np.eye(n)}[kind]


def _labels(n, rng):
    y = rng.choice([-1.0, 1.0], n)
    y[0], y[-1] = 1.0, -1.0
    return y


def _solved(S, y, C, rho, weight=None):
    return solver.solve_path(S, y, np.ones(len(y)) if weight is None else weight, [(C, rho)])[0]


def _kernel(solution):
    return (solution.eigenvectors * solution.eigenvalues) @ solution.eigenvectors.T


@pytest.mark.parametrize(
    ("C", "rho", "objective", "alpha"),
    [
        (1.0, 1.0, 1.959490, [0.488030, 1, 0.408096, 0.169464, 0.910469]),
        (10.0, 0.1, 1.169631, [0.353628, 0.526616, 0.273372, 0.205457, 0.401415]),
    ],
)
def test_worked_example(C, rho, objective, alpha):
    solution = _solved(S5, Y5, C, rho)
    assert solution.converged
    assert abs(solution.objective - objective) < 1e-6
    assert np.allclose(Y5 * solution.v, alpha, rtol=0, atol=1e-6)
    assert np.allclose(_kernel(solution), reference.learned_kernel(S5, solution.v, rho), atol=1e-12)
    assert np.isclose(solution.objective, reference.dual(S5, Y5, Y5 * solution.v, rho), rtol=1e-13)


def test_worked_example_of_new_rows():
    solution = _solved(S5, Y5, 1.0, 1.0)
    rows = np.tile([0.5, 0.6, 0.2, 0.1, 0.4], (2, 1))
    k, r = nearest_rows(solution.eigenvalues, solution.eigenvectors, rows, np.array([1.0, 0.2]))
    expected = [rows[0], [0.458814, 0.597607, 0.209816, 0.104213, 0.366396]]
    assert np.allclose(k @ solution.eigenvectors.T, expected, rtol=0, atol=1e-6)
    assert np.allclose(r, [1.0, 0.300350], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["distinct", "equal", "zero", "sparse", "uneven", "close"])
def test_rank_one_change_of_a_spectrum(kind):
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(1, 12))
        d, z = np.sort(rng.normal(size=n)), rng.normal(size=n) * 10.0 ** rng.integers(-6, 3)
        if kind == "equal":
            d = np.sort(rng.integers(-2, 3, n).astype(float))
        elif kind == "zero":
            d = np.zeros(n)
        elif kind == "sparse":
            z[rng.random(n) < 0.5] = 0
        elif kind == "uneven":
            z *= 10.0 ** rng.integers(-12, 1, n)
        elif kind == "close":
            d = np.sort(np.concatenate([d[: (n + 1) // 2], d[: n // 2] * (1 + 1e-15)]))
        shifts, vectors = np.empty(n), np.empty((n, n))
        _native.rank_one(d, z, shifts, vectors)
        A = np.diag(d) + np.outer(z, z)
        assert np.allclose(vectors @ vectors.T, np.eye(n), atol=1e-13)
        assert np.allclose(vectors.T * (d + shifts) @ vectors, A, rtol=0, atol=1e-13 * np.max(np.abs(A)))
        # To relative accuracy, however small z is beside d.
        assert np.isclose(np.sum(shifts), z @ z, rtol=1e-13, atol=0)
        assert np.all(shifts >= -1e-15 * (z @ z))


@pytest.mark.parametrize("rho", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind, rho):
    rng = np.random.default_rng(1)
    n = 6
    S, y = _matrix(kind, n, rng), _labels(n, rng)
    values, basis = np.linalg.eigh(S)
    v, direction = rng.normal(size=n), rng.normal(size=n)
    clipped = rho * np.sum(np.minimum(values, 0) ** 2)
    point = solver.evaluate(values, basis, y, v, rho)
    H = solver.hessian(point, basis, rho)
    assert np.isclose(-point.loss + clipped, reference.dual(S, y, y * v, rho), rtol=1e-12, atol=1e-12)
    assert np.allclose(point.image, reference.learned_kernel(S, v, rho) @ v, atol=1e-12)
    h = 1e-5
    ahead, behind = (solver.evaluate(values, basis, y, v + t * direction, rho) for t in (h, -h))
    slope = (point.image - y) @ direction
    assert np.isclose((ahead.loss - behind.loss) / (2 * h), slope, rtol=1e-6, atol=1e-6)
    assert np.allclose((ahead.image - behind.image) / (2 * h), H @ direction, rtol=1e-5, atol=1e-5)
    assert np.allclose(H, H.T)
    assert np.linalg.eigvalsh(H)[0] >= -1e-12 * np.max(np.abs(H))


@pytest.mark.untraced
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 9])
def test_optimum_is_that_of_the_semidefinite_program(kind, n):
    rng = np.random.default_rng(n)
    S, y = _matrix(kind, n, rng), _labels(n, rng)
    weight = np.where(y > 0, 2.5, 1.0)
    for C, rho in ((1.0, 1.0), (10.0, 0.1), (0.1, 10.0)):
        value = reference.semidefinite(S, y, C * weight, rho)
        solution = _solved(S, y, C, rho, weight)
        assert solution.converged
        assert np.isclose(solution.objective, value, rtol=1e-5, atol=1e-7)
        # The same in other units: nothing is absolute.
        for t in (1e-8, 1e8):
            scaled = _solved(t * S, y, C / t, rho / t**3, weight)
            assert scaled.converged
            assert np.isclose(t * scaled.objective, solution.objective, rtol=1e-9)


@settings(max_examples=60)
@given(st.data())
def test_solutions_are_certified(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, kind = data.draw(st.integers(2, 25)), data.draw(st.sampled_from(KINDS))
    C, rho = 10.0 ** data.draw(st.floats(-4, 4)), 10.0 ** data.draw(st.floats(-4, 4))
    S, y = _matrix(kind, n, rng), _labels(n, rng)
    bounds = C * rng.choice([0.5, 1.0, 2.0], n)
    solution = _solved(S, y, C, rho, bounds / C)
    alpha = y * solution.v
    assert solution.converged
    assert 0 <= solution.gap <= solver.TOLERANCE
    assert np.all((alpha >= 0) & (alpha <= bounds * (1 + 1e-15)))
    assert abs(np.sum(solution.v)) <= 1e-12 * np.sum(alpha)
    # The conditions of Karush, Kuhn and Tucker, up to rounding errors of K v.
    slack = 1 - y * (_kernel(solution) @ solution.v + solution.intercept)
    noise = 1e-7 * (1 + np.max(np.abs(_kernel(solution)) @ np.abs(solution.v)))
    assert np.all(slack[alpha <= 0] <= noise)
    assert np.all(slack[alpha >= bounds] >= -noise)
    free = (alpha > 1e-6 * np.max(alpha)) & (alpha < (1 - 1e-6) * bounds)
    assert np.all(np.abs(slack[free]) <= noise)
    # No other feasible point is better.
    other = np.minimum(alpha * rng.uniform(0.5, 1.5, n), bounds)
    positive, negative = np.sum(other[y > 0]), np.sum(other[y < 0])
    other *= np.where(y > 0, min(negative / positive, 1), min(positive / negative, 1))
    best = solution.objective
    assert reference.dual(S, y, other, rho) <= best + 1e-9 * (abs(best) + rho * np.sum(S**2))


def test_gap_bounds_the_distance_to_the_optimum():
    rng = np.random.default_rng(3)
    for kind in KINDS:
        S, y = _matrix(kind, 8, rng), _labels(8, rng)
        bounds = np.full(8, 3.0)
        values, basis = np.linalg.eigh(S)
        best = _solved(S, y, 3.0, 0.5).objective - 0.5 * np.sum(np.minimum(values, 0) ** 2)
        for t in (0.0, 0.3, 1.0):
            v = t * np.where(y > 0, 1 / np.sum(y > 0), -1 / np.sum(y < 0))
            point = solver.evaluate(values, basis, y, v, 0.5)
            assert solver.duality_gap(point, y, bounds)[0] >= best + point.loss - 1e-9
            if t:
                assert solver.certified_gap(point, y, bounds)[0] * -point.loss >= best + point.loss - 1e-9


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_large_rho_gives_the_svm_on_the_clipped_similarities(C):
    rng = np.random.default_rng(5)
    S, y = _matrix("indefinite", 30, rng), _labels(30, rng)
    K = reference.positive_part(S)
    solution = _solved(S, y, C, 1e9)
    machine = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
    k, _ = nearest_rows(solution.eigenvalues, solution.eigenvectors, K, np.diag(K))
    decisions = k @ solution.eigenvectors.T @ solution.v + solution.intercept
    assert np.allclose(_kernel(solution), K, atol=1e-6)
    assert np.allclose(decisions, machine.decision_function(K), atol=1e-4)


def test_optimum_grows_with_both_parameters():
    rng = np.random.default_rng(6)
    S, y = _matrix("indefinite", 20, rng), _labels(20, rng)
    values = [s.objective for s in solver.solve_path(S, y, np.ones(20), GRID)]
    table = np.reshape(values, (7, 7))
    assert np.all(np.diff(table, axis=0) >= -1e-9 * table[1:])
    assert np.all(np.diff(table, axis=1) >= -1e-9 * table[:, 1:])


@pytest.mark.parametrize("kind", KINDS)
def test_path_gives_what_single_fits_give(kind):
    rng = np.random.default_rng(7)
    S, y = _matrix(kind, 15, rng), _labels(15, rng)
    weight = np.where(y > 0, 1.5, 1.0)
    order = rng.permutation(len(GRID))[::2]
    path = solver.solve_path(S, y, weight, [GRID[i] for i in order])
    for i, warm in zip(order, path):
        cold = _solved(S, y, *GRID[i], weight)
        size = np.max(np.abs(cold.v))
        assert warm.converged
        assert cold.converged
        assert np.isclose(warm.objective, cold.objective, rtol=1e-10)
        decisions = [_kernel(s) @ s.v + s.intercept for s in (warm, cold)]
        assert np.allclose(*decisions, rtol=1e-6, atol=1e-6 * (1 + size * np.max(np.abs(_kernel(cold)))))


@pytest.mark.parametrize("scale", [1e-60, 1e-30, 1e30, 1e60])
def test_sizes_far_from_one(scale):
    rng = np.random.default_rng(8)
    S, y = _matrix("indefinite", 8, rng), _labels(8, rng)
    for C, rho in ((1.0, 1.0), (1e12, 1e12), (1e-12, 1e-12), (1e12, 1e-12)):
        solution = _solved(scale * S, y, C, rho)
        assert solution.converged
        assert np.isfinite(solution.v).all()
        assert np.isfinite(solution.objective)


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_new_rows_are_those_of_the_semidefinite_program():
    rng = np.random.default_rng(9)
    for kind in ("indefinite", "semidefinite", "distances", "ties"):
        S, y = _matrix(kind, 6, rng), _labels(6, rng)
        solution = _solved(S, y, 2.0, 0.5)
        rows, own = rng.normal(size=(3, 6)), np.array([2.0, 0.1, -0.5])
        k, r = nearest_rows(solution.eigenvalues, solution.eigenvectors, rows, own)
        for i in range(3):
            theirs, their_r = reference.nearest_row(_kernel(solution), rows[i], own[i])
            assert np.allclose(k[i] @ solution.eigenvectors.T, theirs, atol=1e-4)
            assert np.isclose(r[i], their_r, atol=1e-4)


@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.floats(-6, 6), st.floats(-3, 3))
def test_new_rows_keep_the_kernel_semidefinite(seed, kind, exponent, own):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    S, y = _matrix(kind, n, rng), _labels(n, rng)
    solution = _solved(S, y, 1.0, 1.0)
    lam, U = solution.eigenvalues, solution.eigenvectors
    rows = rng.normal(size=(4, n)) * 10.0**exponent
    k, r = nearest_rows(lam, U, rows, np.full(4, own))
    needed = np.sum(k**2 / lam, axis=1)
    assert np.all(needed <= r + 1e-12 * (np.abs(r) + np.abs(own)))
    assert np.all(r >= -1e-12)
    assert np.all(r >= own)
    # What is feasible stays; what was moved is at the border.
    again, _ = nearest_rows(lam, U, k @ U.T, r * (1 + 1e-12) + 1e-300)
    assert np.allclose(again, k, rtol=1e-9, atol=1e-12 * (1 + np.max(np.abs(k), initial=0)))
    moved = r > own
    assert np.allclose(needed[moved], r[moved], rtol=1e-9, atol=1e-12 * (1 + abs(own)))


def _three_classes(n=45):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(n, 4))
    y = np.arange(n) % 3
    X[:, 0] += 2.5 * y
    D = np.abs(X[:, None] - X[None]).sum(-1) ** 1.5
    return 1 - D / D.max(), np.array(["a", "b", "c"])[y]


def test_estimator_decides_as_its_parts():
    rng = np.random.default_rng(11)
    S, y = _matrix("distances", 20, rng), _labels(20, rng)
    train, test = np.arange(14), np.arange(14, 20)
    y[:2] = 1, -1
    model = RobustSVC(C=2.0, rho=0.5).fit(S[:14, :14], y[train])
    solution = _solved(S[:14, :14], y[train], 2.0, 0.5)
    rows, own = S[np.ix_(test, train)], np.array([0.1, 0.5, 1, 2, 3, 4])
    for given_rows, used in ((rows, np.full(6, 2.0)), (Proximities(rows, self_similarity=own), own)):
        k, _ = nearest_rows(solution.eigenvalues, solution.eigenvectors, rows, used)
        expected = k @ solution.eigenvectors.T @ solution.v + solution.intercept
        assert np.allclose(model.decision_function(given_rows), expected)
    assert np.array_equal(model.dual_coef_, solution.v)
    assert model.intercept_ == solution.intercept
    assert model.objective_ == solution.objective
    assert model.duality_gap_ <= solver.TOLERANCE
    assert model.support_columns_.tolist() == train.tolist()
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.decision_function(rows), model.decision_function(rows))


def test_more_classes_and_class_weights():
    S, y = _three_classes()
    model = RobustSVC(C=10.0).fit(S, y)
    assert model.score(S, y) > 0.8
    assert len(model.dual_coef_) == 3
    assert model.objective_.shape == (3,)
    heavy = RobustSVC(C=0.01, class_weight={"a": 1, "b": 100, "c": 1}).fit(S, y)
    light = RobustSVC(C=0.01).fit(S, y)
    assert np.sum(heavy.predict(S) == "b") > np.sum(light.predict(S) == "b")


def test_search_scores_equal_those_of_plain_fits():
    S, y = _three_classes()
    grid = {"C": [0.01, 1.0, 100.0], "rho": [0.01, 1.0, 100.0]}
    folds = StratifiedKFold(3)
    path, plain = (search(RobustSVC(), grid, cv=folds).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert path.best_params_ == plain.best_params_


@pytest.mark.parametrize("name", ["C", "rho"])
@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, "1", None, True])
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a finite number above 0"):
        RobustSVC(**{name: value}).fit(S5, Y5)


def test_unsolved_problems_warn(monkeypatch):
    monkeypatch.setattr(solver, "_MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="RobustSVC: 1 of 1 problems"):
        model = RobustSVC(C=10.0).fit(S5, Y5)
    assert model.duality_gap_ > solver.TOLERANCE
