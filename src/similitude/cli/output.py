"""What commands print and write: notes on stderr, tables on the terminal and in files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from similitude._utils.files import replacing
from similitude.auto.leaderboard import names_text
from similitude.diagnosis.card import percent
from similitude.proximity.unknown import NEEDS_ALL_PAIRS

TABLE_SUFFIXES = (".csv", ".tsv")
"""The suffixes of the tables that are written."""

_LEAST_WIDTH = 110

Notes = Callable[[str], None]


def notes(quiet: bool) -> Notes:
    """Return a function that prints a note on stderr, or does nothing if ``quiet``."""

    def note(text: str) -> None:
        if not quiet:
            typer.echo(f"similitude: {text}", err=True)

    return note


def once(note: Notes) -> Notes:
    """Return a function that prints each note only the first time."""
    seen: set[str] = set()

    def noted(text: str) -> None:
        if text not in seen:
            seen.add(text)
            note(text)

    return noted


def not_applicable_text(unknown: float) -> str:
    """Return why methods that need all pairs are not applied, given the share of the pairs that are unknown."""
    return f"not applicable: {percent(unknown)} of the pairs are unknown; --fill would allow them"


def note_failures(failures: Mapping[str, str], note: Notes, unknown: float) -> None:
    """Print why methods failed; those that need all pairs, if some are unknown, share one note."""
    need_all = [name for name, why in failures.items() if NEEDS_ALL_PAIRS in why]
    for name, why in failures.items():
        if name not in need_all:
            note(f"{name} failed: {' '.join(why.split())}")
    if need_all:
        note(f"{not_applicable_text(unknown)}: {names_text(need_all)}")


def print_left_out(names: Sequence[str], too_large: Sequence[str], interrupted: bool) -> None:
    """Print which methods were not tried because of a time budget or an interrupt, and which of the size."""
    if names:
        typer.echo(f"{'not tried  ' if interrupted else 'no time for'} {names_text(names)}")
    if too_large:
        count = "1 method is" if len(too_large) == 1 else f"{len(too_large)} methods are"
        typer.echo(f"too many    samples for some methods; {count} not used: {names_text(too_large)}")


def write_rows(path: Path, rows: Iterable[Iterable[Any]], order: Callable[[], list[int]] | None = None) -> None:
    """Write rows to a .csv or .tsv file; ``order`` returns, once all are written, which row is to be in each place."""
    with replacing(path) as part:
        starts = _write(part, rows, "\t" if path.suffix.lower() == ".tsv" else ",")
        if order is None:
            return
        with replacing(part) as ordered, part.open("rb") as source, ordered.open("wb") as target:
            for i in order():
                source.seek(starts[i])
                target.write(source.read(starts[i + 1] - starts[i]))


def _write(path: Path, rows: Iterable[Iterable[Any]], delimiter: str) -> list[int]:
    """Write rows, and return where in the file each of them starts, and where the last one ends."""
    starts = [0]
    with path.open("wb") as file:
        line = io.StringIO()
        writer = csv.writer(line, delimiter=delimiter, lineterminator="\n")
        for row in rows:
            writer.writerow(row)
            starts.append(starts[-1] + file.write(line.getvalue().encode()))
            line.seek(0)
            line.truncate()
    return starts


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the same columns to a .csv or .tsv file, below their names."""
    write_rows(path, [list(rows[0]), *(row.values() for row in rows)])


def print_table(table: object) -> None:
    """Print a table as wide as the terminal, or as wide as it needs in a file or a pipe."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, _LEAST_WIDTH))
    console.print(table)


def size_text(size: int) -> str:
    """Return a number of bytes in kB or MB."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"
