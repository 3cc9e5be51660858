"""Spectrum modification of similarity matrices (Chen et al. 2009, Section 2)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from similitude.base import SimilarityEstimator, unchanged_on_failure
from similitude.numerics.eigen import (
    ZERO_TOLERANCE,
    cut_zeros,
    eigh,
    modified_eigenvalues,
    negative_eigenfraction,
    spectrum_shift,
)
from similitude.proximity.check import dense
from similitude.proximity.symmetry import mean_of_directions, symmetrized_for

METHODS = ("clip", "flip", "shift", "square", "none")
TEST_ROWS = ("consistent", "augmented", "untreated")

# By what the part of a new row along each eigenvector is multiplied.
_MAP: dict[str, Any] = {"clip": lambda values: (values > 0).astype(float), "flip": np.sign}


class SpectrumModifier(OneToOneFeatureMixin, TransformerMixin, SimilarityEstimator):
    """Make a similarity matrix positive semidefinite, and treat new rows consistently.

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

    Clip, flip and square are linear maps of the similarities, so training rows and new rows are treated alike:
    ``fit_transform(S)`` equals ``fit(S).transform(S)``. Shift cannot have that: it changes the diagonal only. Clip,
    flip and shift need a symmetric S: an asymmetric one is symmetrised, with a warning.

    Parameters
    ----------
    method : {"clip", "flip", "shift", "square", "none"}, default="clip"
    tol : float, default=1e-10
        Eigenvalues with ``|lambda| <= tol * max|lambda|`` count as zero.
    test_rows : {"consistent", "augmented", "untreated"}, default="consistent"
        How new rows are treated. "consistent": by the linear map above. "augmented", for clip and flip: by modifying
        the (n+1) x (n+1) matrix of the training samples and the new one (Wu et al. 2005), which takes one
        eigendecomposition per row; the self-similarity of the new sample comes from
        :class:`~similitude.Proximities`, by default it is the mean one of the training samples. "untreated": not at
        all, for comparison.
    similarity, dissimilarity
        The input contract.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n,)
        Eigenvalues of the (symmetrised) training similarities, ascending; for ``square`` and ``none`` of the symmetric
        part.
    n_negative_ : int
        The number of negative eigenvalues.
    negative_eigenfraction_ : float
        ``sum |negative lambda| / sum |lambda|``.
    transform_matrix_ : ndarray of shape (n, n)
        P, such that rows S become S P; computed at the first access.

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
        method="clip",
        *,
        tol=ZERO_TOLERANCE,
        test_rows="consistent",
        similarity="precomputed",
        dissimilarity=None,
    ):
        self.method = method
        self.tol = tol
        self.test_rows = test_rows
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def fit(self, X, y=None):
        """Decompose the training similarities."""
        with unchanged_on_failure(self):
            self._fit(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Decompose the training similarities and return the modified training kernel."""
        S = self._fit(X, y)
        if self.method == "square":
            with np.errstate(over="ignore"):
                kernel = S @ S.T
            if not np.isfinite(kernel).all():
                raise ValueError("X is too large for method='square', which overflows; rescale it first.")
            return kernel
        if self.method == "shift":
            kernel = S.copy()
            kernel[np.diag_indices_from(kernel)] += spectrum_shift(self.eigenvalues_)
            return kernel
        if self.method == "none":
            return S.copy()
        return _with_spectrum(S, self._raw_values, modified_eigenvalues(self.eigenvalues_, self.method), self._vectors)

    def _fit(self, X, y):
        self._check_parameters()
        given = self._fit_proximities(X, y)
        S = dense(given.S).astype(np.float64, copy=False)
        self.__dict__.pop("transform_matrix_", None)
        # set_params after fit changes what the next fit does, not what this one has done.
        self._method, self._test_rows, self._tol = self.method, self.test_rows, self.tol
        if self.method in ("clip", "flip", "shift"):
            S = symmetrized_for("SpectrumModifier", S)
            self._raw_values, self._vectors = eigh(S)
        else:
            self._raw_values, _ = eigh(mean_of_directions(S))
        self.eigenvalues_ = cut_zeros(self._raw_values, self.tol)
        self.n_negative_ = int(np.sum(self.eigenvalues_ < 0))
        self.negative_eigenfraction_ = negative_eigenfraction(self.eigenvalues_)
        if self.method == "square" or self.test_rows == "augmented":
            self._similarities = S.copy()
            own = given.self_similarity if given.self_similarity is not None else np.diagonal(S)
            self._mean_self_similarity = float(np.mean(own))
        return S

    def _check_parameters(self):
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}; got {self.method!r}.")
        if self.test_rows not in TEST_ROWS:
            raise ValueError(f"test_rows must be one of {TEST_ROWS}; got {self.test_rows!r}.")
        if self.test_rows == "augmented" and self.method not in _MAP:
            raise ValueError(f"test_rows='augmented' is defined for clip and flip only; method is {self.method!r}.")
        if not 0 <= self.tol < 1:
            raise ValueError(f"tol must lie in [0, 1); got {self.tol!r}.")

    def transform(self, X):
        """Return rows of similarities to the training samples, treated as ``test_rows`` says."""
        check_is_fitted(self)
        given = self._new_proximities(X)
        S = dense(given.S).astype(np.float64, copy=False)
        if self._test_rows == "augmented":
            return self._augmented(S, given.self_similarity)
        if self._test_rows == "untreated" or self._method in ("shift", "none"):
            return S.copy() if S is given.S else S
        return self._map_rows(S)

    def _map_rows(self, S):
        if self._method == "square":
            return S @ self._similarities.T
        weights = _MAP[self._method](self.eigenvalues_)
        # P = base I + V diag(weights - base) V^T, with the base that needs fewer eigenvectors.
        base = 1.0 if np.sum(weights == 1.0) > np.sum(weights == 0.0) else 0.0
        chosen = weights != base
        vectors = self._vectors[:, chosen]
        return base * S + ((S @ vectors) * (weights[chosen] - base)) @ vectors.T

    def _augmented(self, S, self_similarity):
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
    def transform_matrix_(self):
        """Return P, such that rows S of similarities become S P."""
        check_is_fitted(self)
        n = len(self.eigenvalues_)
        return np.eye(n) if self._method in ("shift", "none") else self._map_rows(np.eye(n))


def _with_spectrum(S, values, modified, vectors):
    """Return S with modified eigenvalues, from the changed or from the remaining eigenvectors, whichever are fewer."""
    changed, remaining = modified != values, modified != 0
    if np.sum(changed) <= np.sum(remaining):
        V = vectors[:, changed]
        kernel = S + (V * (modified - values)[changed]) @ V.T
    else:
        V = vectors[:, remaining]
        kernel = (V * modified[remaining]) @ V.T
    # By rounding, the two triangles differ in the last bit.
    return mean_of_directions(kernel)
