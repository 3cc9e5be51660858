"""Sharing of work on equal matrices, such as the eigendecomposition and the sorting of neighbours."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

_memo = threading.local()
_KEPT = 12
_LASTING_BYTES = 2**27
"""The memory, in each process, of the results that are kept beyond a block."""

Answer = tuple[np.ndarray, ...]


class _Key(NamedTuple):
    """What identifies a matrix: matrices with the same digest are equal, so that no copy has to be kept."""

    shape: tuple[int, ...]
    dtype: str
    digest: bytes

    @classmethod
    def of(cls, S: np.ndarray) -> _Key:
        found, step = blake2b(digest_size=32), max(1, 2**20 // max(1, S[:1].size))
        for start in range(0, len(S), step):
            found.update(np.ascontiguousarray(S[start : start + step]).view(np.uint8).data)
        return cls(S.shape, S.dtype.str, found.digest())


class _Lasting:
    """The last few results of a process that blocks of shared work leave to later blocks."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop everything; also in a child process, where a lock that another thread held would stay locked."""
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, _Key], Answer] = OrderedDict()

    def get(self, kind: str, key: _Key) -> Answer | None:
        """Return the kept result, or None."""
        with self._lock:
            if (kind, key) in self._answers:
                self._answers.move_to_end((kind, key))
            return self._answers.get((kind, key))

    def keep(self, kind: str, key: _Key, answer: Answer) -> None:
        """Keep a result as long as there is memory for it and those after it."""
        with self._lock:
            self._answers[kind, key] = answer
            while sum(array.nbytes for kept in self._answers.values() for array in kept) > _LASTING_BYTES:
                self._answers.popitem(last=False)


_lasting = _Lasting()


@contextmanager
def shared_work(*, lasting: bool = False) -> Iterator[None]:
    """Return a context manager within which, in this thread, :func:`once` does the same work on equal matrices once.

    A search uses it around all the work on one fold, so that grid points and methods that need the spectrum of the same
    training matrix, or the neighbours in the same test rows, share it. The last few results of each kind are kept until
    the end of the block. With ``lasting``, results that took much work are also kept for later blocks in this process,
    up to 128 MB, until :func:`forget_lasting`.
    """
    if getattr(_memo, "stores", None) is not None:
        yield
        return
    _memo.stores, _memo.lasting = {}, lasting
    try:
        yield
    finally:
        _memo.stores = None


def forget_lasting() -> None:
    """Drop the results that blocks of shared work have left to later blocks in this process."""
    _lasting.forget()


def once(
    kind: str,
    S: np.ndarray,
    work: Callable[[np.ndarray], Answer],
    fits: Callable[[Answer], bool] = lambda answer: True,
    *,
    lasting: bool = False,
) -> Answer:
    """Return ``work(S)``, or the kept result for an equal matrix; ``lasting`` results may come from earlier blocks."""
    stores = getattr(_memo, "stores", None)
    if stores is None:
        return work(S)
    store: list[tuple[_Key, Any]] = stores.setdefault(kind, [])
    key, lasting = _Key.of(S), lasting and _memo.lasting
    for i, (known, answer) in enumerate(store):
        if known == key and fits(answer):
            store.append(store.pop(i))
            return answer
    answer = _lasting.get(kind, key) if lasting else None
    if answer is None:
        answer = work(S)
        for array in answer:
            array.flags.writeable = False
        if lasting:
            _lasting.keep(kind, key, answer)
    del store[: len(store) + 1 - _KEPT]
    store.append((key, answer))
    return answer
