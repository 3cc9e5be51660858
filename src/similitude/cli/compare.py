"""``similitude compare``: cross-validate the methods on one data set and rank them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similitude.cli.options import (
    AsJson,
    Fill,
    Jobs,
    Methods,
    NoLeak,
    Quiet,
    Seed,
    TimeBudget,
    check_budget,
    check_jobs,
    listed,
    note_failures,
    notes,
)
from similitude.cli.source import Source

if TYPE_CHECKING:
    from similitude.search import Standing

LEAST_WIDTH = 110


def compare_methods(
    source: Source,
    no_leak: NoLeak = None,
    fill: Fill = None,
    methods: Methods = None,
    time_budget: TimeBudget = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Number of outer folds.")] = 10,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Save the table here.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Rank the methods by their errors in nested cross-validation, with parameters chosen within each training part.

    With several matrices of the same samples, compare these similarities instead: the best error on each, what each
    adds to the others, and how alike they are.
    """
    from similitude._utils.files import check_writable
    from similitude.cli.adjust import with_fill, without_leaks
    from similitude.cli.data import check_classes
    from similitude.cli.several import check_names, compare_files, read_matrices, show_similarities
    from similitude.search import INNER_FOLDS, NO_TIME, nested_errors
    from similitude.search import methods as named

    check_jobs(n_jobs)
    check_budget(time_budget)
    wanted = "all" if methods is None else listed(methods) or []
    check_names(wanted, source)  # an unknown name raises an error before the work begins
    if output is not None:
        check_writable(output, "--output")
    note = notes(quiet)
    data = read_matrices(source, note=note, seed=seed)
    data = without_leaks(with_fill(data, fill), no_leak, note)
    folds, not_testable = check_classes(data, folds)
    if not_testable:
        note(f"classes not tested: {', '.join(not_testable)} (too few samples to test)")
    if data.are_several:
        settings = {"cv": folds, "random_state": seed, "n_jobs": n_jobs, "time_budget": time_budget}
        found = compare_files(data, wanted, {**settings, "verbose": int(not quiet)})
        note_failures(found.failures, note)
        show_similarities(found, data.title, folds, output, as_json, quiet)
        return
    table = named(wanted, **data.contract)
    standings = nested_errors(
        data.samples,
        table,
        folds=folds,
        seed=seed,
        n_jobs=n_jobs,
        show=not quiet,
        time_budget=time_budget,
        **data.fold_arguments,
    )
    note_failures({row.method: row.failure for row in standings if row.failure and row.failure != NO_TIME}, note)
    if output is not None:
        _save(standings, output)
    if as_json:
        typer.echo(json.dumps([_row(standing) for standing in standings], indent=2))
    elif not (quiet and output is not None):
        folding = f"{folds}-fold cross-validation{'' if data.groups is None else ' by groups'}"
        choice = f"parameters chosen within each training part by {INNER_FOLDS} folds"
        _show(standings, data.title, f"{folding}, {choice}; s.e.: standard error")
        left_out = [standing.method for standing in standings if standing.failure == NO_TIME]
        if left_out:
            typer.echo(f"no time for {', '.join(left_out)}")
        if output is not None:
            typer.echo(f"saved to {output}")


def _row(standing: Standing) -> dict[str, Any]:
    """Return the columns of a method in a file."""
    from similitude.search import parameters_text

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

    from similitude.search import NO_TIME, parameters_text

    table = Table(title=escape(title), caption=caption, title_justify="left", caption_justify="left")
    # Columns are folded, so that nothing is cut off on a narrow terminal.
    table.add_column("rank", justify="right", overflow="fold")
    table.add_column("method", overflow="fold")
    table.add_column("error % (s.e.)", justify="right", overflow="fold")
    table.add_column("chosen most often", overflow="fold")
    table.add_column("seconds", justify="right", overflow="fold")
    for rank, row in enumerate((row for row in standings if row.failure != NO_TIME), 1):
        error = "failed" if row.error is None else f"{100 * row.error:.2f} ({100 * (row.standard_error or 0):.2f})"
        table.add_row(str(rank), row.method, error, escape(parameters_text(row.parameters)), f"{row.seconds:.1f}")
    print_table(table)


def print_table(table: object) -> None:
    """Print a table as wide as the terminal, or as wide as it needs in a file or a pipe."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, LEAST_WIDTH))
    console.print(table)
