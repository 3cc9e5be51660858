"""``similitude datasets``: list the named data sets, and write one to files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from similitude.cli.options import AsJson, Quiet, Seed, notes

if TYPE_CHECKING:
    from similitude.cli.catalogue import Entry
    from similitude.cli.data import LoadedData

_HEADINGS = {
    "ships": "Data that are included in similitude or scikit-learn",
    "simulated": "Simulated data, drawn with --seed",
    "fetched": "Data that are downloaded",
}
MATRIX, LABELS, OBJECTS = "matrix.csv", "labels.csv", "objects.csv"


def list_datasets(as_json: AsJson = False) -> None:
    """List the data sets that --dataset accepts."""
    from similitude.cli.catalogue import catalogue

    entries = list(catalogue().values())
    if as_json:
        typer.echo(json.dumps([_facts(entry) for entry in entries], indent=2))
        return
    for kind, heading in _HEADINGS.items():
        typer.echo(heading)
        needs = ""
        for entry in sorted((e for e in entries if e.kind == kind), key=lambda e: e.needs):
            if entry.needs != needs:
                needs = entry.needs
                typer.echo(f"  ({needs})")
            kind_of = entry.objects if entry.similarity == "given" else f"{entry.objects}, {entry.similarity}"
            typer.echo(f"  {entry.name:<20}{entry.samples:>6} samples {entry.classes:>3} classes  {kind_of}")
        typer.echo("")


def _facts(entry: Entry) -> dict[str, Any]:
    similarity = None if entry.similarity == "given" else entry.similarity
    names = ("name", "kind", "samples", "classes", "objects")
    return {
        **{name: getattr(entry, name) for name in names},
        "similarity": similarity,
        "module": entry.module,
        "loader": entry.call(),
        "needs": entry.needs or None,
    }


def export_dataset(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name from `similitude datasets`.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write to; created if needed.")
    ],
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write the matrix and the labels of a data set (and its objects, if they are rows or text) to CSV files."""
    from similitude._utils.files import check_writable, replacing
    from similitude.cli.data import named_samples
    from similitude.proximity.files import save_proximity

    data = named_samples(name, seed)
    if output.exists() and not output.is_dir():
        raise ValueError(f"--output: {output} is a file; a folder is needed.")
    output.mkdir(parents=True, exist_ok=True)
    check_writable(output / MATRIX, "--output")
    S, map_name = data.matrix()
    if "similarity" in data.contract and data.contract["similarity"] == "vdm":
        notes(quiet)("the value difference metric was learned from all labels, so errors on this matrix are too low.")
    save_proximity(output / MATRIX, S)
    with replacing(output / LABELS) as part:
        write_rows(part, ([label] for label in data.y.tolist()))
    objects = _rows_of_objects(data)
    if objects is not None:
        with replacing(output / OBJECTS) as part:
            write_rows(part, objects)
    more = "" if map_name is None else f" --dissimilarity {map_name}"
    if as_json:
        files = {"matrix": str(output / MATRIX), "labels": str(output / LABELS), "dissimilarity": map_name}
        files["objects"] = str(output / OBJECTS) if objects is not None else None
        typer.echo(json.dumps({"name": name, "samples": len(data.y), **files}, indent=2))
    elif not quiet:
        typer.echo(f"{name}: {len(data.y)} samples, in {output}")
        typer.echo(f"next: similitude inspect {output / MATRIX} --labels {output / LABELS}{more}")


def _rows_of_objects(data: LoadedData) -> list[list[Any]] | None:
    """Return raw objects as rows of a table, or None for matrices and images."""
    import numpy as np

    if "similarity" not in data.contract:
        return None
    if isinstance(data.X, list):
        return [[item] for item in data.X]
    return data.X.tolist() if isinstance(data.X, np.ndarray) and data.X.ndim == 2 else None


def write_rows(path: Path, rows: Any) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
