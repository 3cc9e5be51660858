"""LearnedSpectrumSVC's problem, eq. (12) of Chen, Gupta & Recht (ICML 2009), for a whole grid of eta and gamma.

The eigendecomposition is done once for all points. Each point is then solved in one of two ways:

* Where a target is itself the best omega (large gamma: the norms are exact penalties), the problem is a support vector
  machine on that kernel. One machine for each eta, solved by the compiled SMO and Newton steps of ``LocalSVC``, serves
  every gamma (``target_machines``).
* Elsewhere an interior-point method solves the problem (``_spectrum_interior``).

Against cvxpy and Clarabel at n = 200 a fit takes 1/7 of the time or less, the grid of 35 points 1/23
(``python -m benchmarks learned_spectrum``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from similitude._native import solve_dual
from similitude._utils.threads import one_blas_thread
from similitude.kernel._spectrum_interior import interior_point
from similitude.kernel._spectrum_problem import (
    GAP,
    SpectrumProblem,
    SpectrumSolution,
    best_offset,
    dual,
    least_penalty,
    primal,
    relative_gap,
)
from similitude.numerics.eigen import cut_zeros, eigh

TARGETS = ("clip", "flip", "both", "similarity")
"""Names of the targets that the learned spectrum is drawn to."""

ACCEPTED = 1e-6
"""Relative duality gap up to which a solution counts as converged."""

_SMO_STEPS = 30_000


def target_machines(K: np.ndarray, y: np.ndarray, bounds: np.ndarray, etas: list[float]) -> dict[float, np.ndarray]:
    """Return alpha of the support vector machine on a fixed kernel for each eta at which it was found.

    eta descends by powers of ten, and each solution is the start of the next. These steps do not depend on the etas
    asked for, so that one eta alone gives what it gives within a grid.
    """
    size = float(np.max(np.abs(K))) or 1.0
    exponent = math.ceil(math.log10(size * float(np.sum(bounds))))
    beta, h, at = np.zeros(len(y)), np.zeros(len(y)), 1.0

    def solved(eta: float, beta: np.ndarray, h: np.ndarray, at: float) -> tuple[np.ndarray, np.ndarray, bool]:
        beta, h = beta * (at / eta), h * (at / eta)
        bound = y * bounds / (2.0 * eta)
        low, high = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        # A variable that was at its bound stays there: rounding must not leave it slightly inside.
        full = np.abs(beta) >= np.abs(bound) * (1.0 - 1e-14)
        beta = np.where(full, bound, np.clip(beta, low, high))
        return beta, h, solve_dual(K, y, size, low, high, _SMO_STEPS, beta, h)

    answers = {}
    for eta in sorted(set(etas), reverse=True):
        while 10.0**exponent > eta:
            beta, h, _ = solved(10.0**exponent, beta, h, at)
            at, exponent = 10.0**exponent, exponent - 1
        here, _, found = solved(eta, beta, h, at)
        if found:
            answers[eta] = 2.0 * eta * np.abs(here)
    return answers


def at_target(problem: SpectrumProblem, alpha: np.ndarray) -> SpectrumSolution:
    """Return the solution with the last target as omega; its gap is small where that is the best omega.

    ``alpha`` is the machine on the target.
    """
    q = problem.signed.T @ alpha
    v = np.zeros_like(problem.targets)
    if len(v) == 2:
        # At the second target the first norm has a gradient, which is known; the second takes the rest.
        away = problem.targets[1] - problem.targets[0]
        v[0] = problem.gamma * away / np.linalg.norm(away)
        v[1] = q**2 / (4.0 * problem.eta) - v[0]
    objective, zeta, b = primal(problem, problem.targets[-1], q)
    gap = relative_gap(objective, dual(problem, alpha, v), problem.floor)
    return SpectrumSolution(problem.targets[-1], zeta, b, objective, gap, 0)


@dataclass
class LearnedSpectrum:
    """A solution of (12) in units of the similarities: ``K = U diag(a lambda) U^T``."""

    _saved_state = {
        "target": "text",
        "eigenvalues": "double[.r]",
        "spectrum_weights": "double[.r]",
        "coefficients": "double[.k]",
        "b": "float",
        "objective": "real",
        "gap": "real",
        "n_iter": "int",
    }

    target: str
    eigenvalues: np.ndarray
    """The eigenvalues lambda that are not zero."""
    spectrum_weights: np.ndarray
    coefficients: np.ndarray
    """What rows of similarities are multiplied by in the decision."""
    b: float
    objective: float
    gap: float
    n_iter: int

    @property
    def converged(self) -> bool:
        """Whether the gap is small enough."""
        return self.gap <= ACCEPTED

    def decide(self, rows: np.ndarray, self_similarity: np.ndarray) -> np.ndarray:
        """Return the decision values of rows of similarities; the self-similarities are not needed."""
        return rows @ self.coefficients + self.b


def targets_of(values: np.ndarray, target: str) -> np.ndarray:
    """Return the targets tau_k of omega, which is ``|a|``, or, for "similarity", the eigenvalues ``a lambda``."""
    clip, flip = (values > 0.0).astype(float), np.ones(len(values))
    return {"clip": clip[None], "flip": flip[None], "both": np.stack([clip, flip]), "similarity": values[None]}[target]


def solve_points(
    S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple[float, float]], target: str
) -> list[LearnedSpectrum]:
    """Return the solution of (12) for each ``(eta, gamma)``; ``weight`` multiplies the loss of each sample."""
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
    problems = [
        SpectrumProblem(features, signed, y[counts], bounds, e / scale, g * stretch, targets) for e, g in points
    ]
    # What overflows at the ends of the range leaves a large gap, which is reported.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        solutions = _solutions(problems)
    answers = []
    for found in solutions:
        a = found.omega / unit if target == "similarity" else np.sign(unit) * found.omega + 0.0  # no negative zeros
        coefficients = vectors @ (root * found.zeta / values)
        answers.append(
            LearnedSpectrum(target, values, a, coefficients, found.b, found.objective, found.gap, found.n_iter)
        )
    return answers


def _solutions(problems: list[SpectrumProblem]) -> list[SpectrumSolution]:
    """Return the solutions of problems that differ in eta and gamma only."""
    first = problems[0]
    target = first.targets[-1]
    machines = {}
    if np.all(target >= 0.0):  # else it is not allowed as omega
        K = np.ascontiguousarray((first.features * target) @ first.features.T)
        machines = target_machines(K, first.y, first.bounds, [problem.eta for problem in problems])
    return [_solution(problem, machines.get(problem.eta)) for problem in problems]


def _solution(problem: SpectrumProblem, alpha: np.ndarray | None) -> SpectrumSolution:
    """Return the solution of one problem; ``alpha`` is the machine on the last target, None where there is none."""
    if alpha is None:
        return interior_point(problem)[0]
    known = at_target(problem, alpha)
    if known.gap <= GAP:
        return known
    found, bound = interior_point(problem)
    # The machine's alpha need not be unique: another may show that the target is the best omega.
    gap = relative_gap(known.objective, bound, problem.floor)
    return replace(known, gap=gap, n_iter=found.n_iter) if gap <= max(GAP, found.gap) else found


def _constant(y, bounds, values, vectors, gamma, target) -> LearnedSpectrum:
    """Return the constant decision: all eigenvalues are 0, or the samples of one class do not count."""
    targets = targets_of(values, target)
    a = np.maximum(targets[-1], 0.0)
    b, loss = best_offset(np.zeros(len(y)), y, bounds)
    objective = loss + gamma * least_penalty(targets)
    a = a / values if target == "similarity" else np.sign(values) * a
    return LearnedSpectrum(target, values, a, np.zeros(len(vectors)), b, objective, 0.0, 0)
