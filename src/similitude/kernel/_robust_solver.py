"""The robust support vector machine of one pair of classes, for a whole path of C and rho.

With ``v = diag(y) alpha`` the inner problem of Luss & d'Aspremont has the closed solution ``K(v) = A_+``, the positive
part of ``A = S + v v^T / (4 rho)``, and what is left to minimise is convex and once (semi-)differentiable twice::

    F(v) = rho (||A_+||^2 - ||S_+||^2) - y^T v   over   sum v = 0,  0 <= y * v <= C

    gradient  K v - y
    Hessian   K + Q (diag(Omega w^2) + diag(w) Omega diag(w)) Q^T / (4 rho),   A = Q diag(mu) Q^T,  w = Q^T v,
              Omega_ij = (max(mu_i, 0) - max(mu_j, 0)) / (mu_i - mu_j)

Each step minimises the quadratic model within the bounds: the dual of an SVC with the Hessian as its kernel, for which
there is a solver (``native/numerics/smo.hpp``). About ten steps end at rounding error.

S is decomposed once. In the basis of its eigenvectors A is diagonal plus rank one, and ``rank_one`` gives the *shifts*
of the eigenvalues to full relative accuracy, so that F does not drown in rounding errors where rho is large.

How far a v is from the optimum is bounded by the linearised problem, a linear program over the same constraints that is
solved exactly by sorting; it equals the gap between the dual and the primal of the SVM on K(v).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from similitude._native import rank_one, solve_dual
from similitude.kernel._spectrum_problem import best_offset
from similitude.kernel.base import check_range, nearest_rows
from similitude.numerics.eigen import cut_zeros, eigh

TOLERANCE = 1e-8
"""Largest duality gap of what counts as solved, relative to the objective above its value at alpha = 0."""

# Newton's last step costs little and takes the gap from TOLERANCE to rounding error: warm starts then lead to the same
# answer as cold ones.
_AIM = 1e-13
_MAX_STEPS, _MAX_HALVINGS, _QP_STEPS = 200, 40, 30_000
_NEAR = 1e-12
# Decision values this small, relative to their terms, are 0.
_TIE = 1e-11
_EPS = float(np.finfo(float).eps)
# C and rho in units of the similarities; beyond, products would leave the range of floating point.
_C_RANGE, _RHO_RANGE = (1e-150, 1e150), (1e-250, 1e250)


class Evaluation(NamedTuple):
    """F at one v, with what its derivatives are made of."""

    v: np.ndarray
    loss: float
    """F(v)."""
    image: np.ndarray
    """K v."""
    mu: np.ndarray
    """Eigenvalues of A, in no order."""
    vectors: np.ndarray
    """Eigenvectors of A as rows, in the basis of those of S."""
    w: np.ndarray
    """v in the basis of A's eigenvectors."""


class RobustSolution(NamedTuple):
    """The solved problem, in the units of the similarities."""

    v: np.ndarray
    """diag(y) alpha."""
    intercept: float
    objective: float
    gap: float
    """An upper bound on what the objective lacks of the optimum, relative to its value above that at alpha = 0."""
    n_iter: int
    """Eigendecompositions."""
    converged: bool
    eigenvalues: np.ndarray
    """Of K, those above zero."""
    eigenvectors: np.ndarray
    """Of K, as columns."""

    @property
    def dual_coef(self) -> np.ndarray:
        """v, by its name in the estimator."""
        return self.v

    def decide(self, rows: np.ndarray, self_similarity: np.ndarray) -> np.ndarray:
        """Return the decision values of the rows that fit K and are nearest to these rows of similarities."""
        k, _ = nearest_rows(self.eigenvalues, self.eigenvectors, rows, self_similarity)
        coefficients = self.v @ self.eigenvectors
        values = k @ coefficients + self.intercept
        terms = np.abs(k) @ np.abs(coefficients) + abs(self.intercept)
        return np.where(np.abs(values) > _TIE * terms, values, 0.0)


def evaluate(values: np.ndarray, basis: np.ndarray, y: np.ndarray, v: np.ndarray, rho: float) -> Evaluation:
    """Return F at v, for ``S = basis diag(values) basis^T``, values ascending."""
    p = basis.T @ v
    shifts, vectors = np.empty(len(values)), np.empty((len(values), len(values)))
    rank_one(values, p / (2.0 * math.sqrt(rho)), shifts, vectors)
    mu = values + shifts
    positive = np.maximum(mu, 0.0)
    w = vectors @ p
    # ||A_+||^2 - ||S_+||^2 term by term, from the shifts: the difference of the two sums would be rounding errors.
    growth = np.where(values >= 0.0, shifts, positive) * (positive + np.maximum(values, 0.0))
    image = basis @ (vectors.T @ (positive * w))
    return Evaluation(v, float(rho * np.sum(growth) - y @ v), image, mu, vectors, w)


def hessian(point: Evaluation, basis: np.ndarray, rho: float) -> np.ndarray:
    """Return the Hessian of F, by the divided differences of max(., 0) on the spectrum of A."""
    above = np.maximum(point.mu, 0.0)
    below = np.maximum(-point.mu, 0.0)
    positive = above > 0.0
    # One sign: 1 or 0; two signs: the share of the positive one in the distance.
    distance = above[:, None] + above + below[:, None] + below
    with np.errstate(invalid="ignore", divide="ignore"):
        omega = np.where(positive[:, None] == positive, 1.0 * positive, (above[:, None] + above) / distance)
    inner = (point.w[:, None] * omega) * (point.w / (4.0 * rho))
    inner[np.diag_indices_from(inner)] += above + omega @ (point.w**2 / (4.0 * rho))
    Q = basis @ point.vectors.T
    return Q @ inner @ Q.T


def duality_gap(point: Evaluation, y: np.ndarray, bounds: np.ndarray) -> tuple[float, float]:
    """Return how far F(v) may be above its minimum, max over feasible u of ``(K v - y)^T (v - u)``, and the multiplier.

    The dual of that linear program is ``min_b sum bounds_i max(0, 1 - y_i ((K v)_i + b))``. Written per sample all
    terms of the gap are at least 0.
    """
    b, _ = best_offset(point.image, y, bounds)
    slack, alpha = y * (y - point.image - b), y * point.v
    return float(np.sum(np.where(slack > 0.0, slack * (bounds - alpha), -slack * alpha))), b


def certified_gap(point: Evaluation, y: np.ndarray, bounds: np.ndarray) -> tuple[float, float]:
    """Return the duality gap relative to -F, from bounds no larger than the optimum can reach, and the multiplier.

    At the optimum no alpha exceeds -F: its class's alphas sum to ``sum alpha / 2``, which is at most -F because
    ``v^T K v <= sum alpha`` there. And -F at the optimum is at most -F here and the gap. A bound far above would only
    multiply rounding errors.
    """
    gap, multiplier = duality_gap(point, y, bounds)
    largest, alpha = np.max(bounds), np.max(y * point.v)
    for _ in range(3):
        reach = max(gap - point.loss, alpha)
        if reach >= largest:
            break
        largest = reach
        gap = min(gap, duality_gap(point, y, np.minimum(bounds, reach))[0])
    return (gap / -point.loss if gap > 0.0 and point.loss < 0.0 else gap), multiplier


def intercept(point: Evaluation, y: np.ndarray, bounds: np.ndarray) -> float:
    """Return b by the optimality conditions: the mean over free support vectors, or the middle of what is allowed."""
    breaks, alpha = y - point.image, y * point.v
    # Sums of bounds leave rounding errors in one alpha: it is not free.
    full = alpha >= (1.0 - _NEAR) * bounds
    free = (alpha > _NEAR * np.max(alpha, initial=0.0)) & ~full
    if free.any():
        return float(np.mean(breaks[free]))
    # At zero y (K v + b) >= 1, at the bound <= 1.
    lowest = breaks[(y > 0) ^ full]
    highest = breaks[(y < 0) ^ full]
    ends = [side(part) for side, part in ((np.max, lowest), (np.min, highest)) if part.size]
    return float(np.mean(ends)) if ends else 0.0


class _RobustProblem:
    """F over one polytope: one pair of classes, one rho, one vector of bounds."""

    def __init__(self, values: np.ndarray, basis: np.ndarray, y: np.ndarray, bounds: np.ndarray, rho: float):
        self.values, self.basis, self.y, self.rho = values, basis, y, rho
        # With no similarity above 1, K = c v v^T / ||v||^2 for the best c shows ||v||^4 / (16 rho) - n ||v||^2 / 2 to
        # be at most F(v) + y^T v, so F > 0 beyond this radius: larger bounds cannot be met, and would only
        # multiply rounding errors.
        n = len(y)
        radius = max(16.0 * rho * n, (32.0 * rho * math.sqrt(n)) ** (2.0 / 3.0)) ** 0.5
        self.bounds = np.minimum(bounds, 2.0 * radius)
        self.n_iter = 0

    def at(self, v: np.ndarray) -> Evaluation:
        self.n_iter += 1
        return evaluate(self.values, self.basis, self.y, v, self.rho)

    def gap(self, point: Evaluation) -> tuple[float, float]:
        return certified_gap(point, self.y, self.bounds)

    def start(self) -> Evaluation:
        """Return the point with equal alphas within each class, as large as is good."""
        masses = np.array([np.sum(self.bounds[self.y < 0]), np.sum(self.bounds[self.y > 0])])
        least = float(np.min(masses))
        if least == 0.0:
            return self.at(np.zeros(len(self.y)))
        # At the full length one class is at its bounds, exactly.
        return self.along(self.y * self.bounds * np.where(self.y > 0, least / masses[1], least / masses[0]))

    def along(self, ray: np.ndarray) -> Evaluation:
        """Return the point on a ray, not zero, that minimises an upper bound of F within the bounds.

        From ``A_+ <= S_+ + v v^T / (4 rho)`` comes ``F(v) <= v^T S_+ v / 2 + ||v||^4 / (16 rho) - y^T v``.
        """
        ray = ray / np.max(np.abs(ray))
        most = float(np.min(self.bounds[ray != 0.0] / np.abs(ray[ray != 0.0])))
        p = self.basis.T @ ray
        gain, curve = float(self.y @ ray), float(np.maximum(self.values, 0.0) @ p**2)
        quartic = float(p @ p) ** 2 / (4.0 * self.rho)
        t = min(most, gain / curve if curve > 0.0 else np.inf, (gain / quartic) ** (1.0 / 3.0))
        for _ in range(10):
            slope = curve * t + quartic * t**3 - gain
            # From above, Newton's method on this convex slope descends to its zero.
            t -= max(slope, 0.0) / (curve + 3.0 * quartic * t**2)
        return self.at(self.snapped(t * ray))

    def snapped(self, v: np.ndarray) -> np.ndarray:
        """Return v with what rounding errors keep from its bound put there."""
        alpha = np.where(np.abs(v) <= 8.0 * _EPS * np.max(np.abs(v), initial=0.0), 0.0, self.y * v)
        return self.y * np.where(alpha >= (1.0 - 8.0 * _EPS) * self.bounds, self.bounds, alpha)

    def model_minimum(self, point: Evaluation, budget: int) -> tuple[np.ndarray, bool]:
        """Return the minimum of the quadratic model, or a point closer to it, and whether it was reached."""
        H = hessian(point, self.basis, self.rho)
        beta, h = point.v.copy(), H @ point.v
        low, high = np.minimum(self.y * self.bounds, 0.0), np.maximum(self.y * self.bounds, 0.0)
        target = self.y + (h - point.image)
        reached = solve_dual(H, target, float(np.max(np.abs(H))) or 1.0, low, high, budget, beta, h)
        return self.snapped(beta), reached

    def descend(
        self, point: Evaluation, bound: tuple[float, float], target: np.ndarray
    ) -> tuple[Evaluation, tuple[float, float]] | None:
        """Return a better point on the way to ``target``, its gap and multiplier; None where rounding hides any."""
        gap, multiplier = bound
        way = target - point.v
        # On the constraints' plane the multiplier adds nothing, and it takes rounding errors of sum(way) away.
        slope = float(way @ (point.image - self.y + multiplier))
        length = 1.0
        for _ in range(_MAX_HALVINGS):
            if not slope < 0.0:
                return None
            new = self.at(target if length == 1.0 else point.v + length * way)
            new_gap, multiplier = self.gap(new)
            new_slope = float(way @ (new.image - self.y + multiplier))
            # Short of the minimum along the way F has fallen, and so has its bound, whatever rounding makes of F.
            if new_slope <= 0.0 or new_gap <= 0.5 * gap or new.loss <= point.loss + 1e-4 * length * slope:
                return new, (new_gap, multiplier)
            # Where the slope would vanish were it linear.
            length *= min(max(slope / (slope - new_slope), 0.1), 0.7)
        return None

    def solve(self, point: Evaluation) -> tuple[Evaluation, float]:
        """Return the optimum, found from ``point``, and its certified gap."""
        bound = self.gap(point)
        # Far from the optimum the model's minimum is not worth its price: at n = 300 this halves the time, or better.
        budget = 4 * len(self.y) + 100
        for _ in range(_MAX_STEPS):
            gap = bound[0]
            if gap <= _AIM:
                break
            target, reached = self.model_minimum(point, budget)
            better = self.descend(point, bound, target)
            new_gap = np.inf if better is None else better[1][0]
            if new_gap > 0.5 * gap:
                budget = min(2 * budget, _QP_STEPS)
            # Newton's steps gain more than a digit until rounding errors end it.
            slow = better is None or (gap <= TOLERANCE and new_gap > 0.1 * gap)
            if better is not None and not (slow and new_gap > gap):
                point, bound = better
            if slow and (reached or budget == _QP_STEPS):
                break
        return point, bound[0]


def solve_path(
    S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: Sequence[tuple[float, float]]
) -> list[RobustSolution]:
    """Return one solution for each ``(C, rho)``; the bound of sample i is ``C weight_i``.

    For one rho after the other, C ascends: its solution, or that stretched to the new bounds, starts the next.
    """
    largest = float(np.max(np.abs(S), initial=0.0))
    # In this unit, a power of two, the largest similarity is about 1; C is in its inverse, rho in its inverse cube.
    unit = math.ldexp(1.0, min(math.frexp(largest)[1], 1023)) if largest > 0.0 else 1.0
    raw, basis = eigh(S / unit)
    values = cut_zeros(raw)
    offset = float(np.sum(np.minimum(values, 0.0) ** 2))
    answers: dict[int, RobustSolution] = {}
    last: tuple[float, Evaluation] | None = None
    for i in sorted(range(len(points)), key=lambda i: (points[i][1], points[i][0])):
        C, rho = points[i]
        C, rho = C * unit, rho * unit * unit * unit
        check_range(S, _C_RANGE, C=C)
        check_range(S, _RHO_RANGE, rho=rho)
        problem = _RobustProblem(values, basis, y, C * weight, rho)
        if last is None or last[0] != rho:
            point = problem.start()
        else:
            point = _warm(problem, last[1])
        point, gap = problem.solve(point)
        last = rho, point
        answers[i] = _solution(problem, point, gap, unit, rho * offset)
    return [answers[i] for i in range(len(points))]


def _warm(problem: _RobustProblem, point: Evaluation) -> Evaluation:
    """Return a solution for smaller bounds, or the same stretched to these bounds where that is better."""
    if problem.gap(point)[0] <= TOLERANCE or not point.v.any():
        return point
    new = problem.along(point.v)
    return new if new.loss < point.loss else point


def _solution(problem: _RobustProblem, point: Evaluation, gap: float, unit: float, offset: float) -> RobustSolution:
    mu = cut_zeros(point.mu)
    positive = mu > 0.0
    return RobustSolution(
        v=point.v / unit,
        intercept=intercept(point, problem.y, problem.bounds),
        objective=(offset - point.loss) / unit,
        gap=gap,
        n_iter=problem.n_iter,
        converged=gap <= TOLERANCE,
        eigenvalues=mu[positive] * unit,
        eigenvectors=problem.basis @ point.vectors[positive].T,
    )
