"""Classifiers as paths: a method fitted at one point, or at all points of a grid over its path parameters."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import LinkedEstimator
from similitude.base.answers import Deciding, offered
from similitude.base.fitted import forget_fit, readers_of_training
from similitude.labels import (
    Labels,
    check_labels,
    check_sample_weight,
    check_two_classes,
    costs_matrix,
    priors_vector,
)
from similitude.numerics.votes import log_of
from similitude.reader import ByName

if TYPE_CHECKING:
    from similitude._utils.types import LabelsLike, SamplesLike

Path = TypeVar("Path", bound="FittedPath")


class FittedPath:
    """A method fitted at one or several points.

    It holds all that is needed to answer, independently of the estimator, whose parameters may change after ``fit``.
    """

    points: list[Any]

    _by_point: tuple[str, ...] = ()
    """The other attributes that are lists with one entry for each point."""

    def answers(self, rows: Any, response: str) -> list[np.ndarray]:
        """Return one array for each point."""
        raise NotImplementedError

    def at(self: Path, i: int) -> Path:
        """Return the path of the i-th point alone."""
        one = copy.copy(self)
        for name in ("points", *self._by_point):
            setattr(one, name, [getattr(self, name)[i]])
        return one

    def attributes(self) -> dict[str, Any]:
        """Return the public attributes of the estimator fitted at the one point of this path."""
        return {}

    @property
    def columns(self) -> np.ndarray | None:
        """The training columns that are needed to answer, for a path with one point; None means all columns."""
        return None

    def complete(self) -> None:
        """Do the work that was postponed; ``fit`` calls this once, a search does not."""


@shared_docs
class PathClassifier(LinkedEstimator, Deciding, BaseEstimator):
    """Base of every classifier: it implements ``fit``, the answers and the path.

    A subclass supplies ``_point`` and ``_fit_path``. Its other base, :class:`SimilarityClassifier` or
    :class:`FeatureClassifier`, determines how X is read.
    """

    _path_parameters: tuple[str, ...] = ()
    """The parameters for which one path covers a whole grid."""

    _responses: tuple[str, ...] = ("predict",)
    """The methods that the classifier offers; ``predict_log_proba`` is offered wherever ``predict_proba`` is."""

    _least_classes = 1

    _path: Any
    """The :class:`FittedPath` with one point that ``fit`` keeps."""

    def _point(self, parameters: dict[str, Any]) -> Any:
        """Return one checked point of a grid; ``parameters`` has a value for each of ``_path_parameters``."""
        raise NotImplementedError

    def _fit_path(self, training: Any, labels: Labels, points: list[Any]) -> FittedPath:
        """Return the method fitted at these points."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any) -> Any:
        """Return the training samples; samples that have been read already are returned unchanged."""
        raise NotImplementedError

    def _prepared(self, training: Any, points: list[Any]) -> Any:
        """Return the training samples in the form that the method needs, with the reader that it keeps."""
        return training

    def _rows(self, X: Any) -> Any:
        """Return new samples; rows that have been read already are returned unchanged."""
        raise NotImplementedError

    def _keep_training(self, training: Any) -> None:
        """Keep what is needed of the training samples to read new samples."""
        raise NotImplementedError

    def fit(self, X: SamplesLike, y: LabelsLike) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        {X_train}
        {y_train}

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        points = self._points([{}])
        y, sample_weight = labels_in_order(y, X), labels_in_order(sample_weight, X, "sample_weight")
        training = self._read(X, y)
        labels = self._labels_of(check_labels(y, len(training)), sample_weight)
        training = self._prepared(training, points)
        path = self._fit_path(training, labels, points)
        path.complete()
        self._adopt(training, labels, path)
        return self

    def _points(self, grid: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return the checked points of a grid, each of which overrides the estimator's own parameters."""
        own = {name: getattr(self, name) for name in self._path_parameters}
        return [self._point({**own, **point}) for point in grid]

    def _labels_of(self, y: np.ndarray, sample_weight: Any = None) -> Labels:
        """Return checked labels in encoded form, with the weights, and the costs and priors of the estimator."""
        classes, codes = np.unique(y, return_inverse=True)
        if self._least_classes > 1:
            check_two_classes(classes)
        return Labels(
            classes,
            codes.astype(np.intp, copy=False),
            check_sample_weight(sample_weight, codes, classes),
            costs_matrix(getattr(self, "costs", None), classes),
            priors_vector(getattr(self, "priors", None), classes),
        )

    def _adopt(self, training: Any, labels: Labels, path: FittedPath) -> None:
        """Become the estimator fitted at the one point of this path; nothing can fail at this stage."""
        forget_fit(self)
        self._keep_training(training)
        self.classes_, self._path = labels.classes, path
        for name, value in self._derived().items():
            setattr(self, name, value)

    def _offers(self, response: str) -> bool:
        if response not in self._responses:
            raise AttributeError(self._why_not(response))
        return True

    def _answer(self, X: Any, response: str) -> np.ndarray:
        check_is_fitted(self)
        return decoded(self._path.answers(self._rows(X), response), response, self.classes_)[0]

    def _why_not(self, response: str) -> str:
        """Return the error message for a method that the classifier does not offer."""
        return f"{type(self).__name__} has no {response}."

    @offered("predict_proba")
    def predict_log_proba(self, X: SamplesLike) -> np.ndarray:
        """Return the logarithm of the posterior probability of each class.

        Parameters
        ----------
        {X_new}

        Returns
        -------
        ndarray of shape (m, G)
            The logarithms, in the order of ``classes_``; minus infinity if the probability is 0.
        """
        if "predict_log_proba" in self._responses:
            return self._answer(X, "predict_log_proba")
        return log_of(self.predict_proba(X))

    def _derived(self) -> dict[str, Any]:
        """Return the public attributes that follow from the path; a loaded model computes them again."""
        return self._path.attributes()


def decoded(answers: list[np.ndarray], response: str, classes: np.ndarray) -> list[np.ndarray]:
    """Return the answers of a path with positions in the classes replaced by labels."""
    if response == "predict":
        return [classes[answer] for answer in answers]
    if response == "decision_function" and not all(np.isfinite(answer).all() for answer in answers):
        raise ValueError("X: decision values overflow; rescale X to similarities of the order of 1, in fit and here.")
    return answers


def path_parameters(classifier: PathClassifier) -> tuple[str, ...]:
    """Return the parameters for which one path covers a whole grid."""
    return classifier._path_parameters


class GridFit:
    """A classifier fitted at every point of a grid over its path parameters."""

    def __init__(self, estimator: PathClassifier, X: Any, y: Any, grid: Sequence[Mapping[str, Any]]):
        self.estimator, self.grid = estimator, grid
        points = estimator._points(grid)
        training = estimator._read(X, y)
        self.labels = estimator._labels_of(y if isinstance(X, ByName) else check_labels(y, len(training)))
        self._training = estimator._prepared(training, points)
        self.path = estimator._fit_path(self._training, self.labels, points)

    def answers(self, rows: Any, response: str) -> list[np.ndarray]:
        """Return for each point the result of a method of the fitted estimator."""
        if response != "predict" and not hasattr(self._first, response):
            raise AttributeError(self._first._why_not(response))
        if response == "predict_log_proba" and response not in self.estimator._responses:
            return [log_of(posterior) for posterior in self.answers(rows, "predict_proba")]
        return decoded(self.path.answers(self._rows(rows), response), response, self.labels.classes)

    @cached_property
    def _first(self) -> Any:
        """The estimator fitted at the first point, which offers the same methods as all of them."""
        return self.at(0)

    def _rows(self, rows: Any) -> Any:
        if not isinstance(rows, ByName):
            return self._first._rows(rows)
        return self.estimator._complete(rows.read_as(readers_of_training(self._training)))

    def at(self, i: int) -> Any:
        """Return the estimator fitted at the i-th point."""
        fitted = clone(self.estimator).set_params(**clone(dict(self.grid[i]), safe=False))
        fitted._adopt(self._training, self.labels, self.path.at(i))
        return fitted
