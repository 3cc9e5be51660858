import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from similitude import KNNClassifier, _native
from similitude.neighbors.weights import WEIGHTS, local_weights
from tests.neighbors.problems import KINDS, problem
from tests.reference import local_weights as reference

EXAMPLE = np.array([[5.0, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]])
# Chen et al. 2009, Section 5.2.2: S, s, and per lambda the KRI weights and the KRR weights shifted to sum 1.
EXAMPLES = {
    1: (5 * np.eye(4), [4.0, 3, 2, 1]),
    2: (EXAMPLE, [3.0, 3, 3, 3]),
    3: (EXAMPLE, [2.0, 4, 3, 3]),
}
VECTORS = [
    (1, 0.1, [0.52941176, 0.33333333, 0.13725490, 0], [0.54411765, 0.34803922, 0.15196078, -0.04411765]),
    (1, 1, [0.5, 0.33333333, 0.16666667, 0], [0.5, 0.33333333, 0.16666667, 0]),
    (1, 10, [0.35, 0.28333333, 0.21666667, 0.15], [0.35, 0.28333333, 0.21666667, 0.15]),
    (2, 0.1, [0.36914488, 0.17306645, 0.17306645, 0.28472222], [0.39220628, 0.15817537, 0.15817537, 0.29144297]),
    (2, 1, [0.35185185, 0.18518519, 0.18518519, 0.27777778], [0.36073826, 0.17953020, 0.17953020, 0.28020134]),
    (2, 10, [0.29135802, 0.22469136, 0.22469136, 0.25925926], [0.27442878, 0.23505105, 0.23505105, 0.25546913]),
    (3, 0.1, [0.15789474, 0.58234295, 0, 0.25976231], [0.18683332, 0.71676165, -0.19232926, 0.28873428]),
    (3, 1, [0.18518519, 0.51851852, 0.01851852, 0.27777778], [0.18791946, 0.51677852, 0.01677852, 0.27852349]),
    (3, 10, [0.22469136, 0.30347924, 0.21257015, 0.25925926], [0.20721925, 0.31417112, 0.22326203, 0.25534759]),
]
REGS = [1e-6, 1e-3, 1.0, 1e6]
SCALES = [1e-8, 1.0, 1e8]


def _weights(S, s, sizes=None, regs=(1.0,), **options):
    """Weights of neighbours that stand in the order of the training set: (len(sizes), len(regs), k)."""
    k = len(s)
    sizes = [k] if sizes is None else sizes
    return local_weights(S, np.asarray(s)[None], np.arange(k)[None], sizes, regs, **options)[0]


@pytest.mark.parametrize(("example", "reg", "kri", "krr"), VECTORS)
def test_worked_examples_of_the_paper(example, reg, kri, krr):
    S, s = EXAMPLES[example]
    assert np.allclose(_weights(S, s, regs=[reg])[0, 0], kri, rtol=0, atol=1e-8)
    raw = _weights(S, s, regs=[reg], weights="krr")[0, 0]
    assert np.allclose(raw - raw.mean() + 1 / 4, krr, rtol=0, atol=1e-8)
    entropic = _weights(S, s, regs=[reg], weights="lime")[0, 0]
    assert reference.lime_residual(S, np.array(s), reg, entropic) < 1e-12


@pytest.mark.untraced
def test_thousands_of_ugly_problems_satisfy_the_optimality_conditions():
    rng = np.random.default_rng(0)
    worst = 0.0
    for trial in range(4_000):
        k = int(rng.choice([1, 2, 3, 5, 8, 16, 33, 64], p=[0.1, 0.1, 0.15, 0.2, 0.2, 0.15, 0.06, 0.04]))
        scale, reg = float(rng.choice(SCALES)), float(rng.choice(REGS))
        S, s = problem(rng, k, KINDS[trial % len(KINDS)], scale)
        s = s * rng.choice([1.0, 0.0, 100.0])
        w = np.empty((1, k))
        assert _native.testing_simplex_programs(S[None], s[None], reg, w) == 0, (trial, k, scale, reg)
        worst = max(worst, reference.kri_residual(S, s, reg, w[0]))
    assert worst <= 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 7, 20])
def test_solver_on_few_problems_of_each_kind(kind, k):
    rng = np.random.default_rng(k)
    for scale in SCALES:
        for reg in REGS:
            S, s = problem(rng, k, kind, scale)
            w = np.empty((1, k))
            assert _native.testing_simplex_programs(S[None], s[None], reg, w) == 0
            assert reference.kri_residual(S, s, reg, w[0]) <= 1e-9


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from(KINDS[:5]), st.sampled_from([1e-3, 0.1, 10.0]))
def test_kri_is_the_best_of_all_supports(seed, k, kind, reg):
    S, s = problem(np.random.default_rng(seed), k, kind)
    ours = _weights(S, s, regs=[reg], spectrum="clip")[0, 0]
    K, _ = reference.modify(S, s, "clip", False)
    assert reference.kri_gap(K, s, reg, ours) <= 1e-9 * max(1.0, np.abs(K).max(), np.abs(s).max())
    assert np.allclose(ours, reference.kri(K, s, reg), rtol=0, atol=1e-6)


@pytest.mark.parametrize("k", [16, 64])
@pytest.mark.parametrize("reg", [1e-3, 0.1, 10.0])
def test_kri_equals_clarabel(k, reg):
    rng = np.random.default_rng(k)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    constraints = sparse.csc_matrix(np.vstack([np.ones(k), -np.eye(k)]))
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(k)]
    for _ in range(5):
        S, s = problem(rng, k, "psd")
        H = sparse.csc_matrix(np.triu(S + reg * np.eye(k)))
        solver = clarabel.DefaultSolver(H, -s, constraints, np.append(1.0, np.zeros(k)), cones, settings)
        theirs = np.array(solver.solve().x)
        ours = _weights(S, s, regs=[reg])[0, 0]
        assert reference.kri_residual(S, s, reg, ours) <= 1e-12
        assert ours @ S @ ours / 2 + reg / 2 * ours @ ours - s @ ours <= (
            theirs @ S @ theirs / 2 + reg / 2 * theirs @ theirs - s @ theirs + 1e-9
        )
        assert np.allclose(ours, theirs, rtol=0, atol=1e-4)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 8),
    st.sampled_from(KINDS),
    st.sampled_from([1e-3, 0.1, 10.0, 0.5]),
    st.sampled_from(["clip", "flip", "shift", "none", "pinv"]),
    st.booleans(),
)
def test_krr_is_the_regularised_inverse(seed, k, kind, reg, spectrum, consistent):
    S, s = problem(np.random.default_rng(seed), k, kind)
    ours = _weights(S, s, regs=[reg], weights="krr", spectrum=spectrum, consistent=consistent)[0, 0]
    K, row = reference.modify(S, s, spectrum, consistent)
    values = np.linalg.eigvalsh(K + reg * np.eye(k))
    condition = np.abs(values).max() / np.abs(values).min()
    if condition < 1e12:  # else it is for rounding to say what is singular
        expected = reference.krr(K, row, reg)
        assert np.allclose(ours, expected, rtol=0, atol=1e-13 * condition * max(1.0, np.abs(expected).max()))


def test_krr_of_a_singular_matrix_is_the_pseudo_inverse():
    S = np.diag([-1.0, 2.0, 3.0])
    assert np.allclose(_weights(S, [1.0, 2, 3], weights="krr", spectrum="pinv"), [0, 2 / 3, 3 / 4])
    assert np.allclose(_weights(S, [1.0, 2, 3], weights="krr", spectrum="none"), [0, 2 / 3, 3 / 4])


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.sampled_from(KINDS),
    st.sampled_from([1e-2, 0.1, 1.0, 100.0]),
    st.sampled_from(["clip", "flip", "shift"]),
    st.sampled_from([1e-8, 1.0, 1e8]),
)
def test_lime_satisfies_its_optimality_condition(seed, k, kind, reg, spectrum, scale):
    S, s = problem(np.random.default_rng(seed), k, kind)
    w = _weights(S * scale, s * scale, regs=[reg * scale], weights="lime", spectrum=spectrum)[0, 0]
    K, _ = reference.modify(S, s, spectrum, False)
    assert w.sum() == pytest.approx(1, abs=1e-12)
    assert reference.lime_residual(K, s, reg, w) < 1e-9


def test_lime_equals_a_general_solver():
    rng = np.random.default_rng(0)
    S, s = problem(rng, 6, "psd")
    reg = 0.3

    def objective(x):
        w = np.exp(x - x.max())
        w /= w.sum()
        return w @ S @ w - 2 * s @ w + reg * np.sum(w * np.log(w))

    x = minimize(objective, np.zeros(6), method="BFGS", options={"gtol": 1e-9}).x
    w = np.exp(x - x.max())
    assert np.allclose(_weights(S, s, regs=[reg], weights="lime")[0, 0], w / w.sum(), rtol=0, atol=1e-6)


@pytest.mark.untraced
@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift", "none"])
@pytest.mark.parametrize("consistent", [False, True])
def test_many_sizes_and_regs_at_once_equal_one_at_a_time(weights, spectrum, consistent):
    sizes, regs = [1, 2, 5, 10, 40], [1e-3 if weights == "lime" else 1e-6, 0.1, 1e6]
    options = {"weights": weights, "spectrum": spectrum, "consistent": consistent}
    convex = weights != "lime" or spectrum != "none"
    for kind in KINDS:
        S, s = problem(np.random.default_rng(3), 40, kind)
        together = _weights(S, s, sizes, regs, **options)
        for i, k in enumerate(sizes):
            for j, reg in enumerate(regs):
                alone = _weights(S[:k, :k], s[:k], [k], [reg], **options)[0, 0]
                if convex and not (weights == "kri" and spectrum == "none" and kind in ("indefinite", "random")):
                    # LIME is solved to a tolerance; KRI and KRR do the same arithmetic either way.
                    tolerance = 1e-9 * max(1, np.abs(alone).max())
                    assert np.max(np.abs(together[i, j, :k] - alone)) <= tolerance, (kind, k, reg)
                assert not together[i, j, k:].any()


@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
@pytest.mark.parametrize(("spectrum", "consistent"), [("clip", True), ("flip", False), ("shift", False)])
def test_modified_neighbourhoods_of_two_sizes(weights, spectrum, consistent):
    S, s = problem(np.random.default_rng(5), 14, "random")
    together = _weights(S, s, [6, 14], [0.1, 2.0], weights=weights, spectrum=spectrum, consistent=consistent)
    for i, k in enumerate((6, 14)):
        K, row = reference.modify(S[:k, :k], s[:k], spectrum, consistent)
        for j, reg in enumerate((0.1, 2.0)):
            w = together[i, j, :k]
            if weights == "kri":
                assert reference.kri_residual(K, row, reg, w) < 1e-12
            elif weights == "krr":
                assert np.allclose(w, reference.krr(K, row, reg))
            else:
                assert reference.lime_residual(K, row, reg, w) < 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.sampled_from([1e-3, 0.1, 10.0]), st.floats(0.01, 2))
def test_more_affinity_more_weight(seed, k, reg, delta):
    """Eq. 13, and beyond the interior: a minimiser is monotone in the linear term."""
    rng = np.random.default_rng(seed)
    S, s = problem(rng, k, "psd")
    i = rng.integers(k)
    before, after = (_weights(S, row, regs=[reg])[0, 0] for row in (s, s + delta * np.eye(k)[i]))
    assert after[i] >= before[i] - 1e-9


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.sampled_from([1e-2, 0.1, 10.0]), st.floats(0.01, 2))
def test_more_similarity_between_two_neighbours_less_weight_on_the_pair(seed, k, reg, delta):
    """Eq. 14 in its symmetric form: S + delta (E_ij + E_ji) adds delta w_i w_j, so the product cannot grow."""
    rng = np.random.default_rng(seed)
    S, s = problem(rng, k, "psd")
    i, j = rng.choice(k, 2, replace=False)
    pair = np.zeros((k, k))
    pair[i, j] = pair[j, i] = delta
    S = S + delta * np.eye(k)  # so that both matrices are positive semidefinite
    before, after = (_weights(A, s, regs=[reg], spectrum="none")[0, 0] for A in (S, S + pair))
    assert after[i] * after[j] <= before[i] * before[j] + 1e-9


def test_sensitivities_at_an_interior_optimum():
    """Eqs. 13 and 14: a small change moves the weights against the projected gradient, as eq. 12's Hessian says."""
    s, reg, delta = np.array([3.0, 3, 3, 3]), 1.0, 1e-6
    before = _weights(EXAMPLE, s, regs=[reg])[0, 0]
    assert before.min() > 0
    H = EXAMPLE + reg * np.eye(4)
    to_sum_zero = np.linalg.inv(H) - np.outer(np.linalg.inv(H).sum(1), np.linalg.inv(H).sum(0)) / np.linalg.inv(H).sum()
    e = np.eye(4)
    moved = _weights(EXAMPLE, s + delta * e[1], regs=[reg])[0, 0] - before
    assert np.allclose(moved / delta, to_sum_zero @ e[1], atol=1e-4)
    pair = np.outer(e[0], e[3]) + np.outer(e[3], e[0])
    moved = _weights(EXAMPLE + delta * pair, s, regs=[reg])[0, 0] - before
    gradient = before[3] * e[0] + before[0] * e[3]
    assert np.allclose(moved / delta, -to_sum_zero @ gradient, atol=1e-4)
    assert moved[0] < 0
    assert moved[3] < 0


def test_krr_votes_are_the_discriminants_of_local_kernel_ridge_regression():
    """Eq. 16: the class sums of KRR's weights are the fitted values of ridge regressions on class indicators."""
    rng = np.random.default_rng(0)
    X, x, y = rng.normal(size=(9, 4)), rng.normal(size=4), np.arange(9) % 3
    weights = _weights(X @ X.T, X @ x, regs=[0.7], weights="krr")[0, 0]
    for g in range(3):
        beta = np.linalg.solve(X.T @ X + 0.7 * np.eye(4), X.T @ (y == g))
        assert weights[y == g].sum() == pytest.approx(beta @ x, abs=1e-12)


def test_restarts_find_a_better_optimum_of_an_indefinite_problem():
    rng = np.random.default_rng(0)
    better = 0
    for _ in range(20):
        S, s = problem(rng, 12, "random")
        plain, restarted = (_weights(S, s, regs=[0.1], spectrum="none", restarts=r)[0, 0] for r in (0, 12))
        values = [w @ S @ w / 2 + 0.05 * w @ w - s @ w for w in (plain, restarted)]
        assert values[1] <= values[0] + 1e-12
        better += values[1] < values[0] - 1e-6
        assert reference.kri_residual(S, s, 0.1, restarted) < 1e-9
    assert better > 0


@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
def test_sparse_memmapped_and_single_precision_matrices(weights, tmp_path):
    rng = np.random.default_rng(0)
    S = np.round(np.exp(rng.normal(size=(30, 30))), 2)
    S = np.where(S + S.T > 2.5, S + S.T, 0).astype(np.float32)
    np.save(tmp_path / "S.npy", S)
    mapped = np.load(tmp_path / "S.npy", mmap_mode="r")
    unsorted = sparse.csr_array(S)
    unsorted.indices = unsorted.indices.reshape(-1)[::-1].copy()  # any order within a row is allowed
    unsorted = sparse.csr_array(
        (S[np.repeat(np.arange(30), 30), np.tile(np.arange(30)[::-1], 30)], np.tile(np.arange(30)[::-1], 30),
         np.arange(31) * 30), shape=(30, 30),
    )  # fmt: skip
    indices = np.array([rng.permutation(30)[:8] for _ in range(5)])
    rows = -np.sort(-rng.random((5, 8)), axis=1)
    expected = local_weights(S.astype(float), rows, indices, [4, 8], [0.5], weights=weights)
    for matrix in (S, mapped, np.asfortranarray(S), sparse.csr_array(S), sparse.csr_matrix(S), unsorted):
        assert np.allclose(local_weights(matrix, rows, indices, [4, 8], [0.5], weights=weights), expected, atol=1e-12)


@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
@pytest.mark.parametrize("exponent", [-900, 900])
def test_a_power_of_four_does_not_change_a_digit(weights, exponent):
    rng = np.random.default_rng(0)
    regs = np.array([0.25, 2.0])
    for kind in KINDS:
        S, s = problem(rng, 9, kind)
        expected = _weights(S, s, [4, 9], regs, weights=weights)
        scaled = (np.ldexp(values, exponent) for values in (S, s))
        assert np.array_equal(_weights(*scaled, [4, 9], np.ldexp(regs, exponent), weights=weights), expected)


def test_weights_are_told_for_explanation():
    S, s = EXAMPLES[3]
    for weights in WEIGHTS:
        knn = KNNClassifier(4, weights, reg=0.1).fit(S, [0, 1, 1, 0])
        indices, w = knn.neighbor_weights([s, s])
        assert indices.shape == w.shape == (2, 4)
        assert indices[0].tolist() == [1, 2, 3, 0]
        votes = np.array([w[0][[0, 1, 1, 0][::1][i] == np.array([0, 1, 1, 0])[indices[0]]].sum() for i in (0, 1)])
        positive = np.maximum(votes, 0)
        assert np.allclose(knn.predict_proba([s])[0], positive / positive.sum())
    assert KNNClassifier(4).fit(S, [0, 1, 1, 0]).neighbor_weights([s])[1].tolist() == [[0.25] * 4]
