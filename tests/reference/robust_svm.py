"""The robust SVM by its definitions: the dual function by eigendecompositions, the semidefinite programs by cvxpy."""

import numpy as np
import pytest


def positive_part(A):
    """The nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.maximum(values, 0)) @ vectors.T


def learned_kernel(S, v, rho):
    """The K that minimises ``rho ||K - S||^2 - v^T K v / 2`` over positive semidefinite matrices."""
    return positive_part(S + np.outer(v, v) / (4 * rho))


def dual(S, y, alpha, rho):
    """Chen, Gupta & Recht 2009, eq. 2: what is maximised over alpha."""
    v = y * alpha
    K = learned_kernel(S, v, rho)
    return np.sum(alpha) - v @ K @ v / 2 + rho * np.sum((K - S) ** 2)


def semidefinite(S, y, bounds, rho):
    """The optimal value of eq. 6 as a semidefinite program, K its variable."""
    cvxpy = pytest.importorskip("cvxpy")

    n = len(y)
    whole = cvxpy.Variable((n + 1, n + 1), PSD=True)
    slack, b = cvxpy.Variable(n, nonneg=True), cvxpy.Variable()
    K, z, u = whole[:n, :n], whole[:n, n], whole[n, n]
    cost = bounds @ slack + u / 2 + rho * cvxpy.sum_squares(K - S)
    problem = cvxpy.Problem(cvxpy.Minimize(cost), [cvxpy.multiply(y, z + b) >= 1 - slack])
    problem.solve(solver=cvxpy.CLARABEL)
    return problem.value


def nearest_row(K, s, own):
    """Eq. 8 as a semidefinite program: k and r."""
    cvxpy = pytest.importorskip("cvxpy")

    n = len(s)
    whole = cvxpy.Variable((n + 1, n + 1), PSD=True)
    cost = 2 * cvxpy.sum_squares(whole[:n, n] - s) + cvxpy.square(whole[n, n] - own)
    problem = cvxpy.Problem(cvxpy.Minimize(cost), [whole[:n, :n] == K])
    problem.solve(solver=cvxpy.CLARABEL)
    return whole.value[:n, n], whole.value[n, n]
