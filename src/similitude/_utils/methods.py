"""Methods that an estimator offers under a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils import metaestimators

Method = TypeVar("Method", bound=Callable[..., Any])


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Return scikit-learn's decorator of this name, for which a type checker keeps the signature of the method."""
    return metaestimators.available_if(check)
