"""Running of the cells that the store does not have yet."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from threading import Thread
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, parallel_config

from benchmarks.arena.data import Dataset, partition_of
from benchmarks.arena.store import Cell, Result, Store
from similitude._utils.progress import ProgressBars
from similitude._utils.threads import one_blas_thread

RunCell = Callable[[Dataset, int], Sequence[Result]]


class _Done(NamedTuple):
    data: str
    partition: int
    seconds: float
    failure: str


def run_cells(
    datasets: Iterable[Dataset], partitions: Iterable[int], store: Store, run_cell: RunCell, jobs: int = 1
) -> dict[str, str]:
    """Run every cell that the store does not have, and return the tracebacks of those that failed, by their names.

    A cell is written by the process that computed it, as soon as it is finished: if the run is killed, only unfinished
    cells are lost, and the other processes end. A cell that failed is not written, so that the next run tries it again.

    Parameters
    ----------
    datasets : iterable of Dataset
        The data sets.
    partitions : iterable of int
        The numbers of the partitions. All data sets are run on one partition, the largest first, before the next
        partition begins.
    store : Store
        The store.
    run_cell : callable
        ``run_cell(dataset, partition)`` returns the results of all entrants.
    jobs : int, default=1
        The number of processes, each with one BLAS thread.

    Returns
    -------
    dict of str to str
        The failures.
    """
    largest_first = sorted(datasets, key=lambda dataset: -len(dataset.labels))
    todo = [(d, p) for p in partitions for d in largest_first if store.read(d.name, p) is None]
    failures = {}
    with (
        parallel_config(backend="loky", inner_max_num_threads=1),
        ProgressBars({"cells": len(todo)}) as bars,
    ):
        # Cells are dispatched one at a time, because their times differ widely.
        workers = Parallel(n_jobs=jobs, batch_size=1, pre_dispatch=jobs, return_as="generator_unordered")
        parent = os.getpid()
        for done in workers(delayed(_run)(dataset, partition, store, run_cell, parent) for dataset, partition in todo):
            name = f"{done.data}, partition {done.partition}"
            if done.failure:
                failures[name] = done.failure
            told = f"{name}: {'failed' if done.failure else 'finished'} after {done.seconds:.1f} s"
            bars.advance("cells", note=told)
            if not sys.stderr.isatty():
                print(told, file=sys.stderr, flush=True)
    return failures


@cache
def _end_with(parent: int) -> None:
    """End this worker soon after the process that started it, which joblib's workers notice only between cells."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _run(dataset: Dataset, partition: int, store: Store, run_cell: RunCell, parent: int) -> _Done:
    if os.getpid() != parent:
        _end_with(parent)
    start, failure = time.perf_counter(), ""
    try:
        with one_blas_thread():
            results = tuple(run_cell(dataset, partition))
        train, test = partition_of(dataset.labels, partition)
        size = {"n_train": len(train), "n_test": len(test), "n_classes": len(np.unique(dataset.labels))}
        store.write(
            Cell(dataset.name, partition, kind=dataset.kind, simulated=dataset.simulated, results=results, **size)
        )
    except Exception:
        failure = traceback.format_exc()
    return _Done(dataset.name, partition, time.perf_counter() - start, failure)
