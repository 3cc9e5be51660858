"""A support vector machine that learns its whole kernel matrix from an indefinite similarity."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.checks import check_integer, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.types import ClassWeight
from similitude.kernel._robust_solver import solve_path
from similitude.kernel._spectrum_problem import GAP, best_offset, feasible, relative_gap
from similitude.kernel.base import KernelLearningSVC, check_range, nearest_rows
from similitude.kernel.spectrum_solver import ACCEPTED, target_machines
from similitude.numerics.eigen import cut_zeros, eigh
from similitude.similarities.registry import SimilarityLike

_TOLERANCE, _ROUNDS = 1e-10, 4


class LearnedKernel(NamedTuple):
    """The solved problem of one pair of classes; the kernel is given by its positive eigenvalues and their vectors."""

    eigenvalues: np.ndarray
    eigenvectors: np.ndarray
    dual_coef: np.ndarray
    intercept: float
    objective: float
    gap: float
    n_iter: int

    @property
    def converged(self) -> bool:
        """Whether the gap is small enough."""
        return self.gap <= ACCEPTED

    @property
    def kernel(self) -> np.ndarray:
        """The learned kernel as a matrix."""
        return (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T

    def decide(self, rows: np.ndarray, self_similarity: np.ndarray) -> np.ndarray:
        """Return ``c^T k + b``, where each row is replaced by the k of eq. (8)."""
        k, _ = nearest_rows(self.eigenvalues, self.eigenvectors, rows, self_similarity)
        return k @ (self.eigenvectors.T @ self.dual_coef) + self.intercept


class _ConeProgram:
    """Problem (7) for Clarabel in the variables ``svec [K z; z^T u]``, b, xi, v; the same for all eta and gamma."""

    def __init__(self, S: np.ndarray, y: np.ndarray) -> None:
        n = len(y)
        columns, rows = np.tril_indices(n + 1)  # the upper triangle by columns, as Clarabel stacks it
        size = len(rows)
        self.n, self.size = n, size
        # Off-diagonal entries of svec are multiplied by the square root of 2, so that it keeps the Frobenius norm.
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
        distance, semidefinite = np.concatenate([[size + n + 1], inner]), np.arange(size)
        cones = [_minus_variables(chosen, margins.shape[1]) for chosen in (xi, distance, semidefinite)]
        self.A = sparse.vstack([margins, *cones]).tocsc()
        target = S[rows[inner], columns[inner]] * scale[inner]
        self.b = np.concatenate([-np.ones(n), np.zeros(n + 1), -target, np.zeros(size)])

    def solve(self, bounds: np.ndarray, eta: float, gamma: float) -> tuple[np.ndarray, float, int]:
        """Return alpha, ``||K - S||_F``, and the number of steps."""
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


def _minus_variables(chosen: np.ndarray, n_variables: int) -> sparse.coo_matrix:
    """Return the constraint matrix whose rows are the chosen variables with a minus sign."""
    places = np.arange(len(chosen)), chosen
    return sparse.coo_matrix((-np.ones(len(chosen)), places), shape=(len(chosen), n_variables))


def _lower_bound(S: np.ndarray, v: np.ndarray, rest: np.ndarray, eta: float, gamma: float) -> float:
    """Return the dual's value at ``v = diag(y) alpha`` and ``V = v v^T / (4 eta) + rest``, scaled to be feasible.

    The dual maximises ``sum alpha - <V, S>`` over alpha and V with ``||V||_F <= gamma`` and ``V - v v^T / (4 eta)``
    positive semidefinite. The second constraint still holds for alpha times s and V times s^2, and the best s is known.
    """
    V = np.outer(v, v) / (4.0 * eta) + rest
    linear, square, length = float(np.sum(np.abs(v))), float(np.sum(V * S)), float(np.linalg.norm(V))
    s = min(1.0, np.sqrt(gamma / length)) if length > 0.0 else 1.0
    s = min(s, linear / (2.0 * square)) if square > 0.0 else s
    return s * linear - s * s * square


def _nearest_solution(
    S: np.ndarray, y: np.ndarray, bounds: np.ndarray, eta: float, gamma: float, found: tuple[np.ndarray, float, int]
) -> LearnedKernel:
    """Return the solution near these alpha and ``d = ||K - S||``.

    At the optimum ``K = (S + d v v^T / (4 eta gamma))_+`` with v = diag(y) alpha. Unlike an interior point, this has
    the rank of K, on which eq. (8) depends. c is that of the support vector machine on this K.
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
    return LearnedKernel(mu[positive], Q[:, positive], c, b, objective, gap, n_iter)


def _sharpened(
    S: np.ndarray, y: np.ndarray, bounds: np.ndarray, eta: float, gamma: float, found: tuple[np.ndarray, float, int]
) -> LearnedKernel:
    """Return the solution that Clarabel found, refined if its gap is too large.

    If d is known, (7) is the problem of the robust SVM, eq. (2), at ``rho = gamma / (4 eta d)``, to second order in
    the error of d.
    """
    best = _nearest_solution(S, y, bounds, eta, gamma, found)
    _, d, n_iter = found
    for _ in range(_ROUNDS):
        if best.gap <= GAP or d <= 0.0:
            break
        sharper = solve_path(S, y, bounds, [(0.5 / eta, gamma / (4.0 * eta * d))])[0]
        other = _nearest_solution(S, y, bounds, eta, gamma, (2.0 * eta * np.abs(sharper.v), d, n_iter))
        best = other if other.gap < best.gap else best
        d = float(np.linalg.norm(other.kernel - S))
    return best


@shared_docs
class LearnedKernelSVC(KernelLearningSVC):
    """Classify by a support vector machine whose kernel matrix is learned with it, close to the similarities.

    For each pair of classes with n samples it solves::

        minimise  1/n sum_i xi_i + eta c^T K c + gamma ||K - S||_F
        over      c, b, xi >= 0, K     subject to  y_i ((K c)_i + b) >= 1 - xi_i,   K positive semidefinite

    With z = K c this is a semidefinite program in ``[K z; z^T u]``, which Clarabel solves. For large gamma it is the
    SVM on the clipped kernel with ``C = 1 / (2 eta n)``, except for the treatment of new rows.

    K is known among training samples only. For a new row s with self-similarity psi(x, x) the decision value is
    ``c^T k + b``, where k and r complete K to a positive semidefinite matrix as near to them as possible::

        minimise  2 ||k - s||^2 + (r - psi(x, x))^2   over   [K k; k^T r] positive semidefinite

    psi(x, x) may be given by ``Proximities(rows, self_similarity=...)``; otherwise the mean of those of the training
    samples is used.

    The program has n^2 / 2 variables, and the time grows with the fifth power of n or faster: a pair of 20 samples
    takes 0.05 s, one of 40 takes 0.8 s, one of 60 about 8 s. :class:`LearnedSpectrumSVC`, which learns only the
    eigenvalues of the kernel, takes milliseconds.

    With similarities multiplied by t, the decisions are the same if eta is multiplied and gamma divided by t. An
    asymmetric S is replaced by ``(S + S^T)/2``, with a warning; the rows of new raw objects are treated in the same
    way.

    Parameters
    ----------
    eta : float, default=0.01
        Weight of the norm of the decision function: the larger it is, the smoother the function.
    gamma : float, default=1.0
        Weight of the distance of the kernel from the similarities. With ``t S``, ``t eta`` and ``gamma / t`` the
        classifier is the same, so choose eta relative to the scale of S, which is
        ``np.median(S.max(axis=1) - S.mean(axis=1))``, and gamma relative to its inverse.
    {class_weight}
    {probability}
    max_samples : int, default=60
        Largest number of samples in a pair of classes; if there are more, ``fit`` raises a ValueError.
    {similarity}

    Attributes
    ----------
    {classes_}
    kernel_ : ndarray of shape (n, n)
        The learned K. With more than two classes, this and the next two attributes are lists with one item for each
        pair of classes.
    dual_coef_ : ndarray of shape (n,)
        The coefficients c.
    intercept_ : float
        The intercept b.
    objective_ : float
        The minimum. With more than two classes, this and the next two attributes are arrays with one entry for each
        pair of classes.
    duality_gap_ : float
        An upper bound of the relative error of the objective, from which gamma times the distance of S from the cone
        of positive semidefinite matrices is subtracted.
    n_iter_ : int
        The number of steps of Clarabel.
    {support_columns_}
        These are all training samples.

    See Also
    --------
    LearnedSpectrumSVC : Learns only the eigenvalues of the kernel, and is much faster.
    RobustSVC : Learns the kernel with a squared norm, and is much faster.

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
    _figures = ("kernel", "dual_coef", "intercept")

    def __init__(
        self,
        eta: float = 0.01,
        gamma: float = 1.0,
        *,
        class_weight: ClassWeight = None,
        probability: bool = False,
        max_samples: int = 60,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.eta = eta
        self.gamma = gamma
        self.class_weight = class_weight
        self.probability = probability
        self.max_samples = max_samples
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> tuple[float, float]:
        check_integer(self.max_samples, "max_samples", 2)
        return check_positive(parameters["eta"], "eta"), check_positive(parameters["gamma"], "gamma")

    def _solve(self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple[float, float]]) -> list[Any]:
        if len(y) > self.max_samples:
            raise ValueError(
                f"{len(y)} samples in a pair of classes are more than max_samples={self.max_samples}: learning the "
                "whole kernel would take too long. Use LearnedSpectrumSVC, which learns only the spectrum."
            )
        # With S in units of its largest entry, eta becomes eta / scale and gamma becomes gamma * scale.
        scale = float(np.max(np.abs(S))) or 1.0
        bounds = weight / len(y)
        program = _ConeProgram(S / scale, y)
        solutions = []
        for eta, gamma in points:
            unit = eta / scale, gamma * scale
            check_range(S, (1e-20, 1e20), eta=unit[0], gamma=unit[1])
            found = _sharpened(S / scale, y, bounds, *unit, program.solve(bounds, *unit))
            solutions.append(found._replace(eigenvalues=found.eigenvalues * scale, dual_coef=found.dual_coef / scale))
        return solutions
