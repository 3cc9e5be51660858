"""The options that commands have in common, each with one name, one meaning and one line of help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

Matrix = Annotated[
    Path | None,
    typer.Argument(metavar="MATRIX", help="File with a square matrix of similarities.", show_default=False),
]
Labels = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File with one class label per sample.", show_default=False)
]
LabelsInOrder = Annotated[
    bool,
    typer.Option("--labels-in-order", help="Labels with ids are in the order of the samples, which have no ids."),
]
Dissimilarity = Annotated[
    str | None,
    typer.Option(
        metavar="MAP",
        help="MATRIX holds dissimilarities; this map makes them similarities: max-minus, gauss, exp, ...",
        show_default=False,
    ),
]
Key = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which array, of a file with several.", show_default=False)
]
DatasetName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="A data set of `similitude datasets`, instead of MATRIX.", show_default=False),
]
Methods = Annotated[
    str | None,
    typer.Option(metavar="NAMES", help="Some methods, with commas: k-nn,svm-clip; else all.", show_default=False),
]
TimeBudget = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Try what fits into this time, and say what does not.", show_default=False),
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of folds and random draws.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="How much is done at a time; -1 for one job per core.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No notes, no progress bar, and no result where a file holds it.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

Notes = Callable[[str], None]


def notes(quiet: bool) -> Notes:
    """Return what tells the user something on stderr, unless that is not wanted."""

    def say(words: str) -> None:
        if not quiet:
            typer.echo(f"similitude: {words}", err=True)

    return say


def check_jobs(n_jobs: int) -> None:
    """Refuse 0 jobs, which joblib would do with a traceback."""
    if n_jobs == 0:
        raise ValueError("--n-jobs must not be 0; -1 takes one job per core.")


def check_budget(seconds: float | None) -> None:
    """Refuse a time in which nothing can be tried."""
    if seconds is not None and not 0 < seconds < float("inf"):
        raise ValueError(f"--time-budget must be a number of seconds above 0; got {seconds:g}.")


def listed(names: str | None) -> list[str] | None:
    """Return the names in a list with commas; None for all."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]
