"""Machines on a kernel matrix against the optimality conditions, libsvm and Clarabel."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from similitude import _native
from similitude.numerics.machines import LARGEST_GAP, solve_machines
from tests.reference import kernel_svm as reference
from tests.ugly import ugly_points

COSTS = [10.0**j for j in range(-3, 6)]


def _kernel(kind, n, rng):
    X = ugly_points(kind, n, rng)
    if kind == "uneven":
        X *= 10.0 ** rng.integers(-4, 1, n)[:, None]
    elif kind == "full":
        X = rng.normal(size=(n, n))
    elif kind == "rank one":
        X = X[:, :1]
    elif kind == "smooth":
        return np.exp(-0.01 * ((X[:, None] - X[None]) ** 2).sum(-1))
    elif kind == "narrow":
        return np.exp(-9 * ((X[:, None] - X[None]) ** 2).sum(-1))
    elif kind == "constant":
        return np.full((n, n), 2.5)
    elif kind == "identity":
        return np.eye(n)
    elif kind == "zero":
        return np.zeros((n, n))
    elif kind == "indefinite":
        return X @ X.T - 2 * np.outer(X[:, 0], X[:, 0]) - 0.1 * np.eye(n)
    elif kind == "negative":
        return -X @ X.T
    elif kind == "distances":
        return -((X[:, None] - X[None]) ** 2).sum(-1)
    elif kind == "random":
        A = rng.normal(size=(n, n))
        return A + A.T
    return X @ X.T


CONVEX = ["linear", "duplicates", "ties", "zero rows", "uneven", "full", "rank one", "smooth", "narrow", "constant"]
CONVEX += ["identity", "zero"]
OTHERS = ["indefinite", "negative", "distances", "random"]


def _two_classes(n, rng, share=0.5):
    codes = (rng.random(n) < share).astype(np.intp)
    codes[:2] = 0, 1
    return codes


def _is_a_solution(machine, K, codes, C, weights=1.0, tolerance=1e-10):
    sign, bounds = 2.0 * codes - 1, C * weights * np.ones(len(codes))
    beta, (intercept,) = machine.coefficients[0], machine.intercept
    alpha, terms = sign * beta, np.max(np.abs(K)) * np.sum(np.abs(beta))
    assert np.all((alpha >= 0) & (alpha <= bounds * (1 + 1e-15)))
    assert abs(beta.sum()) <= 1e-13 * np.abs(beta).sum()
    assert reference.violation(K, beta, intercept, sign, bounds) <= tolerance + 1e-13 * terms
    primal, dual = reference.primal(K, beta, intercept, sign, bounds), alpha.sum() - beta @ K @ beta / 2
    (solution,) = machine.solutions
    assert solution.converged
    assert 0 <= solution.gap <= LARGEST_GAP
    assert solution.objective == pytest.approx(dual, rel=1e-9, abs=1e-13 * terms * (1 + np.sum(alpha)))
    assert primal - dual <= LARGEST_GAP * (primal + dual) + (1e-11 + 1e-13 * terms) * np.sum(bounds)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    kind=st.sampled_from(CONVEX + OTHERS),
    exponent=st.integers(-4, 5),
    share=st.sampled_from([0.5, 0.9]),
    weighted=st.booleans(),
)
def test_solution_satisfies_the_optimality_conditions(seed, n, kind, exponent, share, weighted):
    rng = np.random.default_rng(seed)
    K, codes, C = _kernel(kind, n, rng), _two_classes(n, rng, share), 10.0**exponent
    weights = rng.choice([0.0, 1e-3, 0.5, 1.0, 30.0], n) if weighted else np.ones(n)
    (machine,) = solve_machines(K, codes, 2, [C], weights, 0, kind in CONVEX)
    if all(np.any(weights[codes == g] > 0) for g in (0, 1)):
        _is_a_solution(machine, K, codes, C, weights)
    assert np.all(machine.coefficients[0, weights == 0] == 0)


@pytest.mark.parametrize("kind", ["overlap", "narrow", "smooth", "shifted", "indefinite", "ties"])
def test_large_problems(kind):
    # Enough free variables for blocks of the factor, removals and changes of its pivot.
    rng = np.random.default_rng(0)
    n = 240
    codes = _two_classes(n, rng)
    if kind == "overlap":
        D = np.abs(rng.normal(size=(n, 1, 10)) + 0.2 * codes[:, None, None])
        D = np.abs(D - D.transpose(1, 0, 2)).sum(-1) ** 1.5
        values, vectors = np.linalg.eigh(1 - D / D.max())
        K = (vectors * np.maximum(values, 0)) @ vectors.T
    elif kind == "shifted":
        K = np.exp(-0.1 * _kernel("full", n, rng) / n) + 0.3 * np.eye(n)
        K = K + K.T - 2 * min(0.0, np.linalg.eigvalsh(K + K.T)[0]) * np.eye(n)
    else:
        K = _kernel(kind, n, rng)
    for C, machine in zip(COSTS, solve_machines(K, codes, 2, COSTS, None, 0, kind != "indefinite")):
        _is_a_solution(machine, K, codes, C, tolerance=1e-9)
        if kind in ("overlap", "smooth") and C in (1e-3, 1.0, 100.0):
            _, _, optimum = reference.solve(K, 2.0 * codes - 1, np.full(n, C))
            assert machine.solutions[0].objective == pytest.approx(optimum, rel=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("C", [0.01, 1.0, 20.0])
def test_solution_is_that_of_libsvm(n_classes, C):
    rng = np.random.default_rng(n_classes)
    X, codes = rng.normal(size=(70, 4)), np.append(np.arange(n_classes), rng.integers(0, n_classes, 70 - n_classes))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(-1))
    weights = rng.uniform(0.5, 2.0, 70)
    svc = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, codes, weights)
    (machines,) = solve_machines(K, codes, n_classes, [C], weights)
    attributes = machines.attributes()
    for name in ("support_", "n_support_"):
        assert np.array_equal(attributes[name], getattr(svc, name))
    for name in ("dual_coef_", "intercept_"):
        assert np.allclose(attributes[name], getattr(svc, name), rtol=0, atol=1e-5 * max(1.0, C))
    svc.decision_function_shape = "ovo"
    values = np.reshape(svc.decision_function(K), (70, -1)) * (1 if n_classes == 2 else -1)
    assert np.allclose(K @ machines.beta + machines.intercept, values, rtol=0, atol=1e-5 * max(1.0, C))


def test_pairs_are_machines_of_their_own():
    rng = np.random.default_rng(0)
    K, codes = _kernel("full", 50, rng) / 50, np.arange(50) % 4
    for C, machines in zip(COSTS, solve_machines(K, codes, 4, COSTS)):
        for p, (first, second) in enumerate(combinations(range(4), 2)):
            own = np.flatnonzero((codes == first) | (codes == second))
            pair = (codes[own] == second).astype(np.intp)
            (alone,) = solve_machines(np.ascontiguousarray(K[np.ix_(own, own)]), pair, 2, [C])
            assert np.array_equal(machines.beta[own, p], alone.coefficients[0])
            assert machines.intercept[p] == alone.intercept[0]
            assert machines.solutions[p] == alone.solutions[0]
            assert np.count_nonzero(machines.beta[:, p]) == np.count_nonzero(machines.beta[own, p])


@pytest.mark.parametrize("kind", CONVEX + OTHERS)
def test_one_c_alone_gives_what_it_gives_within_a_range(kind):
    rng = np.random.default_rng(1)
    costs = [3.0, 1e300, *COSTS, 700.0, 1e-12, 3.0, 1e-300]
    for n in (2, 30):
        K, codes = _kernel(kind, n, rng), _two_classes(n, rng)
        together = solve_machines(K, codes, 2, costs, semidefinite=kind in CONVEX)
        for C, machine in zip(costs, together, strict=True):
            (alone,) = solve_machines(K, codes, 2, [C], semidefinite=kind in CONVEX)
            assert np.array_equal(machine.coefficients, alone.coefficients)
            assert np.array_equal(machine.intercept, alone.intercept)
            assert machine.solutions == alone.solutions


@pytest.mark.parametrize("kind", ["constant", "zero", "rank one", "identity", "ties", "full", "indefinite", "random"])
def test_extreme_values_of_c_end_after_few_steps(kind):
    rng = np.random.default_rng(2)
    K, codes = _kernel(kind, 60, rng), _two_classes(60, rng)
    for machine in solve_machines(K, codes, 2, [1e-300, 1e-30, 1e30, 1e300], None, 0, kind in CONVEX):
        assert np.isfinite(machine.coefficients).all()
        assert np.isfinite(machine.intercept).all()
        assert machine.solutions[0].n_iter < 5000
        assert np.isfinite(machine.attributes()["dual_coef_"]).all()


@pytest.mark.parametrize("C", [1e5, 1e300])
def test_separable_classes_are_separated_however_large_c_is(C):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 3))
    codes = (X[:, 0] > 0).astype(np.intp)
    (machine,) = solve_machines(X @ X.T, codes, 2, [C])
    values = (X @ X.T) @ machine.coefficients[0] + machine.intercept[0]
    assert np.min((2 * codes - 1) * values) == pytest.approx(1.0, abs=1e-9)
    assert machine.solutions[0].converged
    assert machine.solutions[0].gap < 1e-10


@pytest.mark.parametrize("power", [-500, -3, 0, 500])
def test_a_kernel_in_other_units(power):
    rng = np.random.default_rng(4)
    K, codes = _kernel("full", 20, rng) / 30, _two_classes(20, rng)
    (expected,) = solve_machines(K, codes, 2, [2.0])
    (machine,) = solve_machines(K, codes, 2, [2.0 * 2.0**-power], None, power)
    assert np.allclose(machine.coefficients, expected.coefficients, rtol=0, atol=1e-11)
    assert np.allclose(machine.intercept, expected.intercept, rtol=0, atol=1e-11)
    assert machine.solutions[0].objective * 2.0**power == pytest.approx(expected.solutions[0].objective, rel=1e-12)
    assert np.allclose(machine.attributes()["dual_coef_"] * 2.0**power, expected.attributes()["dual_coef_"])


def test_a_class_whose_samples_have_no_weight_never_wins():
    rng = np.random.default_rng(5)
    K, codes = _kernel("full", 21, rng) / 20, np.arange(21) % 3
    weights = np.where(codes == 1, 0.0, 1.0)
    (machines,) = solve_machines(K, codes, 3, [1.0], weights)
    values = K @ machines.beta + machines.intercept
    assert np.all(values[:, 0] < 0)  # the pair (0, 1), positive for 1
    assert np.all(values[:, 2] > 0)  # the pair (1, 2), positive for 2
    (alone,) = solve_machines(K[np.ix_(codes != 1, codes != 1)], codes[codes != 1] // 2, 2, [1.0])
    assert np.array_equal(machines.beta[codes != 1, 1], alone.beta[:, 0])


def _arguments(**changes):
    """Valid arguments of three samples of two classes, with changes."""
    arguments = {
        "K": np.eye(3),
        "codes": np.array([0, 1, 1]),
        "weights": np.ones(3),
        "costs": np.array([1.0, 2.0]),
        "exponent": 0,
        "semidefinite": True,
        "coefficients": np.zeros((2, 1, 3)),
        "offsets": np.zeros((2, 1)),
        "objectives": np.zeros((2, 1)),
        "gaps": np.zeros((2, 1)),
        "steps": np.zeros((2, 1), dtype=np.intp),
    }
    return {**arguments, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": np.ones((3, 2))}, "K must have the shape"),
        ({"codes": np.array([0, 1])}, "codes must be 3"),
        ({"codes": np.array([0, 1, 2])}, "codes must be from 0 to 1"),
        ({"codes": np.array([0, -1, 1])}, "codes must be from 0 to 1"),
        ({"weights": np.ones(4)}, "weights must be 3"),
        ({"weights": np.array([1.0, -1.0, 1.0])}, "weights must be 0 or more"),
        ({"weights": np.array([1.0, np.nan, 1.0])}, "weights must be 0 or more"),
        ({"costs": np.array([2.0, 1.0])}, "costs must be positive and ascending"),
        ({"costs": np.array([0.0, 1.0])}, "costs must be positive and ascending"),
        ({"costs": np.array([np.nan, 1.0])}, "costs must be positive and ascending"),
        ({"coefficients": np.zeros((1, 1, 3))}, "first axis of coefficients must be 2"),
        ({"coefficients": np.zeros((2, 1, 2))}, "third axis of coefficients must be 3"),
        ({"coefficients": np.zeros((2, 2, 3))}, "offsets must have the shape"),
        ({"offsets": np.zeros((1, 1))}, "offsets must have the shape"),
        ({"objectives": np.zeros((2, 2))}, "objectives must have the shape"),
        ({"gaps": np.zeros((3, 1))}, "gaps must have the shape"),
        ({"steps": np.zeros((2, 3), dtype=np.intp)}, "steps must have the shape"),
    ],
)
def test_arguments_that_do_not_fit_together(changes, message):
    with pytest.raises(ValueError, match=message):
        _native.machine_path(**_arguments(**changes))


def test_no_samples_no_costs_and_one_class():
    _native.machine_path(**_arguments())
    assert solve_machines(np.eye(3), np.array([0, 1, 1]), 2, []) == []
    (machines,) = solve_machines(np.zeros((0, 0)), np.zeros(0, dtype=np.intp), 2, [1.0])
    assert machines.intercept == [0.0]
    (machines,) = solve_machines(np.eye(3), np.zeros(3, dtype=np.intp), 1, [1.0])
    assert machines.solutions == []
    (machines,) = solve_machines(np.eye(3), np.ones(3, dtype=np.intp), 2, [1.0])
    assert machines.intercept == [1.0]
