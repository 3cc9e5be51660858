"""Gaussians of distances between feature vectors, and between rows of another similarity."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_positive
from similitude._utils.types import ListLike
from similitude.similarities.pairwise import pairwise
from similitude.similarities.registry import BatchSimilarity, Measure, SimilarityLike, register, resolve
from similitude.similarities.vectors import OBJECTS, as_vector_pair, as_vectors


class RBF(BatchSimilarity):
    """Gaussian radial basis function of the Euclidean distance, ``exp(-gamma |x - z|^2)``.

    Parameters
    ----------
    gamma : float, default=None
        The factor in the exponent; None means 1 / number of columns, as in scikit-learn.

    See Also
    --------
    RBFRows : Gaussian of the distance between two objects' rows of another similarity.
    euclidean : Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.

    Examples
    --------
    >>> from similitude.similarities.gaussian import RBF
    >>> RBF(gamma=0.5)([[0.0]], [[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065]])
    """

    def __init__(self, gamma: float | None = None):
        self.gamma = gamma

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the similarities of the rows of A to those of B."""
        A, B = as_vector_pair(A, B)
        gamma = 1.0 / max(1, A.shape[1]) if self.gamma is None else self.gamma
        check_positive(gamma, "gamma")
        return np.exp(-gamma * cdist(A, B, "sqeuclidean"))


class RBFRows(BatchSimilarity):
    """Gaussian of the distance between two objects' rows of another similarity.

    ``psi(x, z) = exp(-gamma |s(x) - s(z)|^2)``, where s(x) is the vector of x's similarities to the training objects.
    Two objects are alike when they are alike to the same other objects. With gamma = 1 it is the "RBF-sim" of the
    Protein data.

    Parameters
    ----------
    similarity : str, callable or "precomputed", default="precomputed"
        The other similarity (or dissimilarity) between objects. "precomputed" means that each object is its row s(x).
    gamma : float, default=1.0
        The factor in the exponent.

    Attributes
    ----------
    objects_ : sequence
        The training objects, unless ``similarity`` is "precomputed".
    n_columns_ : int
        The length of a row s(x).

    See Also
    --------
    RBF : Gaussian radial basis function of the Euclidean distance, ``exp(-gamma |x - z|^2)``.

    References
    ----------
    Chen et al. 2009, "Similarity-based classification: concepts and algorithms", JMLR 10, Section 7.1.

    Examples
    --------
    >>> from similitude.similarities.gaussian import RBFRows
    >>> rows = [("a", "x"), ("a", "y"), ("b", "y")]
    >>> RBFRows("counting", gamma=0.1).fit(rows)(rows[:1], rows).round(2)
    array([[1.  , 0.74, 0.45]])
    """

    def __init__(self, similarity: SimilarityLike = "precomputed", gamma: float = 1.0):
        self.similarity = similarity
        self.gamma = gamma

    def fit(self, X: Sequence[object] | np.ndarray, y: ListLike | None = None) -> Self:
        """Store the training objects, to which the rows of similarities are computed.

        Parameters
        ----------
        X : sequence of objects
            The training objects, or their rows of similarities.
        y : array-like, default=None
            Their labels, for a similarity that learns from them.

        Returns
        -------
        RBFRows
            The fitted object.
        """
        if self._is_precomputed:
            self.n_columns_ = as_vectors(X, "X").shape[1]
            return self
        self.objects_ = X
        self._measure = resolve(self.similarity).learned(X, y)
        self.n_columns_ = len(X)
        return self

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity == "precomputed"

    def _rows(self, X: Any, name: str) -> np.ndarray:
        rows = as_vectors(X if self._is_precomputed else pairwise(X, self.objects_, similarity=self._measure), name)
        if rows.shape[1] != self.n_columns_:
            raise ValueError(
                f"{name}[0] has {rows.shape[1]} similarities, but RBFRows was fitted on {self.n_columns_}."
            )
        return rows

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the similarities of the objects in A to those in B."""
        check_is_fitted(self, "n_columns_")
        check_positive(self.gamma, "gamma")
        left = self._rows(A, "A")
        right = left if B is A else self._rows(B, "B")
        return np.exp(-self.gamma * cdist(left, right, "sqeuclidean"))


_gaussian = partial(Measure, batch=True, symmetric=True, range="0 to 1", library="scipy")

register(_gaussian(RBF(), name="rbf", objects=OBJECTS, threads=True))
register(
    _gaussian(
        RBFRows(),
        name="rbf-rows",
        objects="rows of similarities, or any that another similarity takes",
        learns=True,
        reference="Chen et al. 2009, Section 7.1",
    )
)
