"""A similarity forest, which was tried as a method of our own and left out: see the page of the arena.

Each split draws pairs of samples (i, j) of different classes of the node, projects every sample x of the node on
S[x, i] - S[x, j], and takes the pair and the threshold of lowest Gini impurity.

Reference: Sathe & Aggarwal, "Similarity forests", KDD 2017.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

N_TREES = 200
N_PAIRS = 3
"""The number of pairs that are tried at each node."""


class _Node(NamedTuple):
    """A node of a tree: a leaf with posteriors, or a split."""

    posterior: np.ndarray
    pair: tuple[int, int] = (0, 0)
    threshold: float = 0.0
    below: Any = None
    above: Any = None


def forest_posteriors(S: np.ndarray, codes: np.ndarray, rows: np.ndarray, n_classes: int, seed: int) -> np.ndarray:
    """Return the mean of the posteriors that the trees predict for the rows, an array of shape (m, G).

    Parameters
    ----------
    S : ndarray of shape (n, n)
        The similarities of the training samples.
    codes : ndarray of int of shape (n,)
        The positions of their classes.
    rows : ndarray of shape (m, n)
        The similarities of new samples to the training samples.
    n_classes : int
        The number of classes, G.
    seed : int
        The random state.

    Returns
    -------
    ndarray of shape (m, G)
        The posteriors.
    """
    rng = np.random.RandomState(seed)
    members = np.eye(n_classes)[codes]
    total = np.zeros((len(rows), n_classes))
    for _ in range(N_TREES):
        _add(_grown(S, codes, members, np.arange(len(codes)), rng), rows, np.arange(len(rows)), total)
    return total / N_TREES


def _grown(S: np.ndarray, codes: np.ndarray, members: np.ndarray, inside: np.ndarray, rng: Any) -> _Node:
    counts = members[inside].sum(axis=0)
    leaf = _Node(counts / len(inside))
    if counts.max() == len(inside):
        return leaf
    best, found = -np.inf, None
    for _ in range(N_PAIRS):
        i = rng.choice(inside)
        j = rng.choice(inside[codes[inside] != codes[i]])
        values = S[inside, i] - S[inside, j]
        order = np.argsort(values, kind="stable")
        cuts = np.flatnonzero(np.diff(values[order]) > 0)
        if not len(cuts):
            continue
        left = np.cumsum(members[inside[order]], axis=0)[cuts]
        sizes = cuts + 1
        purity = np.sum(left**2, axis=1) / sizes + np.sum((counts - left) ** 2, axis=1) / (len(inside) - sizes)
        k = int(np.argmax(purity))
        if purity[k] > best:
            best, cut = purity[k], order[: cuts[k] + 1]
            middle = float(np.mean(values[order][cuts[k] : cuts[k] + 2]))
            found = (int(i), int(j)), middle, np.isin(np.arange(len(inside)), cut)
    if found is None:
        return leaf
    pair, threshold, below = found
    low, high = (_grown(S, codes, members, inside[side], rng) for side in (below, ~below))
    return leaf._replace(pair=pair, threshold=threshold, below=low, above=high)


def _add(node: _Node, rows: np.ndarray, inside: np.ndarray, total: np.ndarray) -> None:
    """Add the posteriors of the leaves that the rows reach."""
    if node.below is None:
        total[inside] += node.posterior
        return
    low = rows[inside, node.pair[0]] - rows[inside, node.pair[1]] <= node.threshold
    _add(node.below, rows, inside[low], total)
    _add(node.above, rows, inside[~low], total)
