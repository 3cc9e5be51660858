"""PotentialSVC against its program in cvxpy and Clarabel, and its path against plain fits.

The program is eq. 6 as it is written. Its quadratic form in ``S^T S``, which Clarabel solves in a fraction of the time,
has a row for each kind of similarity.
"""

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import manhattan_distances, rbf_kernel

from benchmarks.timing import best_of, side_by_side
from similitude.base import GridFit
from similitude.features.potential_svc import PotentialSVC

N = 500
POINTS = [(1.0, 0.01), (100.0, 0.0001), (100.0, 0.01), (100.0, 1.0)]
# Chen et al. 2009, Table 2.
GRID = [{"C": 10.0**i, "epsilon": 10.0**j} for i in range(5) for j in range(-4, 2)]


def _data(kind, n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = np.sign(X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.5 + 0.5 * rng.normal(size=n))
    if kind == "RBF":
        return rbf_kernel(X, gamma=0.1), y
    if kind == "smooth RBF":  # singular values down to 1e-7 of the largest
        return rbf_kernel(X, gamma=0.005), y
    if kind == "distances":
        D = manhattan_distances(X) ** 1.5
        return 1 - D / D.max(), y
    B = (rng.random((n, 60)) < 0.3).astype(float)  # common elements of sets; rank 60
    return B @ B.T, np.sign(B[:, :20].sum(1) - 6.2 + rng.normal(size=n))


def program_of(S, y, C, epsilon, quadratic):
    """Return the program, and the constant to be added to its value."""
    import cvxpy

    A, target = S - S.mean(axis=0), y - y.mean()
    a = cvxpy.Variable(A.shape[1])
    if quadratic:
        loss, constant = cvxpy.quad_form(a, cvxpy.psd_wrap(A.T @ A)) / 2 - (A.T @ target) @ a, target @ target / 2
    else:
        loss, constant = cvxpy.sum_squares(target - A @ a) / 2, 0.0
    return cvxpy.Problem(cvxpy.Minimize(loss + epsilon * cvxpy.norm1(a)), [a <= C, a >= -C]), constant


def _against_clarabel(kind, C, epsilon, quadratic=False):
    S, y = _data(kind, N)
    model = PotentialSVC(C=C, epsilon=epsilon).fit(S, y)
    program, constant = program_of(S, y, C, epsilon, quadratic)
    peer = best_of(lambda: program.solve(solver="CLARABEL"), 1)
    ours = best_of(lambda: model.fit(S, y), 5)
    value = program.value + constant
    # Clarabel stops at 1e-8 of its own terms, which may be a hundred times as large as the objective.
    assert model.objective_ <= value * (1 + 1e-7), (model.objective_, value)
    form = ", quadratic form" if quadratic else ""
    name = f"P-SVM, {kind}, n = {N}, C = {C:g}, epsilon = {epsilon:g}: against cvxpy + Clarabel{form}"
    off, share = (model.objective_ - value) / value, len(model.prototypes_) / N
    figures = f"gap {model.duality_gap_:.0e}, objective {off:+.0e} off, {share:.0%} of the columns"
    goal = figures if quadratic else f"at least 10; {figures}"
    return {"name": name, "ours_seconds": ours, "peer_seconds": peer, "ratio": peer / ours, "goal": goal}


def _path_against_fits(kind):
    S, y = _data(kind, N + N // 9)
    train, test = np.arange(N), np.arange(N, len(y))
    block, new, labels = S[np.ix_(train, train)], S[np.ix_(test, train)], y[train]
    model = PotentialSVC()

    def path():
        return GridFit(model, block, labels, GRID).answers(new, "predict")

    def plain():
        return [clone(model).set_params(**point).fit(block, labels).predict(new) for point in GRID]

    assert np.array_equal(path(), plain())
    return side_by_side(f"  {len(GRID)} (C, epsilon), {kind}, n = {N}: path against plain fits", path, plain)


def run():
    kinds = ("RBF", "smooth RBF", "distances", "common elements")
    rows = [_against_clarabel(kind, C, epsilon) for kind in kinds for C, epsilon in POINTS]
    rows += [_against_clarabel(kind, 100.0, 0.01, quadratic=True) for kind in kinds]
    return rows + [_path_against_fits(kind) for kind in kinds]
