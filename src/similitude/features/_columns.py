"""The columns of a training matrix as the machines on features want them: centred, of size 1, each once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np


class Columns(NamedTuple):
    """``S = means + 2^exponent A``; A without its constant columns, and with several equal ones once."""

    rows: np.ndarray
    """The columns of A, as rows; the largest entry is between 1/2 and 1."""
    members: list[list[int]]
    """For each of these, the positions of the columns of S that are equal to it."""
    means: np.ndarray
    """Of all columns of S."""
    exponent: int


def centred_columns(S: np.ndarray) -> Columns:
    """Return the columns of S less their means, whatever the size of S."""
    exponent = math.frexp(float(max(S.max(initial=0.0), -S.min(initial=0.0))))[1]
    A = _halved(np.ascontiguousarray(S.T), exponent)
    # Less its first entry a constant column is exactly 0.
    first = A[:, :1].copy()
    A -= first
    means = np.mean(A, axis=1, keepdims=True)
    A -= means
    spread = math.frexp(float(max(A.max(initial=0.0), -A.min(initial=0.0))))[1]
    A = _halved(A, spread)
    members = _equal_rows(A)
    rows = A if len(members) == len(A) else A[[columns[0] for columns in members]].reshape(len(members), len(S))
    return Columns(rows, members, np.ldexp((first + means)[:, 0], exponent), exponent + spread)


def _halved(A: np.ndarray, times: int) -> np.ndarray:
    """``A 2^-times``, without an overflow on the way."""
    return A * 2.0**-times if abs(times) < 1000 else np.ldexp(A, -times)


def _equal_rows(A: np.ndarray) -> list[list[int]]:
    """Return the positions of equal rows together; rows that vanish beside the largest are left out."""
    groups: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(np.einsum("ij,ij->i", A, A)).tolist():
        groups.setdefault(A[i].tobytes(), []).append(i)
    return list(groups.values())


def scaled(value: float, exponent: int) -> float:
    """``value 2^exponent``, infinite rather than an error."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(value, exponent))
