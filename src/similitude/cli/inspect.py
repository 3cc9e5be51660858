"""``similitude inspect``: diagnose a matrix in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def inspect_matrix(
    matrix: Annotated[
        Path, typer.Argument(metavar="MATRIX", help="File with a square matrix of similarities.", show_default=False)
    ],
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with one class label per sample.", show_default=False)
    ] = None,
    dissimilarity: Annotated[
        str | None,
        typer.Option(
            metavar="MAP",
            help="The matrix holds dissimilarities; this map makes them similarities: max-minus, gauss, exp, ...",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which array, of a file with several.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    max_samples: Annotated[
        int, typer.Option(min=1, metavar="N", help="Of more samples, draw so many at random.")
    ] = 5000,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Seed of the random draws.")] = 0,
) -> None:
    """Say what kind of similarity a matrix holds: figures, and what follows from them."""
    from similitude.datasets import load_proximity
    from similitude.diagnosis import diagnose

    # Left on disk where it can be: of a large matrix only the samples drawn are read.
    data = load_proximity(matrix, labels=labels, key=key, mmap=matrix.suffix.lower() == ".npy")
    found = diagnose(data.S, data.y, dissimilarity=dissimilarity, max_samples=max_samples, random_state=seed)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, allow_nan=False))
    else:
        _show(str(found))


def _show(card: str) -> None:
    """Print a card, headings in bold; a Text, since labels are data and may look like markup."""
    from rich.console import Console
    from rich.text import Text

    text = Text()
    for line in card.splitlines():
        text.append(line + "\n", style=None if line.startswith(" ") else "bold")
    Console().print(text, end="", soft_wrap=True, highlight=False)
