"""The native values of samples block by block, for scores that follow from similarities alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from similitude.proximity.evidence import gives_evidence
from similitude.reader import Rows, Training

BLOCK = 2**22
"""The largest number of values that are looked at together."""


def sign_of(samples: Training | Rows) -> float:
    """Return 1 if the native values of samples are similarities, -1 if they are dissimilarities."""
    return 1.0 if samples.reader.map_name is None else -1.0


def absent_value(samples: Training | Rows) -> float:
    """Return the value of pairs that are not stored, with the sign: NaN if unknown, -inf if farther than all others."""
    return {"zero": 0.0, "unknown": np.nan, "farthest": 0.0 if sign_of(samples) > 0 else -np.inf}[samples.reader.absent]


def native_rows(samples: Training | Rows, n: int) -> Iterator[tuple[slice, Any]]:
    """Yield blocks of whole rows of native values; dissimilarities have a negative sign."""
    sign, m = sign_of(samples), len(samples)
    columns, step = np.arange(n), max(1, BLOCK // max(n, 1))
    for start in range(0, m, step):
        rows = slice(start, min(start + step, m))
        values = samples.native.block(rows, columns)
        if sparse.issparse(values):
            values = values.tocsr()
            yield rows, sparse.csr_matrix((sign * values.data, values.indices, values.indptr), shape=values.shape)
        else:
            yield rows, sign * np.asarray(values, dtype=float)


def dense_rows(samples: Training | Rows, n: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the blocks of :func:`native_rows` as dense arrays."""
    for rows, values in native_rows(samples, n):
        if not sparse.issparse(values):
            yield rows, values
            continue
        block = np.full(values.shape, absent_value(samples))
        block[rows_of(values), values.indices] = values.data
        yield rows, block


def rows_of(S: Any) -> np.ndarray:
    """Return the row of each entry of a CSR matrix."""
    return np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))


def training_evidence(training: Training) -> np.ndarray:
    """Return for each training sample whether its row without itself gives evidence."""
    n = len(training)
    if training.features is not None:
        return np.ones(n, dtype=bool)
    found = np.zeros(n, dtype=bool)
    for rows, block in native_rows(training, n):
        places = np.arange(rows.start, rows.stop)
        if sparse.issparse(block):
            i, j = rows_of(block), block.indices
            others = places[i] != j
            columns = (j - (j > places[i]))[others]
            without = sparse.csr_matrix((block.data[others], (i[others], columns)), shape=(len(places), n - 1))
            found[rows] = gives_evidence(without, absent_is_zero=absent_value(training) == 0)
        else:
            block[np.arange(len(places)), places] = block[
                np.arange(len(places)), places - 1
            ]  # another value of the row
            found[rows] = gives_evidence(block) if n > 1 else False
    return found
