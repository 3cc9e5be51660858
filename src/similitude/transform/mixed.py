"""The weighted sum of several similarities on a common scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from similitude.base import SimilarityTransformer
from similitude.labels import check_labels
from similitude.numerics.alignment import aligned_weights, spread
from similitude.proximity.check import dense
from similitude.similarities.registry import SimilarityLike

WEIGHTS = ("equal", "aligned")


class MixedSimilarity(OneToOneFeatureMixin, SimilarityTransformer):
    """Add several similarities on a common scale, for any method on precomputed similarities.

    The result is ``sum over v of w_v S_v / r_v``, where r_v is the root mean square of the entries of S_v among the
    training samples after its rows and columns were centred. Scales and weights are learned in ``fit``, so
    that in a pipeline they are learned from each training part only, and new rows are added in the same way.

    Parameters
    ----------
    weights : {"equal", "aligned"}, dict or sequence of float, default="equal"
        "equal" gives all similarities the same weight. "aligned" maximises the alignment of the centred sum with the
        classes over nonnegative weights [1]_, and needs y. A dict has the weights by name; a sequence has them in the
        order of the similarities.
    similarity : "precomputed", "elastic", "words", a similarity on raw objects, or dict of these, default="precomputed"
        With "precomputed", X is ``Proximities`` with several similarities, or a dict of matrices. For raw objects a
        dict has their similarities by name; for time series "elastic" means the family of
        :func:`~similitude.similarities.elastic_family`, by default with the map "gauss:0.7", and for words "words"
        that of :func:`~similitude.similarities.words_family`.
    dissimilarity : str or dict of str, default=None
        The map of all similarities, or the maps by name.

    Attributes
    ----------
    weights_ : dict of float
        The weights by name, which add up to 1.
    spreads_ : dict of float
        The scales r_v by name.

    See Also
    --------
    MixtureSVC : Learns a weight for each eigenvector of each similarity.
    compare_similarities : Tells which similarities are worth adding.

    References
    ----------
    .. [1] Cortes, Mohri & Rostamizadeh, "Algorithms for learning kernels based on centered alignment", JMLR 13, 2012.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from similitude import MixedSimilarity, SimilaritySVC
    >>> taste = [[4, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 3], [0, 1, 3, 4]]
    >>> smell = [[4, 0, 3, 1], [0, 4, 1, 3], [3, 1, 4, 0], [1, 3, 0, 4]]
    >>> model = make_pipeline(MixedSimilarity("aligned"), SimilaritySVC())
    >>> model = model.fit({"taste": taste, "smell": smell}, ["a", "a", "b", "b"])
    >>> model.predict({"taste": [[3, 2, 1, 0]], "smell": [[1, 2, 2, 2]]})
    array(['a'], dtype='<U1')
    >>> {name: round(weight, 2) for name, weight in model[0].weights_.items()}
    {'taste': 1.0, 'smell': 0.0}
    """

    _takes_several = True

    def __init__(
        self,
        weights: Literal["equal", "aligned"] | Mapping[str, float] | Sequence[float] | np.ndarray = "equal",
        *,
        similarity: SimilarityLike | Mapping[str, SimilarityLike] = "precomputed",
        dissimilarity: str | Mapping[str, str] | None = None,
    ):
        self.weights = weights
        self.similarity = similarity
        self.dissimilarity = dissimilarity

    def _check_parameters(self) -> None:
        if isinstance(self.weights, str) and self.weights not in WEIGHTS:
            raise ValueError(f"weights must be one of {WEIGHTS}, a dict, or a sequence; got {self.weights!r}.")

    def _learn(self, training: Any, y: Any, transforms: bool) -> Callable[[], Any]:
        matrices = {name: dense(part.S).astype(np.float64, copy=False) for name, part in training.parts.items()}
        self.spreads_ = {name: spread(S) for name, S in matrices.items()}
        scaled = [S / self.spreads_[name] for name, S in matrices.items()]
        self.weights_ = dict(zip(matrices, self._learned_weights(list(matrices), scaled, y).tolist()))
        return lambda: sum(weight * S for weight, S in zip(self.weights_.values(), scaled))

    def _learned_weights(self, names: list[str], scaled: list[np.ndarray], y: Any) -> np.ndarray:
        weights = self.weights
        if isinstance(weights, str) and weights == "equal":
            return np.full(len(names), 1.0 / len(names))
        if isinstance(weights, str):
            if y is None:
                raise ValueError("weights='aligned' needs y, the labels of the training samples.")
            codes = np.unique(check_labels(y, len(scaled[0])), return_inverse=True)[1]
            return aligned_weights(scaled, codes)
        given = weights
        if isinstance(weights, Mapping):
            if set(weights) != set(names):
                raise ValueError(f"weights must name the similarities {names}; got {list(weights)}.")
            given = [weights[name] for name in names]
        try:
            found = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            found = np.empty(0)
        if found.shape != (len(names),) or not np.all(found >= 0) or not 0 < found.sum() < np.inf:
            raise ValueError(
                f"weights must be {len(names)} nonnegative numbers, one for each similarity, and not all zero; "
                f"got {weights!r}."
            )
        return found / found.sum()

    def _transform(self, rows: Any) -> np.ndarray:
        parts = ((name, dense(own.S).astype(np.float64, copy=False)) for name, own in rows.parts.items())
        return sum(self.weights_[name] * (S / self.spreads_[name]) for name, S in parts)
