"""Checks of the attributes of a loaded model against what their classes declare.

A class declares its attributes in ``_saved_state``, a dict of names and descriptions (a function that returns one in a
named tuple, which cannot have other attributes); a name that ends in "?" may be missing. The checks of relations that a
description cannot express are in its method ``_check_saved(sizes)``. An attribute that is neither declared nor a
parameter of the constructor is refused.
Examples of descriptions:

* ``"double[n, k]"``: an array of finite numbers of type float64. The letters are sizes, and all uses of one within an
  estimator must agree. A size that begins with a point belongs to one object, ``*`` is any length, and ``[...]`` any
  shape. Without brackets it is a number, such as ``"float"``.
* ``"int[n] 0..G"``: positions from 0 to G - 1; either end may be left out.
* ``"None | list(pairs) of MachineSolution"``: None, or a list with as many objects of this class as there are pairs.
* ``"C double[n, k]"``: an array that is stored by rows, as compiled code needs it.
* ``"size n"``: an integer that is equal to n.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

_KINDS: dict[str, Callable[[np.dtype], bool]] = {
    "double": lambda dtype: dtype == np.float64,
    "float": lambda dtype: dtype in (np.float32, np.float64),
    "real": lambda dtype: dtype == np.float64,
    "int": lambda dtype: dtype == np.intp,
    "int32": lambda dtype: dtype == np.int32,
    "integer": lambda dtype: dtype.kind in "iu",
    "bool": lambda dtype: dtype == np.bool_,
    "number": lambda dtype: dtype.kind in "biuf",
    "label": lambda dtype: dtype.kind in "biufUSO",
}
"""The types of arrays; "real" allows infinities and NaN."""

_SCALARS: dict[str, tuple[type, ...]] = {
    "double": (float, np.floating, int, np.integer),
    "float": (float, np.floating, int, np.integer),
    "real": (float, np.floating, int, np.integer),
    "int": (int, np.integer),
    "bool": (bool, np.bool_),
    "text": (str,),
}

_DESCRIPTION = re.compile(
    r"(?:(?P<many>list|tuple|dict)(?:\((?P<count>[^)]*)\))? of )?(?P<order>C )?(?P<kind>\w+)"
    r"(?:\[(?P<shape>[^\]]*)\])?(?: (?P<low>[^\s.]*)\.\.(?P<high>\S*)| (?P<size>\.?\w+))?"
)
_LABELS = (str, int, float, bool)


class Sizes(dict):
    """The sizes that are known within one estimator, by their letters."""

    def agree(self, name: str, length: int) -> bool:
        """Return whether a length is the size of this name; the first length that is seen defines it."""
        name = name.strip()
        if name == "*":
            return True
        known = self.value(name)
        if known is None:
            self[name] = length
            return True
        return known == length

    def value(self, name: str) -> int | None:
        """Return a size by its letter, or a number that is written out; those that follow from G are computed."""
        if re.fullmatch(r"-?\d+", name):
            return int(name)
        if name.endswith("+1"):
            known = self.value(name[:-2])
            return None if known is None else known + 1
        if name in ("pairs", "scores", "G-1") and "G" in self:
            G = self["G"]
            return {"pairs": G * (G - 1) // 2, "scores": 1 if G == 2 else G, "G-1": G - 1}[name]
        return self.get(name)


class StateCheck:
    """Checks a loaded model and everything in it."""

    def __init__(self, foreign: Mapping[type, Mapping[str, str]], relations: Mapping[type, Callable[..., bool]]):
        self._foreign, self._relations = foreign, relations
        self._seen: dict[int, Any] = {}

    def __call__(self, value: Any, where: str, sizes: Sizes | None = None) -> None:
        """Raise a ValueError if some object in ``value`` has other attributes than its class declares."""
        sizes = Sizes() if sizes is None else sizes
        if isinstance(value, (list, tuple, set, frozenset)) and not hasattr(value, "_fields"):
            for i, part in enumerate(value):
                self(part, f"{where}[{i}]", sizes)
        elif isinstance(value, dict):
            for key, part in value.items():
                self(part, f"{where}[{key!r}]", sizes)
        elif isinstance(value, np.ndarray):
            if value.dtype == object:
                self(value.ravel().tolist(), where, sizes)
        elif hasattr(type(value), "_saved_state") or type(value) in self._foreign:
            self._object(value, where, sizes)

    def _object(self, value: Any, where: str, sizes: Sizes) -> None:
        if isinstance(value, BaseEstimator) and not self._is_fitted(value):
            return
        fits = isinstance(value, BaseEstimator) and hasattr(value, "fit")
        sizes = _sizes_of(value, sizes) if fits else _Within(sizes)
        cls: Any = type(value)
        declared = self._foreign.get(cls) or _declared(cls)
        for name, description in declared.items():
            plain = name.rstrip("?")
            if plain == name or _has(value, plain):
                self._attribute(getattr(value, plain), description, f"{where}.{plain}", sizes)
        derived: dict[str, Any] = value._derived() if hasattr(type(value), "_derived") else {}
        for name, part in derived.items():
            setattr(value, name, part)
        self._check_names(value, {**declared, **derived}, where)
        check = self._relations.get(type(value), getattr(type(value), "_check_saved", None))
        if check is not None and not check(value, sizes):
            raise ValueError(f"the parts of {where} ({type(value).__name__}) do not fit together")

    def _is_fitted(self, estimator: Any) -> bool:
        """Return whether an estimator has more than its parameters; one that is a parameter of another has not."""
        parameters = set(estimator._get_param_names())
        return bool(set(vars(estimator)) - parameters) or bool(parameters & set(self._foreign.get(type(estimator), ())))

    def _check_names(self, value: Any, declared: Mapping[str, str], where: str) -> None:
        if isinstance(value, tuple):
            return
        known = {name.rstrip("?") for name in declared}
        parameters = set(value._get_param_names()) if isinstance(value, BaseEstimator) else set()
        for name in vars(value):
            if callable(getattr(type(value), name, None)):
                raise ValueError(f"{where}.{name} would replace a method of {type(value).__name__}")
            ours = type(value) not in self._foreign
            if ours and name not in known and name not in parameters:
                raise ValueError(f"{where} ({type(value).__name__}) has no attribute {name!r}")

    def _attribute(self, value: Any, description: str, where: str, sizes: Sizes) -> None:
        reasons = []
        for alternative in description.split(" | "):
            known = dict(sizes)
            try:
                self._alternative(value, alternative, where, sizes)
                return
            except _Mismatch as reason:
                reasons.append(str(reason))
                sizes.clear()
                sizes.update(known)
        raise ValueError(f"{where} {', and '.join(reasons)}")

    def _alternative(self, value: Any, description: str, where: str, sizes: Sizes) -> None:
        if description == "None":
            if value is not None:
                raise _Mismatch("is not None")
            return
        if description == "any":
            self(value, where, sizes)
            return
        parts: Any = _DESCRIPTION.fullmatch(description)
        if parts["many"] is None:
            self._one(value, parts, where, sizes)
            return
        kind = {"list": list, "tuple": tuple, "dict": dict}[parts["many"]]
        if type(value) is not kind:
            raise _Mismatch(f"is not a {kind.__name__}")
        if parts["count"] and not sizes.agree(parts["count"], len(value)):
            raise _Mismatch(f"has {len(value)} parts, not {parts['count']}")
        for key, part in value.items() if kind is dict else enumerate(value):
            self._one(part, parts, f"{where}[{key!r}]", sizes)

    def _one(self, value: Any, parts: Any, where: str, sizes: Sizes) -> None:
        kind = parts["kind"]
        if kind == "any":
            self(value, where, sizes)
        elif kind == "size":
            if type(value) not in (int, np.int64, np.int32) or not sizes.agree(parts["size"], int(value)):
                raise _Mismatch(f"is {value!r}, not the size {parts['size']}")
        elif kind == "matrix":
            _check_matrix(value, parts["shape"], sizes)
        elif kind == "object":
            if type(value).__module__.partition(".")[0] not in ("similitude", "sklearn"):
                raise _Mismatch(f"is a {type(value).__name__}")
            self(value, where, sizes)
        elif kind.lstrip("_")[0].isupper():
            if kind not in {cls.__name__ for cls in type(value).__mro__}:
                raise _Mismatch(f"is a {type(value).__name__}, not a {kind}")
            if id(value) not in self._seen:
                self._seen[id(value)] = value
                self(value, where, sizes)
        elif parts["shape"] is not None:
            _check_array(value, kind, parts, sizes)
        else:
            _check_scalar(value, kind, parts, sizes)


class _Mismatch(Exception):
    """A value is not of this kind."""


class _Within(Sizes):
    """The sizes of one object within an estimator: those that begin with a point are its own."""

    def __init__(self, outer: Sizes):
        super().__init__({name: size for name, size in outer.items() if not name.startswith(".")})
        self._outer = outer

    def __setitem__(self, name: str, length: int) -> None:
        super().__setitem__(name, length)
        if not name.startswith("."):
            self._outer[name] = length


def _sizes_of(estimator: Any, outer: Sizes) -> Sizes:
    """Return the sizes that an estimator begins with: its columns n and p, its classes G, and those around it."""
    sizes = Sizes()
    around = outer.get("n", outer.get("outer"))
    if around is not None:
        sizes["outer"] = around
    own = vars(estimator)
    if isinstance(own.get("classes_"), np.ndarray):
        sizes["G"] = len(own["classes_"])
    if isinstance(own.get("n_features_in_"), (int, np.integer)):
        sizes["p"] = int(own["n_features_in_"])
    columns = getattr(next(iter(own.get("_readers", {}).values()), None), "n_columns", None)
    if isinstance(columns, int):
        sizes["n"] = columns
    return sizes


@lru_cache(maxsize=1000)
def _declared(cls: type) -> dict[str, str]:
    """Return the descriptions that a class and its bases declare."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        own: Any = vars(base).get("_saved_state", {})
        own = own.__func__() if isinstance(own, staticmethod) else own
        # The order of the checks is that of the subclass, because sizes are defined by the first attribute.
        names = {name.rstrip("?") for name in own}
        found = {name: value for name, value in found.items() if name.rstrip("?") not in names} | own
    return found


def _has(value: Any, name: str) -> bool:
    return name in getattr(value, "_fields", ()) or name in vars(value)


def _check_array(value: Any, kind: str, parts: Any, sizes: Sizes) -> None:
    if type(value) is not np.ndarray or not _KINDS[kind](value.dtype) or not value.dtype.isnative:
        found = f"array of type {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
        raise _Mismatch(f"is not an array of type {kind} but {found}")
    if value.dtype == object and not all(type(item) in _LABELS for item in value.ravel().tolist()):
        raise _Mismatch("has labels that are neither text nor numbers")
    _check_shape(value.shape, parts["shape"], sizes)
    if parts["order"] and not value.flags.c_contiguous:
        raise _Mismatch("is not stored by rows")
    if kind != "real" and value.dtype.kind == "f" and not np.isfinite(value).all():
        raise _Mismatch("has values that are not finite")
    if value.size and (parts["low"] or parts["high"]):
        _check_range(value.min(), value.max(), parts, sizes)


def _check_shape(found: tuple[int, ...], shape: str, sizes: Sizes) -> None:
    if shape == "...":
        return
    names = [name.strip() for name in shape.split(",")]
    if len(names) != len(found) or not all(map(sizes.agree, names, found)):
        wanted = [f"{name}={known}" if (known := sizes.value(name)) not in (None, name) else name for name in names]
        raise _Mismatch(f"has the shape {found}, not ({', '.join(wanted)})")


def _check_range(least: Any, largest: Any, parts: Any, sizes: Sizes) -> None:
    low, high = (sizes.value(parts[end]) if parts[end] else None for end in ("low", "high"))
    if (low is None and parts["low"]) or (high is None and parts["high"]):
        raise ValueError(f"the range {parts['low']}..{parts['high']} is not known")
    if (low is not None and not least >= low) or (high is not None and not largest < high):
        raise _Mismatch(f"has values from {least} to {largest}, outside of {low}..{high}")


def _check_matrix(value: Any, shape: str, sizes: Sizes) -> None:
    """Check a dense or sparse matrix of finite numbers."""
    if sparse.issparse(value):
        data = value.data
        if value.indices.dtype.kind != "i" or value.indices.dtype != value.indptr.dtype:
            raise _Mismatch("has positions that are not integers")
    elif type(value) is np.ndarray:
        data = value
    else:
        raise _Mismatch(f"is a {type(value).__name__}, not a matrix")
    if data.dtype not in (np.float32, np.float64) or not data.dtype.isnative or not np.isfinite(data).all():
        raise _Mismatch("is not a matrix of finite numbers")
    _check_shape(value.shape, shape, sizes)


def _check_scalar(value: Any, kind: str, parts: Any, sizes: Sizes) -> None:
    is_flag = isinstance(value, (bool, np.bool_))
    if not isinstance(value, _SCALARS[kind]) or is_flag != (kind == "bool"):
        raise _Mismatch(f"is {value!r}, not of type {kind}")
    number: Any = value
    if kind in ("double", "float", "int") and (not math.isfinite(number) or (abs(number) > 2**62 and kind == "int")):
        raise _Mismatch(f"is {value!r}, which is not finite")
    if parts["low"] or parts["high"]:
        _check_range(value, value, parts, sizes)
