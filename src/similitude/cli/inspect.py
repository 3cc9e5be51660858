"""``similitude inspect``: diagnose a matrix in a file."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text
from scipy import sparse

from similitude._utils.progress import working
from similitude.cli.data import read_samples
from similitude.cli.options import AsJson, Quiet, Seed, Source
from similitude.cli.output import notes
from similitude.cli.shown import Show, shown_names
from similitude.diagnosis import Diagnosis, diagnose
from similitude.diagnosis.card import COMMANDS, advice, card, number, printable
from similitude.proximity import as_proximities, known_pairs


def inspect_matrix(
    source: Source,
    max_samples: Annotated[
        int, typer.Option(min=1, metavar="N", help="If there are more samples, draw this number at random.")
    ] = 5000,
    show: Show = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Describe the similarity in a matrix by figures, and give advice."""
    # The matrix stays on disk if possible, so that only the drawn samples of a large one are read.
    with working("reading the samples", not quiet):
        data = read_samples(source, note=notes(quiet), seed=seed, needs_labels=False, mmap=True)
        if data.are_several:
            raise ValueError("--combine separate: inspect describes one similarity; use mean or ranks, or report.")
        S, map_name = data.matrix()
    with working("diagnosing the similarity", not quiet):
        try:
            found = diagnose(S, data.y, dissimilarity=map_name, max_samples=max_samples, random_state=seed)
        except ValueError as error:  # values that stay on disk have not been checked by the reader
            raise ValueError(f"{source.matrix or source.dataset}: {error}") from None
        pairs = _pairs(S)
    if as_json:
        more = {} if pairs is None else {"pairs": pairs._asdict()}
        advised = {"advice": list(advice(found, COMMANDS))}
        typer.echo(json.dumps({**found.to_dict(), **advised, **more}, indent=2, allow_nan=False))
    else:
        shown = card(found, COMMANDS) + _asymmetric_text(found, shown_names(data, source, show))
        _show(shown + ("" if pairs is None else _pairs_text(pairs)))


def _pairs(X: Any) -> Any:
    """Return how many pairs are known, if the matrix is sparse or has unknown entries, otherwise None."""
    S = as_proximities(X).S
    if not sparse.issparse(S) and (isinstance(S, np.memmap) or not np.isnan(S).any()):
        return None
    return known_pairs(S)


def _asymmetric_text(found: Diagnosis, names: list[str]) -> str:
    """Return the pairs whose two directions differ most, with both values."""
    rows = []
    for pair in found.asymmetric_pairs:
        ends = f"{printable(names[pair.first])}, {printable(names[pair.second])}"
        rows.append(f"  {ends:<50}  {number(pair.forth):>11}  {number(pair.back):>11}")
    if not rows:
        return ""
    head = f"  {'first, second':<50}  {'first to':>11}  {'second to':>11}\n  {'':<50}  {'second':>11}  {'first':>11}"
    return "\n\nMost asymmetric pairs\n" + "\n".join([head, *rows])


def _pairs_text(pairs: Any) -> str:
    share = pairs.known / max(1, pairs.possible)
    rows = {
        "known": f"{pairs.known:,} of {pairs.possible:,} ({share:.2%})",
        "components": f"{pairs.components:,}, the largest with {pairs.largest:,} samples",
        "without a neighbour": f"{pairs.lonely:,} samples",
    }
    return "\n\nPairs\n" + "\n".join(f"  {name:<26}{text}" for name, text in rows.items())


def _show(card: str) -> None:
    """Print a card with headings in bold; a Text is used because labels may look like markup."""
    text = Text()
    for line in card.splitlines():
        text.append(line + "\n", style=None if line.startswith(" ") else "bold")
    Console().print(text, end="", soft_wrap=True, highlight=False)
