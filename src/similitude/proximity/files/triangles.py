"""Files that hold every pair once: condensed vectors, triangles, and the distance matrices of PHYLIP."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from similitude._utils.forms import condensed_size, from_condensed
from similitude.proximity.files.contents import Columns, Contents, Reading
from similitude.proximity.files.forms import Look, names_columns
from similitude.proximity.files.tables import is_name, is_number, is_value, parsed_row, table_rows
from similitude.proximity.files.text import lines


def _own_value(path: Path, reading: Reading) -> float:
    """Return the value of a sample with itself in a file that does not hold it."""
    if reading.diagonal is not None:
        return float(reading.diagonal)
    if reading.orientation == "dissimilarity":
        return 0.0
    raise ValueError(
        f"{path}: holds each pair once, and nothing about samples and themselves. For distances pass --dissimilarity "
        "MAP (orientation='dissimilarity'), which makes these 0; for similarities pass --diagonal VALUE (diagonal=1.0)."
    )


def from_vector(path: Path, values: np.ndarray, reading: Reading) -> np.ndarray:
    """Return the square matrix of a condensed vector."""
    if condensed_size(len(values)) is None:
        raise ValueError(
            f"{path}: looks like a condensed vector, but it has {len(values)} entries; that of n samples has "
            "n (n - 1) / 2, such as 3 for n = 3, 6 for n = 4, 10 for n = 5."
        )
    return from_condensed(values, _own_value(path, reading))


def read_condensed(path: Path, seen: Look, reading: Reading) -> Contents:
    """Return the square matrix of a condensed vector in a text file, with one value per line or all in one line."""
    found: list[float] = []
    for i, (line, cells) in enumerate(table_rows(path, seen.delimiter)):
        if i == 0 and len(cells) == 1 and is_name(cells[0].strip()):
            continue
        found += parsed_row(path, line, cells, 0)
    return Contents(from_vector(path, np.array(found), reading))


def read_triangle(path: Path, seen: Look, reading: Reading) -> Contents:
    """Return the square matrix of a lower or upper triangle in a text file, and the ids of its samples."""
    body = [(line, [cell.strip() for cell in cells]) for line, cells in table_rows(path, seen.delimiter)]
    for _, cells in body:
        while len(cells) > 1 and not cells[-1]:
            cells.pop()
    longest = max(len(cells) for _, cells in body[1:])
    head = body[0][1]
    header = head if names_columns(head) and len(head) > 1 and len(head) >= longest - 1 else None
    if header is not None:
        body = body[1:]
    first = [cells[0] for _, cells in body]
    named = 2 * sum(map(is_name, first)) > len(first) or (header is not None and header[1:] == first)
    names = first if named else None
    numbers = [parsed_row(path, line, cells[1:] if named else cells, int(named)) for line, cells in body]
    S = _triangle(path, [line for line, _ in body], numbers, reading)
    places = len(S)
    ids = names if places == len(body) else None
    if header is not None and ids is None and len(header) >= places:
        ids = header[len(header) - places :]
    if named and ids is None:
        raise ValueError(
            f"{path}: {len(body)} rows with ids and no diagonal are a triangle of {places} samples, one of which has "
            "no id; add its row, or a header with all ids."
        )
    read = Columns(header is not None, header or [""], {"ids": [0] if named else []})
    return Contents(S, ids, ids, columns={"path": read})


def _triangle(path: Path, places: list[int], numbers: list[list[float]], reading: Reading) -> np.ndarray:
    """Return the matrix of the rows of a triangle."""
    lengths = [len(row) for row in numbers]
    lower = lengths[-1] > lengths[0]
    step = 1 if lower else -1
    for i in range(1, len(lengths)):
        if lengths[i] != lengths[i - 1] + step:
            raise ValueError(
                f"{path}: looks like a {'lower' if lower else 'upper'} triangle, but row {places[i]} has "
                f"{lengths[i]} numbers after {lengths[i - 1]} in the row before it; {lengths[i - 1] + step} are needed."
            )
    if min(lengths) > 1:
        raise ValueError(
            f"{path}: looks like a {'lower' if lower else 'upper'} triangle, but its shortest row has {min(lengths)} "
            "numbers; a triangle has a row with one number."
        )
    own = [row[-1 if lower else 0] for row in numbers if row]
    # Rows of 1 to n numbers hold the diagonal, unless it is given, or distances of samples to themselves were not 0.
    whole = min(lengths) == 1 and reading.diagonal is None and (reading.orientation == "similarity" or not any(own))
    n = len(numbers) + (not whole and min(lengths) == 1)
    return _filled(numbers, n, lower, None if whole else _own_value(path, reading))


def _filled(numbers: list[list[float]], n: int, lower: bool, own: float | None) -> np.ndarray:
    """Return the symmetric matrix of the rows of a triangle, of which the first (or last) may be absent."""
    S = np.full((n, n), math.nan)
    for i, row in enumerate(numbers):
        S[i + (n - len(numbers)) * lower, slice(0, len(row)) if lower else slice(n - len(row), n)] = row
    return _mirrored(S, lower, own)


def _mirrored(S: np.ndarray, lower: bool, own: float | None) -> np.ndarray:
    T = np.tril(S, -1) if lower else np.triu(S, 1)
    out = T + T.T
    np.fill_diagonal(out, np.diagonal(S) if own is None else own)
    return out


def read_phylip(path: Path, seen: Look, reading: Reading) -> Contents:
    """Return the matrix of a file of PHYLIP, square or lower triangular, and the names of its samples.

    Names end at the first blank; if that does not fit, they have ten characters, as in strict PHYLIP files.
    """
    content = ((number, line.rstrip("\r\n")) for number, line in enumerate(lines(path), 1))
    numbered = [(number, line) for number, line in content if line.strip()]
    n = int(numbered[0][1].strip())
    if n < 1 or n > len(numbered) * 10_000:
        raise ValueError(f"{path}: row {numbered[0][0]}: PHYLIP needs the number of samples; got {n}.")
    names, found, places = _phylip_rows(path, n, numbered[1:])
    lengths = [len(row) for row in found]
    if lengths == [n] * n:
        return Contents(np.array(found), names, names)
    for lower, with_own in ((True, False), (True, True), (False, False), (False, True)):
        steps = [i + with_own if lower else n - i - (not with_own) for i in range(n)]
        if lengths == steps:
            S = _filled(found, n, lower, None if with_own else _own_value(path, reading))
            return Contents(S, names, names)
    square = 2 * lengths.count(n) > n
    i = next((i for i, length in enumerate(lengths) if length not in ((n,) if square else (i, i + 1))), n - 1)
    raise ValueError(
        f"{path}: row {places[i]} ({names[i]!r}, sample {i + 1} of {n}) has {lengths[i]} numbers; a square PHYLIP file "
        f"has {n} in each row, a lower triangle {i} or {i + 1} in this one."
    )


def _phylip_rows(path: Path, n: int, numbered: list[tuple[int, str]]) -> tuple[list[str], list[list[float]], list[int]]:
    """Return names, numbers and lines of the samples; a line that begins with a number continues the one before."""
    names: list[str] = []
    found: list[list[float]] = []
    places: list[int] = []
    for number, line in numbered:
        cells = line.strip().split("\t") if "\t" in line.strip() else line.split()
        goes_on = line[:1].isspace() or (is_number(cells[0]) and len(names) and len(found[-1]) < n == len(names))
        if goes_on and names and all(map(is_number, line.split())):
            found[-1] += parsed_row(path, number, line.split(), 0)
            continue
        names.append(cells[0].strip())
        places.append(number)
        rest = [part for cell in cells[1:] for part in cell.split()]
        if not all(map(is_value, rest)) and all(map(is_value, line[10:].split())):
            names[-1], rest = line[:10].strip(), line[10:].split()
        found.append(parsed_row(path, number, rest, 1))
    if len(names) != n:
        raise ValueError(f"{path}: the first row promises {n} samples; there are {len(names)}.")
    return names, found, places


def mirror_blank_triangle(S: np.ndarray) -> np.ndarray | None:
    """Return a square matrix whose one strict triangle is unknown with the other one mirrored, or None."""
    unknown = np.isnan(S)
    if len(S) < 3 or not unknown.any():  # one unknown pair of two samples is no triangle
        return None
    for lower in (True, False):
        known, blank = (np.tril_indices, np.triu_indices) if lower else (np.triu_indices, np.tril_indices)
        offset = (-1, 1) if lower else (1, -1)
        if not unknown[known(len(S), offset[0])].any() and unknown[blank(len(S), offset[1])].all():
            return _mirrored(S, lower, None)
    return None
