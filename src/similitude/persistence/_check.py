"""The check of a loaded model, which is the same for all classes.

A forged file must not run code, crash, fill the memory or cause errors that nobody understands. The decoder builds only
classes from a list. After that, a loaded model is checked in two steps:

1. :func:`complete` visits every object. No attribute may replace a method; what a class annotates by one of the types
   ``ClassPositions``, ``ColumnPositions`` and ``Finite`` must be that; and what scikit-learn passes on without a check
   is checked.
2. :func:`try_out` lets the model predict made-up samples. Compiled functions check the types and shapes of their
   arguments, and NumPy does, so a model whose parts do not fit together fails here.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import get_annotations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from similitude._utils.warn import silenced
from similitude.persistence._scikit_learn import CHECKS

_CHECKED_TYPES = ("ClassPositions", "ColumnPositions", "Finite")


def complete(model: Any) -> Any:
    """Return a decoded model with the attributes that are not stored; raise a ValueError if an object is wrong."""
    _Visit().value(model, type(model).__name__, {})
    return model


def try_out(model: Any, samples: Any) -> None:
    """Raise a ValueError if the model fails for these samples, or answers for another number of classes."""
    methods = [name for name in ("predict", "predict_proba", "decision_function") if _offers(model, name)]
    if not methods and not _offers(model, "transform"):
        raise ValueError("it can neither predict nor transform")
    for method in methods or ["transform"]:
        try:
            with silenced(), np.errstate(all="ignore"):
                answer = getattr(model, method)(samples)
        except ValueError:
            continue  # a model may refuse samples, for instance values outside of its range
        except Exception as error:
            raise ValueError(f"its {method} fails: {type(error).__name__}: {error}") from error
        if method != "predict" and methods and np.shape(answer)[1:] not in _widths(method, len(model.classes_)):
            raise ValueError(f"its {method} has the shape {np.shape(answer)}, but it has {len(model.classes_)} classes")


def _offers(model: Any, method: str) -> bool:
    """Return whether a model has a method, or raise a ValueError if this cannot be found out."""
    try:
        getattr(model, method)
    except AttributeError as error:
        if error.__cause__ is None or isinstance(error.__cause__, AttributeError):
            return False
        raise ValueError(f"whether it has {method} depends on a wrong value: {error.__cause__}") from error
    return True


def _widths(method: str, n_classes: int) -> list[tuple[int, ...]]:
    """Return the shapes that the answers for one sample may have."""
    if method == "predict_proba" or n_classes == 1:
        return [(n_classes,), ()]
    return [()] if n_classes == 2 else [(n_classes,), (n_classes * (n_classes - 1) // 2,)]


class _Visit:
    """Visits each object of a model once."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}

    def value(self, value: Any, where: str, sizes: dict[str, int]) -> None:
        """Check a value and everything in it; ``sizes`` has the bounds of positions in the estimator around it."""
        if value is None or isinstance(value, (str, bytes, bool, int, float)) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                self.value(value.ravel().tolist(), where, sizes)
        elif isinstance(value, dict):
            for key, part in value.items():
                self.value(part, f"{where}[{key!r}]", sizes)
        elif type(value).__module__.startswith(("similitude.", "sklearn.")):
            self._object(value, where, sizes)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for i, part in enumerate(value):
                self.value(part, f"{where}[{i}]", sizes)

    def _object(self, value: Any, where: str, sizes: dict[str, int]) -> None:
        cls: Any = type(value)
        attributes = dict(zip(cls._fields, value)) if isinstance(value, tuple) else dict(vars(value))
        if isinstance(value, BaseEstimator):
            sizes = sizes | _sizes(attributes)
        for name, part in attributes.items():
            if not isinstance(value, tuple) and callable(getattr(cls, name, None)):
                raise ValueError(f"{where}.{name} would replace a method of {cls.__name__}")
            self.value(part, f"{where}.{name}", sizes)
            kind = _checked_attributes(cls).get(name)
            for array in part if isinstance(part, list) else [part]:
                if kind is not None and array is not None:
                    _check_array(array, kind, f"{where}.{name}", sizes)
        if cls in CHECKS and not CHECKS[cls](value):
            raise ValueError(f"the parts of {where} ({cls.__name__}) do not fit together")
        if "_path" in attributes and hasattr(cls, "_derived"):
            vars(value).update(value._derived())


def _sizes(attributes: dict[str, Any]) -> dict[str, int]:
    """Return the bounds of positions in a fitted estimator: the numbers of its classes and of its columns."""
    classes = attributes.get("classes_")
    sizes = {"ClassPositions": len(classes)} if isinstance(classes, np.ndarray) else {}
    for reader in list(attributes.get("_readers", {}).values())[:1]:
        sizes["ColumnPositions"] = reader.n_columns if reader.kept is None else int(reader.kept.max()) + 1
    return sizes


@lru_cache(maxsize=1000)
def _checked_attributes(cls: type) -> dict[str, str]:
    """Return which attributes a class, or its constructor, annotates by one of the types that are checked."""
    found = {}
    for base in reversed(cls.__mro__):
        for name, annotation in (get_annotations(base.__init__) | get_annotations(base)).items():  # type: ignore[misc]
            for kind in _CHECKED_TYPES:
                if kind in str(annotation):
                    found[name] = kind
    return found


def _check_array(array: Any, kind: str, where: str, sizes: dict[str, int]) -> None:
    if kind == "Finite":
        values = array.data if sparse.issparse(array) else array
        if values.dtype not in (np.float32, np.float64) or not np.isfinite(values).all():
            raise ValueError(f"{where} is not a matrix of finite numbers")
        return
    if not isinstance(array, np.ndarray) or array.dtype != np.intp or array.ndim != 1:
        raise ValueError(f"{where} is not an array of positions")
    bound = sizes.get(kind, np.inf)
    if array.size and not 0 <= array.min() <= array.max() < bound:
        raise ValueError(f"{where} has positions from {array.min()} to {array.max()}, outside of 0..{bound - 1}")
