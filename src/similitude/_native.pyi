"""
The compiled functions of similitude; the packages call them, and they know nothing of estimators.
"""

from collections.abc import Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


@overload
def collect_best(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def collect_best(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], thresholds: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the columns of the k largest values of each row into ``columns``, ascending.
    """

def class_totals(labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], beyond: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """
    Write the sums of the neighbours' weights per class at each size into ``totals``; equally similar ones share the last places.
    """

@overload
def tied_classes(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def tied_classes(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write how many columns of each class are equal to the value of their row into ``counts``.
    """

def class_sums(labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """Add the weights per class of each of several weightings to ``totals``."""

def break_ties(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tolerance: float, winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the best class of each row and place of a grid into ``winners``; of tied classes the one with the most similar neighbour, then the larger one.
    """

def one_vs_one_rows(decisions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], later: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], first_of_tied: bool, scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the scores of the classes of each row, from votes of pairs of classes.
    """

def testing_factor(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], share: float, ridge: float, least: float, n: int, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], signs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Factor at most n rows of ``A + diag(share * A_ii + ridge)`` into U; return how many were factored.
    """

def testing_forward(U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n: int, y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Solve ``U^T x = y`` in place."""

def machine_path(K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], exponent: int, semidefinite: bool, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], objectives: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], gaps: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], steps: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Solve the support vector machines of all pairs of classes for ascending ``costs``.
    """

def testing_backward(U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n: int, z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Solve ``U x = z`` in place."""

class EdgeLines:
    """Reads an edge list from blocks of whole lines of text."""

    def __init__(self, delimiter: bytes, query: int, target: int, score: int, width: int, line: int) -> None:
        """
        Take the delimiter, the columns (from 0) of the ends and the score, the number of cells in a line, and the number of lines before the first.
        """

    def read(self, block: bytes, queries: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], targets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
        """
        Write the ends of the edges as positions in ``names()``, and their scores; return their number.
        """

    def names(self, first: int = 0) -> list:
        """
        Return the names of the samples in the order of their first appearance, from this position on.
        """

@overload
def offer(block: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], places: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def offer(block: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], places: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Update the k best columns of a few rows with the columns ``first, first + 1, ...`` of a block.
    """

@overload
def offer_counting(block: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], places: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], beyond: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def offer_counting(block: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], places: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], beyond: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Do the same, and count the columns that are left out although they equal the k-th best, by class.
    """

def insert_neighbors(rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nearest: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], closeness: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], fresh: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Insert each column into the list of its row if it is close enough; return how many were inserted.
    """

def both_directions(nearest: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], fresh: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], new: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write each sample's neighbours, then the samples whose neighbour it is, into ``links``.
    """

def propose_neighbors(links: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], new: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], nearest: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, proposed: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the neighbours' neighbours with the most similar codes, reached by a fresh link, into
    ``proposed``.
    """

def walk_graph(pool: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], waiting: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')], edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], steps: int, visited: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu')], found: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Write the unvisited neighbours of each row's best waiting samples into ``found``; return how many.
    """

@overload
def weigh_candidates(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], unit: float, start: int, stop: int, errors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def weigh_candidates(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], unit: float, start: int, stop: int, errors: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Add to ``errors`` and ``totals`` what all samples contribute if each candidate became a prototype.
    """

@overload
def take_prototype(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], j: int, best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

@overload
def take_prototype(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], j: int, best: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Make sample j a prototype: update the nearest prototypes of all samples.
    """

def orthonormalize(tangents: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], bases: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """
    Write orthonormal bases of the spans of the tangents of each image into ``bases``.
    """

def two_sided_tangent(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bases_x: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bases_z: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], spring: float, same: bool, start: int, stop: int, squares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the rows from ``start`` to ``stop`` of the squares of two-sided tangent distances.
    """

def one_sided_tangent(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Z: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bases_z: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], spring: float, start: int, stop: int, squares: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the rows from ``start`` to ``stop`` of the squares of one-sided tangent distances.
    """

def elastic_distances(measure: str, parameters: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], window: float, channels: int, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], x_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], z_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], half: bool, keep: int, start: int, stop: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the rows from ``start`` to ``stop`` of the distances between the series of ``x`` and ``z``.
    """

@overload
def neighbor_weights(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: str, spectrum: str, consistent: bool, restarts: int, shares: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def neighbor_weights(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: str, spectrum: str, consistent: bool, restarts: int, shares: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def neighbor_weights(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: str, spectrum: str, consistent: bool, restarts: int, shares: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def neighbor_weights(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: str, spectrum: str, consistent: bool, restarts: int, shares: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def neighbor_weights(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: str, spectrum: str, consistent: bool, restarts: int, shares: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def neighbor_weights(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], regs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: str, spectrum: str, consistent: bool, restarts: int, shares: bool, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int:
    """
    Write the weights of the neighbours of each row, (m, sizes, regs, k), into ``weights``; return how many problems were not solved.
    """

@overload
def local_machines(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, spectra: Sequence[str], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def local_machines(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, spectra: Sequence[str], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def local_machines(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, spectra: Sequence[str], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def local_machines(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, spectra: Sequence[str], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def local_machines(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, spectra: Sequence[str], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int: ...

@overload
def local_machines(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_classes: int, spectra: Sequence[str], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> int:
    """
    Write the scores of the machines on the neighbours of each row, (m, spectra * sizes, costs, 1 or G), into ``scores``; return how many machines were not solved.
    """

def testing_simplex_programs(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], s: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reg: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Write the minimisers of ``w^T (A + reg I) w / 2 - s^T w`` on the simplex into ``weights``; return how many programs were not solved.
    """

def testing_one_machine(K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], C: float, steps: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[bool, float]:
    """
    Write the variables of a support vector machine and K beta; return whether it was solved, and the offset.
    """

def testing_machine_decisions(K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ratio: float, exponent: int, costs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Write the decision values of a row at the wanted C into ``values``; return how many machines were not solved.
    """

@overload
def nearest_centroids(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: float, tolerance: float, winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def nearest_centroids(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: float, tolerance: float, winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the class of the most similar local centroid of each row and size into ``winners``.
    """

@overload
def nearest_centroids_csr(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: float, tolerance: float, winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def nearest_centroids_csr(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: float, tolerance: float, winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def nearest_centroids_csr(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: float, tolerance: float, winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def nearest_centroids_csr(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], share: float, tolerance: float, winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the same as ``nearest_centroids``, from a CSR matrix with ascending columns.
    """

@overload
def mean_distances(samples: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def mean_distances(samples: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the distances from each row to the mean of its nearest samples, at each size.
    """

def tabulate_partition(distances: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: bool, floor: float, log_means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], centres: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], widths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Write the Taylor series of log Z into the arrays of a table; return the number of intervals.
    """

def solve_max_entropy(below: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], above: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], floor: float, atoms: bool, lower: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], upper: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], from_above: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the maximum-entropy distributions with the given mean distances from the two ends of Omega.
    """

def log_average_products(below: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], present: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], from_above: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], empty: float, totals: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add the logarithms of averages of distributions, over the classes that are present, to ``totals``.
    """

def recurrences(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], jacobi: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """
    Write the Jacobi matrices of groups of ascending values into ``jacobi``, which must be zero.
    """

def keep_distinct(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], limit: float) -> int:
    """
    Move those of ascending values that are more than ``limit`` apart to the front; return their number.
    """

def fit_mixture(below: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], floor: float, atoms: bool, lower: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], upper: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]], tol: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], log_z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], from_above: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], history: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Fit a mixture of maximum-entropy distributions; return the number of steps.
    """

@overload
def local_statistics(S: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, tolerance: float, low: float, high: float, span: float, rounding: float, centroids: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def local_statistics(S: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, tolerance: float, low: float, high: float, span: float, rounding: float, centroids: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
    """
    Write the centroids and the class means in the neighbourhood of each row, at each size.
    """

@overload
def local_statistics_csr(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, tolerance: float, low: float, high: float, span: float, rounding: float, centroids: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def local_statistics_csr(data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, tolerance: float, low: float, high: float, span: float, rounding: float, centroids: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def local_statistics_csr(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, tolerance: float, low: float, high: float, span: float, rounding: float, centroids: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def local_statistics_csr(data: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, tolerance: float, low: float, high: float, span: float, rounding: float, centroids: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None, None), order='C', device='cpu')], winners: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')], above: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')]) -> None:
    """
    Write the same as ``local_statistics``, from a CSR matrix with ascending columns.
    """

def negative_squares(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the negative squared distances of all rows from all columns into ``out``.
    """

def log_densities(samples: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], nearest: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], constants: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], ridge: float, logs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the log-densities of the rows under the models of their neighbours into ``logs``.
    """

def rank_one(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shifts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], vectors: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Decompose ``diag(values) + z z^T``: write the changes of the eigenvalues into ``shifts``, and the eigenvectors into the rows of ``vectors``.
    """

def solve_dual(K: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: float, low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: int, beta: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], h: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Move a feasible ``beta``, with ``h = K beta``, to the solution of the dual of a support vector machine; return whether so many steps were enough. ``size`` is the largest ``|K|``.
    """

def lasso_sweep(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], squares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], epsilon: float, bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sweeps: int, a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> float:
    """
    Minimise a lasso problem in a box along each coordinate in turn; ``a`` and ``r = y - A a`` are changed.

    Returns the largest change of r by one coefficient in the last sweep.
    """

def lasso_active_set(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], G: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], epsilon: float, bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], budget: int, slides: int, free: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, float]:
    """
    Move ``a`` to the optimum of a lasso problem in a box, by Newton's method on the free coefficients.

    Returns the number of factorisations, negative if the optimum was not reached within ``budget`` of
    them and ``slides`` of those that end at a dependent column, and the smallest square of what is left
    of a free column, relative to its own.
    """

def testing_factor_columns(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], G: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Factor the products of some columns into ``U^T U``, up to the first that depends on those before it.

    Returns the position of that column, for which ``x`` then holds the combination, or their number.
    """

def margin_program(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], price: float, steps: int, states: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Solve the dual of the linear program of an LP machine by the simplex method: write whether each alpha,
    each r and e is at its lower (-1) or upper bound (1), or between them (0).

    Returns the number of steps, at most ``steps``.
    """

@overload
def boost(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_positive: int, uniforms: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], real: bool, start: float, slope: float, least: int, shift: int, table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: bool, n_buckets: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def boost(columns: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_positive: int, uniforms: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], real: bool, start: float, slope: float, least: int, shift: int, table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: bool, n_buckets: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Run one round of boosting for each of ``uniforms``, and fill ``pairs``, ``cuts`` and ``outputs``; ``weights`` change.
    """

@overload
def boost_all(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_positive: int, n_plus: int, real: bool, start: float, slope: float, least: int, shift: int, table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: bool, n_buckets: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def boost_all(columns: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_positive: int, n_plus: int, real: bool, start: float, slope: float, least: int, shift: int, table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: bool, n_buckets: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Run rounds of boosting that search all pairs of the first ``n_plus`` rows of ``columns`` with the others, and fill ``pairs``, ``cuts`` and ``outputs``; ``weights`` change.
    """

@overload
def boost_among(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_positive: int, candidates: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], real: bool, start: float, slope: float, least: int, shift: int, table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: bool, n_buckets: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def boost_among(columns: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_positive: int, candidates: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], real: bool, start: float, slope: float, least: int, shift: int, table: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], atoms: bool, n_buckets: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Run rounds of boosting that search the pairs ``candidates`` of rows of ``columns``, and fill ``pairs``, ``cuts`` and ``outputs``; ``weights`` change.
    """

@overload
def decide(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], stages: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], decisions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

@overload
def decide(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], pairs: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cuts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], outputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], stages: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], decisions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the sums of outputs after the first ``stages`` rounds, added to ``totals``, into ``decisions``.
    """

def grow_trees(similarities: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, n_candidates: int, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], kinds: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], first: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], exemplars: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], gains: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Grow one tree of exemplars for each of ``seeds``; ``sizes`` become the numbers of nodes, and ``gains``, which must be 0, the decreases of the Gini impurity by each similarity.
    """

def vote_trees(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], kinds: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], exemplars: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], votes: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add the votes of the trees, whose nodes begin at ``starts``, to ``votes``.
    """
