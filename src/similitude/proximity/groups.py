"""Groups of samples that are so similar that they must not be on both sides of a split."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from similitude.proximity.check import read_similarity
from similitude.proximity.proximities import as_proximities

if TYPE_CHECKING:
    from similitude._utils.types import ListLike, ProximityLike

NEAR = 0.05
"""Samples are near-duplicates if their dissimilarity is at most this share of the median one."""
_LARGE_GROUP = 10
_HALVINGS = 8
_BLOCK = 2**22
_PAIRS = 2**20


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
    different samples. Where samples lie so close together that this links more than a tenth of them (and more than ten)
    into one group, the share is halved until it does not; in the end only duplicates are linked. Unknown pairs, and
    pairs that a sparse matrix does not store, are not linked.

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
    given = as_proximities(S, distances=distances)
    values, _ = read_similarity(given.S, orientation="any", takes_nan=True)
    n = values.shape[0]
    links = _links(values, _beyond(float(threshold), distances)) if is_number else _near_links(values, distances)
    if groups is not None:
        links = links + _same(groups, n)
    return _in_order(_components(links))


def _components(links: Any) -> np.ndarray:
    return connected_components(links, directed=True, connection="weak")[1]


def _beyond(threshold: float, distances: bool) -> Any:
    def link(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return values <= threshold if distances else values >= threshold

    return link


def _near_links(values: Any, distances: bool) -> Any:
    """Return the links between near-duplicates, which make no group of more than a tenth of the samples."""
    near = _near(values, distances)
    for share in [*(NEAR / 2**i for i in range(_HALVINGS)), 0.0]:
        links = _links(values, near(share))
        if np.bincount(_components(links)).max() <= max(_LARGE_GROUP, values.shape[0] / 10):
            break
    return links


def _near(values: Any, distances: bool) -> Any:
    """Return a function of a share of the median d that gives a function which tells whether pairs are linked."""
    n = values.shape[0]
    own = np.asarray(values.diagonal(), dtype=np.float64)
    if sparse.issparse(values) and not own.any() and not distances:
        own = np.full(n, float(values.data.max()) if values.nnz else 0.0)  # no sample is stored with itself
    own = np.where(np.isnan(own), np.nanmax(own) if not np.isnan(own).all() else 0.0, own)

    def apart(block: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return block if distances else own[rows] / 2 + own[columns] / 2 - block

    typical = _typical(values, apart, own, distances)

    def near(share: float) -> Any:
        def link(block: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
            scale = np.abs(own[rows]) / 2 + np.abs(own[columns]) / 2 if not distances else typical
            return apart(block, rows, columns) <= share * typical + 1e-12 * scale  # equal up to rounding

        return link

    return near


def _typical(values: Any, apart: Any, own: np.ndarray, distances: bool) -> float:
    """Return the median d of different samples, of all or of a million pairs drawn at random."""
    n = values.shape[0]
    if n < 2:
        return 0.0
    if sparse.issparse(values):
        if not distances and values.nnz < n * (n - 1) / 2:
            return float(np.median(own))  # most pairs are absent
        rows = np.repeat(np.arange(n), np.diff(values.indptr))
        found = apart(values.data, rows, values.indices)[rows != values.indices]
    else:
        rng = np.random.default_rng(0)
        rows, columns = np.triu_indices(n, 1) if n * (n - 1) // 2 <= _PAIRS else rng.integers(0, n, (2, _PAIRS))
        found = apart(values[rows, columns], rows, columns)[rows != columns]
    found = found[~np.isnan(found)]
    return max(0.0, float(np.median(found))) if found.size else 0.0


def _links(values: Any, link: Any) -> Any:
    """Return the sparse matrix of the linked pairs."""
    n = values.shape[0]
    if sparse.issparse(values):
        rows = np.repeat(np.arange(n), np.diff(values.indptr))
        kept = np.flatnonzero(link(values.data, rows, values.indices))
        places = [(rows[kept], values.indices[kept])]
    else:
        places, step = [], max(1, _BLOCK // max(1, n))
        columns = np.arange(n)[None]
        for start in range(0, n, step):
            block = values[start : start + step]
            rows = np.arange(start, start + len(block))[:, None]
            with np.errstate(invalid="ignore"):
                i, j = np.nonzero(link(block, rows, columns))
            places.append((i + start, j))
    i, j = (np.concatenate(part) for part in zip(*places))
    return sparse.csr_matrix((np.ones(len(i), dtype=np.int8), (i, j)), shape=(n, n))


def _same(groups: Any, n: int) -> Any:
    """Return links between the samples of each group: a chain in which each sample is linked with the next one."""
    groups = groups.to_numpy() if hasattr(groups, "to_numpy") else np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(f"groups must have one entry per sample ({n}); got an array of shape {groups.shape}.")
    try:
        _, codes = np.unique(groups, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"groups must all be of one type that can be sorted, such as int or str: {error}.") from error
    order = np.argsort(codes, kind="stable")
    together = codes[order[1:]] == codes[order[:-1]]
    i, j = order[:-1][together], order[1:][together]
    return sparse.csr_matrix((np.ones(len(i), dtype=np.int8), (i, j)), shape=(n, n))


def _in_order(components: np.ndarray) -> np.ndarray:
    _, first, codes = np.unique(components, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]
