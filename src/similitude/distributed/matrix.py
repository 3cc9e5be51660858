"""Matrices of similarities as Dask arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from similitude._utils.extras import require
from similitude._utils.scikit_learn import is_fitted, num_samples, safe_indexing
from similitude._utils.types import ListLike, SamplesLike
from similitude.distributed._cluster import waiting
from similitude.distributed._parts import Part, Rule, cut, show
from similitude.similarities import pairwise as pairwise_here
from similitude.similarities.pairwise import MatrixInMemory, check_sequence
from similitude.similarities.registry import Measure, SimilarityLike, resolve

_ADVICE = "lower chunks of similitude.distributed.pairwise, or give the workers more memory"


def pairwise(
    A: SamplesLike,
    B: SamplesLike | None = None,
    similarity: SimilarityLike = "counting",
    *,
    y: ListLike | None = None,
    chunks: Any = "auto",
) -> Any:
    """Return the matrix of :func:`similitude.similarities.pairwise` as a Dask array, computed block by block.

    Values are native: a distance stays a distance. If B is None, the function is symmetric and the chunks are the same
    in both directions, the blocks below the diagonal are transposed from those above.

    Parameters
    ----------
    A, B : sequences of objects
        The objects, as in :func:`similitude.similarities.pairwise`. If B is None, A is compared with itself.
    similarity : str, callable or Measure, default="counting"
        The function. One that learns from data, and is not fitted yet, learns from all of A first.
    y : array-like, default=None
        The labels of A, for a similarity that learns from labels.
    chunks : int, tuple or "auto", default="auto"
        The numbers of rows and columns of a block, in any form that Dask accepts.

    Returns
    -------
    dask.array.Array of shape (len(A), len(B))
        The values. They are float32 if a function on batches returns that for the first two objects, else float64.

    See Also
    --------
    similitude.similarities.pairwise
        Return the matrix of the similarities or dissimilarities between two sequences of objects.
    compute : Return ``array.compute()``, with an error that gives advice if a worker runs out of memory.

    Examples
    --------
    >>> from similitude.distributed import pairwise
    >>> S = pairwise(["tea", "tee", "toffee"], similarity="levenshtein", chunks=2)
    >>> S
    dask.array<concatenate, shape=(3, 3), dtype=float64, chunksize=(2, 2), chunktype=numpy.ndarray>
    >>> S[:, 2].compute()
    array([4., 3., 0.])
    """
    da = require("dask.array", "dask")
    delayed = require("dask", "dask").delayed
    same = B is None
    A = check_sequence(A, "A")
    B = A if same else check_sequence(B, "B")
    shape = num_samples(A), num_samples(B)
    if 0 in shape:
        raise ValueError(f"A and B must not be empty; got {shape[0]} and {shape[1]} objects.")
    measure = _ready(resolve(similarity), A, y)
    dtype: Any = np.float64
    if measure.batch:
        dtype = pairwise_here(safe_indexing(A, slice(0, 1)), safe_indexing(B, slice(0, 1)), measure).dtype
    down, across = _lengths(chunks, shape, np.dtype(dtype))
    rule = delayed(Rule(measure))
    rows = [delayed(part) for part in cut(A, down)]
    columns = rows if same and down == across else [delayed(part) for part in cut(B, across)]
    half = columns is rows and measure.symmetric
    block = delayed(_block)
    grid: list[list[Any]] = []
    for i, a in enumerate(rows):
        row = [
            grid[j][i].T
            if half and j < i
            else da.from_delayed(block(a, b, rule, half and i == j, dtype), (down[i], across[j]), dtype)
            for j, b in enumerate(columns)
        ]
        grid.append(row)
    return da.block(grid)


def _lengths(chunks: Any, shape: tuple[int, int], dtype: Any) -> Any:
    """Return the lengths of the blocks along both axes."""
    try:
        lengths = require("dask.array", "dask").core.normalize_chunks(chunks, shape, dtype=dtype)
    except ZeroDivisionError:
        lengths = ((0,),)
    if any(0 in part for part in lengths):
        raise ValueError(f"chunks must be above 0; got {chunks!r}.")
    return lengths


def _ready(measure: Measure, A: Any, y: Any) -> Measure:
    """Return the fitted measure; one that is fitted already is not changed."""
    if not measure.learns:
        return measure
    return replace(measure, learns=False, batch=True) if is_fitted(measure.function) else measure.learned(A, y)


def _block(rows: Part, columns: Part, rule: Rule, half: bool, dtype: Any) -> np.ndarray:
    """Return, on a worker, the values between two parts."""
    target = MatrixInMemory(None, (len(rows), len(columns)), half)
    try:
        show(target, rows, columns, rule.measure, half=half)
    except MemoryError as error:
        raise MemoryError(f"a block of {len(rows)} by {len(columns)} objects: {_ADVICE}") from error
    return target.finish().astype(dtype, copy=False)


def compute(array: Any) -> Any:
    """Return ``array.compute()``, with an error that gives advice if a worker runs out of memory.

    Parameters
    ----------
    array : dask.array.Array
        The array to compute.

    Returns
    -------
    ndarray or number
        The computed values.

    See Also
    --------
    pairwise : Return the matrix of ``pairwise`` as a Dask array, computed block by block.

    Examples
    --------
    >>> from similitude.distributed import compute, pairwise
    >>> compute(pairwise([1.0, 2.0, 4.0], similarity=lambda a, b: a - b).mean())
    np.float64(0.0)
    """
    with waiting(_ADVICE):
        return array.compute()
