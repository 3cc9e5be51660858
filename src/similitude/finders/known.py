"""The finder on a matrix in which some similarities are unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude.finders._pairs import matrix_of_pairs, pair_blocks, pairs_among
from similitude.finders.finder import MatrixFinder
from similitude.proximity.unknown import LearnedFill, known_in_either_direction


class KnownFinder(MatrixFinder):
    """A finder on whole rows of similarities of which some are unknown.

    Neighbours are found among the samples whose similarity is known. If the similarity of two neighbours to each other
    is unknown in one direction, that in the other direction is used; if it is unknown in both, the value that
    ``Proximities(fill=...)`` names, by default the mean of the known similarities of different training samples.
    """

    _saved_state = {"fill?": "LearnedFill", "keys?": "int[.p] 0..", "values?": "float[.p]"}

    def __init__(self, S: Any, reader: Any):
        super().__init__(S)
        if self.S is None:
            return
        if reader.fill is None:
            fill = LearnedFill.learn(self.S, "class-blind mean", dissimilarities=False)
        else:
            values = np.array([[reader.fill.value, reader.fill.own]])
            fill = LearnedFill(*np.ravel(reader.similarities(values)).tolist())
        self.fill = fill
        if sparse.issparse(self.S):
            self.keys, self.values = known_in_either_direction(self.S)
        else:
            self.S = fill(np.where(np.isnan(self.S), self.S.T, self.S), square=True)

    def among(self, rows: Any, indices: np.ndarray) -> Any:
        if self.S is None or not sparse.issparse(self.S):
            return self.S
        n = self.S.shape[0]
        pairs = pairs_among(indices, n)
        left, right = np.divmod(pairs, n)
        keys, values = self.keys, self.values
        places = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
        missing = np.where(left == right, self.fill.own, self.fill.value)
        data = np.where(keys[places] == pairs, values[places], missing).astype(values.dtype, copy=False)
        return matrix_of_pairs(pairs, data, n)

    def blocks(self, m: int, k: int) -> list[slice]:
        return pair_blocks(m, k) if sparse.issparse(self.S) else super().blocks(m, k)
