"""Tables of results, in files and on the terminal."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from similitude._utils.files import replacing

LEAST_WIDTH = 110
TABLE_SUFFIXES = (".csv", ".tsv")
"""The suffixes of the tables that are written."""


def delimiter(path: Path) -> str:
    """Return what separates the columns of a table in this file."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


def save_rows(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write rows with the same columns to a .csv or .tsv file."""
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter(path), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def print_table(table: object) -> None:
    """Print a table as wide as the terminal, or as wide as it needs in a file or a pipe."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, LEAST_WIDTH))
    console.print(table)
