"""``similitude inspect``: diagnose a matrix in a file."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from similitude.cli.options import (
    AsJson,
    DatasetName,
    Dissimilarity,
    Key,
    Labels,
    LabelsInOrder,
    Matrix,
    Quiet,
    Seed,
    notes,
)


def inspect_matrix(
    matrix: Matrix = None,
    labels: Labels = None,
    labels_in_order: LabelsInOrder = False,
    dissimilarity: Dissimilarity = None,
    key: Key = None,
    dataset: DatasetName = None,
    max_samples: Annotated[
        int, typer.Option(min=1, metavar="N", help="Of more samples, draw so many at random.")
    ] = 5000,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Say what kind of similarity a matrix holds: figures, and what follows from them."""
    from similitude.cli.data import read_samples
    from similitude.diagnosis import diagnose

    # Left on disk where it can be: of a large matrix only the samples drawn are read.
    data = read_samples(
        matrix,
        labels,
        dissimilarity,
        dataset,
        key,
        say=notes(quiet),
        seed=seed,
        needs_labels=False,
        in_order=labels_in_order,
        mmap=True,
    )
    S, how = data.matrix()
    try:
        found = diagnose(S, data.y, dissimilarity=how, max_samples=max_samples, random_state=seed)
    except ValueError as error:  # of values left on disk, which no reader has checked
        raise ValueError(f"{matrix or dataset}: {error}") from None
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
