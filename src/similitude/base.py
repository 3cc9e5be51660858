"""The input contract shared by every estimator: what X may be, labels, costs, priors."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from similitude.proximity.check import check_similarity
from similitude.proximity.maps import TO_SIMILARITY, LearnedMap, learned_constants_needed
from similitude.proximity.proximities import Proximities, as_proximities, at_columns
from similitude.similarities import pairwise, resolve

_known_matrix: ContextVar[tuple[Any, Any, np.ndarray] | None] = ContextVar("known_matrix", default=None)


@contextmanager
def known_matrix(X: Any, similarity: Any, S: np.ndarray) -> Iterator[None]:
    """Within this block, an estimator fitted on these very objects with this similarity takes S as their matrix."""
    token = _known_matrix.set((X, similarity, S))
    try:
        yield
    finally:
        _known_matrix.reset(token)


def _matrix(X: Any) -> Any:
    return X.S if isinstance(X, Proximities) else X


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """A fit that fails leaves the estimator as it was, instead of half of one fit and half of another."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class SimilarityEstimator(BaseEstimator):
    """Base of everything that takes similarities: resolves ``similarity`` and ``dissimilarity``.

    A subclass calls :meth:`_fit_proximities` first in ``fit`` and :meth:`_new_proximities` first in ``predict``;
    both return checked :class:`Proximities` whose S is a similarity.
    """

    similarity: Any
    dissimilarity: Any

    _warns_of_dissimilarity = True

    _map_argument = "dissimilarity"
    """What errors call the parameter that names the map."""

    _map_scale: float | None = None
    """The map's constant where it is given instead of learned."""

    _takes_columns = False
    """Whether ``similarity="columns"`` is allowed: rows of similarities to fixed prototypes."""

    _path_parameters: tuple[str, ...] = ()
    """Parameters over which ``_predict_path`` takes a whole grid at once."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.sparse = self.dissimilarity is None
        if not self._is_matrix:
            tags.no_validation = True
            tags.input_tags.two_d_array = False
        return tags

    @property
    def _is_precomputed(self) -> bool:
        """Whether X is the square matrix of the training samples' similarities."""
        return isinstance(self.similarity, str) and self.similarity == "precomputed"

    @property
    def _is_columns(self) -> bool:
        """Whether X holds rows of similarities to fixed prototypes."""
        return self._takes_columns and isinstance(self.similarity, str) and self.similarity == "columns"

    @property
    def _is_matrix(self) -> bool:
        """Whether X holds similarities, not raw objects."""
        return self._is_precomputed or self._is_columns

    @property
    def _map_name(self) -> str | None:
        """The map by which the values become similarities; None where they are similarities."""
        if self._is_matrix:
            chosen = self.dissimilarity
        else:
            measure = resolve(self.similarity)
            if measure.known and measure.orientation == "similarity" and self.dissimilarity is not None:
                raise ValueError(
                    f"dissimilarity={self.dissimilarity!r}: {measure.name!r} is a similarity; leave dissimilarity=None."
                )
            default = measure.to_similarity if measure.orientation == "dissimilarity" else None
            chosen = default if self.dissimilarity is None else self.dissimilarity
        if chosen is not None and chosen not in TO_SIMILARITY:
            raise ValueError(f"{self._map_argument} must be one of {sorted(TO_SIMILARITY)}; got {chosen!r}.")
        return chosen

    def _fit_proximities(self, X: Any, y: Any = None, *, needs_matrix: bool = True) -> Any:
        """Check or compute the training similarities, learning what ``similarity`` and ``dissimilarity`` learn.

        With ``needs_matrix=False`` the matrix of raw objects is computed only if something must be learned from it;
        None is returned where it was not.
        """
        how = self._map_name
        learned: Any = None
        if self._is_matrix:
            orientation = "similarity" if how is None and self._warns_of_dissimilarity else "dissimilarity"
            square = not self._is_columns
            S = check_similarity(_matrix(X), name="X", square=square, orientation=orientation, estimator=self)
            validate_data(self, _matrix(X), reset=True, skip_check_array=True)
            given = as_proximities(X)
        else:
            objects = _check_objects(X)
            measure = resolve(self.similarity).learned(objects, y)
            if not needs_matrix and (how is None or not learned_constants_needed(how)):
                self._keep(objects, measure, how and LearnedMap(how, {}))
                return None
            known = _known_matrix.get()
            if known is not None and known[0] is X and known[1] is self.similarity:
                S = known[2]
            else:
                S = pairwise(objects, similarity=measure)
            given = Proximities(S)
        if how is not None:
            learned = self._learn_map(S, how)
            S = learned(S, name="X")
        if self._is_matrix:
            self._keep(None, None, learned)
            self._extras = {n for n in ("features", "self_similarity", "ids") if getattr(given, n) is not None}
            if self._is_columns:
                self._extras.discard("ids")  # the rows' names tell nothing of the columns
            self._column_ids = given.column_ids
        else:
            self._keep(objects, measure, learned)
        return given._with(S, given.features)

    def _learn_map(self, S: Any, how: str) -> LearnedMap:
        return LearnedMap.learn(S, how, scale=self._map_scale)

    def _keep(self, objects: Any, measure: Any, learned_map: Any) -> None:
        """Remember what the input was, once nothing can fail any more, and nothing of an earlier fit."""
        self._learned_map = learned_map
        stale = ("objects_", "_measure") if objects is None else ("n_features_in_", "feature_names_in_")
        for name in stale:
            self.__dict__.pop(name, None)
        if objects is not None:
            self.objects_, self._measure = objects, measure

    def _new_proximities(self, X: Any, columns: np.ndarray | None = None) -> Any:
        """Check or compute the similarities of new samples to the training samples.

        Where ``columns`` (its ``support_columns_``, ascending) are all that the estimator needs, rows with these alone
        are taken as well, and of raw objects no others are computed. :meth:`_new_columns` cuts them out of either.
        """
        check_is_fitted(self)
        if not self._is_matrix:
            known = self.objects_ if columns is None else _safe_indexing(self.objects_, columns)
            given = Proximities(pairwise(_check_objects(X), known, similarity=self._measure))
            S = given.S
        else:
            S = check_similarity(_matrix(X), name="X", square=False, estimator=self)
            if columns is not None and S.shape[1] != self.n_features_in_:
                return self._fitted_on(columns, S.shape[1])._new_proximities(X)
            validate_data(self, _matrix(X), reset=False, skip_check_array=True)
            given = as_proximities(X)
            self._check_same_columns(given)
        if self._learned_map is not None:
            S = self._learned_map(S, name="X")
        return given._with(S, given.features)

    def _columns_read(self, used: np.ndarray) -> np.ndarray:
        """``support_columns_`` of what uses these columns: all of them where the map looks at whole rows."""
        if self._learned_map is None or self._learned_map.how != "double-centring":
            return np.unique(used)
        return np.arange(self.n_features_in_ if self._is_matrix else _num_samples(self.objects_))

    def _new_columns(self, X: Any, used: np.ndarray) -> Any:
        """The similarities of new samples to the training samples at the positions ``used``, in that order."""
        support = self.support_columns_
        # Where no column is needed their number is all that rows can be checked for.
        S = self._new_proximities(X, columns=support if len(support) else None).S
        return at_columns(S, np.searchsorted(support, used) if S.shape[1] == len(support) else used)

    def _fitted_on(self, columns: np.ndarray, width: int) -> Any:
        """To the checks of the input contract, this estimator fitted on these columns alone."""
        if width != len(columns):
            fewer = len(columns) < self.n_features_in_
            restricted = f", or the {len(columns)} of support_columns_ alone" if fewer else ""
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as "
                f"input{restricted}."
            )
        part = copy.copy(self)
        part.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_"):
            part.feature_names_in_ = self.feature_names_in_[columns]
        if self._column_ids is not None:
            part._column_ids = self._column_ids[columns]
        return part

    def _check_same_columns(self, given: Proximities) -> None:
        missing = sorted(n for n in self._extras if getattr(given, "column_ids" if n == "ids" else n) is None)
        if missing:
            raise ValueError(
                f"X: {', '.join(missing)} was given in fit and is missing here; pass Proximities(S, "
                f"{', '.join(('column_ids' if n == 'ids' else n) + '=...' for n in missing)})."
            )
        if self._column_ids is None or given.column_ids is None:
            return
        different = np.flatnonzero(self._column_ids != given.column_ids)
        if different.size:
            j = int(different[0])
            raise ValueError(
                f"X: the columns are not the training samples in their order: column {j} is "
                f"{given.column_ids.tolist()[j]!r}, in fit it was {self._column_ids.tolist()[j]!r}. Reorder them."
            )

    def _path_similarities(self, S_train: Any, S_test: Any) -> tuple[Any, Any]:
        """Native values of one fold made into similarities; what needs no map is not even looked at."""
        how = self._map_name
        S_train, S_test = _matrix(S_train), _matrix(S_test)
        if how is None:
            return S_train, S_test
        S_train = np.asarray(S_train)
        learned = self._learn_map(S_train, how)
        return learned(S_train, name="X"), learned(S_test, name="X")


def _check_objects(X: Any) -> Any:
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "__len__") or isinstance(X, (str, bytes)):
        raise ValueError(f"X must be a sequence of objects; got {type(X).__name__}.")
    if _num_samples(X) == 0:
        raise ValueError("X must hold at least one object; got 0.")
    return X


class SimilarityClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of the classifiers: labels, costs, priors."""

    def _set_labels(self, y: np.ndarray, at_least: int = 1) -> None:
        """Keep checked labels, of so many classes or more, as ``classes_`` and positions in it."""
        self.classes_, encoded = np.unique(y, return_inverse=True)
        if len(self.classes_) < at_least:
            raise ValueError(f"y must have at least two classes; got one class, {self.classes_.tolist()[0]!r}.")
        self._labels = encoded.astype(np.intp, copy=False)

    def _said(self, scores: np.ndarray) -> np.ndarray:
        """The classes that decision values, (m,), or scores, (m, G), say."""
        return self.classes_[(scores >= 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)]


def check_labels(y: Any, n: int) -> np.ndarray:
    """Class labels as a one-dimensional array of length n."""
    if y is None:
        raise ValueError("y must be given: this classifier requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    missing = [i for i, label in enumerate(y) if label is None or label != label] if y.dtype == object else []
    if missing:
        raise ValueError(f"y contains a missing label (first at position {missing[0]}); every sample needs one.")
    check_classification_targets(y)
    if len(y) != n:
        raise ValueError(f"y must have one label per sample; got {len(y)} labels for {n} samples.")
    return y


def class_weights(estimator: Any, labels: np.ndarray) -> np.ndarray:
    """The weight ``class_weight`` gives to each sample, ``labels`` being positions in ``classes_``."""
    classes = estimator.classes_
    given = estimator.class_weight
    numbers = given.values() if isinstance(given, Mapping) else ()
    if not all(isinstance(number, Real) and 0 < float(number) < np.inf for number in numbers):
        raise ValueError(f"class_weight must hold finite numbers above 0; got {given!r}.")
    return compute_class_weight(given, classes=classes, y=classes[labels])[labels]


def check_sample_weight(sample_weight: Any, labels: np.ndarray, classes: np.ndarray) -> np.ndarray | None:
    """A weight of 0 or more for each sample, above 0 for one or more of each class; ``labels`` are positions."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, labels, dtype=np.float64)
    if not np.all(weights >= 0) or not np.isfinite(weights).all():
        raise ValueError("sample_weight must hold finite numbers of at least 0.")
    missing = classes[np.bincount(labels[weights > 0], minlength=len(classes)) == 0]
    if len(missing):
        raise ValueError(
            f"sample_weight must leave every class a sample of positive weight; class {missing.tolist()[0]!r} has none."
        )
    return weights


def check_positive(value: Any, name: str) -> None:
    """Refuse what is not a finite number above 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number above 0; got {value!r}.")


def costs_matrix(costs: Any, classes: np.ndarray) -> np.ndarray | None:
    """``costs`` as a (G, G) array, ``[f, g]`` the cost of saying f when the truth is g."""
    if costs is None:
        return None
    n_classes = len(classes)
    if isinstance(costs, Mapping):
        rows = _by_label(costs, classes, "costs")
        if not all(isinstance(row, Mapping) for row in rows):
            raise ValueError("costs by label must be a dict of dicts: costs[said][truth].")
        matrix = np.array([_numbers(row, classes, f"costs[{f!r}]") for f, row in zip(classes.tolist(), rows)])
    else:
        matrix = _numbers(costs, classes, "costs")
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs must have shape ({n_classes}, {n_classes}), one row and column per class; got {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs contains NaN or infinity; every cost must be a finite number.")
    return matrix


def _numbers(values: Any, classes: np.ndarray, name: str) -> np.ndarray:
    """Numbers given as an array, or by label."""
    try:
        return np.asarray(_by_label(values, classes, name) if isinstance(values, Mapping) else values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, one for each class in order or by label: {error}") from error


def _by_label(values: Mapping, classes: np.ndarray, name: str) -> list:
    unknown = set(values) - set(classes.tolist())
    missing = [c for c in classes.tolist() if c not in values]
    if unknown or missing:
        raise ValueError(f"{name} must name every class once; missing {missing}, unknown {sorted(map(str, unknown))}.")
    return [values[c] for c in classes.tolist()]


def priors_vector(priors: Any, classes: np.ndarray) -> np.ndarray | None:
    """``priors`` as probabilities in the order of ``classes``."""
    if priors is None:
        return None
    vector = _numbers(priors, classes, "priors")
    if vector.shape != (len(classes),):
        raise ValueError(f"priors must have one entry per class ({len(classes)}); got shape {vector.shape}.")
    if not np.all(vector >= 0) or not np.isclose(vector.sum(), 1.0):
        raise ValueError(f"priors must be non-negative and sum to 1; got sum {vector.sum():.6g}.")
    return vector


def as_one_row(estimator: Any, X: Any) -> Any:
    """One sample as ``predict`` takes it; a precomputed row may have one dimension."""
    if not estimator._is_matrix or isinstance(X, Proximities) or np.ndim(X) != 1:
        return X
    return X.to_frame().T if hasattr(X, "to_frame") else np.reshape(X, (1, -1))


def append_objects(old: Any, new: Sequence) -> Any:
    """Two sequences of objects of the same kind, one after the other."""
    if hasattr(old, "iloc"):
        import pandas as pd

        return pd.concat([old, new], ignore_index=True)
    if sparse.issparse(old):
        return sparse.vstack([old, new], format="csr")
    if isinstance(old, np.ndarray):
        return np.concatenate([old, np.asarray(new, dtype=old.dtype if old.dtype == object else None)])
    return list(old) + list(new)
