"""The choice of prototypes, the samples to which similarities are used as features."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from similitude._native import take_prototype, weigh_candidates
from similitude._utils.threads import over_row_blocks, thread_count
from similitude.numerics.votes import TIE_TOLERANCE

SELECTIONS = ("random", "stratified", "kmedoids", "kcentres", "forward")
NEEDS_ALL_PAIRS = ("kmedoids", "kcentres", "forward")
"""The selections that need the whole training matrix."""

_COLUMNS_A_THREAD = 512
"""The smallest number of columns for which starting a thread is worthwhile."""


def how_many(n_prototypes: Any, n: int) -> int:
    """Return the number of prototypes among n samples, from a count, a share of n, or None for all of them."""
    if n_prototypes is None:
        return n
    if isinstance(n_prototypes, Integral) and not isinstance(n_prototypes, bool) and int(n_prototypes) >= 1:
        return min(int(n_prototypes), n)
    if isinstance(n_prototypes, Real) and not isinstance(n_prototypes, Integral) and 0 < float(n_prototypes) <= 1:
        return max(1, round(float(n_prototypes) * n))
    raise ValueError(
        f"n_prototypes must be None, a count of at least 1, or a share in (0, 1] (1.0, not 1, for all samples); "
        f"got {n_prototypes!r}."
    )


def forward_selection(S: np.ndarray, labels: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose prototypes one by one, each with the smallest leave-one-out error of the nearest-prototype rule.

    With prototypes M, sample i is given the class of its nearest prototype other than itself, the one with the largest
    ``S[i, m]`` for m in M without i, or the first of several such; a sample without any is an error. Each step adds
    the sample that leads to the fewest errors. Ties are broken by the largest total similarity of all samples to their
    nearest prototypes (totals within 1e-12 times the largest total of absolute similarities to one sample are equal),
    then by position. A step costs O(n^2).
    """
    n = len(S)
    S = np.ascontiguousarray(S, dtype=np.float32 if S.dtype == np.float32 else np.float64)
    labels = labels.astype(np.int64)
    best, at = np.full(n, -np.inf), np.full(n, -1, dtype=np.intp)
    unit = 0.5 ** n.bit_length()
    tolerance = TIE_TOLERANCE * max(float((np.abs(S[:, j]) * unit).sum(dtype=np.float64)) for j in range(n))
    columns = max(_COLUMNS_A_THREAD, -(-n // thread_count()))
    left = np.ones(n, dtype=bool)
    positions, errors = np.empty(p, dtype=np.intp), np.empty(p)
    for step in range(p):
        wrong, totals = np.zeros(n, dtype=np.int64), np.zeros(n)

        def work(start: int, stop: int, sums: tuple = (wrong, totals)) -> None:
            weigh_candidates(S, labels, best, at, unit, start, stop, *sums)

        over_row_blocks(work, n, columns)
        fewest = left & (wrong == wrong[left].min())
        positions[step] = j = int(np.argmax(fewest & (totals >= totals[fewest].max() - tolerance)))
        errors[step] = wrong[j] / n
        left[j] = False
        take_prototype(S, j, best, at)
    return positions, errors
