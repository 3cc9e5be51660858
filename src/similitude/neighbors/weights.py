"""The weights of neighbours: by their similarities alone, or also by the similarities among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from similitude._native import neighbor_weights
from similitude._utils.threads import over_row_blocks
from similitude._utils.warn import warn
from similitude.proximity.check import for_lookup

SPECTRA = ("clip", "flip", "shift", "none", "pinv")

_LEAST_FLOPS = 10**6  # the number of operations from which on a block is worth a thread


def _uniform(similarities: np.ndarray, largest: float | None) -> np.ndarray:
    return np.ones(similarities.shape)


def _affinities(similarities: np.ndarray, largest: float | None) -> np.ndarray:
    """Return each row divided by a power of two, so that sums cannot overflow and no digit changes."""
    size = np.max(np.abs(similarities), axis=1, keepdims=True, initial=0.0).astype(np.float64)
    return (similarities / np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0))))).astype(np.float64)


def _inverse_distances(similarities: np.ndarray, largest: float | None) -> np.ndarray:
    """Return 1/d relative to the nearest neighbour, which gets 1; if its d is 0, only neighbours at 0 get 1."""
    assert largest is not None
    # Half the distances are used, which cannot overflow; the factor cancels.
    half = np.maximum(0.5 * largest - 0.5 * similarities.astype(np.float64), 0.0)
    nearest = half[:, :1]
    with np.errstate(invalid="ignore"):
        return np.where(nearest > 0, nearest / half, half == 0)


SIMILARITY_WEIGHTS = {"uniform": _uniform, "affinity": _affinities, "distance": _inverse_distances}
"""Functions of the similarities (m, k), nearest first, and the largest one among training samples.

The weights that they return are divided by their sum; if it is not positive, the weights are uniform.
"""
NEEDS_LARGEST = ("distance",)
"""The weights that depend on the largest training similarity."""
LOCAL_WEIGHTS = ("kri", "krr", "lime")
"""The weights that depend on the similarities among the neighbours, solved in ``native/neighbors``."""
WEIGHTS = (*SIMILARITY_WEIGHTS, *LOCAL_WEIGHTS)


def local_weights(
    S: Any,
    similarities: np.ndarray,
    indices: np.ndarray,
    sizes: Any,
    regs: Any,
    *,
    weights: str = "kri",
    spectrum: str = "clip",
    consistent: bool = False,
    restarts: int = 0,
) -> np.ndarray:
    """Return the weights of each test sample's neighbours for every neighbourhood size and ridge."""
    sizes, regs = np.asarray(sizes, dtype=np.intp), np.asarray(regs, dtype=np.float64)
    m, k = len(indices), int(sizes.max())
    indices = np.ascontiguousarray(indices[:, :k], dtype=np.intp)
    rows = np.ascontiguousarray(similarities[:, :k], dtype=np.float64)
    sizes = np.ascontiguousarray(np.broadcast_to(sizes, (m, sizes.shape[-1])))
    n_sizes = sizes.shape[1]
    matrix = lookup_arguments(S)
    modification = "none" if spectrum == "pinv" else spectrum
    shares = weights == "krr" or spectrum != "none"  # the other problems may have several optima
    answer = np.zeros((m, n_sizes, len(regs), k))
    options = weights, modification, bool(consistent), int(restarts), shares
    failures = []

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        arguments: Any = *matrix, indices[part], rows[part], sizes[part], regs, *options, answer[part]
        failures.append(neighbor_weights(*arguments))

    flops_per_row = k**3 * len(regs) + 1000 * n_sizes * len(regs)
    fair_share = max(-(-m // 8), _LEAST_FLOPS // flops_per_row)
    over_row_blocks(work, m, fair_share)
    if sum(failures):
        warn(
            f"{sum(failures)} of {m * n_sizes * len(regs)} weight problems (weights={weights!r}) were not solved to "
            "full accuracy; a larger reg helps.",
            ConvergenceWarning,
        )
    return answer


def lookup_arguments(S: Any) -> tuple:
    """Return S as the first arguments of a compiled function that looks up its entries."""
    S = for_lookup(S)
    if not sparse.issparse(S):
        return (_floating(S),)
    if S.indices.dtype == S.indptr.dtype:
        return _floating(S.data), S.indices, S.indptr
    return _floating(S.data), S.indices.astype(np.int64), S.indptr.astype(np.int64)


def _floating(values: np.ndarray) -> np.ndarray:
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
