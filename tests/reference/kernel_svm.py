"""The SVM on similarities by its definition: the modified matrix, its dual as a quadratic program for Clarabel."""

import clarabel
import numpy as np
from scipy import sparse

from tests.reference import spectrum as modification


def solve(K, y, bounds):
    """alpha, the intercept and the optimal value of the dual: y in {-1, +1}, ``bounds`` on each alpha."""
    n = len(y)
    Q = sparse.triu(np.outer(y, y) * K, format="csc")
    A = sparse.csc_matrix(np.vstack([y[None], np.eye(n), -np.eye(n)]))
    right = np.concatenate([[0.0], bounds, np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * n)]
    solution = clarabel.DefaultSolver(Q, -np.ones(n), A, right, cones, settings).solve()
    return np.array(solution.x), solution.z[0], -solution.obj_val


def decisions(S, rows, y, C, method):
    """Decision values of rows, and the optimal value of the dual."""
    alpha, intercept, objective = solve(modification.kernel(S, method), y, np.full(len(y), C))
    treated = np.array([modification.row(S, s, method) for s in rows])
    return treated @ (alpha * y) + intercept, objective


def transductive_decisions(S, train, test, y, C, method):
    """Decision values of the test samples where the spectrum of all samples together is modified."""
    K = modification.kernel((S + S.T) / 2, method)
    alpha, intercept, _ = solve(K[np.ix_(train, train)], y, np.full(len(y), C))
    return K[np.ix_(test, train)] @ (alpha * y) + intercept


def krein_decisions(S, rows, y, C):
    """Loosli, Canu & Ong 2016: solve with the flipped kernel, map alpha back by U sgn(D) U^T; rows as they are."""
    D, U = np.linalg.eigh((S + S.T) / 2)
    alpha, intercept, _ = solve(U @ np.diag(np.abs(D)) @ U.T, y, np.full(len(y), C))
    mapped = U @ np.diag(np.sign(D)) @ U.T @ (alpha * y)
    return rows @ mapped + intercept


def primal(K, beta, intercept, y, bounds):
    """The primal value of a solution."""
    h = K @ beta
    return beta @ h / 2 + bounds @ np.maximum(0.0, 1.0 - y * (h + intercept))


def violation(K, beta, intercept, y, bounds):
    """How far the optimality conditions are missed: margins of at least 1 below the bound, and at most 1 above 0."""
    alpha, margin = y * beta, y * (K @ beta + intercept)
    too_small, too_large = 1 - margin[alpha < bounds * (1 - 1e-9)], margin[alpha > bounds * 1e-9] - 1
    return max(np.max(too_small, initial=0.0), np.max(too_large, initial=0.0))
