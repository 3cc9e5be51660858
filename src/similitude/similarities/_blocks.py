"""Division of a matrix into blocks, and their evaluation one by one, in threads or in processes."""

from __future__ import annotations

import math
import pickle
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.scikit_learn import safe_indexing
from similitude._utils.warn import warn
from similitude.similarities.registry import Measure

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 includes its own copy
    from joblib.externals import cloudpickle

# These errors do not concern two particular objects and are raised unchanged.
PASSED_ON = (ImportError, MemoryError, NotFittedError)

# The results that wait to be written take at most this many bytes, or a few blocks per worker if that is more.
WAITING_BYTES = 2**28


class Block(NamedTuple):
    """Consecutive rows and columns of the matrix."""

    number: int
    rows: slice
    columns: slice


@dataclass(frozen=True)
class Grid:
    """The blocks of an (n, m) matrix; with ``half`` only those on and above the diagonal (the others are mirrored)."""

    n: int
    m: int
    length: int
    half: bool

    def __len__(self) -> int:
        down, across = math.ceil(self.n / self.length), math.ceil(self.m / self.length)
        return down * (down + 1) // 2 if self.half else down * across

    def __iter__(self) -> Iterator[Block]:
        number = 0
        for top in range(0, self.n, self.length):
            for left in range(top if self.half else 0, self.m, self.length):
                rows, columns = slice(top, min(top + self.length, self.n)), slice(left, min(left + self.length, self.m))
                yield Block(number, rows, columns)
                number += 1


def default_length(n: int, m: int, measure: Measure, half: bool, n_jobs: int, asked_for_blocks: bool) -> int:
    """Return the number of rows and columns of a block if ``block_size`` is None.

    Eight blocks per side leave a symmetric function 56 % of the work, four leave 62 %, and workers need many blocks;
    but a batch has a cost per object, so a function that is called from one process gets few, large batches.
    """
    longest = max(n, m)
    smallest, largest = (128, 1024) if measure.batch else (16, 128)
    if measure.batch and n_jobs == 1 and not asked_for_blocks:
        smallest = 512
        if not half or longest <= 1024:
            return min(longest, 4096)
    side = max(8, math.ceil(math.sqrt(8 * n_jobs)))
    return min(max(math.ceil(longest / side), smallest), largest)


class Failure(NamedTuple):
    """The message and the cause of an error in a block."""

    message: str
    cause: Exception | None = None


Places = tuple[Sequence[int] | np.ndarray, Sequence[int] | np.ndarray]
"""The positions by which errors name the objects of rows and columns that are taken from longer sequences."""


@dataclass(frozen=True)
class Task:
    """A function that returns the values of one block as a float32 or float64 array, or a :class:`Failure`."""

    measure: Measure
    half: bool = False
    places: Places | None = None

    @property
    def name(self) -> str:
        return self.measure.name or "the function"

    def __call__(self, block: Block, a: Any, b: Any) -> tuple[Block, np.ndarray | Failure]:
        values = self._of_batches(block, a, b) if self.measure.batch else self._of_pairs(block, a, b)
        if not isinstance(values, Failure) and not np.isfinite(values).all():
            i, j = map(int, np.argwhere(~np.isfinite(values))[0])
            where = self._pair(block, i, j)
            values = Failure(f"similarity: {self.name} gave {values[i, j]} for {where}; it must be finite.")
        return block, values

    def _of_pairs(self, block: Block, a: list, b: list) -> np.ndarray | Failure:
        values, function = np.empty((len(a), len(b))), self.measure.function
        diagonal = self.half and block.rows == block.columns
        for i, left in enumerate(a):
            for j in range(i if diagonal else 0, len(b)):
                try:
                    value = function(left, b[j])
                    if isinstance(value, (complex, np.complexfloating)):
                        raise TypeError("a complex value; it must be real")
                    values[i, j] = value
                except PASSED_ON:
                    raise
                except Exception as error:
                    return self._failed(self._pair(block, i, j), error)
                if diagonal:
                    values[j, i] = values[i, j]
        return values

    def _of_batches(self, block: Block, a: Any, b: Any) -> np.ndarray | Failure:
        n, m = block.rows.stop - block.rows.start, block.columns.stop - block.columns.start
        try:
            values = self.measure.function(a, b)
            values = values.toarray() if sparse.issparse(values) else np.asarray(values)
            if values.shape == (n, m) and values.dtype != np.float32 and not np.iscomplexobj(values):
                values = values.astype(np.float64, copy=False)
        except PASSED_ON:
            raise
        except Exception as error:
            return self._failed(*self._narrowed(block, a, b, error))
        if values.shape != (n, m):
            return Failure(
                f"similarity: {self.name} returned shape {values.shape} for batches of {n} and {m} objects "
                f"({self._ranges(block)})."
            )
        if np.iscomplexobj(values):
            i, j = divmod(int(np.argmax(values.imag != 0)), m)
            return Failure(
                f"similarity: {self.name} gave a complex value for {self._pair(block, i, j)}; it must be real."
            )
        return values

    def _narrowed(self, block: Block, a: Any, b: Any, error: Exception) -> tuple[str, Exception]:
        """Return the pair of objects on which a function on batches fails, found by trying halves of the block."""
        i, j, n, m = 0, 0, block.rows.stop - block.rows.start, block.columns.stop - block.columns.start
        last = None
        while n * m > 1 or last is None:
            down, across = (math.ceil(n / 2), m) if n >= m else (n, math.ceil(m / 2))
            last = self._error(safe_indexing(a, slice(i, i + down)), safe_indexing(b, slice(j, j + across)))
            if last is not None:
                n, m = down, across
            elif n * m == 1:
                return self._ranges(block), error
            else:
                i, j, n, m = (i + down, j, n - down, m) if n >= m else (i, j + across, n, m - across)
        return self._pair(block, i, j), last

    def _error(self, a: Any, b: Any) -> Exception | None:
        try:
            self.measure.function(a, b)
        except Exception as error:
            return error
        return None

    def _failed(self, where: str, error: Exception) -> Failure:
        return Failure(f"similarity: {self.name} failed on {where}: {type(error).__name__}: {error}", error)

    def _pair(self, block: Block, i: int, j: int) -> str:
        return f"objects {self._place(0, block.rows.start + i)} and {self._place(1, block.columns.start + j)}"

    def _ranges(self, block: Block) -> str:
        ends = [
            f"{self._place(axis, part.start)} to {self._place(axis, part.stop - 1)}"
            for axis, part in enumerate((block.rows, block.columns))
        ]
        return f"objects {ends[0]} and {ends[1]}"

    def _place(self, axis: int, position: int) -> int:
        return position if self.places is None else int(self.places[axis][position])


def evaluated(
    task: Task,
    blocks: Iterable[Block],
    cut: Callable[[Block], tuple[Any, Any]],
    n_jobs: int,
    threads: bool,
    waiting: int,
) -> Generator[tuple[Block, np.ndarray], None, None]:
    """Yield the blocks with their values, in the order in which they are finished.

    After a failure the blocks that are being computed are still yielded, and then the error is raised.
    """
    failures: list[Failure] = []
    wanted = partial(takewhile, lambda block: not failures)

    def results() -> Iterator[tuple[Block, np.ndarray | Failure]]:
        if n_jobs == 1:
            yield from (task(block, *cut(block)) for block in wanted(blocks))
            return
        left = iter(blocks)
        # Blocks are large enough to be sent one by one, and an interruption would lose a whole batch of them.
        settings = {"prefer": "threads" if threads else "processes", "batch_size": 1, "max_nbytes": None}
        with Parallel(n_jobs=n_jobs, return_as="generator_unordered", **settings) as parallel:
            while part := list(islice(wanted(left), max(waiting, 8 * n_jobs))):
                yield from parallel(delayed(_in_worker)(threads, task, block, *cut(block)) for block in wanted(part))

    for block, values in results():
        if isinstance(values, Failure):
            failures.append(values)
        else:
            yield block, values
    if failures:
        raise ValueError(failures[0].message) from failures[0].cause


def _in_worker(threads: bool, task: Task, block: Block, a: Any, b: Any) -> tuple[Block, np.ndarray | Failure]:
    """Evaluate a block; another process returns the cause of a failure if it can be pickled, with its traceback."""
    block, values = task(block, a, b)
    if not threads and isinstance(values, Failure) and values.cause is not None:
        values.cause.add_note("".join(traceback.format_exception(values.cause)))
        try:
            pickle.loads(pickle.dumps(values.cause))
        except Exception:
            values = Failure(values.message)
    return block, values


def worker_count(n_jobs: int | None) -> int:
    """Return the number of workers: one inside a joblib worker, otherwise what ``n_jobs`` means in scikit-learn."""
    if n_jobs == 0 or (n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)))):
        raise ValueError(f"n_jobs must be None or an integer other than 0 (-1: all cores); got {n_jobs!r}.")
    if getattr(get_active_backend()[0], "nesting_level", 0):
        return 1
    return effective_n_jobs(n_jobs)


def can_travel(task: Task, sample: tuple[Any, Any], n_jobs: int) -> bool:
    """Return whether the function and the objects can be sent to other processes, and warn if they cannot."""
    try:
        cloudpickle.dumps((task, sample))
    except Exception as error:
        warn(
            f"similarity: {task.name} or its objects cannot be sent to other processes ({type(error).__name__}: "
            f"{error}); n_jobs={n_jobs} is ignored and all blocks are computed in this process.",
            UserWarning,
        )
        return False
    return True
