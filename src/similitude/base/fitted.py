"""What is done with the attributes of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude.proximity.proximities import Proximities


def forget_fit(estimator: Any) -> None:
    """Remove the public attributes of an earlier fit."""
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)


def as_one_row(estimator: Any, X: Any) -> Any:
    """Return one sample in the form that ``predict`` requires; a row of a precomputed matrix may have one dimension."""
    check_is_fitted(estimator)
    if not estimator._reader.is_matrix or isinstance(X, Proximities) or np.ndim(X) != 1:
        return X
    return X.to_frame().T if hasattr(X, "to_frame") else np.reshape(X, (1, -1))


def reader_of(estimator: Any) -> Any:
    """Return the reader of a fitted estimator; None if it has none."""
    return getattr(estimator, "_reader", None)


def path_of(classifier: Any) -> Any:
    """Return the path with one point that a fitted classifier holds."""
    return classifier._path


def read_rows(estimator: Any, X: Any) -> Any:
    """Return new samples as a fitted estimator reads them."""
    return estimator._rows(X)
