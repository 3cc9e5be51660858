"""Oracles for the linear programming machine, written from its definition."""

import numpy as np
import pytest


def objective(S, y, w, b, C):
    """``||w||_1 + C sum hinge``."""
    return np.sum(np.abs(w)) + C * np.sum(np.maximum(0.0, 1.0 - y * (S @ w + b)))


def program(S, y, C):
    """The optimal value, w and b, by a general solver of cone programs."""
    cvxpy = pytest.importorskip("cvxpy")

    w, b = cvxpy.Variable(S.shape[1]), cvxpy.Variable()
    loss = cvxpy.sum(cvxpy.pos(1 - cvxpy.multiply(y, S @ w + b)))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm1(w) + C * loss))
    problem.solve(solver="CLARABEL")
    return problem.value, w.value, float(b.value)


def best_intercepts(f, y):
    """The lowest and the highest b that minimise the sum of the hinges of ``f + b``, by trying every kink."""
    kinks = np.unique(y - f)
    losses = np.array([np.sum(np.maximum(0.0, 1.0 - y * (f + b))) for b in kinks])
    best = kinks[losses <= losses.min() + 1e-12 * (1 + losses.min())]
    return best.min(), best.max()
