"""Support vector machines of all pairs of classes on one kernel matrix, for many values of C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from similitude._native import machine_path
from similitude._utils.types import ClassPositions

LARGEST_GAP = 1e-8
"""The largest relative duality gap of a machine that counts as solved."""

_SMALLEST_BOUND, _LARGEST_BOUND = 1e-100, 1e100


class MachineSolution(NamedTuple):
    """The solved problem of one pair of classes."""

    objective: float
    gap: float
    n_iter: int
    converged: bool


@dataclass(eq=False)
class Machines:
    """The machines of all pairs of classes for one C, positive for the later class."""

    codes: ClassPositions
    coefficients: np.ndarray
    intercept: np.ndarray
    solutions: list[MachineSolution]
    unit: float

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.coefficients) + 1

    @property
    def beta(self) -> np.ndarray:
        """The coefficients with a column for each pair of classes, (n, pairs)."""
        if self.n_classes == 2:
            return self.coefficients.T
        n = len(self.codes)
        beta = np.zeros((n, len(self.intercept)))
        # The pair (first, second) stands at this place in the order (0, 1), (0, 2), ...
        place = np.zeros((self.n_classes, self.n_classes), dtype=np.intp)
        place[np.triu_indices(self.n_classes, 1)] = np.arange(len(self.intercept))
        place += place.T
        for row, values in enumerate(self.coefficients):
            others = row + (self.codes <= row)
            beta[np.arange(n), place[self.codes, others]] = values
        return beta

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of ``sklearn.svm.SVC``."""
        support = np.flatnonzero(np.any(self.coefficients != 0, axis=0))
        support = support[np.argsort(self.codes[support], kind="stable")]
        # With more than two classes, the earlier class of a pair is the positive one in scikit-learn.
        sign = 1.0 if self.n_classes == 2 else -1.0
        return {
            "support_": support,
            "n_support_": np.bincount(self.codes[support], minlength=self.n_classes).astype(np.int32),
            "dual_coef_": sign * self.unit * self.coefficients[:, support],
            "intercept_": sign * self.intercept,
            "n_iter_": np.array([solution.n_iter for solution in self.solutions], dtype=np.int32),
        }


def solve_machines(
    K: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    costs: Sequence[float],
    weights: np.ndarray | None = None,
    exponent: int = 0,
    semidefinite: bool = True,
) -> list[Machines]:
    """Solve one machine for each pair of classes and each C.

    With y = 1 for the later and -1 for the earlier class of a pair, and ``beta = y alpha``, a machine is the solution
    of::

        maximise  y^T beta - beta^T K beta / 2   over   sum beta = 0,  0 <= alpha <= C weights

    C increases by powers of ten, and each solution is the start of the next; the result for one C does not depend on
    the others. It is accurate to a violation of the optimality conditions of 1e-11, or to the rounding error.
    """
    ascending, place = np.unique(np.asarray(costs, dtype=np.float64), return_inverse=True)
    n, n_pairs = len(codes), n_classes * (n_classes - 1) // 2
    coefficients = np.zeros((len(ascending), n_classes - 1, n))
    offsets, objectives, gaps = (np.zeros((len(ascending), n_pairs)) for _ in range(3))
    steps = np.zeros((len(ascending), n_pairs), dtype=np.intp)
    codes = np.ascontiguousarray(codes, dtype=np.intp)
    weights = np.ones(n) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    K = np.ascontiguousarray(K, dtype=np.float64)
    machine_path(K, codes, weights, ascending, exponent, semidefinite, coefficients, offsets, objectives, gaps, steps)
    found = []
    for c, C in enumerate(ascending):
        with np.errstate(over="ignore"):
            bound = np.clip(np.ldexp(C, exponent), _SMALLEST_BOUND, _LARGEST_BOUND)
            unit = float(min(C / bound, np.ldexp(1.0, -exponent)))
        solutions = [
            MachineSolution(objective * unit, gap, n_iter, gap <= LARGEST_GAP)
            for objective, gap, n_iter in zip(objectives[c].tolist(), gaps[c].tolist(), steps[c].tolist())
        ]
        found.append(Machines(codes, coefficients[c], offsets[c], solutions, unit))
    return [found[i] for i in place]
