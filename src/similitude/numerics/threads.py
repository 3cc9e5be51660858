"""Row blocks over threads.

The kernels are compiled with ``nogil`` and run in plain threads: unlike numba's own parallel loops these survive
``fork``, nest in joblib workers of any kind, and need no threading layer.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from joblib.parallel import get_active_backend


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


def over_row_blocks(work: Callable[[int, int], None], n_rows: int, block: int) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of rows, in threads where there is more than one block."""
    block = max(1, block)
    starts = range(0, n_rows, block)
    n_threads = min(thread_count(), len(starts))
    if n_threads <= 1:
        for start in starts:
            work(start, min(start + block, n_rows))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for done in [pool.submit(work, start, min(start + block, n_rows)) for start in starts]:
            done.result()
