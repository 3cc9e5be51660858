"""Numeric and sparse variables of MATLAB files.

In files up to version 7 all lengths are checked before anything is read: SciPy's reader relies on them, and a damaged
file can crash it. h5py reads those of version 7.3.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.extras import require
from similitude.proximity.files.arrays import check_compressed, check_coordinates, choose_array, readable
from similitude.proximity.files.text import LARGEST_RATIO, LARGEST_UNPACKED, open_bytes

# The numbers of the format: the types of data, and the classes of variables.
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_MATRIX, _COMPRESSED = 14, 15
_CLASSES = {
    1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single", 8: "int8", 9: "uint8",
    10: "int16", 11: "uint16", 12: "int32", 13: "uint32", 14: "int64", 15: "uint64", 16: "function", 17: "opaque",
}  # fmt: skip
_NUMERIC = range(6, 16)  # the classes whose names are those of NumPy's types
_SPARSE = 5
_COMPLEX, _LOGICAL = 0x0800, 0x0200
_HDF5_NUMBERS = {"double", "single", "logical"} | {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}
_V4_TYPES = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}


class _Variable(NamedTuple):
    """A variable of a MATLAB file that has not been read yet."""

    name: str
    kind: str
    numeric: bool
    value: Callable[[Path], Any]


def read_mat(path: Path, key: str | None = None) -> Any:
    """Return a numeric or sparse variable of a MATLAB file up to version 7."""

    def read() -> Any:
        with open_bytes(path) as file:
            found = {variable.name: variable for variable in _variables(path, file.read())}
        numeric = [name for name, variable in found.items() if variable.numeric]
        if key in found and key not in numeric:
            raise ValueError(
                f"{path}: {key!r} is of class {found[key].kind}; a numeric matrix is needed, one of {numeric}."
            )
        # Only the one numeric variable is read; cells, structs and function handles are not.
        return found[choose_array(path, numeric, key)].value(path)

    return readable(path, "a MATLAB file", read)


def read_hdf5(path: Path, key: str | None = None) -> Any:
    """Return a numeric or sparse variable of a MATLAB 7.3 file, which h5py reads."""
    h5py = require("h5py", "data")

    def read() -> Any:
        with h5py.File(path, "r") as file:
            found = {name: item for name, item in file.items() if not name.startswith("#") and _is_numeric(h5py, item)}
            item = found[choose_array(path, list(found), key)]
            if isinstance(item, h5py.Dataset):
                return np.asarray(item[()]).T  # MATLAB stores columns one after the other
            rows, indptr = int(item.attrs["MATLAB_sparse"]), np.asarray(item["jc"][()]).astype(np.int64)
            # A matrix without entries has neither values nor row indices.
            data = np.asarray(item["data"][()]) if "data" in item else np.empty(0)
            indices = np.asarray(item["ir"][()]).astype(np.int64) if "ir" in item else np.empty(0, np.int64)
            check_compressed(path, indices, indptr, len(data), len(indptr) - 1, rows)
            return sparse.csc_array((data, indices, indptr), shape=(rows, len(indptr) - 1))

    return readable(path, "a MATLAB 7.3 file", read)


def _is_numeric(h5py: Any, item: Any) -> bool:
    if isinstance(item, h5py.Dataset):
        kind = item.attrs.get("MATLAB_class", b"double")
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        return kind in _HDF5_NUMBERS and item.dtype.kind in "fiub"
    return "MATLAB_sparse" in item.attrs


def _variables(path: Path, data: bytes) -> list[_Variable]:
    """Return the variables in the content of a MATLAB file."""
    if data[:6] != b"MATLAB":
        return list(_version4(path, data))
    if len(data) < 128 or data[126:128] not in (b"IM", b"MI"):
        raise ValueError("the header is damaged")
    order = "<" if data[126:128] == b"IM" else ">"
    return [_described(body, order) for body in _matrices(path, data[128:], order)]


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the content of each element; short ones have both in eight bytes."""
    at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack(order + "II", data[at : at + 8])
        if kind >> 16:  # a short element
            kind, size = kind & 0xFFFF, kind >> 16
            if size > 4:
                raise ValueError(f"a short element has {size} bytes; 4 are possible")
            yield kind, data[at + 4 : at + 4 + size]
            at += 8
            continue
        if size > len(data) - at - 8:
            raise ValueError(f"an element promises {size} bytes, and {len(data) - at - 8} are left")
        yield kind, data[at + 8 : at + 8 + size]
        at += 8 + size + (-size % 8 if kind != _COMPRESSED else 0)


def _matrices(path: Path, data: bytes, order: str) -> Iterator[bytes]:
    for kind, content in _elements(data, order):
        if kind == _COMPRESSED:
            most = max(LARGEST_UNPACKED, LARGEST_RATIO * len(content))
            unpacker = zlib.decompressobj()
            content = unpacker.decompress(content, most)
            if unpacker.unconsumed_tail:
                raise ValueError(
                    f"{path}: a variable unpacks to more than {most / 2**20:,.0f} MiB, {LARGEST_RATIO} times its "
                    "packed size. Save it without compression if you trust it."
                )
            kind, content = next(_elements(content, order), (0, b""))
        if kind == _MATRIX:
            yield content


def _described(body: bytes, order: str) -> _Variable:
    parts = list(islice(_elements(body, order), 3))  # its class, size and name
    if len(parts) < 3 or len(parts[0][1]) < 8:
        raise ValueError("a variable has no class, no size or no name")
    flags, _ = struct.unpack(order + "II", parts[0][1][:8])
    number = flags & 0xFF
    shape = tuple(np.frombuffer(parts[1][1], dtype=order + "i4", count=len(parts[1][1]) // 4).tolist())
    name = bytes(parts[2][1]).decode("ascii", errors="replace")
    kind = _CLASSES.get(number)
    if kind is None:
        raise ValueError(f"the variable {name!r} has the unknown class {number}")
    numeric = number in _NUMERIC or number == _SPARSE
    return _Variable(name, kind, numeric, partial(_value5, name, number, flags, shape, body, order))


def _numbers(element: tuple[int, bytes] | None, order: str, what: str) -> np.ndarray:
    if element is None or element[0] not in _TYPES:
        raise ValueError(f"the {what} of a variable are missing or are not numbers")
    dtype = np.dtype(order + _TYPES[element[0]])
    if len(element[1]) % dtype.itemsize:
        raise ValueError(f"the {what} of a variable have {len(element[1])} bytes")
    return np.frombuffer(element[1], dtype=dtype)


def _value5(name: str, number: int, flags: int, shape: tuple, body: bytes, order: str, path: Path) -> Any:
    parts = dict(enumerate(_elements(body, order)))
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"the variable {name!r} has the shape {shape}")
    if flags & _COMPLEX:
        raise ValueError(f"{path}: the numbers are complex; real ones are needed.")
    if number == _SPARSE:
        if len(shape) != 2:
            raise ValueError(f"the sparse variable {name!r} has the shape {shape}")
        rows, starts = (_numbers(parts.get(i), order, "indices").astype(np.int64) for i in (3, 4))
        values = _numbers(parts.get(5), order, "values")
        used = int(starts[-1]) if len(starts) else -1
        if not 0 <= used <= min(len(rows), len(values)):
            raise ValueError(f"the sparse variable {name!r} promises {used} entries and holds {len(values)}")
        check_compressed(path, rows[:used], starts, used, shape[1], shape[0])
        dtype = np.bool_ if flags & _LOGICAL else np.float64
        return sparse.csc_array((values[:used].astype(dtype), rows[:used], starts), shape=shape)
    values = _numbers(parts.get(3), order, "values")
    count = int(np.prod(shape, dtype=object))
    if len(values) != count:
        raise ValueError(f"the variable {name!r} of shape {shape} has {len(values)} numbers")
    return values.astype(_CLASSES[number]).reshape(shape, order="F")


def _version4(path: Path, data: bytes) -> Iterator[_Variable]:
    """Yield the variables of a file of version 4: headers of 20 bytes, names and values, one after the other."""
    at = 0
    while at < len(data):
        if at + 20 > len(data):
            raise ValueError("the header of a variable is truncated")
        order = "<"
        if not 0 <= struct.unpack("<i", data[at : at + 4])[0] < 5000:
            order = ">"
        kind, rows, columns, imaginary, length = struct.unpack(order + "5i", data[at : at + 20])
        digits = kind // 1000, kind // 100 % 10, kind // 10 % 10, kind % 10
        if kind < 0 or digits[0] not in (0, 1) or digits[1] or digits[2] not in _V4_TYPES or digits[3] > 2:
            raise ValueError(f"a variable is of the unknown type {kind}")
        dtype = np.dtype(order + _V4_TYPES[digits[2]])
        size = rows * columns * dtype.itemsize
        if min(rows, columns, length) < 0 or length + size > len(data) - at - 20:
            raise ValueError(f"a variable of {rows} x {columns} values is longer than the file")
        name = data[at + 20 : at + 20 + length].rstrip(b"\0").decode("ascii", errors="replace")
        start = at + 20 + length
        values = np.frombuffer(data, dtype=dtype, count=rows * columns, offset=start)
        class_name = {0: "double", 1: "char", 2: "sparse"}[digits[3]]
        read = partial(_value4, values.reshape((rows, columns), order="F"), digits[3], imaginary)
        yield _Variable(name, class_name, digits[3] != 1, read)
        at = start + size * (2 if imaginary and digits[3] == 0 else 1)


def _value4(values: np.ndarray, kind: int, imaginary: int, path: Path) -> Any:
    if imaginary or (kind == 2 and values.shape[1] != 3):
        raise ValueError(f"{path}: the numbers are complex; real ones are needed.")
    if kind == 0:
        return values.astype(values.dtype.newbyteorder("="))
    # The last row holds the shape; the others hold row, column (from 1) and value.
    if not len(values) or not np.isfinite(values[:, :2]).all() or np.abs(values[:, :2]).max() >= 2**31:
        raise ValueError("the sparse variable has no shape, or its indices are not valid")
    places = values[:, :2].astype(np.int64)
    shape = int(places[-1, 0]), int(places[-1, 1])
    if min(shape) < 0:
        raise ValueError(f"the sparse variable has the shape {shape}")
    row, column = places[:-1, 0] - 1, places[:-1, 1] - 1
    check_coordinates(path, row, column, len(values) - 1, shape)
    return sparse.coo_array((values[:-1, 2].astype(np.float64), (row, column)), shape=shape)
