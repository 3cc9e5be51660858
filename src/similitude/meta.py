"""A wrapper with which scikit-learn's meta-estimators, which cut rows only, work on square similarity matrices."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude._utils.scikit_learn import num_samples
from similitude.base import Deciding, SimilarityEstimator
from similitude.labels import check_labels, check_sample_weight
from similitude.reader import ByName, Contract

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from similitude._utils.types import ListLike, Matrix, ProximityLike


class _ByPosition(Deciding, BaseEstimator):
    """Estimator on rows that carry their position in the first column.

    An estimator on precomputed similarities gets the columns of its own training rows, any other gets all columns.
    """

    def __init__(self, estimator: BaseEstimator | None = None):
        self.estimator = estimator

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Matrix, y: Any, **weights: Any) -> Self:
        S = X[:, 1:]
        self._columns: Any = slice(None)
        if get_tags(self.estimator).input_tags.pairwise:
            first: Any = X[:, :1]
            self._columns = (first.toarray() if sparse.issparse(first) else first).astype(np.intp).ravel()
        self.estimator_ = clone(self.estimator).fit(S[:, self._columns], y, **weights)
        self.classes_ = self.estimator_.classes_
        return self

    def fit(self, X: Matrix, y: Any) -> Self:
        return self._fit(X, y)

    def _offers(self, response: str) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), response)

    def _respond(self, X: Any, response: str) -> np.ndarray:
        check_is_fitted(self)
        return getattr(self.estimator_, response)(X[:, 1:][:, self._columns])


class _WeightedByPosition(_ByPosition):
    """The same for an estimator that takes sample weights, which meta-estimators look for in the signature."""

    def fit(self, X: Matrix, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        if sample_weight is None:
            return self._fit(X, y)
        # Bagging gives weight 0 to samples that are left out, which libsvm gets wrong on precomputed kernels.
        drawn = np.flatnonzero(sample_weight)
        return self._fit(X[drawn], np.asarray(y)[drawn], sample_weight=np.asarray(sample_weight)[drawn])


class _OnRows(Deciding, BaseEstimator):
    """A fitted estimator without its pairwise tag: of the rows of new samples, scikit-learn must cut nothing else."""

    def __init__(self, estimator: Any):
        self.estimator = estimator
        self.classes_ = estimator.classes_

    def fit(self, X: Any, y: Any) -> Self:
        return self

    def _offers(self, response: str) -> bool:
        return hasattr(self.estimator, response)

    def _respond(self, X: Any, response: str) -> np.ndarray:
        return getattr(self.estimator, response)(X)


def _wrapped(estimator: Any) -> Any:
    if not hasattr(estimator, "fit"):
        return estimator  # "drop", "passthrough"
    if isinstance(estimator, FrozenEstimator):
        check_is_fitted(estimator.estimator)
        return FrozenEstimator(_OnRows(estimator.estimator))
    if not has_fit_parameter(estimator, "sample_weight"):
        return _ByPosition(estimator)
    weighted = _WeightedByPosition(estimator)
    return weighted.set_fit_request(sample_weight=True) if _routes() else weighted


def _routes() -> bool:
    """Return whether scikit-learn's metadata routing is on."""
    return bool(get_config()["enable_metadata_routing"])


def _takes_nan(estimator: Any) -> bool:
    """Return whether an estimator accepts NaN, of a pipeline or union the steps that read X."""
    if isinstance(estimator, Pipeline):
        return _takes_nan(estimator.steps[0][1])
    if isinstance(estimator, FeatureUnion):
        return all(_takes_nan(part) for _, part in estimator.transformer_list)
    return not hasattr(estimator, "fit") or bool(get_tags(estimator).input_tags.allow_nan)


@shared_docs
class PairwiseMeta(Deciding, MetaEstimatorMixin, SimilarityEstimator):
    """Make a scikit-learn meta-estimator that drops the pairwise tag work on a square similarity matrix.

    ``BaggingClassifier``, ``AdaBoostClassifier``, ``VotingClassifier``, ``StackingClassifier`` and
    ``CalibratedClassifierCV`` cut only the rows of their input, so the estimators inside get a matrix whose
    columns do not belong to their samples. With this wrapper each row carries its position, by which the estimators
    inside select their own columns. Without it, ``fit`` of an estimator inside raises an error if the matrix is not
    square, or if it is symmetric and rows were drawn twice. ``VotingClassifier`` and ``StackingClassifier`` alone
    also work without it, but not in a cross-validation, and neither does a pipeline whose first step is not made for
    square matrices, such as ``SimpleImputer`` or ``FeatureUnion``.

    Parameters
    ----------
    meta : estimator
        A meta-estimator whose parameter ``estimator`` or ``estimators`` holds estimators on precomputed similarities,
        or a pipeline. If these estimators are frozen (``FrozenEstimator``), X of ``fit`` holds rows of similarities to
        their training samples, as X of ``predict`` does.

    Attributes
    ----------
    meta_ : estimator
        The fitted meta-estimator.
    {classes_}

    See Also
    --------
    PathSearchCV : Searches over parameters, and cuts rows and columns itself.
    FusedClassifier : Multiplies the posteriors of several classifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from sklearn.svm import SVC
    >>> from similitude import PairwiseMeta
    >>> X = np.linspace(-1, 1, 12)[:, None]
    >>> calibrated = PairwiseMeta(CalibratedClassifierCV(SVC(kernel="precomputed"), cv=3))
    >>> calibrated.fit(X @ X.T, X.ravel() > 0).predict(X[-1:] @ X.T)
    array([ True])
    """

    similarity = "precomputed"
    dissimilarity = None
    # The estimators inside know whether they expect dissimilarities.
    _warns_of_dissimilarity = False

    def __init__(self, meta: BaseEstimator):
        self.meta = meta

    @property
    def _takes_training(self) -> bool:  # type: ignore[override]
        return not self._is_frozen()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = not self._needing_all_pairs()
        return tags

    def _contract(self) -> Contract:
        contract = super()._contract()
        return replace(contract, similarity="columns", takes_columns=True) if self._is_frozen() else contract

    # Not an argument of its own: scikit-learn would take every meta-estimator for one that uses weights.
    def fit(self, X: ProximityLike, y: ListLike, **fit_params: Any) -> Self:
        """Fit the meta-estimator on rows that carry their positions.

        Parameters
        ----------
        X : square matrix of shape (n, n), or Proximities
            The training similarities; if the estimators inside are frozen, rows of similarities to their training
            samples.
        {y_train}
        **fit_params
            ``sample_weight``, the weights of the samples, if the estimators inside take them.

        Returns
        -------
        self
        """
        sample_weight = fit_params.pop("sample_weight", None)
        if fit_params:
            raise TypeError(f"PairwiseMeta.fit() takes no argument {next(iter(fit_params))!r}.")
        meta = self._with_wrapped_estimators()
        y, sample_weight = labels_in_order(y, X), labels_in_order(sample_weight, X, "sample_weight")
        training = None if self._is_frozen() else self._read(X, y)
        weights = {} if sample_weight is None else self._weights(y, sample_weight)
        if training is None:
            meta.fit(X, y, **weights)
            self.__dict__.pop("_readers", None)
        else:
            positions = None if isinstance(meta, Pipeline) else np.arange(len(training))
            meta.fit(_with_positions(training.S, positions), y, **weights)
            self._keep_training(training)
        self.meta_, self.classes_ = meta, meta.classes_
        return self

    def _weights(self, y: Any, sample_weight: Any) -> dict[str, Any]:
        """Return the weights as the argument of ``fit`` of the meta-estimator, or of the last step of a pipeline."""
        classes, codes = np.unique(check_labels(y, num_samples(y)), return_inverse=True)
        weights = check_sample_weight(sample_weight, codes, classes)
        name, using = "sample_weight", [self.meta, *self._inside()]
        if isinstance(self.meta, Pipeline):
            step, last = self.meta.steps[-1]
            name, using = name if _routes() else f"{step}__sample_weight", [last]
        for each in using:
            if not {"sample_weight", "fit_params", "kwargs"} & set(signature(each.fit).parameters):
                raise ValueError(f"sample_weight: {type(each).__name__} takes no weights.")
        return {name: weights}

    def _inside(self) -> list[Any]:
        """Return the estimators that the meta-estimator holds."""
        parameters = self.meta.get_params(deep=False) if hasattr(self.meta, "get_params") else {}
        if isinstance(self.meta, Pipeline):
            return [self.meta]
        if parameters.get("estimator") is not None:
            return [parameters["estimator"]]
        return [part for _, part in parameters.get("estimators") or [] if hasattr(part, "fit")]

    def _is_frozen(self) -> bool:
        """Return whether all estimators inside are frozen."""
        inside = self._inside()
        return bool(inside) and all(isinstance(part, FrozenEstimator) for part in inside)

    def _needing_all_pairs(self) -> list[str]:
        """Return the names of the estimators that do not accept NaN."""
        names = ["AdaBoostClassifier"] if isinstance(self.meta, AdaBoostClassifier) else []
        return names + [type(part).__name__ for part in self._inside() if not _takes_nan(part)]

    def _complete(self, samples: ByName) -> Any:
        needing = self._needing_all_pairs()
        if not needing and not sparse.issparse(samples.only.S):
            return samples.only
        return samples.complete(needing[0] if needing else f"{type(self).__name__}, on a sparse matrix,").only

    def _with_wrapped_estimators(self) -> BaseEstimator:
        meta = clone(self.meta)
        if isinstance(meta, Pipeline):
            return meta
        parameters = meta.get_params(deep=False)
        if parameters.get("max_features", 1.0) != 1.0 or parameters.get("bootstrap_features"):
            raise ValueError("meta must use all columns: set max_features=1.0 and bootstrap_features=False.")
        if parameters.get("passthrough"):
            raise ValueError("meta must not pass the rows on to its final estimator: set passthrough=False.")
        if not self._is_frozen() and any(isinstance(part, FrozenEstimator) for part in self._inside()):
            raise ValueError(
                "meta must hold frozen estimators only, or none: frozen ones need rows of similarities to their own "
                "training samples, the others a square matrix."
            )
        if parameters.get("estimator") is not None:
            return meta.set_params(estimator=_wrapped(parameters["estimator"]))
        if parameters.get("estimators") is not None:
            return meta.set_params(estimators=[(name, _wrapped(part)) for name, part in parameters["estimators"]])
        raise ValueError(
            "meta must hold the estimator it wraps in its parameter 'estimator' or 'estimators', or be a pipeline; "
            f"{type(self.meta).__name__} has none set."
        )

    def _offers(self, response: str) -> bool:
        return hasattr(getattr(self, "meta_", self.meta), response)

    def _respond(self, X: Any, response: str) -> np.ndarray:
        check_is_fitted(self)
        if "_readers" not in vars(self):
            return getattr(self.meta_, response)(X)
        rows = self._rows(X)
        positions = None if isinstance(self.meta_, Pipeline) else np.full(len(rows), -1)
        return getattr(self.meta_, response)(_with_positions(rows.S, positions))


def _with_positions(S: Matrix, positions: np.ndarray | None) -> Matrix:
    """Return the rows with their positions as the first column; None adds nothing."""
    if positions is None:
        return S
    # Positions are floats, like the similarities. They are exact up to 2^24 samples even in float32.
    column = positions[:, None].astype(S.dtype)
    return sparse.hstack([column, S], format="csr") if sparse.issparse(S) else np.hstack([column, S])
