"""Conversion of a fitted estimator to plain JSON values and arrays, and back; only classes from a list are built.

The values that JSON supports represent themselves. Everything else is an object with one key that names its kind:
``{"tuple": [...]}``, ``{"array": 3}``, ``{"object": ["similitude.base.X", [["name", value], ...]]}``.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch

from similitude._utils.forms import is_frame
from similitude.base import PathClassifier
from similitude.persistence._scikit_learn import ALLOWED
from similitude.similarities import registry as registered
from similitude.similarities.registry import Measure, resolve

_NO_MODELS = re.compile(
    r"similitude\.(cli|datasets|experiments|plotting|report|persistence|_.*|proximity\.files|"
    r"similarities\.(_blocks|journal|pairwise))(\.|$)"
)
"""The modules whose classes are not part of a model: those that read and write files, and those that display."""

_ARRAY_KINDS = "biufcUS"
_SCALAR_KINDS = "biufU"
_SPARSE = {
    f"{format}_{kind}": getattr(sparse, f"{format}_{kind}") for format in ("csr", "csc") for kind in ("array", "matrix")
}


def _name_of(cls: type) -> str | None:
    """Return the name by which the reader finds this class, or None if it may not be built."""
    if cls.__module__.startswith("sklearn."):
        same = (name for name in ALLOWED if name.endswith(f".{cls.__name__}"))
        return next((name for name in same if _class_named(name) is cls), None)
    name = f"{cls.__module__}.{cls.__qualname__}"
    try:
        return name if _class_named(name) is cls else None
    except ValueError:
        return None


def _class_named(name: Any) -> type:
    """Return the class of this name, if it is a class of similitude or one of the listed classes of scikit-learn."""
    ours = isinstance(name, str) and re.fullmatch(r"similitude(\.\w+)+", name, re.ASCII) and not _NO_MODELS.match(name)
    if not ours and name not in ALLOWED:
        raise ValueError(f"the class {name!r} is not one that a model file may hold")
    module, _, attribute = name.rpartition(".")
    try:
        found = vars(importlib.import_module(module)).get(attribute)
    except ImportError:
        found = None
    if not isinstance(found, type) or (ours and found.__module__ != module):
        raise ValueError(f"there is no class {name!r} in the versions installed here")
    return found


class Encoder:
    """Converts objects to JSON values; arrays are collected in ``arrays``."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._positions: dict[int, int] = {}

    def encode(self, value: Any, where: str) -> Any:
        """Return ``value`` as a JSON value; error messages call it ``where``."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return self._each(value, where)
        if kind in (tuple, set, frozenset):
            # Sets are sorted, so that the same model gives the same file.
            return {kind.__name__: self._each(value if kind is tuple else sorted(value, key=repr), where)}
        if kind in (dict, Bunch):
            return {kind.__name__.lower(): self._pairs(value, where)}
        if kind is bytes:
            return {"bytes": value.hex()}
        if kind is slice:
            return {"slice": self._each([value.start, value.stop, value.step], where)}
        if hasattr(value, "iloc"):  # of pandas: raw objects, which measures take as arrays, too
            cells = value.to_numpy()
            return self.encode([list(map(np.asarray, row)) for row in cells] if _is_nested(value) else cells, where)
        if isinstance(value, (np.ndarray, np.generic, np.dtype)) or sparse.issparse(value):
            return self._numeric(value, where)
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"scalar type": np.dtype(value).str}
        return self._own(value, where)

    def _each(self, values: Iterable, where: str) -> list:
        return [self.encode(value, f"{where}[{i}]") for i, value in enumerate(values)]

    def _pairs(self, values: dict, where: str) -> list:
        return [
            [self.encode(key, f"a key of {where}"), self.encode(value, f"{where}[{key!r}]")]
            for key, value in values.items()
        ]

    def _numeric(self, value: Any, where: str) -> Any:
        if sparse.issparse(value):
            value = value if value.format in ("csr", "csc") else value.tocsr()
            kind = f"{value.format}_{'array' if isinstance(value, sparse.sparray) else 'matrix'}"
            parts = [self.encode(part, where) for part in (value.data, value.indices, value.indptr)]
            return {"sparse": [kind, list(map(int, value.shape)), *parts]}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if isinstance(value, np.generic):
            if value.dtype.kind not in _SCALAR_KINDS or isinstance(value, np.longdouble):
                raise _unsavable(where, value)
            return {"scalar": [value.dtype.str, self.encode(value.item(), where)]}
        if isinstance(value, np.ma.MaskedArray):
            mask = np.ma.getmaskarray(value)
            return {"masked": [self.encode(np.asarray(part), where) for part in (value.data, mask)]}
        if value.dtype == object:
            return {"objects": [list(value.shape), self._each(value.ravel(), where)]}
        if value.dtype.kind not in _ARRAY_KINDS:
            raise _unsavable(where, value)
        if id(value) not in self._positions:
            self._positions[id(value)] = len(self.arrays)
            self.arrays.append(value)  # this also prevents its id from being reused for another array
        return {"array": self._positions[id(value)]}

    def _own(self, value: Any, where: str) -> Any:
        known = registered._registry
        if isinstance(value, Measure) and known.get(value.name) is value:
            return {"measure": value.name}
        name = _name_of(type(value))
        if name is None:
            for measure in known.values():
                if measure.function is value:
                    return {"function": measure.name}
            raise _unsavable(where, value)
        if isinstance(value, tuple):
            return {"named tuple": [name, self._each(value, where)]}
        not_kept = _not_kept(value)
        state = {key: part for key, part in vars(value).items() if key not in not_kept}
        state |= dict.fromkeys(key for key in getattr(value, "not_saved", ()) if key in state)
        return {"object": [name, [[key, self.encode(part, f"{where}.{key}")] for key, part in state.items()]]}


def _is_nested(value: Any) -> bool:
    """Return whether the cells of a DataFrame are series."""
    return is_frame(value) and value.size > 0 and np.ndim(value.iloc[0, 0]) == 1


def _not_kept(value: Any) -> tuple[str, ...]:
    """Return the attributes that are created again: scorers hold functions, and a pipeline's cache holds pickles.

    Those that follow from the path of a classifier are computed again.
    """
    if isinstance(value, PathClassifier) and "_path" in vars(value):
        return tuple(value._derived())
    if isinstance(value, GridSearchCV):
        return ("scorer_",)
    return ("memory",) if isinstance(value, Pipeline) else ()


def _unsavable(where: str, value: Any) -> ValueError:
    if callable(value) and not hasattr(value, "fit"):
        name = getattr(value, "__qualname__", type(value).__name__)
        return ValueError(
            f"model: {where} is the Python function {name}, which cannot be saved without its code. Register a "
            "similarity with similitude.similarities.register(Measure(function, name=...)), fit with similarity=name, "
            "and register it again before loading; or fit on the precomputed matrix."
        )
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    dtype = f" of type {value.dtype}" if isinstance(value, np.ndarray) else ""
    return ValueError(
        f"model: {where} is a {kind}{dtype}, which a model file cannot hold; it holds estimators of similitude, some "
        "of scikit-learn, numbers, text, lists, dicts, and arrays. Convert it to one of these before fit."
    )


class Decoder:
    """Converts JSON values to objects; ``array(position)`` returns an array."""

    def __init__(self, array: Callable[[int], np.ndarray]) -> None:
        self._array = array
        self._builders: dict[str, Callable[[Any], Any]] = {
            "float": lambda text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
            "tuple": lambda values: tuple(self._each(values)),
            "set": lambda values: set(self._each(values)),
            "frozenset": lambda values: frozenset(self._each(values)),
            "dict": lambda pairs: {self.decode(key): self.decode(value) for key, value in pairs},
            "bunch": lambda pairs: Bunch(**{self.decode(key): self.decode(value) for key, value in pairs}),
            "bytes": bytes.fromhex,
            "slice": lambda values: slice(*self._each(values)),
            "array": self._array,
            "objects": self._objects,
            "masked": lambda parts: np.ma.MaskedArray(*map(self.decode, parts)),
            "sparse": self._sparse,
            "dtype": _dtype,
            "scalar type": lambda text: _dtype(text).type,
            "scalar": self._scalar,
            "measure": _measure,
            "function": lambda name: _measure(name).function,
            "named tuple": self._named_tuple,
            "object": self._object,
        }

    def decode(self, node: Any) -> Any:
        """Return the object that a JSON value represents."""
        if isinstance(node, list):
            return self._each(node)
        if not isinstance(node, dict):
            return node
        ((tag, content),) = node.items()
        return self._builders[tag](content)

    def _each(self, nodes: list) -> list:
        return [self.decode(node) for node in nodes]

    def _objects(self, parts: list) -> np.ndarray:
        shape, items = parts
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = self.decode(item)
        return array.reshape(shape)

    def _scalar(self, parts: list) -> Any:
        dtype, value = _dtype(parts[0]), self.decode(parts[1])
        if dtype.kind not in _SCALAR_KINDS:
            raise ValueError(f"a scalar of type {dtype} is not one of numbers or text")
        # The length of a text is that of its value, not that of its type.
        return np.str_(value) if dtype.kind == "U" else np.asarray(value, dtype=dtype)[()]

    def _sparse(self, parts: list) -> Any:
        kind, shape, *arrays = parts
        matrix = _SPARSE[kind](tuple(map(self.decode, arrays)), shape=tuple(shape))
        # The indices must lie within the matrix, because compiled code relies on them.
        matrix.check_format(full_check=True)
        return matrix

    def _named_tuple(self, parts: list) -> Any:
        cls, values = _class_named(parts[0]), self._each(parts[1])
        if not issubclass(cls, tuple) or len(values) != len(cls._fields):  # type: ignore[attr-defined]
            raise ValueError(f"{len(values)} values for {cls.__name__}")
        return tuple.__new__(cls, values)

    def _object(self, parts: list) -> Any:
        name, pairs = parts
        # Neither __new__ nor __init__ nor __setstate__ of the class is run; only the attributes are set.
        made: Any = object.__new__(_class_named(name))
        vars(made).update({str(key): self.decode(value) for key, value in pairs})
        if isinstance(made, Pipeline):
            made.memory = None
        if isinstance(made, GridSearchCV):
            scorers, _ = made._get_scorers()
            made.scorer_ = getattr(scorers, "_scorers", scorers)
        return made


def _dtype(text: str) -> np.dtype:
    if not re.fullmatch(rf"[<>|=][{_ARRAY_KINDS}][0-9]{{1,9}}", text):
        raise ValueError(f"the type {text!r} is not one of numbers or text")
    return np.dtype(text)


def _measure(name: str) -> Measure:
    if not isinstance(name, str) or name not in registered._registry:
        raise ValueError(f"the similarity {name!r} is not registered; register it as it was when the model was saved")
    return resolve(name)
