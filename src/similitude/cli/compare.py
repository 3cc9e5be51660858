"""``similitude compare``: cross-validate the methods on one data set and rank them."""

from __future__ import annotations

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
    from similitude.auto import LeaderboardRow
    from similitude.cli.data import LoadedData


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
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE.csv", help="Save the table here, .csv or .tsv.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Rank the methods by their errors in nested cross-validation, with parameters chosen within each training part.

    With several matrices of the same samples, compare these similarities instead: the best error on each, what each
    adds to the others, and how alike they are.
    """
    from similitude._utils.files import check_writable
    from similitude.auto import NO_TIME
    from similitude.cli.adjust import read_adjusted
    from similitude.cli.data import check_classes, check_nested
    from similitude.cli.several import check_names, compare_files, show_similarities
    from similitude.cli.tables import TABLE_SUFFIXES, save_rows

    check_jobs(n_jobs)
    check_budget(time_budget)
    wanted = "all" if methods is None else listed(methods) or []
    check_names(wanted, source)  # an unknown name raises an error before the work begins
    if output is not None:
        check_writable(output, "--output", source.inputs(), TABLE_SUFFIXES)
    note = notes(quiet)
    data = read_adjusted(source, fill=fill, no_leak=no_leak, note=note, seed=seed)
    check_nested(data, folds, seed)
    folds, not_testable = check_classes(data, folds)
    if not_testable:
        note(f"classes not tested: {', '.join(not_testable)} (too few samples to test)")
    if data.are_several:
        settings = {"cv": folds, "random_state": seed, "n_jobs": n_jobs, "time_budget": time_budget}
        found = compare_files(data, wanted, {**settings, "verbose": int(not quiet)})
        note_failures(found.failures, note)
        show_similarities(found, data.title, folds, output, as_json, quiet)
        return
    standings = _ranked(data, wanted, folds=folds, seed=seed, n_jobs=n_jobs, show=not quiet, time_budget=time_budget)
    note_failures({row.method: row.failure for row in standings if row.failure and row.failure != NO_TIME}, note)
    rows = [_row(standing) for standing in standings]
    if output is not None:
        save_rows(rows, output)
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    elif not (quiet and output is not None):
        folding = f"{folds}-fold cross-validation{'' if data.groups is None else ' by groups'}"
        _show(standings, data.title, folding)
        if output is not None:
            typer.echo(f"saved to {output}")


def _ranked(data: LoadedData, wanted: Any, **settings: Any) -> list[LeaderboardRow]:
    """Return the methods from the smallest error in nested cross-validation to the largest."""
    from similitude.auto import methods, nested_errors

    return nested_errors(data.samples, methods(wanted, **data.contract), **settings, **data.fold_arguments)


def _row(standing: LeaderboardRow) -> dict[str, Any]:
    """Return the columns of a method in a file."""
    from similitude.auto.leaderboard import BY_EVIDENCE
    from similitude.evaluation import parameters_text

    return {
        "method": standing.method,
        "error": standing.error,
        "standard_error": standing.standard_error,
        **{name: getattr(standing, name) for name in BY_EVIDENCE},
        "parameters": parameters_text(standing.parameters),
        "seconds": standing.seconds,
        "failure": standing.failure,
    }


def _show(standings: list[LeaderboardRow], title: str, folding: str) -> None:
    """Print the methods as a table, and which of them there was no time for."""
    from rich.markup import escape
    from rich.table import Table

    from similitude.auto import INNER_FOLDS, NO_TIME
    from similitude.cli.tables import print_table
    from similitude.evaluation import parameters_text

    choice = f"parameters chosen within each training part by {INNER_FOLDS} folds"
    caption = f"{folding}, {choice}; s.e.: standard error"
    lacking = max(row.without_evidence for row in standings)
    if lacking:
        caption += f"; {100 * lacking:.2f}% of the samples give no evidence"
    table = Table(title=escape(title), caption=caption, title_justify="left", caption_justify="left")
    # Columns are folded, so that nothing is cut off on a narrow terminal.
    table.add_column("rank", justify="right", overflow="fold")
    table.add_column("method", overflow="fold")
    table.add_column("error % (s.e.)", justify="right", overflow="fold")
    if lacking:
        table.add_column("with evidence %", justify="right", overflow="fold")
        table.add_column("without %", justify="right", overflow="fold")
    table.add_column("chosen most often", overflow="fold")
    table.add_column("seconds", justify="right", overflow="fold")
    for rank, row in enumerate((row for row in standings if row.failure != NO_TIME), 1):
        error = "failed" if row.error is None else f"{100 * row.error:.2f} ({100 * (row.standard_error or 0):.2f})"
        errors = (row.error_with_evidence, row.error_without_evidence) if lacking else ()
        split = ["" if own is None else f"{100 * own:.2f}" for own in errors]
        about = escape(parameters_text(row.parameters))
        table.add_row(str(rank), row.method, error, *split, about, f"{row.seconds:.1f}")
    print_table(table)
    left_out = [standing.method for standing in standings if standing.failure == NO_TIME]
    if left_out:
        typer.echo(f"no time for {', '.join(left_out)}")
