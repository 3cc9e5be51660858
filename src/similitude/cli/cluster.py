"""The workers of a Dask cluster, on which a command evaluates its methods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import joblib

from similitude._utils.extras import require


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Let joblib's jobs in the block run on the workers of the scheduler at this address; None means this machine."""
    if address is None:
        yield
        return
    distributed = require("distributed", "dask")
    try:
        client = distributed.Client(address, timeout="5s")
    except (OSError, ValueError) as error:
        raise ValueError(f"--scheduler: no Dask scheduler answers at {address}: {error}.") from error
    with client, joblib.parallel_config("dask", wait_for_workers_timeout=30):
        yield
