import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from similitude._native import lasso_active_set
from similitude._native import testing_factor_columns as factor_columns
from similitude.features import _potential_solver as solver
from similitude.features._potential_solver import interior_point
from similitude.features.potential_svc import PotentialSVC
from tests.features.matrices import KINDS, labels, matrix
from tests.reference import potential_svc as reference

GRID = [(10.0**i, 10.0**j) for i in range(-1, 4) for j in range(-4, 2)]


def _solved(S, y, C, epsilon):
    return solver.solve_path(S, y, [(C, epsilon)])[0]


@pytest.mark.untraced
@pytest.mark.parametrize("kind", KINDS)
def test_optimum_is_that_of_the_cone_program(kind):
    rng = np.random.default_rng(1)
    for n, p, C, epsilon in ((15, 15, 1.0, 0.1), (8, 20, 10.0, 0.01), (20, 6, 0.3, 1.0)):
        S, y = matrix(kind, n, p, rng), labels(n, rng)
        value, _ = reference.program(S, y, C, epsilon)
        solution = _solved(S, y, C, epsilon)
        assert solution.converged
        assert np.isclose(solution.objective, value, rtol=1e-7)
        assert np.isclose(solution.objective, reference.objective(S, y, solution.coef, epsilon), rtol=1e-9)


@pytest.mark.parametrize("kind", ["normal", "ties", "low rank", "duplicates", "smooth"])
def test_optimum_is_that_of_coordinate_descent(kind):
    rng = np.random.default_rng(2)
    for n, p, C, epsilon in ((6, 6, 1.0, 0.5), (7, 4, 0.2, 0.1), (4, 7, 5.0, 0.3)):
        S, y = matrix(kind, n, p, rng), labels(n, rng)
        slow = reference.coordinate_descent(S, y, C, epsilon, sweeps=1500)
        solution = _solved(S, y, C, epsilon)
        value = reference.objective(S, y, slow, epsilon)
        assert solution.converged
        assert solution.objective <= value * (1 + 1e-12)
        assert np.isclose(solution.objective, value, rtol=1e-5)


@settings(max_examples=40)
@given(st.data())
def test_solutions_are_optimal_and_certified(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, p, kind = data.draw(st.integers(2, 30)), data.draw(st.integers(1, 30)), data.draw(st.sampled_from(KINDS))
    C, epsilon = 10.0 ** data.draw(st.floats(-4, 4)), 10.0 ** data.draw(st.floats(-4, 3))
    S, y = matrix(kind, n, p, rng), labels(n, rng)
    solution = _solved(S, y, C, epsilon)
    assert solution.converged
    assert 0 <= solution.gap <= solver.TOLERANCE
    assert np.all(np.abs(solution.coef) <= C)
    A, target = reference.centred(S, y)
    size = np.max(np.abs(A)) ** 2 * np.sum(np.abs(solution.coef)) + np.sum(np.abs(A.T @ target))
    assert np.all(reference.violations(S, y, C, epsilon, solution.coef) <= n * (1e-9 * epsilon + 1e-13 * size))
    # No other point of the box is better.
    for size in (1e-3, 0.1, 1.0):
        other = np.clip(solution.coef + size * rng.normal(size=len(solution.coef)), -C, C)
        assert reference.objective(S, y, other, epsilon) >= solution.objective * (1 - 1e-9)


def test_gap_bounds_the_distance_to_the_optimum():
    rng = np.random.default_rng(3)
    for kind in ("normal", "low rank", "smooth", "counts"):
        S, y = matrix(kind, 12, 10, rng), labels(12, rng)
        problem = solver.BoxedLasso(S, y)
        C, epsilon = problem.in_units(2.0, 0.3)
        best = problem.solve(C, epsilon)
        for t in (0.0, 0.5, 0.9, 1 - 1e-6):
            value, gap, _ = problem.certified(t * best.a, C, epsilon)
            assert value * (1 - gap) <= best.objective * (1 + 1e-13)


def test_many_columns_join_the_working_set_as_they_are_needed(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 5))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=150))
    S = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 10)
    rounds = []
    restricted = solver.BoxedLasso._restricted

    def counted(self, a, working, *rest):
        rounds.append(working.sum())
        return restricted(self, a, working, *rest)

    monkeypatch.setattr(solver.BoxedLasso, "_restricted", counted)
    for C, epsilon in ((100.0, 3.0), (0.05, 0.5)):
        rounds.clear()
        solution = _solved(S, y, C, epsilon)
        assert solution.converged
        assert max(rounds) < 150
        assert np.max(reference.violations(S, y, C, epsilon, solution.coef)) <= 1e-9


@pytest.mark.parametrize("kind", ["normal", "smooth", "low rank", "counts", "ties"])
@pytest.mark.parametrize(("C", "epsilon"), [(1.0, 1e-3), (100.0, 1e-4), (1.0, 1.0)])
def test_interior_point_method_guesses_well(kind, C, epsilon, monkeypatch):
    rng = np.random.default_rng(5)
    S, y = matrix(kind, 60, 60, rng), labels(60, rng)
    expected = _solved(S, y, C, epsilon)
    monkeypatch.setattr(solver, "_budget", lambda k, m, good: 0)
    monkeypatch.setattr(solver, "_MANY", 30)
    solution = _solved(S, y, C, epsilon)
    assert solution.converged
    assert np.isclose(solution.objective, expected.objective, rtol=1e-9)


def test_interior_point_method_alone():
    rng = np.random.default_rng(6)
    A, y = reference.centred(rng.normal(size=(20, 8)), rng.normal(size=20))
    bounds = np.array([0.05] * 4 + [10.0] * 4)
    a, steps = interior_point(A.T @ A, A.T @ y, y @ y, 1.0, bounds)
    slow = reference.coordinate_descent(A, y, bounds, 1.0, sweeps=300)
    assert 3 <= steps <= 30
    assert np.allclose(a, slow, atol=1e-3)
    assert np.array_equal(a == 0, slow == 0)
    assert np.array_equal(np.abs(a) == bounds, np.abs(slow) == bounds)


def test_dependent_columns_are_found():
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(5, 9))
    rows[3] = 2 * rows[0] - rows[2]
    G = rows @ rows.T
    U, x = np.empty((5, 5)), np.empty(5)
    assert factor_columns(rows, G, np.arange(5), U, x) == 3
    assert np.allclose(x[:3], [2, 0, -1])
    columns, U, x = np.array([0, 1, 2, 4]), np.empty((4, 4)), np.empty(4)
    assert factor_columns(rows, G, columns, U, x) == 4
    assert np.array_equal(U, np.triu(U))
    assert np.allclose(U.T @ U, G[np.ix_(columns, columns)])
    # Close to dependent: G alone would leave rounding errors.
    rows[1] = rows[0] + 1e-6 * rows[1]
    U, x = np.empty((2, 2)), np.empty(2)
    assert factor_columns(rows, rows @ rows.T, np.array([0, 1]), U, x) == 2
    exact = np.linalg.qr(rows[:2].T)[1]
    assert np.isclose(U[1, 1], abs(exact[1, 1]), rtol=1e-8)


def test_a_dependent_column_slides_out():
    rows = np.array([[1.0, 0.0, 0.0, -1.0], [0.0, 1.0, -1.0, 0.0], [0.5, 0.5, -0.5, -0.5]])
    y, bounds = np.array([1.0, 1.0, -1.0, -1.0]), np.full(3, 10.0)
    a = np.array([0.1, 0.1, 0.1])
    used, _ = lasso_active_set(rows, rows @ rows.T, y, 0.1, bounds, 50, 50, np.ones(3, bool), a)
    assert used > 0
    # The third is the mean of the others: half as dear for what it does not do better.
    assert np.count_nonzero(a) == 2
    assert np.isclose(0.5 * np.sum((y - a @ rows) ** 2) + 0.1 * np.sum(np.abs(a)), 0.195, rtol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "ties", "low rank", "smooth", "counts", "duplicates"])
@pytest.mark.parametrize(("C", "epsilon"), [(0.5, 0.02), (20.0, 1e-4)])
def test_active_set_comes_to_the_optimum_from_anywhere(kind, C, epsilon):
    rng = np.random.default_rng(16)
    for n, p in ((12, 10), (6, 9)):
        S, y = matrix(kind, n, p, rng), labels(n, rng)
        A, target = reference.centred(S, y)
        A = A[:, np.any(A != 0, axis=0)]
        rows, bounds = np.ascontiguousarray(A.T), np.full(A.shape[1], C)
        a = rng.uniform(-C, C, len(rows))
        free = np.ones(len(a), bool)
        used, _ = lasso_active_set(rows, rows @ rows.T, target, epsilon, bounds, 300, 300, free, a)
        assert used > 0
        noise = 1e-8 * epsilon + 1e-13 * (np.sum(np.abs(a)) * np.max(rows**2) + np.max(np.abs(rows @ target)))
        assert np.max(reference.violations(A, target, C, epsilon, a)) <= n * noise
        # No step is not enough, and it says so.
        start = rng.uniform(-C, C, len(rows))
        assert lasso_active_set(rows, rows @ rows.T, target, epsilon, bounds, 0, 300, free, start)[0] < 0


def test_one_column_by_hand():
    S, y = np.array([[3.0], [1.0], [0.0], [0.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    # Centred: (2, 0, -1, -1); S^T y = 4, S^T S = 6.
    for C, epsilon, expected in ((10.0, 1.0, 0.5), (0.3, 1.0, 0.3), (10.0, 4.0, 0.0), (10.0, 3.999, 0.001 / 6)):
        solution = _solved(S, y, C, epsilon)
        assert np.isclose(solution.coef[0], expected, rtol=1e-12, atol=0)
        assert np.isclose(solution.objective, reference.objective(S, y, np.array([expected]), epsilon), rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_limits(kind):
    rng = np.random.default_rng(8)
    S, y = matrix(kind, 14, 9, rng), labels(14, rng)
    A, target = reference.centred(S, y)
    top = np.max(np.abs(A.T @ target))
    # A large epsilon leaves nothing, and the mean of y.
    none = PotentialSVC(C=1.0, epsilon=max(1.0, 1.01 * top), similarity="columns").fit(S, y)
    assert not none.coef_.any()
    assert none.prototypes_.size == 0
    assert np.allclose(none.decision_function(S), y.mean())
    assert np.isclose(none.objective_, 0.5 * target @ target)
    # A small one: least squares in the box.
    boxed = _solved(S, y, 0.4, 1e-9)
    assert boxed.converged
    assert np.isclose(boxed.objective, lsq_linear(A, target, (-0.4, 0.4), tol=1e-13).cost, rtol=1e-6, atol=1e-9)
    # A small C: every column that pays for itself is at its bound.
    pays = np.abs(A.T @ target) > 1e-3 + 1e-9 * top
    tiny = _solved(S, y, 1e-9, 1e-3)
    assert np.allclose(tiny.coef, np.where(pays, 1e-9 * np.sign(A.T @ target), 0.0), rtol=0, atol=1e-16)


def test_equal_columns_share_what_one_may_not_carry_alone():
    rng = np.random.default_rng(9)
    A, y = rng.normal(size=(20, 3)), labels(20, rng)
    y = np.sign(A[:, 0] + 0.1 * rng.normal(size=20))
    S = A[:, [0, 1, 0, 2, 0]]
    solution = _solved(S, y, 0.3, 0.1)
    first = solution.coef[[0, 2, 4]]
    assert first[0] == 0.3
    assert 0 < first[1] <= 0.3
    assert np.isclose(first.sum(), solver.solve_path(A, y, [(0.9, 0.1)])[0].coef[0], rtol=1e-9)
    loose = _solved(S, y, 100.0, 0.1)
    assert np.count_nonzero(loose.coef[[2, 4]]) == 0


def test_path_gives_what_single_fits_give():
    rng = np.random.default_rng(12)
    for kind in KINDS[:9]:
        S, y, new = matrix(kind, 25, 20, rng), labels(25, rng), matrix(kind, 10, 20, rng)
        order = rng.permutation(len(GRID))
        path = solver.solve_path(S, y, [GRID[i] for i in order])
        for i, warm in zip(order, path):
            cold = _solved(S, y, *GRID[i])
            assert warm.converged == cold.converged
            assert np.isclose(warm.objective, cold.objective, rtol=1e-9)
            size = 1 + np.abs(new - cold.means) @ np.abs(cold.coef)
            assert np.all(np.abs((new - cold.means) @ (warm.coef - cold.coef)) <= 1e-7 * size)
