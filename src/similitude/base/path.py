"""What every classifier does: its path at one point or at all points of a grid, and its answers for new samples."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import LinkedEstimator, Method, available_if, feature_names
from similitude._utils.types import LabelsLike, SamplesLike
from similitude.labels import (
    Labels,
    check_labels,
    check_sample_weight,
    check_two_classes,
    costs_matrix,
    priors_vector,
)
from similitude.numerics.votes import log_of
from similitude.reader import ByName, Training

Path = TypeVar("Path", bound="FittedPath")


def offered(response: str) -> Callable[[Method], Method]:
    """Return a decorator of a method that an estimator has only if it offers this response."""
    return available_if(lambda estimator: estimator._offers(response))


@shared_docs
class Predicting(ClassifierMixin):
    """Mixin of classifiers: ``predict`` and ``predict_proba`` return what ``_respond(X, response)`` does."""

    def _offers(self, response: str) -> bool:
        """Return whether the classifier has the method of this name, or raise an AttributeError that says why not."""
        return True

    def _respond(self, X: Any, response: str) -> np.ndarray:
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
        return self._respond(X, "predict")

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
        return self._respond(X, "predict_proba")


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
        return self._respond(X, "decision_function")


def forget_fit(estimator: Any) -> None:
    """Remove the public attributes of an earlier fit."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)


class FittedPath:
    """A method fitted at one or several points.

    It holds all that is needed to answer, independently of the estimator, whose parameters may change after ``fit``.
    """

    points: list[Any]

    _by_point: tuple[str, ...] = ()
    """The other attributes that are lists with one entry for each point."""

    not_saved: tuple[str, ...] = ()
    """The attributes that no answer needs; a model file has None instead."""

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

    def told_apart(self, own: np.ndarray) -> Any:
        """Return the path with columns for some classes of each row; None if it has always all classes."""
        return None


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
        labelled = getattr(training, "labelled", None)
        n = len(training) if labelled is None else len(labelled)
        labels = self._labels_of(check_labels(y, n), sample_weight)
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

    def _respond(self, X: Any, response: str) -> np.ndarray:
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
            return self._respond(X, "predict_log_proba")
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


def readers_of_training(training: Training | ByName[Training]) -> dict[str, Any]:
    """Return the readers of training samples by the names of the similarities."""
    parts = training.parts if isinstance(training, ByName) else {"S": training}
    return {name: part.reader for name, part in parts.items()}


class GridFit:
    """A classifier fitted at every point of a grid over its path parameters."""

    def __init__(
        self,
        estimator: PathClassifier,
        X: Any,
        y: Any,
        grid: Sequence[Mapping[str, Any]],
        sample_weight: np.ndarray | None = None,
    ):
        self.estimator, self.grid = estimator, grid
        points = estimator._points(grid)
        training = estimator._read(X, y)
        y = y if isinstance(X, ByName) else check_labels(y, len(training))
        self.labels = estimator._labels_of(y, sample_weight)
        self._training = estimator._prepared(training, points)
        self.path = estimator._fit_path(self._training, self.labels, points)

    def answers(self, rows: Any, response: str) -> list[np.ndarray]:
        """Return for each point the result of a method of the fitted estimator."""
        if response != "predict" and not hasattr(self._first, response):
            raise AttributeError(self._first._why_not(response))
        if response == "predict_log_proba" and response not in self.estimator._responses:
            return [log_of(posterior) for posterior in self.answers(rows, "predict_proba")]
        return decoded(self.path.answers(self._rows(rows), response), response, self.labels.classes)

    def told_apart(self, rows: Any, response: str, own: np.ndarray) -> list[np.ndarray] | None:
        """Return for each point the answers with columns for some classes of each row, or None if there are none.

        ``own`` are the classes, as positions or -1; the last column of posteriors is the sum of all other classes, and
        labels are columns.
        """
        path = self.path.told_apart(own)
        return None if path is None else path.answers(self._rows(rows), response)

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


@dataclass(frozen=True)
class FeatureVectors:
    """Training samples that are feature vectors."""

    X: np.ndarray
    names: np.ndarray | None

    def __len__(self) -> int:
        return len(self.X)


class FeatureClassifier(PathClassifier):
    """Base of the classifiers on feature vectors."""

    _dtypes: tuple[type, ...] = (np.float64,)

    def _read(self, X: Any, y: Any = None) -> FeatureVectors:
        values = check_array(X, dtype=list(self._dtypes), order="C", estimator=self)
        return FeatureVectors(self._checked(values), feature_names(X))

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._checked(validate_data(self, X, dtype=list(self._dtypes), order="C", reset=False))

    def _checked(self, X: np.ndarray) -> np.ndarray:
        """Return the feature vectors, or raise a ValueError if the method cannot use them."""
        return X

    def _keep_training(self, training: FeatureVectors) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.n_features_in_ = training.X.shape[1]
        if training.names is not None:
            self.feature_names_in_ = training.names
