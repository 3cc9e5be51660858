"""Access to the cluster: its client, values that it holds, sums over a tree, and errors with advice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from similitude._utils.extras import require

_AT_ONCE = 4
"""The number of results that one task of a tree joins."""


def current_client(client: Any = None) -> Any:
    """Return the given client, or the current one of this process."""
    distributed = require("distributed", "dask")
    if client is None:
        try:
            return distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "client: there is no cluster; start one with distributed.Client(...), which becomes the current one."
            ) from error
    if not isinstance(client, distributed.Client):
        raise ValueError(f"client must be a distributed.Client or None; got {type(client).__name__}.")
    if client.status in ("closing", "closed"):
        raise ValueError("client is closed; pass one that is connected, or None for the current one.")
    return client


def thread_total(client: Any) -> int:
    """Return the number of tasks that the workers can run at the same time."""
    return max(1, sum(client.nthreads().values()))


def reduce_tree(client: Any, together: Callable[..., Any], parts: list) -> Any:
    """Return one future of all parts, which ``together`` joins, a few adjacent ones at a time."""
    while len(parts) > 1:
        groups = [parts[i : i + _AT_ONCE] for i in range(0, len(parts), _AT_ONCE)]
        parts = [client.submit(together, *group, pure=False) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


@contextmanager
def waiting(advice: str) -> Iterator[None]:
    """Wait for the workers, and raise an error with advice if one runs out of memory.

    Within a task of the cluster its worker gets another thread, because tasks that hold all threads while they wait for
    tasks of their own would wait forever.
    """
    distributed = require("distributed", "dask")
    try:
        with distributed.worker_client() if _in_task(distributed) else nullcontext():
            yield
    except MemoryError as error:
        raise RuntimeError(f"a worker of the cluster ran out of memory: {advice}. ({error})") from error
    except distributed.KilledWorker as error:
        raise RuntimeError(
            "workers of the cluster died repeatedly on the same task, which usually means that they ran out of memory: "
            f"{advice}. If memory is not the reason, see the workers' logs. ({error})"
        ) from error


def _in_task(distributed: Any) -> bool:
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
