"""Square and rectangular tables of numbers in text files; they are parsed fast, and errors name the cell."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from similitude.proximity.files.contents import Columns, Contents
from similitude.proximity.files.text import BLANKS, delimiter_of, lines, open_text, ragged, rows, suffix

MISSING = {"", "na", "n/a", "nan", "null", "none", "missing", "?", ".", "-", "--"}
"""Texts that mean an unknown number; they are neither numbers nor names."""


@dataclass
class _Layout:
    """The positions of the numbers in a text file, found in a first pass over its rows."""

    delimiter: str
    header: list[str] | None
    """The cells of the header row; None if there is none."""
    skip: int
    """The number of lines up to and including the header."""
    lines: list[int]
    """The line of the file on which each row of numbers ends."""
    names: list[str] | None
    """The id column; None if there is none."""
    width: int
    """The number of cells in a row, including the id."""

    @property
    def offset(self) -> int:
        """The number of cells of a row that precede the numbers."""
        return 0 if self.names is None else 1

    @property
    def column_names(self) -> list[str] | None:
        """The names in the header, without that of the id column."""
        return None if self.header is None else self.header[len(self.header) - (self.width - self.offset) :]

    @property
    def columns(self) -> Columns:
        """Which column holds the ids."""
        names = [""] * self.width if self.header is None else ["", *self.header][-self.width :]
        return Columns(self.header is not None, names, {"ids": list(range(self.offset))})


def read_table(path: Path, square: bool, header: bool | None = None) -> tuple[Contents, list[int]]:
    """Return the numbers of a table with the names of its rows and columns, and the line of each row.

    Cells that are empty or NA are NaN. ``header`` states whether the first row is a header.
    """
    layout = _layout(path, square, header)
    try:
        with open_text(path) as file:
            values = np.loadtxt(
                file,
                delimiter=None if layout.delimiter == BLANKS else layout.delimiter,
                skiprows=layout.skip,
                usecols=range(layout.offset, layout.width),
                comments=None,
                quotechar='"',
                ndmin=2,
            )
    except ValueError:
        values = _parsed_cells(path, layout)
    if np.isinf(values).any():
        values = _parsed_cells(path, layout)
    found = Contents(values, layout.names, layout.column_names, columns={"path": layout.columns})
    return found, layout.lines


def _layout(path: Path, square: bool, has_header: bool | None) -> _Layout:
    """Count rows and cells, and distinguish names from numbers; raise a ValueError if rows differ in length."""
    delimiter = delimiter_of(next((line for line in lines(path) if line.strip() and not line.startswith("#")), ""))
    first: list[str] = []
    places: list[int] = []
    column: list[str] = []
    width = 0
    for line, cells in table_rows(path, delimiter):
        if not places:
            first = [cell.strip() for cell in cells]
        elif len(places) == 1:
            width = len(cells)
            # R writes no name above the row names, so its header has one cell fewer.
            if width != len(first) and not (width == len(first) + 1 and _can_be_ids(first)):
                raise ragged(path, line, width, places[0], len(first))
        elif len(cells) != width:
            raise ragged(path, line, len(cells), places[1], width)
        places.append(line)
        column.append(cells[0].strip())
    if not places:
        raise ValueError(f"{path}: the file is empty; a matrix is needed.")
    width = width or len(first)
    # The files of scikit-bio always have a header.
    certain = True if suffix(path) == ".lsmat" else has_header
    header = first if (_has_header(first, column, width, square) if certain is None else certain) else None
    if header is None and width != len(first):
        raise ragged(path, places[1], width, places[0], len(first))
    body = column if header is None else column[1:]
    if not body:
        raise ValueError(f"{path}: there is a header row only; rows of numbers are needed below it.")
    return _Layout(
        delimiter,
        header,
        places[0] - 1 if header is None else places[0],
        places if header is None else places[1:],
        body if _has_names(header, body, width, square) else None,
        width,
    )


def table_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the line of the file on which it ends, without leading comments.

    A comment begins with ``#``. The last one is a header if it has as many cells as the row below, or one fewer.
    """
    comment: tuple[int, list[str]] | None = None
    begun = False
    for line, cells in rows(path, delimiter):
        if not any(map(str.strip, cells)):  # a blank row
            continue
        if not begun and cells[0].startswith("#"):
            comment = line, [cells[0][1:], *cells[1:]]
            continue
        if not begun and comment is not None and 0 <= len(cells) - len(comment[1]) <= 1 < len(comment[1]):
            yield comment
        begun = True
        yield line, cells


def _has_header(first: list[str], column: list[str], width: int, square: bool) -> bool:
    corner, rest = first[0], first[1:]
    if len(first) < width:
        return mostly_names(first) or same_names(first, column[1:])
    if not rest:
        return len(column) > 1 and is_name(corner)
    if is_number(corner):
        # The names are those of the columns only; pandas writes positions for a table without its index.
        return square and len(column) == width + 1 and (are_positions(first) or any(map(is_name, first)))
    any_name = any(map(is_name, rest))
    if mostly_names(rest) or (any_name and corner == ""):
        return True
    if same_names(rest, column[1:]) and _can_be_ids(rest):
        return True
    if is_id_heading(corner) and not (square and len(column) == len(rest)):
        return True
    # Whole numbers are names if all differ, the corner can be a heading, and the first column also has names.
    if len(column) == 1 or not are_numeric_names(rest):
        return False
    if corner == "" and mostly_names(column[1:]):
        return True
    return (corner == "" or corner[0].isalpha()) and are_numeric_names(column[1:])


def _has_names(header: list[str] | None, body: list[str], width: int, square: bool) -> bool:
    if width == 1:
        return False
    if 2 * sum(map(is_name, body)) > len(body):
        return True
    if header is None:
        return square and width == len(body) + 1 and any(map(is_name, body))
    if len(header) == width - 1 or header[0] == "" or is_id_heading(header[0]) or same_names(header[1:], body):
        return True
    return width == len(body) + 1 and are_numeric_names(body)


def _can_be_ids(cells: list[str]) -> bool:
    """Return whether there are names among the cells, or all are whole numbers or texts such as NA."""
    if any(map(is_name, cells)):
        return True
    return "" not in cells and are_numeric_names([cell for cell in cells if cell.lower() not in MISSING])


def is_id_heading(text: str) -> bool:
    """Return whether a cell is the heading of a column of ids."""
    return text.lower().lstrip("#").strip() == "id"


def same_names(some: list[str], others: list[str]) -> bool:
    """Return whether two lists hold the same different names, in any order."""
    return len(some) == len(others) == len(set(some)) and set(some) == set(others)


def is_number(text: str) -> bool:
    """Return whether a cell is a real number; NaN and infinity are."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_value(text: str) -> bool:
    """Return whether a cell is a number or a text for an unknown one."""
    return is_number(text) or text.lower() in MISSING


def is_name(text: str) -> bool:
    """Return whether a cell is neither a number nor a text for an unknown one."""
    return not is_number(text) and text.lower() not in MISSING


def mostly_names(cells: list[str]) -> bool:
    """Return whether at least half of the cells are names."""
    return 2 * sum(map(is_name, cells)) >= len(cells)


def are_numeric_names(cells: list[str]) -> bool:
    """Return whether the cells are whole numbers that all differ."""
    return all(re.fullmatch("[0-9]+", cell) for cell in cells) and len(set(cells)) == len(cells)


def are_positions(names: list[str]) -> bool:
    """Return whether names are only positions: 0, 1, 2, ... or 1, 2, 3, ..."""
    return any(names == [str(i + start) for i in range(len(names))] for start in (0, 1))


def matching_names(
    path: Path, row_names: list[str] | None, column_names: list[str] | None, lines: list[int] | None
) -> tuple[list[str] | None, np.ndarray | None]:
    """Return the ids of a square matrix, and the order of its columns by name, or None if it is that of the rows."""
    if row_names is None or column_names is None:
        return (column_names if row_names is None else row_names), None
    if row_names == column_names:
        return row_names, None
    if set(row_names) == set(column_names):
        place = {name: j for j, name in enumerate(column_names)}
        return row_names, np.array([place[name] for name in row_names])
    if are_positions(column_names):
        return row_names, None
    if are_positions(row_names):
        return column_names, None
    known = set(column_names)
    i = next(i for i, name in enumerate(row_names) if name not in known)
    place_of = f"row {lines[i] if lines else i + 1}"
    raise ValueError(
        f"{path}: rows and columns must be the same samples; {place_of} is called {row_names[i]!r}, and no column is. "
        f"The columns begin with {column_names[:3]}."
    )


def _parsed_cells(path: Path, layout: _Layout) -> np.ndarray:
    """Return the numbers, NaN where unknown, or raise an error that names the first cell that is not a number."""
    found = table_rows(path, layout.delimiter)
    if layout.header is not None:
        next(found)
    return np.array([parsed_row(path, line, cells[layout.offset :], layout.offset) for line, cells in found])


def parsed_row(path: Path, line: int, cells: list[str], offset: int) -> list[float]:
    """Return the numbers of a row, with NaN for unknown ones."""
    try:
        values = list(map(float, cells))  # checking each cell separately takes six times as long
        if not any(map(math.isinf, values)) and not any("_" in cell for cell in cells):
            return values
    except ValueError:
        pass
    values = []
    for j, cell in enumerate(cells, 1):
        text = cell.strip()
        if text.lower() in MISSING:
            values.append(math.nan)
            continue
        problem = _problem(text)
        if problem:
            raise ValueError(f"{path}: row {line}, column {j + offset}: {text!r} {problem}; a finite number is needed.")
        values.append(float(text))
    return values


def _problem(text: str) -> str | None:
    if is_number(text):
        value = float(text)
        return None if not np.isinf(value) else "is infinite"
    try:
        complex(text)
    except ValueError:
        return "is not a number" + (" (a decimal comma?)" if is_number(text.replace(",", ".", 1)) else "")
    return "is a complex number" if "_" not in text else "is not a number"
