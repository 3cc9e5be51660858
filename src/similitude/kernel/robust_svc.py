"""The robust support vector machine, which learns the kernel together with the classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude._utils.checks import check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.types import ClassWeight
from similitude.kernel._robust_solver import RobustSolution, solve_path
from similitude.kernel.base import KernelLearningSVC
from similitude.similarities.registry import SimilarityLike


@shared_docs
class RobustSVC(KernelLearningSVC):
    """Classify by a support vector machine that learns a positive semidefinite kernel close to the similarities.

    For each pair of classes, labels y in {-1, +1}, with ``v = diag(y) alpha``::

        maximise over alpha  min over K >= 0 of  sum alpha - v^T K v / 2 + rho ||K - S||_F^2
        subject to           0 <= alpha <= C,  y^T alpha = 0

    where ``K >= 0`` means that K is positive semidefinite. The maximum and the minimum may be swapped, so K is the
    kernel near S on which the SVM does best. The inner problem has the solution ``K = (S + v v^T / (4 rho))_+``, the
    positive part; the outer one is concave and is solved by Newton's method to rounding error. As rho grows, K tends to
    S_+ and the classifier to the SVM on the clipped similarities; as rho falls, K tends to ``v v^T / (4 rho)``.

    A new row s with self-similarity psi(x, x) is treated consistently: they are replaced by the k and r nearest to
    them, in the sense of ``2 ||k - s||^2 + (r - psi(x, x))^2``, for which ``[K k; k^T r]`` is positive semidefinite.
    The decision value is ``v^T k + b``. The self-similarities may come with the rows as
    ``Proximities(S, self_similarity=...)``; otherwise the mean of those of the training samples is used.

    With more than two classes one problem is solved for each pair, and the class that wins most pairs is predicted; if
    there are several, the first of them. An asymmetric S is replaced by ``(S + S^T)/2``, with a warning; the rows of
    new raw objects are treated in the same way. ``PathSearchCV`` fits a whole grid of C and rho with one
    eigendecomposition for each pair and fold, and warm starts.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the dual variables: the larger it is, the fewer samples lie on the wrong side of the margin.
    rho : float, default=1.0
        Weight of the distance between the learned kernel and the similarities. With ``t S``, ``C / t`` and
        ``rho / t^3`` the classifier is the same, so choose C relative to 1 / scale and rho to 1 / scale^3, where scale
        is ``np.median(S.max(axis=1) - S.mean(axis=1))``.
    {class_weight}
    {probability}
    {similarity}

    Attributes
    ----------
    {classes_}
    objective_, duality_gap_, n_iter_ : number, or ndarray of one for each pair of classes
        The optimal value; an upper bound of its error, relative to its difference from the value at alpha = 0 (if it is
        larger than 1e-8, there is a ConvergenceWarning); and the number of eigendecompositions after that of S.
    dual_coef_, intercept_ : ndarray and float, or lists of one for each pair of classes
        ``v = diag(y) alpha`` of the samples of the pair in their order, where y is +1 for the later class; and b.
    {support_columns_}
        These are all training samples.

    See Also
    --------
    LearnedSpectrumSVC : Learns only the eigenvalues of the kernel.
    LearnedKernelSVC : Learns the kernel with a norm instead of its square.
    SimilaritySVC : Modifies the spectrum in a fixed way.

    References
    ----------
    Luss & d'Aspremont, "Support vector machine classification with indefinite kernels", NIPS 2007. Chen, Gupta &
    Recht, "Learning kernels from indefinite similarities", ICML 2009, eq. 2 (the problem), eq. 5 and 6 (its meaning)
    and eq. 8 and 9 (new rows).

    Examples
    --------
    >>> from similitude import RobustSVC
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = RobustSVC(C=10.0, rho=0.1).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.decision_function([[2, 3, 1, 0], [0, 1, 2, 3]]).round(3)
    array([-0.89,  0.89])
    """

    _path_parameters = ("C", "rho")
    _figures = ("dual_coef", "intercept")

    def __init__(
        self,
        C: float = 1.0,
        rho: float = 1.0,
        *,
        class_weight: ClassWeight = None,
        probability: bool = False,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.C = C
        self.rho = rho
        self.class_weight = class_weight
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> tuple[float, float]:
        return check_positive(parameters["C"], "C"), check_positive(parameters["rho"], "rho")

    def _solve(
        self, S: np.ndarray, y: np.ndarray, weight: np.ndarray, points: list[tuple[float, float]]
    ) -> list[RobustSolution]:
        return solve_path(S, y, weight, points)
