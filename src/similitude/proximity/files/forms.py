"""The form of a file, by its content first and its suffix second."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from similitude.proximity.files.tables import (
    are_numeric_names,
    is_id_heading,
    is_name,
    is_number,
    is_value,
    mostly_names,
    same_names,
    table_rows,
)
from similitude.proximity.files.text import delimiter_of, lines, open_bytes, suffix

EDGE_SUFFIXES = (".m8", ".b6", ".blast", ".blast6", ".edges", ".edgelist", ".hits")
PHYLIP_SUFFIXES = (".phy", ".phylip", ".dist")
QUERY_NAMES = ("query", "qseqid", "query_id", "qid", "source", "from", "id1", "node1", "name1", "query acc.ver")
TARGET_NAMES = (
    "target", "tseqid", "sseqid", "subject", "subject_id", "target_id", "tid", "sid", "to", "id2", "node2", "name2",
    "subject acc.ver", "match",
)  # fmt: skip

_MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
    b"PAR1": "parquet",
    b"%%MatrixMarket": "mtx",
    b"MATLAB 7.3": "hdf5",
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"MATLAB 5.0": "mat",
}
_BINARY = {
    "npy": "an array of NumPy",
    "npz": "an archive of NumPy",
    "parquet": "a Parquet file",
    "mtx": "a Matrix Market file",
    "mat": "a MATLAB file",
}
_ROWS, _CHARACTERS = 200, 2**22


class Look(NamedTuple):
    """The first rows of a text file."""

    delimiter: str
    rows: list[tuple[int, list[str]]]
    whole: bool


def binary_kind(path: Path) -> str | None:
    """Return the kind of a binary file (or Matrix Market file), or None for text."""
    with open_bytes(path) as file:
        start = file.read(512)
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    expected = suffix(path).removeprefix(".")
    if expected not in _BINARY:
        return None
    if expected in ("npy", "npz") and start[:1] == b"\x80":
        raise ValueError(
            f"{path}: holds pickled Python objects, which are not loaded because loading can run any code; save plain "
            "arrays of numbers or text."
        )
    if expected == "mat" and not _is_text(start):
        return "mat"  # files of version 4 do not begin with a signature
    what = "looks like text" if _is_text(start) else "does not begin as such a file does"
    hint = "; name it .csv, .tsv or .txt" if _is_text(start) else "; it may be truncated or corrupt"
    raise ValueError(f"{path}: is named as {_BINARY[expected]}, but it {what}{hint}.")


def _is_text(start: bytes) -> bool:
    return bool(start) and all(byte >= 32 or byte in (9, 10, 13) for byte in start)


def look(path: Path) -> Look:
    """Return the first rows of a text file."""
    first = [line for line, _ in zip((line for line in lines(path) if line.strip() and line[0] != "#"), range(3))]
    if not first:
        return Look(",", [], True)
    # The first lines of PHYLIP and of a triangle may have one cell only, and the next one shows the delimiter.
    delimiter = delimiter_of(next((line for line in first if len(re.split(r"[\s,;]+", line.strip())) > 1), first[0]))
    rows: list[tuple[int, list[str]]] = []
    characters = 0
    for row in table_rows(path, delimiter):
        if len(rows) >= _ROWS or (len(rows) > 3 and characters > _CHARACTERS):
            return Look(delimiter, rows, False)
        if rows and len(row[1]) != len(rows[0][1]) and _is_comment(row[1]):
            continue
        rows.append((row[0], [cell.strip() for cell in row[1]]))
        characters += sum(map(len, row[1]))
    return Look(delimiter, rows, True)


def _is_comment(cells: list[str]) -> bool:
    """Return whether a row below the first one is a comment, and not a name with numbers as in a triangle."""
    return cells[0].startswith("#") and not (len(cells) > 1 and all(is_value(cell.strip()) for cell in cells[1:]))


def text_form(path: Path, seen: Look, square: bool) -> str:
    """Return the form of a text file."""
    if suffix(path) in EDGE_SUFFIXES:
        return "edges"
    rows = [cells for _, cells in seen.rows]
    if not rows:
        return "table"
    if form := _judgements(rows):
        return form
    if _is_phylip(rows, seen.whole, suffix(path) in PHYLIP_SUFFIXES):
        return "phylip"
    if _is_edges(rows) and not _names_its_rows(rows, seen.whole):
        return "edges"
    if square and _is_condensed(rows):
        return "condensed"
    if square and _is_triangle(rows):
        return "triangle"
    return "table"


def _judgements(rows: list[list[str]]) -> str:
    """Return the form of a table whose header names judgements, or "" for any other."""
    head = {cell.lower().lstrip("#").strip() for cell in rows[0]}
    if len(rows) < 2 or len(rows[0]) < 3 or any(len(cells) != len(rows[0]) for cells in rows):
        return ""
    if {"first", "second", "third", "odd"} <= head:
        return "odd-one-out"
    if {"anchor", "chosen", "other"} <= head:
        return "triads"
    is_long = "rating" in head and len({cells[0] for cells in rows[1:]}) < len(rows) - 1
    return "ratings" if is_long or {"first", "second", "rating"} <= head else ""


def _is_phylip(rows: list[list[str]], whole: bool, by_suffix: bool) -> bool:
    count = [cell for cell in rows[0] if cell]
    if len(count) != 1 or not count[0].isdecimal() or len(rows) < 2 or len(count[0]) > 9:
        return False
    n, lengths = int(count[0]), [len(cells) for cells in rows[1:]]
    if by_suffix or is_name(rows[1][0]) or lengths[0] == n + 1 > 2:
        return True
    # The names are numbers, above a lower triangle.
    return 1 < len(lengths) <= n and (not whole or len(lengths) == n) and lengths == list(range(1, len(lengths) + 1))


def _names_its_rows(rows: list[list[str]], whole: bool) -> bool:
    """Return whether the first row names the rows below, as in a square table."""
    head, column = rows[0][1:], [cells[0] for cells in rows[1:]]
    return same_names(head, column) if whole else len({*column}) == len(column) and {*column} <= {*head}


def names_known(seen: Look, known: Collection[str]) -> bool:
    """Return whether most cells of the first row are known samples, as in a table of rows to these."""
    head = set(seen.rows[0][1][1:]) if seen.rows else set()
    return 2 * len(head.intersection(known)) > len(head)


def _is_edges(rows: list[list[str]]) -> bool:
    head = [cell.lower().lstrip("#").strip() for cell in rows[0]]
    width = len(head)
    if width < 3 or any(len(cells) != width for cells in rows):
        return False
    body = rows[1:] or rows
    if {*head} & {*QUERY_NAMES} and {*head} & {*TARGET_NAMES}:
        # In a table of new samples, columns that are samples with such names hold similarities.
        ends = [j for j, name in enumerate(head) if name in QUERY_NAMES + TARGET_NAMES]
        fractions = any(is_number(cells[j]) and not cells[j].isdecimal() for cells in body for j in ends)
        return not (head[0] in ("", "id") and fractions)
    columns = list(zip(*body))
    if not any(all(map(is_number, column)) for column in columns):
        return False
    ends = end_columns(body)
    return ends == [0, 1] == _name_columns(body)[:2] or _share_names(*(columns[j] for j in ends))


def end_columns(body: list[list[str]]) -> list[int]:
    """Return the places of the ends of edges: the two columns of names, if some name is in both, or the first two."""
    named, columns = _name_columns(body), list(zip(*body))
    return named if len(named) == 2 and _share_names(*(columns[j] for j in named)) else [0, 1]


def _name_columns(body: list[list[str]]) -> list[int]:
    """Return the places of the columns of which nearly all cells are names."""
    return [j for j, column in enumerate(zip(*body)) if 10 * sum(map(is_name, column)) > 9 * len(column)]


def _share_names(first: Iterable[str], second: Iterable[str]) -> bool:
    """Return whether some name is in both columns, which is no damaged cell of a table; other cells may be numbers."""
    return any(is_name(cell) for cell in {*first} & {*second})


def _is_condensed(rows: list[list[str]]) -> bool:
    if len(rows) == 1:
        return len(rows[0]) > 2 and all(map(is_number, rows[0]))
    body = rows if is_number(rows[0][0]) else rows[1:]
    return len(body) > 2 and all(len(cells) == 1 and is_number(cells[0]) for cells in body)


def _is_triangle(rows: list[list[str]]) -> bool:
    lengths = [len([cell for cell in cells if cell]) for cells in rows]
    if names_columns(rows[0]):
        lengths = (
            lengths[1:] if len(rows[0]) > 1 and len(rows) > 2 and len(rows[0]) >= max(lengths[1:]) - 1 else lengths
        )
    steps = [b - a for a, b in pairwise(lengths)]
    ragged = len({len(cells) for cells in rows[-len(lengths) :]}) > 1
    # A few rows may be damaged, which is then said.
    regular = max(steps.count(1), steps.count(-1))
    return ragged and regular >= max(1, 0.6 * len(steps))


def names_columns(first: list[str]) -> bool:
    """Return whether the first row of a triangle can be a header."""
    return mostly_names(first) or is_id_heading(first[0]) or (is_name(first[0]) and are_numeric_names(first[1:]))


def text_form_of(path: Path, form: str | None = None) -> str:
    """Return the form of a text file that is to hold pairs of the same samples, or "" for a binary file."""
    if binary_kind(path) is not None:
        return ""
    return str(form or text_form(path, look(path), True))
