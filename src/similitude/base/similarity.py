"""Estimators on similarities: how classifiers and transformers read X, and what other rooms ask of them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from similitude._utils.docs import shared_docs
from similitude._utils.ids import as_ids, labels_in_order
from similitude._utils.scikit_learn import LinkedEstimator, num_samples
from similitude._utils.types import ColumnPositions, ListLike, Matrix, SamplesLike
from similitude.base.path import PathClassifier, forget_fit, readers_of_training
from similitude.labels import labelled_positions
from similitude.proximity.proximities import Proximities
from similitude.reader import ByName, Contract, Reader, Rows, Samples, Training, rows_of

MOST_IN_SPECTRUM = 2000
"""The most samples whose spectrum is computed for the sake of those without a label."""


class SimilarityEstimator(LinkedEstimator, BaseEstimator):
    """Base of all estimators on similarities: it holds ``similarity`` and ``dissimilarity`` and reads X."""

    similarity: Any
    dissimilarity: Any
    support_columns_: ColumnPositions

    _takes_columns = False
    """Whether ``similarity="columns"`` is allowed: rows of similarities to fixed prototypes."""

    _takes_several = False
    """Whether X may hold several similarities by name; ``fit`` and ``predict`` then see them by name."""

    _warns_of_dissimilarity = True

    _votes_among_known = False
    """Whether unknown similarities are left out; otherwise they must be filled."""

    @property
    def _unlabelled(self) -> str | None:
        """How samples without a label are used.

        None if they are not, "columns" as prototypes, "all" as training samples whose labels are missing, "spectrum" so
        too if all together are at most :data:`MOST_IN_SPECTRUM`.
        """
        return None

    _takes_training = True
    """Whether ``fit`` accepts training samples that have been read already, and ``predict`` such rows."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        contract = self._contract()
        tags.input_tags.pairwise = contract.is_precomputed
        tags.input_tags.sparse = self.dissimilarity is None
        # Estimators that choose among methods take NaN only if one of their methods does.
        tags.input_tags.allow_nan = self._votes_among_known and self._takes_training
        if not contract.is_matrix:
            tags.no_validation = True
            tags.input_tags.two_d_array = False
        return tags

    def _contract(self) -> Contract:
        """Return how this estimator reads X."""
        return Contract(
            self.similarity,
            self.dissimilarity,
            takes_columns=self._takes_columns,
            takes_several=self._takes_several,
            search=getattr(self, "search", "matrix"),
        )

    def _read(self, X: Any, y: Any = None) -> Any:
        """Return the training samples; those that have been read already may get another map."""
        if not isinstance(X, ByName):
            return self._complete(
                Samples(self._contract(), X, y, warns=self._warns_of_dissimilarity, estimator=self).whole()
            )
        if X.everything is not None and self._unlabelled is not None:
            X = with_unlabelled(X, self._unlabelled)
        chosen = self.dissimilarity
        if chosen is None or (self._takes_several and not isinstance(chosen, str)):
            return self._complete(X)
        return self._complete(X.each(lambda training: self._with_map(training, chosen)))

    def _with_map(self, training: Training, chosen: str) -> Training:
        """Return training samples with a map; of several similarities only dissimilarities have one."""
        given = training.reader.map_name
        return training if chosen == given or (self._takes_several and given is None) else training.mapped(chosen)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if isinstance(X, ByName):
            return self._complete(X.read_as(self._readers))
        support = getattr(self, "support_columns_", None)
        return self._complete(rows_of(self._readers, X, support=support, estimator=self))

    def _complete(self, samples: ByName) -> Any:
        """Return training samples or rows, in the only similarity unless the method takes several.

        Unknown similarities are filled, unless the method leaves them out.
        """
        samples = samples if self._votes_among_known else samples.complete(type(self).__name__)
        return samples if self._takes_several else samples.only

    def _keep_training(self, training: Training | ByName[Training]) -> None:
        """Keep what is needed of the training samples to read new ones, and the number and names of their columns."""
        self._keep_readers(readers_of_training(training))

    def _keep_readers(self, readers: dict[str, Reader]) -> None:
        self._readers = readers
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if self._reader.is_matrix and self._reader.pairs is None:
            self.n_features_in_ = self._reader.n_columns
            if self._reader.column_names is not None:
                self.feature_names_in_ = self._reader.column_names

    @property
    def _reader(self) -> Reader:
        """The reader of the only similarity, or of the first; they agree in all that belongs to the samples."""
        return next(iter(self._readers.values()))

    @property
    def objects_(self) -> Any:
        """The training samples, if they are raw objects."""
        reader = reader_of(self)
        if reader is not None and reader.pairs is not None:
            return reader.pairs.objects
        if reader is None or reader.objects is None:
            raise AttributeError("objects_ exists only after fit on raw objects, not if X is a matrix.")
        return reader.objects

    @property
    def ids_(self) -> np.ndarray:
        """The ids of the training samples, in the order of the columns of new rows, if they have ids."""
        reader = reader_of(self)
        found = None if reader is None else as_ids(reader.ids)
        if found is None:
            raise AttributeError("ids_ exists only after fit on a matrix whose samples have ids.")
        return found


class SimilarityClassifier(SimilarityEstimator, PathClassifier):
    """Base of the classifiers on similarities."""

    def _derived(self) -> dict[str, Any]:
        columns = self._path.columns
        own = {} if columns is None else {"support_columns_": self._reader.columns_read(columns)}
        return super()._derived() | own


@shared_docs
class SimilarityTransformer(TransformerMixin, SimilarityEstimator):
    """Base of the transformers on similarities: a subclass supplies ``_learn`` and ``_transform``.

    If a fit fails, the estimator is unchanged.
    """

    def _check_parameters(self) -> None:
        """Raise a ValueError for invalid parameters before anything is read."""

    def _prepared(self, training: Any) -> Any:
        """Return the training samples in the form that is needed, with the reader that is kept."""
        return training

    def _learn(self, training: Training, y: Any, transforms: bool) -> Callable[[], Any]:
        """Set the learned attributes, and return a function that returns the transformed training samples.

        That function is called only if ``transforms`` is true; otherwise the values that it needs need not be kept.
        """
        raise NotImplementedError

    def _transform(self, rows: Rows) -> Any:
        raise NotImplementedError

    def fit(self, X: SamplesLike, y: ListLike | None = None) -> Self:
        """Learn from the training samples.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n,), default=None
            The labels, for a similarity that learns from them, in the order of X: those in another order are refused,
            because the next step of a pipeline would get them so.

        Returns
        -------
        self
            The fitted transformer.
        """
        fitted, _ = self._fitted(X, y, transforms=False)
        self._become(fitted)
        return self

    def fit_transform(self, X: SamplesLike, y: ListLike | None = None) -> Matrix:
        """Learn from the training samples, and return them transformed.

        Parameters
        ----------
        {X_train}
        y : array-like of shape (n,), default=None
            The labels, for a similarity that learns from them, in the order of X: those in another order are refused,
            because the next step of a pipeline would get them so.

        Returns
        -------
        ndarray or CSR matrix with n rows
            The transformed training samples.
        """
        fitted, transformed = self._fitted(X, y, transforms=True)
        answer = transformed()
        self._become(fitted)
        return answer

    def _fitted(self, X: Any, y: Any, transforms: bool) -> tuple[Any, Any]:
        """Return a fitted copy, and a function that returns the transformed training samples."""
        self._check_parameters()
        y = labels_in_order(y, X, reorders=False)
        training = self._prepared(self._read(X, y))
        fitted = copy.copy(self)
        forget_fit(fitted)
        fitted._keep_training(training)
        transformed = fitted._learn(training, y, transforms)
        labelled = getattr(training, "labelled", None)
        return fitted, transformed if labelled is None else (lambda: transformed()[labelled])

    def _become(self, fitted: Any) -> None:
        self.__dict__.clear()
        self.__dict__.update(vars(fitted))

    def transform(self, X: SamplesLike) -> Matrix:
        """Transform new samples.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray or CSR matrix with m rows
            The transformed samples.
        """
        check_is_fitted(self)
        return self._transform(self._rows(X))


def with_unlabelled(training: ByName[Training], how: str) -> ByName[Training]:
    """Return training samples in the form in which a method uses those without a label."""
    labelled: Any = training.labelled
    if how == "spectrum" and len(training.everything) > MOST_IN_SPECTRUM:
        return training
    if how == "columns":
        return training.everything.each(lambda part: part.rows_at(labelled))
    return training.everything.each(lambda part: part.partly_labelled(labelled))


def contract_of(estimator: SimilarityEstimator) -> Contract:
    """Return how an estimator reads X, whether it is fitted or not."""
    return estimator._contract()


def takes_training(estimator: Any) -> bool:
    """Return whether an estimator accepts training samples, and rows, that have been read already."""
    return isinstance(estimator, SimilarityEstimator) and estimator._takes_training


def takes_several(estimator: Any) -> bool:
    """Return whether an estimator reads several similarities at once."""
    return isinstance(estimator, SimilarityEstimator) and estimator._takes_several


def uses_unlabelled(estimator: Any) -> bool:
    """Return whether an estimator uses training samples without a label."""
    return isinstance(estimator, SimilarityEstimator) and estimator._unlabelled is not None


def warns_of_dissimilarity(estimator: Any) -> bool:
    """Return whether an estimator warns of a matrix that seems to hold dissimilarities."""
    return isinstance(estimator, SimilarityEstimator) and estimator._warns_of_dissimilarity


def as_one_row(estimator: Any, X: Any) -> Any:
    """Return one sample in the form that ``predict`` requires; a row of a precomputed matrix may have one dimension."""
    check_is_fitted(estimator)
    reader = estimator._reader
    if not reader.is_matrix or reader.pairs is not None or isinstance(X, Proximities) or np.ndim(X) != 1:
        return X
    return X.to_frame().T if hasattr(X, "to_frame") else np.reshape(X, (1, -1))


def readers_of(estimator: Any) -> dict[str, Any]:
    """Return the readers of a fitted estimator by the names of the similarities; none if it has none."""
    return vars(estimator).get("_readers", {})


def reader_of(estimator: Any) -> Any:
    """Return the reader of a fitted estimator, the first if there are several similarities; None if it has none."""
    return getattr(estimator, "_reader", None)


def path_of(classifier: Any) -> Any:
    """Return the path with one point that a fitted classifier holds."""
    return classifier._path


def read_rows(estimator: Any, X: Any) -> Any:
    """Return new samples as a fitted estimator reads them."""
    return estimator._rows(X)


def partly_labelled(contract: Contract, X: Any, y: Any, **options: Any) -> Samples:
    """Return the samples that have a label, with the others beside them for methods that use these.

    ``y`` has a label, or a missing one, for each sample.
    """
    if not contract.is_precomputed:
        raise ValueError(
            "unlabelled='use' needs similarities as a matrix: compute those of raw objects first, by "
            "similitude.similarities.pairwise."
        )
    labelled, known = labelled_positions(y, num_samples(X))
    everything = Samples(contract, X, np.asarray(y, dtype=object), **options)
    if len(labelled) == everything.n:
        everything.y = known
        return everything
    return everything.labelled_part(labelled, known)
