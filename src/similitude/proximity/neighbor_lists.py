"""Lists of neighbours, as nearest-neighbour libraries return them, as matrices, and the other way round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.checks import check_choice, check_integer
from similitude.numerics.topk import top_k
from similitude.proximity.edges import ORIENTATIONS


class ListedPairs(NamedTuple):
    """The pairs of lists of neighbours, without places that a library could not fill."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def listed_pairs(indices: Any, values: Any, n_columns: int | None) -> ListedPairs:
    """Return the pairs of lists of neighbours of shape (m, k), or raise a ValueError if they are not such lists."""
    indices, values = check_indices(indices, n_columns), np.asarray(values)
    if values.shape != indices.shape:
        raise ValueError(
            f"values must have the shape of indices, {indices.shape}, a value for each neighbour; got {values.shape}."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"values must be numbers; got the type {values.dtype}.")
    filled = indices >= 0
    if not np.isfinite(values[filled]).all():
        i, j = np.argwhere(filled & ~np.isfinite(values))[0]
        raise ValueError(
            f"values must be finite numbers; got {values[i, j]} for neighbour {indices[i, j]} of row {i}. "
            "A place without a neighbour has the index -1."
        )
    rows, _ = np.nonzero(filled)
    kept = values[filled]
    kept = kept if kept.dtype in (np.float32, np.float64) else kept.astype(np.float64)
    return ListedPairs(rows, indices[filled].astype(np.int64), kept)


def check_indices(indices: Any, n_columns: int | None) -> np.ndarray:
    """Return positions of neighbours as integers of shape (m, k), negative where there is none."""
    indices = np.asarray(indices)
    if indices.ndim != 2 or indices.dtype.kind not in "iu":
        raise ValueError(
            "indices must be an array of integers of shape (samples, neighbours); got the shape "
            f"{indices.shape} and the type {indices.dtype}."
        )
    n = len(indices) if n_columns is None else n_columns
    if indices.dtype.kind == "u":
        # The largest number of the type, which libraries without negative numbers use for an empty place.
        empty = indices == np.iinfo(indices.dtype).max
        indices = np.where(empty, -1, np.where(empty, 0, indices).astype(np.int64))
    if indices.size and indices.max() >= n:
        i, j = np.argwhere(indices >= n)[0]
        raise ValueError(
            f"indices: row {i} has the neighbour {indices[i, j]}, but there are only {n} samples, from 0 to {n - 1}."
        )
    return indices


def rows_of_lists(pairs: ListedPairs, shape: tuple[int, int]) -> Any:
    """Return the CSR matrix with the entries of the pairs; of a pair that is listed twice the first counts."""
    keys, first = np.unique(pairs.rows * shape[1] + pairs.columns, return_index=True)
    rows, columns = np.divmod(keys, shape[1])
    starts = np.append(0, np.cumsum(np.bincount(rows, minlength=shape[0])))
    S = sparse.csr_array((pairs.values[first], columns, starts), shape=shape)
    S.has_canonical_format = True
    return S


def best_lists(
    S: Any, n_neighbors: Any, orientation: str, include_self: bool, known_only: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions and the values of the best columns of each row, best first; -1 and NaN without one."""
    check_integer(n_neighbors, "n_neighbors", 1)
    check_choice(orientation, "orientation", ORIENTATIONS)
    square = S.shape[0] == S.shape[1]
    sign = 1.0 if orientation == "similarity" else -1.0
    k = int(n_neighbors) + (square and not include_self)
    ranked = S if sign > 0 else -S
    if sparse.issparse(ranked) and sign < 0 and not known_only:
        raise ValueError(
            "orientation='dissimilarity': the absent entries of this sparse matrix are distances of 0, and it is not "
            "known which of them are neighbours. Pass Proximities(S, absent='unknown')."
        )
    found, indices = top_k(ranked, k, known_only=known_only)
    if square and not include_self:
        own = indices == np.arange(len(indices))[:, None]
        others = np.argsort(own, axis=1, kind="stable")[:, : int(n_neighbors)]
        indices, found, own = (np.take_along_axis(array, others, axis=1) for array in (indices, found, own))
        indices, found = np.where(own, -1, indices), np.where(own, np.nan, found)
    return indices, sign * found
