"""What is done with the attributes of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similitude.proximity.proximities import Proximities


def forget_fit(estimator: Any) -> None:
    """Remove the public attributes of an earlier fit.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is changed.

    See Also
    --------
    PathClassifier : The base of every classifier, which begins each fit so.
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

    See Also
    --------
    SimilarityEstimator : The base of all estimators on similarities.
    """
    check_is_fitted(estimator)
    if not estimator._reader.is_matrix or isinstance(X, Proximities) or np.ndim(X) != 1:
        return X
    return X.to_frame().T if hasattr(X, "to_frame") else np.reshape(X, (1, -1))
