"""The programs (12) and (7) of Chen, Gupta & Recht (ICML 2009), written down for cvxpy and solved by Clarabel."""

import numpy as np
import pytest

ACCURACY = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}


def spectrum(S):
    """The eigenvalues that are not zero, and their eigenvectors."""
    values, vectors = np.linalg.eigh(S)
    kept = np.abs(values) > 1e-10 * np.max(np.abs(values))
    return values[kept], vectors[:, kept]


def regularizer(a, values, target):
    """h(a), Section 3.4."""
    cp = pytest.importorskip("cvxpy")

    clip, flip = (values > 0).astype(float), np.sign(values)
    if target == "clip":
        return cp.norm(a - clip)
    if target == "flip":
        return cp.norm(a - flip)
    if target == "both":
        return cp.norm(a - clip) + cp.norm(a - flip)
    return cp.norm(cp.multiply(values, a) - values)


def spectrum_program(S, y, target, weight=None):
    """Eq. (12) with eta and gamma as parameters: the problem, eta, gamma, and the variables a, z, b."""
    cp = pytest.importorskip("cvxpy")

    values, U = spectrum(S)
    n, r = U.shape
    weight = np.ones(n) if weight is None else weight
    eta, gamma = cp.Parameter(pos=True), cp.Parameter(pos=True)
    z, b, xi, u, free = cp.Variable(r), cp.Variable(), cp.Variable(n), cp.Variable(r), cp.Variable(r)
    # lambda a itself where h measures it: better conditioned.
    a, beta = (free, cp.multiply(values, free)) if target != "similarity" else (cp.multiply(1 / values, free), free)
    cone = cp.SOC(beta + u, cp.vstack([2 * z, beta - u]), axis=0)
    constraints = [cp.multiply(y, U @ z + b) >= 1 - xi, xi >= 0, beta >= 0, u >= 0, cone]
    objective = weight @ xi / n + eta * cp.sum(u) + gamma * regularizer(a, values, target)
    return cp.Problem(cp.Minimize(objective), constraints), eta, gamma, (a, z, b)


def solve_spectrum(S, y, eta, gamma, target, weight=None, accuracy=None):
    """The optimal objective of (12), a, and the decision's w and b."""
    problem, at_eta, at_gamma, (a, z, b) = spectrum_program(S, y, target, weight)
    at_eta.value, at_gamma.value = eta, gamma
    problem.solve(solver="CLARABEL", **(ACCURACY if accuracy is None else accuracy))
    values, U = spectrum(S)
    return problem.value, a.value, U @ (z.value / values), float(b.value)


def solve_full(S, y, eta, gamma, weight=None):
    """The optimal objective of (7), K, z and b."""
    cp = pytest.importorskip("cvxpy")

    n = len(y)
    weight = np.ones(n) if weight is None else weight
    big = cp.Variable((n + 1, n + 1), PSD=True)
    b, xi = cp.Variable(), cp.Variable(n)
    K, z, u = big[:n, :n], big[:n, n], big[n, n]
    constraints = [cp.multiply(y, z + b) >= 1 - xi, xi >= 0]
    objective = weight @ xi / n + eta * u + gamma * cp.norm(K - S, "fro")
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver="CLARABEL", **ACCURACY)
    return problem.value, K.value, z.value, float(b.value)


def full_row(K, s, own):
    """Eq. (8): the row k that completes K nearest to s and psi(x, x), as a semidefinite program."""
    cp = pytest.importorskip("cvxpy")

    n = len(s)
    big = cp.Variable((n + 1, n + 1), PSD=True)
    distance = 2 * cp.sum_squares(big[:n, n] - s) + cp.square(big[n, n] - own)
    cp.Problem(cp.Minimize(distance), [big[:n, :n] == K]).solve(solver="CLARABEL", **ACCURACY)
    return big.value[:n, n]
