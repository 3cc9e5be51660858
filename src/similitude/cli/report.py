"""``similitude report``: one HTML page about a matrix with labels, and the model that suits it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similitude.cli.options import (
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
    TimeBudget,
    check_budget,
    check_jobs,
    listed,
    notes,
)

if TYPE_CHECKING:
    from similitude.cli.data import LoadedData


def report_matrix(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where to write the page.", show_default=False)
    ],
    matrix: Matrix = None,
    labels: Labels = None,
    labels_in_order: LabelsInOrder = False,
    methods: Methods = None,
    time_budget: TimeBudget = None,
    dissimilarity: Dissimilarity = None,
    key: Key = None,
    dataset: DatasetName = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Folds on which the methods are tried.")] = 10,
    nested: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="Outer folds for the error of choosing, too.", show_default=False),
    ] = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    quiet: Quiet = False,
) -> None:
    """Write one HTML page, which needs no network: diagnosis, pictures, the methods' errors, what went wrong."""
    from similitude._utils.files import check_writable
    from similitude.cli.data import fold_count, read_samples
    from similitude.search.methods import methods as named

    check_jobs(n_jobs)
    check_budget(time_budget)
    named("all" if methods is None else listed(methods) or [])  # an unknown name is said before the work
    check_writable(output, "--output")
    say = notes(quiet)
    data = read_samples(matrix, labels, dissimilarity, dataset, key, say=say, seed=seed, in_order=labels_in_order)
    fold_count(data.y, folds)
    with warnings.catch_warnings():
        # What there is to say about the matrix, the page says.
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
        title = str(dataset) if matrix is None else matrix.name
        size = _write(output, data, auto, title, _source(data, matrix, labels, labels_in_order, key, seed), seed)
    for name, why in auto.failures_.items():
        say(f"{name} could not be used: {' '.join(why.split())}")
    if not quiet:
        _tell(auto, output, size)


def choose(data: LoadedData, names: list[str] | None, **settings: Any) -> Any:
    """Return the method that suits the data, and how all of them did."""
    from similitude import AutoClassifier

    return AutoClassifier("all" if names is None else names, **settings, **data.contract).fit(data.samples, data.y)


def _write(output: Path, data: LoadedData, auto: Any, title: str, source: Any, seed: int) -> int:
    """Make the page; returns its size in bytes."""
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


def _tell(auto: Any, output: Path, size: int) -> None:
    typer.echo(f"method  {auto.best_method_}")
    if auto.left_out_:
        typer.echo(f"no time for {', '.join(auto.left_out_)}")
    typer.echo(f"page    {output} ({size / 1e6:.1f} MB)")


def _source(
    data: LoadedData, matrix: Path | None, labels: Path | None, in_order: bool, key: str | None, seed: int
) -> Any:
    """Return how Python reads the same samples."""
    from similitude.report.code import Source

    if data.entry is not None:
        entry = data.entry
        return Source(entry.loader, entry.call(seed), f"data.{entry.X}", f"data.{entry.y}", entry.module)
    more = (", labels_in_order=True" if in_order else "") + ("" if key is None else f", key={key!r}")
    call = f"load_proximity({str(matrix)!r}, labels={str(labels)!r}{more})"
    return Source("load_proximity", call, "data.S", "data.y")
