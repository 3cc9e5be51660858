"""The learned spectrum, eq. (12) of Chen, Gupta & Recht (ICML 2009): the problem, its objective and its dual.

With F the n x r features of the samples (eigenvectors, scaled) and omega >= 0 the weights of their columns, (12) is

    minimise  sum_i p_i max(0, 1 - y_i ((F zeta)_i + b)) + eta sum_j zeta_j^2 / omega_j + gamma sum_k ||omega - tau_k||

over zeta, b and omega >= 0, with one or two targets tau_k. Its dual, with B = diag(y) F and q = B^T alpha, is

    maximise  sum alpha - sum_k tau_k^T v_k
    over      0 <= alpha <= p,  y^T alpha = 0,  ||v_k|| <= gamma,  q_j^2 / (4 eta) <= sum_k v_kj.

``omega`` is the multiplier of the last constraint, and ``zeta = omega q / (2 eta)``. Columns of F may share one omega:
then ``sum_j zeta_j^2`` and ``sum_j q_j^2`` over such a group take the places of ``zeta_j^2`` and ``q_j^2``.

A gap is the distance between the objective at a feasible point of (12) and that at a feasible point of the dual, both
computed anew from the iterate. It bounds the error whatever the rounding errors on the way were.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GAP = 1e-8
"""Relative duality gap at which a problem is solved."""


_EPS = float(np.finfo(float).eps)


@dataclass
class SpectrumProblem:
    """One problem in the notation above; ``features`` is F and ``signed`` is B, in Fortran's order.

    ``groups`` has for each column of F the position of its omega; None means that each column has its own.
    """

    features: np.ndarray
    signed: np.ndarray
    y: np.ndarray
    bounds: np.ndarray
    eta: float
    gamma: float
    targets: np.ndarray
    groups: np.ndarray | None = None

    @property
    def floor(self) -> float:
        """gamma times the least penalty: no objective is below it."""
        return self.gamma * least_penalty(self.targets)

    def by_column(self, values: np.ndarray) -> np.ndarray:
        """Return values of the weights as values of the columns of F."""
        return values if self.groups is None else values[self.groups]

    def by_weight(self, values: np.ndarray) -> np.ndarray:
        """Return the sums of values of the columns of F over those that share a weight."""
        if self.groups is None:
            return values
        return np.bincount(self.groups, values, minlength=self.targets.shape[1])


@dataclass
class SpectrumSolution:
    """A point of (12): ``decision = F zeta + b``; ``gap`` is relative to the objective above the least penalty."""

    omega: np.ndarray
    zeta: np.ndarray
    b: float
    objective: float
    gap: float
    n_iter: int


def least_penalty(targets: np.ndarray) -> float:
    """Return the smallest ``sum_k ||omega - tau_k||`` over ``omega >= 0``; two targets have to be nonnegative."""
    if len(targets) == 2:
        return float(np.linalg.norm(targets[0] - targets[1]))
    return float(np.linalg.norm(np.minimum(targets[0], 0.0)))


def relative_gap(objective: float, bound: float, floor: float) -> float:
    """Return the duality gap in units of what the objective has above the floor, the least it can be; at most 1."""
    # Digits that the objective loses beside the floor are not known.
    return min((max(objective - bound, 0.0) + 4.0 * _EPS * floor) / max(objective - floor, 1e-300), 1.0)


def feasible(alpha: np.ndarray, y: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return alpha moved to ``0 <= alpha <= bounds``, ``y^T alpha = 0``: the class with the larger sum is shrunk."""
    alpha = np.clip(alpha, 0.0, bounds)
    positive, negative = np.sum(alpha[y > 0]), np.sum(alpha[y < 0])
    least = min(positive, negative)
    return alpha * np.where(y > 0, least / max(positive, 1e-300), least / max(negative, 1e-300))


def penalty(omega: np.ndarray, targets: np.ndarray) -> float:
    """Return ``sum_k ||omega - tau_k||``."""
    return float(np.sum(np.linalg.norm(omega - targets, axis=1)))


def best_offset(values: np.ndarray, y: np.ndarray, bounds: np.ndarray) -> tuple[float, float]:
    """Return the b that minimises ``sum_i p_i max(0, 1 - y_i (values_i + b))``, and the minimum.

    The function is convex and piecewise linear: b is the kink where the slope changes its sign, or, where the slope
    vanishes between two kinks, the middle.
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


def primal(problem: SpectrumProblem, omega: np.ndarray, q: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Return the objective of (12) at omega and ``zeta = omega q / (2 eta)`` with the best b, and zeta and b."""
    zeta = problem.by_column(omega) * q / (2.0 * problem.eta)
    b, loss = best_offset(problem.features @ zeta, problem.y, problem.bounds)
    size = float(omega @ problem.by_weight(q**2)) / (4.0 * problem.eta)
    return loss + size + problem.gamma * penalty(omega, problem.targets), zeta, b


def dual(problem: SpectrumProblem, alpha: np.ndarray, v: np.ndarray) -> float:
    """Return a lower bound of (12): the dual's objective at a feasible point next to alpha and v."""
    bounds = problem.bounds
    alpha = feasible(alpha, problem.y, bounds)
    if not np.any(alpha > 0.0):
        return problem.floor
    lacking = problem.by_weight((problem.signed.T @ alpha) ** 2) / (4.0 * problem.eta) - np.sum(v, axis=0)
    # Where targets are negative, a larger v is a gain; elsewhere the least is best.
    v = v + np.where(np.sum(problem.targets, axis=0) < 0.0, np.maximum(lacking, 0.0), lacking) / len(v)
    # alpha times s, v times s^2 is feasible as well; the best s is known.
    linear, square = float(np.sum(alpha)), float(np.sum(problem.targets * v))
    longest = float(np.max(np.linalg.norm(v, axis=1)))
    s = np.min(bounds[alpha > 0.0] / alpha[alpha > 0.0])
    s = min(s, np.sqrt(problem.gamma / longest)) if longest > 0.0 else s
    s = min(s, linear / (2.0 * square)) if square > 0.0 else s
    return max(s * linear - s * s * square, problem.floor)
