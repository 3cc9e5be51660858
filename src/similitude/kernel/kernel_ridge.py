"""Ridge regression on the classes whose kernel is the similarity with a modified spectrum."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.checks import check_choice, check_positive
from similitude._utils.docs import shared_docs
from similitude._utils.types import LabelsLike, SamplesLike
from similitude.base import FittedPath, SimilarityClassifier
from similitude.labels import Labels
from similitude.numerics.eigen import cut_zeros, eigh, modified_eigenvalues, row_map_weights
from similitude.proximity.check import dense
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike

_SPECTRA = ("clip", "flip", "shift")


class RidgePoint(NamedTuple):
    """One point of a grid."""

    reg: float
    spectrum: str


class RidgeFit(NamedTuple):
    """The solution at one point: the coefficients of rows, the intercepts, and the left-out values of the samples."""

    coef: np.ndarray
    intercept: np.ndarray
    left_out: np.ndarray


class RidgeProblem:
    """Ridge regression on a symmetric matrix, which is decomposed once for all points and targets."""

    def __init__(self, S: np.ndarray):
        values, self._vectors = eigh(S)
        self._values = cut_zeros(values)
        self._ones, self._squares = self._vectors.sum(axis=0), self._vectors**2

    def solve(self, targets: np.ndarray, point: RidgePoint) -> RidgeFit:
        """Return the solution for targets of shape (n, L)."""
        values, vectors, ones = self._values, self._vectors, self._ones
        inverse = 1.0 / (modified_eigenvalues(values, point.spectrum) + point.reg)
        total = float(np.sum(inverse * ones**2))
        in_basis = vectors.T @ targets
        intercept = (inverse * ones) @ in_basis / total
        solution = inverse[:, None] * (in_basis - ones[:, None] * intercept)
        A = vectors @ solution
        coef = A
        if point.spectrum != "shift":
            coef = vectors @ (row_map_weights(values, point.spectrum)[:, None] * solution)
        # The residual of a left-out sample is its coefficient over the diagonal entry of the inverse.
        diagonal = self._squares @ inverse - (vectors @ (inverse * ones)) ** 2 / total
        return RidgeFit(coef, intercept, targets - A / diagonal[:, None])

    def fitted(self, targets: np.ndarray, point: RidgePoint) -> np.ndarray:
        """Return the values that the solution has for the training samples."""
        values, vectors, ones = self._values, self._vectors, self._ones
        inverse = 1.0 / (modified_eigenvalues(values, point.spectrum) + point.reg)
        in_basis = vectors.T @ targets
        intercept = (inverse * ones) @ in_basis / float(np.sum(inverse * ones**2))
        return targets - point.reg * (vectors @ (inverse[:, None] * (in_basis - ones[:, None] * intercept)))


class WeightedRidgeProblem:
    """Ridge regression with weights w of the samples: a kernel and targets that are multiplied by sqrt(w)."""

    def __init__(self, S: np.ndarray, weights: np.ndarray):
        values, self._vectors = eigh(S)
        self._values, self._roots = cut_zeros(values), np.sqrt(weights)
        self._bases: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def _basis(self, spectrum: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the eigenvalues and eigenvectors of the weighted kernel of a spectrum."""
        if spectrum not in self._bases:
            scaled = self._roots[:, None] * self._vectors
            values, basis = eigh((scaled * modified_eigenvalues(self._values, spectrum)) @ scaled.T)
            self._bases[spectrum] = np.maximum(values, 0.0), basis
        return self._bases[spectrum]

    def solve(self, targets: np.ndarray, point: RidgePoint) -> RidgeFit:
        """Return the solution for targets of shape (n, L)."""
        values, basis = self._basis(point.spectrum)
        roots, ones = self._roots[:, None], basis.T @ self._roots
        inverse = 1.0 / (values + point.reg)
        total = float(np.sum(inverse * ones**2))
        in_basis = basis.T @ (roots * targets)
        intercept = (inverse * ones) @ in_basis / total
        A = roots * (basis @ (inverse[:, None] * (in_basis - ones[:, None] * intercept)))
        coef = A
        if point.spectrum != "shift":
            coef = self._vectors @ (row_map_weights(self._values, point.spectrum)[:, None] * (self._vectors.T @ A))
        diagonal = roots**2 * (basis**2 @ inverse - (basis @ (inverse * ones)) ** 2 / total)[:, None]
        residuals = np.divide(A, diagonal, out=np.zeros_like(A), where=diagonal > 0)  # no sample of weight 0 counts
        return RidgeFit(coef, intercept, targets - residuals)


class KernelRidgePath(FittedPath):
    """Kernel ridge classifiers at one or several points."""

    weights: np.ndarray | None = None  # of model files without it

    def __init__(
        self, points: list[RidgePoint], fits: list[RidgeFit], codes: np.ndarray, weights: np.ndarray | None = None
    ):
        self.points, self.fits, self.codes, self.weights = points, fits, codes, weights

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        S = dense(rows.symmetric).astype(np.float64, copy=False)
        return [_answer(S @ fit.coef + fit.intercept, response) for fit in self.fits]

    def at(self, i: int) -> KernelRidgePath:
        return KernelRidgePath([self.points[i]], [self.fits[i]], self.codes, self.weights)

    def attributes(self) -> dict[str, Any]:
        (fit,) = self.fits
        wrong = _answer(fit.left_out, "predict") != self.codes
        return {
            "coef_": fit.coef,
            "intercept_": fit.intercept,
            "loo_error_": float(np.average(wrong, weights=self.weights)),
        }


def _answer(values: np.ndarray, response: str) -> np.ndarray:
    if response == "predict":
        return np.argmax(values, axis=1)
    return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values


@shared_docs
class KernelRidgeClassifier(SimilarityClassifier):
    """Classify by ridge regression on the classes, with the similarity as kernel, in closed form.

    With the similarities S of the training samples turned into a kernel K as in :class:`SimilaritySVC`, and T the
    matrix with 1 for the class of a sample and -1 for the others::

        minimise  ||T - K A - 1 b^T||^2 + reg trace(A^T K A)   over   A of shape (n, G) and b of length G

    The solution is ``(K + reg I) A = T - 1 b^T`` with columns of A that add up to 0. All values of ``reg`` and
    ``spectrum`` share one eigendecomposition, and the values that a fit without one sample would predict for it follow
    without further fits. This is the least-squares support vector machine, one class against the rest.

    An asymmetric S is replaced by ``(S + S^T)/2``, with a warning.

    Parameters
    ----------
    reg : float, default=1.0
        The weight of the penalty, in units of the similarities.
    spectrum : {"clip", "flip", "shift"}, default="clip"
        How S is made positive semidefinite, and how new rows are treated: see :class:`SimilaritySVC`.
    {similarity}

    Attributes
    ----------
    {classes_}
    coef_ : ndarray of shape (n, G)
        The coefficients of the similarities of new samples.
    intercept_ : ndarray of shape (G,)
        The constants b.
    loo_error_ : float
        The leave-one-out error on the training samples, for the spectrum of all of them.

    See Also
    --------
    SimilaritySVC : A support vector machine on the same kernel.

    References
    ----------
    Suykens & Vandewalle, "Least squares support vector machine classifiers", Neural Processing Letters 9, 1999. Cawley
    & Talbot, "Fast exact leave-one-out cross-validation of sparse least-squares support vector machines", Neural
    Networks 17, 2004. Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 2 (the spectra).

    Examples
    --------
    >>> from similitude import KernelRidgeClassifier
    >>> S = [[3, 2, 0, 1], [2, 3, 1, 0], [0, 1, 3, 2], [1, 0, 2, 3]]
    >>> model = KernelRidgeClassifier(reg=0.1).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[2, 3, 1, 0], [0, 1, 2, 3]])
    array(['a', 'b'], dtype='<U1')
    >>> model.loo_error_
    0.0
    """

    _path_parameters = ("reg", "spectrum")
    _responses = ("predict", "decision_function")
    _least_classes = 2

    def __init__(
        self,
        reg: float = 1.0,
        spectrum: Literal["clip", "flip", "shift"] = "clip",
        *,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.reg = reg
        self.spectrum = spectrum
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _point(self, parameters: dict[str, Any]) -> RidgePoint:
        check_positive(parameters["reg"], "reg")
        check_choice(parameters["spectrum"], "spectrum", _SPECTRA)
        return RidgePoint(parameters["reg"], parameters["spectrum"])

    def _prepared(self, training: Training, points: list[RidgePoint]) -> Training:
        return super()._prepared(training.in_both_directions("KernelRidgeClassifier"), points)

    def fit(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        {X_train}
        {y_train}
        sample_weight : array-like of shape (n,), default=None
            The weights of the samples in the sum of squares, and in ``loo_error_``.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y, sample_weight)

    def _fit_path(self, training: Training, labels: Labels, points: list[RidgePoint]) -> KernelRidgePath:
        S, weights = dense(training.symmetric).astype(np.float64, copy=False), labels.sample_weight
        problem = RidgeProblem(S) if weights is None else WeightedRidgeProblem(S, weights)
        targets = np.where(labels.codes[:, None] == np.arange(labels.n_classes), 1.0, -1.0)
        return KernelRidgePath(points, [problem.solve(targets, point) for point in points], labels.codes, weights)
