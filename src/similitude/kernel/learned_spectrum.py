"""A support vector machine that learns how to modify the spectrum of an indefinite similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from similitude.base import check_positive
from similitude.kernel import _spectrum_solver as solver
from similitude.kernel.base import OneVsOneMachines, check_range
from similitude.numerics.eigen import cut_zeros, eigh

TARGETS = (*solver.TARGETS, "auto")

COSTS = tuple(10.0**j for j in range(-3, 4))
"""C of the machines that ``target="auto"`` compares, for similarities whose largest entry is 1."""

_FOLDS = 10


def choose_target(S: np.ndarray, y: np.ndarray, weight: np.ndarray) -> str:
    """Which of clip and flip has fewer errors in cross-validation, each at its best C; "both" where they are equal.

    Ten folds (as many as the smaller class has samples, where that is less), without shuffling; a class with a single
    sample cannot be left out, which leaves "both".
    """
    n_folds = min(_FOLDS, int(np.sum(y > 0)), int(np.sum(y < 0)))
    if n_folds < 2:
        return "both"
    errors = np.zeros((2, len(COSTS)))
    unit = float(np.max(np.abs(S))) or 1.0
    for train, test in StratifiedKFold(n_folds).split(S, y):
        values, vectors = eigh(S[np.ix_(train, train)] / unit)
        values = cut_zeros(values)
        rows = S[np.ix_(test, train)] @ vectors / unit
        for which, sign in enumerate(((values > 0.0).astype(float), np.sign(values))):
            errors[which] += _errors(vectors, values * sign, rows * sign, y[train], y[test], weight[train])
    clip, flip = np.min(errors, axis=1)
    return "clip" if clip < flip else "flip" if flip < clip else "both"


def _errors(vectors, values, rows, y, truth, weight):
    """Errors on test rows, given in the eigenbasis, of the machines of all C."""
    K = np.ascontiguousarray((vectors * values) @ vectors.T)
    etas = [0.5 / C for C in COSTS]
    # A machine that was not found is no candidate.
    errors = np.full(len(COSTS), float(len(truth)))
    for eta, alpha in solver.target_machines(K, y, weight, etas).items():
        beta = y * alpha / (2.0 * eta)
        b, _ = solver.best_offset(K @ beta, y, weight)
        predicted = np.where(rows @ (vectors.T @ beta) + b >= 0.0, 1.0, -1.0)
        errors[etas.index(eta)] = np.sum(predicted != truth)
    return errors


class LearnedSpectrumSVC(OneVsOneMachines):
    """A support vector machine whose kernel is a modification of the similarity's spectrum learned with it.

    With ``S = U diag(lambda) U^T`` (zero eigenvalues left out) the kernel is ``K_a = U diag(a lambda) U^T``, and for
    each pair of classes, of n samples, ::

        minimise  1/n sum_i xi_i + eta c^T K_a c + gamma h(a)
        over      c, b, xi >= 0, a     subject to  y_i ((K_a c)_i + b) >= 1 - xi_i,   lambda_i a_i >= 0

    ============  ==========================================================================
    target        h(a)
    ============  ==========================================================================
    clip          ``||a - a_clip||``, a_clip = 1 where lambda > 0, else 0
    flip          ``||a - a_flip||``, a_flip = sgn lambda
    both          ``||a - a_clip|| + ||a - a_flip||``
    similarity    ``||lambda (a - 1)||``, the distance of K_a from S
    auto          clip or flip, whose SVM has fewer errors in cross-validation; else both
    ============  ==========================================================================

    h is a norm, not its square: from some gamma on, a is a_clip or a_flip exactly and this is the SVM on the clipped
    or flipped kernel with ``C = 1 / (2 eta n)``. A new row s is treated as the training rows were, by
    ``U diag(a) U^T``; in the decision a cancels: ``f(x) = w^T s + b`` with ``w = sum_i (z_i / lambda_i) u_i`` and
    ``z = U^T K_a c``.

    Similarities c times as large give the same decisions with eta c times as large (and, for "similarity", gamma
    divided by c). S is made symmetric, ``(S + S^T)/2``, with a warning where it was not. ``PathSearchCV`` takes a
    whole grid of eta, gamma and target with one eigendecomposition for each pair and fold, and for each eta one SVM,
    warm-started at a larger eta, which is the solution for every gamma that is large enough.

    Parameters
    ----------
    eta : float, default=0.01
        Weight of the norm of the decision function: the larger, the smoother.
    gamma : float, default=1.0
        Weight of the distance from the target: the larger, the nearer.
    target : {"auto", "clip", "flip", "both", "similarity"}, default="auto"
        What the spectrum is drawn to. "auto" compares the machines on the clipped and on the flipped kernel for each
        pair of classes: errors in 10 stratified folds, in the order of the samples, each at its best
        C in 1e-3, 1e-2, ..., 1e3 (for the similarities divided by the largest of their absolute values).
    class_weight : dict, "balanced" or None, default=None
        Multiplies the loss of each class.
    probability : bool, default=False
        Whether ``predict_proba`` is to be available, at the price of a cross-validation in ``fit``.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    target_ : str
        The target used; with more than two classes a list, one for each pair.
    eigenvalues_ : ndarray of shape (r,)
        The eigenvalues of S that are not zero, ascending; with more than two classes a list, one for each pair.
    spectrum_weights_ : ndarray of shape (r,)
        The learned a; with more than two classes a list, one for each pair.
    objective_ : float
        The minimum; as the next two an array, one for each pair, with more than two classes.
    duality_gap_ : float
        An upper bound of the relative error of the objective (less gamma times the least h there is).
    n_iter_ : int
        Steps of the interior-point method; 0 where the target itself is the best a.
    support_columns_ : ndarray of int
        Training samples to which similarities are needed in ``predict``: all.

    References
    ----------
    Chen, Gupta & Recht, "Learning kernels from indefinite similarities", ICML 2009, eqs. (10) to (12), Section 3.4.

    Examples
    --------
    >>> from similitude import LearnedSpectrumSVC
    >>> S = [[1, 3, 1, 0], [3, 1, 0, 1], [1, 0, 1, 3], [0, 1, 3, 1]]
    >>> model = LearnedSpectrumSVC(eta=0.1, gamma=0.01, target="flip").fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.eigenvalues_.round(2)
    array([-3., -1.,  3.,  5.])
    >>> model.spectrum_weights_.round(2)
    array([-1.  , -1.  ,  3.65,  1.  ])
    """

    _path_parameters = ("eta", "gamma", "target")

    def __init__(
        self,
        eta=0.01,
        gamma=1.0,
        target="auto",
        *,
        class_weight=None,
        probability=False,
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.eta = eta
        self.gamma = gamma
        self.target = target
        self.class_weight = class_weight
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict) -> tuple[float, float, str]:
        eta, gamma, target = (parameters.get(name, getattr(self, name)) for name in self._path_parameters)
        check_positive(eta, "eta")
        check_positive(gamma, "gamma")
        if target not in TARGETS:
            raise ValueError(f"target must be one of {sorted(TARGETS)}; got {target!r}.")
        return float(eta), float(gamma), target

    def _solve(self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple]) -> list[Any]:
        largest = float(np.max(np.abs(S))) or 1.0
        for eta, gamma, target in points:
            check_range(S, (1e-20, 1e20), eta=eta / largest, gamma=gamma * (largest if target == "similarity" else 1.0))
        asked = [target for _, _, target in points]
        chosen = choose_target(S, y, weight) if "auto" in asked else "both"
        targets = [chosen if target == "auto" else target for target in asked]
        machines: list[Any] = [None] * len(points)
        for target in dict.fromkeys(targets):
            at = [i for i, other in enumerate(targets) if other == target]
            solved = solver.solve_points(S, y, weight, [points[i][:2] for i in at], target)
            for i, answer in zip(at, solved):
                machines[i] = answer
        return machines

    def _keep_figures(self) -> None:
        super()._keep_figures()
        self._keep_by_pair(target_="target", eigenvalues_="values", spectrum_weights_="a")
