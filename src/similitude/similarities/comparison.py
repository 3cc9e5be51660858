"""Comparison of selected objects of two sequences, without a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude._utils.threads import over_row_blocks
from similitude.similarities._blocks import Block, Failure, Task
from similitude.similarities.pairwise import one_by_one
from similitude.similarities.registry import Measure


def check_objects(X: Any) -> Any:
    """Return a sequence of raw objects; a sparse matrix is converted to CSR, and its rows are the objects."""
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "__len__") or isinstance(X, (str, bytes, Mapping, set, frozenset)):
        raise ValueError(f"X must be a sequence of objects; got {type(X).__name__}.")
    if num_samples(X) == 0:
        raise ValueError("X must hold at least one object; got 0.")
    return X


def sliceable(X: Any) -> Any:
    """Return the objects in a form of which a part can be taken; a deque or an Index is converted to a list."""
    objects = check_objects(X)
    try:
        safe_indexing(objects, slice(0, 1))
        safe_indexing(objects, [0])
    except TypeError:
        return list(objects)
    return objects


class Comparison:
    """A function that returns the values of a measure between selected objects of two sequences."""

    def __init__(self, measure: Measure, objects: Any):
        self.measure = measure
        self.objects = self._cuttable(objects)

    def _cuttable(self, objects: Any) -> Any:
        return objects if self.measure.batch else one_by_one(objects)

    def __call__(self, X: Any, rows: np.ndarray, columns: list[np.ndarray]) -> list[np.ndarray]:
        """Return for each of the ``rows`` of X its values with the objects at ``columns``."""
        X = self._cuttable(X)
        answers: list[np.ndarray] = [np.empty(0)] * len(rows)

        def work(start: int, stop: int) -> None:
            for r in range(start, stop):
                if len(columns[r]):
                    answers[r] = self._row(X, int(rows[r]), columns[r])

        over_row_blocks(work, len(rows), max(16, -(-len(rows) // 8)) if self.measure.threads else len(rows))
        return answers

    def _row(self, X: Any, i: int, columns: np.ndarray) -> np.ndarray:
        task = Task.of(self.measure, places=([i], columns))
        block = Block(0, slice(0, 1), slice(0, len(columns)))
        _, values = task(block, _chosen(X, [i]), _chosen(self.objects, columns))
        if isinstance(values, Failure):
            raise ValueError(values.message) from values.cause
        return values[0]


def _chosen(objects: Any, places: Any) -> Any:
    if isinstance(objects, list):
        return [objects[j] for j in places]
    return objects[places] if isinstance(objects, np.ndarray) else safe_indexing(objects, places)


def append_objects(old: Any, new: Any) -> Any:
    """Return two sequences of objects of the same kind as one."""
    if hasattr(old, "iloc"):
        import pandas as pd

        return pd.concat([old, new], ignore_index=True)
    if sparse.issparse(old):
        return sparse.vstack([old, new], format="csr")
    if isinstance(old, np.ndarray):
        return np.concatenate([old, np.asarray(new, dtype=old.dtype if old.dtype == object else None)])
    return list(old) + list(new)
