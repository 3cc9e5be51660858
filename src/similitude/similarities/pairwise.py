"""Filling matrices with a similarity function."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.similarities.registry import resolve


def pairwise(A: Any, B: Any = None, similarity: Any = "counting") -> np.ndarray:
    """The matrix of similarities (or dissimilarities: native values) between two sequences of objects.

    Parameters
    ----------
    A, B : sequences of objects
        B None: the square matrix of A with itself; a symmetric function is then evaluated on half of the pairs.
    similarity : str, callable or Measure, default="counting"
        A registered name, a callable on two objects, or one marked with
        :func:`~similitude.similarities.batch`. One that learns from data must have been fitted.

    Examples
    --------
    >>> from similitude.similarities import pairwise
    >>> pairwise([("red", "round"), ("red", "square")], similarity="counting")
    array([[2., 1.],
           [1., 2.]])
    """
    measure = resolve(similarity)
    if measure.learns and isinstance(similarity, str):
        raise ValueError(
            f"similarity={similarity!r} learns from data: pass a fitted object, e.g. "
            f"{type(measure.function).__name__}().fit(X, y)."
        )
    same = B is None
    B = A if same else B
    if len(A) == 0 or len(B) == 0:
        raise ValueError(f"A and B must not be empty; got {len(A)} and {len(B)} objects.")
    if measure.batch or measure.learns:
        values = np.asarray(measure.function(A, B))
        if values.shape != (len(A), len(B)):
            raise ValueError(
                f"similarity: {measure.name or 'the batch function'} returned shape {values.shape} for batches of "
                f"{len(A)} and {len(B)} objects."
            )
    else:
        values = _one_by_one(measure, list(_items(A)), list(_items(B)), half=same and measure.symmetric)
    if np.iscomplexobj(values):
        raise ValueError(f"similarity: {measure.name or 'the function'} gave complex values; they must be real.")
    if values.dtype != np.float32:
        values = values.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        i, j = map(int, np.argwhere(~np.isfinite(values))[0])
        raise ValueError(
            f"similarity: {measure.name or 'the function'} gave {values[i, j]} for objects {i} and {j}; "
            "it must be finite."
        )
    return values


def _items(objects: Any) -> Any:
    return objects.to_numpy() if hasattr(objects, "iloc") else objects


def _one_by_one(measure: Any, A: list, B: list, half: bool) -> np.ndarray:
    values = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        for j in range(i if half else 0, len(B)):
            try:
                values[i, j] = measure.function(a, B[j])
            except Exception as error:
                raise ValueError(
                    f"similarity: {measure.name or 'the function'} failed on objects {i} and {j}: "
                    f"{type(error).__name__}: {error}"
                ) from error
            if half:
                values[j, i] = values[i, j]
    return values
