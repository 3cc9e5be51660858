"""The potential support vector machine (P-SVM)."""

from __future__ import annotations

from similitude.base import check_positive
from similitude.features.base import OneVsOneFeatures


class PotentialSVC(OneVsOneFeatures):
    """Classify by a sparse linear function of the similarities: the potential support vector machine.

    For each pair of classes, labels y in {-1, +1}, y and the columns of S centred by their means over the training
    samples::

        minimise over alpha  ||y - S alpha||^2 / 2 + epsilon ||alpha||_1   subject to   |alpha_j| <= C

    and ``f(x) = (s - means)^T alpha + mean(y)``: the lasso in a box. It has few non-zero coefficients, and new samples
    need similarities to those training samples alone. S enters by its columns only: it need not be positive
    semidefinite, nor symmetric, nor square. A square S is taken as it is, rows psi(x, .), and is never symmetrised;
    ``similarity="columns"`` takes rows of similarities to any p objects (dyadic data).

    The solution is exact to rounding error. It is found by coordinate descent, then by Newton's method on the
    coefficients that are neither 0 nor at their bound, after an interior-point method where these are hard to tell.

    More than two classes: one machine for each pair, on the pair's rows (and columns, where S is square), the class
    that wins most pairs, ties to the first. ``PathSearchCV`` takes a whole grid of C and epsilon with shared
    products of columns and warm starts.

    Parameters
    ----------
    C : float, default=100.0
        Bound of the coefficients. With ``t S``, ``C / t`` and ``t epsilon`` the classifier is the same.
    epsilon : float, default=0.1
        Price of the coefficients: the larger, the fewer of them. From ``max |S^T y|`` on there are none, and the larger
        class is predicted.
    probability : bool, default=False
        Whether to offer ``predict_proba``, which takes five more fits.
    similarity, dissimilarity
        The input contract: see the page on input.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
    coef_ : ndarray of shape (pairs, columns)
        alpha for each pair of classes (0, 1), (0, 2), ..., positive towards the later class; one row for two classes.
    intercept_ : ndarray of shape (pairs,)
        The decision values are ``S coef_^T + intercept_``.
    prototypes_, support_columns_ : ndarray
        The columns with a coefficient in some pair, ascending. Rows with these alone are as good as whole ones.
    objective_, duality_gap_, n_iter_ : number, or ndarray of one for each pair of classes
        The optimal value; an upper bound on what it lacks, relative to it (at most 1e-8, else a ConvergenceWarning says
        so); factorisations.

    References
    ----------
    Hochreiter & Obermayer, "Support vector machines for dyadic data", Neural Computation 18, 2006. Knebel, Hochreiter &
    Obermayer, "An SMO algorithm for the potential support vector machine", Neural Computation 20, 2008. Chen, Garcia,
    Gupta, Rahimi & Cazzanti, JMLR 10, 2009, eq. 6, which leaves out the centring.

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

    def __init__(self, C=100.0, epsilon=0.1, *, probability=False, similarity="precomputed", dissimilarity=None):
        self.C = C
        self.epsilon = epsilon
        self.probability = probability
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters):
        C, epsilon = (parameters.get(name, getattr(self, name)) for name in self._path_parameters)
        check_positive(C, "C")
        check_positive(epsilon, "epsilon")
        return float(C), float(epsilon)

    def _solve(self, S, y, points):
        from similitude.features._potential_solver import solve_path

        return solve_path(S, y, points)
