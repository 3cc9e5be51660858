"""What is done with the attributes of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude.proximity.proximities import Proximities
from similitude.reader import ByName, Training


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


def readers_of(estimator: Any) -> dict[str, Any]:
    """Return the readers of a fitted estimator by the names of the similarities; none if it has none."""
    return vars(estimator).get("_readers", {})


def reader_of(estimator: Any) -> Any:
    """Return the reader of a fitted estimator, the first if there are several similarities; None if it has none."""
    return getattr(estimator, "_reader", None)


def readers_of_training(training: Training | ByName[Training]) -> dict[str, Any]:
    """Return the readers of training samples by the names of the similarities."""
    parts = training.parts if isinstance(training, ByName) else {"S": training}
    return {name: part.reader for name, part in parts.items()}


def path_of(classifier: Any) -> Any:
    """Return the path with one point that a fitted classifier holds."""
    return classifier._path


def read_rows(estimator: Any, X: Any) -> Any:
    """Return new samples as a fitted estimator reads them."""
    return estimator._rows(X)
