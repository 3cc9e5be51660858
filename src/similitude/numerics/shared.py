"""Sharing of work on equal matrices, such as the eigendecomposition and the sorting of neighbours."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_memo = threading.local()
_KEPT = 12


@contextmanager
def shared_work() -> Iterator[None]:
    """Return a context manager within which, in this thread, :func:`once` does the same work on equal matrices once.

    A search uses it around all the work on one fold, so that grid points and methods that need the spectrum of the same
    training matrix, or the neighbours in the same test rows, share it. The last few results of each kind are kept until
    the end of the block.
    """
    if getattr(_memo, "stores", None) is not None:
        yield
        return
    _memo.stores = {}
    try:
        yield
    finally:
        _memo.stores = None


def once(
    kind: str,
    S: np.ndarray,
    work: Callable[[np.ndarray], tuple[np.ndarray, ...]],
    fits: Callable[[tuple[np.ndarray, ...]], bool] = lambda answer: True,
) -> tuple[np.ndarray, ...]:
    """Return ``work(S)``, or the kept result for an equal matrix."""
    stores = getattr(_memo, "stores", None)
    if stores is None:
        return work(S)
    store: list[tuple[np.ndarray, Any]] = stores.setdefault(kind, [])
    for i, (known, answer) in enumerate(store):
        # The first row distinguishes most matrices, so that they need not be compared completely.
        same = known.shape == S.shape and known.dtype == S.dtype and np.array_equal(known[:1], S[:1])
        if same and fits(answer) and np.array_equal(known, S):
            store.append(store.pop(i))
            return answer
    answer = work(S)
    for array in answer:
        array.flags.writeable = False
    del store[: len(store) + 1 - _KEPT]
    store.append((S.copy(), answer))  # the caller may change S later
    return answer
