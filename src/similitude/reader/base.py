"""What the readers of one and of several similarities have in common, and what their samples have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from similitude._utils.ids import Names
from similitude._utils.scikit_learn import safe_indexing
from similitude.proximity.proximities import Extras
from similitude.proximity.split import cut
from similitude.proximity.unknown import fill_needed
from similitude.reader.values import ComputedValues

NO_EXTRAS = Extras()


class InputReader:
    """Base of the readers: it reads X according to the input contract, after ``fit`` also new samples."""

    similarity: Any

    @property
    def is_precomputed(self) -> bool:
        """Whether X is the square matrix of the training samples, or holds several of these."""
        return isinstance(self.similarity, str) and self.similarity == "precomputed"

    def adopted(self, X: Any) -> Any:
        """Return another library's matrix as an array, DataFrame or ``Proximities``, and a dict as ``Proximities``."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, estimator: Any = None, warns: bool = True) -> Any:
        """Return the training samples, after the similarities and the maps have learned from them."""
        raise NotImplementedError

    @property
    def ids(self) -> Names | None:
        """The names of the training samples, to which the columns of new rows are matched; None without any."""
        raise NotImplementedError

    def rows(self, X: Any, *, support: np.ndarray | None = None, estimator: Any = None) -> Any:
        """Return the rows of new samples."""
        raise NotImplementedError


class ReadSamples:
    """Base of samples in the form in which a method reads one similarity: :class:`Training` and :class:`Rows`."""

    S: Any
    """The similarities of the samples to the training samples."""

    def __init__(self, reader: Any, length: int, native: Any, extras: Extras, unknown: bool, announced: bool):
        self.reader, self._length, self.native, self.extras = reader, length, native, extras
        self.unknown, self.announced = unknown, announced

    def __len__(self) -> int:
        return self._length

    @property
    def features(self) -> Any:
        """The feature vectors of the samples, or None."""
        return self.extras.features

    @property
    def self_similarity(self) -> np.ndarray | None:
        """The similarities of the samples to themselves, or None."""
        return self.extras.self_similarity

    @property
    def ids(self) -> np.ndarray | None:
        """The names of the samples, or None."""
        return self.extras.ids

    def _computes_only(self, columns: np.ndarray) -> bool:
        """Return whether the similarities to these training samples can be computed without those to the others."""
        computes = isinstance(self.native, ComputedValues) and "S" not in vars(self)
        return computes and len(self.reader.columns_read(columns)) < self.reader.n_columns

    def _similarities(self, columns: np.ndarray) -> Any:
        """Return the similarities to the training samples at these positions, from the values before the map."""
        return self.reader.similarities(self.native.block(slice(0, len(self)), columns))

    def complete(self, who: str) -> Self:
        """Return the same samples with a value for each unknown similarity; without a fill a ValueError is raised."""
        if not self.unknown:
            return self
        if self.reader.fill is None:
            raise fill_needed(who, self.S)
        return self._completed

    @property
    def _completed(self) -> Self:
        raise NotImplementedError


class SearchSamples:
    """Base of all samples of a search, which are read once and divided into folds."""

    reader: Any
    X: Any
    y: Any
    n: int
    values: Any

    @property
    def learns(self) -> bool:
        """Whether a similarity learns from data; each fold then has its own values."""
        raise NotImplementedError

    def fold(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        """Return the training samples of a fold and the rows of its test samples; values are cut out at first use."""
        raise NotImplementedError

    def evidence(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return for each test sample of a fold whether its row to the training samples of the fold gives evidence."""
        raise NotImplementedError

    def whole(self) -> Any:
        """Return all samples as training samples."""
        raise NotImplementedError

    def precomputed(self) -> Self:
        """Return the same samples as precomputed matrices of native values."""
        raise NotImplementedError

    def part(self, rows: np.ndarray) -> Self:
        """Return some of the samples."""
        raise NotImplementedError

    def native(self, train: np.ndarray, test: np.ndarray, pairwise: bool) -> tuple[Any, Any]:
        """Return the training part and the test part of X for an estimator that does not use a reader."""
        if not pairwise:
            return safe_indexing(self.X, train), safe_indexing(self.X, test)
        values = self.values
        return cut(values, train, train), cut(values, test, train)
