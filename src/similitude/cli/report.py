"""``similitude report``: write one HTML page about a matrix with labels and the chosen model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similitude.cli.options import (
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
    from similitude.cli.data import LoadedData


def report_matrix(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="File to write the page to.", show_default=False)
    ],
    source: Source,
    no_leak: NoLeak = None,
    fill: Fill = None,
    methods: Methods = None,
    time_budget: TimeBudget = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Number of folds for comparing methods.")] = 5,
    nested: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Number of outer folds for the error including the choice of the method.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    quiet: Quiet = False,
) -> None:
    """Write one HTML page, which needs no network: diagnosis, figures, the methods' errors, misclassified samples."""
    from similitude._utils.files import check_writable
    from similitude.cli.adjust import read_adjusted
    from similitude.cli.data import check_classes
    from similitude.cli.several import check_names

    check_jobs(n_jobs)
    check_budget(time_budget)
    check_names("all" if methods is None else listed(methods) or [], source)  # an unknown name raises an error here
    check_writable(output, "--output", source.inputs(), (".html", ".htm"))
    note = notes(quiet)
    data = read_adjusted(source, fill=fill, no_leak=no_leak, note=note, seed=seed)
    check_classes(data, 2)
    with warnings.catch_warnings():
        # The page reports what there is to know about the matrix.
        warnings.simplefilter("ignore")
        auto = choose(
            data,
            listed(methods),
            time_budget=time_budget,
            cv=folds,
            nested_cv=nested,
            random_state=seed,
            n_jobs=n_jobs,
            verbose=int(not quiet),
        )
        title = ", ".join(path.name for path in source.matrices) or str(source.dataset)
        size = _write(output, data, auto, title, _source(data, source, seed), seed)
    note_failures(auto.failures_, note)
    if not quiet:
        _print_summary(auto, output, size)


def choose(data: LoadedData, names: list[str] | None, **settings: Any) -> Any:
    """Return the fitted AutoClassifier, which holds the chosen method and the results of all methods."""
    from similitude import AutoClassifier

    auto = AutoClassifier("all" if names is None else names, **settings, **data.contract)
    return auto.fit(data.samples, data.y, **data.fold_arguments)


def _write(output: Path, data: LoadedData, auto: Any, title: str, source: Any, seed: int) -> int:
    """Write the page, and return its size in bytes."""
    from similitude._utils.files import replacing
    from similitude.report import find, page

    findings = find(
        data.samples,
        data.y,
        contract=data.contract,
        title=title,
        ids=data.ids,
        auto=auto,
        source=source,
        random_state=seed,
    )
    content = page(findings).encode("utf-8")
    with replacing(output) as part:
        part.write_bytes(content)
    return len(content)


def _print_summary(auto: Any, output: Path, size: int) -> None:
    from similitude.auto.leaderboard import names_text

    typer.echo(f"method  {auto.best_method_}")
    members = auto.best_estimator_.members_
    for i, member in enumerate(members if len(members) > 1 else ()):
        typer.echo(f"{'' if i else 'members':<8}{member.weight:.2f}  {member.name}")
    if len(auto.not_testable_):
        typer.echo(f"not tested  {', '.join(map(str, auto.not_testable_.tolist()))} (too few samples to test)")
    if auto.left_out_:
        typer.echo(f"no time for {names_text(auto.left_out_)}")
    typer.echo(f"page    {output} ({size / 1e6:.1f} MB)")


def _source(data: LoadedData, source: Source, seed: int) -> Any:
    """Return the Python code that reads the same samples; None for several matrices, which may have been reordered."""
    from similitude.proximity import Proximities
    from similitude.report.code import Source as Code

    if data.are_several:
        return None

    if data.entry is not None:
        entry = data.entry
        return Code(entry.loader, entry.call(seed), f"data.{entry.X}", f"data.{entry.y}", entry.module)
    options = {**source.given(), **source.reading()}
    left_out = ("matrix", "dissimilarity", "similarity", "param")
    given = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    more = "".join(f", {name}={value!r}" for name, value in given.items() if name not in left_out)
    if data.objects is not None:
        call = f"load_objects({str(source.matrix)!r}, objects={data.objects!r}{more})"
        kind = type(data.contract["similarity"])
        imports = () if kind is str else (f"from {kind.__module__} import {kind.__name__}",)
        call = call.replace(", orientation='dissimilarity'", "")
        return Code("load_objects", call, "data.data", "data.y", imports=imports)
    call = f"load_proximity({str(source.matrix)!r}{more})"
    if isinstance(data.X, Proximities):
        fill = "" if data.X.fill is None else f", fill={data.X.fill!r}"
        X = f"Proximities(data.S, absent=data.absent{fill})"
        return Code("load_proximity", call, X, "data.y", imports=("from similitude import Proximities",))
    return Code("load_proximity", call, "data.S", "data.y")
