"""Short digests of objects and measures, by which an interrupted computation is recognised when it is called again."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from similitude.similarities.registry import Measure


def fingerprint_of_measure(measure: Measure) -> bytes:
    """Return a digest of the measure's name, its parameters and what it has learned.

    The code of the function is not part of it, so that a run can be continued after the function has been corrected.
    """
    function = measure.function
    state: Any = None
    if isinstance(function, BaseEstimator):
        state = vars(function)
    elif isinstance(function, partial):
        state = [getattr(function.func, "__name__", ""), function.args, function.keywords]
    return fingerprint(measure.name or getattr(function, "__name__", type(function).__name__), state)


def fingerprint(*values: Any) -> bytes:
    """Return a digest of sixteen bytes that is the same for equal values, in every process."""
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        _feed(digest, value)
    return digest.digest()


def _feed(digest: Any, value: Any) -> None:
    if hasattr(value, "iloc"):
        value = value.to_numpy()
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, int, float, complex, bytes)):
        text = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        digest.update(b"%s %d:" % (type(value).__name__.encode(), len(text)))
        digest.update(text)
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest.update(f"array {value.dtype.str} {value.shape}:".encode())
        digest.update(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
    elif sparse.issparse(value):
        rows = value.tocsr()
        for part in (np.array(rows.shape), rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)):
            _feed(digest, part)
    elif isinstance(value, (list, tuple, np.ndarray)):
        digest.update(b"sequence %d:" % len(value))
        for item in value:
            _feed(digest, item)
    elif isinstance(value, (set, frozenset, dict)):
        items = value.items() if isinstance(value, dict) else value
        digest.update(b"set %d:" % len(value))
        # Their order is undefined, or differs between processes.
        for part in sorted(fingerprint(item) for item in items):
            digest.update(part)
    else:
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        try:
            digest.update(f"{name} {joblib.hash(value)}".encode())
        except Exception:
            digest.update(name.encode())  # of an object that cannot be pickled only the type is known
