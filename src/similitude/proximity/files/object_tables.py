"""Tables whose columns are named: the objects, and in the same table their labels, groups and ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from similitude._utils.extras import require
from similitude._utils.ids import some
from similitude._utils.warn import warn
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.files.arrays import readable
from similitude.proximity.files.contents import Columns, Contents, unused
from similitude.proximity.files.forms import binary_kind
from similitude.proximity.files.labels import LABEL_HEADINGS, as_labels, note_words_for_nothing
from similitude.proximity.files.tables import is_id_heading, is_name, parsed_row
from similitude.proximity.files.text import BLANKS, check_unique, check_widths, delimiter_of, lines, rows, suffix

MOLECULES = "molecules or fingerprints"
TEXTS = ("strings", "documents", "biological sequences", MOLECULES)
_WORDS_OR_SETS = "categorical rows, sets or binary vectors"
WORDS = ("categorical rows", _WORDS_OR_SETS)
SETS = ("sets or binary vectors", _WORDS_OR_SETS)
HEADINGS = {
    "compound", "description", "document", "item", "name", "names", "object", "objects", "seq", "sentence", "sequence",
    "sequences", "smiles", "string", "strings", "surname", "text", "texts", "title", "word", "words",
}  # fmt: skip
"""Usual headings of texts."""
ASK_HEADER = "say whether the first line is a header: --header yes or --header no (header=True or header=False)"

ColumnName = str | int
_NO_TEXT = {"", "na", "n/a", "nan", "null", "none"}


@dataclass(frozen=True)
class NamedColumns:
    """The columns of a table that hold its objects, labels and groups, by name or by place from 1."""

    objects: ColumnName | Sequence[ColumnName] | None = None
    labels: ColumnName | None = None
    groups: ColumnName | None = None

    @property
    def any(self) -> bool:
        """Whether a column is named."""
        return not (self.objects is None and self.labels is None and self.groups is None)

    @property
    def only_places(self) -> bool:
        """Whether all columns that are named are places."""
        named = [self.labels, self.groups, *_listed(self.objects)]
        return all(name is None or isinstance(name, int) or name.isdecimal() for name in named)


def _listed(columns: ColumnName | Sequence[ColumnName] | None) -> list[ColumnName]:
    if columns is None:
        return []
    return [columns] if isinstance(columns, (str, int)) else list(columns)


def read_cells(path: Path, has_names: bool = False) -> list[list[str]]:
    """Return the rows of a table that are not blank, which must all have the same length; a Parquet file has a header.

    Missing values of a Parquet file are empty cells. If the first line ``has_names``, it also shows the delimiter of a
    .csv file; a text there may have semicolons.
    """
    if binary_kind(path) == "parquet":
        return readable(path, "a Parquet file", lambda: _parquet_cells(path))
    found = [(line, cells) for line, cells in rows(path, _delimiter(path, has_names)) if cells]
    if not found:
        raise ValueError(f"{path}: the file is empty.")
    check_widths(path, found)
    return [cells for _, cells in found]


def first_cells(path: Path) -> list[str]:
    """Return the cells of the first row of a table, which may be its header."""
    if binary_kind(path) == "parquet":
        pq = require("pyarrow.parquet", "data")
        return readable(path, "a Parquet file", lambda: pq.ParquetFile(path).schema_arrow.names)
    return next((cells for _, cells in rows(path, _delimiter(path, True)) if cells), [])


def _parquet_cells(path: Path) -> list[list[str]]:
    pq = require("pyarrow.parquet", "data")
    table = pq.ParquetFile(path).read()
    columns = [["" if value is None else str(value) for value in column.to_pylist()] for column in table.columns]
    return [list(table.column_names), *map(list, zip(*columns))]


def _delimiter(path: Path, has_names: bool) -> str:
    kind = suffix(path)
    if kind == ".tsv" or (kind == ".csv" and not has_names):
        return "\t" if kind == ".tsv" else ","
    found = delimiter_of(next((line for line in lines(path) if line.strip()), ""))
    return "," if found == BLANKS else found


def read_object_table(path: Path, kind: str, named: NamedColumns, header: bool | None = None) -> Contents:
    """Return the objects of a table, and the labels, groups and ids of those that have a label.

    Without a name for the objects these are all other columns, of which texts need one only.
    """
    binary = binary_kind(path)
    if binary not in (None, "parquet"):
        raise ValueError(
            f"{path}: columns are named in tables (.csv, .tsv, .parquet); this is {suffix(path) or 'another file'}."
        )
    table = read_cells(path, has_names=True)
    head = [cell.strip() for cell in table[0]]
    if header is None and binary is None and named.only_places:
        raise ValueError(f"{path}: columns are given by their places; {ASK_HEADER}.")
    has_header = header is not False or binary is not None
    body = table[has_header:]
    if not body:
        raise ValueError(f"{path}: has a header, but no rows.")
    names = head if has_header else [""] * len(head)
    labels = [] if named.labels is None else [_place(path, head, named.labels, "label")]
    groups = [] if named.groups is None else [_place(path, head, named.groups, "group")]
    objects = _object_places(path, head, named, [*labels, *groups], kind, body, has_header)
    ids = _id_places(body, head if has_header else [], [*objects, *labels, *groups])
    roles = {"ids": ids, "objects": objects, "labels": labels, "groups": groups}
    rest = unused(len(head), *chain(*roles.values()))
    columns = Columns(has_header if binary is None else None, names, {**roles, "not used": rest})
    own = [row[ids[0]].strip() for row in body] if ids else None
    if own is not None:
        check_unique(path, own, list(range(1 + has_header, len(own) + 1 + has_header)))
    if kind in SETS and has_header and len(objects) == 1 and is_smiles(head[objects[0]]):
        kind = MOLECULES
    body, own, left_out = _complete(path, body, own, labels, objects, has_header, kind)
    values = _values(path, [[row[j] for j in objects] for row in body], kind, has_header, objects)
    y = as_labels([row[labels[0]].strip() for row in body]) if labels else None
    if y is not None:
        note_words_for_nothing(path, y)
    if groups:
        lacking = [i + 1 + has_header for i, row in enumerate(body) if not row[groups[0]].strip()]
        if lacking:
            raise ValueError(f"{path}: {len(lacking)} samples have no group, first in row {lacking[0]}.")
    found = np.array([row[groups[0]].strip() for row in body]) if groups else None
    return Contents(values, own, columns={"path": columns}, y=y, groups=found, left_out=left_out)


def _place(path: Path, head: list[str], column: ColumnName, what: str) -> int:
    """Return the place from 0 of a column that is given by its name or its place from 1."""
    if isinstance(column, str):
        if head.count(column) > 1:
            raise ValueError(
                f"{path}: {head.count(column)} columns are called {column!r}; give the place from 1 of the one with "
                f"the {what}s."
            )
        if column in head:
            return head.index(column)
    place = int(column) if isinstance(column, int) or column.isdecimal() else 0
    if not 1 <= place <= len(head):
        raise ValueError(
            f"{path}: there is no column {column!r}; --{what} ({what}_column) must be one of {some(head)}, or a place "
            f"from 1 to {len(head)}."
        )
    return place - 1


def _object_places(
    path: Path,
    head: list[str],
    named: NamedColumns,
    used: list[int],
    kind: str,
    body: list[list[str]],
    has_header: bool,
) -> list[int]:
    if named.objects is not None:
        wanted = _listed(named.objects)
        if len(wanted) == 1 and isinstance(wanted[0], str) and wanted[0] not in head and "," in wanted[0]:
            wanted = [*map(str.strip, wanted[0].split(","))]
        places = [_place(path, head, name, "object") for name in wanted]
    else:
        ids = _id_places(body, head if has_header else [], used)
        places = [j for j in range(len(head)) if j not in (*used, *ids)]
        if not places:
            raise ValueError(f"{path}: has no column of objects besides those of ids, labels and groups.")
    if len(places) > 1 and kind in TEXTS and kind != MOLECULES:
        raise ValueError(
            f"{path}: the objects are in {len(places)} columns, {some([head[j] for j in places])}, and a text is in "
            "one; name it with --object (object_column)."
        )
    twice = [head[j] for j in places if j in used]
    if twice:
        raise ValueError(f"{path}: column {twice[0]!r} has the objects; labels and groups are in other columns.")
    return places


def _id_places(body: list[list[str]], head: list[str], used: list[int]) -> list[int]:
    """Return the place of the column of ids: that with the heading id, or the only one whose heading ends so."""
    plain = [j for j, cell in enumerate(head) if is_id_heading(cell) and j not in used]
    ending = [j for j, cell in enumerate(head) if re.search("[_ -]id$", cell.lower()) and j not in used]
    ending = [j for j in ending if all(row[j].strip() for row in body) and len({row[j] for row in body}) == len(body)]
    return plain[:1] or (ending if len(ending) == 1 else [])


def _complete(
    path: Path,
    body: list[list[str]],
    ids: list[str] | None,
    labels: list[int],
    objects: list[int],
    has_header: bool,
    kind: str,
) -> tuple[list[list[str]], list[str] | None, list[str]]:
    """Return the rows with a label and an object, their ids, and the names of the others; a warning names these."""
    if not labels:
        return body, ids, []
    names = [f"row {i + 1 + has_header}" for i in range(len(body))] if ids is None else ids
    texts = kind in TEXTS
    lacking = {
        "label": [i for i, row in enumerate(body) if not row[labels[0]].strip()],
        "object": [i for i, row in enumerate(body) if texts and row[objects[0]].strip().lower() in _NO_TEXT],
    }
    for what, places in lacking.items():
        if places:
            have = "1 sample has" if len(places) == 1 else f"{len(places)} samples have"
            are = "is" if len(places) == 1 else "are"
            warn(f"{path}: {have} no {what} and {are} left out: {some([names[i] for i in places])}.", SimilarityWarning)
    dropped = {i for places in lacking.values() for i in places}
    if len(dropped) == len(body):
        raise ValueError(f"{path}: no sample has both an object and a label.")
    kept = [i for i in range(len(body)) if i not in dropped]
    left_out = [names[i] for i in sorted(dropped)]
    return [body[i] for i in kept], None if ids is None else [ids[i] for i in kept], left_out


def is_smiles(heading: str) -> bool:
    """Return whether the heading of a column says that it holds SMILES."""
    return "smiles" in heading.lower()


def _values(path: Path, cells: list[list[str]], kind: str, has_header: bool, places: list[int]) -> Any:
    """Return the objects: texts, sets of words, rows of words, or rows of numbers, such as fingerprints."""
    if kind in TEXTS and len(places) == 1:
        return [row[0] for row in cells]
    if kind in SETS and all(cell.strip() in ("0", "1") for row in cells for cell in row):
        return np.array(cells, dtype=np.int8)
    if kind == SETS[0] and len(places) == 1:
        return [frozenset(row[0].split()) for row in cells]
    if kind in (*WORDS, *SETS):
        return np.array(cells, dtype=object)
    numbers = [parsed_row(path, i, row, 0) for i, row in enumerate(cells, 1 + has_header)]
    found = np.array(numbers)
    if np.isnan(found).any():
        row, column = np.argwhere(np.isnan(found))[0]
        raise ValueError(f"{path}: row {row + 1 + has_header} lacks number {column + 1}; every number is needed.")
    return found


def offered_columns(path: Path, table: list[list[str]], places: list[int]) -> str:
    """Return the message that a table has several columns of text, with the options that would read it."""
    head = [cell.strip() for cell in table[0]]
    chosen, label = _likely_columns(table, places)
    return (
        f"{path}: has {len(places)} columns of text, {some([head[j] for j in places])}; one is needed, and one of ids "
        f"below a heading id. Name the columns of the objects and labels in the header: --object {_word(head[chosen])} "
        f"--label {_word(head[label])} (object_column={head[chosen]!r}, label_column={head[label]!r}); without one "
        "give their places from 1, and --header no. Texts with commas need quotes."
    )


def column_options(path: Path) -> str | None:
    """Return the options that name the columns of a table with a header, or None if the file may be another one."""
    if binary_kind(path) not in (None, "parquet") or suffix(path) not in (".csv", ".tsv", ".parquet"):
        return None
    table = read_cells(path, has_names=True)
    head = [cell.strip() for cell in table[0]]
    if len(head) < 2 or len(table) < 3 or len({*head}) < len(head) or not all(map(is_name, head)):
        return None
    places = [j for j in range(len(head)) if not is_id_heading(head[j])]
    if len(places) < 2:
        return None
    chosen, label = _likely_columns(table, places)
    return f"--object {_word(head[chosen])} --label {_word(head[label])}"


def _likely_columns(table: list[list[str]], places: list[int]) -> tuple[int, int]:
    """Return the columns that look like the objects and the labels: by their headings, and by how many cells differ."""
    head, body = [cell.strip().lower() for cell in table[0]], table[1:]
    distinct = {j: len({row[j] for row in body}) for j in places}
    label = min([j for j in places if head[j] in LABEL_HEADINGS] or places, key=lambda j: (distinct[j], -j))
    rest = [j for j in places if j != label]
    chosen = max([j for j in rest if head[j] in HEADINGS] or rest, key=lambda j: (distinct[j], -j))
    return chosen, label


def _word(text: str) -> str:
    """Return a name as one word of a shell."""
    return text if re.fullmatch(r"[\w.-]+", text) else f"'{text}'"
