"""Reading of proximities from files of any form, without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from similitude.proximity.files.arrays import read_archive, read_mtx, read_npy, read_parquet
from similitude.proximity.files.contents import Contents, Reading
from similitude.proximity.files.edge_files import edge_matrix, read_edges
from similitude.proximity.files.forms import binary_kind, look, text_form
from similitude.proximity.files.id_files import ID_NAMES, id_file, read_ids
from similitude.proximity.files.matlab import read_hdf5, read_mat
from similitude.proximity.files.tables import matching_names, read_table
from similitude.proximity.files.text import check_unique, is_fasta
from similitude.proximity.files.triangles import (
    from_vector,
    mirror_blank_triangle,
    read_condensed,
    read_phylip,
    read_triangle,
)
from similitude.proximity.split import cut

_TEXT_READERS = {"phylip": read_phylip, "triangle": read_triangle, "condensed": read_condensed}


def load_values(path: Path, reading: Reading, *, square: bool = True, mmap: bool = False) -> Contents:
    """Return the proximities in a file, without labels."""
    journal = path.with_name(path.name + ".journal")
    if path.suffix == ".npy" and journal.exists():
        raise ValueError(
            f"path: {path} is not complete, because there is a file {journal.name} beside it. Call pairwise again "
            "with the same arguments to finish it."
        )
    kind = binary_kind(path)
    if mmap and kind != "npy":
        raise ValueError(f"mmap=True is for .npy files only; {path} is not one. Save the matrix with numpy.save.")
    if reading.key is not None and kind not in ("npz", "mat", "hdf5"):
        raise ValueError(f"key={reading.key!r} is for .npz and .mat files only; {path} is neither.")
    if kind is None and is_fasta(path):
        raise ValueError(
            f"{path}: holds sequences; say how they are compared, such as --similarity smith-waterman (in Python: "
            "load_objects)."
        )
    edges = read_edges(path, reading, kind, square)
    if edges is not None:
        return edge_matrix(path, *edges, reading)
    if reading.names_edges:
        raise ValueError(f"{path}: is not an edge list, so the options of edges, such as score, cannot be used.")
    found, lines = _matrix_file(path, kind, reading, square, mmap)
    S = _as_matrix(path, found.values, square, mmap)
    rows, columns = found.ids, found.column_ids
    if rows is None and columns is None:
        rows, columns = _ids_beside(path, S.shape)
    if rows is not None:
        check_unique(path, rows, lines)
    if columns is not None and columns is not rows:
        check_unique(path, columns, what="column")
    notes: list[str] = []
    if square:
        rows, order = matching_names(path, rows, columns, lines)
        columns = rows
        if order is not None:
            S = cut(S, np.arange(len(order)), order)
            notes.append("the columns are in another order than the rows; they were matched by id.")
    if not mmap:
        S = _with_missing(S, reading, square, notes)
    return Contents(S, rows, columns, square=square, notes=tuple(notes), columns=found.columns)


def _matrix_file(
    path: Path, kind: str | None, reading: Reading, square: bool, mmap: bool
) -> tuple[Contents, list[int] | None]:
    """Return the matrix in a file that is not an edge list, with its ids, and the lines of the rows of a table."""
    if kind is None:
        seen = look(path)
        form = reading.form or text_form(path, seen, square)
        if form in _TEXT_READERS:
            return _TEXT_READERS[form](path, seen, reading), None
        return read_table(path, square, reading.header)
    if kind == "parquet":
        return read_parquet(path), None
    archived: dict[str, np.ndarray] = {}
    if kind == "npz":
        S, archived = read_archive(path, reading.key)
    elif kind == "npy":
        S = read_npy(path, mmap)
    elif kind == "mtx":
        return Contents(read_mtx(path)), None
    else:
        S = (read_hdf5 if kind == "hdf5" else read_mat)(path, reading.key)
        if not sparse.issparse(S) and S.ndim == 2 and 1 in S.shape and S.size > 1 and square:
            S = S.ravel()  # MATLAB has no arrays of one dimension
    if square and S.ndim == 1 and S.dtype.kind in "fiu" and len(S):
        S = from_vector(path, S, reading)
    return Contents(S, *_archived_ids(path, archived, S.shape)), None


def _archived_ids(path: Path, found: dict[str, np.ndarray], shape: tuple) -> tuple[Any, Any]:
    """Return the ids of rows and columns in an archive of NumPy."""
    names = []
    for name in ID_NAMES:
        ids = found.get(name)
        if ids is not None and (ids.ndim != 1 or ids.dtype.kind not in "Uiu"):
            raise ValueError(
                f"{path}: the array {name!r} must hold one id per sample, text or whole numbers; got {ids.dtype} of "
                f"shape {ids.shape}."
            )
        names.append(None if ids is None else [text.strip() for text in ids.astype(str).tolist()])
    return _fitting(path, names, shape, [f"its array {name!r}" for name in ID_NAMES])


def _ids_beside(path: Path, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Return the ids of rows and columns in the files beside a matrix."""
    names = [read_ids(path, name) for name in ID_NAMES]
    return _fitting(path, names, shape, [id_file(path, name).name for name in ID_NAMES])


def _fitting(path: Path, names: list, shape: tuple, where: list[str]) -> tuple[Any, Any]:
    rows, columns = names
    if len(shape) != 2:
        return rows, columns
    if columns is None and shape[0] == shape[1]:
        columns = rows
    for ids, count, what, place in zip((rows, columns), shape, ("row", "column"), where):
        if ids is not None and len(ids) != count:
            raise ValueError(
                f"{path}: there are {len(ids)} ids in {place} for {count} {what}s; one id per {what} is needed."
            )
    return rows, columns


def _with_missing(S: Any, reading: Reading, square: bool, notes: list[str]) -> Any:
    """Return the matrix with its unknown entries filled, if the user stated their value."""
    values = S.data if sparse.issparse(S) else S
    unknown = np.isnan(values)
    count = int(unknown.sum())
    if not count:
        return S
    mirrored = mirror_blank_triangle(S) if square and not sparse.issparse(S) else None
    if mirrored is not None:
        notes.append("one triangle is blank; the other one was mirrored.")
        return _with_missing(mirrored, reading, square, notes)
    if reading.missing in (None, "unknown"):
        notes.append(f"{count:,} of {S.shape[0] * S.shape[1]:,} entries are unknown.")
        return S
    absent = reading.absent
    if absent == "farthest":
        absent = np.nanmax(values) if reading.orientation == "dissimilarity" else np.nanmin(values)
    values[unknown] = absent
    notes.append(f"{count:,} unknown entries are {float(absent):g} (missing={reading.missing!r}).")
    return S


def _as_matrix(path: Path, S: Any, square: bool, mmap: bool) -> Any:
    """Return the matrix in floating point, or raise a ValueError that says why it is not a matrix."""
    if not sparse.issparse(S):
        S = S if mmap else np.asarray(S)
    if S.dtype.kind == "c":
        raise ValueError(f"{path}: the numbers are complex; real ones are needed.")
    if S.dtype.kind not in "fiub":
        raise ValueError(f"{path}: the array is of type {S.dtype}; numbers are needed.")
    if S.ndim != 2:
        raise ValueError(f"{path}: the array has {S.ndim} dimension(s), shape {S.shape}; a matrix must have two.")
    if 0 in S.shape:
        raise ValueError(f"{path}: the matrix is empty, shape {S.shape}.")
    if square and S.shape[0] != S.shape[1]:
        hint = "An id column of numbers is recognised only below a header row."
        if S.shape[1] == 3:
            hint = "If these are edges (query, target, score), pass form='edges' (--form edges)."
        raise ValueError(
            f"{path}: the matrix is not square: {S.shape[0]} rows and {S.shape[1]} columns. Rows and columns must be "
            f"the same samples; pass square=False if they are not. {hint}"
        )
    if mmap:
        return S
    dtype = np.float32 if S.dtype == np.float32 else np.float64
    S = sparse.csr_array(S, dtype=dtype) if sparse.issparse(S) else np.ascontiguousarray(S, dtype=dtype)
    _check_not_infinite(path, S)
    return S


def _check_not_infinite(path: Path, S: Any) -> None:
    values = S.data if sparse.issparse(S) else S
    if not np.isinf(values).any():
        return
    if sparse.issparse(S):
        entries = S.tocoo()
        first = int(np.flatnonzero(np.isinf(entries.data))[0])
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    else:
        row, column = np.argwhere(np.isinf(S))[0]
        value = S[row, column]
    raise ValueError(f"{path}: row {row + 1}, column {column + 1} is {value}; a finite number is needed.")
