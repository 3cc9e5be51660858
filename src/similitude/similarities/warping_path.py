"""Which steps of two time series a warping distance aligns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from similitude.similarities.timeseries import ADTW, DTW, WDTW

WARPING = (DTW, WDTW, ADTW)
"""The distances whose value is the sum of costs along a path."""


def warping_path(first: Any, second: Any, measure: Any) -> np.ndarray:
    """Return the positions of the aligned steps in both series, (k, 2), from the first steps to the last ones.

    ``measure`` is one of the distances in ``WARPING``, fitted if it learns. Of several best paths it is one that goes
    along the diagonal where it can.
    """
    if not isinstance(measure, WARPING):
        names = ", ".join(kind.__name__ for kind in WARPING)
        raise ValueError(f"measure must be one of the distances {names}; got {measure!r}.")
    measure._check_parameters()
    (x,), (z,) = measure._two_collections(_one(first), _one(second))
    n, m = x.shape[1], z.shape[1]
    costs = ((x[:, :, None] - z[:, None, :]) ** 2).sum(axis=0)
    if isinstance(measure, WDTW):
        away = np.abs(np.subtract.outer(np.arange(n), np.arange(m)))
        costs = costs / (1.0 + np.exp(-measure.g * (away - max(n, m) / 2.0)))
    costs[~_band(n, m, measure.window)] = np.inf
    penalty = float(measure.warp_penalty) if isinstance(measure, ADTW) else 0.0
    table = np.full((n + 1, m + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            before = min(table[i, j], table[i, j + 1] + penalty, table[i + 1, j] + penalty)
            table[i + 1, j + 1] = costs[i, j] + before
    return _traced(table, penalty)


def _one(series: Any) -> Sequence[np.ndarray]:
    """Return a collection of the one series."""
    return [np.asarray(series, dtype=float)]


def _traced(table: np.ndarray, penalty: float) -> np.ndarray:
    """Return the path that ends in the last cell of a table, whose first row and column are its border."""
    i, j = table.shape[0] - 1, table.shape[1] - 1
    path = []
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        steps = [(table[i - 1, j - 1], i - 1, j - 1), (table[i - 1, j] + penalty, i - 1, j)]
        _, i, j = min([*steps, (table[i, j - 1] + penalty, i, j - 1)], key=lambda step: step[0])
    return np.array(path[::-1])


def _band(n: int, m: int, window: float | None) -> np.ndarray:
    """Return the cells that a path may use: those within a share of the shorter length along its axis."""
    if window is None or window == 1:
        return np.ones((n, m), dtype=bool)
    allowed, reach, steps = np.zeros((n, m), dtype=bool), int(window * min(n, m)), max(n, m) + 1
    for step in range(steps):
        i, j = int(step / steps * n), int(step / steps * m)
        if n > m:
            allowed[i, max(0, j - reach) : j + reach + 1] = True
        else:
            allowed[max(0, i - reach) : i + reach + 1, j] = True
    return allowed
