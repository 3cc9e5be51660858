"""The linear programming machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from similitude._native import margin_program
from similitude._utils.checks import check_positive
from similitude._utils.docs import shared_docs
from similitude.features.base import LinearClassifier, LinearSolution, centred_columns, scaled
from similitude.similarities.registry import SimilarityLike

TOLERANCE = 1e-8
"""Largest duality gap, relative to the objective, for which a problem counts as solved."""

# The limits of C in units of the similarities: HiGHS takes numbers beyond 1e20 for infinite.
_LARGEST = 1e12

_STEPS = 100
"""Steps of the simplex method for each sample and column, after which HiGHS is asked. About 1 to 3 are needed."""


@shared_docs
class LPMachine(LinearClassifier):
    """Classify by the linear programming machine, a sparse linear function of the similarities.

    For each pair of classes, labels y in {-1, +1}::

        minimise over w, b  ||w||_1 + C sum_i max(0, 1 - y_i f(x_i)),   f(x) = w^T s + b

    This is the support vector machine on similarities as features with the l1 norm. It sets most weights to 0, so
    only the similarities of new samples to few training samples are needed. S need not be positive semidefinite,
    symmetric or square, because its columns are used as features. A square S is used as it is, with rows psi(x, .), and
    is never symmetrised; with ``similarity="columns"`` the rows are similarities to any p objects.

    The simplex method solves the dual program; where rounding errors keep it from the optimum, HiGHS solves it.
    If several b are optimal, the middle of their range is used. With more than two classes one problem is solved for
    each pair, on its rows (and columns, if S is square), and the class that wins most pairs is predicted; if there are
    several, the first of them. ``PathSearchCV`` prepares the columns of each pair and fold once for all C.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the violations of the margins: the larger it is, the more weights are not zero.
        {scale_of_C}
    {probability}
    {similarity}

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (pairs, columns)
        w for each pair of classes (0, 1), (0, 2), ..., positive towards the later class; one row for two classes.
    intercept_ : ndarray of shape (pairs,)
        The b of each pair: the decision values are ``S coef_^T + intercept_``.
    prototypes_, support_columns_ : ndarray
        The columns with a weight in some pair, ascending. Rows may consist of these columns only.
    objective_, duality_gap_, n_iter_ : number, or ndarray of one for each pair of classes
        The optimal value; an upper bound of its relative error, from the dual solution (if it is larger than 1e-8,
        there is a ConvergenceWarning); and the number of steps.

    See Also
    --------
    PotentialSVC : Uses the squared loss instead of the hinge loss.
    SimilarityFeatures : Makes similarities the features of any other classifier.

    References
    ----------
    Graepel, Herbrich, Schoelkopf, Smola, Bartlett, Mueller, Obermayer & Williamson, "Classification on proximity data
    with LP-machines", ICANN 1999. Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, eq. 5.

    Examples
    --------
    >>> from similitude import LPMachine
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = LPMachine().fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.coef_, model.prototypes_
    (array([[-0.5, -0.5,  0. ,  0. ]]), array([0, 1]))
    """

    _path_parameters = ("C",)

    def __init__(
        self,
        C: float = 1.0,
        *,
        probability: bool = False,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.C = C
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> float:
        return check_positive(parameters["C"], "C")

    def _solve(self, S: np.ndarray, y: np.ndarray, points: list[float]) -> list[LinearSolution]:
        program = _LinearProgram(S, y)
        return [program.solve(C) for C in points]


class _LinearProgram:
    """The linear program of one pair of classes, in units in which the similarities are about 1."""

    def __init__(self, S: np.ndarray, y: np.ndarray):
        self.columns, self.y = centred_columns(S), y
        self.rows = self.columns.rows

    def solve(self, C: float) -> LinearSolution:
        """Return the solution for one C."""
        price = min(max(scaled(C, self.columns.exponent), 1e-300), 1e300)
        # No multiplier exceeds the price, so no column's gradient exceeds 1 and w = 0 for every b.
        if price * float(np.max(np.sum(np.abs(self.rows), axis=1), initial=0.0)) <= 1.0:
            return self._completed(price, *self._without_weights(price))
        found = self._completed(price, *self._by_simplex(price))
        return found if found.converged else min(found, self._completed(price, *self._by_highs(price)), key=_gap)

    def _completed(self, price: float, w: np.ndarray, alpha: np.ndarray, steps: int) -> LinearSolution:
        """Return the solution with the weights w, the multipliers alpha of the margins, and the best intercept."""
        f = w @ self.rows
        b = self._intercept(f)
        objective, w, b = min(self._candidates(w, b, f, price), key=lambda candidate: candidate[0])
        gap = max(objective - self._dual(alpha, price), 0.0) / objective
        coef = np.zeros(len(self.columns.means))
        coef[[members[0] for members in self.columns.members]] = np.ldexp(w, -self.columns.exponent)
        value = scaled(objective, -self.columns.exponent)
        return LinearSolution(coef, self.columns.means, b, value, gap, steps, gap <= TOLERANCE)

    def _without_weights(self, price: float) -> tuple[np.ndarray, np.ndarray, int]:
        k, n = self.rows.shape
        positive = np.count_nonzero(self.y > 0)
        share = np.where(self.y > 0, 1.0 / positive, 1.0 / (n - positive))
        return np.zeros(k), price * min(positive, n - positive) * share, 0

    def _by_simplex(self, price: float) -> tuple[np.ndarray, np.ndarray, int]:
        """Return w, the multipliers of the margins, and the number of steps.

        The last steps of the simplex method know which margins are 1 and which weights are not 0; the values are those
        that solve the linear equations.
        """
        (k, n), price = self.rows.shape, min(price, _LARGEST)
        states = np.zeros(n + k + 1, dtype=np.intp)
        steps = margin_program(self.rows, self.y, price, _STEPS * (n + k), states)
        margins = np.vstack([self.rows, np.ones(n)]) * self.y
        free, used = np.flatnonzero(states[:n] == 0), np.flatnonzero(states[n:])
        bounds = states[n:].astype(float)
        bounds[k] = 0.0
        alpha, weights = np.where(states[:n] > 0, price, 0.0), np.zeros(k + 1)
        equations = margins[np.ix_(used, free)]
        try:
            weights[used] = np.linalg.solve(equations.T, np.ones(len(free)))
            alpha[free] = np.linalg.solve(equations, bounds[used] - margins[used] @ alpha)
        except np.linalg.LinAlgError:
            return np.zeros(k), np.zeros(n), steps
        return weights[:k], alpha, steps

    def _by_highs(self, price: float) -> tuple[np.ndarray, np.ndarray, int]:
        """Return the same by HiGHS; the variables are the positive and the negative parts of w, b, and violations."""
        k, n = self.rows.shape
        margins = self.rows.T * self.y[:, None]
        parts = [sparse.csc_matrix(part) for part in (-margins, margins, -self.y[:, None], -np.eye(n))]
        lower = np.concatenate([np.zeros(2 * k), [-np.inf], np.zeros(n)])
        result = linprog(
            np.concatenate([np.ones(2 * k), [0.0], np.full(n, min(price, _LARGEST))]),
            A_ub=sparse.hstack(parts, format="csc"),
            b_ub=-np.ones(n),
            bounds=np.column_stack([lower, np.full(len(lower), np.inf)]),
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if result.x is None:
            return np.zeros(k), np.zeros(n), int(result.nit)
        return result.x[:k] - result.x[k : 2 * k], -result.ineqlin.marginals, int(result.nit)

    def _intercept(self, f: np.ndarray) -> float:
        """Return the middle of the optimal b for ``f = w^T s``; the slope of the loss grows by 1 at each ``y - f``."""
        breaks = np.sort(self.y - f)
        positive = np.count_nonzero(self.y > 0)
        return 0.5 * float(breaks[positive - 1] + breaks[positive])

    def _candidates(self, w: np.ndarray, b: float, f: np.ndarray, price: float) -> list[tuple]:
        """Return objective, w and b, and the same scaled up if a rounding error keeps the margins below 1."""
        least = float(np.min(self.y * (f + b)))
        stretches = [1.0, (1.0 + 1e-15) / least] if 0.99 < least < 1.0 else [1.0]
        return [
            (
                float(np.sum(np.abs(t * w)) + price * np.sum(np.maximum(0.0, 1.0 - self.y * (t * (f + b))))),
                t * w,
                t * b,
            )
            for t in stretches
        ]

    def _dual(self, alpha: np.ndarray, price: float) -> float:
        """Return the value of the dual program at the multipliers, made feasible."""
        alpha = np.clip(alpha, 0.0, price)
        sums = np.array([np.sum(alpha[self.y < 0]), np.sum(alpha[self.y > 0])])
        if not sums.all():
            return 0.0
        alpha = alpha * np.where(self.y > 0, min(1.0, sums[0] / sums[1]), min(1.0, sums[1] / sums[0]))
        largest = float(np.max(np.abs(self.rows @ (self.y * alpha)), initial=0.0))
        return float(np.sum(alpha)) / max(1.0, largest)


def _gap(solution: LinearSolution) -> float:
    return solution.gap
