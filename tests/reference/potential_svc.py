"""Oracles for the potential support vector machine, written from its definition."""

import numpy as np
import pytest


def centred(S, y, centring=True):
    """The columns and the labels less their means, or as they are."""
    return (S - S.mean(axis=0), y - y.mean()) if centring else (S, y)


def objective(S, y, a, epsilon, centring=True):
    """``||y - S a||^2 / 2 + epsilon ||a||_1``, centred or not."""
    A, target = centred(S, y, centring)
    return 0.5 * np.sum((target - A @ a) ** 2) + epsilon * np.sum(np.abs(a))


def program(S, y, C, epsilon, centring=True):
    """The optimal value and a solution, by a general solver of cone programs."""
    cvxpy = pytest.importorskip("cvxpy")

    A, target = centred(S, y, centring)
    a = cvxpy.Variable(S.shape[1])
    cost = cvxpy.sum_squares(target - A @ a) / 2 + epsilon * cvxpy.norm1(a)
    problem = cvxpy.Problem(cvxpy.Minimize(cost), [a <= C, a >= -C])
    problem.solve(solver="CLARABEL")
    return problem.value, a.value


def coordinate_descent(S, y, C, epsilon, sweeps=20_000):
    """One coefficient after the other, each to its best value; C may be one bound for each."""
    A, target = centred(S, y)
    a = np.zeros(A.shape[1])
    bounds = np.broadcast_to(C, a.shape)
    for _ in range(sweeps):
        before = a.copy()
        for j in range(len(a)):
            column = A[:, j]
            square = column @ column
            if square < 1e-25:
                continue
            pull = column @ (target - A @ a) + square * a[j]
            a[j] = np.clip(np.sign(pull) * max(abs(pull) - epsilon, 0.0) / square, -bounds[j], bounds[j])
        if np.array_equal(a, before):
            break
    return a


def violations(S, y, C, epsilon, a, centring=True):
    """By how much each coefficient violates the conditions of Karush, Kuhn and Tucker."""
    A, target = centred(S, y, centring)
    g = A.T @ (target - A @ a)
    wrong = np.empty(len(a))
    for j in range(len(a)):
        if a[j] == 0:
            wrong[j] = max(abs(g[j]) - epsilon, 0.0)
        elif abs(a[j]) < C:
            wrong[j] = abs(g[j] - epsilon * np.sign(a[j]))
        else:
            wrong[j] = max(epsilon - g[j] * np.sign(a[j]), 0.0)
    return wrong
