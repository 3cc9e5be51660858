"""The Nystroem approximation of an indefinite similarity with a modified spectrum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags

from similitude._utils.checks import check_choice
from similitude._utils.docs import shared_docs
from similitude._utils.types import MatrixLike, RandomState
from similitude.base import SimilarityTransformer
from similitude.numerics.eigen import ZERO_TOLERANCE, negative_eigenfraction
from similitude.numerics.nystroem import modified_features
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike
from similitude.transform.landmarks import LandmarkEstimator

SPECTRA = ("clip", "flip", "square", "none")


@shared_docs
class IndefiniteNystroem(ClassNamePrefixFeaturesOutMixin, LandmarkEstimator, SimilarityTransformer):
    """Compute features from the similarities to m landmarks, such that their inner products are a kernel.

    Let C be the (n, m) similarities of the training samples to the landmarks, W those among the landmarks, and
    decompose the Nystroem approximation::

        S~ = C W^+ C^T = V diag(d) V^T

    The features of the training samples, and of a new sample with similarities c to the landmarks, are

    ========  ===========================  ===================================  ============================
    spectrum  training samples             new sample, s~ = C W^+ c             kernel of the training samples
    ========  ===========================  ===================================  ============================
    clip      V d^(1/2), on d > 0          d^(-1/2) V^T s~, on d > 0            V diag(max(d, 0)) V^T
    flip      V abs(d)^(1/2)               abs(d)^(-1/2) sgn(d) V^T s~          V diag(abs(d)) V^T
    square    V d                          V^T s~                               S~ S~^T
    none      V abs(d)^(1/2)               abs(d)^(-1/2) sgn(d) V^T s~          S~, the inner product with signs
    ========  ===========================  ===================================  ============================

    All of them are linear in c, and a training sample is treated like a new one. The decomposition is that of S~
    itself, not of W: it costs O(n m^2), and ``fit`` forms no matrix larger than a block of rows of C, or W
    (``fit_transform`` holds C, so that its similarities are computed once). If all samples are landmarks, S~ is S and
    the kernel is that of :class:`~similitude.SpectrumModifier`. With "none" the vectors are those of "flip", but in
    inner products feature k has the sign ``signs_[k]`` (pseudo-Euclidean): ``(F * signs_) @ F.T`` is S~.

    If S is indefinite, W may have eigenvalues near 0 that C does not share. Their inverses make S~ large; a larger
    ``tol`` cuts these eigenvalues off.

    Landmarks are chosen among the training samples by

    ============  ============================================================================================
    selection
    ============  ============================================================================================
    "random"      all sets are equally likely; y is not used
    "stratified"  at random within each class, in proportion to the classes' sizes, at least one each
    "kmedoids"    :func:`similitude.numerics.medoids.k_medoids`, within each class if y is given; uses all pairs, so
                  that n^2 similarities are computed if X holds raw objects
    "leverage"    without replacement, in proportion to ``0.9 l_i / sum(l) + 0.1 / n``, l the leverage scores
                  ``l_i = sum_k V[i, k]^2`` of a first approximation with as many random landmarks
    ============  ============================================================================================

    S must be symmetric. If W is not, S is replaced by ``(S + S^T)/2``, with a warning. The same is done for new samples
    that are raw objects, while new rows of a matrix are used as they are.

    Parameters
    ----------
    n_components : int, default=100
        The number m of landmarks; if it is at least n, all samples are landmarks. There are at most as many features.
    spectrum : {"clip", "flip", "square", "none"}, default="clip"
        How the spectrum is modified.
    selection : {"random", "stratified", "kmedoids", "leverage"}, default="random"
        How landmarks are chosen.
    landmark_similarity : array-like of shape (p, p), default=None
        The similarities among the p objects of X's columns, needed if and only if ``similarity="columns"``. The matrix
        belongs to no sample, so that cross-validation does not cut it. If p is larger than n_components, landmarks
        are chosen by "random".
    tol : float, default=1e-10
        Eigenvalues of W, and of S~, of at most ``tol`` times the largest count as zero.
    random_state : int, RandomState or None, default=None
        Seed for the choice of landmarks.
    {similarity}
        The constants of the map are learned from the landmarks' matrix alone, which for "double-centring" is the
        landmark version of classical scaling; "kmedoids" chooses by -d. Of raw objects only the landmarks are kept.

    Attributes
    ----------
    landmarks_ : ndarray of int of shape (m,)
        The positions of the landmarks among the training columns (objects), ascending.
    support_columns_ : ndarray of int
        The columns that ``transform`` needs, those of the landmarks. Rows may consist of these columns only.
    objects_ : sequence
        The landmarks. Only available if X holds raw objects.
    eigenvalues_ : ndarray of shape (k,)
        The eigenvalues d of S~ that belong to the features, sorted by descending absolute value, before they are
        modified.
    signs_ : ndarray of shape (k,)
        The sign of each feature in inner products: 1, or with "none" that of its eigenvalue.
    n_negative_, negative_eigenfraction_ : int, float
        The number of negative eigenvalues of S~, and ``sum |negative d| / sum |d|``.
    projection_ : ndarray of shape (m, k)
        The features of similarities c are ``c projection_``. If no eigenvalue is left, there is one feature, 0.

    See Also
    --------
    LandmarkClassifier : Fits a linear model on these features.
    SpectrumModifier : Modifies the spectrum of the whole matrix.
    SimilarityFeatures : Uses similarities to prototypes as features.

    References
    ----------
    Williams & Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2000. Gisbrecht & Schleif, "Metric
    and non-metric proximity transformations at linear costs", Neurocomputing 167, 2015. Gittens & Mahoney, "Revisiting
    the Nystroem method for improved large-scale machine learning", JMLR 17, 2016 (leverage scores). de Silva &
    Tenenbaum, "Sparse multidimensional scaling using landmark points", 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import IndefiniteNystroem
    >>> S = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.8], [0.1, 0.8, 1.0]])
    >>> F = IndefiniteNystroem(spectrum="flip").fit_transform(S)
    >>> (F @ F.T).round(2)
    array([[1.08, 0.78, 0.17],
           [0.78, 1.16, 0.7 ],
           [0.17, 0.7 , 1.06]])
    >>> words = ["tree", "free", "house", "mouse", "horse"]
    >>> few = IndefiniteNystroem(2, random_state=0, similarity="levenshtein").fit(words)
    >>> few.objects_, few.transform(["three", "hose"]).shape
    (['tree', 'house'], (2, 2))
    """

    def __init__(
        self,
        n_components: int = 100,
        spectrum: Literal["clip", "flip", "square", "none"] = "clip",
        selection: Literal["random", "stratified", "kmedoids", "leverage"] = "random",
        *,
        landmark_similarity: MatrixLike | None = None,
        tol: float = ZERO_TOLERANCE,
        random_state: RandomState = None,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_components = n_components
        self.spectrum = spectrum
        self.selection = selection
        self.landmark_similarity = landmark_similarity
        self.tol = tol
        self.random_state = random_state
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.selection == "stratified"
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.projection_.shape[1]

    @property
    def _unlabelled(self) -> str | None:
        return "all" if self.selection in ("random", "leverage") else None  # the others choose by class

    def _check_parameters(self) -> None:
        self._check_landmark_parameters()
        check_choice(self.spectrum, "spectrum", SPECTRA)

    def _learn(self, training: Training, y: Any, transforms: bool) -> Callable[[], Any]:
        landmarks = self._landmarks_of(training, y)
        self._keep_landmarks(training.reader, landmarks.to)
        self._to_landmarks = landmarks.to
        held = [C for _, C in landmarks.blocks()] if transforms and not landmarks.are_all else []
        found = landmarks.spectrum(self.tol, held=held)
        self.n_negative_ = int(np.sum(found.values < 0))
        self.negative_eigenfraction_ = negative_eigenfraction(found.values)
        self.projection_, self.eigenvalues_, self.signs_ = modified_features(found, self.spectrum)
        if landmarks.are_all:  # S V = V diag(d), which needs no product and loses no digits
            return lambda: self.projection_ * self.eigenvalues_
        return lambda: self._projected(held)

    def _projected(self, blocks: list[np.ndarray]) -> np.ndarray:
        for i, block in enumerate(blocks):  # one block at a time, so that no second copy of all of them is held
            blocks[i] = block @ self.projection_
        return np.concatenate(blocks)

    def _transform(self, rows: Rows) -> np.ndarray:
        return np.concatenate([C @ self.projection_ for _, C in self._to_landmarks.blocks(rows)])
