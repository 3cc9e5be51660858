"""The options that commands share, each with one name, one meaning and one line of help."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated

import typer

NoLeak = Annotated[
    str | None,
    typer.Option(
        metavar="THRESHOLD",
        help="Keep samples whose similarity is at least THRESHOLD (or whose dissimilarity is at most "
        "THRESHOLD) on the same side of every fold; auto keeps near-duplicates together.",
        show_default=False,
    ),
]
Fill = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="The value of unknown pairs for methods that need all pairs: class-blind-mean, class-blind-median, "
        "farthest or a number.",
        show_default=False,
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="Methods, separated by commas: k-nn,svm-clip. Default: all.", show_default=False
    ),
]


class Preference(StrEnum):
    """What the chosen model should be."""

    accuracy = "accuracy"
    simple = "simple"


Prefer = Annotated[
    Preference,
    typer.Option(help="accuracy: combine the methods; simple: the simplest one that is nearly as good as the best."),
]
TimeBudget = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time limit for trying methods; those for which there is no time are listed.",
        show_default=False,
    ),
]
Key = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the array, if the file holds several.", show_default=False)
]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of folds and random draws.")]
Jobs = Annotated[int, typer.Option(metavar="N", help="Number of parallel jobs; -1 means one per core.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Suppress notes, progress, and the result if it is in a file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

Notes = Callable[[str], None]


def notes(quiet: bool) -> Notes:
    """Return a function that prints a note on stderr, or does nothing if ``quiet``."""

    def note(text: str) -> None:
        if not quiet:
            typer.echo(f"similitude: {text}", err=True)

    return note


def note_failures(failures: Mapping[str, str], note: Notes) -> None:
    """Print why methods failed; those that need all pairs, if some are unknown, share one note."""
    from similitude.auto.leaderboard import names_text
    from similitude.proximity.unknown import NEEDS_ALL_PAIRS

    need_all = [name for name, why in failures.items() if NEEDS_ALL_PAIRS in why]
    for name, why in failures.items():
        if name not in need_all:
            note(f"{name} failed: {' '.join(why.split())}")
    if need_all:
        note(
            f"some pairs are unknown, and these methods need all pairs: {names_text(need_all)}. "
            "--fill gives unknown pairs a value."
        )


def check_jobs(n_jobs: int) -> None:
    """Raise a ValueError for 0 jobs, for which joblib would show a traceback."""
    if n_jobs == 0:
        raise ValueError("--n-jobs must not be 0; -1 means one job per core.")


def check_budget(seconds: float | None) -> None:
    """Raise a ValueError unless the time is None or a positive number of seconds."""
    if seconds is not None and not 0 < seconds < float("inf"):
        raise ValueError(f"--time-budget must be a number of seconds above 0; got {seconds:g}.")


def listed(names: str | None) -> list[str] | None:
    """Return the names in a comma-separated list, or None for all."""
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]
