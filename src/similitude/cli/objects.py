"""Reading raw objects from files: text, words, numbers, images."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

_TEXT = ("strings", "documents", "biological sequences")
_WORDS = ("categorical rows",)
_SETS = ("sets or binary vectors",)


class Objects(NamedTuple):
    """Objects, and their names where the file has them."""

    items: Any
    ids: list[str] | None


def read_objects(path: Path, kind: str, key: str | None = None) -> Objects:
    """Return the objects of a file, of the kind that a measure is for.

    * ``.npy`` and ``.npz``: the items of an array: rows of numbers or of words, images.
    * ``.txt``: one object a line: a text, or, for sets, words with blanks between.
    * ``.csv`` and ``.tsv``: one object a row: numbers, words, or a text; a first row that begins with ``id`` is a
      heading, and its first column names the objects. Of numbers, headings and names are found as of matrices.
    """
    from similitude.datasets.tables import suffix

    check_file(path, "OBJECTS")
    found = suffix(path)
    if key is not None and found != ".npz":
        raise ValueError(f"--key is for .npz files; {path} is {found or 'without a suffix'}.")
    if found in (".npy", ".npz"):
        return Objects(_array(path, key), None)
    if found in (".csv", ".tsv"):
        return _table(path, kind)
    if found == ".txt":
        return _lines(path, kind)
    raise ValueError(f"{path}: objects are read from .txt, .csv, .tsv, .npy and .npz files; this is {found or 'none'}.")


def check_file(path: Path, name: str) -> None:
    """Refuse what cannot be read, naming the argument."""
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is no file {path}.")
    if not path.is_file():
        raise ValueError(f"{name}: {path} is not a file.")
    if path.stat().st_size == 0:
        raise ValueError(f"{name}: {path}: the file is empty.")


def _array(path: Path, key: str | None) -> Any:
    import numpy as np

    from similitude.datasets.files import choose_array, readable

    found = readable(path, "a file of NumPy", lambda: np.load(path, allow_pickle=False))
    if isinstance(found, np.ndarray):
        array = found
    else:
        with found:
            name = choose_array(path, list(found.files), key)
            array = readable(path, "a file of NumPy", lambda: found[name])
    if array.ndim == 0 or array.size == 0:
        raise ValueError(f"{path}: holds no objects: an array of shape {array.shape}.")
    if array.dtype.kind not in "fiubU":
        raise ValueError(f"{path}: holds values of type {array.dtype}; real numbers or words are needed.")
    return array


def _lines(path: Path, kind: str) -> Objects:
    from similitude.datasets.tables import open_text

    with open_text(path) as file:
        lines = [line.rstrip("\r\n") for line in file]
    if not any(lines):
        raise ValueError(f"{path}: the file is empty.")
    if kind in _SETS:
        return Objects([frozenset(line.split()) for line in lines], None)
    if kind in _TEXT:
        return Objects(lines, None)
    raise ValueError(f"{path}: lines of text are no {kind}; give a .csv, .tsv or .npy file.")


def _table(path: Path, kind: str) -> Objects:
    if kind not in _TEXT and kind not in _WORDS:
        from similitude.datasets import load_proximity

        data = load_proximity(path, square=False)
        return Objects(data.S, None if data.ids is None else data.ids.tolist())
    from similitude.datasets.tables import check_unique

    rows = read_cells(path)
    ids = None
    if rows[0][0].strip().lower() == "id":
        ids, rows = [row[0].strip() for row in rows[1:]], [row[1:] for row in rows[1:]]
        if not rows or not rows[0]:
            raise ValueError(f"{path}: has a heading and ids, and no objects.")
        check_unique(path, ids, list(range(2, len(ids) + 2)))
    if kind in _WORDS:
        import numpy as np

        return Objects(np.array(rows, dtype=object), ids)
    if len(rows[0]) != 1:
        raise ValueError(
            f"{path}: has {len(rows[0])} cells of text in a row; one is needed, or two below a heading that begins "
            "with id. Texts with commas need quotes."
        )
    return Objects([row[0] for row in rows], ids)


def read_cells(path: Path) -> list[list[str]]:
    """Return the rows that are not blank, all of the same length."""
    import csv

    from similitude.datasets.tables import open_text, suffix

    with open_text(path) as file:
        try:
            rows = [row for row in csv.reader(file, delimiter="\t" if suffix(path) == ".tsv" else ",") if row]
        except csv.Error as error:
            raise ValueError(f"{path}: cannot be read as CSV: {error}.") from None
    if not rows:
        raise ValueError(f"{path}: the file is empty.")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ValueError(f"{path}: row {number} has {len(row)} cells; the first has {len(rows[0])}.")
    return rows
