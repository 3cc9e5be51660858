"""Estimators on similarities: how they read X."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from similitude._utils.ids import as_ids
from similitude._utils.scikit_learn import LinkedEstimator
from similitude.base.path import PathClassifier
from similitude.reader import Reader, Rows, Training

if TYPE_CHECKING:
    import numpy as np
    from sklearn.utils import Tags


class SimilarityEstimator(LinkedEstimator, BaseEstimator):
    """Base of all estimators on similarities: it holds ``similarity`` and ``dissimilarity`` and reads X."""

    _saved_state = {"_reader": "Reader", "n_features_in_?": "size n", "feature_names_in_?": "label[n]"}

    similarity: Any
    dissimilarity: Any

    _takes_columns = False
    """Whether ``similarity="columns"`` is allowed: rows of similarities to fixed prototypes."""

    _warns_of_dissimilarity = True

    _votes_among_known = False
    """Whether unknown similarities are left out; otherwise they must be filled."""

    _takes_training = True
    """Whether ``fit`` accepts training samples that have been read already, and ``predict`` such rows."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        reader = self._new_reader()
        tags.input_tags.pairwise = reader.is_precomputed
        tags.input_tags.sparse = self.dissimilarity is None
        # Estimators that choose among methods take NaN only if one of their methods does.
        tags.input_tags.allow_nan = self._votes_among_known and self._takes_training
        if not reader.is_matrix:
            tags.no_validation = True
            tags.input_tags.two_d_array = False
        return tags

    def _new_reader(self) -> Reader:
        """Return a reader for this estimator's input contract."""
        return Reader(
            self.similarity,
            self.dissimilarity,
            takes_columns=self._takes_columns,
            search=getattr(self, "search", "matrix"),
        )

    def _read(self, X: Any, y: Any = None) -> Training:
        if not isinstance(X, Training):
            return self._complete(self._new_reader().fit(X, y, estimator=self, warns=self._warns_of_dissimilarity))
        # A search over maps reads the samples once, and each point by its own map.
        return self._complete(X if self.dissimilarity in (None, X.reader.map_name) else X.mapped(self.dissimilarity))

    def _rows(self, X: Any) -> Rows:
        if isinstance(X, Rows):
            return self._complete(X.read_as(self._reader))
        check_is_fitted(self)
        return self._complete(self._reader.rows(X, support=getattr(self, "support_columns_", None), estimator=self))

    def _complete(self, samples: Any) -> Any:
        """Return training samples or rows whose unknown similarities are filled, unless the method leaves them out."""
        return samples if self._votes_among_known else samples.complete(type(self).__name__)

    def _keep_training(self, training: Training) -> None:
        """Keep what is needed of the training samples to read new ones, and the number and names of their columns."""
        self._reader = training.reader
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if self._reader.is_matrix:
            self.n_features_in_ = self._reader.n_columns
            if self._reader.column_names is not None:
                self.feature_names_in_ = self._reader.column_names

    @property
    def objects_(self) -> Any:
        """The training samples, if they are raw objects."""
        reader = vars(self).get("_reader")
        if reader is None or reader.objects is None:
            raise AttributeError("objects_ exists only after fit on raw objects, not if X is a matrix.")
        return reader.objects

    @property
    def ids_(self) -> np.ndarray:
        """The ids of the training samples, in the order of the columns of new rows, if they have ids."""
        reader = vars(self).get("_reader")
        found = None if reader is None else as_ids(reader.ids)
        if found is None:
            raise AttributeError("ids_ exists only after fit on a matrix whose samples have ids.")
        return found


class SimilarityClassifier(SimilarityEstimator, PathClassifier):
    """Base of the classifiers on similarities."""

    _saved_state = {"support_columns_?": "int[*] 0..n"}

    def _derived(self) -> dict[str, Any]:
        columns = self._path.columns
        own = {} if columns is None else {"support_columns_": self._reader.columns_read(columns)}
        return super()._derived() | own


def new_reader(estimator: SimilarityEstimator) -> Any:
    """Return a reader for the input contract of an estimator, which need not be fitted."""
    return estimator._new_reader()


def takes_training(estimator: Any) -> bool:
    """Return whether an estimator accepts training samples, and rows, that have been read already."""
    return isinstance(estimator, SimilarityEstimator) and estimator._takes_training


def warns_of_dissimilarity(estimator: Any) -> bool:
    """Return whether an estimator warns of a matrix that seems to hold dissimilarities."""
    return isinstance(estimator, SimilarityEstimator) and estimator._warns_of_dissimilarity
