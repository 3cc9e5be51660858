"""The columns of new rows: those of the training samples, matched by id."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from similitude._utils.ids import Names, column_names_of, column_order, some
from similitude._utils.warn import warn
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.proximities import Proximities, at_columns


def training_columns(X: Any, own: Names | None, support: np.ndarray | None = None) -> tuple[Any, np.ndarray | None]:
    """Return X with the columns of the training samples in their order, matched by id where both sides have ids."""
    given = column_names_of(X)
    if own is None or given is None:
        return X, None
    order, restricted, strange = column_order(own, given, support)
    if strange:
        warn(f"X: {len(strange)} columns are not training samples and are ignored: {some(strange)}.", SimilarityWarning)
    return X if order is None else at_columns(X, np.array(order)), support if restricted else None


def check_width(X: Any, width: int, part: np.ndarray | None, estimator: Any) -> None:
    """Check the number and the names of the columns: those of all training samples, or only those in ``part``.

    The columns of ``Proximities`` with ids have been matched already.
    """
    matched = isinstance(X, Proximities) and X.column_ids is not None
    if part is not None or matched:
        expected = estimator.n_features_in_
        used = expected if part is None else len(part)
        if width != used:
            restricted = f", or the {used} of support_columns_ alone" if used < expected else ""
            raise ValueError(
                f"X has {width} features, but {type(estimator).__name__} is expecting {expected} features as "
                f"input{restricted}."
            )
    if matched:
        return
    if part is not None:
        names = getattr(estimator, "feature_names_in_", None)
        estimator = copy.copy(estimator)
        estimator.n_features_in_ = len(part)
        if names is not None:
            estimator.feature_names_in_ = names[part]
    matrix = X.S if isinstance(X, Proximities) else X
    validate_data(estimator, matrix, reset=False, skip_check_array=True)


def check_same_data(reader: Any, given: Proximities) -> None:
    """Check that new rows come with the same data as the training samples, such as features and ids."""
    names = {name: "column_ids" if name == "ids" else name for name in reader.extras}
    missing = sorted(name for name in names if getattr(given, names[name]) is None)
    if missing:
        raise ValueError(
            f"X: {', '.join(missing)} was given in fit and is missing here; pass Proximities(S, "
            f"{', '.join(names[name] + '=...' for name in missing)})."
        )
