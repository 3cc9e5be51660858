"""The learned spectrum, eq. (12) of Chen, Gupta & Recht (ICML 2009), solved through its dual.

With F the n x r features of the samples (eigenvectors, scaled) and omega >= 0 the weights of their columns, (12) is

    minimise  sum_i p_i max(0, 1 - y_i ((F zeta)_i + b)) + eta sum_j zeta_j^2 / omega_j + gamma sum_k ||omega - tau_k||

over zeta, b and omega >= 0, with one or two targets tau_k. Its dual, with B = diag(y) F and q = B^T alpha, is

    maximise  sum alpha - sum_k tau_k^T v_k
    over      0 <= alpha <= p,  y^T alpha = 0,  ||v_k|| <= gamma,  q_j^2 / (4 eta) <= sum_k v_kj.

``omega`` is the multiplier of the last constraint, and ``zeta = omega q / (2 eta)``. Two ways lead to the solution:

* Where a target is itself the best omega (large gamma: the norms are exact penalties), it is a support vector
  machine on that kernel, solved by the compiled SMO and Newton steps of the neighbourhoods' machines.
* Else a primal-dual interior-point method (Mehrotra's predictor and corrector, all constraints being convex quadratic).
  Everything but alpha is diagonal plus a rank of one or two, so that a step costs one Cholesky factor of size
  min(n, r + 2): at n = 200 and full rank 1.5 ms, where Clarabel on (12) takes 8, and about half as many steps.

Against cvxpy and Clarabel at n = 200 a fit takes 1/7 of the time or less, the grid of 35 points 1/24
(``python -m benchmarks learned_spectrum``).

Gaps are those between a feasible point of (12) and a feasible point of the dual, computed anew from the iterate: they
bound the error whatever the rounding on the way was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from scipy.linalg import blas, lapack

from similitude.numerics.eigen import cut_zeros, eigh
from similitude.numerics.threads import one_blas_thread

TARGETS = ("clip", "flip", "both", "similarity")
"""What the learned spectrum is drawn to."""

GAP = 1e-8
"""Relative duality gap at which the interior-point method stops."""

ACCEPTED = 1e-6
"""Relative duality gap up to which a solution counts as converged."""

_MAX_ITER = 100
_STALLED = 12
_TO_BOUNDARY, _SHORT = 0.99, 0.3
_SMO_STEPS = 30_000
_REFINEMENTS, _ACCURACY = 4, 1e-12


@dataclass
class Problem:
    """One problem in the notation above; ``signed`` is B, in Fortran's order."""

    features: np.ndarray
    signed: np.ndarray
    y: np.ndarray
    bounds: np.ndarray
    eta: float
    gamma: float
    targets: np.ndarray


@dataclass
class Solution:
    """``decision = F zeta + b``; ``gap`` is relative to the objective's excess over the least penalty."""

    omega: np.ndarray
    zeta: np.ndarray
    b: float
    objective: float
    gap: float
    n_iter: int


def least_penalty(targets: np.ndarray) -> float:
    """The smallest ``sum_k ||omega - tau_k||`` over ``omega >= 0``; two targets have to be nonnegative."""
    if len(targets) == 2:
        return float(np.linalg.norm(targets[0] - targets[1]))
    return float(np.linalg.norm(np.minimum(targets[0], 0.0)))


def relative_gap(problem: Problem, objective: float, bound: float) -> float:
    """The duality gap in units of what the objective has above gamma times the least penalty."""
    excess = objective - problem.gamma * least_penalty(problem.targets)
    return max(objective - bound, 0.0) / max(excess, 1e-300)


def penalty(omega: np.ndarray, targets: np.ndarray) -> float:
    """``sum_k ||omega - tau_k||``."""
    return float(np.sum(np.linalg.norm(omega - targets, axis=1)))


def best_offset(values: np.ndarray, y: np.ndarray, bounds: np.ndarray) -> tuple[float, float]:
    """The b that minimises ``sum_i p_i max(0, 1 - y_i (values_i + b))``, and the minimum.

    Convex and piecewise linear: a kink, where the slope changes its sign; the middle, where it vanishes between two.
    """
    kinks = y - values
    order = np.argsort(kinks)
    kinks, steps = kinks[order], bounds[order]
    slopes = np.cumsum(steps) - np.sum(bounds[y > 0])
    flat = 1e-14 * np.sum(bounds)
    at = min(int(np.searchsorted(slopes, -flat)), len(kinks) - 1)
    b = kinks[at]
    if abs(slopes[at]) <= flat and at + 1 < len(kinks):
        b = 0.5 * (b + kinks[at + 1])
    return float(b), float(bounds @ np.maximum(0.0, 1.0 - y * (values + b)))


def primal(problem: Problem, omega: np.ndarray, q: np.ndarray) -> tuple[float, np.ndarray, float]:
    """The objective of (12) at omega and ``zeta = omega q / (2 eta)`` with the best b; zeta and b."""
    zeta = omega * q / (2.0 * problem.eta)
    b, loss = best_offset(problem.features @ zeta, problem.y, problem.bounds)
    size = float(omega @ q**2) / (4.0 * problem.eta)
    return loss + size + problem.gamma * penalty(omega, problem.targets), zeta, b


def dual(problem: Problem, alpha: np.ndarray, v: np.ndarray) -> float:
    """A lower bound: the dual's objective at a feasible point next to alpha and v."""
    y, bounds = problem.y, problem.bounds
    alpha = np.clip(alpha, 0.0, bounds)
    positive, negative = np.sum(alpha[y > 0]), np.sum(alpha[y < 0])
    if min(positive, negative) <= 0.0:
        return problem.gamma * least_penalty(problem.targets)
    alpha = alpha * np.where(y > 0, min(1.0, negative / positive), min(1.0, positive / negative))
    lacking = (problem.signed.T @ alpha) ** 2 / (4.0 * problem.eta) - np.sum(v, axis=0)
    # Where targets are negative, a larger v is a gain; elsewhere the least is best.
    v = v + np.where(np.sum(problem.targets, axis=0) < 0.0, np.maximum(lacking, 0.0), lacking) / len(v)
    # alpha times s, v times s^2 is feasible as well; the best s is known.
    linear, square = float(np.sum(alpha)), float(np.sum(problem.targets * v))
    longest = float(np.max(np.linalg.norm(v, axis=1)))
    s = np.min(bounds[alpha > 0.0] / alpha[alpha > 0.0])
    s = min(s, np.sqrt(problem.gamma / longest)) if longest > 0.0 else s
    s = min(s, linear / (2.0 * square)) if square > 0.0 else s
    return max(s * linear - s * s * square, problem.gamma * least_penalty(problem.targets))


@dataclass
class Point:
    """An iterate, or a direction: the dual's variables and slacks, and their multipliers."""

    alpha: np.ndarray
    v: np.ndarray
    w: np.ndarray
    """Slack of ``q^2 / (4 eta) <= sum_k v_k``; its multiplier is omega."""
    t: np.ndarray
    """Slack of ``||v_k||^2 / 2 <= gamma^2 / 2``; its multiplier is theta."""
    b: float
    low: np.ndarray
    high: np.ndarray
    """Multipliers of ``alpha >= 0`` and of ``alpha <= p``."""
    omega: np.ndarray
    theta: np.ndarray

    def moved(self, step: Point, length: float) -> Point:
        """This point, so far along a direction."""
        return Point(*(getattr(self, f.name) + length * getattr(step, f.name) for f in fields(self)))


def start(problem: Problem) -> Point:
    """A point well inside, near the least penalty, its products of slacks and multipliers equal to mu."""
    y, bounds, gamma, targets = problem.y, problem.bounds, problem.gamma, problem.targets
    sums = np.where(y > 0, np.sum(bounds[y > 0]), np.sum(bounds[y < 0]))
    alpha = 0.5 * bounds * np.min(sums) / sums
    needed = (problem.signed.T @ alpha) ** 2 / (4.0 * problem.eta)
    shrink = min(1.0, np.sqrt(0.25 * gamma / max(float(np.linalg.norm(needed)), 1e-300)))
    alpha, needed = shrink * alpha, shrink**2 * needed
    n, (k, r) = len(y), targets.shape
    mu = float(np.sum(alpha)) / (2 * n + r + k)
    w = mu / np.maximum(np.max(np.abs(targets), axis=0), 4.0 * np.sqrt(r) * mu / gamma)
    # At the least penalty v_k has the length gamma and the direction of omega - tau_k, unless omega = tau_k.
    away = np.maximum(np.mean(targets, axis=0), 0.0) - targets
    distance = np.linalg.norm(away, axis=1)
    t = np.minimum(mu * gamma / np.maximum(distance, 1e-300), 0.3 * gamma**2)
    away /= np.where(distance > 0.0, distance, 1.0)[:, None]
    share = (needed + w) / k
    along = away @ share
    reach = -along + np.sqrt(along**2 + gamma**2 - 2.0 * t - share @ share)
    v = share + np.min(reach) * away  # one reach for both, so that they cancel in the sum
    t = 0.5 * (gamma**2 - np.sum(v**2, axis=1))
    w = np.sum(v, axis=0) - needed
    omega = mu / w
    low, high = mu / alpha, mu / (bounds - alpha)
    short = 1.0 + low - high - 0.5 * (problem.signed @ (omega * (problem.signed.T @ alpha))) / problem.eta
    low, high = low + np.maximum(-short, 0.0), high + np.maximum(short, 0.0)
    return Point(alpha, v, w, t, 0.0, low, high, omega, mu / t)


def _diagonal(matrix: np.ndarray) -> np.ndarray:
    return np.einsum("ii->i", matrix)


class _System:
    """The linearised optimality conditions at a point, factored once, solved for several right sides."""

    def __init__(self, problem: Problem, at: Point, q: np.ndarray) -> None:
        self.problem, self.at, self.q = problem, at, q
        B, self.half = problem.signed, 0.5 / problem.eta
        self.room = problem.bounds - at.alpha
        # v_k eliminated: theta_k dv_k + (theta_k / t_k) v_k v_k^T dv_k = d omega + ...
        self.length = at.t + np.sum(at.v**2, axis=1)
        slack = at.w / at.omega
        self.diagonal = slack + np.sum(1.0 / at.theta)
        V = at.v / np.sqrt(at.theta * self.length)[:, None]
        # I - V diag(1/diagonal) V^T, its diagonal without the cancellation.
        inner = -(V / self.diagonal) @ V.T
        rest = slack + np.sum(1.0 / at.theta) - (1.0 / at.theta)[:, None]
        rest = np.maximum(rest, slack) / self.diagonal
        _diagonal(inner)[:] = (at.t + np.sum(at.v**2 * rest, axis=1)) / self.length
        values, vectors = np.linalg.eigh(inner)
        self.Z = (vectors / np.sqrt(np.maximum(values, 1e-300))).T @ (V / self.diagonal)
        # alpha's: diagonal + B (E + C C^T) B^T
        self.bend = at.low / at.alpha + at.high / self.room
        E = self.half * (at.omega + self.half * self.q**2 / self.diagonal)
        columns = np.empty((B.shape[0], len(E) + len(V)), order="F")
        np.multiply(B, np.sqrt(E), out=columns[:, : len(E)])
        columns[:, len(E) :] = B @ (self.half * self.q * self.Z).T
        self.columns = columns
        self._factor(small=columns.shape[1] < 0.8 * len(columns))
        self.toward = self._solve(problem.y)

    def _factor(self, small: bool) -> None:
        self.small = small
        if small:
            matrix = blas.dsyrk(1.0, self.columns / np.sqrt(self.bend)[:, None], trans=1, lower=1)
            _diagonal(matrix)[:] += 1.0
        else:
            matrix = blas.dsyrk(1.0, self.columns, lower=1)
            _diagonal(matrix)[:] += self.bend
        self.factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
        ridge = 1e-15
        while failed:
            # Duplicates leave it singular but for rounding; the refinement makes up for the ridge.
            _diagonal(matrix)[:] *= 1.0 + ridge
            self.factor, failed = lapack.dpotrf(matrix, lower=1, clean=0)
            ridge *= 100.0

    def _apply_inverse(self, right: np.ndarray) -> np.ndarray:
        if not self.small:
            return lapack.dpotrs(self.factor, right, lower=1)[0]
        scaled = right / self.bend
        return scaled - (self.columns @ lapack.dpotrs(self.factor, self.columns.T @ scaled, lower=1)[0]) / self.bend

    def _solve(self, right: np.ndarray) -> np.ndarray:
        """Refined till the residual is rounding; the small factor loses digits where many alpha are free."""
        answer, residual = np.zeros_like(right), right
        wanted = _ACCURACY * float(np.max(np.abs(right)))
        for _ in range(_REFINEMENTS):
            answer = answer + self._apply_inverse(residual)
            residual = right - self.bend * answer - self.columns @ (self.columns.T @ answer)
            if float(np.max(np.abs(residual))) <= wanted:
                return answer
        if not self.small:
            return answer
        self._factor(small=False)
        return self._solve(right)

    def _over(self, h: np.ndarray) -> np.ndarray:
        """``G^-1 h`` with G the curvature left for omega."""
        return h / self.diagonal + self.Z.T @ (self.Z @ h)

    def residuals(self) -> tuple:
        """What the conditions lack: alpha's, v's, the slacks' and the equality."""
        problem, at = self.problem, self.at
        alpha = -1.0 + at.b * problem.y - at.low + at.high + self.half * (problem.signed @ (at.omega * self.q))
        v = problem.targets - at.omega + at.theta[:, None] * at.v
        w = at.w - np.sum(at.v, axis=0) + 0.5 * self.half * self.q**2
        t = at.t - 0.5 * (problem.gamma**2 - np.sum(at.v**2, axis=1))
        return alpha, v, w, t, float(problem.y @ at.alpha)

    def step(self, residuals: tuple, mu: float, bend: Point | None) -> Point:
        """The direction to products of mu; with ``bend``, an earlier direction, second-order terms are corrected."""
        problem, at, half, q = self.problem, self.at, self.half, self.q
        r_alpha, r_v, r_w, r_t, r_y = residuals
        low, high = mu - at.low * at.alpha, mu - at.high * self.room
        omega, theta = mu - at.omega * at.w, mu - at.theta * at.t
        if bend is not None:
            dq = problem.signed.T @ bend.alpha
            r_alpha = r_alpha + half * (problem.signed @ (bend.omega * dq))
            r_v = r_v + bend.theta[:, None] * bend.v
            r_w = r_w + 0.5 * half * dq**2
            r_t = r_t + 0.5 * np.sum(bend.v**2, axis=1)
            low, high = low - bend.low * bend.alpha, high + bend.high * bend.alpha
            omega, theta = omega - bend.omega * bend.w, theta - bend.theta * bend.t
        f = -r_v - at.v * ((theta + at.theta * r_t) / at.t)[:, None]
        h = omega / at.omega + r_w - np.sum(self._per_target(f), axis=0)
        right = -r_alpha + low / at.alpha - high / self.room - half * (problem.signed @ (q * self._over(h)))
        d_alpha = self._solve(right)
        d_b = (problem.y @ d_alpha + r_y) / (problem.y @ self.toward)
        d_alpha = d_alpha - d_b * self.toward
        d_q = problem.signed.T @ d_alpha
        d_omega = self._over(h + half * q * d_q)
        d_v = self._per_target(d_omega + f)
        d_t = -r_t - np.sum(at.v * d_v, axis=1)
        return Point(
            alpha=d_alpha,
            v=d_v,
            w=-r_w + np.sum(d_v, axis=0) - half * q * d_q,
            t=d_t,
            b=float(d_b),
            low=(low - at.low * d_alpha) / at.alpha,
            high=(high + at.high * d_alpha) / self.room,
            omega=d_omega,
            theta=(theta - at.theta * d_t) / at.t,
        )

    def _per_target(self, f: np.ndarray) -> np.ndarray:
        """dv_k from ``d omega + f_k``."""
        v = self.at.v
        along = np.sum(v * f, axis=1) / self.length
        return (f - along[:, None] * v) / self.at.theta[:, None]


def _products(problem: Problem, at: Point) -> float:
    """The mean product of slack and multiplier."""
    total = at.low @ at.alpha + at.high @ (problem.bounds - at.alpha) + at.omega @ at.w + at.theta @ at.t
    return float(total) / (2 * len(at.alpha) + len(at.w) + len(at.t))


def _length(problem: Problem, at: Point, step: Point) -> float:
    """How far along the direction all slacks and multipliers stay positive."""
    longest = 1.0
    pairs = [(getattr(at, name), getattr(step, name)) for name in ("alpha", "w", "t", "low", "high", "omega", "theta")]
    for value, change in [*pairs, (problem.bounds - at.alpha, -step.alpha)]:
        fastest = float(np.max(-change / value))
        longest = min(longest, 1.0 / fastest) if fastest > 0.0 else longest
    return longest


def interior_point(problem: Problem, tolerance: float = GAP, max_iter: int = _MAX_ITER) -> tuple[Solution, float]:
    """The best point met, and the best lower bound of the objective."""
    at = start(problem)
    best = Solution(at.omega, at.omega, 0.0, np.inf, np.inf, 0)
    bound, least, stalled = -np.inf, np.inf, 0
    for n_iter in range(max_iter + 1):
        mu, before = _products(problem, at), best.gap
        q = problem.signed.T @ at.alpha
        objective, zeta, b = primal(problem, at.omega, q)
        bound = max(bound, dual(problem, at.alpha, at.v))
        if objective < best.objective:
            best = Solution(at.omega, zeta, b, objective, np.inf, n_iter)
        best.gap, best.n_iter = relative_gap(problem, best.objective, bound), n_iter
        stalled = 0 if best.gap < 0.9 * before or mu < 0.9 * least else stalled + 1
        least = min(least, mu)
        if best.gap <= tolerance or stalled > _STALLED:
            break
        system = _System(problem, at, q)
        residuals = system.residuals()
        predictor = system.step(residuals, 0.0, None)
        ahead = _products(problem, at.moved(predictor, _length(problem, at, predictor)))
        centre = min(1.0, max(ahead / mu, 0.0)) ** 3
        step = system.step(residuals, centre * mu, predictor)
        length = _length(problem, at, step)
        if length < _SHORT:
            # Far from the central path: first back to it, without the corrections that led astray.
            back = system.step(residuals, max(centre, 0.5) * mu, None)
            if _length(problem, at, back) > length:
                step, length = back, _length(problem, at, back)
        at = at.moved(step, min(1.0, _TO_BOUNDARY * length))
    return best, bound


def target_machines(K: np.ndarray, y: np.ndarray, bounds: np.ndarray, etas: list[float]) -> dict[float, np.ndarray]:
    """alpha of the support vector machine on a fixed kernel for each eta; none where it was not found.

    eta descends by powers of ten, each solution the start of the next. The rungs do not depend on the etas asked
    for, so that one alone gives what it gives within a grid.
    """
    from similitude.neighbors import _local_smo as smo

    size = float(np.max(np.abs(K))) or 1.0
    exponent = math.ceil(math.log10(size * float(np.sum(bounds))))
    state, at = np.zeros((4, len(y))), 1.0

    def solved(eta: float, state: np.ndarray, at: float) -> tuple[np.ndarray, bool]:
        low, high, beta, h = state * (at / eta)
        bound = y * bounds / (2.0 * eta)
        low, high = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        # What was at its bound stays there: rounding must not leave it a hair inside.
        full = np.abs(beta) >= np.abs(bound) * (1.0 - 1e-14)
        state = np.stack([low, high, np.where(full, bound, np.clip(beta, low, high)), h])
        return state, smo.solve(K, y, state, size, _SMO_STEPS)

    answers = {}
    for eta in sorted(set(etas), reverse=True):
        while 10.0**exponent > eta:
            state, _ = solved(10.0**exponent, state, at)
            at, exponent = 10.0**exponent, exponent - 1
        here, found = solved(eta, state, at)
        if found:
            answers[eta] = 2.0 * eta * np.abs(here[smo.BETA])
    return answers


def at_target(problem: Problem, alpha: np.ndarray) -> Solution:
    """The last target as omega, with the machine of these alpha; its gap is small where it is the best omega."""
    q = problem.signed.T @ alpha
    v = np.zeros_like(problem.targets)
    if len(v) == 2:
        # At the second target the first norm has a gradient, which is known; the second takes the rest.
        away = problem.targets[1] - problem.targets[0]
        v[0] = problem.gamma * away / np.linalg.norm(away)
        v[1] = q**2 / (4.0 * problem.eta) - v[0]
    objective, zeta, b = primal(problem, problem.targets[-1], q)
    gap = relative_gap(problem, objective, dual(problem, alpha, v))
    return Solution(problem.targets[-1], zeta, b, objective, gap, 0)


@dataclass
class LearnedSpectrum:
    """A solution of (12): K = U diag(a lambda) U^T; ``decision = U z + b``, for new rows ``U (z / lambda)`` on them."""

    values: np.ndarray
    a: np.ndarray
    coefficients: np.ndarray
    b: float
    objective: float
    gap: float
    n_iter: int


def targets_of(values: np.ndarray, target: str) -> np.ndarray:
    """The targets tau_k of omega: of ``|a|``, or, for "similarity", of the eigenvalues ``a lambda`` themselves."""
    clip, flip = (values > 0.0).astype(float), np.ones(len(values))
    return {"clip": clip[None], "flip": flip[None], "both": np.stack([clip, flip]), "similarity": values[None]}[target]


def solve_points(
    S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple[float, float]], target: str
) -> list[LearnedSpectrum]:
    """(12) for several ``(eta, gamma)``; ``weight`` multiplies the loss of each sample."""
    values, vectors = eigh(S)
    values = cut_zeros(values)
    values, vectors = values[values != 0.0], vectors[:, values != 0.0]
    n, counts = len(y), weight > 0.0
    bounds = weight[counts] / n
    if len(values) == 0 or not 0 < np.sum(y[counts] > 0) < np.sum(counts):
        return [_constant(y[counts], bounds, values, vectors, gamma, target) for _, gamma in points]
    # In units of the largest eigenvalue the problem is that of eta / scale (and, for "similarity", gamma * scale).
    scale = float(np.max(np.abs(values)))
    unit = values / scale
    root = np.ones(len(unit)) if target == "similarity" else np.sqrt(np.abs(unit))
    features = np.asfortranarray(vectors[counts] * root)
    signed = np.asfortranarray(y[counts, None] * features)
    targets, stretch = targets_of(unit, target), scale if target == "similarity" else 1.0
    if target == "both" and np.all(unit > 0.0):
        targets, stretch = targets[:1], 2.0  # clip is flip: one norm, twice
    problems = [Problem(features, signed, y[counts], bounds, e / scale, g * stretch, targets) for e, g in points]
    with one_blas_thread():
        solutions = _solutions(problems)
    answers = []
    for found in solutions:
        a = found.omega / unit if target == "similarity" else np.sign(unit) * found.omega + 0.0  # no negative zeros
        coefficients = vectors @ (root * found.zeta / values)
        answers.append(LearnedSpectrum(values, a, coefficients, found.b, found.objective, found.gap, found.n_iter))
    return answers


def _solutions(problems: list[Problem]) -> list[Solution]:
    """Problems that differ in eta and gamma only."""
    first = problems[0]
    fixed = first.targets[-1]
    machines: dict[float, np.ndarray] = {}
    if np.all(fixed >= 0.0):
        K = np.ascontiguousarray((first.features * fixed) @ first.features.T)
        machines = target_machines(K, first.y, first.bounds, [problem.eta for problem in problems])
    solutions = []
    for problem in problems:
        alpha = machines.get(problem.eta)
        known = None if alpha is None else at_target(problem, alpha)
        if known is None or known.gap > GAP:
            best, bound = interior_point(problem)
            # The machine's alpha need not be unique: another may show that the target was the best.
            if known is not None and relative_gap(problem, known.objective, bound) <= max(GAP, best.gap):
                known.gap, known.n_iter = relative_gap(problem, known.objective, bound), best.n_iter
            else:
                known = best
        solutions.append(known)
    return solutions


def _constant(y, bounds, values, vectors, gamma, target) -> LearnedSpectrum:
    """All eigenvalues are 0, or the samples of one class do not count: no direction is of use."""
    targets = targets_of(values, target)
    a = np.maximum(targets[-1], 0.0)
    b, loss = best_offset(np.zeros(len(y)), y, bounds)
    objective = loss + gamma * least_penalty(targets)
    a = a / values if target == "similarity" else np.sign(values) * a
    return LearnedSpectrum(values, a, np.zeros(len(vectors)), b, objective, 0.0, 0)
