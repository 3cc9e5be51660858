"""LearnedSpectrumSVC's problem, eq. (12) of Chen, Gupta & Recht (ICML 2009), for a whole grid of eta and gamma.

The eigendecomposition is done once for all points. Each point is then solved in one of two ways:

* Where a target is itself the best omega (large gamma: the norms are exact penalties), the problem is a support vector
  machine on that kernel. One machine for each eta, solved by the compiled SMO and Newton steps of ``LocalSVC``, serves
  every gamma (``target_machines``).
* Elsewhere an interior-point method solves the problem (``_spectrum_interior``).

Against cvxpy and Clarabel at n = 200 a fit takes 1/5 of the time or less, the grid of 35 points 1/27
(``python -m benchmarks learned_spectrum``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

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
        v[1] = problem.by_weight(q**2) / (4.0 * problem.eta) - v[0]
    objective, zeta, b = primal(problem, problem.targets[-1], q)
    gap = relative_gap(objective, dual(problem, alpha, v), problem.floor)
    return SpectrumSolution(problem.targets[-1], zeta, b, objective, gap, 0)


@dataclass
class LearnedSpectrum:
    """A solution of (12) in units of the similarities: ``K = U diag(a lambda) U^T``."""

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
    sizes: list[int]
    """The number of eigenvalues of each matrix."""

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


@dataclass
class Spectra:
    """The nonzero eigenvalues and the eigenvectors of one or several matrices on the same samples, side by side."""

    values: np.ndarray
    vectors: np.ndarray
    sizes: list[int]
    """The number of eigenvalues of each matrix."""

    @classmethod
    def of(cls, matrices: list[np.ndarray]) -> Spectra:
        """Return the spectra of symmetric matrices."""
        found = []
        for S in matrices:
            values, vectors = eigh(S)
            values = cut_zeros(values)
            found.append((values[values != 0.0], vectors[:, values != 0.0]))
        values, vectors = (np.concatenate(parts, axis=-1) for parts in zip(*found))
        return cls(values, vectors, [len(own) for own, _ in found])

    @property
    def matrix(self) -> np.ndarray:
        """For each eigenvalue the position of its matrix."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def coefficients(self, zeta: np.ndarray) -> np.ndarray:
        """Return the coefficients of rows of similarities, one matrix after the other."""
        ends = np.cumsum(self.sizes)[:-1]
        parts = zip(np.split(self.vectors, ends, axis=1), np.split(zeta / self.values, ends))
        return np.concatenate([vectors @ own for vectors, own in parts])


class _Form(NamedTuple):
    """How the eigenvalues, in units of the largest, enter the problem."""

    used: np.ndarray
    """Whether each eigenvalue takes part."""
    root: np.ndarray
    """The factors of the eigenvectors in F."""
    targets: np.ndarray
    stretch: float
    """The factor of gamma."""
    groups: np.ndarray | None

    @classmethod
    def of(cls, unit: np.ndarray, target: str) -> _Form:
        """Return the form in which each eigenvalue has its own weight."""
        used, targets = np.ones(len(unit), dtype=bool), targets_of(unit, target)
        root = np.ones(len(unit)) if target == "similarity" else np.sqrt(np.abs(unit))
        if target == "both" and np.all(unit > 0.0):
            return cls(used, root, targets[:1], 2.0, None)  # clip is flip: one norm, twice
        return cls(used, root, targets, 1.0, None)

    @classmethod
    def tied(cls, unit: np.ndarray, target: str, matrix: np.ndarray) -> _Form:
        """Return the form in which the eigenvalues of a matrix share their weight."""
        used, root = unit > 0.0 if target == "clip" else unit != 0.0, np.sqrt(np.abs(unit))
        _, groups, sizes = np.unique(matrix[used], return_inverse=True, return_counts=True)
        # r equal weights are as far from the target as one weight that is sqrt(r) times as large.
        root[used] /= sizes[groups] ** 0.25
        return cls(used, root, np.sqrt(sizes.astype(float))[None], 1.0, groups)

    def weights(self, omega: np.ndarray) -> np.ndarray:
        """Return the weight of each eigenvalue."""
        weights = np.zeros(len(self.used))
        weights[self.used] = omega if self.groups is None else (omega / self.targets[0])[self.groups]
        return weights


def learned_spectra(
    matrices: list[np.ndarray],
    y: np.ndarray,
    weight: np.ndarray,
    points: list[tuple[float, float]],
    target: str,
    tied: bool = False,
) -> list[LearnedSpectrum]:
    """Return the solution of (12) for each point."""
    spectra = Spectra.of(matrices)
    n, counts = len(y), weight > 0.0
    bounds = weight[counts] / n
    # In units of the largest eigenvalue the problem is that of eta / scale (and, for "similarity", gamma * scale).
    scale = float(np.max(np.abs(spectra.values), initial=0.0)) or 1.0
    unit = spectra.values / scale
    form = _Form.tied(unit, target, spectra.matrix) if tied else _Form.of(unit, target)
    if not np.any(form.used) or not 0 < np.sum(y[counts] > 0) < np.sum(counts):
        return [_constant(y[counts], bounds, spectra, gamma, target) for _, gamma in points]
    features = np.asfortranarray((spectra.vectors[counts] * form.root)[:, form.used])
    signed = np.asfortranarray(y[counts, None] * features)
    stretch = form.stretch * (scale if target == "similarity" else 1.0)
    problems = [
        SpectrumProblem(features, signed, y[counts], bounds, e / scale, g * stretch, form.targets, form.groups)
        for e, g in points
    ]
    # What overflows at the ends of the range leaves a large gap, which is reported.
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        solutions = _solutions(problems)
    answers = []
    for found in solutions:
        weights, zeta = form.weights(found.omega), np.zeros(len(unit))
        zeta[form.used] = found.zeta
        a = weights / unit if target == "similarity" else np.sign(unit) * weights + 0.0  # no negative zeros
        coefficients = spectra.coefficients(form.root * zeta)
        figures = found.b, found.objective, found.gap, found.n_iter, spectra.sizes
        answers.append(LearnedSpectrum(target, spectra.values, a, coefficients, *figures))
    return answers


def _solutions(problems: list[SpectrumProblem]) -> list[SpectrumSolution]:
    """Return the solutions of problems that differ in eta and gamma only."""
    first = problems[0]
    target = first.targets[-1]
    machines = {}
    if np.all(target >= 0.0):  # else it is not allowed as omega
        K = np.ascontiguousarray((first.features * first.by_column(target)) @ first.features.T)
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


def _constant(y: np.ndarray, bounds: np.ndarray, spectra: Spectra, gamma: float, target: str) -> LearnedSpectrum:
    """Return the constant decision: all eigenvalues are 0, or the samples of one class do not count."""
    values = spectra.values
    targets = targets_of(values, target)
    a = np.maximum(targets[-1], 0.0)
    b, loss = best_offset(np.zeros(len(y)), y, bounds)
    objective = loss + gamma * least_penalty(targets)
    a = a / values if target == "similarity" else np.sign(values) * a
    coefficients = np.zeros(len(spectra.vectors) * len(spectra.sizes))
    return LearnedSpectrum(target, values, a, coefficients, b, objective, 0.0, 0, spectra.sizes)
