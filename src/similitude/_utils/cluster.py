"""Values that the workers of a Dask cluster get once, however many tasks use them."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from joblib.parallel import get_active_backend

from similitude._utils.extras import require

_HELD: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()


def hold(client: Any, value: Any) -> Any:
    """Return a future of this value, which a worker keeps.

    It is sent as the argument of a task. Scattered data would be lost with its worker, while a task is run again.
    """
    dask = require("dask", "dask")
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.submit(_itself, value, pure=False)


def _itself(value: Any) -> Any:
    return value


def for_jobs(value: Any) -> Any:
    """Return a value as the argument of joblib's jobs: a future if they run on a cluster, which is made only once.

    The jobs get the value itself, which each worker receives once; the future lives as long as the value.
    """
    client = getattr(get_active_backend()[0], "client", None)
    if client is None or not hasattr(client, "submit"):
        return value
    known = _HELD.get(value)
    if known is None or known[0] != client.id:
        known = _HELD[value] = client.id, hold(client, value)
    return known[1]


def arrived(value: Any) -> Any:
    """Return the value of an argument of a job, also if joblib ran it here because only one worker was left."""
    return value.result() if type(value).__module__.startswith("distributed.") else value
