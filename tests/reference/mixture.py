"""The learned mixture of several spectra as a cone program for cvxpy and Clarabel, and alignment by brute force."""

import numpy as np
import pytest

from tests.reference.learned_kernel import regularizer, spectrum

ACCURACY = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}


def solve_mixture(matrices, y, eta, gamma, target, tied=False):
    """The optimal objective, the weights a of each matrix, and the decision values of the training samples."""
    cp = pytest.importorskip("cvxpy")

    found = [spectrum(S) for S in matrices]
    values, U = np.concatenate([v for v, _ in found]), np.hstack([u for _, u in found])
    matrix = np.repeat(np.arange(len(found)), [len(v) for v, _ in found])
    n, r = U.shape
    z, b, xi, u = cp.Variable(r), cp.Variable(), cp.Variable(n), cp.Variable(r)
    # z is the coefficient of sqrt|lambda| u, so that it costs z^2 / |a|; for "similarity" of u, and |a lambda|.
    root = np.ones(r) if target == "similarity" else np.sqrt(np.abs(values))
    if tied:
        kept = (values > 0).astype(float) if target == "clip" else np.ones(r)
        omega = cp.multiply(kept, np.eye(len(found))[matrix] @ cp.Variable(len(found)))
    else:
        omega = cp.Variable(r)
    a = cp.multiply(1 / values if target == "similarity" else np.sign(values), omega)
    cone = cp.SOC(omega + u, cp.vstack([2 * z, omega - u]), axis=0)
    U = U * root
    constraints = [cp.multiply(y, U @ z + b) >= 1 - xi, xi >= 0, omega >= 0, u >= 0, cone]
    objective = cp.sum(xi) / n + eta * cp.sum(u) + gamma * regularizer(a, values, target)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver="CLARABEL", **ACCURACY)
    ends = np.cumsum([len(v) for v, _ in found])[:-1]
    return problem.value, np.split(a.value, ends), U @ z.value + b.value


def alignment(weights, matrices, y):
    """The cosine between the centred weighted sum and the centred matrix of equal labels."""
    n = len(y)
    H = np.eye(n) - 1 / n
    K = H @ sum(w * S for w, S in zip(weights, matrices)) @ H
    T = H @ (y[:, None] == y[None]) @ H
    return float(np.sum(K * T) / np.sqrt(np.sum(K * K) * np.sum(T * T)))
