"""Making scikit-learn's meta-estimators that cut rows only work on square similarity matrices."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from similitude.base import Proximities
from similitude.proximity.check import check_similarity


def _inner_has(method):
    return available_if(lambda self: hasattr(self._delegate, method))


class _ByPosition(ClassifierMixin, BaseEstimator):
    """An estimator on rows that carry their position in front: it picks the columns of its own training rows."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    @property
    def _delegate(self):
        return getattr(self, "estimator_", self.estimator)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _split(self, X):
        if sparse.issparse(X):
            X = X.tocsr()
            return np.asarray(X[:, :1].toarray(), dtype=np.intp).ravel(), X[:, 1:]
        return X[:, 0].astype(np.intp), X[:, 1:]

    def _fit(self, X, y, **weights):
        self._positions, S = self._split(X)
        if np.any(self._positions < 0) or np.any(self._positions >= S.shape[1]):
            raise ValueError(
                "X: the columns of the similarity matrix were cut too; set the meta-estimator to use all columns "
                "(for bagging, max_features=1.0)."
            )
        self.estimator_ = clone(self.estimator).fit(S[:, self._positions], y, **weights)
        self.classes_ = self.estimator_.classes_
        return self

    def fit(self, X, y):
        return self._fit(X, y)

    def _ask(self, method, X):
        check_is_fitted(self)
        return getattr(self.estimator_, method)(self._split(X)[1][:, self._positions])

    def predict(self, X):
        return self._ask("predict", X)

    @_inner_has("predict_proba")
    def predict_proba(self, X):
        return self._ask("predict_proba", X)

    @_inner_has("decision_function")
    def decision_function(self, X):
        return self._ask("decision_function", X)


class _WeightedByPosition(_ByPosition):
    """The same for an estimator that takes sample weights: meta-estimators look for them in the signature."""

    def fit(self, X, y, sample_weight=None):
        return self._fit(X, y, sample_weight=sample_weight)


def _wrapped(estimator):
    if not hasattr(estimator, "fit") or not get_tags(estimator).input_tags.pairwise:
        return estimator
    weighted = has_fit_parameter(estimator, "sample_weight")
    return (_WeightedByPosition if weighted else _ByPosition)(estimator)


class PairwiseMeta(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Let a scikit-learn meta-estimator that drops the pairwise tag work on a square similarity matrix.

    ``BaggingClassifier``, ``AdaBoostClassifier``, ``VotingClassifier``, ``StackingClassifier`` and
    ``CalibratedClassifierCV`` cut the rows of their input only, so that the estimators inside get a matrix that is not
    square. Wrapped, each row carries its position, and the estimators inside pick their own columns by it.

    Parameters
    ----------
    meta : estimator
        A meta-estimator whose parameter ``estimator`` or ``estimators`` holds estimators on precomputed similarities.

    Attributes
    ----------
    meta_ : estimator
        The fitted meta-estimator.
    classes_ : ndarray

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

    def __init__(self, meta):
        self.meta = meta

    @property
    def _delegate(self):
        return getattr(self, "meta_", self.meta)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y):
        """Fit the meta-estimator on rows that know their position."""
        S = self._check(X, square=True, reset=True)
        self.meta_ = clone(self.meta)
        parameters = self.meta_.get_params(deep=False)
        if parameters.get("estimator") is not None:
            self.meta_.set_params(estimator=_wrapped(parameters["estimator"]))
        elif parameters.get("estimators") is not None:
            wrapped = [(n, e if e in ("drop", "passthrough") else _wrapped(e)) for n, e in parameters["estimators"]]
            self.meta_.set_params(estimators=wrapped)
        else:
            raise ValueError(
                f"meta must hold the estimator it wraps in its parameter 'estimator' or 'estimators'; "
                f"{type(self.meta).__name__} has none set."
            )
        self.meta_.fit(_with_positions(S, np.arange(S.shape[0])), y)
        self.classes_ = self.meta_.classes_
        return self

    def _check(self, X, square, reset):
        X = X.S if isinstance(X, Proximities) else X
        S = check_similarity(X, name="X", square=square, estimator=self)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return S

    def _ask(self, method, X):
        check_is_fitted(self)
        S = self._check(X, square=False, reset=False)
        return getattr(self.meta_, method)(_with_positions(S, np.full(S.shape[0], -1)))

    def predict(self, X):
        """The meta-estimator's prediction."""
        return self._ask("predict", X)

    @_inner_has("predict_proba")
    def predict_proba(self, X):
        """The meta-estimator's class probabilities."""
        return self._ask("predict_proba", X)

    @_inner_has("decision_function")
    def decision_function(self, X):
        """The meta-estimator's decision values."""
        return self._ask("decision_function", X)


def _with_positions(S, positions):
    # Positions are kept as floats beside the similarities: exact up to 2^24 samples even in float32.
    column = positions[:, None].astype(S.dtype)
    return sparse.hstack([column, S], format="csr") if sparse.issparse(S) else np.hstack([column, S])
