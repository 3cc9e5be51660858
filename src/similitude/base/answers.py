"""The methods of a fitted classifier that return its answers for new samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin

from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import Method, available_if

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from similitude._utils.types import LabelsLike, SamplesLike


def offered(response: str) -> Callable[[Method], Method]:
    """Return a decorator of a method that an estimator has only if it offers this response."""
    return available_if(lambda estimator: estimator._offers(response))


@shared_docs
class Predicting(ClassifierMixin):
    """Mixin of classifiers: ``predict`` and ``predict_proba`` return what ``_answer(X, response)`` does."""

    def _offers(self, response: str) -> bool:
        """Return whether the classifier has the method of this name, or raise an AttributeError that says why not."""
        return True

    def _answer(self, X: Any, response: str) -> np.ndarray:
        """Return the result of the method of this name."""
        raise NotImplementedError

    def predict(self, X: SamplesLike) -> np.ndarray:
        """Predict the class of each sample.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m,)
            The predicted labels.
        """
        return self._answer(X, "predict")

    def score(self, X: SamplesLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of samples whose class is predicted correctly.

        Parameters
        ----------
        {X_new}
        y : array-like of shape (m,)
            The labels; a dict, or a Series, is matched by the ids of the samples: see the page on input.
        sample_weight : array-like of shape (m,), default=None
            The weights of the samples.

        Returns
        -------
        float
            The share.
        """
        return super().score(X, labels_in_order(y, X), labels_in_order(sample_weight, X, "sample_weight"))

    @offered("predict_proba")
    def predict_proba(self, X: SamplesLike) -> np.ndarray:
        """Return the posterior probability of each class.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, G)
            The probabilities, in the order of ``classes_``.
        """
        return self._answer(X, "predict_proba")


@shared_docs
class Deciding(Predicting):
    """Mixin of classifiers that may also have decision values."""

    @offered("decision_function")
    def decision_function(self, X: SamplesLike) -> np.ndarray:
        """Return the decision values.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m,) or (m, G)
            For two classes one value, which is positive for the second class. For more classes the score of each class,
            of which that of the predicted class is the largest.
        """
        return self._answer(X, "decision_function")
