"""Edge lists in files: hits of BLAST, MMseqs2 and Foldseek, tables with two columns of ids, and Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from similitude._native import EdgeLines
from similitude._utils.extras import require
from similitude._utils.ids import some
from similitude.proximity.edges import Edges, best_of_each, square_matrix
from similitude.proximity.files.arrays import readable
from similitude.proximity.files.contents import Columns, Contents, Reading, unused
from similitude.proximity.files.forms import QUERY_NAMES, TARGET_NAMES, Look, end_columns, look, text_form
from similitude.proximity.files.tables import is_name, is_number, same_names
from similitude.proximity.files.text import LONGEST_LINE, open_bytes

BLAST_COLUMNS = (
    "query", "target", "pident", "length", "mismatch", "gapopen", "qstart", "qend", "tstart", "tend", "evalue", "bits",
)  # fmt: skip
"""The columns of BLAST's tabular output (outfmt 6), which MMseqs2 and Foldseek also write."""

LOWEST_EVALUE = 1e-300
"""E-values below this one, which programs print as 0, count as this one."""

_SCORE_NAMES = ("score", "similarity", "weight", "distance", "dist", "bits", "bitscore", "value")
_ALIASES = {"bitscore": "bits", "bit score": "bits", "e-value": "evalue", "fident": "pident", "identity": "pident"}
_BLOCK = 2**22
_BATCH = 2**20
TOP_BLOCK = 2**22
"""The number of edges that are read before those are left out that are not among the best of their query."""

Part = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The queries and targets of edges, as positions in the names, and their scores."""


class ChosenColumns(NamedTuple):
    """The places of the columns of an edge list, from 0, the name of its score, and all of its columns.

    The names are "" for columns that have none.
    """

    query: int
    target: int
    score: int
    score_name: str
    columns: Columns

    @property
    def remembered(self) -> dict[str, Any]:
        """The names by which a model finds these columns in another file; usual names of the ends are synonyms."""
        if self.columns.header is False:
            return {}
        query, target = (self.columns.names[j] for j in self[:2])
        ends = {"query": query, "target": target}
        usual = query in QUERY_NAMES and target in TARGET_NAMES
        return {**(dict.fromkeys(ends) if usual else ends), "score": self.columns.names[self.score]}


def read_edges(path: Path, reading: Reading, kind: str | None, square: bool) -> tuple[Edges, ChosenColumns] | None:
    """Return the edges in a file and their columns, or None if it is not an edge list; ``kind`` is None for text."""
    file = open_edges(path, reading, kind, square)
    return None if file is None else (_all_edges(file, reading), file.chosen)


def open_edges(path: Path, reading: Reading, kind: str | None, square: bool) -> EdgeFile | None:
    """Return an edge list whose columns are known, to be read part by part, or None if a file is not one."""
    if kind == "parquet":
        if reading.form not in (None, "edges") or not (
            reading.names_edges or readable(path, "a Parquet file", lambda: _looks_like_edges(path))
        ):
            return None
        return readable(path, "a Parquet file", lambda: _ParquetEdges(path, reading))
    if kind is not None:
        return None
    seen = look(path)
    form = reading.form or ("edges" if reading.names_edges else text_form(path, seen, square))
    return _TextEdges(path, seen, reading) if form == "edges" else None


def _all_edges(file: EdgeFile, reading: Reading) -> Edges:
    """Return the edges in all parts of a file or, with ``top``, the best of each query."""
    parts: list[Part] = []
    count = kept = 0
    for part in file.parts():
        parts.append(part)
        count += len(part[2])
        if reading.top is not None and sum(len(own[2]) for own in parts) >= max(TOP_BLOCK, 2 * kept):
            parts = [_best(_joined(parts), reading)]
            kept = len(parts[0][2])
    if reading.top is not None and parts:
        parts = [_best(_joined(parts), reading)]
    if not parts:
        raise ValueError(f"{file.path}: holds no edge.")
    return Edges(*_joined(parts), file.names(), count)


def _best(part: Part, reading: Reading) -> Part:
    """Return the best edges of each query."""
    return best_of_each(*part, reading.top or 1, smallest=reading.orientation == "dissimilarity")


def edge_blocks(file: EdgeFile, reading: Reading, most: int) -> Iterator[Edges]:
    """Yield the edges of a file in blocks of about ``most``; queries whose lines follow one another are not divided."""
    names: list[str] = []
    waiting: list[Part] = []
    for part in file.parts():
        names += file.names(len(names))
        waiting.append(part)
        if sum(len(own[2]) for own in waiting) < most:
            continue
        queries, targets, scores = _joined(waiting)
        changes = np.flatnonzero(queries[1:] != queries[:-1])
        end = int(changes[-1]) + 1 if len(changes) else 0
        if end:
            yield _numbered_anew((queries[:end], targets[:end], scores[:end]), names, reading)
        waiting = [(queries[end:], targets[end:], scores[end:])]
    if waiting:
        yield _numbered_anew(_joined(waiting), names, reading)


def top_text(count: int, kept: int, top: int) -> str:
    """Return how many edges were read, and how many of them are the best of their query."""
    return (
        f"{count:,} hits were read and {kept:,} are kept: the best {top} of each query, with those that tie with the "
        f"last one, and those to itself (top={top})."
    )


def _joined(parts: list[Part]) -> Part:
    """Return the ends and scores of several parts as one."""
    if len(parts) == 1:
        return parts[0]
    queries, targets, scores = (np.concatenate(values) for values in zip(*parts))
    return queries, targets, scores


def _numbered_anew(part: Part, names: list[str], reading: Reading) -> Edges:
    """Return edges, or the best of each query, whose names are only those of their own ends, in the same order."""
    count = len(part[2])
    queries, targets, scores = part if reading.top is None else _best(part, reading)
    used, codes = np.unique(np.concatenate([queries, targets]), return_inverse=True)
    codes = codes.ravel().astype(np.int32)
    return Edges(codes[: len(queries)], codes[len(queries) :], scores, [names[i] for i in used.tolist()], count)


def edge_matrix(path: Path, edges: Edges, chosen: ChosenColumns, reading: Reading) -> Contents:
    """Return the square matrix of edges, with notes on what they mean."""
    score = chosen.score_name
    if reading.orientation == "similarity" and not edges.scores.any():
        why = "every E-value is 1 or more" if score == "evalue" else "every score is 0"
        raise ValueError(
            f"{path}: {why} in column {chosen.score + 1}{f' ({score})' if score else ''}, so no pair has a "
            "similarity; choose another column with score (--score), by its name or its place from 1."
        )
    try:
        made = square_matrix(edges, reading)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    notes = [
        f"{len(edges.scores):,} edges between {len(edges.names):,} samples" + (f", score {score}" if score else "")
    ]
    if score == "evalue":
        notes[0] += " as -log10"
    value = "unknown" if made.missing == "unknown" else f"{made.missing:g}"
    if reading.orientation == "similarity":
        notes.append(f"the similarity of pairs without an edge is {value} (missing={reading.missing or 'zero'!r}).")
    elif reading.missing is None:
        notes.append("every pair has an edge.")
    else:
        notes.append(f"the distance of pairs without an edge is {value} (missing={reading.missing!r}).")
    if reading.top is not None:
        notes.insert(0, top_text(edges.count, len(edges.scores), reading.top))
    if made.merged:
        notes.append(
            f"{made.merged:,} edges repeat a pair; {reading.repeated} of its scores counts "
            f"(duplicates={reading.repeated!r})."
        )
    if made.one_sided and reading.direction == "keep" and len(edges.names) > 2:
        notes.append(
            "no pair has edges in both directions, so the matrix is one-sided. If the list holds each pair once, "
            "add --direction max (direction='max')."
        )
    kept = replace(reading, form="edges", missing=made.missing, duplicates=reading.repeated, **chosen.remembered)
    return Contents(
        made.S,
        edges.names,
        edges.names,
        square=True,
        absent=made.absent,
        notes=tuple(notes),
        columns={"path": chosen.columns},
        reading=kept,
        self_scores=made.self_scores,
    )


class _TextEdges:
    """The edges of a text file with the first rows ``seen``."""

    def __init__(self, path: Path, seen: Look, reading: Reading):
        if not seen.rows:
            raise ValueError(f"{path}: the file is empty; an edge list is needed.")
        line, head = seen.rows[0]
        body = [cells for _, cells in seen.rows[1:]] or [head]
        self.path = path
        self.chosen = chosen = _choose_columns(path, head, body, reading, reading.header)
        self._skip = line if chosen.columns.header else 0
        if self._skip and len(seen.rows) == 1:
            raise ValueError(f"{path}: there is a header row only; rows with two ids and a score are needed below it.")
        ends = chosen.query, chosen.target, chosen.score
        self._parser = EdgeLines(seen.delimiter.encode(), *ends, len(head), self._skip)

    def parts(self) -> Iterator[Part]:
        """Yield the ends, as positions in the names, and the scores of the edges in each block of lines."""
        path = self.path
        try:
            for block in _blocks(path, self._skip):
                size = block.count(b"\n") + 1
                ends = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
                count = self._parser.read(block, *ends)
                queries, targets, scores = (values[:count].copy() for values in ends)
                yield queries, targets, _as_similarities(path, scores, self.chosen)
        except ValueError as error:
            raise ValueError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from None

    def names(self, first: int = 0) -> list[str]:
        """Return the names of the samples that were read, from a position on."""
        try:
            return [name.decode() for name in self._parser.names(first)]
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.path}: the id {error.object!r} is not UTF-8 text; save the file in UTF-8."
            ) from None


def _as_similarities(path: Path, scores: np.ndarray, chosen: ChosenColumns) -> np.ndarray:
    """Return scores as they are, and E-values as -log10."""
    if chosen.score_name != "evalue":
        return scores
    if len(scores) and scores.min() < 0:
        raise ValueError(f"{path}: an E-value is {scores.min():g}; E-values are not negative.")
    return np.maximum(-np.log10(np.maximum(scores, LOWEST_EVALUE)), 0.0)


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


def _choose_columns(
    path: Path, head: list[str], body: list[list[str]], reading: Reading, header: bool | None
) -> ChosenColumns:
    """Return the columns of the ends and the score of edges, given the first row and the rows below it."""
    query, target, score = reading.query, reading.target, reading.score
    names = [cell.lower().lstrip("#").strip() for cell in head]
    numeric = [2 * sum(is_number(cells[j]) for cells in body if j < len(cells)) > len(body) for j in range(len(head))]
    usual_ends = any(name in QUERY_NAMES for name in names) and any(name in TARGET_NAMES for name in names)
    if header is None:
        header = usual_ends or not any(map(is_number, head))
    if not header and len(head) >= len(BLAST_COLUMNS) and all(numeric[2 : len(BLAST_COLUMNS)]):
        names = [*BLAST_COLUMNS, *[""] * (len(head) - len(BLAST_COLUMNS))]
        score = "bits" if score is None else score
    elif not header:
        names = [""] * len(head)
    if len(head) < 3:
        raise ValueError(
            f"{path}: has {len(head)} columns; an edge list has a column of queries, one of targets and one of scores."
        )
    if header and not usual_ends and (query is None or target is None):
        _check_ends(path, head, body)
    places = end_columns(body) if header else [0, 1]
    ends = (
        _column(path, names, query, QUERY_NAMES, places[0], "query"),
        _column(path, names, target, TARGET_NAMES, places[1], "target"),
    )
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
    roles = {"queries": [ends[0]], "targets": [ends[1]], "scores": [at], "not used": unused(len(head), *ends, at)}
    return ChosenColumns(*ends, at, _ALIASES.get(names[at], names[at]), Columns(header, names, roles))


def _check_ends(path: Path, head: list[str], body: list[list[str]]) -> None:
    """Raise a ValueError if more than two columns hold names, none of which is called as those of the ends are."""
    texts = [head[j] for j in range(len(head)) if all(is_name(cells[j]) for cells in body if j < len(cells))]
    if len(texts) > 2:
        raise ValueError(
            f"{path}: has {len(texts)} columns of names, {some(texts)}; choose those of the two samples of an edge "
            "with query and target (--query, --target), by their names or their places from 1."
        )


def _column(path: Path, names: list[str], wanted: str | int | None, usual: tuple, place: int | None, what: str) -> int:
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


class _ParquetEdges:
    """The edges of a Parquet file."""

    def __init__(self, path: Path, reading: Reading):
        pa, pq = require("pyarrow", "data"), require("pyarrow.parquet", "data")
        self.path, self._file = path, pq.ParquetFile(path)
        head = self._file.schema_arrow.names
        kinds = self._file.schema_arrow.types
        sample = ["1" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else "a" for kind in kinds]
        chosen = _choose_columns(path, head, [sample], reading, header=True)
        self._wanted = [head[j] for j in chosen[:3]]
        self.chosen = chosen._replace(columns=replace(chosen.columns, header=None))
        self._names: dict[str, int] = {}

    def parts(self) -> Iterator[Part]:
        """Yield the ends, as positions in the names, and the scores of the edges in each batch of rows."""
        row = 0
        batches = self._file.iter_batches(batch_size=_BATCH, columns=self._wanted)
        while (batch := readable(self.path, "a Parquet file", lambda: next(batches, None))) is not None:
            columns = [batch.column(batch.schema.get_field_index(name)) for name in self._wanted]
            for name, column in zip(self._wanted, columns):
                if column.null_count:
                    at = row + column.is_null().to_pylist().index(True) + 1
                    raise ValueError(
                        f"{self.path}: row {at}, column {name!r} is a missing value; every cell is needed."
                    )
            scores = np.asarray(columns[2].to_numpy(zero_copy_only=False), dtype=np.float64)
            if not np.isfinite(scores).all():
                at = int(np.flatnonzero(~np.isfinite(scores))[0])
                what = f"column {self._wanted[2]!r}: {scores[at]} is not a finite number."
                raise ValueError(f"{self.path}: row {row + at + 1}, {what}")
            queries, targets = (_coded(column, self._names) for column in columns[:2])
            yield queries, targets, _as_similarities(self.path, scores, self.chosen)
            row += len(scores)

    def names(self, first: int = 0) -> list[str]:
        """Return the names of the samples that were read, from a position on."""
        return list(islice(self._names, first, None))


EdgeFile = _TextEdges | _ParquetEdges


def _coded(column: Any, codes: dict[str, int]) -> np.ndarray:
    """Return the numbers of the names in a column; new names get the next numbers."""
    encoded = column if hasattr(column, "dictionary") else column.dictionary_encode()
    local = [codes.setdefault(str(name).strip(), len(codes)) for name in encoded.dictionary.to_pylist()]
    return np.array(local, dtype=np.int32)[encoded.indices.to_numpy(zero_copy_only=False)]


def _looks_like_edges(path: Path) -> bool:
    """Return whether a Parquet file has two columns of text and one of numbers, or the usual names of edges.

    A square table may also have columns with these names: its one column of text names the others.
    """
    pa, pq = require("pyarrow", "data"), require("pyarrow.parquet", "data")
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    names = [name.lower() for name in schema.names]
    text = [j for j, kind in enumerate(islice(schema.types, 1000)) if _is_text(pa, kind)]
    ends = [j for j, name in enumerate(names) if name in QUERY_NAMES + TARGET_NAMES]
    if {*names} & {*QUERY_NAMES} and {*names} & {*TARGET_NAMES}:
        if any(pa.types.is_floating(schema.types[j]) for j in ends):
            return False
        if len(text) != 1 or file.metadata.num_rows != len(names) - 1:
            return True
        others = [name for j, name in enumerate(schema.names) if j != text[0]]
        return not same_names(others, [str(name) for name in file.read().column(text[0]).to_pylist()])
    return len(text) == 2 and len(schema.types) > 2 and len(names) <= 100


def _is_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)
