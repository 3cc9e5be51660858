"""Spectrum modification of similarity matrices (Chen et al. 2009, Section 2)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_choice
from similitude._utils.docs import shared_docs
from similitude.base import SimilarityTransformer
from similitude.numerics.eigen import (
    SPECTRA,
    ZERO_TOLERANCE,
    RowMap,
    cut_zeros,
    eigh,
    modified_eigenvalues,
    modified_matrix,
    negative_eigenfraction,
    row_map_weights,
)
from similitude.proximity.check import dense
from similitude.proximity.symmetry import mean_of_directions
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike

METHODS = SPECTRA
TEST_ROWS = ("consistent", "augmented", "untreated")

_SYMMETRIC = ("clip", "flip", "shift")
"""The values of ``method`` that need a symmetric matrix."""


@shared_docs
class SpectrumModifier(OneToOneFeatureMixin, SimilarityTransformer):
    """Make a similarity matrix positive semidefinite, and transform new rows consistently.

    With ``S = V diag(lambda) V^T``:

    ======  =================================  ===========================================
    method  training kernel                    new row s becomes
    ======  =================================  ===========================================
    clip    V diag(max(lambda, 0)) V^T         P s, P = V diag(lambda > 0) V^T
    flip    V diag(abs(lambda)) V^T            P s, P = V diag(sgn lambda) V^T
    shift   S + abs(min(lambda_min, 0)) I      s (only self-similarities change)
    square  S S^T                              S s
    none    S                                  s
    ======  =================================  ===========================================

    Some authors call clip "denoise". Clip, flip and square are linear maps of the similarities, so training rows and
    new rows are treated alike: ``fit_transform(S)`` equals ``fit(S).transform(S)``. This does not hold for shift, which
    changes the diagonal only. Clip, flip and shift need a symmetric S: an asymmetric one is symmetrised, with a
    warning.

    Parameters
    ----------
    method : {"clip", "flip", "shift", "square", "none"}, default="clip"
        How the spectrum is modified.
    tol : float, default=1e-10
        Eigenvalues with ``|lambda| <= tol * max|lambda|`` count as zero.
    test_rows : {"consistent", "augmented", "untreated"}, default="consistent"
        How new rows are transformed. "consistent" applies the linear map above. "augmented", for clip and flip only,
        modifies the (n+1) x (n+1) matrix of the training samples and the new one (Wu et al. 2005). It takes one
        eigendecomposition per row, and the self-similarity of the new sample comes from
        :class:`~similitude.Proximities`, or is the mean of those of the training samples. "untreated" leaves new rows
        unchanged, for comparison.
    {similarity}

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n,)
        The eigenvalues of the (symmetrised) training similarities, ascending; for ``square`` and ``none`` those of the
        symmetric part.
    n_negative_ : int
        The number of negative eigenvalues.
    negative_eigenfraction_ : float
        ``sum |negative lambda| / sum |lambda|``.
    transform_matrix_ : ndarray of shape (n, n)
        The matrix P for which rows S become S P; computed on first access.

    See Also
    --------
    SimilaritySVC : Modifies the spectrum and fits a support vector machine in one estimator.
    LearnedSpectrumSVC : Learns how to modify the spectrum.
    IndefiniteNystroem : Modifies the spectrum of an approximation by landmarks.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 2 and Proposition 1. Wu, Chang & Zhang, "An analysis
    of transformation on non-positive semidefinite similarity matrix for kernel machines", 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from similitude import SpectrumModifier
    >>> S = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.8], [0.1, 0.8, 1.0]])
    >>> clip = SpectrumModifier("clip").fit(S)
    >>> clip.n_negative_, round(clip.negative_eigenfraction_, 3)
    (1, 0.047)
    >>> make_pipeline(SpectrumModifier("clip"), SVC(C=100, kernel="precomputed")).fit(S, [0, 0, 1]).predict(S)
    array([0, 0, 1])
    """

    def __init__(
        self,
        method: Literal["clip", "flip", "shift", "square", "none"] = "clip",
        *,
        tol: float = ZERO_TOLERANCE,
        test_rows: Literal["consistent", "augmented", "untreated"] = "consistent",
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.method = method
        self.tol = tol
        self.test_rows = test_rows
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _check_parameters(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_choice(self.test_rows, "test_rows", TEST_ROWS)
        if self.test_rows == "augmented" and self.method not in ("clip", "flip"):
            raise ValueError(f"test_rows='augmented' is defined for clip and flip only; method is {self.method!r}.")
        if not 0 <= self.tol < 1:
            raise ValueError(f"tol must lie in [0, 1); got {self.tol!r}.")

    def _prepared(self, training: Training) -> Training:
        return training.in_both_directions("SpectrumModifier") if self.method in _SYMMETRIC else training

    def _learn(self, training: Training, y: Any, transforms: bool) -> Callable[[], Any]:
        # Parameters are kept, so that set_params after fit does not affect transform.
        self._method, self._test_rows, self._tol = self.method, self.test_rows, self.tol
        S = dense(training.S).astype(np.float64, copy=False)
        if self._method in _SYMMETRIC:
            S = mean_of_directions(S) if training.asymmetric else S
            values, vectors = eigh(S)
            self._vectors = vectors
        else:
            values, vectors = eigh(mean_of_directions(S))
        self.eigenvalues_ = cut_zeros(values, self.tol)
        self.n_negative_ = int(np.sum(self.eigenvalues_ < 0))
        self.negative_eigenfraction_ = negative_eigenfraction(self.eigenvalues_)
        if self._method == "square" or self._test_rows == "augmented":
            self._similarities = S.copy()
            own = training.self_similarity if training.self_similarity is not None else np.diagonal(S)
            self._mean_self_similarity = float(np.mean(own))
        return lambda: self._kernel(S, values, vectors)

    def _kernel(self, S: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            kernel = modified_matrix(S, self._method, values, vectors, self._tol)
        return self._finite(kernel)

    def _finite(self, kernel: np.ndarray) -> np.ndarray:
        """Return a kernel matrix, or raise a ValueError if squaring has overflowed."""
        if self._method == "square" and not np.isfinite(kernel).all():
            raise ValueError("X is too large for method='square', which overflows; rescale it first.")
        return kernel

    def _transform(self, rows: Rows) -> np.ndarray:
        given = rows.symmetric if self._method in _SYMMETRIC else rows.S
        S = dense(given).astype(np.float64, copy=False)
        if self._test_rows == "augmented":
            return self._augmented(S, rows.self_similarity)
        if self._test_rows == "untreated" or self._method in ("shift", "none"):
            return S.copy() if S is given else S
        return self._mapped(S)

    def _mapped(self, S: np.ndarray) -> np.ndarray:
        if self._method == "square":
            with np.errstate(over="ignore", invalid="ignore"):
                return self._finite(S @ self._similarities.T)
        return RowMap(self._vectors, row_map_weights(self.eigenvalues_, self._method))(S)

    def _augmented(self, S: np.ndarray, self_similarity: np.ndarray | None) -> np.ndarray:
        n = len(self._similarities)
        if self_similarity is None:
            self_similarity = np.full(len(S), self._mean_self_similarity)
        treated = np.empty_like(S)
        matrix = np.empty((n + 1, n + 1))
        matrix[:n, :n] = self._similarities
        for i, (row, own) in enumerate(zip(S, self_similarity)):
            matrix[n, :n] = matrix[:n, n] = row
            matrix[n, n] = own
            values, vectors = eigh(matrix)
            modified = modified_eigenvalues(cut_zeros(values, self._tol), self._method)
            treated[i] = vectors[:n] @ (modified * vectors[n])
        return treated

    @cached_property
    def transform_matrix_(self) -> np.ndarray:
        """The matrix P for which rows S of similarities become S P."""
        check_is_fitted(self)
        n = len(self.eigenvalues_)
        return np.eye(n) if self._method in ("shift", "none") else self._mapped(np.eye(n))


def method_of(modifier: SpectrumModifier) -> str:
    """Return the method with which a modifier was fitted."""
    return modifier._method
