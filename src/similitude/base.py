"""The estimator contract: what every estimator does with its input, its labels and its parameters.

A fitted classifier is a path with one point. A subclass of :class:`PathClassifier` supplies two methods:

* ``_point(parameters)`` returns one checked point of a grid;
* ``_fit_path(training, labels, points)`` returns a :class:`FittedPath` and contains all the mathematics of fitting.

``fit`` computes the path of the one point of the estimator's own parameters and keeps it, and ``predict`` gets the
answers of this path for rows. A search computes the path of many points and gets all answers for the same rows
(:class:`GridFit`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import (
    _get_feature_names,
    check_is_fitted,
    validate_data,
)

from similitude._utils.forms import labels_in_order
from similitude._utils.links import LinkedEstimator
from similitude._utils.methods import Method, available_if
from similitude.labels import Labels, check_labels, check_sample_weight, costs_matrix, priors_vector
from similitude.numerics.votes import log_of
from similitude.proximity.proximities import Proximities
from similitude.reader import Reader, Rows, Training

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from similitude._utils.types import LabelsLike, ListLike, Matrix, SamplesLike

Path = TypeVar("Path", bound="FittedPath")


class FittedPath:
    """A method fitted at one or several points.

    It holds all that is needed to answer, independently of the estimator, whose parameters may change after ``fit``.

    Attributes
    ----------
    points : list
        The checked points, in the order of the grid.
    """

    _saved_state = {"points": "list(1) of any"}

    points: list[Any]

    def answers(self, rows: Any, response: str) -> list[np.ndarray]:
        """Return one array for each point.

        Parameters
        ----------
        rows : Rows or ndarray
            The new samples.
        response : str
            "predict" (positions in the classes), "predict_proba", "decision_function", "predict_log_proba", or another
            response that the method supports.

        Returns
        -------
        list of ndarray
            The answers.
        """
        raise NotImplementedError

    def at(self: Path, i: int) -> Path:
        """Return the path of the i-th point alone.

        Parameters
        ----------
        i : int
            The position of the point.

        Returns
        -------
        FittedPath
            The path with one point.
        """
        one = copy.copy(self)
        one.points = [self.points[i]]
        return one

    def attributes(self) -> dict[str, Any]:
        """Return the public attributes of the estimator fitted at the one point of this path.

        Returns
        -------
        dict
            The values by name.
        """
        return {}

    @property
    def columns(self) -> np.ndarray | None:
        """The training columns that are needed to answer, for a path with one point; None means all columns."""
        return None

    def complete(self) -> None:
        """Do the work that was postponed; ``fit`` calls this once, a search does not."""


def _offers(response: str) -> Callable[[Method], Method]:
    def check(estimator: Any) -> bool:
        if response not in estimator._responses:
            raise AttributeError(estimator._why_not(response))
        return True

    return available_if(check)


class PathClassifier(LinkedEstimator, ClassifierMixin, BaseEstimator):
    """Base of every classifier: it implements ``fit``, the answers and the path.

    A subclass supplies ``_point`` and ``_fit_path``. Its other base, :class:`SimilarityClassifier` or
    :class:`FeatureClassifier`, determines how X is read.
    """

    _saved_state = {"classes_": "label[G]", "_path": "FittedPath"}

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
        X : training samples
            A matrix or raw objects, as ``similarity`` and ``dissimilarity`` determine (see the page on input); feature
            vectors for a classifier on features.
        y : array-like of shape (n,)
            The labels.

        Returns
        -------
        self
            The fitted classifier.
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        points = self._points([{}])
        y = labels_in_order(y, X)
        training = self._read(X, y)
        labels = self._labels_of(check_labels(y, len(training)), sample_weight)
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
        if len(classes) < self._least_classes:
            raise ValueError(f"y must have at least two classes; got one class, {classes.tolist()[0]!r}.")
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

    def _answer(self, X: Any, response: str) -> np.ndarray:
        """Return the answer of the fitted path for X."""
        check_is_fitted(self)
        return decoded(self._path.answers(self._rows(X), response), response, self.classes_)[0]

    def _why_not(self, response: str) -> str:
        """Return the error message for a method that the classifier does not offer."""
        return f"{type(self).__name__} has no {response}."

    def predict(self, X: SamplesLike) -> np.ndarray:
        """Predict the class of each sample.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, raw objects, or feature vectors.

        Returns
        -------
        ndarray of shape (m,)
            The predicted labels.
        """
        return self._answer(X, "predict")

    @_offers("predict_proba")
    def predict_proba(self, X: SamplesLike) -> np.ndarray:
        """Return the posterior probability of each class.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, raw objects, or feature vectors.

        Returns
        -------
        ndarray of shape (m, G)
            The probabilities, in the order of ``classes_``.
        """
        return self._answer(X, "predict_proba")

    @_offers("predict_proba")
    def predict_log_proba(self, X: SamplesLike) -> np.ndarray:
        """Return the logarithm of the posterior probability of each class.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, raw objects, or feature vectors.

        Returns
        -------
        ndarray of shape (m, G)
            The logarithms, in the order of ``classes_``; minus infinity if the probability is 0.
        """
        if "predict_log_proba" in self._responses:
            return self._answer(X, "predict_log_proba")
        return log_of(self.predict_proba(X))

    @_offers("decision_function")
    def decision_function(self, X: SamplesLike) -> np.ndarray:
        """Return the decision values.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, raw objects, or feature vectors.

        Returns
        -------
        ndarray of shape (m,) or (m, G)
            For two classes one value, which is positive for the second class. For more classes the score of each class,
            of which that of the predicted class is the largest.
        """
        return self._answer(X, "decision_function")

    def _derived(self) -> dict[str, Any]:
        """Return the public attributes that follow from the path; a loaded model computes them again."""
        return self._path.attributes()


def decoded(answers: list[np.ndarray], response: str, classes: np.ndarray) -> list[np.ndarray]:
    """Return the answers of a path with positions in the classes replaced by labels.

    Parameters
    ----------
    answers : list of ndarray
        The answers.
    response : str
        The name of the response.
    classes : ndarray of shape (G,)
        The labels of the classes.

    Returns
    -------
    list of ndarray
        The answers.
    """
    if response == "predict":
        return [classes[answer] for answer in answers]
    if response == "decision_function" and not all(np.isfinite(answer).all() for answer in answers):
        raise ValueError("X: decision values overflow; rescale X to similarities of the order of 1, in fit and here.")
    return answers


class GridFit:
    """A classifier fitted at every point of a grid over its path parameters.

    Parameters
    ----------
    estimator : PathClassifier
        The classifier.
    X, y
        The training samples and their labels. A search reads all samples, and checks their labels, before it makes
        folds; what has been read already is not checked again.
    grid : list of dict
        The parameters of each point.
    """

    def __init__(self, estimator: PathClassifier, X: Any, y: Any, grid: Sequence[Mapping[str, Any]]):
        self.estimator, self.grid = estimator, grid
        points = estimator._points(grid)
        self._training = estimator._read(X, y)
        self.labels = estimator._labels_of(y if self._training is X else check_labels(y, len(self._training)))
        self.path = estimator._fit_path(self._training, self.labels, points)

    def answers(self, rows: Any, response: str) -> list[np.ndarray]:
        """Return for each point the result of a method of the fitted estimator.

        Parameters
        ----------
        rows : samples
            The new samples, which may have been read already.
        response : str
            The name of the method.

        Returns
        -------
        list of ndarray
            The results.
        """
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
        if not isinstance(rows, Rows):
            return self._first._rows(rows)
        return self.estimator._complete(rows.read_as(self._training.reader))

    def at(self, i: int) -> Any:
        """Return the estimator fitted at the i-th point.

        Parameters
        ----------
        i : int
            The position of the point.

        Returns
        -------
        estimator
            The fitted estimator.
        """
        fitted = clone(self.estimator).set_params(**clone(dict(self.grid[i]), safe=False))
        fitted._adopt(self._training, self.labels, self.path.at(i))
        return fitted


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


class SimilarityClassifier(SimilarityEstimator, PathClassifier):
    """Base of the classifiers on similarities."""

    _saved_state = {"support_columns_?": "int[*] 0..n"}

    def _derived(self) -> dict[str, Any]:
        columns = self._path.columns
        own = {} if columns is None else {"support_columns_": self._reader.columns_read(columns)}
        return super()._derived() | own


class SimilarityTransformer(TransformerMixin, SimilarityEstimator):
    """Base of the transformers on similarities: a subclass supplies ``_learn`` and ``_transform``.

    If a fit fails, the estimator is unchanged.
    """

    def _check_parameters(self) -> None:
        """Raise a ValueError for invalid parameters before anything is read."""

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
        X : training samples
            A matrix or raw objects, as ``similarity`` and ``dissimilarity`` determine: see the page on input.
        y : array-like of shape (n,), default=None
            The labels, for a similarity that learns from them.

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
        X : training samples
            A matrix or raw objects, as ``similarity`` and ``dissimilarity`` determine: see the page on input.
        y : array-like of shape (n,), default=None
            The labels, for a similarity that learns from them.

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
        training = self._read(X, y)
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
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray or CSR matrix with m rows
            The transformed samples.
        """
        check_is_fitted(self)
        return self._transform(self._rows(X))


@dataclass(frozen=True)
class FeatureVectors:
    """Training samples that are feature vectors.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The feature vectors.
    names : ndarray of str or None
        The names of the features.
    """

    X: np.ndarray
    names: np.ndarray | None

    def __len__(self) -> int:
        return len(self.X)


class FeatureClassifier(PathClassifier):
    """Base of the classifiers on feature vectors."""

    _saved_state = {"n_features_in_": "size p", "feature_names_in_?": "label[p]"}

    _dtypes: tuple[type, ...] = (np.float64,)

    def _read(self, X: Any, y: Any = None) -> FeatureVectors:
        values = check_array(X, dtype=list(self._dtypes), order="C", estimator=self)
        return FeatureVectors(self._checked(values), _get_feature_names(X))

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


def forget_fit(estimator: Any) -> None:
    """Remove the public attributes of an earlier fit.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is changed.
    """
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)


def as_one_row(estimator: Any, X: Any) -> Any:
    """Return one sample in the form that ``predict`` requires; a row of a precomputed matrix may have one dimension.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator.
    X : one sample
        A row of similarities, or a sequence of one raw object.

    Returns
    -------
    samples
        The sample as a row.
    """
    check_is_fitted(estimator)
    if not estimator._reader.is_matrix or isinstance(X, Proximities) or np.ndim(X) != 1:
        return X
    return X.to_frame().T if hasattr(X, "to_frame") else np.reshape(X, (1, -1))
