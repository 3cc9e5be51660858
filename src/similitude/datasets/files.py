"""Reading of proximity matrices and labels from files, without executing anything in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse
from sklearn.utils import Bunch

from similitude._utils.extras import require
from similitude.datasets.id_files import ID_NAMES, id_file, read_ids
from similitude.datasets.tables import check_unique, matching_names, read_labels, read_table, suffix

_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".npy", ".npz", ".mat", ".mtx", ".mtx.gz", ".parquet")
_MAT_NUMBERS = {"double", "single", "logical", "sparse"} | {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}


def load_proximity(
    path: str | os.PathLike,
    labels: str | os.PathLike | None = None,
    *,
    groups: str | os.PathLike | None = None,
    labels_in_order: bool = False,
    key: str | None = None,
    square: bool = True,
    mmap: bool = False,
) -> Bunch:
    """Read a matrix of similarities or dissimilarities, and the labels and groups of its samples, from files.

    Nothing in the files is executed: pickled objects are refused.

    Parameters
    ----------
    path : path
        The file of the matrix. The suffix determines the format:

        * ``.csv``, ``.tsv`` (also ``.gz``): one row per sample, with cells separated by commas, semicolons or tabs. A
          header row, an id column, or both, are recognised if their cells are not numbers (whole numbers that name
          both rows and columns are recognised, too). An empty first cell counts as the corner of such a table.
        * ``.npy``. Ids are read from text files beside it, one id per line: ``D.ids.txt`` for the rows of ``D.npy``
          (and for its columns, if there are as many), ``D.column_ids.txt`` for columns that are other samples.
        * ``.npz`` (also SciPy's sparse matrices). Ids are read from its arrays ``ids`` and ``column_ids``.
        * ``.mat``: numeric and sparse variables of MATLAB up to version 7.
        * ``.mtx`` (also ``.gz``): Matrix Market.
        * ``.parquet``: numeric columns, and at most one column of text with the ids. This needs ``similitude[data]``.
    labels : path, default=None
        A file with one label per line, in the order of the rows; or with two columns, id and label, in any order, for
        a matrix with ids. Columns are separated by commas or semicolons in ``.csv``, by tabs elsewhere. If there is
        one row too many, the first may be a header.
    groups : path, default=None
        A file with the group of each sample, in the same formats as ``labels``, for cross-validation that keeps groups
        together.
    labels_in_order : bool, default=False
        Whether labels (or groups) with ids are in the order of the rows of a matrix without ids, and name them.
        Otherwise they are refused. If the matrix has ids, labels and groups are always matched to these; if only the
        labels have ids, groups are matched to those.
    key : str, default=None
        The name of the array in an ``.npz`` or ``.mat`` file; not needed if there is only one besides ids.
    square : bool, default=True
        Whether rows and columns must be the same samples.
    mmap : bool, default=False
        Whether the values of a ``.npy`` file stay on disk, and a read-only memmap of their own type is returned. They
        are then checked not here, but by the estimators.

    Returns
    -------
    Bunch
        S : ndarray, CSR array or memmap
            The matrix; float32 stays float32, everything else becomes float64. Sparse formats are returned as CSR.
        y : ndarray of shape (n,) or None
            The labels: integers if all of them are, otherwise strings.
        groups : ndarray of shape (n,) or None
            The groups: integers if all of them are, otherwise strings.
        ids, column_ids : ndarrays of str or None
            The ids of the rows and columns in the files; they are equal if ``square``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If a file cannot be read as such a matrix. The message names the file and, for text files, the row (the line as
        an editor counts it) and the column, from 1.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from similitude.datasets import load_proximity
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "S.csv").write_text("id,a,b\\na,1,0.2\\nb,0.2,1\\n")
    >>> _ = (folder / "y.csv").write_text("b,yes\\na,no\\n")
    >>> data = load_proximity(folder / "S.csv", folder / "y.csv")
    >>> data.S
    array([[1. , 0.2],
           [0.2, 1. ]])
    >>> data.y.tolist(), data.ids.tolist()
    (['no', 'yes'], ['a', 'b'])
    """
    path = _existing(path, "path")
    kind = suffix(path)
    if not path.name.lower().endswith(_SUFFIXES):
        found = "".join(path.suffixes) or "no suffix"
        raise ValueError(f"path: {path} has {found}; the suffix must be one of {', '.join(_SUFFIXES)}.")
    if mmap and kind != ".npy":
        raise ValueError(f"mmap=True is for .npy files only; {path} is {kind}. Save the matrix with numpy.save.")
    if key is not None and kind not in (".npz", ".mat"):
        raise ValueError(f"key={key!r} is for .npz and .mat files only; {path} is {kind}.")
    rows = columns = layout = None
    if kind in (".csv", ".tsv"):
        S, rows, columns, layout = read_table(path, square)
    elif kind == ".parquet":
        S, rows, columns = _read_parquet(path)
    else:
        S = _READERS[kind](path, key, mmap)
    S = _as_matrix(path, S, square, mmap)
    if kind in (".npy", ".npz") and key not in ID_NAMES:
        rows, columns = _ids(path, kind, S.shape)
    for names in (rows, columns):
        if names is not None:
            check_unique(path, names, layout.lines if layout and names is rows else None)
    if square:
        rows = columns = matching_names(path, rows, columns, layout)
    y = group_of = None
    if labels is not None:
        y, rows = read_labels(_existing(labels, "labels"), S.shape[0], rows, labels_in_order)
    if groups is not None:
        group_of, rows = read_labels(_existing(groups, "groups"), S.shape[0], rows, labels_in_order, "group")
    columns = rows if square else columns
    ids, column_ids = (None if names is None else np.array(names) for names in (rows, columns))
    return Bunch(S=S, y=y, groups=group_of, ids=ids, column_ids=column_ids)


def _existing(path: Any, argument: str) -> Path:
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{argument}: there is no file {path}.")
    if not path.is_file():
        raise ValueError(f"{argument}: {path} is not a file.")
    if path.stat().st_size == 0:
        raise ValueError(f"{argument}: {path}: the file is empty.")
    journal = path.with_name(path.name + ".journal")
    if path.suffix == ".npy" and journal.exists():
        raise ValueError(
            f"{argument}: {path} is not complete, because there is a file {journal.name} beside it. Call pairwise "
            "again with the same arguments to finish it."
        )
    return path


def readable(path: Path, what: str, read: Callable[[], Any]) -> Any:
    """Return the result of ``read``, or raise a ValueError that names the file for any error in it.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        The expected content of the file, for the error message.
    read : callable
        A function without arguments that reads the file.

    Returns
    -------
    object
        The result.
    """
    try:
        return read()
    except Exception as error:  # the readers of damaged files raise errors of every kind
        if "allow_pickle" in str(error) or "Python objects" in str(error):
            raise ValueError(
                f"{path}: holds pickled Python objects, which are not loaded because loading can run any code; save "
                "plain arrays of numbers or text."
            ) from None
        raise ValueError(f"{path}: not {what}, or truncated or corrupt ({type(error).__name__}: {error}).") from error


def _read_npy(path: Path, key: str | None, mmap: bool) -> Any:
    array = readable(path, "a NumPy array", lambda: np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False))
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path}: is an archive of arrays, not a single array; name it .npz.")
    return array


def _read_npz(path: Path, key: str | None, mmap: bool) -> Any:
    archive = readable(path, "a NumPy archive", lambda: np.load(path, allow_pickle=False))
    if isinstance(archive, np.ndarray):
        raise ValueError(f"{path}: is a single array, not an archive; name it .npy.")
    with archive:
        names = list(archive.files)
        if key is None and {"format", "shape", "data"} <= set(names):
            return readable(path, "a sparse matrix of SciPy", lambda: _checked_sparse(sparse.load_npz(path)))
        name = choose_array(path, [name for name in names if name == key or name not in ID_NAMES], key)
        return readable(path, "a NumPy archive", lambda: archive[name])


def _ids(path: Path, kind: str, shape: tuple[int, int]) -> tuple[list[str] | None, list[str] | None]:
    """Return the ids of rows and columns in an ``.npz`` file, or in the files beside a ``.npy`` file."""
    rows, columns = (_archived_ids(path, name) if kind == ".npz" else read_ids(path, name) for name in ID_NAMES)
    if columns is None and shape[0] == shape[1]:
        columns = rows
    for name, ids, count, what in zip(ID_NAMES, (rows, columns), shape, ("row", "column")):
        if ids is not None and len(ids) != count:
            where = f"its array {name!r}" if kind == ".npz" else id_file(path, name).name
            raise ValueError(
                f"{path}: there are {len(ids)} ids in {where} for {count} {what}s; one id per {what} is needed."
            )
    return rows, columns


def _archived_ids(path: Path, name: str) -> list[str] | None:
    with np.load(path, allow_pickle=False) as archive:
        if name not in archive.files:
            return None
        ids = readable(path, "a NumPy archive", lambda: archive[name])
    if ids.ndim != 1 or ids.dtype.kind not in "Uiu":
        raise ValueError(
            f"{path}: the array {name!r} must hold one id per sample, text or whole numbers; got {ids.dtype} of shape "
            f"{ids.shape}."
        )
    return [text.strip() for text in ids.astype(str).tolist()]


def _checked_sparse(S: Any) -> Any:
    """Return S as CSR, after checking that its indices lie within it, because compiled code relies on them."""
    S = S.tocsr()
    S.check_format(full_check=True)
    return S


def _read_mat(path: Path, key: str | None, mmap: bool) -> Any:
    with path.open("rb") as file:
        start = file.read(128)
    if start.startswith((b"MATLAB 7.3", b"\x89HDF")):
        raise ValueError(
            f"{path}: is a MATLAB 7.3 (HDF5) file, which is not supported; save it again in MATLAB with "
            "save('file.mat', 'S', '-v7'), or read it with h5py and pass the array."
        )
    content = {name: kind for name, _, kind in readable(path, "a MATLAB file", lambda: io.whosmat(str(path)))}
    numeric = [name for name, kind in content.items() if kind in _MAT_NUMBERS]
    if key in content and key not in numeric:
        raise ValueError(f"{path}: {key!r} is of class {content[key]}; a numeric matrix is needed, one of {numeric}.")
    name = choose_array(path, numeric, key)
    # Only the one numeric variable is read; cells, structs and function handles are not.
    return readable(path, "a MATLAB file", lambda: io.loadmat(str(path), variable_names=[name])[name])


def _read_mtx(path: Path, key: str | None, mmap: bool) -> Any:
    return readable(path, "a Matrix Market file", lambda: io.mmread(str(path)))


_READERS = {".npy": _read_npy, ".npz": _read_npz, ".mat": _read_mat, ".mtx": _read_mtx}


def choose_array(path: Path, names: list[str], key: str | None) -> str:
    """Return the name of the array in a file that is to be read.

    Parameters
    ----------
    path : Path
        The file.
    names : list of str
        The names of its arrays.
    key : str or None
        The name that the user gave.

    Returns
    -------
    str
        The name.
    """
    if not names:
        raise ValueError(f"{path}: holds no numeric array, or is truncated.")
    if key is None and len(names) > 1:
        raise ValueError(f"{path}: holds {len(names)} arrays; choose one with key (--key), one of {names}.")
    if key is not None and key not in names:
        raise ValueError(f"{path}: there is no array {key!r}; key must be one of {names}.")
    return names[0] if key is None else key


def _read_parquet(path: Path) -> tuple[np.ndarray, list[str] | None, list[str]]:
    """Return the numbers, the ids in the only text column, and the names of the other columns."""
    pa, pq = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    table = readable(path, "a Parquet file", lambda: pq.ParquetFile(path).read())
    ids = None
    names: list[str] = []
    numbers: list[np.ndarray] = []
    for name, column in zip(table.column_names, table.columns):
        kind = column.type
        # pandas stores an index of numbers under a special name.
        is_index = name.startswith("__index_level_") or _holds(pa.types, kind, ("string", "large_string"))
        if is_index and ids is None:
            ids = list(map(str, _no_nulls(path, name, column).tolist()))
        elif not is_index and _holds(pa.types, kind, ("integer", "floating", "boolean", "decimal")):
            names.append(name)
            numbers.append(_no_nulls(path, name, column).astype(np.float32 if kind == pa.float32() else np.float64))
        else:
            raise ValueError(f"{path}: column {name!r} is of type {kind}; numbers, and one column of ids, are needed.")
    if not numbers:
        raise ValueError(f"{path}: holds no column of numbers.")
    return np.column_stack(numbers), ids, names


def _holds(types: Any, kind: Any, names: Iterable[str]) -> bool:
    return any(getattr(types, f"is_{name}")(kind) for name in names)


def _no_nulls(path: Path, name: str, column: Any) -> np.ndarray:
    if column.null_count:
        row = column.is_null().to_pylist().index(True) + 1
        raise ValueError(f"{path}: row {row}, column {name!r} is a missing value; every cell is needed.")
    return column.to_numpy()


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
        raise ValueError(
            f"{path}: the matrix is not square: {S.shape[0]} rows and {S.shape[1]} columns. Rows and columns must be "
            "the same samples; pass square=False if they are not. An id column of numbers is recognised only below a "
            "header row."
        )
    if mmap:
        return S
    dtype = np.float32 if S.dtype == np.float32 else np.float64
    S = sparse.csr_array(S, dtype=dtype) if sparse.issparse(S) else np.ascontiguousarray(S, dtype=dtype)
    _check_finite(path, S)
    return S


def _check_finite(path: Path, S: Any) -> None:
    values = S.data if sparse.issparse(S) else S
    if np.isfinite(values).all():
        return
    if sparse.issparse(S):
        entries = S.tocoo()
        first = int(np.flatnonzero(~np.isfinite(entries.data))[0])
        row, column, value = entries.row[first], entries.col[first], entries.data[first]
    else:
        row, column = np.argwhere(~np.isfinite(S))[0]
        value = S[row, column]
    raise ValueError(f"{path}: row {row + 1}, column {column + 1} is {value}; a finite number is needed.")
