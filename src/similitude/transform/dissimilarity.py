"""Transformers on precomputed matrices that learn their constants on the training part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import OneToOneFeatureMixin

from similitude._utils.types import Matrix
from similitude.base import SimilarityTransformer
from similitude.proximity.maps import TO_SIMILARITY, apply_range, value_range
from similitude.reader import Contract, Rows, Training


class DissimilarityToSimilarity(OneToOneFeatureMixin, SimilarityTransformer):
    """Turn precomputed dissimilarities into similarities, with constants learned on the training part.

    Parameters
    ----------
    how : str, default="max-minus"
        The map: see :mod:`similitude.proximity.maps`.
    scale : float, default=None
        The constant c of the map. If None, it is learned in ``fit``.

    Attributes
    ----------
    constants_ : dict
        The learned constants of the map.

    See Also
    --------
    Rescale : Maps the range of similarities onto [0, 1].
    SpectrumModifier : Makes a similarity matrix positive semidefinite.

    Examples
    --------
    >>> from similitude import DissimilarityToSimilarity
    >>> to_similarity = DissimilarityToSimilarity("max-minus").fit([[0.0, 3.0], [3.0, 0.0]])
    >>> to_similarity.transform([[1.0, 4.0]])
    array([[ 2., -1.]])
    """

    similarity = "precomputed"
    # A search may change the map, which then has to be learned again.
    _takes_training = False

    def __init__(self, how: str = "max-minus", scale: float | None = None):
        self.how = how
        self.scale = scale

    @property
    def dissimilarity(self) -> str:
        """The name of the map."""
        return self.how

    def _contract(self) -> Contract:
        return Contract("precomputed", self.how, map_argument="how", scale=self.scale)

    def _check_parameters(self) -> None:
        if self.how is None:
            raise ValueError(f"how must be one of {sorted(TO_SIMILARITY)}; got None.")

    def _learn(self, training: Training, y: Any, transforms: bool) -> Callable[[], Any]:
        self.constants_ = training.reader.map.constants
        return lambda: training.S

    def _transform(self, rows: Rows) -> Matrix:
        return rows.S


class Rescale(OneToOneFeatureMixin, SimilarityTransformer):
    """Map the range of the training similarities linearly onto [0, 1].

    New rows are mapped by the same constants, and may fall outside [0, 1]. A constant training matrix is mapped to
    zero, and so are new rows. A sparse matrix must have 0 as its smallest entry.

    Attributes
    ----------
    min_, max_ : float
        The range of the training similarities.

    See Also
    --------
    DissimilarityToSimilarity : Turns dissimilarities into similarities.

    Examples
    --------
    >>> from similitude import Rescale
    >>> Rescale().fit([[4.0, 2.0], [0.0, 4.0]]).transform([[1.0, 5.0]])
    array([[0.25, 1.25]])
    """

    similarity = "precomputed"
    dissimilarity = None

    def _learn(self, training: Training, y: Any, transforms: bool) -> Callable[[], Any]:
        self.min_, self.max_ = value_range(training.S)
        return lambda: apply_range(training.S, self.min_, self.max_)

    def _transform(self, rows: Rows) -> Matrix:
        return apply_range(rows.S, self.min_, self.max_)
