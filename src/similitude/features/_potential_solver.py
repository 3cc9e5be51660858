"""The potential support vector machine of one pair of classes, for a whole path of C and epsilon.

With the columns of A and y centred, or both as they are::

    minimise  P(a) = ||y - A a||^2 / 2 + epsilon ||a||_1   over   |a_j| <= C

Three methods share the work, each of them for what the others cannot do:

* Newton's method on the free coefficients, those that are neither 0 nor at their bound, ends at rounding error
  (``_native.lasso_active_set``). An interior-point method alone reaches no gap of 1e-8 where A^T A is
  ill-conditioned or epsilon is small.
* Coordinate descent finds out cheaply which coefficients are 0 or at their bound (``_native.lasso_sweep``).
  Without it a problem of 2,500 columns with a small C takes 48 s in place of 0.4 s.
* Where many coefficients would still have to change between free and fixed, an interior-point method tells in a dozen
  steps which are free, whatever the condition of A^T A (``interior_point``). Without it a small epsilon takes 10 to 80
  times as long.

Newton's method and the interior-point method work on a working set of columns, which others join until none of them
would improve the objective.

Every r is feasible for the dual problem, ``maximise y^T r - ||r||^2 / 2 - C sum_j max(|A_j^T r| - epsilon, 0)``, so
that each a comes with a bound on how far P(a) is from the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg

from similitude._native import lasso_active_set, lasso_sweep
from similitude.features.base import LinearSolution, centred_columns, scaled

_MAX_STEPS = 50
_OUTWARD = np.array([1.0, 1.0, -1.0, -1.0])[:, None]


def interior_point(
    G: np.ndarray, q: np.ndarray, square: float, epsilon: float, bounds: np.ndarray
) -> tuple[np.ndarray, int]:
    """Return the minimum of ``(square - 2 q^T a + a^T G a) / 2 + epsilon ||a||_1`` over ``|a_j| <= bounds_j``.

    The second value is the number of steps. The method stops as soon as it can tell which coefficients are 0 or at
    their bound, and puts them there: at n = 500 after 10 to 20 factorisations, whatever the condition of G.
    ``a = u - v`` with u and v between 0 and the bounds; the rows of ``slack`` are u, v and their distances from the
    bounds, those of ``dual`` are the multipliers.
    """
    k = len(q)
    top, size = max(epsilon, float(np.max(np.abs(q)))), float(np.max(np.diagonal(G)))
    start = np.minimum(0.5 * bounds, top / size)
    slack = np.array([start, start, bounds - start, bounds - start])
    dual = top * start / slack
    steps = 0
    for _ in range(_MAX_STEPS):
        a = slack[0] - slack[1]
        image = G @ a
        gap = float(np.sum(slack * dual))
        objective = 0.5 * max(square - 2.0 * float(q @ a) + float(a @ image), 0.0) + epsilon * float(np.sum(np.abs(a)))
        if gap <= 1e-7 * objective:
            break
        try:
            equations = _Equations(G, np.array([image - q, q - image]) + epsilon, slack, dual, 1e-14 * k * size)
        except linalg.LinAlgError:
            break
        steps += 1
        mean = gap / (4 * k)
        move, dual_move = equations.solved(np.zeros_like(slack))
        reach = _reach(slack, move, dual, dual_move)
        ahead = float(np.sum((slack + reach * move) * (dual + reach * dual_move))) / (4 * k)
        move, dual_move = equations.solved((ahead / mean) ** 3 * mean - move * dual_move)
        reach = 0.995 * _reach(slack, move, dual, dual_move)
        if not reach > 0.0:
            break
        slack, dual = slack + reach * move, dual + reach * dual_move
    return _classified(slack, dual, epsilon, bounds), steps


class _Equations:
    """The linearised conditions of optimality, with all but the change of ``a = u - v`` eliminated.

    ``slope`` is the gradient with respect to u and v, but for the multipliers.
    """

    def __init__(self, G: np.ndarray, slope: np.ndarray, slack: np.ndarray, dual: np.ndarray, ridge: float):
        self.G, self.slope, self.slack, self.dual = G, slope, slack, dual
        self.weight = dual / slack
        self.diagonal = self.weight[:2] + self.weight[2:]
        self.joint = self.diagonal[0] * self.diagonal[1] / (self.diagonal[0] + self.diagonal[1])
        K = np.array(G, order="F")
        K[np.diag_indices_from(K)] += self.joint + ridge
        self.factor = linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False)

    def solved(self, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of slack and dual by which, to first order, ``slack * dual`` becomes ``target``."""
        wanted = target / self.slack
        f = wanted[:2] - wanted[2:] - self.slope
        right = self.joint * (f[0] / self.diagonal[0] - f[1] / self.diagonal[1])
        change = self.G @ linalg.cho_solve(self.factor, right, check_finite=False)
        move = _OUTWARD * np.tile((f - np.array([change, -change])) / self.diagonal, (2, 1))
        return move, wanted - self.weight * move - self.dual


def _reach(slack: np.ndarray, move: np.ndarray, dual: np.ndarray, dual_move: np.ndarray) -> float:
    """Return how far one can go, at most 1, until something becomes negative."""
    return 1.0 / max(float(np.max(-move / slack)), float(np.max(-dual_move / dual)), 1.0)


def _classified(slack: np.ndarray, dual: np.ndarray, epsilon: float, bounds: np.ndarray) -> np.ndarray:
    """Return a, put to 0 or to its bound where the multiplier is larger than the slack, both relative to their size."""
    positive = slack[0] > slack[1]
    size, distance, below, above = (np.where(positive, x[0], x[1]) for x in (slack[:2], slack[2:], dual[:2], dual[2:]))
    zero = size * epsilon < below * np.max(size)
    size = np.where(zero, 0.0, np.where(distance * epsilon < above * bounds, bounds, size))
    return np.where(positive, size, -size)


TOLERANCE = 1e-8
"""Largest duality gap, relative to the objective, of what counts as solved."""

_AIM = 1e-13
_SWEEPS, _MANY, _ROUNDS = 30, 1000, 50
_SMALL = 64
# Coordinate descent comes to rest where its steps are below this, relative to y.
_GOOD = 1e-3
# Of C and epsilon in units of the similarities; beyond, products would leave the range of floating point.
_RANGE = (1e-140, 1e140)


class _Candidate(NamedTuple):
    """Coefficients of the distinct columns, and what is known of them."""

    a: np.ndarray
    objective: float
    gap: float
    n_iter: int
    sure: bool
    """Whether no other a is as good."""


class BoxedLasso:
    """The problem of one pair of classes, on its columns, equal ones taken once, in units of about 1.

    The columns and y are centred, or are used as they are.
    """

    def __init__(self, S: np.ndarray, y: np.ndarray, centred: bool = True):
        self.rows, self.members, self.means, self.exponent = centred_columns(S, centred)
        self.offset = float(np.mean(y)) if centred else 0.0
        self.y = y - self.offset
        self.counts = np.array([float(len(columns)) for columns in self.members])
        self.squares = np.einsum("ij,ij->i", self.rows, self.rows)
        self.q = self.rows @ self.y
        self.noise = 16.0 * np.finfo(float).eps * np.sqrt(self.squares)
        self._known = np.empty(0, dtype=np.intp)
        self._place = np.full(len(self.rows), -1)
        self._gram = np.empty((0, 0))

    def in_units(self, C: float, epsilon: float) -> tuple[float, float]:
        """Return C and epsilon in units of the columns."""
        low, high = _RANGE
        C, epsilon = (min(max(scaled(v, e), low), high) for v, e in ((C, self.exponent), (epsilon, -self.exponent)))
        return C, epsilon

    def solution(self, point: _Candidate, C: float) -> LinearSolution:
        """Return the coefficients of all columns, in their own units; of equal columns the first take what they can."""
        coef = np.zeros(len(self.means))
        for value, columns in zip(np.ldexp(point.a, -self.exponent).tolist(), self.members):
            if value != 0.0:
                full = min(int(abs(value) / C + 1e-13), len(columns))
                coef[columns[:full]] = math.copysign(C, value)
                coef[columns[full : full + 1]] = math.copysign(1.0, value) * max(abs(value) - full * C, 0.0)
        solved = point.gap <= TOLERANCE
        return LinearSolution(coef, self.means, self.offset, point.objective, point.gap, point.n_iter, solved)

    def gram(self, columns: np.ndarray) -> np.ndarray:
        """Return ``A^T A`` of these columns; what was computed once is kept."""
        new = columns[self._place[columns] < 0]
        if new.size:
            n_old = len(self._known)
            self._known = np.concatenate([self._known, new])
            self._place[new] = np.arange(n_old, len(self._known))
            fresh = self.rows[new]
            grown = np.empty((len(self._known), len(self._known)))
            grown[:n_old, :n_old] = self._gram
            grown[n_old:, n_old:] = fresh @ fresh.T
            grown[n_old:, :n_old] = fresh @ self.rows[self._known[:n_old]].T
            grown[:n_old, n_old:] = grown[n_old:, :n_old].T
            self._gram = grown
        place = self._place[columns]
        return self._gram[np.ix_(place, place)]

    def certified(self, a: np.ndarray, C: float, epsilon: float) -> tuple[float, float, np.ndarray]:
        """Return the objective at a, its relative duality gap, and the gradient ``A^T (y - A a)``."""
        r = self.y - a @ self.rows
        g = self.rows @ r
        objective = 0.5 * float(r @ r) + epsilon * float(np.sum(np.abs(a)))
        # At the optimum no coefficient exceeds objective / epsilon: a larger bound would multiply rounding errors.
        bounds = C * self.counts
        reach = np.minimum(bounds, objective / epsilon)
        below = np.abs(a) < bounds
        dual = self._dual(r, g, reach, below, epsilon)
        free = np.flatnonzero(below & (a != 0.0))
        if 0.1 * TOLERANCE < (objective - dual) / objective < 1e-3 and free.size:
            # r has the rounding errors of A a; those of its free columns' gradients can be taken out of it.
            G = self.gram(free)
            G[np.diag_indices_from(G)] *= 1.0 + 1e-13
            try:
                lack = linalg.cho_solve(linalg.cho_factor(G), epsilon * np.sign(a[free]) - g[free])
                better = r + lack @ self.rows[free]
                dual = max(dual, self._dual(better, self.rows @ better, reach, below, epsilon))
            except linalg.LinAlgError:
                pass
        return objective, max(objective - dual, 0.0) / objective, g

    def _dual(self, r: np.ndarray, g: np.ndarray, reach: np.ndarray, below: np.ndarray, epsilon: float) -> float:
        """Return the dual value of r, or of r shrunk until no column below its bound pays, if that is larger."""
        largest = float(np.max(np.abs(g[below]), initial=0.0))
        shares = [1.0, epsilon / largest] if largest > epsilon else [1.0]
        along, square = float(r @ self.y), float(r @ r)
        pays = [float(reach @ np.maximum(t * np.abs(g) - epsilon, 0.0)) for t in shares]
        return max(t * along - 0.5 * t * t * square - paid for t, paid in zip(shares, pays))

    def solve(self, C: float, epsilon: float, start: np.ndarray | None = None) -> _Candidate:
        """Return the optimum for C and epsilon in units of the columns, from a guess of it or from 0."""
        # A smaller epsilon is lost in the rounding errors of the gradients; the gap then shows how much it matters.
        least = 1e-15 * float(np.max(np.abs(self.q), initial=0.0))
        if epsilon < least:
            point = self.solve(C, least, start)
            objective, gap, _ = self.certified(point.a, C, epsilon)
            return point._replace(objective=objective, gap=gap, sure=False)
        bounds = C * self.counts
        a = np.zeros(len(self.rows)) if start is None else np.clip(start, -bounds, bounds)
        good = True
        if start is None and np.any(np.abs(self.q) > epsilon):
            last = lasso_sweep(self.rows, self.squares, epsilon, bounds, _SWEEPS, a, self.y.copy())
            good = last <= _GOOD * float(np.linalg.norm(self.y))
        objective, gap, g = self.certified(a, C, epsilon)
        best = _Candidate(a, objective, gap, 0, False)
        working = (a != 0.0) & (np.abs(a) < bounds)
        working[self._violators(a, g, working, epsilon)] = True
        working = _enlarged(working)
        n_iter = 0
        for _ in range(_ROUNDS):
            if not working.any():
                break
            a, used, sure = self._restricted(a, working, bounds, epsilon, good)
            good = True
            n_iter += used
            objective, gap, g = self.certified(a, C, epsilon)
            # At a small gap the digits of the exact solution are worth more than those of the gap.
            if gap < best.gap or gap <= _AIM:
                best = _Candidate(a, objective, gap, n_iter, sure and self._strict(a, g, gap, bounds, epsilon))
            joins = self._violators(a, g, working, epsilon)
            if not joins.size:
                break
            working[joins] = True
            working = _enlarged(working)
        return best._replace(n_iter=n_iter)

    def _violators(self, a: np.ndarray, g: np.ndarray, working: np.ndarray, epsilon: float) -> np.ndarray:
        """Return columns outside of the working set that would improve the objective, at most as many as it has."""
        violation = np.where(a == 0.0, np.abs(g) - epsilon, epsilon - g * np.sign(a))
        size = float(np.linalg.norm(self.y) + np.sqrt(self.squares) @ np.abs(a))
        violation[working | (violation <= self.noise * size)] = 0.0
        most = max(_SMALL, int(np.count_nonzero(working)))
        order = np.argsort(-violation, kind="stable")[:most]
        return order[violation[order] > 0.0]

    def _strict(self, a: np.ndarray, g: np.ndarray, gap: float, bounds: np.ndarray, epsilon: float) -> bool:
        """Return whether every coefficient is clearly free, or clearly at 0 or its bound."""
        size, pull = np.abs(a), np.where(a == 0.0, np.abs(g), g * np.sign(a))
        near = 1e-7 * epsilon
        free = (size > 0.0) & (size < bounds)
        clear = np.where(size == 0.0, pull < epsilon - near, pull > epsilon + near)
        least = 1e-8 * np.max(size, initial=0.0)
        return gap <= TOLERANCE and bool(np.all(np.where(free, (size > least) & (bounds - size > least), clear)))

    def _restricted(
        self, a: np.ndarray, working: np.ndarray, bounds: np.ndarray, epsilon: float, good: bool
    ) -> tuple[np.ndarray, int, bool]:
        """Return the optimum over the working set, the number of factorisations, and whether it is the only optimum."""
        columns = np.flatnonzero(working)
        fixed = np.flatnonzero(~working & (a != 0.0))
        y = self.y - a[fixed] @ self.rows[fixed]
        rows, limits, part = self.rows[columns], bounds[columns], a[columns]
        G, free = self.gram(columns), _is_free(part, limits)
        few = _budget(len(columns), int(np.count_nonzero(free)), good)
        used, pivot = lasso_active_set(rows, G, y, epsilon, limits, few, few, free, part)
        if used < 0:
            part, steps = interior_point(G, rows @ y, float(y @ y), epsilon, limits)
            free = _is_free(part, limits)
            more, pivot = lasso_active_set(rows, G, y, epsilon, limits, _MANY, 10 * len(columns) + 100, free, part)
            used = steps + abs(more) + abs(used)
        a = a.copy()
        a[columns] = part
        return a, used, pivot > 1e-10


def _is_free(a: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    return (a != 0.0) & (np.abs(a) < bounds)


def _enlarged(working: np.ndarray) -> np.ndarray:
    """Return all columns where the working set is half of them, or where they are few, else the working set."""
    everything = len(working) <= _SMALL or 2 * np.count_nonzero(working) > len(working)
    return np.ones_like(working) if everything else working


def _budget(k: int, m: int, good: bool) -> int:
    """Return how many factorisations of m columns are worth a try before the interior-point method on k columns.

    The times are in milliseconds, as measured; only their ratio matters.
    """
    if k <= _SMALL:
        return 4 * k
    step, other = 0.05 + 7e-8 * m**3, 4.0 + 3.5e-7 * k**3
    return int((0.15 if good else 0.03) * other / step)


def solve_path(
    S: np.ndarray, y: np.ndarray, points: Sequence[tuple[float, float]], centred: bool = True
) -> list[LinearSolution]:
    """Return one solution for each ``(C, epsilon)``, of the problem with or without centring.

    C ascends, and for each C epsilon descends: a solution starts the next. Where it is within its bounds it is that for
    every larger C. Where another could be as good the point is solved again from 0, as it would be alone.
    """
    problem = BoxedLasso(S, y, centred)
    answers: dict[int, LinearSolution] = {}
    within: dict[float, _Candidate] = {}
    last: _Candidate | None = None
    for i in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        C, epsilon = problem.in_units(*points[i])
        known = within.get(epsilon)
        if known is not None:
            point = known._replace(gap=problem.certified(known.a, C, epsilon)[1])
        else:
            point = problem.solve(C, epsilon, last.a if last is not None and last.sure else None)
            if last is not None and last.sure and not point.sure:
                point = problem.solve(C, epsilon)
            if point.sure and np.all(np.abs(point.a) < C * problem.counts):
                within[epsilon] = point
        last = point
        answers[i] = problem.solution(point, points[i][0])
    return [answers[i] for i in range(len(points))]
