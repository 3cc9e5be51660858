"""A wrapper with which scikit-learn's meta-estimators, which cut rows only, work on square similarity matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from similitude._utils.docs import shared_docs
from similitude._utils.ids import labels_in_order
from similitude.base import Deciding, SimilarityEstimator

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


def _wrapped(estimator: Any) -> Any:
    if not hasattr(estimator, "fit"):
        return estimator  # "drop", "passthrough"
    weighted = has_fit_parameter(estimator, "sample_weight")
    return (_WeightedByPosition if weighted else _ByPosition)(estimator)


@shared_docs
class PairwiseMeta(Deciding, MetaEstimatorMixin, SimilarityEstimator):
    """Make a scikit-learn meta-estimator that drops the pairwise tag work on a square similarity matrix.

    ``BaggingClassifier``, ``AdaBoostClassifier``, ``VotingClassifier``, ``StackingClassifier`` and
    ``CalibratedClassifierCV`` cut only the rows of their input, so the estimators inside get a matrix whose
    columns do not belong to their samples. With this wrapper each row carries its position, by which the estimators
    inside select their own columns. Without it, ``fit`` of an estimator inside raises an error if the matrix is not
    square, or if it is symmetric and rows were drawn twice. ``VotingClassifier`` and ``StackingClassifier`` alone
    also work without it, but not in a cross-validation.

    Parameters
    ----------
    meta : estimator
        A meta-estimator whose parameter ``estimator`` or ``estimators`` holds estimators on precomputed similarities.

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

    def fit(self, X: ProximityLike, y: ListLike) -> Self:
        """Fit the meta-estimator on rows that carry their positions.

        Parameters
        ----------
        X : square matrix of shape (n, n), or Proximities
            The training similarities.
        {y_train}

        Returns
        -------
        self
        """
        meta = self._with_wrapped_estimators()
        y = labels_in_order(y, X)
        training = self._read(X, y)
        meta.fit(_with_positions(training.S, np.arange(len(training))), y)
        self._keep_training(training)
        self.meta_, self.classes_ = meta, meta.classes_
        return self

    def _with_wrapped_estimators(self) -> BaseEstimator:
        meta = clone(self.meta)
        parameters = meta.get_params(deep=False)
        if parameters.get("max_features", 1.0) != 1.0 or parameters.get("bootstrap_features"):
            raise ValueError("meta must use all columns: set max_features=1.0 and bootstrap_features=False.")
        if parameters.get("passthrough"):
            raise ValueError("meta must not pass the rows on to its final estimator: set passthrough=False.")
        if parameters.get("estimator") is not None:
            return meta.set_params(estimator=_wrapped(parameters["estimator"]))
        if parameters.get("estimators") is not None:
            return meta.set_params(estimators=[(name, _wrapped(part)) for name, part in parameters["estimators"]])
        raise ValueError(
            "meta must hold the estimator it wraps in its parameter 'estimator' or 'estimators'; "
            f"{type(self.meta).__name__} has none set."
        )

    def _offers(self, response: str) -> bool:
        return hasattr(getattr(self, "meta_", self.meta), response)

    def _respond(self, X: Any, response: str) -> np.ndarray:
        check_is_fitted(self)
        rows = self._rows(X)
        return getattr(self.meta_, response)(_with_positions(rows.S, np.full(len(rows), -1)))


def _with_positions(S: Matrix, positions: np.ndarray) -> Matrix:
    """Return the rows with their positions as the first column."""
    # Positions are floats, like the similarities. They are exact up to 2^24 samples even in float32.
    column = positions[:, None].astype(S.dtype)
    return sparse.hstack([column, S], format="csr") if sparse.issparse(S) else np.hstack([column, S])
