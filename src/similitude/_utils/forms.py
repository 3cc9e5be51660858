"""Matrices as other libraries hold them, recognised by what they offer and not by their type."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Form(NamedTuple):
    """A square matrix, and the names of its samples."""

    matrix: Any
    ids: list | None


def foreign_form(X: Any, *, distances: bool = False) -> Form | None:
    """Return the matrix and the ids of another library's object, or None if X is not such an object."""
    if is_graph(X):
        return Form(graph_matrix(X), list(X.nodes))
    if is_frame(X):
        return _reordered(X)
    if _is_distance_matrix(X):
        redundant = getattr(X, "redundant_form", None)
        return Form(np.asarray(X.data if redundant is None else redundant()), list(X.ids))
    if (isinstance(X, np.ndarray) or hasattr(X, "iloc")) and X.ndim == 1 and X.dtype.kind in "fiu":
        matrix = from_condensed(np.asarray(X), 0.0)
        if not distances:
            raise ValueError(
                f"X is a 1D array, the condensed vector of {len(matrix)} samples, which has no similarities of samples "
                "to themselves. For distances pass dissimilarity='max-minus' or another map; for similarities pass "
                "Proximities.from_condensed(X, diagonal=1.0)."
            )
        return Form(matrix, None)
    return None


def is_frame(X: Any) -> bool:
    """Return whether X is a DataFrame."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_graph(X: Any) -> bool:
    """Return whether X is a graph of networkx."""
    return all(hasattr(X, name) for name in ("nodes", "edges", "is_directed", "is_multigraph"))


def _is_distance_matrix(X: Any) -> bool:
    own = all(hasattr(X, name) for name in ("ids", "data", "shape", "filter"))
    return own and not hasattr(X, "iloc") and not hasattr(X, "similarities") and len(X.shape) == 2


def _reordered(frame: Any) -> Form | None:
    """Return a frame whose columns are in the order of its rows, or None if they are or are other samples.

    Numbers in the index are the same as their text in the header, which pandas reads as text.
    """
    rows, columns = list(frame.index), list(frame.columns)
    if rows == columns or len(rows) != len(columns):
        return None
    if set(rows) != set(columns):
        by_text = {str(name): name for name in rows}
        columns = [by_text.get(name, name) if isinstance(name, str) else name for name in columns]
    if set(rows) != set(columns):
        return None
    if len(set(rows)) < len(rows):
        twice = next(name for i, name in enumerate(rows) if name in rows[:i])
        raise ValueError(f"X: {twice!r} names several rows, so rows and columns cannot be matched by their names.")
    place = {name: j for j, name in enumerate(columns)}
    return Form(frame.iloc[:, [place[name] for name in rows]], None)


def graph_matrix(graph: Any) -> Any:
    """Return the weights of the edges of a networkx graph as a CSR matrix in the order of its nodes."""
    if graph.is_multigraph():
        raise ValueError(
            "X is a multigraph, with several edges between two nodes; convert it to a graph with one edge per pair."
        )
    places = {node: i for i, node in enumerate(graph.nodes)}
    edges = list(graph.edges(data="weight", default=1.0))
    rows = np.fromiter((places[a] for a, _, _ in edges), dtype=np.int64, count=len(edges))
    columns = np.fromiter((places[b] for _, b, _ in edges), dtype=np.int64, count=len(edges))
    weights = np.fromiter((weight for _, _, weight in edges), dtype=np.float64, count=len(edges))
    if not graph.is_directed():
        other = rows != columns
        rows, columns = np.append(rows, columns[other]), np.append(columns, rows[other])
        weights = np.append(weights, weights[other])
    return sparse.csr_matrix((weights, (rows, columns)), shape=(len(places), len(places)))


def condensed_size(length: int) -> int | None:
    """Return the number n of samples with n (n - 1)/2 = length pairs, or None if there is none."""
    n = int((1 + np.sqrt(1 + 8 * length)) / 2)
    return n if length and n * (n - 1) // 2 == length else None


def from_condensed(values: np.ndarray, diagonal: float) -> np.ndarray:
    """Return the square matrix of a condensed vector."""
    n = condensed_size(len(values))
    if n is None:
        raise ValueError(
            f"X is a 1D array of {len(values)} numbers, but a matrix is needed. A condensed vector of n samples has "
            "n (n - 1)/2 entries, and there is no such n; one row must have two dimensions: X.reshape(1, -1)."
        )
    matrix = np.full((n, n), diagonal, dtype=np.float32 if values.dtype == np.float32 else np.float64)
    upper = np.triu_indices(n, 1)
    matrix[upper] = values
    matrix.T[upper] = values
    return matrix
