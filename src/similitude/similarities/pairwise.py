"""The engine that fills matrices with the values of a similarity function."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.checks import check_integer
from similitude._utils.forms import foreign_form
from similitude._utils.progress import progress as with_progress
from similitude._utils.scikit_learn import safe_indexing
from similitude._utils.types import SamplesLike
from similitude.similarities._blocks import (
    WAITING_BYTES,
    Block,
    Grid,
    Places,
    Task,
    can_travel,
    default_length,
    evaluated,
    worker_count,
)
from similitude.similarities.fingerprint import fingerprint, fingerprint_of_measure
from similitude.similarities.journal import DiskMatrix, store
from similitude.similarities.registry import Measure, SimilarityLike, resolve


def pairwise(
    A: SamplesLike,
    B: SamplesLike | None = None,
    similarity: SimilarityLike = "counting",
    *,
    out: np.ndarray | str | os.PathLike | None = None,
    n_jobs: int | None = None,
    block_size: int | None = None,
    progress: bool = False,
) -> np.ndarray:
    """Return the matrix of the similarities or dissimilarities between two sequences of objects.

    The values are those of the function, which are not converted. The matrix is computed in blocks of rows and columns.
    If B is None and the function is symmetric, the blocks below the diagonal are mirrored. A value must depend only on
    its two objects, not on the others in the same batch.

    Parameters
    ----------
    A, B : sequences of objects
        Lists, tuples, arrays, Series, or the rows of a DataFrame, array or sparse matrix. If B is None, the square
        matrix of A with itself is computed; a symmetric function is then evaluated on half of the pairs.
    similarity : str, callable or Measure, default="counting"
        A registered name, a callable on two objects, or one marked with
        :func:`~similitude.similarities.batch`. An object that learns from data must have been fitted. "precomputed"
        means that A is a matrix of another library (scikit-bio's ``DistanceMatrix``, a networkx graph, a condensed
        vector of distances, a DataFrame, a sparse matrix), which is returned as an array or CSR matrix.
    out : array or path, default=None
        A float32 or float64 array of the right shape is filled in place. A path that ends in ".npy" is filled on disk
        and returned as a read-only memory map; if the run is interrupted, or the function fails, the same call
        continues where it stopped (the files ``<out>.part`` and ``<out>.journal`` hold all that this needs; at the end
        the first gets its name, and the second is removed). A call with other objects, another measure or other
        parameters is then refused with a ValueError, a file that is complete with a FileExistsError, and a second run
        at the same time with a ValueError.
    n_jobs : int, default=None
        The number of blocks that are computed at the same time: in threads if the measure releases the GIL, otherwise
        in processes. None means 1 and -1 means all cores; inside a joblib worker it is always 1.
    block_size : int, default=None
        The number of rows and columns of a block. None means an eighth of the longer side, but at least 128 and at most
        1024 for functions on batches (16 and 128 for callables on two objects). If none of ``out``, ``n_jobs`` and
        ``progress`` requires blocks, a function on batches gets larger ones: up to 4096 objects in one call, or, where
        half of the blocks can be left out, up to 1024 objects and then blocks of 512 to 1024. A resumed run keeps its
        block size. Unfinished blocks are lost when a run is interrupted, so choose a small size if the function takes
        as long as a second for two objects.
    progress : bool, default=False
        Whether progress over the blocks is shown on stderr: a bar on a terminal, a line every ten seconds elsewhere.

    Returns
    -------
    ndarray of shape (len(A), len(B))
        The values, in float32 if a function on batches returns that for every block, otherwise in float64. On disk the
        first block determines the type.

    Raises
    ------
    ValueError
        If the function raises an error, or returns something that is not finite, not real or not of the right shape.
        The message names the objects by their positions in A and B.

    See Also
    --------
    Measure : A similarity or dissimilarity function on raw objects, with its known properties.
    names : Return the registered names in alphabetical order.
    similitude.distributed.pairwise : Return the matrix of ``pairwise`` as a Dask array, computed block by block.

    Examples
    --------
    >>> from similitude.similarities import pairwise
    >>> pairwise([("red", "round"), ("red", "square")], similarity="counting")
    array([[2., 1.],
           [1., 2.]])
    >>> pairwise([1.0, 2.0, 4.0], [1.0, 3.0], similarity=lambda a, b: abs(a - b))
    array([[0., 2.],
           [1., 1.],
           [3., 1.]])
    """
    if isinstance(similarity, str) and similarity == "precomputed":
        return _given_matrix(A, B)
    measure = _checked_measure(similarity)
    same = B is None
    A = check_sequence(A, "A")
    B = A if same else check_sequence(B, "B")
    shape = (_count(A), _count(B))
    if 0 in shape:
        raise ValueError(f"A and B must not be empty; got {shape[0]} and {shape[1]} objects.")
    half = same and measure.symmetric
    n_jobs = worker_count(n_jobs)
    length = check_block_size(block_size)
    target: Any
    if isinstance(out, (str, os.PathLike)):
        target = DiskMatrix(out, shape, half, fingerprint(A, None if same else B), fingerprint_of_measure(measure))
    else:
        target = MatrixInMemory(out, shape, half)
        if any(
            isinstance(out, np.ndarray) and isinstance(X, np.ndarray) and np.may_share_memory(out, X) for X in (A, B)
        ):
            raise ValueError("out must not share its memory with A or B, because they are read while it is filled.")
    with closing(target):
        asked_for_blocks = out is not None or progress
        length = length or target.length or default_length(*shape, measure, half, n_jobs, asked_for_blocks)
        target.begin(length)
        _fill(target, Grid(*shape, length, half), _Source(A, B, measure.batch), measure, n_jobs, progress)
        return target.finish()


def show_blocks(
    target: Any,
    A: Any,
    B: Any,
    measure: Measure,
    *,
    half: bool = False,
    n_jobs: int | None = None,
    block_size: int | None = None,
    progress: bool = False,
    places: Places | None = None,
) -> None:
    """Call ``target.write(block, values)`` for every block of the matrix; the values are not kept otherwise."""
    m, n, n_jobs = _count(A), _count(B), worker_count(n_jobs)
    length = check_block_size(block_size) or default_length(m, n, measure, half, n_jobs, True)
    _fill(target, Grid(m, n, length, half), _Source(A, B, measure.batch), measure, n_jobs, progress, places)


class Named(NamedTuple):
    """Objects with their positions in the sequence that the caller knows."""

    objects: Any
    places: Sequence[int] | np.ndarray


def named_values(A: Named, B: Named | None, measure: Measure) -> np.ndarray:
    """Return the matrix of :func:`pairwise`, with errors that name the objects by their given positions."""
    same = B is None
    B = A if B is None else B
    shape, half = (_count(A.objects), _count(B.objects)), same and measure.symmetric
    target = MatrixInMemory(None, shape, half)
    grid = Grid(*shape, default_length(*shape, measure, half, 1, False), half)
    source = _Source(A.objects, B.objects, measure.batch)
    _fill(target, grid, source, measure, 1, False, (A.places, B.places))
    return target.finish()


def _fill(
    target: Any,
    grid: Grid,
    source: _Source,
    measure: Measure,
    n_jobs: int,
    progress: bool,
    places: Places | None = None,
) -> None:
    """Evaluate the blocks that the target does not have yet and write them to it."""
    todo = (block for block in grid if block.number not in target.done)
    total = len(grid) - len(target.done)
    task = Task.of(measure, grid.half, places)
    if total <= 1:
        n_jobs = 1
    if n_jobs > 1 and not measure.threads and not can_travel(task, source(next(iter(grid))), n_jobs):
        n_jobs = 1
    waiting = WAITING_BYTES // (8 * grid.length**2)
    with closing(evaluated(task, todo, source, n_jobs, measure.threads, waiting)) as results:
        for block, values in with_progress(results, total, "Filling blocks", enabled=progress):
            target.write(block, values)


def _given_matrix(A: Any, B: Any) -> Any:
    """Return a matrix of another library, with its rows and columns in the same order, as an array or CSR matrix."""
    if B is not None:
        raise ValueError("B must be None with similarity='precomputed', because A is the matrix.")
    form = foreign_form(A, distances=True)
    A = A if form is None else form.matrix
    A = A.tocsr() if sparse.issparse(A) else np.asarray(A)
    if A.ndim != 2:
        raise ValueError(f"A must be a matrix with similarity='precomputed'; got {A.ndim} dimensions.")
    return A


def _checked_measure(similarity: Any) -> Measure:
    measure = resolve(similarity)
    if measure.learns and isinstance(similarity, str):
        raise ValueError(
            f"similarity={similarity!r} learns from data: pass a fitted object, e.g. "
            f"{type(measure.function).__name__}().fit(X, y)."
        )
    return replace(measure, batch=True) if measure.learns else measure


def check_sequence(objects: Any, name: str) -> Any:
    """Return objects that can be counted and sliced, or raise a ValueError."""
    if sparse.issparse(objects):
        return objects.tocsr()
    has_both = hasattr(objects, "__len__") and hasattr(objects, "__getitem__") and getattr(objects, "shape", None) != ()
    if not has_both or isinstance(objects, (str, bytes, Mapping)):
        raise ValueError(f"{name} must be a sequence of objects; got {type(objects).__name__}.")
    return objects


def check_block_size(block_size: Any) -> int | None:
    """Return ``block_size`` as an int, or None if it is to be chosen by default."""
    check_integer(block_size, "block_size", 1, none=True)
    return None if block_size is None else int(block_size)


class _Source:
    """A function that returns the objects of a block: two batches, or two lists for functions on two objects."""

    def __init__(self, A: Any, B: Any, batch: bool):
        self.A = A if batch else one_by_one(A)
        self.B = self.A if B is A else B if batch else one_by_one(B)

    def __call__(self, block: Block) -> tuple[Any, Any]:
        a = _part(self.A, block.rows)
        # A function that gets the same object twice (such as rapidfuzz's cdist) computes only half of the block.
        same = self.B is self.A and block.rows == block.columns
        return a, a if same else _part(self.B, block.columns)


def _part(objects: Any, rows: slice) -> Any:
    if rows == slice(0, _count(objects)):
        return objects
    return objects[rows] if isinstance(objects, (list, np.ndarray)) else safe_indexing(objects, rows)


def _count(objects: Any) -> int:
    return objects.shape[0] if hasattr(objects, "shape") else len(objects)


def one_by_one(objects: Any) -> list:
    """Return the objects as a list; a matrix becomes the list of its rows."""
    if sparse.issparse(objects):
        return [objects[i : i + 1] for i in range(objects.shape[0])]
    return list(objects.to_numpy() if hasattr(objects, "iloc") else objects)


class MatrixInMemory:
    """A target of blocks: the array of the caller, or a new one, created when the type of the first block is known."""

    length = None
    done = frozenset[int]()

    def __init__(self, out: Any, shape: tuple[int, int], half: bool):
        self.shape, self.half, self.given = shape, half, out is not None
        self.matrix: Any = out
        if not self.given:
            return
        if not isinstance(out, np.ndarray):
            raise ValueError(f"out must be an array or the path of a .npy file; got {type(out).__name__}.")
        if out.shape != shape or out.dtype not in (np.float32, np.float64) or not out.flags.writeable:
            raise ValueError(
                f"out must be a writable float32 or float64 array of shape {shape}; got a "
                f"{'' if out.flags.writeable else 'read-only '}{out.dtype} array of shape {out.shape}."
            )

    def begin(self, length: int) -> None:
        """Do nothing: a matrix in memory does not record the block length."""

    def write(self, block: Block, values: np.ndarray) -> None:
        """Store a block and its mirror image."""
        if self.matrix is None:
            self.matrix = values if values.shape == self.shape else np.empty(self.shape, values.dtype)
        if self.matrix is values:
            return
        if not self.given and self.matrix.dtype != values.dtype == np.float64:
            self.matrix = self.matrix.astype(np.float64)
        try:
            with np.errstate(over="raise"):
                store(self.matrix, block, values, self.half)
        except FloatingPointError:
            raise ValueError(f"out: a value of {np.abs(values).max()} does not fit into {self.matrix.dtype}.") from None

    def finish(self) -> np.ndarray:
        """Return the matrix."""
        return self.matrix

    def close(self) -> None:
        """Do nothing: there is no file to close."""
