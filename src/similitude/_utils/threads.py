"""Work on blocks of rows in several threads.

The compiled functions release the GIL and run in ordinary Python threads. Unlike the threads of OpenMP, these survive
``fork``, and they work inside joblib workers of any kind.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from threading import Lock, Thread
from typing import Any

import numpy as np
from joblib.parallel import get_active_backend
from scipy.linalg.blas import dgemm
from threadpoolctl import ThreadpoolController

try:
    import resource
except ImportError:  # pragma: no cover - Windows
    resource = None  # type: ignore[assignment]

_WATCH = 0.5
"""The seconds after which a worker process looks again whether its parent is alive."""


def thread_count() -> int:
    """Return the number of threads that compiled code may use here.

    It is one inside a joblib worker, otherwise the number of cores that this process may run on, or the value of
    ``OMP_NUM_THREADS`` if that is lower, as for other compiled libraries.
    """
    if getattr(get_active_backend()[0], "nesting_level", 0):
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores


class _OneThread:
    """A context manager that limits the libraries of one kind, "blas" or "openmp", to one thread.

    The limit holds for the whole process, so it is lifted when the last of several concurrent users leaves the block.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._libraries: ThreadpoolController | None = None
        self._limit: Any = None
        self.forget()

    def forget(self) -> None:
        """Reset the state in a child process, where a lock that another thread held at the fork would stay locked."""
        self._lock, self._users = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if self._libraries is None:
                self._libraries = ThreadpoolController()
            if self._users == 0:
                self._limit = self._libraries.limit(limits=1, user_api=self._kind)
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                # The thread that set the limit of OpenBLAS may be another one: since threadpoolctl 3.7 it alone could
                # lift the limit. Afterwards any thread may set another.
                self._release()
                self._limit.restore_original_limits()
                self._release()

    def _release(self) -> None:
        for library in self._libraries.lib_controllers if self._libraries else ():
            if hasattr(library, "clear_controlling_thread"):
                library.clear_controlling_thread(force=True)


# Up to this size of a matrix a second BLAS thread gains nothing, and on a busy machine it is slower: eigenvalues at
# n = 900 by a factor of 4.
_SMALL = 2500

_limiters = {kind: _OneThread(kind) for kind in ("blas", "openmp")}

if hasattr(os, "register_at_fork"):
    for _limiter in _limiters.values():
        os.register_at_fork(after_in_child=_limiter.forget)


def one_blas_thread() -> _OneThread:
    """Return a context manager within which BLAS uses one thread."""
    return _limiters["blas"]


def suitable_blas_threads(n: int) -> AbstractContextManager[None]:
    """Return a context manager within which BLAS uses one thread if the matrices, of size n, are small."""
    return one_blas_thread() if n <= _SMALL else nullcontext()


def one_openmp_thread() -> _OneThread:
    """Return a context manager within which loops of OpenMP use one thread.

    On small problems the threads of scikit-learn's gradient boosting wait for one another most of the time.
    """
    return _limiters["openmp"]


def over_row_blocks(work: Callable[[int, int], None], n_rows: int, block: int) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of rows, in several threads if there is more than one block.

    Each of these threads uses one BLAS thread, because more of them would compete for the same cores.
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
                # A signal that arrives while a compiled function returns is wrapped in a SystemError.
                wrapped = failure.__cause__ if isinstance(failure, SystemError) else None
                failures.append(wrapped if isinstance(wrapped, (KeyboardInterrupt, SystemExit)) else failure)

    # The calling thread does its share of the work, so that for two threads only one has to be started. This takes a
    # third of the time of starting a pool of two (0.3 ms).
    others = [Thread(target=take_blocks) for _ in range(n_threads - 1)]
    with one_blas_thread() if others else nullcontext():
        for thread in others:
            thread.start()
        take_blocks()
        for thread in others:
            thread.join()
    if failures:
        raise failures[0]


def end_with_parent() -> None:
    """End this process soon after its parent has ended, if it is a worker of joblib.

    A parent that is killed cannot end its workers, which would compute on for nobody.
    """
    if not multiprocessing.current_process().name.startswith("LokyProcess"):
        return
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def reserve_blas_memory() -> None:
    """Make the libraries of NumPy and SciPy take their working memory now, if the memory of this process is limited.

    OpenBLAS takes it at the first use, and waits for ever if there is none left. On processors with AVX-512, products
    of small matrices do without it.
    """
    limits = [resource.RLIMIT_AS, resource.RLIMIT_DATA] if resource else []
    if any(resource.getrlimit(limit)[0] != resource.RLIM_INFINITY for limit in limits):
        ones = np.ones((256, 256))
        dgemm(1.0, ones @ ones.copy(), ones)


end_with_parent()
reserve_blas_memory()
