"""Checks that new rows have the columns of the training samples."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from similitude.proximity.proximities import Proximities


def check_width(X: Any, width: int, part: np.ndarray | None, estimator: Any) -> None:
    """Check the number and the names of the columns: those of all training samples, or only those in ``part``."""
    if part is None:
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return
    expected = estimator.n_features_in_
    if width != len(part):
        restricted = f", or the {len(part)} of support_columns_ alone" if len(part) < expected else ""
        raise ValueError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {expected} features as "
            f"input{restricted}."
        )
    restricted_to = copy.copy(estimator)
    restricted_to.n_features_in_ = len(part)
    if hasattr(estimator, "feature_names_in_"):
        restricted_to.feature_names_in_ = estimator.feature_names_in_[part]
    validate_data(restricted_to, X, reset=False, skip_check_array=True)


def check_same_columns(reader: Any, given: Proximities, part: np.ndarray | None) -> None:
    """Check that the rows come with the same data as the training samples, and that their columns are these samples."""
    names = {name: "column_ids" if name == "ids" else name for name in reader.extras}
    missing = sorted(name for name in names if getattr(given, names[name]) is None)
    if missing:
        raise ValueError(
            f"X: {', '.join(missing)} was given in fit and is missing here; pass Proximities(S, "
            f"{', '.join(names[name] + '=...' for name in missing)})."
        )
    if reader.column_ids is None or given.column_ids is None:
        return
    known = reader.column_ids if part is None else reader.column_ids[part]
    different = np.flatnonzero(known != given.column_ids)
    if different.size:
        j = int(different[0])
        raise ValueError(
            f"X: the columns are not the training samples in their order: column {j} is "
            f"{given.column_ids.tolist()[j]!r}, in fit it was {known.tolist()[j]!r}. Reorder them."
        )
