"""Time measurement of the benchmarks, the best of several runs of our code and of the peer in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def best_of(work: Callable[[], Any], runs: int = 3) -> float:
    """Return the seconds of the fastest run, which on a noisy machine is the least disturbed one."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def side_by_side(name: str, ours: Callable[[], Any], peer: Callable[[], Any], runs: int = 3) -> dict[str, Any]:
    """Time both in turn, and return a row for the table."""
    a, b = [], []
    for _ in range(runs):
        a.append(best_of(ours, 1))
        b.append(best_of(peer, 1))
    return {"name": name, "ours_seconds": min(a), "peer_seconds": min(b), "ratio": min(b) / min(a)}
