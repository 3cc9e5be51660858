"""Row blocks over threads.

The kernels are compiled with ``nogil`` and run in plain threads: unlike numba's own parallel loops these survive
``fork``, nest in joblib workers of any kind, and need no threading layer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock, Thread

from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController


def thread_count() -> int:
    """Threads a kernel may use here: one inside a joblib worker, else the cores this process may run on.

    ``NUMBA_NUM_THREADS`` and ``OMP_NUM_THREADS`` lower it, as they do for compiled libraries.
    """
    if getattr(get_active_backend()[0], "nesting_level", 0):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        limit = os.environ.get(variable, "")
        if limit.isdigit() and int(limit) > 0:
            cores = min(cores, int(limit))
    return cores


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager:
    """Within this block BLAS works in one thread."""
    return _libraries().limit(limits=1, user_api="blas")


def over_row_blocks(work: Callable[[int, int], None], n_rows: int, block: int) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of rows, in threads where there is more than one block.

    Each of these threads gets one thread of BLAS: more would wait for one another.
    """
    block = max(1, block)
    starts = range(0, n_rows, block)
    n_threads = min(thread_count(), len(starts))
    waiting, turn = iter(starts), Lock()
    failures: list[BaseException] = []

    def take_blocks() -> None:
        while not failures:
            with turn:
                start = next(waiting, None)
            if start is None:
                return
            try:
                work(start, min(start + block, n_rows))
            except BaseException as failure:
                failures.append(failure)

    # The caller is one of the threads: with two, one is to be started, which takes a third of a pool of two (0.3 ms).
    others = [Thread(target=take_blocks) for _ in range(n_threads - 1)]
    with one_blas_thread() if others else nullcontext():
        for thread in others:
            thread.start()
        take_blocks()
        for thread in others:
            thread.join()
    if failures:
        raise failures[0]
