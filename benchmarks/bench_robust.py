"""RobustSVC against its semidefinite program in cvxpy and Clarabel, and its path against plain fits."""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import manhattan_distances

from benchmarks.timing import best_of, side_by_side
from similitude.base import GridFit
from similitude.kernel.robust_svc import RobustSVC

GRID = [{"C": 10.0**a, "rho": 10.0**b} for a in range(-3, 4) for b in range(-3, 4)]  # Chen, Gupta & Recht 2009


def _data(n):
    X, y = make_blobs(n, centers=2, n_features=5, cluster_std=4, random_state=0)
    D = manhattan_distances(X) ** 1.5
    return 1 - D / D.max(), y


def _program(S, y, C, rho):
    """Return the semidefinite program in the variable K."""
    import cvxpy

    n, signs = len(y), np.where(y == y.max(), 1.0, -1.0)
    whole = cvxpy.Variable((n + 1, n + 1), PSD=True)
    slack, b = cvxpy.Variable(n, nonneg=True), cvxpy.Variable()
    cost = C * cvxpy.sum(slack) + whole[n, n] / 2 + rho * cvxpy.sum_squares(whole[:n, :n] - S)
    return cvxpy.Problem(cvxpy.Minimize(cost), [cvxpy.multiply(signs, whole[:n, n] + b) >= 1 - slack])


def run():
    rows = []
    for n, C, rho in ((40, 1.0, 1.0), (100, 1.0, 1.0)):
        S, y = _data(n)
        model, program = RobustSVC(C=C, rho=rho).fit(S, y), _program(S, y, C, rho)  # compiles
        # The program takes half a minute, so that it is timed once.
        ours = best_of(lambda model=model, S=S, y=y: model.fit(S, y), 20)
        peer = best_of(lambda program=program: program.solve(solver="CLARABEL"), 1)
        assert abs(model.objective_ - program.value) <= 1e-5 * abs(program.value)
        name = f"robust SVM, n = {n}: against cvxpy + Clarabel"
        rows.append({"name": name, "ours_seconds": ours, "peer_seconds": peer, "ratio": peer / ours})
    rows[-1]["goal"] = "at least 500"
    for n in (100, 300):
        S, y = _data(n + n // 9)
        train, test = np.arange(n), np.arange(n, len(y))
        block, new = S[np.ix_(train, train)], S[np.ix_(test, train)]
        model = RobustSVC()

        def path(model=model, block=block, labels=y[train], new=new):
            return GridFit(model, block, labels, GRID).answers(new, "predict")

        def plain(model=model, block=block, labels=y[train], new=new):
            return [clone(model).set_params(**point).fit(block, labels).predict(new) for point in GRID]

        assert np.array_equal(path(), plain())
        rows.append(side_by_side(f"  49 (C, rho), n = {n}: path against plain fits", path, plain))
    return rows
