"""Tables of numbers and labels in text files; they are parsed fast, and errors name the cell."""

from __future__ import annotations

import csv
import gzip
import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

DELIMITERS = {".csv": ",;\t", ".tsv": "\t"}
"""The characters that may separate cells, by suffix; the most frequent one in the first line is used."""

_MISSING = {"", "na", "n/a", "null", "none", "missing", "?", ".", "-", "--"}
"""Texts that mean a missing number; they are neither numbers nor names."""


@dataclass
class Layout:
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


def read_table(path: Path, square: bool) -> tuple[np.ndarray, list[str] | None, list[str] | None, Layout]:
    """Return the numbers, the names of the rows and the names of the columns of a CSV or TSV file, and its layout."""
    layout = _layout(path, square)
    try:
        with open_text(path) as file:
            values = np.loadtxt(
                file,
                delimiter=layout.delimiter,
                skiprows=layout.skip,
                usecols=range(layout.offset, layout.width),
                comments=None,
                quotechar='"',
                ndmin=2,
            )
    except ValueError as error:
        raise _culprit(path, layout) or ValueError(f"{path}: cannot be read as numbers: {error}") from None
    if not np.isfinite(values).all():
        raise _culprit(path, layout) or ValueError(f"{path}: contains NaN or infinity.")
    return values, layout.names, layout.column_names, layout


def _layout(path: Path, square: bool) -> Layout:
    """Count rows and cells, and distinguish names from numbers; raise a ValueError if rows differ in length."""
    delimiter = _delimiter(path)
    first: list[str] = []
    lines: list[int] = []
    column: list[str] = []
    width = 0
    for line, cells in _rows(path, delimiter):
        if not lines:
            first = [cell.strip() for cell in cells]
        elif len(lines) == 1:
            width = len(cells)
            # R writes no name above the row names, so its header has one cell fewer.
            if width != len(first) and not (width == len(first) + 1 and _mostly_names(first)):
                raise _ragged(path, line, width, lines[0], len(first))
        elif len(cells) != width:
            raise _ragged(path, line, len(cells), lines[1], width)
        lines.append(line)
        column.append(cells[0].strip())
    if not lines:
        raise ValueError(f"{path}: the file is empty; a matrix is needed.")
    width = width or len(first)
    header = first if _has_header(first, column, square) else None
    body = column if header is None else column[1:]
    if not body:
        raise ValueError(f"{path}: there is a header row only; rows of numbers are needed below it.")
    return Layout(
        delimiter,
        header,
        0 if header is None else lines[0],
        lines if header is None else lines[1:],
        body if _has_names(header, body, width) else None,
        width,
    )


def _ragged(path: Path, line: int, found: int, other: int, needed: int) -> ValueError:
    return ValueError(
        f"{path}: row {line} has {found} cells, row {other} has {needed}; all rows must have the same number."
    )


def _has_header(first: list[str], column: list[str], square: bool) -> bool:
    corner, rest = first[0], first[1:]
    if not rest:
        return len(column) > 1 and _is_name(corner)
    if not is_number(corner) and _mostly_names(rest):
        return True
    if is_number(corner):
        # The names are only positions, as pandas writes them for a table without its index.
        return square and len(column) == len(first) + 1 and _counts(first)
    # Whole numbers are names if all differ, the corner can be a heading, and the first column has names, too.
    if len(column) == 1 or not _are_numeric_names(rest):
        return False
    if corner == "" and _mostly_names(column[1:]):
        return True
    return (corner == "" or corner[0].isalpha()) and _are_numeric_names(column[1:])


def _has_names(header: list[str] | None, body: list[str], width: int) -> bool:
    if width == 1:
        return False
    if 2 * sum(map(_is_name, body)) > len(body):
        return True
    if header is None:
        return False
    if len(header) == width - 1 or header[0] == "" or header[1:] == body:
        return True
    return width == len(body) + 1 and _are_numeric_names(body)


def is_number(text: str) -> bool:
    """Return whether a cell is a real number; NaN and infinity are."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _is_name(text: str) -> bool:
    return not is_number(text) and text.lower() not in _MISSING


def _mostly_names(cells: list[str]) -> bool:
    return 2 * sum(map(_is_name, cells)) >= len(cells)


def _are_numeric_names(cells: list[str]) -> bool:
    return all(re.fullmatch("[0-9]+", cell) for cell in cells) and len(set(cells)) == len(cells)


def _counts(names: list[str]) -> bool:
    """Return whether names are only positions: 0, 1, 2, ... or 1, 2, 3, ..."""
    return any(names == [str(i + start) for i in range(len(names))] for start in (0, 1))


def matching_names(path: Path, rows: list[str] | None, columns: list[str] | None, layout: Layout | None) -> Any:
    """Return the ids of a square matrix whose rows and columns may both have names; other names override positions."""
    if rows is None or columns is None:
        return columns if rows is None else rows
    permuted = rows != columns and set(rows) == set(columns)
    if rows == columns or (_counts(columns) and not permuted):
        return rows
    if _counts(rows) and not permuted:
        return columns
    i = next(i for i, (row, column) in enumerate(zip(rows, columns)) if row != column)
    place = f"row {layout.lines[i]}" if layout else f"row {i + 1}"
    raise ValueError(
        f"{path}: rows and columns must be the same samples in the same order; {place} is called {rows[i]!r}, but the "
        f"column in its place, number {i + 1 + (layout.offset if layout else 0)}, is called {columns[i]!r}."
    )


def _culprit(path: Path, layout: Layout) -> ValueError | None:
    """Return an error that names the first cell that is not a finite number, or None."""
    rows = _rows(path, layout.delimiter)
    if layout.header is not None:
        next(rows)
    for line, cells in rows:
        cells = cells[layout.offset :]
        if not _all_finite(cells):
            j, text, problem = next((j, c.strip(), p) for j, c in enumerate(cells, 1) if (p := _problem(c.strip())))
            place = f"row {line}, column {j + layout.offset}"
            return ValueError(f"{path}: {place}: {text!r} {problem}; a finite number is needed.")
    return None


def _all_finite(cells: list[str]) -> bool:
    """Return whether all cells of a row are finite numbers; checking each cell separately takes six times as long."""
    try:
        return all(map(math.isfinite, map(float, cells))) and not any("_" in cell for cell in cells)
    except ValueError:
        return False


def _problem(text: str) -> str | None:
    if is_number(text):
        value = float(text)
        return None if np.isfinite(value) else "is NaN" if np.isnan(value) else "is infinite"
    if text.lower() in _MISSING:
        return "is a missing value"
    try:
        complex(text)
    except ValueError:
        return "is not a number" + (" (a decimal comma?)" if is_number(text.replace(",", ".", 1)) else "")
    return "is a complex number" if "_" not in text else "is not a number"


def _delimiter(path: Path) -> str:
    allowed = DELIMITERS[suffix(path)]
    with open_text(path) as file:
        line = next((line for line in file if line.strip()), "")
    return max(allowed, key=line.count)


def suffix(path: Path) -> str:
    """Return the suffix that determines the format, in lower case and without .gz.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    str
        The suffix.
    """
    name = path.name.lower()
    return Path(name[: -len(".gz")] if name.endswith(".gz") else name).suffix


def _rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Return the rows that are not blank, each with the line of the file on which it ends."""
    return (row for row in _all_rows(path, delimiter) if any(map(str.strip, row[1])))


def _all_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=delimiter)
        try:
            for cells in reader:
                yield reader.line_num, cells
        except csv.Error as error:
            raise ValueError(f"{path}: row {reader.line_num} cannot be read: {error}.") from None


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Yield the file as UTF-8 text, decompressed if it ends in .gz; raise a ValueError if it cannot be read.

    Parameters
    ----------
    path : Path
        The file.

    Yields
    ------
    file
        The open file.
    """
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError:
        raise ValueError(
            f"{path}: row {_undecodable(path, opener)} is not UTF-8 text; save the file as text in UTF-8."
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: the .gz file is truncated or corrupt: {error}.") from None


def _undecodable(path: Path, opener: Any) -> int:
    with opener(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError:
                return number
    return 1


def read_labels(
    path: Path, n: int, ids: list[str] | None, in_order: bool = False, what: str = "label"
) -> tuple[np.ndarray, list[str] | None]:
    """Return the labels of n samples in their order, and the ids of the samples.

    Labels with ids are matched to the samples by id. If the samples have no ids, such labels are accepted if
    ``in_order`` is true, and refused otherwise.

    Parameters
    ----------
    path : Path
        The file.
    n : int
        The number of samples.
    ids : list of str or None
        The ids of the samples.
    in_order : bool, default=False
        Whether labels with ids are in the order of samples without ids.
    what : str, default="label"
        What the file holds for each sample, for the error messages.

    Returns
    -------
    labels : ndarray of shape (n,)
        The labels.
    ids : list of str or None
        The ids of the samples, or those of the label file.
    """
    rows = list(_label_rows(path))
    if not rows:
        raise ValueError(f"{path}: the {what} file is empty; one {what} per sample is needed ({n}).")
    for line, cells in rows:
        if len(cells) > 2:
            raise ValueError(f"{path}: row {line} has {len(cells)} cells; a {what}, or an id and a {what}, are needed.")
        if len(cells) != len(rows[0][1]):
            raise _ragged(path, line, len(cells), rows[0][0], len(rows[0][1]))
    if _starts_with_header(rows, n, ids):
        rows = rows[1:]
    for line, cells in rows:
        if not cells[-1]:
            raise ValueError(f"{path}: row {line} has no {what}.")
    if len(rows) != n:
        raise ValueError(f"{path}: {len(rows)} {what}s for {n} samples; one {what} per row of the matrix is needed.")
    labels = [cells[-1] for _, cells in rows]
    if len(rows[0][1]) == 2:
        own = [cells[0] for _, cells in rows]
        check_unique(path, own, [line for line, _ in rows])
        if ids is not None:
            labels = _in_order(path, rows, ids)
        elif in_order:
            ids = own
        else:
            raise ValueError(
                f"{path}: the {what}s have ids, but the samples have none to match them to. If the {what}s are in the "
                "order of the samples, pass labels_in_order=True (--labels-in-order) or leave out their ids; if not, "
                "give the matrix ids: those of D.npy are read from D.ids.txt beside it, one id per line."
            )
    return _as_labels(labels), ids


def _label_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    kind = suffix(path)
    if kind in DELIMITERS:
        rows = [(i, [cell.strip() for cell in cells] or [""]) for i, cells in _all_rows(path, _delimiter(path))]
    else:
        with open_text(path) as file:
            rows = [(i, [cell.strip() for cell in line.split("\t")]) for i, line in enumerate(file, 1)]
    while rows and not any(rows[-1][1]):
        rows.pop()
    yield from rows


def _starts_with_header(rows: list[tuple[int, list[str]]], n: int, ids: list[str] | None) -> bool:
    """Return whether there is one row too many, and the first row differs from all others as a header does."""
    if len(rows) != n + 1:
        return False
    head, labels = rows[0][1], [cells[-1] for _, cells in rows[1:]]
    if len(head) == 2 and ids is not None:
        return head[0] not in ids
    return head[-1] not in labels and (not all(map(is_number, labels)) or not is_number(head[-1]))


def check_unique(path: Path, names: list[str], lines: list[int] | None = None) -> None:
    """Raise a ValueError if two samples have the same name.

    Parameters
    ----------
    path : Path
        The file of the names.
    names : list of str
        The names.
    lines : list of int, default=None
        The line of each name in the file.
    """
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        if name in seen:
            rows = [k + 1 if lines is None else lines[k] for k in (seen[name], i)]
            raise ValueError(f"{path}: the id {name!r} appears twice (rows {rows[0]} and {rows[1]}); ids must differ.")
        seen[name] = i


def _in_order(path: Path, rows: list[tuple[int, list[str]]], ids: list[str]) -> list[str]:
    known = set(ids)
    for line, cells in rows:
        if cells[0] not in known:
            raise ValueError(
                f"{path}: row {line}: {cells[0]!r} is not a sample of the matrix; its ids begin with {ids[:3]}."
            )
    label_of = {cells[0]: cells[1] for _, cells in rows}
    return [label_of[name] for name in ids]


def _as_labels(texts: list[str]) -> np.ndarray:
    # "01" is a name, not a number, and so is a number that exceeds 64 bits.
    whole = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts)
    return np.array([int(text) for text in texts] if whole else texts)
