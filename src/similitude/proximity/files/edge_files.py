"""Edge lists in files: hits of BLAST, MMseqs2 and Foldseek, tables with two columns of ids, and Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from similitude._native import EdgeLines
from similitude._utils.extras import require
from similitude.proximity.edges import Edges, some
from similitude.proximity.files.forms import QUERY_NAMES, TARGET_NAMES, Look
from similitude.proximity.files.tables import is_number
from similitude.proximity.files.text import LONGEST_LINE, open_bytes

BLAST_COLUMNS = (
    "query", "target", "pident", "length", "mismatch", "gapopen", "qstart", "qend", "tstart", "tend", "evalue", "bits",
)  # fmt: skip
"""The columns of BLAST's tabular output (outfmt 6), which MMseqs2 and Foldseek write, too."""

LOWEST_EVALUE = 1e-300
"""E-values below this one, which programs print as 0, count as this one."""

_SCORE_NAMES = ("score", "similarity", "weight", "distance", "dist", "bits", "bitscore", "value")
_ALIASES = {"bitscore": "bits", "bit score": "bits", "e-value": "evalue", "fident": "pident", "identity": "pident"}
_BLOCK = 2**22

Column = str | int | None


class ChosenColumns(NamedTuple):
    """The columns of an edge list.

    Parameters
    ----------
    query, target, score : int
        The places of the columns, from 0.
    score_name : str
        The name of the score, or "" if it has none.
    header : bool
        Whether the first row is a header.
    """

    query: int
    target: int
    score: int
    score_name: str
    header: bool


def read_edge_text(path: Path, seen: Look, query: Column, target: Column, score: Column) -> tuple[Edges, str]:
    """Return the edges of a text file, and the name of their score.

    Parameters
    ----------
    path : Path
        The file.
    seen : Look
        Its first rows.
    query, target, score : str, int or None
        The names of the columns, or their places from 1.

    Returns
    -------
    edges : Edges
        The edges.
    score : str
        The name of the score.
    """
    if not seen.rows:
        raise ValueError(f"{path}: the file is empty; an edge list is needed.")
    line, head = seen.rows[0]
    body = [cells for _, cells in seen.rows[1:]] or [head]
    chosen = choose_columns(path, head, body, query, target, score)
    skip = line if chosen.header else 0
    if chosen.header and len(seen.rows) == 1:
        raise ValueError(f"{path}: there is a header row only; rows with two ids and a score are needed below it.")
    parser = EdgeLines(seen.delimiter.encode(), chosen.query, chosen.target, chosen.score, len(head), skip)
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    try:
        for block in _blocks(path, skip):
            size = block.count(b"\n") + 1
            ends = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
            count = parser.read(block, *ends)
            parts.append(tuple(values[:count].copy() for values in ends))  # type: ignore[arg-type]
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from None
    try:
        names = [name.decode() for name in parser.names()]
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: the id {error.object!r} is not UTF-8 text; save the file in UTF-8.") from None
    edges = _joined(parts, names)
    return _scored(path, edges, chosen.score_name), chosen.score_name


def _joined(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]], names: list[str]) -> Edges:
    queries, targets, scores = (np.concatenate(values) for values in zip(*parts))
    return Edges(queries, targets, scores, names)


def _blocks(path: Path, skip: int) -> Iterator[bytes]:
    """Yield the file in blocks of whole lines, without the first lines."""
    with open_bytes(path) as file:
        for _ in range(skip):
            file.readline(LONGEST_LINE)
        rest = b""
        started = False
        while block := file.read(_BLOCK):
            if not started and not skip:
                block = block.removeprefix(b"\xef\xbb\xbf")
            started = True
            end = block.rfind(b"\n")
            if end < 0:
                rest += block
                if len(rest) > LONGEST_LINE:
                    raise ValueError(
                        f"{path}: a line has more than {LONGEST_LINE:,} characters; a line may not be longer."
                    )
                continue
            yield rest + block[: end + 1]
            rest = block[end + 1 :]
        if rest:
            yield rest


def choose_columns(
    path: Path, head: list[str], body: list[list[str]], query: Column, target: Column, score: Column
) -> ChosenColumns:
    """Return the columns of the ends and the score of edges.

    Parameters
    ----------
    path : Path
        The file.
    head : list of str
        The cells of the first row.
    body : list of list of str
        The cells of the rows below.
    query, target, score : str, int or None
        The names of the columns, or their places from 1.

    Returns
    -------
    ChosenColumns
        The columns.
    """
    names = [cell.lower().lstrip("#").strip() for cell in head]
    numeric = [2 * sum(is_number(cells[j]) for cells in body if j < len(cells)) > len(body) for j in range(len(head))]
    header = not any(map(is_number, head))
    if not header and len(head) >= len(BLAST_COLUMNS) and all(numeric[2 : len(BLAST_COLUMNS)]):
        names = [*BLAST_COLUMNS, *names[len(BLAST_COLUMNS) :]]
        score = "bits" if score is None else score
    elif not header:
        names = [""] * len(head)
    if len(head) < 3:
        raise ValueError(
            f"{path}: has {len(head)} columns; an edge list has a column of queries, one of targets and one of scores."
        )
    ends = [
        _column(path, names, query, QUERY_NAMES, 0, "query"),
        _column(path, names, target, TARGET_NAMES, 1, "target"),
    ]
    if score is None and not header and len(head) > 3:
        raise ValueError(
            f"{path}: has {len(head)} columns without names, such as {some(head)}; choose that of the scores by its "
            "place, such as score=3 (--score 3)."
        )
    usual = next((j for j, cell in enumerate(names) if cell in _SCORE_NAMES and j not in ends), None)
    if score is None and usual is None:
        others = [j for j, is_numeric in enumerate(numeric) if is_numeric and j not in ends]
        if len(others) > 1 and header:
            raise ValueError(
                f"{path}: has several columns of numbers, {some([head[j] for j in others])}; choose that of the scores "
                "with score (--score), by its name or its place from 1."
            )
        usual = others[0] if others else None
    at = _column(path, names, score, (), usual, "score")
    return ChosenColumns(ends[0], ends[1], at, _ALIASES.get(names[at], names[at]), header)


def _column(path: Path, names: list[str], wanted: Column, usual: tuple, place: int | None, what: str) -> int:
    """Return the place of a column that is wanted by name or place, or that has one of the usual names."""
    if wanted is None:
        found = next((j for j, name in enumerate(names) if name in usual), place)
        if found is None or found >= len(names):
            raise ValueError(f"{path}: there is no column of numbers; name that of the scores with score (--score).")
        return found
    text = str(wanted).lower()
    if text in names:
        return names.index(text)
    aliased = [_ALIASES.get(name, name) for name in names]
    if _ALIASES.get(text, text) in aliased:
        return aliased.index(_ALIASES.get(text, text))
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return int(text) - 1
    named = f"the name of one of {[name for name in names if name]}, or " if any(names) else ""
    raise ValueError(
        f"{path}: there is no column {wanted!r}; {what} (--{what}) must be {named}a place from 1 to {len(names)}."
    )


def _scored(path: Path, edges: Edges, name: str) -> Edges:
    """Return the edges with E-values as -log10."""
    if name != "evalue":
        return edges
    if len(edges.scores) and edges.scores.min() < 0:
        raise ValueError(f"{path}: an E-value is {edges.scores.min():g}; E-values are not negative.")
    similar = np.maximum(-np.log10(np.maximum(edges.scores, LOWEST_EVALUE)), 0.0)
    return Edges(edges.queries, edges.targets, similar, edges.names)


def read_edge_parquet(path: Path, query: Column, target: Column, score: Column) -> tuple[Edges, str]:
    """Return the edges of a Parquet file, and the name of their score.

    Parameters
    ----------
    path : Path
        The file.
    query, target, score : str, int or None
        The names of the columns, or their places from 1.

    Returns
    -------
    edges : Edges
        The edges.
    score : str
        The name of the score.
    """
    pa, pq = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    file = pq.ParquetFile(path)
    head = file.schema_arrow.names
    kinds = file.schema_arrow.types
    sample = ["1" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else "a" for kind in kinds]
    chosen = choose_columns(path, head, [sample], query, target, score)
    wanted = [head[j] for j in chosen[:3]]
    codes: dict[str, int] = {}
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    row = 0
    for batch in file.iter_batches(batch_size=2**20, columns=wanted):
        columns = [batch.column(batch.schema.get_field_index(name)) for name in wanted]
        for name, column in zip(wanted, columns):
            if column.null_count:
                at = row + column.is_null().to_pylist().index(True) + 1
                raise ValueError(f"{path}: row {at}, column {name!r} is a missing value; every cell is needed.")
        scores = np.asarray(columns[2].to_numpy(zero_copy_only=False), dtype=np.float64)
        if not np.isfinite(scores).all():
            at = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise ValueError(f"{path}: row {row + at + 1}, column {wanted[2]!r}: {scores[at]} is not a finite number.")
        parts.append((*(_coded(column, codes) for column in columns[:2]), scores))  # type: ignore[arg-type]
        row += len(scores)
    if not parts:
        raise ValueError(f"{path}: holds no edge.")
    edges = _joined(parts, list(codes))
    return _scored(path, edges, chosen.score_name), chosen.score_name


def _coded(column: Any, codes: dict[str, int]) -> np.ndarray:
    """Return the numbers of the names in a column; new names get the next numbers."""
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    local = [codes.setdefault(str(name).strip(), len(codes)) for name in encoded.dictionary.to_pylist()]
    return np.array(local, dtype=np.int32)[encoded.indices.to_numpy(zero_copy_only=False)]


def looks_like_edges(path: Path) -> bool:
    """Return whether a Parquet file has two columns of text and one of numbers, or the usual names of edges."""
    pa, pq = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    schema = pq.ParquetFile(path).schema_arrow
    names = [name.lower() for name in schema.names]
    if set(names) & set(QUERY_NAMES) and set(names) & set(TARGET_NAMES):
        return True
    text = [kind for kind in islice(schema.types, 1000) if _is_text(pa, kind)]
    return len(text) == 2 and len(schema.types) > 2 and len(names) <= 100


def _is_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)
