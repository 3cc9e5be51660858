"""Sparse matrices in files, whose indices are checked before anything is converted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse


def sparse_of(path: Path, parts: Mapping[str, np.ndarray]) -> Any:
    """Return the sparse matrix of the arrays that SciPy's ``save_npz`` writes, after checking them."""
    kind = parts["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    shape = tuple(int(length) for length in np.ravel(parts["shape"]).tolist())
    if len(shape) != 2 or min(shape) < 0 or max(shape) >= 2**31:
        raise ValueError(f"{path}: the sparse matrix has the shape {shape}; two lengths are needed.")
    data = parts["data"]
    if kind in ("csr", "csc", "bsr"):
        build = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind]
        block = data.shape[1:] if kind == "bsr" else (1, 1)
        major, minor = (shape[1], shape[0]) if kind == "csc" else shape
        if len(block) != 2 or min(block) < 1:
            raise ValueError(f"{path}: the blocks of the sparse matrix have the shape {block}.")
        check_compressed(path, parts["indices"], parts["indptr"], len(data), major // block[0], minor // block[1])
        S = build((data, parts["indices"], parts["indptr"]), shape=shape)
    elif kind == "coo":
        check_coordinates(path, parts["row"], parts["col"], len(data), shape)
        S = sparse.coo_array((data, (parts["row"], parts["col"])), shape=shape)
    elif kind == "dia":
        offsets = parts["offsets"]
        _need_integers(path, "offsets", offsets)
        if data.ndim != 2 or len(offsets) != len(data) or len(np.unique(offsets)) != len(offsets):
            raise ValueError(f"{path}: the diagonals and offsets of the sparse matrix do not fit together.")
        if len(offsets) and max(-int(offsets.min()), int(offsets.max())) >= max(shape):
            raise ValueError(f"{path}: an offset of the sparse matrix is out of range.")
        S = sparse.dia_array((data, offsets), shape=shape)
    else:
        raise ValueError(f"{path}: holds a sparse matrix of the format {kind!r}; csr, csc, coo, bsr or dia is needed.")
    return S


def _need_integers(path: Path, name: str, values: np.ndarray) -> None:
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(
            f"{path}: the array {name!r} of the sparse matrix must hold whole numbers; got {values.dtype} of shape "
            f"{values.shape}."
        )


def check_compressed(
    path: Path, indices: np.ndarray, indptr: np.ndarray, n_values: int, major: int, minor: int
) -> None:
    """Raise a ValueError unless the indices of a compressed sparse matrix lie within it.

    Compiled code relies on them, so they are checked before anything is converted.
    """
    _need_integers(path, "indices", indices)
    _need_integers(path, "indptr", indptr)
    if len(indptr) != major + 1 or indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"{path}: the array 'indptr' of the sparse matrix is damaged: it must ascend from 0.")
    if indptr[-1] != len(indices) or len(indices) != n_values:
        raise ValueError(
            f"{path}: the sparse matrix is damaged: 'indptr' ends with {indptr[-1]}, and there are {len(indices)} "
            f"indices and {n_values} values."
        )
    _check_range(path, indices, minor)


def check_coordinates(path: Path, row: np.ndarray, column: np.ndarray, n_values: int, shape: tuple) -> None:
    """Raise a ValueError unless the coordinates of a sparse matrix lie within it."""
    for name, values, length in (("row", row, shape[0]), ("col", column, shape[1])):
        _need_integers(path, name, values)
        if len(values) != n_values:
            raise ValueError(f"{path}: the sparse matrix has {n_values} values, but {len(values)} entries of {name!r}.")
        _check_range(path, values, length)


def _check_range(path: Path, indices: np.ndarray, length: int) -> None:
    if len(indices) and (indices.min() < 0 or indices.max() >= length):
        bad = int(np.flatnonzero((indices < 0) | (indices >= length))[0])
        raise ValueError(
            f"{path}: the sparse matrix is damaged: its index number {bad} is {indices[bad]}; it must be from 0 to "
            f"{length - 1}."
        )


def checked_sparse(path: Path, S: Any) -> Any:
    """Return a sparse matrix that another library has read, after checking that its indices lie within it."""
    if S.format in ("csr", "csc"):
        major, minor = S.shape if S.format == "csr" else S.shape[::-1]
        check_compressed(path, S.indices, S.indptr, len(S.data), major, minor)
    elif S.format == "coo":
        check_coordinates(path, S.row, S.col, len(S.data), S.shape)
    else:
        raise ValueError(f"{path}: holds a sparse matrix of the format {S.format!r}.")
    return S
