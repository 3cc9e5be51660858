"""Transformers on similarities."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude.base.fitted import forget_fit
from similitude.base.similarity import SimilarityEstimator
from similitude.reader import Rows, Training

if TYPE_CHECKING:
    from similitude._utils.types import ListLike, Matrix, SamplesLike


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
        return fitted, fitted._learn(training, y, transforms)

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
