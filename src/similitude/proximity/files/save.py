"""Writing of proximities to files in all forms."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import io as scipy_io
from scipy import sparse

from similitude._utils.extras import require
from similitude._utils.files import check_writable, replacing
from similitude.proximity.check import is_symmetric
from similitude.proximity.files.forms import PHYLIP_SUFFIXES
from similitude.proximity.files.id_files import check_ids, id_files, write_ids
from similitude.proximity.files.tables import is_name, mostly_names
from similitude.proximity.files.text import check_unique, suffix

if TYPE_CHECKING:
    from similitude._utils.types import Shaped

FORMS = ("table", "edges", "condensed", "lower", "upper", "phylip", "phylip-lower")
"""The forms of text files that can be written."""

_BY_SUFFIX = {**dict.fromkeys(PHYLIP_SUFFIXES, "phylip"), ".edges": "edges", ".edgelist": "edges"}
_SPECIAL = frozenset('"\t,;')
_TEXT = (".csv", ".tsv", ".txt", ".lsmat", *_BY_SUFFIX)
_BINARY = (".npy", ".npz", ".mat", ".mtx", ".parquet")


def save_proximity(
    path: str | os.PathLike,
    S: Shaped,
    *,
    ids: Iterable[object] | None = None,
    column_ids: Iterable[object] | None = None,
    form: str | None = None,
) -> list[Path]:
    """Write a matrix to a file that :func:`load_proximity` reads again, with the same values and ids.

    Parameters
    ----------
    path : path
        The file, which is written completely or not at all. Its suffix determines the format: ``.csv``, ``.tsv``,
        ``.txt`` and ``.lsmat`` are tables, ``.phy``, ``.phylip`` and ``.dist`` PHYLIP, ``.edges`` an edge list (all of
        them also with ``.gz``); ``.npy``, ``.npz``, ``.mat``, ``.mtx`` and ``.parquet`` are those formats. The ids of
        files that cannot hold them are written beside them.
    S : ndarray or sparse matrix of shape (m, n)
        The matrix; unknown pairs are NaN, and sparse matrices are written to edge lists, ``.npz``, ``.mat`` and
        ``.mtx`` without the entries that they do not store.
    ids, column_ids : sequences, default=None
        The ids of rows and columns, which must differ; those of the rows and columns of a square matrix are the same by
        default. An id that would be read as another one is refused: one that is empty, or begins or ends with a blank,
        and in a text file one with a line end.
    form : {"table", "edges", "condensed", "lower", "upper", "phylip", "phylip-lower"}, default=None
        The form of a text file, of ``.npy`` ("condensed") or of ``.parquet`` ("edges"), if not the usual one of the
        suffix. Lower and upper triangles hold the diagonal; "phylip-lower" and "condensed" do not.

    Returns
    -------
    list of Path
        The files that were written.

    See Also
    --------
    load_proximity
        Read similarities or dissimilarities, and the labels and groups of their samples, from files of any
        form.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from similitude.datasets import save_proximity
    >>> path = Path(tempfile.mkdtemp()) / "D.phy"
    >>> _ = save_proximity(path, np.array([[0, 0.5], [0.5, 0]]), ids=["a", "b"], form="phylip-lower")
    >>> path.read_text()
    '2\\na\\nb\\t0.5\\n'
    """
    path = Path(path)
    kind = suffix(path)
    if kind not in (*_TEXT, *_BINARY):
        raise ValueError(
            f"{path}: the suffix {kind or '(none)'} is not known; it must be one of {', '.join((*_TEXT, *_BINARY))}."
        )
    if kind in _BINARY and path.name.lower().endswith(".gz") and kind != ".mtx":
        raise ValueError(f"{path}: {kind} files are written without .gz.")
    form = _form(path, kind, form)
    ids, column_ids = (None if names is None else list(names) for names in (ids, column_ids))
    square = S.shape[0] == S.shape[1] and (column_ids is None or ids is None or ids == column_ids)
    rows = None if ids is None else [str(name) for name in ids]
    columns = None if column_ids is None else [str(name) for name in column_ids]
    if square:
        rows = columns = columns if rows is None else rows
    _check_names(path, kind, form, S.shape, rows, columns)
    if form in ("condensed", "lower", "upper", "phylip", "phylip-lower"):
        _check_square(path, S, square, form)
    check_writable(path)
    beside: dict[Path, list[str]] = {}
    if kind in (".npy", ".mat", ".mtx") or form == "condensed":
        beside = id_files(path, {"ids": rows, "column_ids": None if square else columns})
    with replacing(path) as part:
        if kind in _TEXT:
            _write_text(part, path, _TEXT_LINES[form](path, S, rows, columns, form))
        else:
            _BINARY_WRITERS[kind](part, path, S, rows, columns, form)
    write_ids(path, beside)
    return [path, *beside]


def _form(path: Path, kind: str, form: str | None) -> str:
    usual = _BY_SUFFIX.get(kind, "table")
    allowed = FORMS if kind in _TEXT else {".npy": ("condensed",), ".parquet": ("edges",)}.get(kind, ())
    if form is not None and form not in (*allowed, "table"):
        raise ValueError(f"form={form!r} is not for {path}; it must be one of {', '.join((*allowed, 'table'))}.")
    return form or usual


def _check_names(path: Path, kind: str, form: str, shape: tuple, rows: Any, columns: Any) -> None:
    """Raise a ValueError if there is an id for which another one would be read."""
    for names, count, what in ((rows, shape[0], "ids"), (columns, shape[1], "column_ids")):
        if names is not None:
            if len(names) != count:
                raise ValueError(f"{what}: there are {len(names)} for a matrix of shape {shape}; {count} are needed.")
            check_ids(path, names, one_line=kind not in (".npz", ".parquet"))
            check_unique(path, names)
    if rows is None and columns is not None and form == "table":
        names = columns if kind in _TEXT else []
        is_header = not names or (is_name(names[0]) and mostly_names(names) and names[0][0] not in "#>%\ufeff")
        if not is_header or (kind == ".parquet" and any(name.startswith("__index_level_") for name in columns)):
            raise ValueError(f"{path}: these ids of columns are recognised only beside ids of the rows; also pass ids.")


def _check_square(path: Path, S: Any, square: bool, form: str) -> None:
    if not square:
        raise ValueError(f"{path}: the form {form!r} is for square matrices; got shape {S.shape}.")
    if S.shape[0] < 2 and form not in ("lower", "upper"):
        raise ValueError(f"{path}: the form {form!r} needs two samples; there is one.")
    known = S if sparse.issparse(S) else np.nan_to_num(S)
    if form != "phylip" and not is_symmetric(known):
        raise ValueError(
            f"{path}: the matrix is not symmetric, and the form {form!r} holds each pair once. Choose another form, or "
            "symmetrise it."
        )
    if form in ("condensed", "phylip-lower"):
        own = S.diagonal()
        if len(own) and not np.all(own == own[0]):
            raise ValueError(f"{path}: the form {form!r} does not hold the diagonal, whose values differ.")


def _write_text(part: Path, path: Path, lines: Iterable[str]) -> None:
    """Write the lines of a text file, packed if its name ends in .gz."""
    with part.open("wb") as raw, ExitStack() as stack:
        packed: Any = raw
        if path.name.lower().endswith(".gz"):
            packed = stack.enter_context(gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0))
        with io.TextIOWrapper(packed, encoding="utf-8", newline="") as file:
            file.writelines(f"{line}\n" for line in lines)


def _rows(S: Any, unknown: str) -> Iterator[list[Any]]:
    """Yield the rows as lists, with a text for unknown entries; of a sparse matrix one at a time."""
    for i in range(S.shape[0]):
        row = S[[i]].toarray()[0] if sparse.issparse(S) else S[i]
        yield [unknown if value != value else value for value in np.asarray(row).tolist()]  # NaN differs from itself


def _delimiter(path: Path) -> str:
    return "," if suffix(path) == ".csv" else "\t"


def _quoted(names: Any) -> list[str]:
    """Return the names as cells, in quotes if they hold a character that can be a delimiter or a quote."""
    return [f'"{name.replace(chr(34), chr(34) * 2)}"' if _SPECIAL & set(name) else name for name in names]


def _table_lines(path: Path, S: Any, rows: Any, columns: Any, form: str) -> Iterator[str]:
    """Yield the lines of a table or triangle, with ids if there are any; numbers read back to the last bit."""
    delimiter = _delimiter(path)
    before = [""] * S.shape[0] if rows is None else [name + delimiter for name in _quoted(rows)]
    if columns is not None:
        corner = [] if rows is None else ["" if suffix(path) == ".lsmat" and form == "table" else "id"]
        yield delimiter.join([*corner, *_quoted(columns)])
    # Blank ends of the rows of a triangle would be lost.
    for i, values in enumerate(_rows(S, "" if form == "table" else "NA")):
        cells = {"lower": values[: i + 1], "upper": values[i:]}.get(form, values)
        yield before[i] + delimiter.join(map(str, cells))


def _condensed_lines(path: Path, S: Any, rows: Any, columns: Any, form: str) -> Iterator[str]:
    for i, values in enumerate(_rows(S, "NA")):
        yield from map(str, values[i + 1 :])


def _phylip_lines(path: Path, S: Any, rows: Any, columns: Any, form: str) -> Iterator[str]:
    names = rows or [f"s{i + 1}" for i in range(S.shape[0])]
    for name in names:
        if len(name.split()) != 1 or _SPECIAL & set(name) or name[0] == "#":
            raise ValueError(f"{path}: the id {name!r} has blanks, commas, quotes or #, which PHYLIP does not allow.")
    yield str(S.shape[0])
    for i, values in enumerate(_rows(S, "NA")):
        yield "\t".join([names[i], *map(str, values[:i] if form == "phylip-lower" else values)])


def _edge_lines(path: Path, S: Any, rows: Any, columns: Any, form: str) -> Iterator[str]:
    delimiter = _delimiter(path)
    yield delimiter.join(["query", "target", "score"])
    quoted = [None if names is None else _quoted(names) for names in (rows, columns)]
    edges = zip(*(values.tolist() for values in _edge_columns(S, *quoted)))
    yield from (f"{query}{delimiter}{target}{delimiter}{score}" for query, target, score in edges)


def _edge_columns(S: Any, rows: Any, columns: Any) -> tuple[Any, Any, np.ndarray]:
    """Return the ids of both ends and the values of all entries that are stored or known."""
    if sparse.issparse(S):
        entries = S.tocoo()
        row, column, values = entries.row, entries.col, entries.data
    else:
        row, column = np.nonzero(~np.isnan(S))
        values = S[row, column]
    names = [[f"s{i + 1}" for i in range(n)] if given is None else given for given, n in zip((rows, columns), S.shape)]
    return np.array(names[0], dtype=object)[row], np.array(names[1], dtype=object)[column], values


def _write_npy(part: Path, path: Path, S: Any, rows: Any, columns: Any, form: str) -> None:
    values = S.toarray() if sparse.issparse(S) else np.asarray(S)
    if form == "condensed":
        values = values[np.triu_indices(len(values), 1)]
    with part.open("wb") as file:  # NumPy would add its suffix to the name of a path
        np.save(file, values)


def _write_npz(part: Path, path: Path, S: Any, rows: Any, columns: Any, form: str) -> None:
    names: Any = {} if rows is None else {"ids": np.asarray(rows)}
    if columns is not None and columns != rows:
        names["column_ids"] = np.asarray(columns)
    with part.open("wb") as file:
        if not sparse.issparse(S):
            np.savez(file, S=S, **names)
            return
        S = sparse.csr_array(S)
        arrays = {"format": np.array(b"csr"), "shape": np.array(S.shape), "data": S.data}
        np.savez(file, indices=S.indices, indptr=S.indptr, **arrays, **names)


def _write_mat(part: Path, path: Path, S: Any, rows: Any, columns: Any, form: str) -> None:
    with part.open("wb") as file:
        scipy_io.savemat(file, {"S": sparse.csc_array(S) if sparse.issparse(S) else np.asarray(S)})


def _write_mtx(part: Path, path: Path, S: Any, rows: Any, columns: Any, form: str) -> None:
    content = io.BytesIO()
    scipy_io.mmwrite(content, S if sparse.issparse(S) else np.asarray(S, dtype=np.float64), precision=17)
    packed = path.name.lower().endswith(".gz")
    part.write_bytes(gzip.compress(content.getvalue(), mtime=0) if packed else content.getvalue())


def _write_parquet(part: Path, path: Path, S: Any, rows: Any, columns: Any, form: str) -> None:
    pa, pq = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    if form == "edges":
        queries, targets, values = _edge_columns(S, rows, columns)
        table = pa.table({"query": queries.tolist(), "target": targets.tolist(), "score": values})
    else:
        dense = S.toarray() if sparse.issparse(S) else np.asarray(S)
        names = [str(j) for j in range(dense.shape[1])] if columns is None else columns
        heading = next(name for name in ("id", *(f"id_{i}" for i in range(len(names)))) if name not in names)
        table = pa.table({**({} if rows is None else {heading: rows}), **dict(zip(names, dense.T))})
    pq.write_table(table, part)


_TEXT_LINES: dict[str, Callable[..., Iterator[str]]] = {
    "table": _table_lines,
    "edges": _edge_lines,
    "condensed": _condensed_lines,
    "lower": _table_lines,
    "upper": _table_lines,
    "phylip": _phylip_lines,
    "phylip-lower": _phylip_lines,
}
_BINARY_WRITERS: dict[str, Callable[..., None]] = {
    ".npy": _write_npy,
    ".npz": _write_npz,
    ".mat": _write_mat,
    ".mtx": _write_mtx,
    ".parquet": _write_parquet,
}
