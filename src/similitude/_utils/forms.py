"""Matrices as other libraries hold them, recognised by what they offer and not by their type."""

from __future__ import annotations

from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Form(NamedTuple):
    """A square matrix, and the names of its samples.

    Parameters
    ----------
    matrix : ndarray, DataFrame or CSR matrix of shape (n, n)
        The matrix.
    ids : list or None
        The names.
    """

    matrix: Any
    ids: list | None


def foreign_form(X: Any, *, distances: bool = False) -> Form | None:
    """Return the matrix and the ids of another library's object, or None if X is not such an object.

    Parameters
    ----------
    X : object
        A ``DistanceMatrix`` of scikit-bio, a graph of networkx, a condensed vector such as that of SciPy's ``pdist``,
        or a square DataFrame whose rows and columns are the same samples in different orders.
    distances : bool, default=False
        Whether the values are distances, so that those of a sample to itself are 0.

    Returns
    -------
    Form or None
        The matrix and the ids.
    """
    if is_graph(X):
        return Form(graph_matrix(X), list(X.nodes))
    if is_frame(X):
        return _reordered(X)
    if _is_distance_matrix(X):
        redundant = getattr(X, "redundant_form", None)
        return Form(np.asarray(X.data if redundant is None else redundant()), list(X.ids))
    if (isinstance(X, np.ndarray) or hasattr(X, "iloc")) and X.ndim == 1 and X.dtype.kind in "fiu":
        return Form(_from_condensed(np.asarray(X), distances), None)
    return None


def is_frame(X: Any) -> bool:
    """Return whether X is a DataFrame.

    Parameters
    ----------
    X : object
        The object.

    Returns
    -------
    bool
        Whether it has columns and an index.
    """
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_graph(X: Any) -> bool:
    """Return whether X is a graph of networkx.

    Parameters
    ----------
    X : object
        The object.

    Returns
    -------
    bool
        Whether it has nodes and edges.
    """
    return all(hasattr(X, name) for name in ("nodes", "edges", "is_directed", "is_multigraph"))


def _is_distance_matrix(X: Any) -> bool:
    own = all(hasattr(X, name) for name in ("ids", "data", "shape", "filter"))
    return own and not hasattr(X, "iloc") and not hasattr(X, "similarities") and len(X.shape) == 2


def _reordered(frame: Any) -> Form | None:
    """Return a frame whose columns are in the order of its rows, or None if they are or are other samples."""
    rows, columns = list(frame.index), list(frame.columns)
    if rows == columns or len(rows) != len(columns) or set(rows) != set(columns):
        return None
    if len(set(rows)) < len(rows):
        twice = next(name for i, name in enumerate(rows) if name in rows[:i])
        raise ValueError(f"X: {twice!r} names several rows, so that rows and columns cannot be matched by their names.")
    return Form(frame[rows], None)


def graph_matrix(graph: Any) -> Any:
    """Return the weights of the edges of a networkx graph as a CSR matrix in the order of its nodes.

    Parameters
    ----------
    graph : networkx graph
        The graph; an edge without the attribute ``weight`` has the weight 1.

    Returns
    -------
    CSR matrix of shape (n, n)
        The weights.
    """
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
    """Return the number n of samples with n (n - 1)/2 = length pairs, or None if there is none.

    Parameters
    ----------
    length : int
        The number of pairs.

    Returns
    -------
    int or None
        The number of samples.
    """
    n = int((1 + np.sqrt(1 + 8 * length)) / 2)
    return n if length and n * (n - 1) // 2 == length else None


def from_condensed(values: np.ndarray, diagonal: float) -> np.ndarray:
    """Return the square matrix of a condensed vector.

    Parameters
    ----------
    values : ndarray of shape (n (n - 1)/2,)
        The values above the diagonal, row by row.
    diagonal : float
        The value of a sample with itself.

    Returns
    -------
    ndarray of shape (n, n)
        The symmetric matrix.
    """
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


def _from_condensed(values: np.ndarray, distances: bool) -> np.ndarray:
    matrix = from_condensed(values, 0.0)
    if not distances:
        raise ValueError(
            f"X is a 1D array, the condensed vector of {len(matrix)} samples, which has no similarities of samples to "
            "themselves. For distances pass dissimilarity='max-minus' or another map; for similarities pass "
            "Proximities.from_condensed(X, diagonal=1.0)."
        )
    return matrix


def ids_of(X: Any) -> np.ndarray | None:
    """Return the names of the samples, or None if they have none.

    Parameters
    ----------
    X : object
        Proximities, a DataFrame, a graph, a ``DistanceMatrix``, a dict whose first DataFrame counts, or anything else.

    Returns
    -------
    ndarray of object or None
        The names.
    """
    ids: Any = None
    if isinstance(X, dict) and not hasattr(X, "shape"):  # one of SciPy's sparse matrices is a dict
        X = next((value for value in X.values() if is_frame(value)), None)
    if is_graph(X):
        ids = list(X.nodes)
    elif is_frame(X):
        # pandas numbers rows that have no names of their own.
        ids = None if type(X.index).__name__ == "RangeIndex" else list(X.index)
    elif hasattr(X, "ids") and hasattr(X, "shape"):
        ids = X.ids
    if ids is None:
        return None
    found = np.empty(len(ids), dtype=object)
    found[:] = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    return found


def labels_in_order(y: Any, X: Any, name: str = "y") -> Any:
    """Return labels in the order of the samples, if they have the names of the samples; otherwise y itself.

    Parameters
    ----------
    y : array-like, Series or dict
        The labels; those of a dict belong to its keys, and those of a Series whose index contains names of samples to
        its index.
    X : samples
        The samples.
    name : str, default="y"
        The name of the argument in error messages.

    Returns
    -------
    array-like
        The labels.
    """
    is_dict = isinstance(y, dict)
    if not is_dict and not (hasattr(y, "index") and hasattr(y, "iloc") and not hasattr(y, "columns")):
        return y
    ids = ids_of(X)
    if ids is None:
        if is_dict:
            raise ValueError(
                f"{name} is a dict, but the samples have no ids; pass Proximities(X, ids=...) or a DataFrame."
            )
        return y
    names = list(y) if is_dict else list(y.index)
    if names == ids.tolist():
        return np.array(list(y.values())) if is_dict else y
    values = dict(zip(names, y.values() if is_dict else y.tolist()))
    known = set(ids.tolist())
    # A Series of other samples, or one that pandas numbered, is taken by its places, as scikit-learn does.
    if not is_dict and (not known & set(names) or (set(names) != known and _are_numbers(names))):
        return y
    if len(values) < len(names):
        twice = next(own for i, own in enumerate(names) if own in names[:i])
        raise ValueError(f"{name} has several labels for {twice!r}.")
    strange, missing = [n for n in names if n not in known], [i for i in ids.tolist() if i not in values]
    if strange or missing:
        what = f"labels for {_some(strange)}, which X does not hold" if strange else f"no label for {_some(missing)}"
        raise ValueError(f"{name} is matched to the samples by their ids, and has {what}.")
    return np.array([values[own] for own in ids.tolist()])


def _are_numbers(names: list) -> bool:
    return all(isinstance(name, Number) for name in names)


def _some(names: list) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
