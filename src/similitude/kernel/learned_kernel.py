"""A support vector machine that learns its whole kernel matrix from an indefinite similarity."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude.base import check_positive
from similitude.kernel._nearest_rows import nearest_rows
from similitude.kernel._spectrum_problem import GAP, best_offset, feasible, relative_gap
from similitude.kernel._spectrum_solver import ACCEPTED, target_machines
from similitude.kernel.base import OneVsOneMachines, check_range
from similitude.numerics.eigen import cut_zeros, eigh

_TOLERANCE, _ROUNDS = 1e-10, 4


class KernelMachine(NamedTuple):
    """The solution for one pair of classes; the learned kernel by its positive eigenvalues and their vectors."""

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray
    dual_coef: np.ndarray
    intercept: float
    objective: float
    gap: float
    n_iter: int

    @property
    def converged(self) -> bool:
        return self.gap <= ACCEPTED

    @property
    def kernel(self) -> np.ndarray:
        return (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T

    def decide(self, rows: np.ndarray, self_similarity: np.ndarray) -> np.ndarray:
        """``c^T k + b`` with the k of eq. (8) in the place of each row."""
        k, _ = nearest_rows(self.eigenvalues, self.eigenvectors, rows, self_similarity)
        return k @ (self.eigenvectors.T @ self.dual_coef) + self.intercept


class _Program:
    """(7) for Clarabel, in the variables ``svec [K z; z^T u]``, b, xi, v; the same for all eta and gamma."""

    def __init__(self, S: np.ndarray, y: np.ndarray) -> None:
        n = len(y)
        columns, rows = np.tril_indices(n + 1)  # the upper triangle by columns, as Clarabel stacks it
        size = len(rows)
        self.n, self.size = n, size
        # Off the diagonal svec carries the root of 2, so that it keeps the Frobenius norm.
        scale = np.where(rows == columns, 1.0, np.sqrt(2.0))
        inner = np.flatnonzero(columns < n)
        z = np.flatnonzero((columns == n) & (rows < n))
        at, b, xi = np.arange(n), np.full(n, size), size + 1 + np.arange(n)
        margins = sparse.coo_matrix(
            (
                np.concatenate([-y / np.sqrt(2.0), -y, -np.ones(n)]),
                (np.tile(at, 3), np.concatenate([z, b, xi])),
            ),
            shape=(n, size + n + 2),
        )
        losses = sparse.coo_matrix((-np.ones(n), (at, xi)), shape=margins.shape)
        near = np.concatenate([[size + n + 1], inner])
        distance = sparse.coo_matrix(
            (-np.ones(len(near)), (np.arange(len(near)), near)), shape=(len(near), margins.shape[1])
        )
        semidefinite = sparse.coo_matrix(
            (-np.ones(size), (np.arange(size), np.arange(size))), shape=(size, margins.shape[1])
        )
        self.A = sparse.vstack([margins, losses, distance, semidefinite]).tocsc()
        target = S[rows[inner], columns[inner]] * scale[inner]
        self.b = np.concatenate([-np.ones(n), np.zeros(n + 1), -target, np.zeros(size)])

    def solve(self, bounds: np.ndarray, eta: float, gamma: float) -> tuple[np.ndarray, float, int]:
        """alpha, ``||K - S||_F``, and the number of steps."""
        import clarabel

        n, size = self.n, self.size
        price = np.zeros(self.A.shape[1])
        price[size - 1], price[size + 1 : -1], price[-1] = eta, bounds, gamma
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _TOLERANCE
        cones = [
            clarabel.NonnegativeConeT(2 * n),
            clarabel.SecondOrderConeT(1 + n * (n + 1) // 2),
            clarabel.PSDTriangleConeT(n + 1),
        ]
        none = sparse.csc_matrix((len(price), len(price)))
        answer = clarabel.DefaultSolver(none, price, self.A, self.b, cones, settings).solve()
        return np.asarray(answer.z)[:n], float(answer.x[-1]), int(answer.iterations)


def _lower_bound(S: np.ndarray, v: np.ndarray, rest: np.ndarray, eta: float, gamma: float) -> float:
    """The dual's value at ``v = diag(y) alpha`` and ``V = v v^T / (4 eta) + rest``, scaled to be feasible.

    The dual is: maximise ``sum alpha - <V, S>`` over alpha and ``||V||_F <= gamma``, ``V - v v^T / (4 eta)``
    semidefinite. alpha times s and V times s^2 keep the second, and the best s is known.
    """
    V = np.outer(v, v) / (4.0 * eta) + rest
    linear, square, length = float(np.sum(np.abs(v))), float(np.sum(V * S)), float(np.linalg.norm(V))
    s = min(1.0, np.sqrt(gamma / length)) if length > 0.0 else 1.0
    s = min(s, linear / (2.0 * square)) if square > 0.0 else s
    return s * linear - s * s * square


def _machine(
    S: np.ndarray, y: np.ndarray, bounds: np.ndarray, eta: float, gamma: float, found: tuple[np.ndarray, float, int]
) -> KernelMachine:
    """The machine near these alpha and ``d = ||K - S||``.

    At the optimum ``K = (S + d v v^T / (4 eta gamma))_+`` with v = diag(y) alpha: unlike an interior point this has
    the rank that K has, which eq. (8) depends on. c is that of the support vector machine on this K.
    """
    v, d, n_iter = y * feasible(np.nan_to_num(found[0]), y, bounds), max(found[1], 0.0), found[2]
    stretch = d / (4.0 * eta * gamma)
    mu, Q = eigh(S + stretch * np.outer(v, v))
    mu = cut_zeros(mu)
    positive, negative = mu > 0.0, mu < 0.0
    K = np.ascontiguousarray((Q[:, positive] * mu[positive]) @ Q[:, positive].T)
    counts = bounds > 0.0
    best = v.copy()
    if 0 < np.sum(y[counts] > 0) < np.sum(counts):
        block = np.ascontiguousarray(K[np.ix_(counts, counts)])
        for alpha in target_machines(block, y[counts], bounds[counts], [eta]).values():
            best[counts] = y[counts] * alpha
    c = best / (2.0 * eta)
    b, loss = best_offset(K @ c, y, bounds)
    objective = loss + eta * float(c @ K @ c) + gamma * float(np.linalg.norm(K - S))
    floor = gamma * float(np.linalg.norm(np.minimum(eigh(S)[0], 0.0)))  # the dual at alpha = 0
    rest = (Q[:, negative] * -mu[negative]) @ Q[:, negative].T / (4.0 * eta * stretch) if stretch > 0.0 else 0.0 * K
    bound = max(floor, *(_lower_bound(S, u, part, eta, gamma) for u in (v, best) for part in (rest, 0.0 * rest)))
    gap = relative_gap(objective, bound, floor)
    return KernelMachine(mu[positive], Q[:, positive], c, b, objective, gap, n_iter)


def _finished(
    S: np.ndarray, y: np.ndarray, bounds: np.ndarray, eta: float, gamma: float, found: tuple[np.ndarray, float, int]
) -> KernelMachine:
    """The machine of what Clarabel found, sharpened where that is not near enough.

    With d known, (7) is the robust machine, eq. (2), at ``rho = gamma / (4 eta d)``, to second order in d's error.
    """
    from similitude.kernel._robust_solver import solve_path

    machine = _machine(S, y, bounds, eta, gamma, found)
    _, d, n_iter = found
    for _ in range(_ROUNDS):
        if machine.gap <= GAP or d <= 0.0:
            break
        sharper = solve_path(S, y, bounds, [(0.5 / eta, gamma / (4.0 * eta * d))])[0]
        other = _machine(S, y, bounds, eta, gamma, (2.0 * eta * np.abs(sharper.v), d, n_iter))
        machine = other if other.gap < machine.gap else machine
        d = float(np.linalg.norm(other.kernel - S))
    return machine


class LearnedKernelSVC(OneVsOneMachines):
    """A support vector machine whose whole kernel matrix is learned with it, in the vicinity of the similarities.

    For each pair of classes, of n samples, ::

        minimise  1/n sum_i xi_i + eta c^T K c + gamma ||K - S||_F
        over      c, b, xi >= 0, K     subject to  y_i ((K c)_i + b) >= 1 - xi_i,   K positive semidefinite

    which with z = K c is a semidefinite program in ``[K z; z^T u]`` and is solved as such, by Clarabel. Large gamma
    leads to the SVM on the clipped kernel with ``C = 1 / (2 eta n)``, but for the treatment of new rows.

    K is known among training samples only. For a new row s with self-similarity psi(x, x) the decision is
    ``c^T k + b``, where k and r complete K to a positive semidefinite matrix as near to them as can be::

        minimise  2 ||k - s||^2 + (r - psi(x, x))^2   over   [K k; k^T r] positive semidefinite

    ``Proximities(rows, self_similarity=...)`` brings psi(x, x); else the mean of the training samples' is taken.

    The program has n^2 / 2 variables, and the time grows with the fifth power of n or faster: a pair of 20 samples
    takes 0.05 s, one of 40 takes 0.8 s, one of 60 about 8 s. :class:`LearnedSpectrumSVC`, which learns the
    eigenvalues of the kernel alone, takes milliseconds.

    Similarities t times as large give the same decisions with eta t times as large and gamma divided by t. S is made
    symmetric, ``(S + S^T)/2``, with a warning where it was not.

    Parameters
    ----------
    eta : float, default=0.01
        Weight of the norm of the decision function: the larger, the smoother.
    gamma : float, default=1.0
        Weight of the distance of the kernel from the similarities.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the loss of each class.
    probability : bool, default=False
        Whether ``predict_proba`` is to be available, at the price of a cross-validation in ``fit``.
    max_samples : int, default=60
        Largest number of samples in a pair of classes; beyond it ``fit`` raises a ValueError.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    kernel_ : ndarray of shape (n, n)
        The learned K; as the next two a list, one for each pair, with more than two classes.
    dual_coef_ : ndarray of shape (n,)
        c.
    intercept_ : float
        b.
    objective_ : float
        The minimum; as the next two an array, one for each pair, with more than two classes.
    duality_gap_ : float
        An upper bound of the relative error of the objective (less gamma times the distance of S from the cone).
    n_iter_ : int
        Steps of Clarabel.
    support_columns_ : ndarray of int
        Training samples to which similarities are needed in ``predict``: all.

    References
    ----------
    Chen, Gupta & Recht, "Learning kernels from indefinite similarities", ICML 2009, eqs. (4) and (7) to (9).

    Examples
    --------
    >>> from similitude import LearnedKernelSVC
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = LearnedKernelSVC(eta=0.1, gamma=0.1).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> round(model.objective_, 4)
    0.1
    """

    _path_parameters = ("eta", "gamma")

    def __init__(
        self,
        eta=0.01,
        gamma=1.0,
        *,
        class_weight=None,
        probability=False,
        max_samples=60,
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.eta = eta
        self.gamma = gamma
        self.class_weight = class_weight
        self.probability = probability
        self.max_samples = max_samples
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict) -> tuple[float, float]:
        eta, gamma = (parameters.get(name, getattr(self, name)) for name in self._path_parameters)
        check_positive(eta, "eta")
        check_positive(gamma, "gamma")
        if not isinstance(self.max_samples, Integral) or isinstance(self.max_samples, bool) or self.max_samples < 2:
            raise ValueError(f"max_samples must be an integer from 2 up; got {self.max_samples!r}.")
        return float(eta), float(gamma)

    def _solve(self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple]) -> list[Any]:
        if len(y) > self.max_samples:
            raise ValueError(
                f"{len(y)} samples in a pair of classes are more than max_samples={self.max_samples}: learning the "
                "whole kernel would take too long. Use LearnedSpectrumSVC, which learns its spectrum alone."
            )
        # In units of the largest entry the problem is that of eta / scale and gamma * scale.
        scale = float(np.max(np.abs(S))) or 1.0
        bounds = weight / len(y)
        program = _Program(S / scale, y)
        machines = []
        for eta, gamma in points:
            unit = eta / scale, gamma * scale
            check_range(S, (1e-20, 1e20), eta=unit[0], gamma=unit[1])
            machine = _finished(S / scale, y, bounds, *unit, program.solve(bounds, *unit))
            machines.append(
                machine._replace(eigenvalues=machine.eigenvalues * scale, dual_coef=machine.dual_coef / scale)
            )
        return machines

    def _keep_figures(self) -> None:
        super()._keep_figures()
        self._keep_by_pair(kernel_="kernel", dual_coef_="dual_coef", intercept_="intercept")
