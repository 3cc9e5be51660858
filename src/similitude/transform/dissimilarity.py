"""Transformers on precomputed matrices that learn their constants on the training part."""

from __future__ import annotations

from sklearn.base import TransformerMixin

from similitude.base import SimilarityEstimator
from similitude.proximity.maps import TO_SIMILARITY, apply_range, value_range


class DissimilarityToSimilarity(TransformerMixin, SimilarityEstimator):
    """Turn precomputed dissimilarities into similarities, with constants learned on the training part.

    Parameters
    ----------
    how : str, default="max-minus"
        The map: see :mod:`similitude.proximity.maps`.
    scale : float, default=None
        The map's constant c; learned in ``fit`` where None.

    Attributes
    ----------
    constants_ : dict
        What was learned.

    Examples
    --------
    >>> from similitude import DissimilarityToSimilarity
    >>> to_similarity = DissimilarityToSimilarity("max-minus").fit([[0.0, 3.0], [3.0, 0.0]])
    >>> to_similarity.transform([[1.0, 4.0]])
    array([[ 2., -1.]])
    """

    similarity = "precomputed"
    _map_argument = "how"

    def __init__(self, how="max-minus", scale=None):
        self.how = how
        self.scale = scale

    @property
    def dissimilarity(self):
        return self.how

    @property
    def _map_scale(self):  # type: ignore[override]
        return self.scale

    def fit(self, X, y=None):
        """Learn the map's constants from the training dissimilarities."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        """Learn the constants and map the training matrix."""
        if self.how is None:
            raise ValueError(f"how must be one of {sorted(TO_SIMILARITY)}; got None.")
        S = self._fit_proximities(X).S
        self.constants_ = self._learned_map.constants
        return S

    def transform(self, X):
        """Map rows of dissimilarities to the training samples."""
        return self._new_proximities(X).S


class Rescale(TransformerMixin, SimilarityEstimator):
    """Map the range of the training similarities linearly onto [0, 1]; new rows by the same constants.

    New rows may fall outside [0, 1]. A constant training matrix is mapped to zero, and so are new rows. A sparse
    matrix must have 0 as its smallest entry.

    Attributes
    ----------
    min_, max_ : float
        The range of the training similarities.

    Examples
    --------
    >>> from similitude import Rescale
    >>> Rescale().fit([[4.0, 2.0], [0.0, 4.0]]).transform([[1.0, 5.0]])
    array([[0.25, 1.25]])
    """

    similarity = "precomputed"
    dissimilarity = None

    def fit(self, X, y=None):
        """Learn the range."""
        self.min_, self.max_ = value_range(self._fit_proximities(X).S)
        return self

    def transform(self, X):
        """Rescale rows of similarities to the training samples."""
        return apply_range(self._new_proximities(X).S, self.min_, self.max_)
