"""A support vector machine that learns how to modify the spectrum of an indefinite similarity."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from similitude._utils.checks import check_choice, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.types import ClassWeight
from similitude.kernel import spectrum_solver as solver
from similitude.kernel.base import KernelLearningSVC, check_range
from similitude.numerics.eigen import cut_zeros, eigh, row_map_weights
from similitude.numerics.machines import solve_machines
from similitude.similarities.registry import SimilarityLike

TARGETS = (*solver.TARGETS, "auto")

COSTS = tuple(10.0**j for j in range(-3, 4))
"""The values of C of the machines that ``target="auto"`` compares, for similarities whose largest entry is 1."""

_FOLDS = 10


class SpectrumPoint(NamedTuple):
    """One point of a grid."""

    eta: float
    gamma: float
    target: str

    @classmethod
    def checked(cls, parameters: dict[str, Any], targets: tuple[str, ...], condition: str = "") -> SpectrumPoint:
        """Return the point of these parameters, or raise a ValueError; only these targets are allowed."""
        eta, gamma, target = (parameters[name] for name in cls._fields)
        eta, gamma = check_positive(eta, "eta"), check_positive(gamma, "gamma")
        check_choice(target, "target", sorted(targets), condition)
        return cls(eta, gamma, target)


def choose_target(matrices: list[np.ndarray], y: np.ndarray, weight: np.ndarray) -> str:
    """Return which of clip and flip has fewer errors in cross-validation at its best C, or "both" if they are equal.

    There are ten folds (fewer if the smaller class has fewer samples), without shuffling. A class with a single
    sample cannot be left out, so the result is "both".
    """
    n_folds = min(_FOLDS, int(np.sum(y > 0)), int(np.sum(y < 0)))
    # Without negative eigenvalues clip and flip are the same, here and (by interlacing) on every part of the matrices.
    if n_folds < 2 or not any(np.any(cut_zeros(eigh(S)[0]) < 0.0) for S in matrices):
        return "both"
    errors = np.zeros((2, len(COSTS)))
    unit = max(float(np.max(np.abs(S))) for S in matrices) or 1.0
    for train, test in StratifiedKFold(n_folds).split(y, y):
        spectra = [eigh(S[np.ix_(train, train)] / unit) for S in matrices]
        values = np.concatenate([cut_zeros(values) for values, _ in spectra])
        rows = np.hstack([S[np.ix_(test, train)] @ vectors / unit for S, (_, vectors) in zip(matrices, spectra)])
        vectors = np.hstack([vectors for _, vectors in spectra])
        for which, spectrum in enumerate(("clip", "flip")):
            if which == 0 or np.any(values < 0.0):
                a = row_map_weights(values, spectrum)
                found = _errors(vectors, values * a, rows * a, y[train], y[test], weight[train])
            errors[which] += found
    clip, flip = np.min(errors, axis=1)
    return "clip" if clip < flip else "flip" if flip < clip else "both"


def _errors(
    vectors: np.ndarray, values: np.ndarray, rows: np.ndarray, y: np.ndarray, truth: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return the number of errors on test rows, given in the eigenbasis, for each C."""
    machines = solve_machines((vectors * values) @ vectors.T, (y > 0).astype(np.intp), 2, COSTS, weight)
    beta = np.column_stack([machine.coefficients[0] for machine in machines])
    decisions = rows @ (vectors.T @ beta) + np.array([machine.intercept[0] for machine in machines])
    wrong = np.sum((decisions >= 0.0) != (truth > 0)[:, None], axis=0)
    # If no machine was found for a C, all its predictions count as errors, so that it is not chosen.
    found = np.array([machine.solutions[0].converged for machine in machines])
    return np.where(found, wrong, len(truth))


def solve_grid(
    matrices: list[np.ndarray], y: np.ndarray, weight: np.ndarray, points: list[SpectrumPoint], tied: bool = False
) -> list[solver.LearnedSpectrum]:
    """Return the solutions of all points for one pair of classes."""
    largest = max(float(np.max(np.abs(S))) for S in matrices) or 1.0
    for eta, gamma, target in points:
        size = gamma * (largest if target == "similarity" else 1.0)
        check_range(np.asarray(largest), (1e-20, 1e20), eta=eta / largest, gamma=size)
    chosen = choose_target(matrices, y, weight) if any(point.target == "auto" for point in points) else "auto"
    if tied and chosen == "both":
        chosen = "clip"
    targets = [chosen if point.target == "auto" else point.target for point in points]
    solutions: dict[int, solver.LearnedSpectrum] = {}
    for target in dict.fromkeys(targets):
        own = [i for i, other in enumerate(targets) if other == target]
        found = solver.learned_spectra(matrices, y, weight, [points[i][:2] for i in own], target, tied)
        solutions.update(zip(own, found))
    return [solutions[i] for i in range(len(points))]


@shared_docs
class LearnedSpectrumSVC(KernelLearningSVC):
    """Classify by a support vector machine that learns how to modify the spectrum of the similarities.

    With ``S = U diag(lambda) U^T`` (zero eigenvalues left out) the kernel is ``K_a = U diag(a lambda) U^T``. For each
    pair of classes with n samples it solves::

        minimise  1/n sum_i xi_i + eta c^T K_a c + gamma h(a)
        over      c, b, xi >= 0, a     subject to  y_i ((K_a c)_i + b) >= 1 - xi_i,   lambda_i a_i >= 0

    ============  ==========================================================================
    target        h(a)
    ============  ==========================================================================
    clip          ``||a - a_clip||``, a_clip = 1 where lambda > 0, else 0
    flip          ``||a - a_flip||``, a_flip = sgn lambda
    both          ``||a - a_clip|| + ||a - a_flip||``
    similarity    ``||lambda (a - 1)||``, the distance of K_a from S
    auto          that of clip or flip, whose SVM has fewer errors in cross-validation; both if equal
    ============  ==========================================================================

    Since h is a norm, not its square, a equals a_clip or a_flip exactly if gamma is large enough, and the classifier is
    then the SVM on the clipped or flipped kernel with ``C = 1 / (2 eta n)``. A new row s is mapped by ``U diag(a)
    U^T``, like the training rows. In the decision value a cancels: ``f(x) = w^T s + b`` with ``w = sum_i (z_i /
    lambda_i) u_i`` and ``z = U^T K_a c``.

    With similarities multiplied by t, the decisions are the same if eta is multiplied by t (and, for "similarity",
    gamma divided by t). An asymmetric S is replaced by ``(S + S^T)/2``, with a warning; the rows of new raw objects are
    treated in the same way. ``PathSearchCV`` fits a whole grid of eta, gamma and target with one eigendecomposition for
    each pair and fold, and with one SVM for each eta, started from a larger eta, which is the solution for every gamma
    that is large enough.

    Parameters
    ----------
    eta : float, default=0.01
        Weight of the norm of the decision function: the larger it is, the smoother the function. Choose it relative to
        the scale of S, which is ``np.median(S.max(axis=1) - S.mean(axis=1))``.
    gamma : float, default=1.0
        Weight of the distance from the target: the larger it is, the closer the learned spectrum is to the target.
    target : {"auto", "clip", "flip", "both", "similarity"}, default="auto"
        The spectrum from which the distance is measured. For each pair of classes, "auto" compares the SVMs on the
        clipped and on the flipped kernel by their errors in 10 stratified folds without shuffling, each at its best C
        among 1e-3, 1e-2, ..., 1e3 (for the similarities divided by the largest of their absolute values).
    {class_weight}
    {probability}
    {similarity}

    Attributes
    ----------
    {classes_}
    target_ : str
        The target used. With more than two classes, this and the next two attributes are lists with one item for each
        pair of classes.
    eigenvalues_ : ndarray of shape (r,)
        The nonzero eigenvalues of S, ascending.
    spectrum_weights_ : ndarray of shape (r,)
        The learned a.
    objective_ : float
        The minimum. With more than two classes, this and the next two attributes are arrays with one entry for each
        pair of classes.
    duality_gap_ : float
        An upper bound of the relative error of the objective, from which gamma times the smallest possible h is
        subtracted.
    n_iter_ : int
        The number of steps of the interior-point method; 0 if the target itself is the best a.
    {support_columns_}
        These are all training samples.

    See Also
    --------
    SimilaritySVC : Clips, flips or shifts the spectrum.
    LearnedKernelSVC : Learns the whole kernel, including its eigenvectors.
    RobustSVC : Learns the whole kernel with another objective.

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
    _figures = ("target", "eigenvalues", "spectrum_weights")

    def __init__(
        self,
        eta: float = 0.01,
        gamma: float = 1.0,
        target: Literal["auto", "clip", "flip", "both", "similarity"] = "auto",
        *,
        class_weight: ClassWeight = None,
        probability: bool = False,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.eta = eta
        self.gamma = gamma
        self.target = target
        self.class_weight = class_weight
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> SpectrumPoint:
        return SpectrumPoint.checked(parameters, TARGETS)

    def _solve(
        self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[SpectrumPoint]
    ) -> list[solver.LearnedSpectrum]:
        return solve_grid([S], y, weight, points)
