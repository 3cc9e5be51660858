"""Matrices in binary files and in Matrix Market files, without executing anything in them.

The indices of sparse matrices are checked before anything is converted, since compiled code relies on them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from similitude._utils.extras import require
from similitude.proximity.files.contents import Columns, Contents
from similitude.proximity.files.id_files import ID_NAMES
from similitude.proximity.files.text import LARGEST_RATIO, LARGEST_UNPACKED, is_gzip, open_bytes


def readable(path: Path, what: str, read: Callable[[], Any]) -> Any:
    """Return the result of ``read``, or raise a ValueError that names the file for any error in it."""
    try:
        return read()
    except ImportError:
        raise
    except Exception as error:  # the readers of damaged files raise errors of every kind
        if "allow_pickle" in str(error) or "Python objects" in str(error):
            raise ValueError(
                f"{path}: holds pickled Python objects, which are not loaded because loading can run any code; save "
                "plain arrays of numbers or text."
            ) from None
        reason = " ".join(str(error).split())
        if reason.startswith(f"{path}:"):
            raise ValueError(reason) from None
        raise ValueError(f"{path}: not {what}, or truncated or corrupt ({type(error).__name__}: {reason}).") from error


def read_npy(path: Path, mmap: bool = False) -> np.ndarray:
    """Return the array in a file of NumPy."""
    if mmap and not is_gzip(path):
        return readable(path, "a NumPy array", lambda: np.load(path, mmap_mode="r", allow_pickle=False))

    def read() -> np.ndarray:
        with open_bytes(path) as file:
            return _read_member(file, None if is_gzip(path) else path.stat().st_size)

    return readable(path, "a NumPy array", read)


def _read_member(file: Any, size: int | None) -> np.ndarray:
    """Return an array, after checking that there are as many bytes as its header promises."""
    version = np.lib.format.read_magic(file)
    formats = np.lib.format
    read_header = formats.read_array_header_1_0 if version == (1, 0) else formats.read_array_header_2_0
    shape, fortran_order, dtype = read_header(file)
    if dtype.hasobject:
        raise ValueError("Python objects are not loaded")
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if min(shape, default=0) < 0 or (size is not None and count * dtype.itemsize > size):
        raise ValueError(f"the array of shape {shape} needs {count * dtype.itemsize} bytes, more than there are")
    if count * dtype.itemsize > 2**46:
        raise ValueError(f"the array of shape {shape} is too large")
    raw = np.empty(count * dtype.itemsize, dtype=np.uint8)
    view, filled = memoryview(raw.data), 0
    while filled < len(raw):
        got = file.readinto(view[filled : filled + 2**26])
        if not got:
            raise ValueError(f"the array of shape {shape} needs {len(raw)} bytes; there are only {filled}")
        filled += got
    order: Any = "F" if fortran_order else "C"
    return raw.view(dtype).reshape(shape, order=order) if raw.size else np.empty(shape, dtype=dtype)


def read_archive(path: Path, key: str | None = None) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the matrix in an archive of NumPy, dense or sparse, and the arrays of ids in it."""

    def read() -> tuple[Any, dict[str, np.ndarray]]:
        with zipfile.ZipFile(path) as archive:
            members = {name.removesuffix(".npy"): name for name in archive.namelist()}
            _check_sizes(path, archive)

            def array(name: str) -> np.ndarray:
                with archive.open(members[name]) as file:
                    return _read_member(file, archive.getinfo(members[name]).file_size)

            ids = {name: array(name) for name in ID_NAMES if name in members and name != key}
            if key is None and {"format", "shape", "data"} <= set(members):
                parts = {name: array(name) for name in members if name not in ID_NAMES}
                return sparse_of(path, parts), ids
            if not any(name.endswith(".npy") for name in members.values()):
                raise ValueError(f"{path}: is a zip archive without an array of NumPy; save a table as .csv or .tsv.")
            names = [name for name in members if name == key or name not in ID_NAMES]
            return array(choose_array(path, names, key)), ids

    return readable(path, "a NumPy archive", read)


def _check_sizes(path: Path, archive: zipfile.ZipFile) -> None:
    for member in archive.infolist():
        if member.file_size > max(LARGEST_UNPACKED, LARGEST_RATIO * member.compress_size):
            raise ValueError(
                f"{path}: {member.filename!r} unpacks to {member.file_size / 2**20:,.0f} MiB, more than "
                f"{LARGEST_RATIO} times its packed size. Save it without compression if you trust it."
            )


def read_mtx(path: Path) -> Any:
    """Return the matrix in a Matrix Market file."""

    def read() -> Any:
        with open_bytes(path) as file:
            _check_promise(path, file)
        if not is_gzip(path):
            return io.mmread(os.fspath(path))
        # SciPy's reader aborts the process if a stream of Python raises an error, so it gets a file.
        with tempfile.TemporaryDirectory() as folder, open_bytes(path) as file:
            unpacked = Path(folder, "unpacked.mtx")
            with unpacked.open("wb") as target:
                shutil.copyfileobj(file, target)
            return io.mmread(str(unpacked))

    S = readable(path, "a Matrix Market file", read)
    return checked_sparse(path, S) if sparse.issparse(S) else S


def _check_promise(path: Path, file: Any) -> None:
    """Raise a ValueError if the file cannot hold as many entries as it promises."""
    banner = file.readline(1000).split()
    line = file.readline(100_000)
    while line.startswith(b"%") or not line.strip():
        if not line:
            raise ValueError(f"{path}: has no line with the size of the matrix; it may be truncated or corrupt.")
        line = file.readline(100_000)
    sizes = [int(text) for text in line.split()]
    symmetric = len(banner) > 4 and banner[4].lower() != b"general"
    entries = sizes[2] if len(sizes) == 3 else sizes[0] * sizes[1] // (2 if symmetric else 1)
    size = path.stat().st_size * (LARGEST_RATIO if is_gzip(path) else 1)
    if min(sizes) < 0 or entries > size or max(sizes[:2]) >= 2**31:
        raise ValueError(
            f"{path}: promises {entries:,} entries, more than it can hold; it may be truncated or corrupt."
        )


def choose_array(path: Path, names: list[str], key: str | None) -> str:
    """Return the name of the array in a file that is to be read."""
    if not names:
        raise ValueError(f"{path}: holds no numeric array, or is truncated.")
    if key is None and len(names) > 1:
        raise ValueError(f"{path}: holds {len(names)} arrays; choose one with key (--key), one of {names}.")
    if key is not None and key not in names:
        raise ValueError(f"{path}: there is no array {key!r}; key must be one of {names}.")
    return names[0] if key is None else key


def read_parquet(path: Path) -> Contents:
    """Return the numbers of a Parquet file, the ids in the only text column, and the names of the others.

    Missing numbers are NaN.
    """
    return readable(path, "a Parquet file", lambda: _parquet_columns(path))


def _parquet_columns(path: Path) -> Contents:
    pa, pq = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    table = pq.ParquetFile(path).read()
    ids = None
    names: list[str] = []
    numbers: list[np.ndarray] = []
    kinds = [column.type for column in table.columns]
    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
    text = [j for j, kind in enumerate(kinds) if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    # pandas stores an index of numbers under a special name.
    index = [j for j, name in enumerate(table.column_names) if name.startswith("__index_level_")]
    id_at = next(iter(text or index), None)
    for j, (name, column, kind) in enumerate(zip(table.column_names, table.columns, kinds)):
        if j == id_at:
            if column.null_count:
                row = column.is_null().to_pylist().index(True) + 1
                raise ValueError(f"{path}: row {row}, column {name!r} is a missing value; every sample needs an id.")
            ids = list(map(str, column.to_numpy().tolist()))
        elif any(is_kind(kind) for is_kind in numeric):
            names.append(name)
            values = column.cast(pa.float64()) if column.null_count else column
            numbers.append(values.to_numpy().astype(np.float32 if kind == pa.float32() else np.float64))
        else:
            raise ValueError(f"{path}: column {name!r} is of type {kind}; numbers, and one column of ids, are needed.")
    if not numbers:
        raise ValueError(f"{path}: holds no column of numbers.")
    read = Columns(None, table.column_names, {"ids": [] if id_at is None else [id_at]})
    return Contents(np.column_stack(numbers), ids, names, columns={"path": read})


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
    """Raise a ValueError unless the indices of a compressed sparse matrix lie within it."""
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
