"""Weights of neighbours by the quadratic program, against Clarabel and OSQP, and whole grids against plain searches."""

import time

import clarabel
import numpy as np
import osqp
from scipy import sparse
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks.timing import best_of, side_by_side
from benchmarks.voting_data import KRI_REGS, KRR_REGS, NEIGHBORS, voting_partition
from similitude import KNNClassifier, PathSearchCV, _native
from similitude._utils.threads import over_row_blocks
from similitude.neighbors.weights import local_weights
from similitude.numerics.topk import top_k

N_PROBLEMS = 2000
N_OSQP = 100
FOLDS = KFold(10, shuffle=True, random_state=0)


def _problems(k):
    """Return the kernel exp(-distance^2 / 16) among k points, and those of another point to them."""
    rng = np.random.default_rng(k)
    X = rng.normal(size=(N_PROBLEMS, k + 1, 8))
    squares = np.sum(X**2, axis=2)
    K = np.exp(-(squares[:, :, None] + squares[:, None] - 2 * X @ X.transpose(0, 2, 1)) / 16)
    return np.ascontiguousarray(K[:, 1:, 1:]), np.ascontiguousarray(K[:, 0, 1:])


def _residual(S, s, reg, w):
    """Return the largest of the duality gap g^T w - min g, the error of the sum, and the size of negative weights."""
    g = S @ w + reg * w - s
    return max(g @ w - g.min(), abs(w.sum() - 1), -w.min())


def _clarabel(matrices, vectors, k):
    """Return the solutions by Clarabel; the matrices and vectors are prepared before."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(k)]
    constraints = sparse.csc_matrix(np.vstack([np.ones(k), -np.eye(k)]))
    bounds = np.append(1.0, np.zeros(k))
    return [
        clarabel.DefaultSolver(H, q, constraints, bounds, cones, settings).solve().x for H, q in zip(matrices, vectors)
    ]


def _osqp(matrices, vectors, k):
    constraints = sparse.csc_matrix(np.vstack([np.ones(k), np.eye(k)]))
    low, high = np.append(1.0, np.zeros(k)), np.ones(k + 1)
    answers = []
    for H, q in zip(matrices, vectors):
        solver = osqp.OSQP()
        options = {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iter": 100_000, "polishing": True, "verbose": False}
        solver.setup(H, q, constraints, low, high, **options)
        answers.append(solver.solve().x)
    return answers


def _program(k, reg, goal):
    S, s = _problems(k)
    matrices = [sparse.csc_matrix(np.triu(A + reg * np.eye(k))) for A in S]
    weights = np.empty_like(s)

    def ours():
        def work(start, stop):
            _native.testing_simplex_programs(S[start:stop], s[start:stop], reg, weights[start:stop])

        over_row_blocks(work, N_PROBLEMS, 250)

    theirs = {}
    row = side_by_side(
        f"simplex QP, k = {k}, reg = {reg:g}, {N_PROBLEMS} problems, against Clarabel",
        ours,
        lambda: theirs.update(clarabel=_clarabel(matrices, list(-s), k)),
        runs=3,
    )
    some = slice(N_OSQP)
    peer = best_of(lambda: theirs.update(osqp=_osqp(matrices[some], list(-s[some]), k)), 1) * N_PROBLEMS / N_OSQP
    worst = {
        name: max(_residual(*problem) for problem in zip(S, s, [reg] * N_PROBLEMS, np.asarray(answers)))
        for name, answers in (("ours", weights), *theirs.items())
    }
    assert worst["ours"] <= max(1e-14, min(worst.values()))  # equal or better, up to the last digits
    residuals = ", ".join(f"{name} {value:.0e}" for name, value in worst.items())
    osqp_row = {
        "name": f"  OSQP ({N_OSQP} of them, scaled); largest gaps: {residuals}",
        "ours_seconds": row["ours_seconds"],
        "peer_seconds": peer,
        "ratio": peer / row["ours_seconds"],
    }
    return [{**row, "goal": f"at least {goal}"}, osqp_row]


def _with_lookup(reg, goal, n=1000, k=16):
    """Time KRI weights from the matrix of n training samples, against Clarabel on matrices that are given to it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + N_PROBLEMS, 8))
    squares = np.sum(X**2, axis=1)
    K = np.exp(-np.maximum(squares[:, None] + squares[:n] - 2 * X @ X[:n].T, 0.0) / 16)
    S = K[:n].copy()
    similarities, indices = top_k(K[n:], k)
    local = [S[np.ix_(near, near)] for near in indices]
    matrices = [sparse.csc_matrix(np.triu((A + A.T) / 2 + reg * np.eye(k))) for A in local]
    row = side_by_side(
        f"KRI with look-up, n = {n}, k = {k}, reg = {reg:g}, {N_PROBLEMS} samples, against Clarabel without",
        lambda: local_weights(S, similarities, indices, [k], [reg]),
        lambda: _clarabel(matrices, list(-similarities), k),
        runs=5,
    )
    return {**row, "goal": f"at least {goal}"}


def _grid(weights, spectrum, regs, reference, goal):
    """Time a whole grid of Table 2 in Chen et al. 2009 on one training part of Voting."""
    S, _, y, _ = voting_partition(0)
    knn = KNNClassifier(weights=weights, spectrum=spectrum)
    grid = {"n_neighbors": NEIGHBORS, "reg": regs}
    path, plain = (search(knn, grid, cv=FOLDS) for search in (PathSearchCV, GridSearchCV))
    row = side_by_side(
        f"{weights.upper()} ({spectrum}), 19 k, {len(regs)} reg, 10 folds, Voting: against our own plain fits",
        lambda: path.fit(S, y),
        lambda: plain.fit(S, y),
        runs=2,
    )
    assert np.array_equal(path.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    seconds = row["ours_seconds"]
    slow = {
        "name": f"  the same against the slow reference's {reference} s",
        "ours_seconds": seconds,
        "peer_seconds": reference,
        "ratio": reference / seconds,
        "goal": "at least 6",
    }
    return [{**row, "goal": f"at least {goal}"}, slow]


def one_program_each(S, y, n_samples):
    """Return the seconds for KRI's grid by one Clarabel program per weight vector, scaled from some samples."""
    start = time.perf_counter()
    for i in range(n_samples):
        others = np.delete(np.arange(len(y)), i)
        order = others[np.argsort(-S[i, others], kind="stable")]
        for k in NEIGHBORS:
            near = order[:k]
            values, V = np.linalg.eigh(S[np.ix_(near, near)])
            K = (V * np.maximum(values, 0)) @ V.T
            matrices = [sparse.csc_matrix(np.triu(K + reg * np.eye(k))) for reg in KRI_REGS]
            _clarabel(matrices, [-S[i, near]] * len(KRI_REGS), k)
    return (time.perf_counter() - start) * len(y) / n_samples


def _against_one_program_each(ours_seconds, n_samples=3):
    S, _, y, _ = voting_partition(0)
    peer = one_program_each(S, y, n_samples)
    return {
        "name": f"  the same against one Clarabel program per weight vector ({n_samples} samples, scaled)",
        "ours_seconds": ours_seconds,
        "peer_seconds": peer,
        "ratio": peer / ours_seconds,
        "goal": "at least 40",
    }


def _per_sample(n, m=200, k=16):
    """Return the time to predict one sample, for finding the neighbours and for everything after that."""
    rng = np.random.default_rng(0)
    places = np.sort(rng.random(n))
    rows = np.exp(-np.abs(rng.random(m)[:, None] - places))
    # exp(-|i - j| / n) is a similarity of n equally spaced points, for which n^2 numbers need not be stored.
    column = np.exp(-np.abs(np.arange(1 - n, n)) / n)
    S = np.lib.stride_tricks.as_strided(column[n - 1 :], (n, n), (-column.itemsize, column.itemsize))
    similarities, indices = top_k(rows, k)
    selection = best_of(lambda: top_k(rows, k), 5) / m
    weights = best_of(lambda: local_weights(S, similarities, indices, [k], [1.0]), 5) / m
    return {
        "name": f"per test sample, n = {n}, k = {k}: neighbours | KRI weights",
        "ours_seconds": f"{1e6 * selection:.1f} us",
        "peer_seconds": f"{1e6 * weights:.1f} us",
    }


def run():
    rows = []
    for k in (16, 64):
        for reg, goal in ((1e-3, 100), (0.1, 80), (10.0, 40)):
            rows += _program(k, reg, goal)
    rows += [_with_lookup(reg, 40) for reg in (1e-3, 0.1, 10.0)]
    kri = _grid("kri", "clip", KRI_REGS, 6.1, 10)
    rows += [*kri, _against_one_program_each(kri[0]["ours_seconds"])]
    rows += _grid("krr", "pinv", KRR_REGS, 1.7, 8)
    return rows + [_per_sample(n) for n in (1_000, 10_000, 100_000)]
