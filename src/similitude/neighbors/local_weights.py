"""Weights of neighbours that depend on the similarities among the neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude._utils.threads import over_row_blocks
from similitude._utils.warn import warn
from similitude.proximity.check import for_lookup

SPECTRA = ("clip", "flip", "shift", "none", "pinv")
LOCAL_WEIGHTS = ("kri", "krr", "lime")

_MOST_NUMBERS = 2**20  # the number of entries of the local matrices that a thread holds at a time
_LEAST_FLOPS = 10**6  # the number of operations from which on a block is worth a thread


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
    """Return the weights of each test sample's neighbours for every neighbourhood size and ridge.

    Parameters
    ----------
    S : array or CSR matrix of shape (n, n)
        The similarities among the training samples.
    similarities, indices : arrays of shape (m, k)
        The neighbours, nearest first, from :func:`~similitude.numerics.top_k`.
    sizes : sequence of int
        The neighbourhood sizes, ascending, none above k.
    regs : sequence of float
        The values of lambda, ascending.
    weights, spectrum, consistent, restarts
        As in :class:`~similitude.KNNClassifier`.

    Returns
    -------
    ndarray of shape (m, len(sizes), len(regs), sizes[-1])
        The weights, which are zero beyond each size.
    """
    from similitude.neighbors._local_spectrum import SPECTRA as CODES
    from similitude.neighbors._local_spectrum import local_matrices, share_alike

    sizes, regs = np.asarray(sizes, dtype=np.intp), np.asarray(regs, dtype=np.float64)
    m, k = len(indices), int(sizes[-1])
    indices = np.ascontiguousarray(indices[:, :k])
    rows = np.ascontiguousarray(similarities[:, :k], dtype=np.float64)
    code = CODES["none" if spectrum == "pinv" else spectrum]
    S = for_lookup(S)
    answer = np.zeros((m, len(sizes), len(regs), k))
    solve = _solver(weights)
    failures = []

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        matrices, own, ridges = _within_range(local_matrices(S, indices[part]), rows[part], regs)
        failures.append(solve(matrices, own, sizes, ridges, code, consistent, answer[part]) or 0)
        if restarts:
            from similitude.neighbors._kri import restart_rows

            restart_rows(matrices, own, sizes, ridges, restarts, answer[part])
        if weights == "krr" or spectrum != "none":
            share_alike(matrices, own, sizes, answer[part])

    flops_per_row = k**3 * len(regs) + 1000 * len(sizes) * len(regs)
    fair_share = max(-(-m // 8), _LEAST_FLOPS // flops_per_row)
    over_row_blocks(work, m, max(1, min(_MOST_NUMBERS // k**2, fair_share)))
    if sum(failures):
        warn(
            f"{sum(failures)} of {m * len(sizes) * len(regs)} weight problems (weights={weights!r}) were not solved to "
            "full accuracy; a larger reg helps.",
            ConvergenceWarning,
        )
    return answer


def _within_range(matrices: np.ndarray, rows: np.ndarray, regs: np.ndarray) -> tuple:
    """Return the same problems, scaled by a power of two, which is exact, if products would over- or underflow."""
    largest = max(np.max(matrices), -np.min(matrices), np.max(rows), -np.min(rows))
    if largest == 0 or 2.0**-400 < largest < 2.0**400:
        return matrices, rows, regs
    exponent = -int(np.frexp(largest)[1])
    tiny = np.nextafter(0.0, 1.0)
    return np.ldexp(matrices, exponent), np.ldexp(rows, exponent), np.maximum(np.ldexp(regs, exponent), tiny)


def _solver(weights: str) -> Any:
    """Return the compiled function for these weights, which is imported and compiled only when it is used."""
    if weights == "krr":
        from similitude.neighbors._krr import krr_rows

        return krr_rows
    if weights == "lime":
        from similitude.neighbors._lime import lime_rows

        return lime_rows
    from similitude.neighbors._kri import kri_rows

    return kri_rows
