"""``similitude reproduce``: a paper's table, ours beside theirs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.options import AsJson, Jobs, Quiet, check_jobs

Partitions = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Other than the paper's number.", show_default=False)
]
DataSets = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Some of its data sets, with commas.", show_default=False)
]
MethodNames = Annotated[
    str | None, typer.Option(metavar="NAMES", help="Some of its methods, with commas.", show_default=False)
]
StoreFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Keeps the results; the same command then goes on.", show_default=False),
]
DataHome = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where data lies that does not ship.", show_default=False)
]
_SHOWN = 3


def reproduce_table(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A table; none: list them.", show_default=False)
    ] = None,
    partitions: Partitions = None,
    datasets: DataSets = None,
    methods: MethodNames = None,
    store: StoreFile = None,
    data_home: DataHome = None,
    n_jobs: Jobs = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Save the table.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Make a table of one of the papers again, and print ours beside the paper's."""
    from similitude._utils.files import check_writable
    from similitude.experiments import PAPERS, reproduce

    if name is None:
        _list(PAPERS, as_json)
        return
    check_jobs(n_jobs)
    if name not in PAPERS:
        raise ValueError(f"NAME must be one of {', '.join(PAPERS)}; got {name!r}.")
    if output is not None:
        check_writable(output, "--output")
    found = reproduce(
        name,
        partitions=partitions,
        datasets=_some(datasets, list(PAPERS[name].datasets)),
        methods=_some(methods, list(PAPERS[name].methods())),
        store=store,
        data_home=data_home,
        n_jobs=n_jobs,
        progress=not quiet,
    )
    if output is not None:
        _save(found.comparisons, output)
    if as_json:
        typer.echo(json.dumps(_content(name, found), indent=2))
    elif not (quiet and output is not None):
        typer.echo(str(found))
        if output is not None:
            typer.echo(f"saved to {output}")


def _content(name: str, found: Any) -> dict[str, Any]:
    """What was found, as JSON holds it."""
    return {
        "name": name,
        "reference": found.paper.reference,
        "comparisons": [asdict(row) for row in found.comparisons],
        "missing": dict(found.missing),
    }


def _some(names: str | None, known: list[str]) -> list[str] | None:
    """The names in a list with commas, which may have commas themselves; case does not matter."""
    if names is None:
        return None
    words = [word.strip() for word in names.split(",")]
    lower = {name.lower(): name for name in known}
    found = []
    while words:
        ends = [k for k in range(len(words), 0, -1) if ", ".join(words[:k]).lower() in lower]
        taken = ends[0] if ends else 1
        found.append(lower.get(", ".join(words[:taken]).lower(), words[0]))
        words = words[taken:]
    return found


def _list(papers: Any, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "name": name,
                "reference": paper.reference,
                "datasets": list(paper.datasets),
                "methods": list(paper.methods()),
            }
            for name, paper in papers.items()
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    for name, paper in papers.items():
        typer.echo(f"{name:<24}{paper.reference}")
        typer.echo(f"{'':<24}{paper.protocol}")
        typer.echo(f"{'':<24}{len(paper.datasets)} data sets, such as {'; '.join(list(paper.datasets)[:_SHOWN])}")


def _save(comparisons: Any, path: Path) -> None:
    from dataclasses import fields

    from similitude._utils.files import replacing
    from similitude.cli.datasets import write_rows
    from similitude.experiments.papers import Comparison

    names = [field.name for field in fields(Comparison)]
    with replacing(path) as part:
        write_rows(part, [names, *([getattr(row, name) for name in names] for row in comparisons)])
