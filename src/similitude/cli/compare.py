"""``similitude compare``: cross-validate every method on one data set and rank them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similitude.cli.options import (
    AsJson,
    DatasetName,
    Dissimilarity,
    Jobs,
    Key,
    Labels,
    LabelsInOrder,
    Matrix,
    Methods,
    Quiet,
    Seed,
    check_jobs,
    listed,
    notes,
)

if TYPE_CHECKING:
    from similitude.search.standing import Standing

LEAST_WIDTH = 110


def compare_methods(
    matrix: Matrix = None,
    labels: Labels = None,
    labels_in_order: LabelsInOrder = False,
    methods: Methods = None,
    dissimilarity: Dissimilarity = None,
    key: Key = None,
    dataset: DatasetName = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Outer folds.")] = 10,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Save the table.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Cross-validate the methods, parameters chosen within each training part, and rank them by error."""
    from similitude._utils.files import check_writable
    from similitude.cli.data import fold_count, read_samples
    from similitude.search.methods import methods as named
    from similitude.search.nested import INNER_FOLDS, nested_errors

    check_jobs(n_jobs)
    wanted = "all" if methods is None else listed(methods) or []
    named(wanted)  # an unknown name is said before the work
    if output is not None:
        check_writable(output, "--output")
    say = notes(quiet)
    data = read_samples(matrix, labels, dissimilarity, dataset, key, say=say, seed=seed, in_order=labels_in_order)
    fold_count(data.y, folds)
    table = named(wanted, **data.contract)
    standings = nested_errors(data.samples, table, folds=folds, seed=seed, n_jobs=n_jobs, show=not quiet)
    for standing in standings:
        if standing.failure is not None:
            say(f"{standing.method} failed: {' '.join(standing.failure.split())}")
    if output is not None:
        _save(standings, output)
    if as_json:
        typer.echo(json.dumps([_row(standing) for standing in standings], indent=2))
    elif not (quiet and output is not None):
        how = f"{folds}-fold cross-validation, parameters chosen within each training part by {INNER_FOLDS} folds"
        _show(standings, data.title, f"{how}; s.e.: standard error")
        if output is not None:
            typer.echo(f"saved to {output}")


def _row(standing: Standing) -> dict[str, Any]:
    """Return what is said of a method in a file."""
    from similitude.search.parameters import parameters_text

    return {
        "method": standing.method,
        "error": standing.error,
        "standard_error": standing.standard_error,
        "parameters": parameters_text(standing.parameters),
        "seconds": standing.seconds,
        "failure": standing.failure,
    }


def _save(standings: list[Standing], path: Path) -> None:
    from similitude._utils.files import replacing

    rows = [_row(standing) for standing in standings]
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _show(standings: list[Standing], title: str, caption: str) -> None:
    from rich.markup import escape
    from rich.table import Table

    from similitude.search.parameters import parameters_text

    table = Table(title=escape(title), caption=caption, title_justify="left", caption_justify="left")
    # Folded: on a narrow terminal nothing may be cut off.
    table.add_column("rank", justify="right", overflow="fold")
    table.add_column("method", overflow="fold")
    table.add_column("error % (s.e.)", justify="right", overflow="fold")
    table.add_column("chosen most often", overflow="fold")
    table.add_column("seconds", justify="right", overflow="fold")
    for rank, row in enumerate(standings, 1):
        error = "failed" if row.error is None else f"{100 * row.error:.2f} ({100 * (row.standard_error or 0):.2f})"
        table.add_row(str(rank), row.method, error, escape(parameters_text(row.parameters)), f"{row.seconds:.1f}")
    print_table(table)


def print_table(table: object) -> None:
    """Print a table as wide as the terminal; in a file or a pipe as wide as it needs."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, LEAST_WIDTH))
    console.print(table)
