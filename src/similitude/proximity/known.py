"""How much of a matrix is known, and how its samples are connected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


class KnownPairs(NamedTuple):
    """How many pairs of different samples have a value."""

    known: int
    possible: int
    components: int
    largest: int
    lonely: int


def known_pairs(S: Any) -> KnownPairs:
    """Return how many pairs of a square matrix have a value.

    Parameters
    ----------
    S : ndarray or sparse matrix of shape (n, n)
        The matrix; unknown pairs are NaN, or not stored.

    Returns
    -------
    KnownPairs
        The counts.

    See Also
    --------
    similitude.diagnose : Return figures that describe a similarity matrix, and advice that follows from them.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from similitude.proximity import known_pairs
    >>> known_pairs(sparse.csr_array(np.diag([1.0, 1.0, 1.0, 1.0]) + np.diag([0.5, 0, 0], 1)))
    KnownPairs(known=1, possible=6, components=3, largest=2, lonely=2)
    """
    n = S.shape[0]
    if sparse.issparse(S):
        entries = S.tocoo()
        known = (entries.row != entries.col) & ~np.isnan(entries.data)
        ends: Any = (entries.row[known], entries.col[known])
    else:
        known = ~np.isnan(np.asarray(S))
        np.fill_diagonal(known, False)
        ends = np.nonzero(known)
    graph = sparse.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    graph = ((graph + graph.T) > 0).tocsr()
    count, which = connected_components(graph, directed=False)
    lonely = int((np.diff(graph.indptr) == 0).sum())
    return KnownPairs(graph.nnz // 2, n * (n - 1) // 2, int(count), int(np.bincount(which).max()), lonely)
