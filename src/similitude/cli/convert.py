"""``similitude convert``: write a file of proximities in another form."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from similitude._utils.files import check_writable
from similitude.cli.options import AsJson, Quiet, Source, argument, option
from similitude.cli.output import notes
from similitude.proximity.files import Reading, load_values, save_proximity, text_form_of


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
    output: Annotated[Path | None, argument("File to write; its suffix determines the format.", "OUT")] = None,
    to: Annotated[WrittenForm | None, option("Form of OUT, if not the usual one of its suffix.")] = None,
    distances: Annotated[bool, typer.Option("--distances", help="State that FILE holds distances.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read similarities or distances in any form, and write them in another one."""
    if source.matrix is None or output is None:
        raise ValueError("give FILE, the file to read, and OUT, the file to write.")
    check_writable(output, "OUT", source.inputs())
    note = notes(quiet)
    source = source.opened()
    path: Path = source.matrix  # type: ignore[assignment]
    options = source.reading() | ({"orientation": "dissimilarity"} if distances else {})
    # Only a table or an array may be rectangular; other forms hold pairs of the same samples.
    data = load_values(path, Reading(**options), square=text_form_of(path, source.form) not in ("table", ""))
    for text in (*data.columns.values(), *data.notes):
        note(f"{path}: {text}")
    S = data.values
    if isinstance(S, dict):
        raise ValueError("--combine separate: OUT holds one matrix; use mean or ranks.")
    if data.absent == "unknown" and to != "edges" and output.suffix not in (".edges", ".edgelist"):
        entries, S = S.tocoo(), np.full(S.shape, np.nan)
        S[entries.row, entries.col] = entries.data
    columns = None if data.column_ids == data.ids else data.column_ids
    files = save_proximity(output, S, ids=data.ids, column_ids=columns, form=None if to is None else str(to))
    found = {"rows": S.shape[0], "columns": S.shape[1], "files": [str(path) for path in files]}
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif not quiet:
        typer.echo(f"{S.shape[0]} x {S.shape[1]}, saved to {' and '.join(map(str, files))}")
