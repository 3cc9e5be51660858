"""The learned spectrum by a primal-dual interior-point method, in the notation of ``_spectrum_problem``.

Mehrotra's predictor and corrector on the dual, all of whose constraints are convex quadratic. Everything but alpha is
diagonal plus a rank of one or two, so that a step costs one Cholesky factor of size min(n, r + 2): at n = 200 and full
rank 1.5 ms, where Clarabel on (12) takes 8, and about half as many steps.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.linalg import blas, lapack

from similitude.kernel._spectrum_problem import GAP, Problem, Solution, dual, primal, relative_gap

_MAX_ITER = 100
_STALLED = 12
_TO_BOUNDARY, _SHORT = 0.99, 0.3
_REFINEMENTS, _ACCURACY = 4, 1e-12
_POSITIVE = ("alpha", "w", "t", "low", "high", "omega", "theta")


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
        """Return this point, so far along a direction."""
        return Point(*(getattr(self, f.name) + length * getattr(step, f.name) for f in fields(self)))


def start(problem: Problem) -> Point:
    """Return a point well inside, near the least penalty, its products of slacks and multipliers equal to mu."""
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
        """Return what the conditions lack: alpha's, v's, the slacks' and the equality."""
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
    """Return the mean product of slack and multiplier."""
    total = at.low @ at.alpha + at.high @ (problem.bounds - at.alpha) + at.omega @ at.w + at.theta @ at.t
    return float(total) / (2 * len(at.alpha) + len(at.w) + len(at.t))


def _inside(problem: Problem, at: Point) -> bool:
    """Return whether rounding has left all slacks and multipliers positive."""
    return all(np.all(getattr(at, name) > 0.0) for name in _POSITIVE) and bool(np.all(at.alpha < problem.bounds))


def _length(problem: Problem, at: Point, step: Point) -> float:
    """Return how far along the direction all slacks and multipliers stay positive."""
    longest = 1.0
    pairs = [(getattr(at, name), getattr(step, name)) for name in _POSITIVE]
    for value, change in [*pairs, (problem.bounds - at.alpha, -step.alpha)]:
        fastest = float(np.max(-change / value))
        longest = min(longest, 1.0 / fastest) if fastest > 0.0 else longest
    return longest


def interior_point(problem: Problem, tolerance: float = GAP, max_iter: int = _MAX_ITER) -> tuple[Solution, float]:
    """Return the best point met, and the best lower bound of the objective."""
    at = start(problem)
    # The constant decision is feasible, whatever rounding makes of the iterates.
    nearest = np.maximum(problem.targets[-1], 0.0)
    objective, zeta, b = primal(problem, nearest, np.zeros_like(nearest))
    best = Solution(nearest, zeta, b, objective, np.inf, 0)
    bound, least, stalled = -np.inf, np.inf, 0
    for n_iter in range(max_iter + 1):
        mu, before = _products(problem, at), best.gap
        if not np.isfinite(mu):
            break
        q = problem.signed.T @ at.alpha
        objective, zeta, b = primal(problem, at.omega, q)
        bound = max(bound, dual(problem, at.alpha, at.v))
        if objective < best.objective:
            best = Solution(at.omega, zeta, b, objective, np.inf, n_iter)
        best.gap, best.n_iter = relative_gap(problem, best.objective, bound), n_iter
        stalled = 0 if best.gap < 0.9 * before or mu < 0.9 * least else stalled + 1
        least = min(least, mu)
        if best.gap <= tolerance or stalled > _STALLED or not _inside(problem, at):
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
