"""The columns of a training matrix, centred, scaled and without duplicates, for the machines on features."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Columns(NamedTuple):
    """The decomposition ``S = means + 2^exponent A``; A has no columns that are 0, and equal columns once."""

    rows: np.ndarray
    """The columns of A, as rows; the largest entry is between 1/2 and 1."""
    members: list[list[int]]
    """For each of these, the positions of the columns of S that are equal to it."""
    means: np.ndarray
    """The means of all columns of S, or 0."""
    exponent: int


def centred_columns(S: np.ndarray, centred: bool = True) -> Columns:
    """Return the columns of S minus their means, or minus 0 if they are not to be centred, for entries of any size."""
    exponent = math.frexp(float(max(S.max(initial=0.0), -S.min(initial=0.0))))[1]
    A = _halved(np.ascontiguousarray(S.T), exponent)
    if not centred:
        return Columns(*_distinct(A), np.zeros(len(A)), exponent)
    # When its first entry is subtracted, a constant column is exactly 0.
    first = A[:, :1].copy()
    A -= first
    means = np.mean(A, axis=1, keepdims=True)
    A -= means
    spread = math.frexp(float(max(A.max(initial=0.0), -A.min(initial=0.0))))[1]
    rows, members = _distinct(_halved(A, spread))
    return Columns(rows, members, np.ldexp((first + means)[:, 0], exponent), exponent + spread)


def _distinct(A: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
    """Return the rows of A, equal ones once, and for each of these the positions of the rows that are equal to it."""
    members = _equal_rows(A)
    rows = A if len(members) == len(A) else A[[columns[0] for columns in members]].reshape(len(members), A.shape[1])
    return rows, members


def _halved(A: np.ndarray, times: int) -> np.ndarray:
    """Return ``A 2^-times`` without intermediate overflow."""
    return A * 2.0**-times if abs(times) < 1000 else np.ldexp(A, -times)


def _equal_rows(A: np.ndarray) -> list[list[int]]:
    """Return groups of positions of equal rows; rows that are negligible beside the largest are left out."""
    groups: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(np.einsum("ij,ij->i", A, A)).tolist():
        groups.setdefault(A[i].tobytes(), []).append(i)
    return list(groups.values())


def scaled(value: float, exponent: int) -> float:
    """Return ``value 2^exponent``, or infinity if it overflows."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))
