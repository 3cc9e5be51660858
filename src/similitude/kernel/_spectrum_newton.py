"""The learned spectrum by Newton's method, from the machine on the target down to smaller and smaller gamma.

``gamma ||d|| = min over theta of ||d||^2 / (2 theta) + gamma^2 theta / 2``: with a theta_k for each target (12) is
smooth. In ``beta = diag(y) alpha``, with ``q = F^T beta`` and ``u = q^2 / (4 eta)``, its dual is

    minimise  sum_j psi(u_j) - y^T beta   over   sum beta = 0,  0 <= y * beta <= p

    psi' = omega = max(0, (u + sum_k tau_k / theta_k) / s),   s = sum_k 1 / theta_k
    gradient  F (omega q) / (2 eta) - y
    Hessian   F diag(omega / (2 eta) + [omega > 0] q^2 / (4 eta^2 s)) F^T

and the theta_k are right where the ``v_k = (omega - tau_k) / theta_k`` have the length gamma. A step minimises the
quadratic model within the bounds: the dual of an SVC with the Hessian as its kernel, for which there is a solver
(``neighbors._local_smo``). Then theta moves, and beta with it, by the derivative of the minimum.

Theta is 0 at the machine on the target, and grows as gamma falls. So gamma descends from there by powers of ten, each
solution the start of the next, and what is asked for starts at the rung above it. As with the machines, the rungs do
not depend on what is asked for: one gamma alone gives what it gives within a grid. A neighbour's iterate does not help
an interior-point method so: at n = 200 the grid of 35 points takes 72 of these steps to a gap of 1e-12 (target
"clip"), and 119 of that method's to 1e-8, which each cost more (``python -m benchmarks learned_spectrum``).
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
from scipy.linalg import lapack

from similitude.kernel._spectrum_problem import Problem, Solution, dual, primal, relative_gap
from similitude.numerics import smo

_AIM = 1e-13
"""Relative gap asked for: Newton's last step costs little, and takes it from 1e-8 to rounding error."""

_ROUNDING = 1e-9
"""Below this gap a step that does not gain a digit is the last."""

_NEAR_ENOUGH = 0.3
"""Relative gap of a rung: enough to start the next."""

_DEEPEST = 5
"""Rungs; further down the interior-point method is quicker."""

_MOST_FREE = 150
"""With more beta between their bounds a step costs more than one of the interior-point method."""

_MAX_STEPS, _STALLED, _SMO_STEPS = 20, 6, 30_000
_MOST_GROWTH, _RIDGE = 4.0, 0.03


class Descent:
    """An iterate for one eta and gamma, and what is known there."""

    def __init__(self, problem: Problem, beta: np.ndarray, theta: np.ndarray, budget: int, n_iter: int) -> None:
        self.problem, self.beta, self.theta, self.budget, self.n_iter = problem, beta, theta, budget, n_iter
        signed = problem.y * problem.bounds
        self.low, self.high = np.minimum(signed, 0.0), np.maximum(signed, 0.0)
        self.q = problem.features.T @ beta
        self.best = Solution(self.q, self.q, 0.0, np.inf, np.inf, 0)
        self.bound = -np.inf
        self.measured = False

    def free(self) -> np.ndarray:
        """Return the beta between their bounds."""
        return np.flatnonzero((self.beta > self.low) & (self.beta < self.high))

    def omega(self, q: np.ndarray) -> np.ndarray:
        """psi' at these q."""
        pull = 1.0 / self.theta
        return np.maximum(0.25 / self.problem.eta * q**2 + pull @ self.problem.targets, 0.0) / np.sum(pull)

    def step(self) -> None:
        """To the minimum of the quadratic model in beta, or as far on the way as the objective falls."""
        F, y, half, q = self.problem.features, self.problem.y, 0.5 / self.problem.eta, self.q
        omega = self.omega(q)
        bend = half * (omega + np.where(omega > 0.0, half * q**2 / np.sum(1.0 / self.theta), 0.0))
        columns = F * np.sqrt(bend)
        self.hessian = columns @ columns.T
        state = np.stack([self.low, self.high, self.beta, self.hessian @ self.beta])
        lacking = y - F @ (half * omega * q)
        size = float(np.max(np.diagonal(self.hessian))) or 1.0
        smo.solve(self.hessian, lacking + state[smo.H], state, size, self.budget)
        way = state[smo.BETA] - self.beta
        # The offset adds nothing where beta sums to zero, and takes rounding errors of the sum away.
        free = self.free()
        way_q, gain = F.T @ way, float(way @ (y - (np.median(lacking[free]) if len(free) else 0.0)))

        def slope(length: float) -> float:
            at = q + length * way_q
            return half * float((self.omega(at) * at) @ way_q) - gain

        here, length = slope(0.0), 1.0
        ahead = slope(1.0)
        while here < 0.0 and ahead > -0.3 * here:
            length *= min(max(here / (here - ahead), 0.1), 0.7)
            ahead = slope(length)
        if here < 0.0:
            self.beta = state[smo.BETA] if length == 1.0 else self.beta + length * way
            self.q = F.T @ self.beta
        self.n_iter += 1

    def measure(self) -> float:
        """Return the relative gap of the best point met."""
        problem = self.problem
        omega = self.omega(self.q)
        self.v = (omega - problem.targets) / self.theta[:, None]
        self.positive = omega > 0.0
        objective, zeta, b = primal(problem, omega, self.q)
        self.bound = max(self.bound, dual(problem, problem.y * self.beta, self.v))
        if objective < self.best.objective:
            self.best = Solution(omega, zeta, b, objective, np.inf, self.n_iter)
        gap = relative_gap(problem, self.best.objective, self.bound)
        self.best = replace(self.best, gap=gap, n_iter=self.n_iter)
        self.measured = True
        return gap

    def follow(self) -> None:
        """Theta to where the v_k have the length gamma, to first order, and beta as far along as its bounds allow."""
        F, half, theta, v = self.problem.features, 0.5 / self.problem.eta, self.theta, self.v
        # What omega changes with log theta: at once, and through beta.
        change = np.where(self.positive, v, 0.0) / np.sum(1.0 / theta)
        moves = self._derivative(-half * (change * self.q) @ F.T)
        change += np.where(self.positive, half * self.q * (moves @ F), 0.0) / np.sum(1.0 / theta)
        squares = np.maximum(np.sum(v**2, axis=1), 1e-300)
        slopes = (v / theta[:, None]) @ change.T / squares[:, None] - np.eye(len(v))
        # Where the targets count for little, ||v|| falls as theta^(-2/3): ||v||^(-3/2) is nearly straight.
        far = (squares / self.problem.gamma**2) ** 0.75 - 1.0
        # Where no beta is free the slopes vanish; the ridge, which itself vanishes with the distance, tells the sign.
        ridge = _RIDGE * min(1.0, float(np.max(np.abs(far)))) + 1e-12
        system = ridge * np.eye(len(v)) - 1.5 * slopes
        growth = np.linalg.lstsq(system, far, rcond=None)[0] if np.all(np.isfinite(system)) else np.full(len(v), np.nan)
        growth = np.clip(growth, 1.0 / _MOST_GROWTH - 1.0, _MOST_GROWTH - 1.0)
        move = growth @ moves
        moving = move != 0.0
        room = (np.where(move > 0.0, self.high, self.low) - self.beta)[moving] / move[moving]
        self.beta = np.clip(self.beta + np.min(room, initial=1.0) * move, self.low, self.high)
        self.q = F.T @ self.beta
        self.theta = theta * (1.0 + growth)

    def _derivative(self, right: np.ndarray) -> np.ndarray:
        """Return what the free beta move, a row for each of ``right``, with the sum of all kept."""
        moves, free = np.zeros_like(right), self.free()
        if len(free) < 2:
            return moves
        H = self.hessian[np.ix_(free, free)]
        np.einsum("ii->i", H)[:] *= 1.0 + 1e-12
        factor, failed = lapack.dpotrf(H, lower=1)
        if failed:
            return moves
        solved = lapack.dpotrs(factor, np.vstack([right[:, free], np.ones(len(free))]).T, lower=1)[0].T
        solved, level = solved[:-1], solved[-1]
        solved = solved - np.outer(np.sum(solved, axis=1) / np.sum(level), level)
        # A singular H would leave rounding errors in the sum.
        moves[:, free] = solved - np.mean(solved, axis=1, keepdims=True)
        return moves

    def solve(self, aim: float) -> Descent:
        """Steps till the gap is small enough, or does not fall any more."""
        stalled = 0
        for _ in range(_MAX_STEPS):
            before = self.best.gap
            if self.measured:
                if before <= aim:
                    break
                self.follow()
            if not (np.all(np.isfinite(self.q)) and np.all((self.theta > 0.0) & (self.theta < np.inf))):
                break
            self.step()
            gap = self.measure()
            stalled = 0 if gap < 0.9 * before else stalled + 1
            if gap > 0.5 * before:
                self.budget = min(2 * self.budget, _SMO_STEPS)
            if stalled > _STALLED or len(self.free()) > _MOST_FREE or (before <= _ROUNDING and gap > 0.1 * before):
                break
        return self


def _first(problem: Problem, beta: np.ndarray) -> Descent:
    """From the machine on the target: beta shrunk so far, and the theta_k such, that the v_k have the length gamma."""
    u = (problem.features.T @ beta) ** 2 / (4.0 * problem.eta)
    shrink, theta = (_one_target if len(problem.targets) == 1 else _two_targets)(problem, u, float(problem.y @ beta))
    return Descent(problem, shrink * beta, theta, len(beta) + 50, 0)


def _one_target(problem: Problem, u: np.ndarray, gain: float) -> tuple[float, np.ndarray]:
    gamma, target, size = problem.gamma, problem.targets[0], float(np.linalg.norm(u))
    shrink = min(1.0, math.sqrt(gamma / size))
    # Where targets are negative, v exceeds u there, and has the length gamma at this theta, or nearly.
    theta = float(np.linalg.norm(np.minimum(target, 0.0))) / gamma
    for _ in range(3):
        held = target + theta * u <= 0.0
        rest = gamma**2 - float(np.sum(u[~held] ** 2))
        if rest > 0.0:
            theta = float(np.linalg.norm(target[held])) / math.sqrt(rest)
    if shrink < 1.0 or theta == 0.0:
        # The objective is least along the ray where 2 shrink omega^T u = gain.
        pull = 0.5 * gain / shrink - float(np.maximum(target, 0.0) @ u)
        theta = max(theta, pull / (shrink * size) ** 2)
    return shrink, np.array([theta])


def _two_targets(problem: Problem, u: np.ndarray, gain: float) -> tuple[float, np.ndarray]:
    """v_1 and v_2, of the length gamma and the sum u, lie in the plane of u and of the way between the targets."""
    way = problem.targets[1] - problem.targets[0]
    distance, size, first = float(np.linalg.norm(way)), float(np.linalg.norm(u)), float(problem.targets[0] @ u)
    cosine = min(1.0, float(way @ u) / (distance * size))

    def at(square: float) -> tuple[float, float, float]:
        """Return the two theta where beta shrinks by the root of this, and the slope of the objective along the ray."""
        length = square * size
        both = distance * math.sqrt((1.0 - cosine**2) / max(problem.gamma**2 - 0.25 * length**2, 1e-300))
        second = max(0.5 * both - distance * cosine / length, 1e-3 * distance / problem.gamma)
        one = max(both - second, 1e-3 * distance / problem.gamma)
        return one, second, 2.0 * square * first + one * length**2 - math.sqrt(square) * gain

    low, high = 0.0, min(1.0, 2.0 * problem.gamma / size)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle)[2] < 0.0 else (low, middle)
    return math.sqrt(high), np.array(at(high)[:2])


def _next(problem: Problem, rung: Descent) -> Descent:
    """From a larger gamma: where targets and bounds count for little, beta goes with its root, theta with -3/2."""
    ratio = problem.gamma / rung.problem.gamma
    if ratio == 1.0:
        return copy.copy(rung)
    return Descent(problem, math.sqrt(ratio) * rung.beta, rung.theta * ratio**-1.5, rung.budget, rung.n_iter)


def descend(problems: list[Problem], beta: np.ndarray, unit: float) -> list[tuple[Solution, float] | None]:
    """Return the best point met and the best lower bound for each gamma, in descending order, all else being equal.

    ``beta`` is the machine on the target; the rungs are ``unit`` times powers of ten. None where a rung was missed.
    """
    longest = float(np.linalg.norm((problems[0].features.T @ beta) ** 2)) / (4.0 * problems[0].eta)
    if not 1e-300 < longest / unit < 1e300:
        return [None] * len(problems)
    exponent = math.ceil(math.log10(longest / unit)) - 1
    deepest, missed = exponent - _DEEPEST, False
    rung: Descent | None = None
    answers: list[tuple[Solution, float] | None] = []
    for problem in problems:
        while not missed and unit * 10.0**exponent >= problem.gamma:
            if exponent > deepest:
                here = replace(problem, gamma=unit * 10.0**exponent)
                rung = (_first(here, beta) if rung is None else _next(here, rung)).solve(_NEAR_ENOUGH)
            missed = exponent == deepest or rung is None or rung.best.gap > _NEAR_ENOUGH
            exponent -= 1
        if missed:
            answers.append(None)
        else:
            solved = (_first(problem, beta) if rung is None else _next(problem, rung)).solve(_AIM)
            answers.append((solved.best, solved.bound))
    return answers
