"""Labels that spread on a graph of neighbours: the graph, and the equations of all points of a grid at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from similitude.numerics.topk import taken_sizes, top_k

_TOLERANCE = 1e-14
"""The norm of the residual, relative to that of the right-hand side, at which a system counts as solved."""
_NOTHING = 1e-12
"""Values of at most this are lost in the rounding errors of the others, and count as 0."""


def lowest(S: Any) -> float:
    """Return the similarity at which two samples have nothing in common: the smallest, and at most 0 if S is sparse."""
    if sparse.issparse(S):
        return float(min(S.data.min(initial=0.0), 0.0))
    return float(np.min(S))


def neighbor_weights(
    S: Any, sizes: list[int], kinds: list[str], low: float, *, square: bool
) -> list[sparse.csr_matrix]:
    """Return for each size and kind the weights of the neighbours of each row, (m, n).

    No tie is split (:func:`~similitude.numerics.topk.taken_sizes`), pairs at ``low`` are no neighbours, and a sample is
    none of its own if S is square. The kind is "uniform" or "affinity", which is s - low.
    """
    n = S.shape[1]
    if square:
        S = _without_diagonal(S)
    width = min(2 * max(sizes) + 1, n)
    values, indices = top_k(S, width)
    found = []
    taken = taken_sizes(values, np.minimum(np.asarray(sizes, dtype=np.intp), width), n)
    places = np.arange(width)
    for column, kind in zip(taken.T, kinds):
        used = (places < column[:, None]) & (values > low)
        rows = np.repeat(np.arange(len(values)), used.sum(axis=1))
        data = np.ones(len(rows)) if kind == "uniform" else values[used].astype(np.float64) - low
        found.append(sparse.csr_matrix((data, (rows, indices[used])), shape=(len(values), n)))
    return found


def _without_diagonal(S: Any) -> Any:
    if sparse.issparse(S):
        S = S.tocoo()
        others = S.row != S.col
        return sparse.csr_matrix((S.data[others], (S.row[others], S.col[others])), shape=S.shape)
    S = np.array(S, dtype=np.float32 if S.dtype == np.float32 else np.float64)
    np.fill_diagonal(S, -np.inf)
    return S


def scaled_graph(weights: sparse.csr_matrix) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return ``P = D^(-1/2) W D^(-1/2)`` of the graph of neighbours in either direction, and ``D^(-1/2)``.

    The factor of a sample without a neighbour is 0.
    """
    W = weights.maximum(weights.T).tocsr()
    degrees = np.asarray(W.sum(axis=1)).ravel()
    factors = np.zeros(len(degrees))
    np.divide(1.0, np.sqrt(degrees), out=factors, where=degrees > 0)
    D = sparse.diags(factors)
    return (D @ W @ D).tocsr(), factors


def spread(P: sparse.csr_matrix, Y: np.ndarray, alphas: list[float]) -> list[np.ndarray]:
    """Return the solutions F of ``(I - alpha P) F = Y`` for several alpha, each of which is above 0 and below 1.

    The systems ``(1 / alpha I - P) X = Y`` differ by multiples of the identity, so that the conjugate gradients of the
    one with the largest alpha serve all of them (multi-shift CG: Jegerlehner, hep-lat/9612014, 1996): a product with P
    for each step, whatever the number of alphas.
    """
    shifts = 1.0 / np.asarray(alphas)
    base = shifts.min()
    offsets = (shifts - base)[:, None]
    found = np.zeros((len(alphas), *Y.shape))
    columns = np.flatnonzero(np.any(Y != 0, axis=0))
    r = Y[:, columns].astype(np.float64)
    p, ps = r.copy(), np.repeat(r[None], len(alphas), axis=0)
    squares = first = np.sum(r * r, axis=0)
    now = before = np.ones((len(alphas), len(columns)))
    last_step, turn = np.ones(len(columns)), np.zeros(len(columns))
    while len(columns):
        q = base * p - P @ p
        step = -squares / np.sum(p * q, axis=0)
        after = now * before * last_step / (step * turn * (before - now) + before * last_step * (1 - offsets * step))
        steps = step * after / now
        found[:, :, columns] -= steps[:, None] * ps
        r = r + step * q
        new = np.sum(r * r, axis=0)
        turn = new / squares
        p = r + turn * p
        ps = after[:, None] * r + (turn * after * steps / (now * step))[:, None] * ps
        squares, last_step, before, now = new, step, now, after
        open_ = squares > _TOLERANCE**2 * first
        if not open_.all():
            columns, first, squares = columns[open_], first[open_], squares[open_]
            last_step, turn, now, before = last_step[open_], turn[open_], now[:, open_], before[:, open_]
            r, p, ps = r[:, open_], p[:, open_], ps[:, :, open_]
    found[found <= _NOTHING] = 0.0
    return [F / alpha for F, alpha in zip(found, alphas)]
