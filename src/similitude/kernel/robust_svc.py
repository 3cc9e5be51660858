"""The robust support vector machine: the kernel is learned with the classifier."""

from __future__ import annotations

from similitude.base import check_positive
from similitude.kernel.base import OneVsOneMachines


class RobustSVC(OneVsOneMachines):
    """Learn a positive semidefinite kernel close to the similarities together with the SVM on it.

    For each pair of classes, labels y in {-1, +1}, with ``v = diag(y) alpha``::

        maximise over alpha  min over K >= 0 of  sum alpha - v^T K v / 2 + rho ||K - S||_F^2
        subject to           0 <= alpha <= C,  y^T alpha = 0

    (``K >= 0``: positive semidefinite.) Max and min may be swapped: K is the kernel near S on which the SVM does best.
    The inner problem has the solution ``K = (S + v v^T / (4 rho))_+``, the positive part; the outer one is concave and
    is solved by Newton's method to rounding error. As rho grows K becomes S_+ and the machine the SVM on the clipped
    similarities; as rho falls K becomes ``v v^T / (4 rho)``.

    New rows s with self-similarity psi(x, x) are treated consistently: k and r nearest to them, in the sense of
    ``2 ||k - s||^2 + (r - psi(x, x))^2``, for which ``[K k; k^T r]`` is positive semidefinite; the decision value is
    ``v^T k + b``. The self-similarities may come with the rows as ``Proximities(S, self_similarity=...)``; else the
    mean of those of the training samples is taken.

    More than two classes: one machine for each pair, the class that wins most pairs, ties to the first. S is made
    symmetric, ``(S + S^T)/2``, with a warning where it was not. ``PathSearchCV`` takes a whole grid of C and rho at
    the price of one eigendecomposition for each pair and fold, and warm starts.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the dual variables: the larger, the less is a sample allowed to lie on the wrong side.
    rho : float, default=1.0
        Price of the distance between the learned kernel and the similarities. It scales as the inverse cube of S, and
        C as the inverse: with ``t S``, ``C / t`` and ``rho / t^3`` the classifier is the same.
    class_weight : dict, "balanced" or None, default=None
        What C is multiplied by for the samples of each class.
    probability : bool, default=False
        Whether to offer ``predict_proba``, which takes five more fits.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    objective_, duality_gap_, n_iter_ : number, or ndarray of one for each pair of classes
        The optimal value; an upper bound on what it lacks, relative to its value above that of alpha = 0 (at most
        1e-8, else a ConvergenceWarning says so); eigendecompositions after that of S.
    dual_coef_, intercept_ : ndarray and float, or lists of one for each pair of classes
        ``v = diag(y) alpha`` over the samples of the pair in their order, +1 the later class, and b.
    support_columns_ : ndarray
        The training samples to which new samples' similarities are needed: all of them.

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

    def __init__(
        self, C=1.0, rho=1.0, *, class_weight=None, probability=False, similarity="precomputed", dissimilarity=None
    ):
        self.C = C
        self.rho = rho
        self.class_weight = class_weight
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters):
        C, rho = (parameters.get(name, getattr(self, name)) for name in self._path_parameters)
        check_positive(C, "C")
        check_positive(rho, "rho")
        return float(C), float(rho)

    def _solve(self, S, y, weight, points):
        from similitude.kernel._robust_solver import solve_path

        return solve_path(S, y, weight, points)

    def _keep_figures(self):
        super()._keep_figures()
        self._keep_by_pair(dual_coef_="v", intercept_="intercept")
