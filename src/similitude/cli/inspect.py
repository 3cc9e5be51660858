"""``similitude inspect``: diagnose a matrix in a file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from similitude.cli.options import AsJson, Quiet, Seed, notes
from similitude.cli.source import Source


def inspect_matrix(
    source: Source,
    max_samples: Annotated[
        int, typer.Option(min=1, metavar="N", help="If there are more samples, draw this number at random.")
    ] = 5000,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Describe the similarity in a matrix by figures, and give advice."""
    from similitude.cli.data import read_samples
    from similitude.diagnosis import diagnose

    # The matrix stays on disk if possible, so that only the drawn samples of a large one are read.
    data = read_samples(source, note=notes(quiet), seed=seed, needs_labels=False, mmap=True)
    S, map_name = data.matrix()
    try:
        found = diagnose(S, data.y, dissimilarity=map_name, max_samples=max_samples, random_state=seed)
    except ValueError as error:  # values that stay on disk have not been checked by the reader
        raise ValueError(f"{source.matrix or source.dataset}: {error}") from None
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, allow_nan=False))
    else:
        _show(str(found))


def _show(card: str) -> None:
    """Print a card with headings in bold; a Text is used because labels may look like markup."""
    from rich.console import Console
    from rich.text import Text

    text = Text()
    for line in card.splitlines():
        text.append(line + "\n", style=None if line.startswith(" ") else "bold")
    Console().print(text, end="", soft_wrap=True, highlight=False)
