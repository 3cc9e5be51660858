"""Classifiers on feature vectors: how they read X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from similitude._utils.scikit_learn import feature_names
from similitude.base.path import PathClassifier

if TYPE_CHECKING:
    pass


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
