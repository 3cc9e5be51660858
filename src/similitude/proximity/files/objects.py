"""Reading of raw objects from files: sequences, texts, words, numbers, images."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from similitude.proximity.files.arrays import read_archive, read_npy
from similitude.proximity.files.fasta import is_fasta, read_fasta
from similitude.proximity.files.forms import binary_kind
from similitude.proximity.files.labels import labelled_samples
from similitude.proximity.files.reading import Reading
from similitude.proximity.files.tables import check_unique, ragged
from similitude.proximity.files.text import check_file, lines, rows, suffix
from similitude.proximity.files.values import load_values

TEXT_OBJECTS = ("strings", "documents", "biological sequences")
_WORDS = ("categorical rows",)
_SETS = ("sets or binary vectors",)


class Objects(NamedTuple):
    """Objects, and their ids if the file has them.

    Parameters
    ----------
    items : sequence
        The objects.
    ids : list of str or None
        Their ids.

    See Also
    --------
    read_objects : Return the objects of a file, of the kind that a measure compares: see ``load_objects``.
    similitude.datasets.load_objects : Read raw objects, and their labels and groups, from files.
    """

    items: Any
    ids: list[str] | None


def load_objects(
    path: str | os.PathLike,
    labels: str | os.PathLike | None = None,
    *,
    objects: str = "biological sequences",
    groups: str | os.PathLike | None = None,
    labels_in_order: bool = False,
    label_column: str | int | None = None,
    group_column: str | int | None = None,
    key: str | None = None,
) -> Bunch:
    """Read raw objects, and their labels and groups, from files.

    Parameters
    ----------
    path : path
        The file:

        * FASTA: the ids are the first words of the headings.
        * ``.txt``: one object per line, which is a text, or for sets words separated by blanks.
        * ``.csv`` and ``.tsv``: one object per row, which is numbers, words, or a text. If the first row begins with
          ``id``, it is a header, and the first column contains the ids. For numbers, headers and ids are recognised as
          in matrices.
        * ``.npy`` and ``.npz``: the items of an array, which are rows of numbers or of words, or images.

        Each may be compressed with gzip.
    labels : path, default=None
        A file with the labels of the objects: see :func:`load_proximity`.
    objects : str, default="biological sequences"
        The kind of the objects, in the words of the table of similarities: "strings", "numbers", ...
    groups : path, default=None
        A file with the groups of the objects.
    labels_in_order, label_column, group_column
        See :func:`load_proximity`.
    key : str, default=None
        The name of the array in an ``.npz`` file; not needed if there is only one.

    Returns
    -------
    Bunch
        data : list or ndarray
            The objects that have a label.
        y, groups, ids : ndarrays or None
            Their labels, groups and ids.
        left_out : list of str
            The ids of objects without a label.

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
    """
    items, ids = read_objects(check_file(Path(path), "path"), objects, key)
    sides = labelled_samples(len(items), ids, labels, groups, labels_in_order, label_column, group_column)
    if sides.left_out:
        items = items[sides.kept] if isinstance(items, np.ndarray) else [items[i] for i in sides.kept.tolist()]
    return Bunch(
        data=items,
        y=sides.y,
        groups=sides.groups,
        ids=None if sides.ids is None else np.array(sides.ids),
        left_out=sides.left_out,
    )


def read_objects(path: Path, kind: str, key: str | None = None) -> Objects:
    """Return the objects of a file, of the kind that a measure compares: see :func:`load_objects`.

    Parameters
    ----------
    path : Path
        The file.
    kind : str
        The kind of the objects.
    key : str, default=None
        The name of the array in an ``.npz`` file.

    Returns
    -------
    Objects
        The objects and their ids.

    See Also
    --------
    read_fasta
        Return the sequences of a FASTA file in capital letters, and their ids, the first words of the headings.
    similitude.datasets.load_objects : Read raw objects, and their labels and groups, from files.
    """
    check_file(path, "OBJECTS")
    found = suffix(path)
    binary = binary_kind(path)
    if key is not None and binary != "npz":
        raise ValueError(f"--key is for .npz files; {path} is {found or 'without a suffix'}.")
    if binary in ("npy", "npz"):
        return _array(path, binary, key)
    if binary is None and is_fasta(path):
        if kind not in (*TEXT_OBJECTS, "any"):
            raise ValueError(f"{path}: is a FASTA file, whose sequences are not {kind}; name another similarity.")
        return Objects(*read_fasta(path))
    if found in (".csv", ".tsv"):
        return _table(path, kind)
    if found == ".txt":
        return _lines(path, kind)
    found = found or "a file without a suffix"
    raise ValueError(f"{path}: objects are read from FASTA, .txt, .csv, .tsv, .npy and .npz files; this is {found}.")


def _array(path: Path, kind: str, key: str | None) -> Objects:
    array, found = (read_npy(path), {}) if kind == "npy" else read_archive(path, key)
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"{path}: holds no objects: an array of shape {array.shape}.")
    if array.dtype.kind not in "fiubU":
        raise ValueError(f"{path}: holds values of type {array.dtype}; real numbers or words are needed.")
    ids = found.get("ids")
    if ids is not None and (ids.ndim != 1 or len(ids) != len(array) or ids.dtype.kind not in "Uiu"):
        raise ValueError(f"{path}: the array 'ids' must hold one id per object ({len(array)}).")
    return Objects(array, None if ids is None else ids.astype(str).tolist())


def _lines(path: Path, kind: str) -> Objects:
    found = [line.rstrip("\r\n") for line in lines(path)]
    if not any(found):
        raise ValueError(f"{path}: the file is empty.")
    if kind in _SETS:
        return Objects([frozenset(line.split()) for line in found], None)
    if kind in TEXT_OBJECTS:
        return Objects(found, None)
    raise ValueError(f"{path}: lines of text are not {kind}; give a .csv, .tsv or .npy file.")


def _table(path: Path, kind: str) -> Objects:
    if kind not in TEXT_OBJECTS and kind not in _WORDS:
        found = load_values(path, Reading(form="table"), square=False)
        if np.isnan(found.S).any():
            row, column = np.argwhere(np.isnan(found.S))[0]
            raise ValueError(f"{path}: object {row + 1} lacks number {column + 1}; every number is needed.")
        return Objects(found.S, found.rows)
    table = read_cells(path)
    ids = None
    if table[0][0].strip().lower() == "id":
        ids, table = [row[0].strip() for row in table[1:]], [row[1:] for row in table[1:]]
        if not table or not table[0]:
            raise ValueError(f"{path}: has a header and ids, but no objects.")
        check_unique(path, ids, list(range(2, len(ids) + 2)))
    if kind in _WORDS:
        return Objects(np.array(table, dtype=object), ids)
    if len(table[0]) != 1:
        raise ValueError(
            f"{path}: has {len(table[0])} cells of text in a row; one is needed, or two below a header that begins "
            "with id. Texts with commas need quotes."
        )
    return Objects([row[0] for row in table], ids)


def read_cells(path: Path) -> list[list[str]]:
    """Return the rows that are not blank, which must all have the same length.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of list of str
        The cells of each row.

    See Also
    --------
    write_table : Write a table with a header and a column of ids, if there are ids; numbers read back to the last bit.
    """
    found = [(line, cells) for line, cells in rows(path, "\t" if suffix(path) == ".tsv" else ",") if cells]
    if not found:
        raise ValueError(f"{path}: the file is empty.")
    for line, cells in found:
        if len(cells) != len(found[0][1]):
            raise ragged(path, line, len(cells), found[0][0], len(found[0][1]))
    return [cells for _, cells in found]
