"""``similitude convert``: write a file of proximities in another form."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.options import AsJson, Quiet, notes
from similitude.cli.source import Source


class WrittenForm(StrEnum):
    """The forms of text files that can be written."""

    table = "table"
    edges = "edges"
    condensed = "condensed"
    lower_triangle = "lower"
    upper_triangle = "upper"
    phylip = "phylip"
    phylip_lower = "phylip-lower"


def convert_file(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="File to write; its suffix determines the format.", show_default=False),
    ] = None,
    to: Annotated[
        WrittenForm | None,
        typer.Option(help="Form of OUT, if not the usual one of its suffix.", show_default=False),
    ] = None,
    distances: Annotated[bool, typer.Option("--distances", help="State that FILE holds distances.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read similarities or distances in any form, and write them in another one."""
    from similitude._utils.files import check_writable
    from similitude.proximity.files import Reading, load_values, save_proximity

    if source.matrix is None or output is None:
        raise ValueError("give FILE, the file to read, and OUT, the file to write.")
    check_writable(output, "OUT", source.inputs())
    note = notes(quiet)
    source = source.opened()
    options = source.reading() | ({"orientation": "dissimilarity"} if distances else {})
    data = load_values(source.matrix, Reading(**options), square=_is_square(source))  # type: ignore[arg-type]
    if data.read is not None:
        note(f"{source.matrix}: {data.read}")
    for text in data.notes:
        note(f"{source.matrix}: {text}")
    S = data.S
    if data.absent == "unknown" and to != "edges" and output.suffix not in (".edges", ".edgelist"):
        S = _with_unknown(S)
    columns = None if data.columns == data.rows else data.columns
    files = save_proximity(output, S, ids=data.rows, column_ids=columns, form=None if to is None else str(to))
    found = {"rows": S.shape[0], "columns": S.shape[1], "files": [str(path) for path in files]}
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif not quiet:
        typer.echo(f"{S.shape[0]} x {S.shape[1]}, saved to {' and '.join(map(str, files))}")


def _is_square(source: Source) -> bool:
    """Return whether the file holds pairs of the same samples; only a table or an array may be rectangular."""
    from similitude.proximity.files import text_form_of

    return text_form_of(source.matrix, source.form) not in ("table", "")  # type: ignore[arg-type]


def _with_unknown(S: Any) -> Any:
    """Return a sparse matrix as a dense one with NaN for the entries that it does not store."""
    import numpy as np

    entries = S.tocoo()
    dense = np.full(S.shape, np.nan)
    dense[entries.row, entries.col] = entries.data
    return dense
