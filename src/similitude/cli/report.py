"""``similitude report``: write one HTML page about a matrix with labels and the chosen model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from similitude._utils.files import check_writable, replacing
from similitude._utils.progress import working
from similitude.auto import AutoClassifier
from similitude.cli import options
from similitude.cli.compare import check_names
from similitude.cli.data import Input, check_classes, read_adjusted
from similitude.cli.datasets import entry_named
from similitude.cli.decision import DecisionOptions
from similitude.cli.errors import fit_until_interrupted
from similitude.cli.output import note_failures, notes, print_left_out
from similitude.cli.shown import Show, shown_names
from similitude.cli.structured import check_options, fit_structured, several_labels, shown_labels
from similitude.diagnosis.card import COMMANDS
from similitude.report import find, page
from similitude.report.code import Source as Code
from similitude.report.structured import structured_section
from similitude.similarities.registry import objects_of


def report_matrix(
    output: Annotated[Path, options.option("File to write the page to.", "FILE.html", "--output", "-o")],
    source: options.Source,
    decision: DecisionOptions,
    no_leak: options.NoLeak = None,
    fill: options.Fill = None,
    methods: options.Methods = None,
    time_budget: options.TimeBudget = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Number of folds for comparing methods.")] = 5,
    unlabelled: options.UseUnlabelled = options.Unlabelled.ignore,
    nested: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Number of outer folds for the error including the choice of the method.",
            show_default=False,
        ),
    ] = None,
    show: Show = None,
    seed: options.Seed = 0,
    n_jobs: options.Jobs = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write one HTML page, which needs no network: diagnosis, figures, the methods' errors, misclassified samples."""
    source.check_structure()
    options.check_limits(n_jobs, time_budget)
    decision.check()
    wanted = "all" if methods is None else options.listed(methods) or []
    if not source.is_structured:
        check_names(wanted, source)  # an unknown name raises an error before the work begins
    check_writable(output, "--output", source.inputs(), (".html", ".htm"))
    note = notes(quiet)
    if source.is_structured:
        check_options("accuracy", time_budget, decision, unlabelled, n_jobs, note)
        if nested is not None:
            raise ValueError("--nested is for one label per sample.")
    with working("reading the samples", not quiet):
        data = read_adjusted(source, fill=fill, no_leak=no_leak, note=note, seed=seed, unlabelled=unlabelled)
    if source.is_structured:
        _write_structured(source, data, methods, seed, output, quiet)
        return
    check_classes(data, 2)
    names = shown_names(data, source, show)
    auto = AutoClassifier(
        wanted,
        time_budget=time_budget,
        cv=folds,
        nested_cv=nested,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=int(not quiet),
        **vars(decision.read(data.known_labels)),
        unlabelled="use" if data.unlabelled else None,
        **data.contract,
    )
    y = data.samples.y
    if data.unlabelled:
        names = [names[i] for i in data.labelled.tolist()]
    groups = {name: np.asarray(own)[data.labelled] for name, own in data.fold_arguments.items()}
    fit_until_interrupted(auto, data.samples, y, **groups)
    with working("drawing the page", not quiet), warnings.catch_warnings():
        # The page reports what there is to know about the matrix.
        warnings.simplefilter("ignore")
        findings = find(
            data.samples,
            y,
            contract=data.contract,
            title=", ".join(path.name for path in source.matrices) or str(source.dataset),
            ids=names,
            auto=auto,
            source=None if data.unlabelled else _code(data, source, seed),
            random_state=seed,
            rendering=COMMANDS,
        )
        content = page(findings).encode("utf-8")
        with replacing(output) as part:
            part.write_bytes(content)
    note_failures(auto.failures_, note, data.unknown_share)
    if not quiet:
        _print_summary(auto, output, len(content))


def _write_structured(
    source: options.Source, data: Input, methods: str | None, seed: int, output: Path, quiet: bool
) -> None:
    """Write the page of labels that form a tree, or of several labels."""
    named = options.listed(methods)
    if named is not None and len(named) > 1:
        raise ValueError("--methods takes one name with a tree or several labels; without it all are used.")
    model, found = fit_structured(source, data, named[0] if named else "auto", seed, not quiet)
    several = source.has_several_labels
    labels = several_labels(data.y, source.label_separator) if several else None
    shown = shown_labels(model, data, labels)
    with working("drawing the page", not quiet), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        findings = find(
            data.samples,
            shown,
            contract=data.contract,
            title=", ".join(path.name for path in source.matrices) or str(source.dataset),
            ids=data.ids,
            random_state=seed,
            extra=(structured_section(model, labels, found.get("rank_names")),),
        )
        content = page(findings).encode("utf-8")
        with replacing(output) as part:
            part.write_bytes(content)
    if not quiet:
        typer.echo(repr(model.figures_ if several else model.by_rank()))
        typer.echo(f"page    {output} ({len(content) / 1e6:.1f} MB)")


def _print_summary(auto: Any, output: Path, size: int) -> None:
    typer.echo(f"method  {auto.best_method_}")
    members = auto.best_estimator_.members_
    for i, member in enumerate(members if len(members) > 1 else ()):
        typer.echo(f"{'' if i else 'members':<8}{member.weight:.2f}  {member.name}")
    if len(auto.not_testable_):
        typer.echo(f"not tested  {', '.join(map(str, auto.not_testable_.tolist()))} (too few samples to test)")
    report = auto.budget_report_
    print_left_out(list(report.left_out), report.too_large, report.interrupted)
    typer.echo(f"page    {output} ({size / 1e6:.1f} MB)")


def _code(data: Input, source: options.Source, seed: int) -> Code | None:
    """Return the Python code that reads the same samples; None for several matrices, which may have been reordered."""
    if data.are_several:
        return None
    if source.dataset is not None:
        entry = entry_named(source.dataset)
        return Code(entry.loader, entry.call(seed), f"data.{entry.X}", f"data.{entry.y}", entry.module)
    given = {**source.given(), **source.reading()}
    left_out = ("matrix", "dissimilarity", "similarity", "param", *(["groups"] if source.by_scaffold else []))
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    more = "".join(f", {name}={value!r}" for name, value in plain.items() if name not in left_out)
    if source.similarity is not None:
        call = f"load_objects({str(source.matrix)!r}, objects={objects_of(source.similarity)!r}{more})"
        kind = type(data.contract["similarity"])
        imports = () if kind is str else (f"from {kind.__module__} import {kind.__name__}",)
        call = call.replace(", orientation='dissimilarity'", "")
        return Code("load_objects", call, "data.data", "data.y", imports=imports)
    call = f"load_proximity({str(source.matrix)!r}{more})"
    if data.absent != "zero" or data.fill is not None:
        fill = "" if data.fill is None else f", fill={data.fill!r}"
        X = f"Proximities(data.S, absent=data.absent{fill})"
        return Code("load_proximity", call, X, "data.y", imports=("from similitude import Proximities",))
    return Code("load_proximity", call, "data.S", "data.y")
