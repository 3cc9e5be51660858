"""LearnedSpectrumSVC's problem, eq. (12) of Chen, Gupta & Recht (ICML 2009), for a whole grid of eta and gamma.

The eigendecomposition is done once. Then, for each eta, three ways lead to the solution, the first that closes the gap:

* Where a target is itself the best omega (large gamma: the norms are exact penalties), it is a support vector
  machine on that kernel, solved by the compiled SMO and Newton steps of the neighbourhoods' machines. Warm starts: eta
  descends by powers of ten (``target_machines``).
* From that machine Newton's method descends to smaller gamma, by powers of ten too (``_spectrum_newton``).
* Where it fails (once in 30 of the tests' problems, and once in 9 with the target "similarity", most of them with
  large negative eigenvalues), or where very many alpha are free, an interior-point method starts afresh
  (``_spectrum_interior``).

Warm starts are from rungs that do not depend on the grid, so that a point alone gives what it gives within a grid.
Against cvxpy and Clarabel at n = 200 a fit takes 1/7 of the time or less, the grid of 35 points 1/40
(``python -m benchmarks learned_spectrum``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from similitude._utils.threads import one_blas_thread
from similitude.kernel._spectrum_interior import interior_point
from similitude.kernel._spectrum_problem import (
    GAP,
    Problem,
    Solution,
    best_offset,
    dual,
    least_penalty,
    primal,
    relative_gap,
)
from similitude.numerics.eigen import cut_zeros, eigh

TARGETS = ("clip", "flip", "both", "similarity")
"""What the learned spectrum is drawn to."""

ACCEPTED = 1e-6
"""Relative duality gap up to which a solution counts as converged."""

_SMO_STEPS = 30_000


def target_machines(K: np.ndarray, y: np.ndarray, bounds: np.ndarray, etas: list[float]) -> dict[float, np.ndarray]:
    """alpha of the support vector machine on a fixed kernel for each eta; none where it was not found.

    eta descends by powers of ten, each solution the start of the next. The rungs do not depend on the etas asked
    for, so that one alone gives what it gives within a grid.
    """
    from similitude.numerics import smo

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
    """Return the last target as omega, with the machine of these alpha; its gap is small where it is the best omega."""
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
    # What overflows at the ends of the range leaves a gap, which tells.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        solutions = _solutions(problems, stretch)
    answers = []
    for found in solutions:
        a = found.omega / unit if target == "similarity" else np.sign(unit) * found.omega + 0.0  # no negative zeros
        coefficients = vectors @ (root * found.zeta / values)
        answers.append(LearnedSpectrum(values, a, coefficients, found.b, found.objective, found.gap, found.n_iter))
    return answers


def _solutions(problems: list[Problem], unit: float) -> list[Solution]:
    """Problems that differ in eta and gamma only; gamma descends by powers of ten in this unit."""
    first = problems[0]
    nearest = np.maximum(first.targets[-1], 0.0)
    K = np.ascontiguousarray((first.features * nearest) @ first.features.T)
    machines = target_machines(K, first.y, first.bounds, [problem.eta for problem in problems])
    solutions: dict[int, Solution] = {}
    for eta in {problem.eta for problem in problems}:
        at = [i for i, problem in enumerate(problems) if problem.eta == eta]
        at.sort(key=lambda i: -problems[i].gamma)
        solutions.update(zip(at, _down([problems[i] for i in at], machines.get(eta), unit)))
    return [solutions[i] for i in range(len(problems))]


def _down(problems: list[Problem], alpha: np.ndarray | None, unit: float) -> list[Solution]:
    """Solutions for one eta and descending gamma; alpha is the machine on the target, None where it was not found."""
    from similitude.kernel._spectrum_newton import descend

    if alpha is None:
        return [interior_point(problem)[0] for problem in problems]
    reachable = bool(np.all(problems[0].targets[-1] >= 0.0))
    known = [at_target(problem, alpha) if reachable else None for problem in problems]
    rest = [i for i, solution in enumerate(known) if solution is None or solution.gap > GAP]
    found = descend([problems[i] for i in rest], problems[0].y * alpha, unit) if rest else []
    better = {i: _better(problems[i], known[i], answer) for i, answer in zip(rest, found)}
    return [better[i] if solution is None else better.get(i, solution) for i, solution in enumerate(known)]


def _better(problem: Problem, known: Solution | None, found: tuple[Solution, float] | None) -> Solution:
    """Return what Newton's method found, or the interior-point method finds; or the target after all."""
    best, bound = (None, -np.inf) if found is None else found
    if best is None or best.gap > GAP:
        other, other_bound = interior_point(problem)
        bound = max(bound, other_bound)
        best = other if best is None or other.objective < best.objective else best
        best.gap = relative_gap(problem, best.objective, bound)
    # The machine's alpha need not be unique: another may show that the target was the best.
    if known is not None and relative_gap(problem, known.objective, bound) <= max(GAP, best.gap):
        known.gap, known.n_iter = relative_gap(problem, known.objective, bound), best.n_iter
        return known
    return best


def _constant(y, bounds, values, vectors, gamma, target) -> LearnedSpectrum:
    """Return all eigenvalues are 0, or the samples of one class do not count: no direction is of use."""
    targets = targets_of(values, target)
    a = np.maximum(targets[-1], 0.0)
    b, loss = best_offset(np.zeros(len(y)), y, bounds)
    objective = loss + gamma * least_penalty(targets)
    a = a / values if target == "similarity" else np.sign(values) * a
    return LearnedSpectrum(values, a, np.zeros(len(vectors)), b, objective, 0.0, 0)
