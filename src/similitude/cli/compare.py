"""``similitude compare``: cross-validate the methods on one data set and rank them, or compare several similarities."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from similitude._utils.files import check_writable
from similitude._utils.progress import working
from similitude.auto import (
    INNER_FOLDS,
    NO_TIME,
    Decision,
    LeaderboardRow,
    compare_similarities,
    nested_errors,
    split_names,
)
from similitude.auto import methods as methods_named
from similitude.auto.leaderboard import BY_EVIDENCE, names_text
from similitude.auto.race import interrupts_raise
from similitude.cli import options
from similitude.cli.data import check_classes, check_nested, read_adjusted
from similitude.cli.decision import DecisionOptions
from similitude.cli.output import TABLE_SUFFIXES, not_applicable_text, note_failures, notes, print_table, write_table
from similitude.evaluation import parameters_text
from similitude.proximity.unknown import NEEDS_ALL_PAIRS


def compare_methods(
    source: options.Source,
    decision: DecisionOptions,
    no_leak: options.NoLeak = None,
    fill: options.Fill = None,
    methods: options.Methods = None,
    time_budget: options.TimeBudget = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Number of outer folds.")] = 10,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = 1,
    output: Annotated[
        Path | None, options.option("Save the table here, .csv or .tsv.", "FILE.csv", "--output", "-o")
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Rank the methods by their errors in nested cross-validation, with parameters chosen within each training part.

    With several matrices of the same samples, compare these similarities instead: the best error on each, what each
    adds to the others, and how alike they are.
    """
    options.check_limits(n_jobs, time_budget)
    decision.check()
    wanted = "all" if methods is None else options.listed(methods) or []
    check_names(wanted, source)  # an unknown name raises an error before the work begins
    if output is not None:
        check_writable(output, "--output", source.inputs(), TABLE_SUFFIXES)
    note = notes(quiet)
    with working("reading the samples", not quiet):
        data = read_adjusted(source, fill=fill, no_leak=no_leak, note=note, seed=seed)
    check_nested(data, folds, seed)
    folds, not_testable = check_classes(data, folds)
    if not_testable:
        note(f"classes not tested: {', '.join(not_testable)} (too few samples to test)")
    wanted_decision = decision.read(data.y)
    if source.are_several:
        if decision.priors is not None:
            raise ValueError("--priors: with several similarities errors are those of the samples; leave it out.")
        with warnings.catch_warnings(), interrupts_raise():
            warnings.simplefilter("ignore")  # the command lists the methods that failed
            found = compare_similarities(
                data.samples,
                data.y,
                methods=wanted,
                n_repeats=1,
                cv=folds,
                random_state=seed,
                n_jobs=n_jobs,
                time_budget=time_budget,
                scoring=wanted_decision.scoring,
                costs=wanted_decision.costs,
                class_weight=wanted_decision.class_weight,
                verbose=int(not quiet),
                **data.contract,
                **data.fold_arguments,
            )
        note_failures(found.failures, note, data.unknown_share)
        _show_similarities(found, data.title, folds, output, as_json, quiet)
        return
    settings: Any = {"folds": folds, "seed": seed, "n_jobs": n_jobs, "show": not quiet, "time_budget": time_budget}
    table = methods_named(wanted, n_samples=len(data.y), **data.contract)
    standings = nested_errors(data.samples, table, **settings, decision=wanted_decision, **data.fold_arguments)
    why_not = not_applicable_text(data.unknown_share)
    standings = [
        replace(row, failure=why_not) if row.failure and NEEDS_ALL_PAIRS in row.failure else row for row in standings
    ]
    failed = {row.method: row.failure for row in standings if row.failure and row.failure not in (NO_TIME, why_not)}
    note_failures(failed, note, data.unknown_share)
    rows = [_row(standing) for standing in standings]
    if output is not None:
        write_table(output, rows)
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    elif not (quiet and output is not None):
        folding = f"{folds}-fold cross-validation{'' if data.groups is None else ' by groups'}"
        _show(standings, data.title, folding, wanted_decision, why_not)
        if output is not None:
            typer.echo(f"saved to {output}")


def _row(standing: LeaderboardRow) -> dict[str, Any]:
    """Return the columns of a method in a file."""
    return {
        "method": standing.method,
        "error": standing.error,
        "standard_error": standing.standard_error,
        "balanced_error": standing.balanced_error,
        "score": standing.score,
        **{name: getattr(standing, name) for name in BY_EVIDENCE},
        "parameters": parameters_text(standing.parameters),
        "seconds": standing.seconds,
        "failure": standing.failure,
    }


def _show(standings: list[LeaderboardRow], title: str, folding: str, decision: Decision, why_not: str) -> None:
    """Print the methods as a table, and which of them could not be applied or had no time."""
    choice = f"parameters chosen within each training part by {INNER_FOLDS} folds"
    caption = f"{folding}, {choice}; s.e.: standard error"
    lacking = max(row.without_evidence for row in standings)
    if lacking:
        caption += f"; {100 * lacking:.2f}% of the samples give no evidence"
    if decision.priors is not None:
        caption += "; errors under the given priors"
    is_unequal = standings[0].balanced_error is not None
    if is_unequal:
        caption += "; balanced: mean of the errors of the classes"
    extra = decision.scoring or ("mean cost" if decision.costs is not None else "")
    table = Table(title=escape(title), caption=caption, title_justify="left", caption_justify="left")
    # Columns are folded, so that nothing is cut off on a narrow terminal.
    table.add_column("rank", justify="right", overflow="fold")
    table.add_column("method", overflow="fold")
    table.add_column("error % (s.e.)", justify="right", overflow="fold")
    if is_unequal:
        table.add_column("balanced %", justify="right", overflow="fold")
    if extra:
        table.add_column(extra, justify="right", overflow="fold")
    if lacking:
        table.add_column("with evidence %", justify="right", overflow="fold")
        table.add_column("without %", justify="right", overflow="fold")
    table.add_column("chosen most often", overflow="fold")
    table.add_column("seconds", justify="right", overflow="fold")
    for rank, row in enumerate((row for row in standings if row.failure not in (NO_TIME, why_not)), 1):
        error = "failed" if row.error is None else f"{100 * row.error:.2f} ({100 * (row.standard_error or 0):.2f})"
        errors = (row.error_with_evidence, row.error_without_evidence) if lacking else ()
        split = ["" if own is None else f"{100 * own:.2f}" for own in errors]
        if extra:
            value = row.loss if decision.scoring is None else row.score
            split.insert(0, "" if value is None else f"{value:.4f}")
        if is_unequal:
            split.insert(0, "" if row.balanced_error is None else f"{100 * row.balanced_error:.2f}")
        about = escape(parameters_text(row.parameters))
        table.add_row(str(rank), row.method, error, *split, about, f"{row.seconds:.1f}")
    print_table(table)
    lacking_pairs = [standing.method for standing in standings if standing.failure == why_not]
    if lacking_pairs:
        typer.echo(f"{why_not}: {names_text(lacking_pairs)}")
    left_out = [standing.method for standing in standings if standing.failure == NO_TIME]
    if left_out:
        typer.echo(f"no time for {', '.join(left_out)}")


def check_names(wanted: Any, source: options.Source) -> None:
    """Raise a ValueError for an unknown method; with several similarities there are some more."""
    single, mixed = split_names(wanted) if source.are_several else (wanted, [])
    if single or not mixed:
        methods_named(single)


def _show_similarities(found: Any, title: str, folds: int, output: Path | None, as_json: bool, quiet: bool) -> None:
    """Print the comparison as tables or JSON, and save the first table."""
    rows = [asdict(row) for row in found.standings]
    if output is not None:
        write_table(output, rows)
    if as_json:
        more = {"together": [asdict(row) for row in found.together], "names": found.names, "left_out": found.left_out}
        matrices = {name: _plain(getattr(found, name)) for name in ("p_values", "correlations")}
        typer.echo(json.dumps({"similarities": rows, **more, **matrices}, indent=2))
    elif not (quiet and output is not None):
        typer.echo(f"{title}; {folds}-fold cross-validation\n")
        typer.echo(str(found))
        typer.echo("\np: exact paired test on the samples against the first line (McNemar), with Holm's correction.")
        typer.echo("without it: error of the combination of the methods on all other similarities, and its p against")
        typer.echo("the combination on all of them.")
        if output is not None:
            typer.echo(f"saved to {output}")


def _plain(values: np.ndarray) -> list[list[float | None]]:
    return [[None if np.isnan(value) else float(value) for value in row] for row in values]
