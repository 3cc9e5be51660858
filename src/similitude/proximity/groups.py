"""Groups of samples that are so similar that they must not be on both sides of a split."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from similitude._utils.checks import first_missing
from similitude._utils.ids import labels_in_order
from similitude.proximity.check import read_similarity
from similitude.proximity.proximities import as_proximities

if TYPE_CHECKING:
    from similitude._utils.types import ListLike, ProximityLike

NEAR = 0.05
"""Near-duplicates have at most this share of the median dissimilarity, and of the squared difference of two rows."""

FINE_SCALE = 25
"""Number of distinct values below which rows have to be more similar, because equal values show little."""

_LARGE_GROUP = 10
_HALVINGS = 8
_ROUNDING, _SMALLEST = 1e-12, 1e-100
_BLOCK = 2**22
_PAIRS = 2**20
_PAIRS_AT_ONCE, _COLUMNS = 2**14, 256


def similarity_groups(
    S: ProximityLike,
    threshold: float | Literal["auto"] = "auto",
    *,
    groups: ListLike | None = None,
    dissimilarity: str | None = None,
) -> np.ndarray:
    """Return a group for each sample, such that samples whose similarity reaches a threshold are in the same group.

    The groups are the connected components of the graph that links i and j if ``s_ij`` or ``s_ji`` is at least the
    threshold, or, for dissimilarities, at most. ``threshold="auto"`` links duplicates and near-duplicates: with
    ``d_ij = (s_ii + s_jj)/2 - s_ij``, or the given dissimilarity, those whose d is at most 5% of the median d of
    different samples, and whose rows are nearly the same: the mean squared difference of their similarities to the
    others is at most ``d_ij^2``, as the triangle inequality demands, or 5% of that of two samples drawn at random. If
    there are only m < 25 distinct values, these 5% are multiplied by m / 25, because equal values on a coarse scale,
    such as ratings, do not show that samples are copies. Where samples lie so close together that this links more than
    a tenth of them (and more than ten) into one group, both shares are halved until it does not; in the end only
    duplicates are linked. Unknown pairs, and pairs that a sparse matrix does not store, are not linked.

    Parameters
    ----------
    S : array-like, DataFrame, sparse matrix or Proximities of shape (n, n)
        Similarities, or dissimilarities if ``dissimilarity`` is given.
    threshold : float or "auto", default="auto"
        Samples are linked if their similarity is at least this, or if their dissimilarity is at most this.
    groups : array-like of shape (n,), default=None
        Other groups that must not be divided either.
    dissimilarity : str, default=None
        The map of the estimators; if it is not None, S holds dissimilarities.

    Returns
    -------
    ndarray of int of shape (n,)
        The groups, numbered from 0 in the order of their first samples.

    See Also
    --------
    SimilarityGroupKFold : Folds that do not divide these groups.

    Examples
    --------
    >>> from similitude import similarity_groups
    >>> S = [[1.0, 0.95, 0.1, 0.2], [0.95, 1.0, 0.3, 0.1], [0.1, 0.3, 1.0, 0.4], [0.2, 0.1, 0.4, 1.0]]
    >>> similarity_groups(S, 0.9)
    array([0, 0, 1, 2])
    >>> similarity_groups(S, 0.9, groups=["x", "y", "y", "z"])
    array([0, 0, 0, 1])
    """
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool) and threshold == threshold
    if not is_number and not (isinstance(threshold, str) and threshold == "auto"):
        raise ValueError(f"threshold must be a number or 'auto'; got {threshold!r}.")
    distances = dissimilarity is not None
    groups = labels_in_order(groups, S, "groups")
    given = as_proximities(S, distances=distances)
    values, _ = read_similarity(given.S, orientation="any", takes_nan=True)
    n = values.shape[0]
    if is_number:
        links = _links(values, float(threshold), distances)
    else:
        links = _near_links(values, distances, given.absent)
    if groups is not None:
        links = links + _same(groups, n)
    _, first, codes = np.unique(_components(links), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def _components(links: Any) -> np.ndarray:
    return connected_components(links, directed=True, connection="weak")[1]


def _near_links(values: Any, distances: bool, absent: str) -> Any:
    """Return the links between near-duplicates, which make no group of more than a tenth of the samples."""
    n = values.shape[0]
    known = values.data if sparse.issparse(values) else values
    largest = float(max(np.nanmax(known, initial=0.0), -np.nanmin(known, initial=0.0)))
    if largest and not _SMALLEST < largest < 1 / _SMALLEST:
        values = values / 2.0 ** np.floor(np.log2(largest))  # squares would overflow or underflow
    pairs = _near_pairs(values, distances, absent)
    for share in [*(NEAR / 2**i for i in range(_HALVINGS)), 0.0]:
        kept = (pairs.apart <= share) & (pairs.unlike <= np.maximum(np.maximum(pairs.apart_rows, share), _ROUNDING))
        links = _graph(pairs.rows[kept], pairs.columns[kept], n)
        if np.bincount(_components(links)).max() <= max(_LARGE_GROUP, n / 10):
            break
    return links


class _NearPairs(NamedTuple):
    """Pairs of different samples that may be near-duplicates."""

    rows: np.ndarray
    columns: np.ndarray
    apart: np.ndarray
    """Their d, as a share of the median one; 0 for those that are equal up to rounding."""
    unlike: np.ndarray
    """The mean squared difference of their rows, as a share of that of two samples drawn at random."""
    apart_rows: np.ndarray
    """What that share may be by the triangle inequality."""


def _near_pairs(values: Any, distances: bool, absent: str) -> _NearPairs:
    """Return the pairs that are near-duplicates by the largest share."""
    own = _self_values(values, distances)

    def apart(block: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return block if distances else own[rows] / 2 + own[columns] / 2 - block

    typical = _typical(values, apart, distances)

    def rounding(rows: np.ndarray, columns: np.ndarray) -> Any:
        return 1e-12 * (typical if distances else np.abs(own[rows]) / 2 + np.abs(own[columns]) / 2)

    spread = _row_spread(values, absent) * min(1.0, _n_distinct(values) / FINE_SCALE)
    found: list[tuple[np.ndarray, ...]] = []
    for rows, columns, block in _blocks(values):
        with np.errstate(invalid="ignore"):
            near = apart(block, rows, columns) <= NEAR * typical + rounding(rows, columns)
        near &= rows != columns
        i, j = (np.broadcast_to(ends, near.shape)[near] for ends in (rows, columns))
        d = apart(block[near], i, j).astype(np.float64)
        d[d <= rounding(i, j)] = 0.0
        limits = np.maximum(np.maximum(d**2, NEAR * spread), _ROUNDING * spread)
        squares = _row_differences(values, i, j, limits, absent)
        kept = np.flatnonzero(squares <= limits)
        i, j, d, squares = i[kept], j[kept], d[kept], squares[kept]
        found.append((i, j, d / (typical or 1.0), squares / (spread or 1.0), d**2 / (spread or 1.0)))
    return _NearPairs(*(np.concatenate(part) for part in zip(*found)))


def _self_values(values: Any, distances: bool) -> np.ndarray:
    """Return the similarities of samples with themselves; where these are not known, the largest one."""
    own = np.asarray(values.diagonal(), dtype=np.float64)
    if sparse.issparse(values) and not own.any() and not distances:
        return np.full(len(own), float(values.data.max()) if values.nnz else 0.0)  # no sample is stored with itself
    return np.where(np.isnan(own), np.nanmax(own) if not np.isnan(own).all() else 0.0, own)


def _row_spread(values: Any, absent: str) -> float:
    """Return the mean squared difference of the rows of two samples drawn at random."""
    if sparse.issparse(values):
        n = np.full(values.shape[1], values.shape[0])
        n = n if absent == "zero" else np.maximum(np.bincount(values.indices, minlength=len(n)), 1)
        means = np.asarray(values.sum(axis=0)).ravel() / n
        return 2 * float(np.mean(np.asarray(values.power(2).sum(axis=0)).ravel() / n - means**2))
    sums, squares, counts = (np.zeros(values.shape[1]) for _ in range(3))
    for _, _, block in _blocks(values):
        known = ~np.isnan(block)
        sums += np.sum(block, axis=0, where=known, dtype=np.float64)
        counts += known.sum(axis=0)
    means = sums / np.maximum(counts, 1)
    for _, _, block in _blocks(values):
        squares += np.nansum((block - means) ** 2, axis=0)
    return 2 * float(np.mean(squares[counts > 0] / counts[counts > 0])) if counts.any() else 0.0


def _n_distinct(values: Any) -> int:
    """Return the number of distinct values, at most ``FINE_SCALE``."""
    found = np.empty(0)
    for _, _, block in _blocks(values):
        for start in range(0, len(block), max(1, len(block) // 8)):
            part = np.asarray(block[start : start + max(1, len(block) // 8)]).ravel()
            found = np.union1d(found, part[~np.isnan(part)])
            if len(found) >= FINE_SCALE:
                return FINE_SCALE
    return max(1, len(found))


def _row_differences(values: Any, i: np.ndarray, j: np.ndarray, limits: np.ndarray, absent: str) -> np.ndarray:
    """Return the mean squared differences of the rows of pairs, without the columns of the pair itself.

    Those that certainly exceed their limits may be smaller than they are.
    """
    out = np.empty(len(i))
    for start in range(0, len(i), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        if sparse.issparse(values):
            out[part] = _sparse_differences(values, i[part], j[part], absent)
        else:
            out[part] = _dense_differences(values, i[part], j[part], limits[part])
    return out


def _dense_differences(values: Any, i: np.ndarray, j: np.ndarray, limits: np.ndarray) -> np.ndarray:
    n = values.shape[0]
    totals, counts = np.zeros(len(i)), np.zeros(len(i), dtype=np.int64)
    left = np.arange(len(i))
    for start in range(0, n, _COLUMNS):
        columns = np.arange(start, min(n, start + _COLUMNS))
        ends = (values[places[left], start : start + _COLUMNS] for places in (i, j))
        squares = np.subtract(*ends, dtype=np.float64) ** 2
        own = (columns == i[left, None]) | (columns == j[left, None])
        known = ~(np.isnan(squares) | own)
        totals[left] += np.sum(squares, axis=1, where=known)
        counts[left] += known.sum(axis=1)
        left = left[totals[left] <= n * limits[left]]  # the others cannot get below their limits any more
    return totals / np.maximum(counts, 1)


def _sparse_differences(values: Any, i: np.ndarray, j: np.ndarray, absent: str) -> np.ndarray:
    n = values.shape[0]
    one, other = sparse.csr_array(values)[i], sparse.csr_array(values)[j]
    difference = one - other
    counts = np.full(len(i), n - 2)
    if absent != "zero":  # only columns that are known for both are compared
        both = _stored(one) * _stored(other)
        difference, counts = difference * both, np.asarray(both.sum(axis=1)).ravel()
    at = np.arange(len(i))
    own = sum(np.asarray(difference[at, k]).ravel() ** 2 for k in (i, j))
    return np.maximum(np.asarray(difference.power(2).sum(axis=1)).ravel() - own, 0.0) / np.maximum(counts, 1)


def _stored(S: Any) -> Any:
    return sparse.csr_array((np.ones(len(S.data)), S.indices, S.indptr), shape=S.shape)


def _typical(values: Any, apart: Any, distances: bool) -> float:
    """Return the median d of different samples, of all or of a million pairs drawn at random."""
    n = values.shape[0]
    if n < 2:
        return 0.0
    if sparse.issparse(values):
        if not distances and values.nnz < n * (n - 1) / 2:
            own = np.zeros(n), np.arange(n), np.arange(n)
            return float(np.median(apart(*own)))  # most pairs are absent, and count as 0
        rows = np.repeat(np.arange(n), np.diff(values.indptr))
        found = apart(values.data, rows, values.indices)[rows != values.indices]
    else:
        rng = np.random.default_rng(0)
        rows, columns = np.triu_indices(n, 1) if n * (n - 1) // 2 <= _PAIRS else rng.integers(0, n, (2, _PAIRS))
        found = apart(values[rows, columns], rows, columns)[rows != columns]
    found = found[~np.isnan(found)]
    return max(0.0, float(np.median(found))) if found.size else 0.0


def _links(values: Any, threshold: float, distances: bool) -> Any:
    """Return the sparse matrix of the pairs that reach the threshold."""
    places = []
    for rows, columns, block in _blocks(values):
        with np.errstate(invalid="ignore"):
            linked = block <= threshold if distances else block >= threshold
        places.append([np.broadcast_to(ends, linked.shape)[linked] for ends in (rows, columns)])
    i, j = (np.concatenate(part) for part in zip(*places))
    return _graph(i, j, values.shape[0])


def _graph(i: np.ndarray, j: np.ndarray, n: int) -> Any:
    """Return the sparse matrix of links from i to j."""
    return sparse.csr_matrix((np.ones(len(i), dtype=np.int8), (i, j)), shape=(n, n))


def _blocks(values: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the positions of rows and columns, and the values there: blocks of rows, or all stored entries."""
    n = values.shape[0]
    if sparse.issparse(values):
        yield np.repeat(np.arange(n), np.diff(values.indptr)), values.indices, values.data
        return
    step = max(1, _BLOCK // max(1, n))
    for start in range(0, n, step):
        block = values[start : start + step]
        yield np.arange(start, start + len(block))[:, None], np.arange(n)[None], block


def _same(groups: Any, n: int) -> Any:
    """Return links between the samples of each group: a chain in which each sample is linked with the next one."""
    groups = groups.to_numpy() if hasattr(groups, "to_numpy") else np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(f"groups must have one entry per sample ({n}); got an array of shape {groups.shape}.")
    if first_missing(groups) is not None:
        raise ValueError("groups contains a missing value; every sample needs a group.")
    try:
        _, codes = np.unique(groups, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"groups must all be of one type that can be sorted, such as int or str: {error}.") from error
    order = np.argsort(codes, kind="stable")
    together = codes[order[1:]] == codes[order[:-1]]
    return _graph(order[:-1][together], order[1:][together], n)
