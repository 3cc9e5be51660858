"""Reading of raw objects from files: sequences, texts, words, numbers, images."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from similitude._utils.ids import some
from similitude.proximity.files.arrays import read_archive, read_npy
from similitude.proximity.files.contents import Columns, Contents, Reading, unused
from similitude.proximity.files.forms import binary_kind
from similitude.proximity.files.labels import Beside, with_labels
from similitude.proximity.files.object_tables import (
    ASK_HEADER,
    HEADINGS,
    SETS,
    TEXTS,
    WORDS,
    NamedColumns,
    first_cells,
    offered_columns,
    read_cells,
    read_object_table,
)
from similitude.proximity.files.tables import is_id_heading
from similitude.proximity.files.text import check_file, check_unique, is_fasta, lines, read_fasta, suffix
from similitude.proximity.files.values import load_values


def load_objects(
    path: str | os.PathLike,
    labels: str | os.PathLike | None = None,
    *,
    objects: str = "biological sequences",
    groups: str | os.PathLike | None = None,
    labels_in_order: bool = False,
    object_column: str | int | list[str] | list[int] | None = None,
    label_column: str | int | None = None,
    group_column: str | int | None = None,
    key: str | None = None,
    header: bool | None = None,
) -> Bunch:
    """Read raw objects, and their labels and groups, from files.

    Parameters
    ----------
    path : path
        The file:

        * FASTA: the ids are the first words of the headings.
        * ``.smi``: SMILES, each with the name of the molecule behind it.
        * ``.txt``: one object per line, which is a text, or for sets words separated by blanks.
        * ``.csv`` and ``.tsv``: one object per row, which is numbers, words, or a text. A first row with a cell ``id``
          is a header, and that column contains the ids. For numbers, headers and ids are recognised as in matrices. For
          a similarity of words or sets, cells that are all 0 and 1 are numbers.
        * ``.parquet``: a table with a header.
        * ``.npy`` and ``.npz``: the items of an array, which are rows of numbers or of words, or images.

        Each but ``.parquet`` may be compressed with gzip.
    labels : path, default=None
        A file with the labels of the objects: see :func:`load_proximity`.
    objects : str, default="biological sequences"
        The kind of the objects, in the words of the table of similarities: "strings", "numbers", ...
    groups : path, default=None
        A file with the groups of the objects.
    labels_in_order : bool, default=False
        See :func:`load_proximity`.
    object_column : str, int, or list of these, default=None
        The column of a table that holds the objects, by its name in the header or its place from 1; several for rows of
        numbers or words. None means all columns but those of ids, labels and groups.
    label_column, group_column : str or int, default=None
        The columns of the labels and groups: of the files ``labels`` and ``groups``, and of ``path`` without these.
        Samples whose label is empty are left out.
    key : str, default=None
        The name of the array in an ``.npz`` file; not needed if there is only one.
    header : bool, default=None
        Whether the first line of ``path`` is a header. None means that it is recognised; where it may be one or not,
        an error asks.

    Returns
    -------
    Bunch
        data : list or ndarray
            The objects that have a label.
        y, groups, ids : ndarrays or None
            Their labels, groups and ids.
        left_out : list of str
            The ids of objects without a label.
        columns : dict of str to Columns
            Which columns of "path", "labels" and "groups" were read and as what, for those that are text; ``str()``
            of each is a sentence.

    See Also
    --------
    load_proximity
        Read similarities or dissimilarities, and the labels and groups of their samples, from files of any
        form.
    similitude.similarities.pairwise
        Return the matrix of the similarities or dissimilarities between two sequences of objects.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from similitude.datasets import load_objects
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "s.fasta").write_text(">p1 a protein\\nMKT\\nAYI\\n>p2\\nMSE\\n")
    >>> _ = (folder / "y.tsv").write_text("family\\tid\\nkinase\\tp2\\nglobin\\tp1\\n")
    >>> data = load_objects(folder / "s.fasta", folder / "y.tsv")
    >>> data.data, data.y.tolist(), data.ids.tolist()
    (['MKTAYI', 'MSE'], ['globin', 'kinase'], ['p1', 'p2'])

    A table of words and their labels is read by the names of its columns:

    >>> _ = (folder / "names.csv").write_text("no,name,language\\n1,Dubois,French\\n2,Rossi,Italian\\n")
    >>> data = load_objects(
    ...     folder / "names.csv", objects="strings", object_column="name", label_column="language"
    ... )
    >>> data.data, data.y.tolist()
    (['Dubois', 'Rossi'], ['French', 'Italian'])
    """
    beside = Beside(labels, groups, labels_in_order, label_column, group_column)
    found = read_labelled_objects(path, objects, beside, key, header, object_column)
    return Bunch(
        data=found.values,
        y=found.y,
        groups=found.groups,
        ids=None if found.ids is None else np.array(found.ids),
        left_out=found.left_out,
        columns=found.columns,
    )


def read_labelled_objects(
    path: str | os.PathLike,
    kind: str,
    beside: Beside,
    key: str | None = None,
    header: bool | None = None,
    object_column: Any = None,
) -> Contents:
    """Return the objects of a file with their labels and groups: see :func:`load_objects`."""
    path = check_file(path, "path")
    named = NamedColumns(
        object_column,
        beside.label_column if beside.labels is None else None,
        beside.group_column if beside.groups is None else None,
    )
    if named.any:
        if key is not None:
            raise ValueError(f"--key is for .npz files, and columns are named in tables; {path} is {suffix(path)}.")
        return with_labels(read_object_table(path, kind, named, header), beside, header)
    found = with_labels(read_objects(path, kind, key, header), beside, header)
    read = found.columns.get("path")
    if header is None and read is not None and not read.header and "labels" in found.columns:
        _check_first_label(path, beside.labels, found.columns["labels"], found.y)
    return found


def _check_first_label(path: Path, labels: Any, read: Columns, y: Any) -> None:
    """Raise a ValueError if the first lines of both files may be headers, of which nothing else could tell.

    The first label is then the only one that no other sample has.
    """
    if read.header or "ids" in read.roles or len(y) < 3:
        return
    first, *others = map(str, y.tolist())
    counts = Counter(others)
    if first not in counts and min(counts.values()) > 1:
        raise ValueError(
            f"{labels}: the first label, {first!r}, may be a heading, and the first line of {path} another one; "
            f"{ASK_HEADER}."
        )


def read_objects(
    path: Path, kind: str, key: str | None = None, header: bool | None = None, columns: list[str] | None = None
) -> Contents:
    """Return the objects of a file, of the kind that a measure compares: see :func:`load_objects`."""
    path = check_file(path, "OBJECTS")
    found = suffix(path)
    binary = binary_kind(path)
    if key is not None and binary != "npz":
        raise ValueError(f"--key is for .npz files; {path} is {found or 'without a suffix'}.")
    if binary in ("npy", "npz"):
        return _array(path, binary, key)
    if binary is None and is_fasta(path):
        if kind not in (*TEXTS, "any"):
            raise ValueError(f"{path}: is a FASTA file, whose sequences are not {kind}; name another similarity.")
        return Contents(*read_fasta(path))
    if found in (".smi", ".smiles"):
        return _smiles(path)
    if found in (".csv", ".tsv") or binary == "parquet" or (not found and _is_table(path, kind)):
        return _table(path, kind, header, columns)
    if found in (".txt", ""):
        return _lines(path, kind, header, columns)
    raise ValueError(
        f"{path}: objects are read from FASTA, .txt, .csv, .tsv, .parquet, .npy and .npz files; this is {found}."
    )


def _smiles(path: Path) -> Contents:
    """Return the first words of the lines, which are SMILES, and as ids the rest if every line has another one."""
    words = [line.split(maxsplit=1) for line in lines(path) if line.strip()]
    if words and words[0][0].lower() == "smiles":
        words = words[1:]
    if not words:
        raise ValueError(f"{path}: the file has no SMILES.")
    names = [own[1].strip() if len(own) > 1 else "" for own in words]
    unique = all(names) and len({*names}) == len(names)
    return Contents([own[0] for own in words], names if unique else None)


def _is_table(path: Path, kind: str) -> bool:
    """Return whether a text file without a suffix, such as a stream, is a table and not lines of text."""
    if kind not in (*TEXTS, *SETS):
        return True
    first = next((line for line in lines(path) if line.strip()), "")
    return "\t" in first or is_id_heading(first.split(",")[0])


def _array(path: Path, kind: str, key: str | None) -> Contents:
    array, found = (read_npy(path), {}) if kind == "npy" else read_archive(path, key)
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"{path}: holds no objects: an array of shape {array.shape}.")
    if array.dtype.kind not in "fiubU":
        raise ValueError(f"{path}: holds values of type {array.dtype}; real numbers or words are needed.")
    ids = found.get("ids")
    if ids is not None and (ids.ndim != 1 or len(ids) != len(array) or ids.dtype.kind not in "Uiu"):
        raise ValueError(f"{path}: the array 'ids' must hold one id per object ({len(array)}).")
    return Contents(array, None if ids is None else ids.astype(str).tolist())


def _lines(path: Path, kind: str, header: bool | None, columns: list[str] | None) -> Contents:
    found = [line.rstrip("\r\n") for line in lines(path)]
    if not any(found):
        raise ValueError(f"{path}: the file is empty.")
    if kind not in SETS and kind not in TEXTS:
        raise ValueError(f"{path}: lines of text are not {kind}; give a .csv, .tsv or .npy file.")
    if header is None and [found[0].strip()] == columns:
        header = True
    if header is None:
        _check_first_text(path, found)
    read = Columns(bool(header), [found[0] if header else ""], {"objects": [0]})
    found = found[1:] if header else found
    items: list[Any] = [frozenset(line.split()) for line in found] if kind in SETS else found
    return Contents(items, columns={"path": read})


def _check_first_text(path: Path, texts: list[str]) -> None:
    """Raise a ValueError if the first text may be a heading."""
    if len(texts) > 1 and texts[0].lower().lstrip("#").strip() in HEADINGS and texts[0] not in texts[1:]:
        raise ValueError(f"{path}: the first line is {texts[0]!r}, which may be a heading; {ASK_HEADER}.")


def _table(path: Path, kind: str, header: bool | None, columns: list[str] | None) -> Contents:
    if columns is not None and header is not False and {*columns} <= {cell.strip() for cell in first_cells(path)}:
        return read_object_table(path, kind, NamedColumns(columns), True)
    if kind not in TEXTS and kind not in WORDS:
        return _numbers(path, header, columns)
    table = read_cells(path)
    header = True if binary_kind(path) == "parquet" else header
    head = [cell.strip() for cell in table[0]]
    ids_at = None if header is False else _id_column(table)
    has_header = bool(header) or ids_at is not None or (header is None and columns is not None)
    if has_header and len(table) == 1:
        raise ValueError(f"{path}: has a header, but no rows.")
    places = _object_columns(path, head, ids_at, columns if has_header else None)
    body = table[has_header:]
    ids = None
    if ids_at is not None:
        ids = [row[ids_at].strip() for row in body]
        check_unique(path, ids, list(range(2, len(ids) + 2)))
    rest = unused(len(head), *places, *([] if ids_at is None else [ids_at]))
    roles = {"ids": [] if ids_at is None else [ids_at], "objects": places, "not used": rest}
    columns_read = {"path": Columns(has_header, head if has_header else [""] * len(head), roles)}
    if kind in SETS and all(row[j].strip() in ("0", "1") for row in body for j in places):
        return Contents(np.array([[row[j] for j in places] for row in body], dtype=np.int8), ids, columns=columns_read)
    if kind in WORDS:
        if not has_header and header is None:
            _check_first_words(path, table)
        return Contents(np.array([[row[j] for j in places] for row in body], dtype=object), ids, columns=columns_read)
    if len(places) != 1:
        raise ValueError(offered_columns(path, table, places))
    texts = [row[places[0]] for row in body]
    if not has_header and header is None:
        _check_first_text(path, texts)
    return Contents(texts, ids, columns=columns_read)


def _id_column(table: list[list[str]]) -> int | None:
    """Return the place of the column whose first cell is ``id``, and no other one."""
    for j, cell in enumerate(table[0]):
        if is_id_heading(cell) and (j == 0 or all(row[j] != cell for row in table[1:])):
            return j
    return None


def _object_columns(path: Path, head: list[str], ids_at: int | None, columns: list[str] | None) -> list[int]:
    """Return the places of the columns of objects, which are named in the header if their names are given."""
    if columns is None:
        places = [j for j in range(len(head)) if j != ids_at]
        if not places:
            raise ValueError(f"{path}: has a header and ids, but no objects.")
        return places
    lacking = [name for name in columns if name not in head]
    if lacking:
        raise ValueError(
            f"{path}: the first line has no column {some(lacking)}, on which the model was fitted; it has "
            f"{some(head)}. If it is not a header, pass --header no."
        )
    return [head.index(name) for name in columns]


def _check_first_words(path: Path, table: list[list[str]]) -> None:
    """Raise a ValueError if no word of the first row occurs again in its column, but all other words do."""
    below = [[row[j] for row in table[1:]] for j in range(len(table[0]))]
    if all(word not in words for word, words in zip(table[0], below)) and all(
        len({*words}) <= len(words) / 2 for words in below
    ):
        raise ValueError(f"{path}: the first row, {some(table[0])}, may be a header; {ASK_HEADER}.")


def _numbers(path: Path, header: bool | None, columns: list[str] | None) -> Contents:
    found = load_values(path, Reading(form="table", header=header), square=False)
    S, offset = found.values, found.ids is not None
    places = list(range(S.shape[1]))
    if columns is not None and found.column_ids is not None:
        places = _object_columns(path, found.column_ids, None, columns)
        S = S[:, places]
    if np.isnan(S).any():
        row, column = np.argwhere(np.isnan(S))[0]
        raise ValueError(f"{path}: object {row + 1} lacks number {column + 1}; every number is needed.")
    roles = {"ids": [0] * offset, "objects": [j + offset for j in places]}
    rest = unused(found.values.shape[1] + offset, *roles["ids"], *roles["objects"])
    read = {name: replace(own, roles={**roles, "not used": rest}) for name, own in found.columns.items()}
    return Contents(S, found.ids, columns=read)
