"""Digests of data, partitions, methods and grids that identify a cell and are equal in every process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from similitude.proximity.proximities import Proximities
from similitude.similarities.fingerprint import fingerprint


def digest(*values: Any) -> str:
    """Return a digest of the values as 32 hexadecimal digits."""
    return fingerprint(*(plain(value) for value in values)).hex()


def plain(value: Any) -> Any:
    """Return the value as numbers, strings, arrays and sequences.

    An estimator is its class and parameters: a pickle would differ between versions of scikit-learn.
    """
    if isinstance(value, Proximities):
        parts = [value.S, value.features, value.self_similarity, value.ids, value.column_ids]
        if value.absent != "zero" or value.fill is not None:
            parts += [value.absent, value.fill]
        return ["Proximities", *(plain(part) for part in parts)]
    if isinstance(value, BaseEstimator):
        return [_name(type(value)), plain(value.get_params(deep=False))]
    if isinstance(value, Mapping):
        return ["mapping", *([str(key), plain(value[key])] for key in sorted(value, key=str))]
    if isinstance(value, partial):
        return ["partial", plain(value.func), plain(value.args), plain(value.keywords)]
    if isinstance(value, FunctionType):
        # A function that cannot be imported is identified by its code.
        own = "<" in value.__qualname__
        closure = [cell.cell_contents for cell in value.__closure__ or ()] if own else None
        return [_name(value), _code(value.__code__) if own else None, plain(closure), plain(value.__defaults__)]
    if isinstance(value, (type, BuiltinFunctionType)):
        return _name(value)
    if isinstance(value, range) or (isinstance(value, (list, tuple)) and not _is_flat(value)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return [list(value.shape), plain(value.ravel().tolist())]
    return value


def _is_flat(values: list | tuple) -> bool:
    """Return whether the items are numbers and strings, so that long lists of raw objects are not visited twice."""
    return all(item is None or isinstance(item, (str, bytes, int, float)) for item in values)


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _code(code: CodeType) -> list:
    constants = [_code(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return [code.co_code, list(code.co_names), constants]
