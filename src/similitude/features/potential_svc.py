"""The potential support vector machine (P-SVM)."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude._utils.checks import check_bool, check_positive
from similitude._utils.docs import shared_docs
from similitude.features.base import LinearClassifier, LinearSolution
from similitude.similarities.registry import SimilarityLike


@shared_docs
class PotentialSVC(LinearClassifier):
    """Classify by the potential support vector machine, a sparse linear function of the similarities.

    For each pair of classes with labels y in {-1, +1}, where y and the columns of S are centred by their means over the
    training samples, it solves::

        minimise over alpha  ||y - S alpha||^2 / 2 + epsilon ||alpha||_1   subject to   |alpha_j| <= C

    The decision function is ``f(x) = (s - means)^T alpha + mean(y)``. With ``center=False`` neither y nor the columns
    are centred, and ``f(x) = s^T alpha``, which is the problem as Chen et al. print it. This is the lasso with box
    constraints: few coefficients are not zero, and only the similarities of new samples to these training samples are
    needed. S need not be positive semidefinite, symmetric or square, because its columns are used as features. A square
    S is used as it is, with rows psi(x, .), and is never symmetrised; with ``similarity="columns"`` the rows are
    similarities to any p objects (dyadic data).

    The solution is exact to rounding error. It is found by coordinate descent, then by Newton's method on the
    coefficients that are neither 0 nor at their bound, after an interior-point method where these are hard to tell.

    With more than two classes one problem is solved for each pair, on its rows (and columns, if S is square), and the
    class that wins most pairs is predicted; if there are several, the first of them. ``PathSearchCV`` fits a whole grid
    of C and epsilon with shared products of columns and warm starts.

    Parameters
    ----------
    C : float, default=100.0
        Bound of the coefficients. With ``t S``, ``C / t`` and ``t epsilon`` the classifier is the same, so choose
        epsilon relative to the scale of S, which is ``np.median(S.max(axis=1) - S.mean(axis=1))``, and C relative to
        its inverse.
    epsilon : float, default=0.1
        Weight of the l1 norm: the larger it is, the fewer coefficients are not zero. If it is at least ``max |S^T y|``,
        all are zero, and the larger class is predicted (the later class if ``center=False``).
    center : bool, default=True
        Whether y and the columns of S are centred. Without centring the decision function has no offset, so the
        result depends on the zero of the similarities.
    {probability}
    {similarity}

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (pairs, columns)
        alpha for each pair of classes (0, 1), (0, 2), ..., positive towards the later class; one row for two classes.
    intercept_ : ndarray of shape (pairs,)
        The decision values are ``S coef_^T + intercept_``.
    prototypes_, support_columns_ : ndarray
        The columns with a coefficient in some pair, ascending. Rows may consist of these columns only.
    objective_, duality_gap_, n_iter_ : number, or ndarray of one for each pair of classes
        The optimal value; an upper bound of its relative error (if it is larger than 1e-8, there is a
        ConvergenceWarning); and the number of factorisations.

    See Also
    --------
    LPMachine : Uses the hinge loss instead of the squared loss.
    SimilarityFeatures : Makes similarities the features of any other classifier.

    References
    ----------
    Hochreiter & Obermayer, "Support vector machines for dyadic data", Neural Computation 18, 2006. Knebel, Hochreiter &
    Obermayer, "An SMO algorithm for the potential support vector machine", Neural Computation 20, 2008. Chen, Garcia,
    Gupta, Rahimi & Cazzanti, JMLR 10, 2009, eq. 6, which leaves out the centring (``center=False``).

    Examples
    --------
    >>> from similitude import PotentialSVC
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = PotentialSVC(epsilon=1.0).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.coef_.round(3), model.prototypes_
    (array([[-0.375, -0.375,  0.   ,  0.   ]]), array([0, 1]))
    >>> model.predict([[2, 3], [0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    _path_parameters = ("C", "epsilon")

    def __init__(
        self,
        C: float = 100.0,
        epsilon: float = 0.1,
        *,
        center: bool = True,
        probability: bool = False,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.C = C
        self.epsilon = epsilon
        self.center = center
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> tuple[float, float]:
        check_bool(self.center, "center")
        return check_positive(parameters["C"], "C"), check_positive(parameters["epsilon"], "epsilon")

    def _solve(self, S: np.ndarray, y: np.ndarray, points: list[tuple[float, float]]) -> list[LinearSolution]:
        from similitude.features._potential_solver import solve_path

        return solve_path(S, y, points, bool(self.center))
