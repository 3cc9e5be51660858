"""``similitude fit``: choose methods and their parameters by cross-validation, fit them, and save the model."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude._utils.checks import did_you_mean
from similitude._utils.files import check_writable
from similitude._utils.progress import working
from similitude.auto import AutoClassifier, Decision
from similitude.auto.leaderboard import BY_EVIDENCE, COMBINATION, LeaderboardRow
from similitude.auto.methods import MIXTURE_RECORDS, RECORDS, slug
from similitude.auto.unlabelled import UnlabelledReport
from similitude.cli import options
from similitude.cli.cluster import on_cluster
from similitude.cli.data import Input, check_classes, read_adjusted
from similitude.cli.decision import DecisionOptions
from similitude.cli.errors import fit_until_interrupted
from similitude.cli.output import note_failures, notes, print_left_out, size_text
from similitude.cli.structured import check_options, fit_structured, show_structured
from similitude.evaluation import parameters_text, plain_parameters
from similitude.finders.pair_budget import pairs_text
from similitude.persistence import save_model

AUTO = "auto"
_SHOWN = 5


def fit_model(
    output: Annotated[Path, options.option("Where to save the model.", "MODEL", "--output", "-o")],
    source: options.Source,
    decision: DecisionOptions,
    no_leak: options.NoLeak = None,
    fill: options.Fill = None,
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="Method of `similitude compare` (svm-clip, ...), or auto to try all."),
    ] = AUTO,
    prefer: options.Prefer = options.Preference.accuracy,
    unlabelled: options.UseUnlabelled = options.Unlabelled.ignore,
    time_budget: options.TimeBudget = None,
    pairs: options.Pairs = None,
    pairs_file: options.PairsFile = None,
    scheduler: options.Scheduler = None,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = 1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Choose methods and their parameters by cross-validation, fit them on all samples, and save the model."""
    source.check_structure()
    name = method if source.is_structured else named_method(method, several=source.are_several)
    options.check_limits(n_jobs, time_budget)
    decision.check()
    check_writable(output, "--output", source.inputs())
    about_pairs = options.check_pairs(pairs, pairs_file, source)
    note = notes(quiet)
    if source.is_structured:
        check_options(prefer.value, time_budget, decision, unlabelled, n_jobs, note)
    with working("reading the samples", not quiet):
        data = read_adjusted(source, fill=fill, no_leak=no_leak, note=note, seed=seed, unlabelled=unlabelled)
    if source.is_structured:
        if pairs is not None or scheduler is not None:
            raise ValueError("--pairs and --scheduler are for one label per sample.")
        model, found = fit_structured(source, data, name, seed, not quiet)
    else:
        check_classes(data, 2)
        wanted = decision.read(data.known_labels)
        budgets = {"time_budget": time_budget, **about_pairs}
        with on_cluster(scheduler):
            jobs = n_jobs if scheduler is None else -1
            model, found = _chosen(name, prefer.value, data, wanted, seed, budgets, jobs, not quiet)
    outcome = {"asked": name, **found, "seed": seed, "samples": len(data.labelled)}
    if data.groups is not None:
        outcome["groups"] = len(set(data.groups.tolist()))
    if data.reading is not None:
        outcome["reading"] = data.stored_reading()
    names = data.columns["path"].named("objects") if "path" in data.columns else None
    if names is not None:
        outcome["columns"] = {"objects": names}
    with working("writing the model", not quiet):
        save_model(output, model, ids=data.ids, notes=outcome)
    note_failures(outcome.get("failures", {}), note, data.unknown_share)
    if decision.priors is not None:
        note("--priors: predictions are for the given shares of the classes; the errors are those of the samples")
    if as_json:
        typer.echo(json.dumps({**outcome, "model": str(output)}, indent=2))
    elif source.is_structured and not quiet:
        show_structured(model, outcome, output)
    elif not quiet:
        _show(outcome, output)


def named_method(name: str, several: bool = False) -> str:
    """Return the method of this name, whatever its case, spaces and brackets; its model can be saved."""
    records = [*RECORDS, *(MIXTURE_RECORDS if several else ())]
    known = {AUTO: AUTO, **{record.slug: record.name for record in records if not record.by_name}}
    if slug(name) not in known:
        raise ValueError(f"--method must be one of {', '.join(known)}; got {name!r}.{did_you_mean(slug(name), known)}")
    return known[slug(name)]


def _chosen(
    name: str,
    prefer: Any,
    data: Input,
    decision: Decision,
    seed: int,
    budgets: dict[str, Any],
    n_jobs: int,
    show: bool,
) -> tuple[Any, dict[str, Any]]:
    """Return the chosen model, and the outcome of all methods.

    The outcome has no times, so that the same model gives the same file.
    """
    auto = AutoClassifier(
        "all" if name == AUTO else [name],
        prefer=prefer,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=int(show),
        **vars(decision),
        unlabelled="use" if data.unlabelled else None,
        **budgets,
        **data.contract,
    )
    fit_until_interrupted(auto, data.X, data.y, **data.fold_arguments)
    rows = [_row(row) for row in auto.leaderboard_]
    (own,) = (row for row in rows if row["method"] == auto.best_method_)
    members = auto.best_estimator_.members_
    parameters = auto.best_params_ if len(members) > 1 else {members[0].name: auto.best_params_}
    report = getattr(auto, "pair_report_", None)
    return auto.best_estimator_, {
        **({} if report is None else {"pairs": report.as_dict()}),
        "method": own["method"],
        "error": own["error"],
        **{name: own[name] for name in ("standard_error", "balanced_error", "score", *BY_EVIDENCE)},
        "scoring": decision.scoring,
        "members": [
            {"method": m.name, "weight": m.weight, "parameters": plain_parameters(parameters[m.name])} for m in members
        ],
        "folds": auto.n_folds_,
        "not_testable": [str(label) for label in auto.not_testable_.tolist()],
        "leaderboard": rows,
        "failures": dict(auto.failures_),
        "left_out": list(auto.budget_report_.left_out),
        "too_large": list(auto.budget_report_.too_large),
        "interrupted": auto.budget_report_.interrupted,
        "operating_points": auto.operating_points().rows(),
        **({} if auto.unlabelled_ is None else {"unlabelled": asdict(auto.unlabelled_)}),
    }


def _row(row: LeaderboardRow) -> dict[str, Any]:
    """Return what the notes of the model have of a method; those that were stopped also have the others' error."""
    found = {
        "method": row.name,
        "error": row.error,
        "standard_error": row.standard_error,
        "balanced_error": row.balanced_error,
        "score": row.score,
        **{name: getattr(row, name) for name in BY_EVIDENCE},
        "loss": row.loss,
        "weight": row.weight,
        "p_value": row.p_value,
        "parameters": plain_parameters(row.parameters),
    }
    return {**found, "stopped_after": row.n_folds, "error_of_others": row.error_of_others} if row.stopped else found


def _show(outcome: dict[str, Any], output: Path) -> None:
    if "pairs" in outcome:
        lines = pairs_text(outcome["pairs"]).splitlines()
        typer.echo("\n".join(f"{'' if i else 'pairs':<12}{line}" for i, line in enumerate(lines)))
    typer.echo(f"method      {outcome['method']}")
    for i, member in enumerate(outcome["members"]):
        weight = f"{member['weight']:.2f}  " if len(outcome["members"]) > 1 else ""
        parameters = parameters_text(member["parameters"])
        typer.echo(
            f"{'members' if i == 0 else '':<12}{weight}{member['method']}{f' ({parameters})' if parameters else ''}"
        )
    error = f"{100 * outcome['error']:.2f} % (standard error {100 * outcome['standard_error']:.2f})"
    by_groups = " by groups" if "groups" in outcome else ""
    typer.echo(f"error       {error}, by cross-validation{by_groups} on {outcome['folds']} folds")
    if outcome["balanced_error"] is not None:
        typer.echo(f"balanced    {100 * outcome['balanced_error']:.2f} %, the mean of the errors of the classes")
    if outcome["score"] is not None:
        typer.echo(f"score       {outcome['score']:.4f} ({outcome['scoring']})")
    lacking = outcome["without_evidence"]
    if lacking:
        typer.echo(f"evidence    {100 * lacking:.2f} % of the samples give none: error {_errors_by_evidence(outcome)}")
    rows = [row for row in outcome["leaderboard"] if "stopped_after" not in row]
    for i, row in enumerate(rows[:_SHOWN]):
        error = f"{100 * row['error']:.2f} ({100 * row['standard_error']:.2f})"
        if row["balanced_error"] is not None:
            error += f", balanced {100 * row['balanced_error']:.2f}"
        if row["score"] is not None:
            error += f", score {row['score']:.4f}"
        error = f"{error:<14}" if error.endswith(")") else f"{error}  "
        split = f"{_errors_by_evidence(row):<50}" if lacking else ""
        typer.echo(f"{'best ones' if i == 0 else '':<12}{error}{split}{row['method']}")
    if len(rows) > _SHOWN:
        typer.echo(f"{'':<12}and {len(rows) - _SHOWN} more")
    if outcome["method"] == COMBINATION and rows[0]["error"] < outcome["error"]:
        typer.echo(f"{'':<12}(no method that can be saved is clearly better than the combination)")
    for i, row in enumerate(outcome["operating_points"]):
        right = row["measured_precision"]
        assigned = "no sample is assigned" if right is None else f"{100 * row['coverage']:6.2f} % are assigned"
        cut = "" if right is None else f" (confidence of at least {row['cutoff']:.3f}; {100 * right:.2f} % are right)"
        typer.echo(f"{'precision' if i == 0 else '':<12}{row['precision']:<5g} {assigned}{cut}")
    if "unlabelled" in outcome:
        typer.echo(f"unlabelled  {UnlabelledReport(**outcome['unlabelled'])}")
    if outcome["not_testable"]:
        typer.echo(f"not tested  {', '.join(outcome['not_testable'])} (too few samples to test)")
    n_stopped = len(outcome["leaderboard"]) - len(rows)
    if n_stopped:
        methods = "1 method" if n_stopped == 1 else f"{n_stopped} methods"
        typer.echo(f"stopped     {methods} after some folds, because the combination would not gain")
    print_left_out(outcome["left_out"], outcome["too_large"], outcome["interrupted"])
    typer.echo(f"model       {output} ({size_text(output.stat().st_size)})")


def _errors_by_evidence(row: dict[str, Any]) -> str:
    """Return the errors with and without evidence as text; those of no samples are left out."""
    errors = {"with": row["error_with_evidence"], "without": row["error_without_evidence"]}
    return ", ".join(f"{100 * own:.2f} % {kind} evidence" for kind, own in errors.items() if own is not None)
