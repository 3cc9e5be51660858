"""The pseudo-Euclidean embedding of a symmetric similarity (Goldfarb 1985; Pekalska & Duin 2005)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from similitude._utils.docs import shared_docs
from similitude.base import SimilarityTransformer
from similitude.numerics.eigen import cut_zeros, eigh
from similitude.proximity.check import dense
from similitude.reader import Rows, Training
from similitude.similarities.registry import SimilarityLike


def _components(S: np.ndarray, n_components: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the chosen non-zero eigenvalues and their eigenvectors.

    The positive eigenvalues come before the negative ones, and each group is sorted by descending absolute value.
    """
    values, vectors = eigh(S)
    values = cut_zeros(values)
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    order = order[: _how_many(np.abs(values[order]), n_components)]
    order = np.concatenate([order[values[order] > 0], order[values[order] < 0]])
    vectors = vectors[:, order]
    # The sign of an eigenvector is arbitrary. Its entry of largest absolute value is made positive.
    if vectors.size:
        largest = vectors[np.argmax(np.abs(vectors), axis=0), np.arange(vectors.shape[1])]
        vectors = vectors * np.where(largest < 0, -1.0, 1.0)
    return values[order], vectors


def _how_many(sizes: np.ndarray, n_components: Any) -> int:
    if n_components is None:
        return len(sizes)
    if isinstance(n_components, int | np.integer) and not isinstance(n_components, bool) and n_components >= 1:
        return int(n_components)
    if isinstance(n_components, float | np.floating) and 0 < n_components <= 1:
        shares = np.cumsum(sizes) / max(sizes.sum(), np.finfo(float).tiny)
        return int(np.searchsorted(shares, float(n_components) - 1e-12) + 1)
    raise ValueError(f"n_components must be None, a count of at least 1, or a share in (0, 1]; got {n_components!r}.")


@shared_docs
class PseudoEuclideanEmbedding(ClassNamePrefixFeaturesOutMixin, SimilarityTransformer):
    """Embed samples in a pseudo-Euclidean space, and new samples by projection.

    With ``S = V diag(lambda) V^T``, ``x_i = |Lambda|^(1/2) V^T e_i`` on the p positive and q negative directions; a
    new row s becomes ``|Lambda|^(-1/2) sgn(Lambda) V^T s``. Any scikit-learn model can use these as ordinary vectors
    (in the associated Euclidean space). The embedding needs a symmetric S: an asymmetric one is symmetrised, with a
    warning.

    Parameters
    ----------
    n_components : int, float or None, default=None
        The number of directions to keep, those of largest ``|lambda|``, or the share of ``sum |lambda|`` to keep. None
        keeps all directions.
    {similarity}
        For distances, "double-centring" is the classical choice.

    Attributes
    ----------
    signature_ : tuple of int
        (p, q), the numbers of kept positive and negative directions.
    eigenvalues_ : ndarray of shape (p + q,)
        The kept eigenvalues: the positive ones first, each group sorted by descending absolute value.

    See Also
    --------
    IndefiniteNystroem : Computes similar features from similarities to a few landmarks.
    SpectrumModifier : Makes the similarity matrix positive semidefinite.
    SimilarityFeatures : Uses the similarities themselves as features.

    References
    ----------
    Pekalska, Paclik & Duin, "A generalized kernel approach to dissimilarity-based classification", JMLR 2, 2001.

    Examples
    --------
    >>> from similitude import PseudoEuclideanEmbedding
    >>> embedding = PseudoEuclideanEmbedding().fit([[2.0, 1.0], [1.0, 2.0]])
    >>> embedding.signature_
    (2, 0)
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        similarity: SimilarityLike = "precomputed",
        dissimilarity: str | None = None,
    ):
        self.n_components = n_components
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    @property
    def _unlabelled(self) -> str | None:
        return "spectrum"

    def _prepared(self, training: Training) -> Training:
        return training.in_both_directions("PseudoEuclideanEmbedding")

    def _learn(self, training: Training, y: Any, transforms: bool) -> Callable[[], Any]:
        S = dense(training.symmetric)
        self.eigenvalues_, self._vectors = _components(S, self.n_components)
        self.signature_ = int(np.sum(self.eigenvalues_ > 0)), int(np.sum(self.eigenvalues_ < 0))
        # Rows of a matrix are used as they are, as in transform.
        return lambda: self._projected(training.S if training.reader.is_matrix else S)

    def _transform(self, rows: Rows) -> np.ndarray:
        return self._projected(rows.symmetric)

    def _projected(self, S: Any) -> np.ndarray:
        return S @ (self._vectors * (np.sign(self.eigenvalues_) / np.sqrt(np.abs(self.eigenvalues_))))

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)
