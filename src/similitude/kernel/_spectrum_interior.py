"""The learned spectrum by a primal-dual interior-point method, in the notation of ``_spectrum_problem``.

The method is Mehrotra's predictor and corrector on the dual, all of whose constraints are convex quadratic. Everything
but alpha is diagonal plus a matrix of rank one or two, so a step costs one Cholesky factor of size min(n, r + 2):
at n = 200 and full rank 1.5 ms, where Clarabel on (12) takes 8 ms, and about half as many steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from similitude.kernel._spectrum_problem import GAP, SpectrumProblem, SpectrumSolution, dual, primal, relative_gap

_AIM = 1e-10
"""Relative gap asked for: the last steps gain a digit or more each, so they cost little."""

_SLOW = 0.5
"""Below the gap at which a problem is solved, a step that leaves more than this share of the gap is the last."""

_TO_BOUNDARY = 0.9, 0.99
"""Share of the way to the boundary that a step takes, at a large gap and at a small one."""

_MAX_ITER, _STALLED, _SHORT = 100, 12, 0.3
_REFINEMENTS, _ACCURACY = 4, 1e-12


@dataclass
class Iterate:
    """An iterate, or a direction.

    ``slack`` holds alpha, its distance from the bounds p, the slack of ``q^2 / (4 eta) <= sum_k v_k`` and that of
    ``||v_k||^2 / 2 <= gamma^2 / 2``, one after the other; ``multiplier`` holds their multipliers, of which the third is
    omega, and the last is called theta. ``b`` is the multiplier of ``y^T alpha = 0``.
    """

    slack: np.ndarray
    multiplier: np.ndarray
    v: np.ndarray
    b: float

    def parts(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Views of the four parts of a vector that is laid out like ``slack``."""
        k, r = self.v.shape
        n = (len(values) - r - k) // 2
        return values[:n], values[n : 2 * n], values[2 * n : 2 * n + r], values[2 * n + r :]

    @property
    def alpha(self) -> np.ndarray:
        return self.parts(self.slack)[0]

    @property
    def omega(self) -> np.ndarray:
        return self.parts(self.multiplier)[2]

    def inside(self) -> bool:
        """Return whether rounding has left all slacks and multipliers positive."""
        return bool(np.all(self.slack > 0.0) and np.all(self.multiplier > 0.0))

    def mean_product(self) -> float:
        """Return the mean product of slack and multiplier."""
        return float(self.slack @ self.multiplier) / len(self.slack)

    def reach(self, step: Iterate) -> float:
        """Return how far along a direction, at most 1, all slacks and multipliers stay positive."""
        fastest = max(float(np.max(-step.slack / self.slack)), float(np.max(-step.multiplier / self.multiplier)))
        return 1.0 / max(fastest, 1.0)

    def moved(self, step: Iterate, length: float) -> Iterate:
        """Return the point so far along a direction."""
        return Iterate(
            self.slack + length * step.slack,
            self.multiplier + length * step.multiplier,
            self.v + length * step.v,
            self.b + length * step.b,
        )


def start(problem: SpectrumProblem) -> Iterate:
    """Return a point well inside, near the least penalty, whose products of slack and multiplier are about equal."""
    y, bounds, gamma, targets = problem.y, problem.bounds, problem.gamma, problem.targets
    sums = np.where(y > 0, np.sum(bounds[y > 0]), np.sum(bounds[y < 0]))
    alpha = 0.5 * bounds * np.min(sums) / sums
    needed = problem.by_weight((problem.signed.T @ alpha) ** 2) / (4.0 * problem.eta)
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
    pull = problem.signed @ (problem.by_column(omega) * (problem.signed.T @ alpha))
    short = 1.0 + low - high - 0.5 * pull / problem.eta
    low, high = low + np.maximum(-short, 0.0), high + np.maximum(short, 0.0)
    return Iterate(np.concatenate([alpha, bounds - alpha, w, t]), np.concatenate([low, high, omega, mu / t]), v, 0.0)


def _diagonal(matrix: np.ndarray) -> np.ndarray:
    return np.einsum("ii->i", matrix)


class _System:
    """The linearised optimality conditions at a point, factored once and solved for several right sides."""

    def __init__(self, problem: SpectrumProblem, at: Iterate, q: np.ndarray) -> None:
        self.problem, self.at, self.q = problem, at, q
        B, self.half = problem.signed, 0.5 / problem.eta
        self.weight = at.multiplier / at.slack
        low, high, stiffness, _ = at.parts(self.weight)
        t, (_, _, omega, theta) = at.parts(at.slack)[3], at.parts(at.multiplier)
        # v_k eliminated: theta_k dv_k + (theta_k / t_k) v_k v_k^T dv_k = d omega + ...
        self.theta = theta
        self.length = t + np.sum(at.v**2, axis=1)
        self.diagonal = 1.0 / stiffness + np.sum(1.0 / theta)
        V = at.v / np.sqrt(theta * self.length)[:, None]
        # I - V diag(1/diagonal) V^T, its diagonal without the cancellation.
        inner = -(V / self.diagonal) @ V.T
        rest = np.maximum(self.diagonal - (1.0 / theta)[:, None], 1.0 / stiffness) / self.diagonal
        _diagonal(inner)[:] = (t + np.sum(at.v**2 * rest, axis=1)) / self.length
        values, vectors = np.linalg.eigh(inner)
        self.Z = (vectors / np.sqrt(np.maximum(values, 1e-300))).T @ (V / self.diagonal)
        # What is left for alpha: diag(bend) + B (E + C C^T) B^T.
        self.bend = low + high
        self.columns = columns = (
            self._columns(B, omega) if problem.groups is None else self._grouped(B, omega, problem.groups)
        )
        self._factor(small=columns.shape[1] < 0.8 * len(columns))
        self.toward = self._solve(problem.y)

    def _columns(self, B: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Return ``B [sqrt(E), C]``."""
        E = self.half * (omega + self.half * self.q**2 / self.diagonal)
        columns = np.empty((B.shape[0], len(E) + len(self.Z)), order="F")
        np.multiply(B, np.sqrt(E), out=columns[:, : len(E)])
        columns[:, len(E) :] = B @ (self.half * self.q * self.Z).T
        return columns

    def _grouped(self, B: np.ndarray, omega: np.ndarray, groups: np.ndarray) -> np.ndarray:
        """Return ``B [sqrt(E), C]`` where columns of B share a weight: E has a block of rank one for each group."""
        pulls = np.zeros((len(B), len(omega)))
        np.add.at(pulls.T, groups, (B * self.q).T)
        pulls *= self.half
        own = B * np.sqrt(self.half * self.problem.by_column(omega))
        return np.asfortranarray(np.hstack([own, pulls / np.sqrt(self.diagonal), pulls @ self.Z.T]))

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
        """Refine until the residual is rounding; the small factor loses digits where many alpha are free."""
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
        """Return ``G^-1 h`` with G the curvature left for omega."""
        return h / self.diagonal + self.Z.T @ (self.Z @ h)

    def _per_target(self, f: np.ndarray) -> np.ndarray:
        """Return dv_k from ``d omega + f_k``."""
        v = self.at.v
        along = np.sum(v * f, axis=1) / self.length
        return (f - along[:, None] * v) / self.theta[:, None]

    def residuals(self) -> tuple:
        """Return what the conditions lack: those of alpha, v and the two slacks, and the equality."""
        problem, at = self.problem, self.at
        alpha, _, w, t = at.parts(at.slack)
        low, high, omega, theta = at.parts(at.multiplier)
        r_alpha = (
            -1.0 + at.b * problem.y - low + high + self.half * (problem.signed @ (problem.by_column(omega) * self.q))
        )
        r_v = problem.targets - omega + theta[:, None] * at.v
        r_w = w - np.sum(at.v, axis=0) + 0.5 * self.half * problem.by_weight(self.q**2)
        r_t = t - 0.5 * (problem.gamma**2 - np.sum(at.v**2, axis=1))
        return r_alpha, r_v, r_w, r_t, float(problem.y @ alpha)

    def step(self, residuals: tuple, mu: float, bend: Iterate | None) -> Iterate:
        """Return the direction to products of mu; ``bend``, an earlier direction, gives corrections of second order."""
        problem, at, half, q = self.problem, self.at, self.half, self.q
        r_alpha, r_v, r_w, r_t, r_y = residuals
        product = mu - at.slack * at.multiplier
        if bend is not None:
            dq = problem.signed.T @ bend.alpha
            d_theta = at.parts(bend.multiplier)[3]
            r_alpha = r_alpha + half * (problem.signed @ (problem.by_column(bend.omega) * dq))
            r_v = r_v + d_theta[:, None] * bend.v
            r_w = r_w + 0.5 * half * problem.by_weight(dq**2)
            r_t = r_t + 0.5 * np.sum(bend.v**2, axis=1)
            product = product - bend.slack * bend.multiplier
        # A multiplier changes by its push, less its weight times the change of its slack.
        push = product / at.slack
        low, high, omega, theta = at.parts(push)
        _, _, w_weight, t_weight = at.parts(self.weight)
        f = -r_v - at.v * (theta + t_weight * r_t)[:, None]
        h = omega / w_weight + r_w - np.sum(self._per_target(f), axis=0)
        d_alpha = self._solve(-r_alpha + low - high - half * (problem.signed @ (q * problem.by_column(self._over(h)))))
        d_b = (problem.y @ d_alpha + r_y) / (problem.y @ self.toward)
        d_alpha = d_alpha - d_b * self.toward
        q_d_q = problem.by_weight(q * (problem.signed.T @ d_alpha))
        d_omega = self._over(h + half * q_d_q)
        d_v = self._per_target(d_omega + f)
        d_w = -r_w + np.sum(d_v, axis=0) - half * q_d_q
        d_t = -r_t - np.sum(at.v * d_v, axis=1)
        d_slack = np.concatenate([d_alpha, -d_alpha, d_w, d_t])
        d_multiplier = push - self.weight * d_slack
        at.parts(d_multiplier)[2][:] = d_omega  # by its slack it would lose digits
        return Iterate(d_slack, d_multiplier, d_v, float(d_b))


def interior_point(problem: SpectrumProblem) -> tuple[SpectrumSolution, float]:
    """Return the best point met, and the best lower bound of the objective."""
    at = start(problem)
    # The constant decision is feasible, whatever rounding makes of the iterates.
    nearest = np.maximum(problem.targets[-1], 0.0)
    objective, zeta, b = primal(problem, nearest, np.zeros(problem.features.shape[1]))
    best = SpectrumSolution(nearest, zeta, b, objective, np.inf, 0)
    bound, least, stalled = -np.inf, np.inf, 0
    for n_iter in range(_MAX_ITER + 1):
        mu, before = at.mean_product(), best.gap
        if not np.isfinite(mu):
            break
        q = problem.signed.T @ at.alpha
        objective, zeta, b = primal(problem, at.omega, q)
        bound = max(bound, dual(problem, at.alpha, at.v))
        if objective < best.objective:
            best = SpectrumSolution(at.omega, zeta, b, objective, np.inf, n_iter)
        best.gap, best.n_iter = relative_gap(best.objective, bound, problem.floor), n_iter
        stalled = 0 if best.gap < 0.9 * before or mu < 0.9 * least else stalled + 1
        least = min(least, mu)
        good_enough = best.gap <= _AIM or (best.gap <= GAP and best.gap > _SLOW * before)
        if good_enough or stalled > _STALLED or not at.inside():
            break
        system = _System(problem, at, q)
        residuals = system.residuals()
        predictor = system.step(residuals, 0.0, None)
        ahead = at.moved(predictor, at.reach(predictor)).mean_product()
        centre = min(1.0, max(ahead / mu, 0.0)) ** 3
        step = system.step(residuals, centre * mu, predictor)
        reach = at.reach(step)
        if reach < _SHORT:
            # The step is short because it starts far from the central path: return to the path first, without the
            # second-order corrections.
            back = system.step(residuals, max(centre, 0.5) * mu, None)
            if at.reach(back) > reach:
                step, reach = back, at.reach(back)
        # Nearer to the boundary only where the solution is near.
        share = min(max(_TO_BOUNDARY[0], 1.0 - best.gap), _TO_BOUNDARY[1])
        at = at.moved(step, share * reach)
    return best, bound
