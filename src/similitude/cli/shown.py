"""The names by which samples are shown: a column that ``--show`` names, or the objects themselves, beside the ids."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from similitude._utils.ids import some
from similitude.cli.data import Input
from similitude.cli.options import Source, option
from similitude.proximity.files import check_file, read_cells

Show = Annotated[
    str | None,
    option(
        "Column with what people call the samples (a title, the name of a picture), of --labels or of FILE, by name or "
        "place from 1; it is shown beside the ids. Texts are shown themselves.",
        "COLUMN",
    ),
]


def shown_names(data: Input, source: Source, column: str | None) -> list[str]:
    """Return a name for each sample: what it is, if that is known, with its id."""
    ids = data.ids
    texts = _column(data, source, column) if column is not None else _objects(data)
    if texts is None:
        return [f"#{i}" for i in range(data.n)] if ids is None else list(ids)
    if ids is None:
        return texts
    return [name if text in ("", name) else f"{text} ({name})" for text, name in zip(texts, ids)]


def _objects(data: Input) -> list[str] | None:
    """Return the objects, if they are texts."""
    is_text = isinstance(data.values, list) and all(isinstance(item, str) for item in data.values)
    return list(data.values) if is_text else None


def _column(data: Input, source: Source, column: str) -> list[str]:
    """Return the cells of a column in the order of the samples, matched by id if these have ids."""
    path, name = (source.matrix, "FILE") if source.labels is None else (source.labels, "--labels")
    if path is None:
        raise ValueError("--show names a column of a file; a data set of --dataset has none.")
    head, *body = [[cell.strip() for cell in cells] for cells in read_cells(check_file(path, name), has_names=True)]
    at = _place(path, head, column)
    if data.ids is None:
        if len(body) != data.n:
            raise ValueError(
                f"--show: {path} has {len(body)} rows below its header for {data.n} samples without ids; one row for "
                "each is needed, in their order, or a column of ids."
            )
        return [cells[at] for cells in body]
    known = set(data.ids)
    counts = [sum(cells[j] in known for cells in body) for j in range(len(head))]
    own = counts.index(max(counts))
    text_of = {cells[own]: cells[at] for cells in body}
    lacking = [name for name in data.ids if name not in text_of]
    if lacking:
        raise ValueError(f"--show: {path} has no row for {len(lacking)} of {data.n} samples: {some(lacking)}.")
    return [text_of[name] for name in data.ids]


def _place(path: Path, head: list[str], column: str) -> int:
    if column in head:
        return head.index(column)
    if column.isdecimal() and 1 <= int(column) <= len(head):
        return int(column) - 1
    raise ValueError(f"--show: {path} has no column {column!r}; its columns are {some(head)}.")
