"""The values of a measure: whole matrices, filled block by block, and chosen pairs of objects."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.checks import check_integer
from similitude._utils.forms import foreign_form
from similitude._utils.progress import progress as with_progress
from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude._utils.threads import over_row_blocks
from similitude._utils.types import SamplesLike
from similitude.similarities._blocks import (
    WAITING_BYTES,
    Block,
    Failure,
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
from similitude.similarities.series import as_series

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
    shape = (num_samples(A), num_samples(B))
    if 0 in shape:
        raise ValueError(f"A and B must not be empty; got {shape[0]} and {shape[1]} objects.")
    half = same and measure.symmetric
    target: Any
    if isinstance(out, (str, os.PathLike)):
        target = DiskMatrix(out, shape, half, fingerprint(A, None if same else B), fingerprint_of_measure(measure))
    else:
        target = MatrixInMemory(out, shape, half)
        if any(
            isinstance(out, np.ndarray) and isinstance(X, np.ndarray) and np.may_share_memory(out, X) for X in (A, B)
        ):
            raise ValueError("out must not share its memory with A or B, because they are read while it is filled.")
    options: dict[str, Any] = {"n_jobs": n_jobs, "block_size": block_size, "progress": progress}
    with closing(target):
        show_blocks(target, A, B, measure, half=half, needs_blocks=out is not None or progress, **options)
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
    needs_blocks: bool = True,
) -> None:
    """Call ``target.write(block, values)`` for the blocks of the matrix that the target does not have yet.

    If blocks are not needed, a function on batches gets as few as possible.
    """
    m, n, n_jobs = num_samples(A), num_samples(B), worker_count(n_jobs)
    check_integer(block_size, "block_size", 1, none=True)
    length = int(block_size or target.length or default_length(m, n, measure, half, n_jobs, needs_blocks))
    target.begin(length)
    grid, cut, task = Grid(m, n, length, half), _cutter(A, B, measure.batch), Task(measure, half, places)
    todo = (block for block in grid if block.number not in target.done)
    total = len(grid) - len(target.done)
    if total <= 1:
        n_jobs = 1
    if n_jobs > 1 and not measure.threads and not can_travel(task, cut(next(iter(grid))), n_jobs):
        n_jobs = 1
    waiting = WAITING_BYTES // (8 * length**2)
    with closing(evaluated(task, todo, cut, n_jobs, measure.threads, waiting)) as results:
        for block, values in with_progress(results, total, "Filling blocks", enabled=progress):
            target.write(block, values)


class Named(NamedTuple):
    """Objects with their positions in the sequence that the caller knows."""

    objects: Any
    places: Sequence[int] | np.ndarray


def named_values(A: Named, B: Named | None, measure: Measure) -> np.ndarray:
    """Return the matrix of :func:`pairwise`, with errors that name the objects by their given positions."""
    half = B is None and measure.symmetric
    B = A if B is None else B
    target = MatrixInMemory(None, (num_samples(A.objects), num_samples(B.objects)), half)
    options: dict[str, Any] = {"n_jobs": 1, "places": (A.places, B.places), "needs_blocks": False}
    show_blocks(target, A.objects, B.objects, measure, half=half, **options)
    return target.finish()


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


def _cutter(A: Any, B: Any, batch: bool) -> Callable[[Block], tuple[Any, Any]]:
    """Return a function that returns the objects of a block: two batches, or two lists if ``batch`` is False."""
    left = A if batch else one_by_one(A)
    right = left if B is A else B if batch else one_by_one(B)

    def cut(block: Block) -> tuple[Any, Any]:
        a = _part(left, block.rows)
        # A function that gets the same object twice (such as rapidfuzz's cdist) computes only half of the block.
        return a, a if right is left and block.rows == block.columns else _part(right, block.columns)

    return cut


def _part(objects: Any, rows: slice) -> Any:
    if rows == slice(0, num_samples(objects)):
        return objects
    return objects[rows] if isinstance(objects, (list, np.ndarray)) else safe_indexing(objects, rows)


def one_by_one(objects: Any) -> list:
    """Return the objects as a list; a matrix becomes the list of its rows."""
    if sparse.issparse(objects):
        return [objects[i : i + 1] for i in range(objects.shape[0])]
    return list(objects.to_numpy() if hasattr(objects, "iloc") else objects)


class Target:
    """Base of the objects that receive blocks, by ``write(block, values)``; most have none and accept any length."""

    length: int | None = None
    done: Mapping[int, int] = {}

    def begin(self, length: int) -> None:
        """Note the length of the blocks."""


class MatrixInMemory(Target):
    """A target of blocks: the array of the caller, or a new one, created when the type of the first block is known."""

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


def check_objects(X: Any, measure: Measure | None = None, known: Any = None) -> Any:
    """Return a sequence of raw objects: a sparse matrix, whose rows are the objects, as CSR, and a Series as a list.

    Time series are checked for a measure of them, and must have as many channels as ``known`` ones.
    """
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "__len__") or isinstance(X, (str, bytes, Mapping, set, frozenset)):
        raise ValueError(f"X must be a sequence of objects; got {type(X).__name__}.")
    if num_samples(X) == 0:
        raise ValueError("X must hold at least one object; got 0.")
    if getattr(getattr(X, "index", None), "nlevels", 1) > 1:
        raise ValueError(
            "X has an index of several levels, such as case and time, so that its rows are not samples. Convert time "
            "series by similitude.similarities.as_series(X) first."
        )
    X = X.tolist() if hasattr(X, "iloc") and X.ndim == 1 else X
    if measure is not None and measure.objects == "time series":
        n_channels = len(as_series(X)[0])
        expected = n_channels if known is None else len(as_series(safe_indexing(known, [0]))[0])
        if n_channels != expected:
            raise ValueError(
                f"X has series of {n_channels} channel(s), but those of fit have {expected}. A series has the shape "
                "(channels, time)."
            )
    return X


def sliceable(X: Any, measure: Measure | None = None) -> Any:
    """Return the objects in a form of which a part can be taken; a deque or an Index is converted to a list."""
    objects = check_objects(X, measure)
    try:
        safe_indexing(objects, slice(0, 1))
        safe_indexing(objects, [0])
    except TypeError:
        return list(objects)
    return objects


class Comparison:
    """A function that returns the values of a measure between selected objects of two sequences."""

    def __init__(self, measure: Measure, objects: Any):
        self.measure = measure
        self.objects = self._cuttable(objects)

    def _cuttable(self, objects: Any) -> Any:
        return objects if self.measure.batch else one_by_one(objects)

    def __call__(self, X: Any, rows: np.ndarray, columns: list[np.ndarray]) -> list[np.ndarray]:
        """Return for each of the ``rows`` of X its values with the objects at ``columns``."""
        X = self._cuttable(X)
        answers: list[np.ndarray] = [np.empty(0)] * len(rows)

        def work(start: int, stop: int) -> None:
            for r in range(start, stop):
                if len(columns[r]):
                    answers[r] = self._row(X, int(rows[r]), columns[r])

        over_row_blocks(work, len(rows), max(16, -(-len(rows) // 8)) if self.measure.threads else len(rows))
        return answers

    def _row(self, X: Any, i: int, columns: np.ndarray) -> np.ndarray:
        task = Task(self.measure, places=([i], columns))
        block = Block(0, slice(0, 1), slice(0, len(columns)))
        _, values = task(block, _chosen(X, [i]), _chosen(self.objects, columns))
        if isinstance(values, Failure):
            raise ValueError(values.message) from values.cause
        return values[0]


def neighbor_values(
    A: SamplesLike, indices: ArrayLike, similarity: SimilarityLike, B: SamplesLike | None = None
) -> np.ndarray:
    """Return the values of a similarity between objects and their neighbours, which another search has found.

    In this way a shortlist that was found with a cheap similarity, or by a nearest-neighbour library, is rescored with
    an expensive one: only the listed pairs are evaluated, each once.

    Parameters
    ----------
    A : sequence of objects
        The objects.
    indices : array-like of int of shape (len(A), k)
        The positions of the neighbours of each object in B; -1 for an empty place.
    similarity : str, callable or Measure
        The similarity or dissimilarity, as in :func:`pairwise`.
    B : sequence of objects, default=None
        The objects among which the neighbours are; None means A.

    Returns
    -------
    ndarray of shape (len(A), k)
        The values; NaN for empty places.

    See Also
    --------
    similitude.Proximities.from_neighbors
        Return the sparse proximities of lists of neighbours, as a nearest-neighbour library returns them.

    Examples
    --------
    >>> from similitude.similarities import neighbor_values
    >>> neighbor_values(["tea", "tee", "coffee"], [[1], [0], [-1]], "levenshtein")
    array([[ 1.],
           [ 1.],
           [nan]])
    """
    measure, same = _checked_measure(similarity), B is None
    A = check_sequence(A, "A")
    B = A if same else check_sequence(B, "B")
    places = np.asarray(indices)
    m, n = num_samples(A), num_samples(B)
    if places.ndim != 2 or places.dtype.kind not in "iu" or len(places) != m or places.max(initial=-1) >= n:
        raise ValueError(
            f"indices must be an array of integers with {m} rows, one for each object of A, below {n}, the number of "
            f"objects of B; got the shape {places.shape}, the type {places.dtype} and the largest "
            f"{places.max(initial=-1)}."
        )
    rows, columns = (found.astype(np.int64) for found in (np.nonzero(places >= 0)[0], places[places >= 0]))
    keys = rows * n + columns
    if same and measure.symmetric:
        keys = np.minimum(rows, columns) * n + np.maximum(rows, columns)
    different, which = np.unique(keys, return_inverse=True)
    left, right = np.divmod(different, n)
    values = np.full(places.shape, np.nan)
    values[places >= 0] = compared(Comparison(measure, B), A, left, right)[which]
    return values


def compared(compare: Comparison, X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the values of pairs whose rows are ascending, with one call of a batch function for each row of X."""
    if not len(rows):
        return np.empty(0)
    some, starts = np.unique(rows, return_index=True)
    return np.concatenate(compare(X, some, np.split(columns, starts[1:]))).astype(np.float64)


def _chosen(objects: Any, places: Any) -> Any:
    if isinstance(objects, list):
        return [objects[j] for j in places]
    return objects[places] if isinstance(objects, np.ndarray) else safe_indexing(objects, places)


def append_objects(old: Any, new: Any) -> Any:
    """Return two sequences of objects of the same kind as one."""
    if hasattr(old, "iloc"):
        import pandas as pd

        return pd.concat([old, new], ignore_index=True)
    if sparse.issparse(old):
        return sparse.vstack([old, new], format="csr")
    if isinstance(old, np.ndarray):
        return np.concatenate([old, np.asarray(new, dtype=old.dtype if old.dtype == object else None)])
    return list(old) + list(new)
