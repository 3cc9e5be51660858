"""Base of the estimators that read several similarities of the same samples at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude.base import SimilarityEstimator
from similitude.numerics.alignment import spread
from similitude.proximity.check import dense
from similitude.reader import Rows, SeveralReader, SeveralRows, SeveralTraining, Training


class SeveralEstimator(SimilarityEstimator):
    """Base of the estimators whose X holds several similarities: ``Proximities``, a dict of matrices, or raw objects.

    A single similarity is also accepted; its name is "S".
    """

    _saved_state = {"_reader": "SeveralReader"}

    def _new_reader(self) -> Any:
        return SeveralReader(self.similarity, self.dissimilarity)

    def _read(self, X: Any, y: Any = None) -> Any:
        if isinstance(X, Training):
            X = SeveralTraining(self._new_reader(), {"S": X})
        if not isinstance(X, SeveralTraining):
            X = self._new_reader().fit(X, y, estimator=self, warns=self._warns_of_dissimilarity)
        return self._complete(X)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if isinstance(X, Rows):
            X = SeveralRows(None, {"S": X})
        rows = X.read_as(self._reader) if isinstance(X, SeveralRows) else self._reader.rows(X, estimator=self)
        return self._complete(rows)


def matrices_of(training: SeveralTraining, who: str) -> dict[str, np.ndarray]:
    """Return the symmetric similarities among the training samples, by name, as dense matrices of float64."""
    return {name: dense(part.symmetric(who)).astype(np.float64, copy=False) for name, part in training.parts.items()}


def matching_factors(matrices: dict[str, np.ndarray]) -> dict[str, float]:
    """Return factors with which all matrices have the same spread: the geometric mean of theirs over their number."""
    spreads = {name: spread(S) for name, S in matrices.items()}
    if len(spreads) == 1:
        return dict.fromkeys(spreads, 1.0)
    common = float(np.exp(np.mean(np.log(list(spreads.values())))))
    return {name: common / own / len(spreads) for name, own in spreads.items()}
