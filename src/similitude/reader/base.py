"""What the readers of one and of several similarities have in common, and what their samples have in common."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from similitude._utils.ids import Names
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
        """Return another library's matrix as an array, a DataFrame or ``Proximities``, and a dict as ``Proximities``.

        Parameters
        ----------
        X : object
            The training samples.

        Returns
        -------
        object
            The training samples; anything else is returned unchanged.
        """
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, *, estimator: Any = None, warns: bool = True) -> Any:
        """Return the training samples, after the similarities and the maps have learned from them.

        Parameters
        ----------
        X : square matrix, rows to prototypes, Proximities, dict of matrices, or sequence of raw objects
            The training samples.
        y : array-like of shape (n,), default=None
            The labels, for similarities that learn from them.
        estimator : estimator, default=None
            The estimator that error messages name.
        warns : bool, default=True
            Whether a matrix that looks like dissimilarities causes a warning.

        Returns
        -------
        Training or SeveralTraining
            The training samples.
        """
        raise NotImplementedError

    @property
    def ids(self) -> Names | None:
        """The names of the training samples, to which the columns of new rows are matched; None without any."""
        raise NotImplementedError

    def rows(self, X: Any, *, support: np.ndarray | None = None, estimator: Any = None) -> Any:
        """Return the rows of new samples.

        Parameters
        ----------
        X : matrix of shape (m, n), Proximities, dict of matrices, or sequence of raw objects
            The new samples: similarities of the same names as in ``fit``, or raw objects.
        support : ndarray of int, default=None
            The positions of the only columns that are needed, ascending; rows with only these columns are accepted,
            too. A reader of several similarities needs all columns.
        estimator : estimator, default=None
            The fitted estimator that reads the rows: its column names are checked, and error messages name it.

        Returns
        -------
        Rows or SeveralRows
            The rows.
        """
        raise NotImplementedError


class ReadSamples:
    """Base of samples in the form in which a method reads one similarity: :class:`Training` and :class:`Rows`.

    Parameters
    ----------
    reader : Reader
        The fitted reader.
    length : int
        The number of samples.
    native : GivenValues, ComputedValues or None
        The values before the map, block by block.
    extras : Extras
        The features, self-similarities and ids of the samples.
    unknown : bool
        Whether some similarities are unknown: NaN, or absent from a sparse matrix.
    announced : bool
        Whether what is noteworthy causes a warning.
    """

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
        """Return the same samples with a value for each unknown similarity, or raise a ValueError if there is no fill.

        Parameters
        ----------
        who : str
            The name of the method that needs all similarities, for the error message.

        Returns
        -------
        Training or Rows
            The same samples.
        """
        if not self.unknown:
            return self
        if self.reader.fill is None:
            raise fill_needed(who, self.S)
        return self._completed

    @property
    def _completed(self) -> Self:
        raise NotImplementedError


class SearchSamples:
    """Base of all samples of a search, which are read once and divided into folds.

    See Also
    --------
    Samples : Samples with one similarity.
    SeveralSamples : Samples with several similarities.
    """

    reader: Any
    X: Any
    y: Any
    n: int
    values: Any

    @property
    def learns(self) -> bool:
        """Whether a similarity learns from data, so that each fold has its own values."""
        raise NotImplementedError

    def fold(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        """Return the training samples of a fold and the rows of its test samples; values are selected when first used.

        Parameters
        ----------
        train, test : ndarrays of int
            The positions of the training samples and of the test samples.

        Returns
        -------
        training : Training or SeveralTraining
            The training samples.
        rows : Rows or SeveralRows
            The rows of the test samples.
        """
        raise NotImplementedError

    def evidence(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return for each test sample of a fold whether its row to the training samples of the fold gives evidence.

        Parameters
        ----------
        train, test : ndarrays of int
            The positions of the training samples and of the test samples.

        Returns
        -------
        ndarray of bool of shape (len(test),)
            As ``Rows.evidence``; with several similarities, whether at least one of them gives evidence.
        """
        raise NotImplementedError

    def whole(self) -> Any:
        """Return all samples as training samples.

        Returns
        -------
        Training or SeveralTraining
            The training samples.
        """
        raise NotImplementedError

    def precomputed(self) -> Self:
        """Return the same samples as precomputed matrices of native values.

        Returns
        -------
        samples
            The samples.
        """
        raise NotImplementedError

    def part(self, rows: np.ndarray) -> Self:
        """Return some of the samples.

        Parameters
        ----------
        rows : ndarray of int
            Their positions.

        Returns
        -------
        samples
            These samples.
        """
        raise NotImplementedError

    def native(self, train: np.ndarray, test: np.ndarray, pairwise: bool) -> tuple[Any, Any]:
        """Return the training part and the test part of X for an estimator that does not use a reader.

        Parameters
        ----------
        train, test : ndarrays of int
            The positions of the training samples and of the test samples.
        pairwise : bool
            Whether the columns are selected like the rows.

        Returns
        -------
        training, test : array-like or Proximities
            The two parts.
        """
        if not pairwise:
            return _safe_indexing(self.X, train), _safe_indexing(self.X, test)
        values = self.values
        return cut(values, train, train), cut(values, test, train)
