"""``similitude datasets``: the catalogue of named data sets, which it lists and writes to files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from similitude._utils.files import check_writable
from similitude.cli.options import AsJson, Quiet, Seed, argument
from similitude.cli.output import notes, write_rows
from similitude.proximity.files import save_proximity

SHIPS, SIMULATED, FETCHED = "ships", "simulated", "fetched"
_HEADINGS = {
    SHIPS: "Data that are included in similitude or scikit-learn",
    SIMULATED: "Simulated data, drawn with --seed",
    FETCHED: "Data that are downloaded",
}
_MATRIX, _LABELS, _OBJECTS = "matrix.csv", "labels.csv", "objects.csv"


@dataclass(frozen=True)
class Entry:
    """One data set: the function that loads it, and a suitable similarity."""

    name: str
    kind: str
    samples: int
    """The number of samples, with the seed 0 if they are simulated."""
    classes: int
    objects: str
    """The kind of the samples; "matrix" if there are only similarities."""
    similarity: str
    """A registered name, or "given"."""
    loader: str
    X: str = "data"
    y: str = "target"
    dissimilarity: str | None = None
    """The map of a matrix of dissimilarities."""
    needs: str = ""
    """The requirements for fetching it, or an empty string."""
    module: str = "similitude.datasets"
    """The module of the loader."""

    def call(self, seed: int = 0) -> str:
        """Return the call of the loader as Python code."""
        return f"{self.loader}({f'random_state={seed}' if self.kind == SIMULATED else ''})"

    def load(self, seed: int = 0) -> tuple[Any, Any, dict[str, Any]]:
        """Return the samples or the matrix, the labels, and the input contract."""
        arguments = {"random_state": seed} if self.kind == SIMULATED else {}
        bunch = getattr(import_module(self.module), self.loader)(**arguments)
        contract: dict[str, Any] = {"dissimilarity": self.dissimilarity}
        if self.similarity != "given":
            contract = {"similarity": self.similarity}
        return bunch[self.X], bunch[self.y], contract


def catalogue() -> dict[str, Entry]:
    """Return all data sets by name: the included ones, then the simulated ones, then the fetched ones."""
    matrix, rows = ("matrix", "given"), ("binary rows", "counting")
    numbers, scikit_learn = ("numbers", "euclidean"), "sklearn.datasets"
    entries = [
        Entry("voting", SHIPS, 435, 2, "categorical rows", "vdm", "load_voting"),
        Entry("promoters", SHIPS, 106, 2, "strings", "levenshtein", "load_promoters"),
        Entry("digits", SHIPS, 1797, 10, "images", "euclidean-image", "load_digit_images"),
        Entry("iris", SHIPS, 150, 3, *numbers, "load_iris", module=scikit_learn),
        Entry("wdbc", SHIPS, 569, 2, *numbers, "load_breast_cancer", module=scikit_learn),
        Entry("wine", SHIPS, 178, 3, *numbers, "load_wine", module=scikit_learn),
        Entry("perturbed-centroids", SIMULATED, 100, 2, *rows, "make_perturbed_centroids", X="X", y="y"),
        Entry("negative-direction", SIMULATED, 200, 4, *matrix, "make_negative_direction", X="S", y="y"),
        Entry("patrol", SIMULATED, 239, 8, *matrix, "make_patrol", X="S", y="y"),
        Entry("copurchase", SIMULATED, 204, 47, *matrix, "make_copurchase", X="S", y="y"),
        Entry("ellipsoids", SIMULATED, 200, 2, *matrix, "make_ellipsoids", X="S", y="y"),
        Entry("complementary", SIMULATED, 200, 4, *matrix, "make_complementary", X="S", y="y"),
        Entry(
            "protein",
            FETCHED,
            213,
            4,
            *matrix,
            "fetch_protein",
            X="D",
            y="y",
            dissimilarity="max-minus",
            needs="install similitude[data]; a network the first time, or protein.RData in SIMILITUDE_DATA",
        ),
    ]
    return {entry.name: entry for entry in entries}


def entry_named(name: str) -> Entry:
    """Return the data set of this name, or raise an error that lists the known names."""
    known = catalogue()
    if name not in known:
        raise ValueError(
            f"--dataset must be one of {', '.join(known)}; got {name!r}. `similitude datasets` describes them."
        )
    return known[name]


def list_datasets(as_json: AsJson = False) -> None:
    """List the data sets that --dataset accepts."""
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
    name: Annotated[str, argument("Name from `similitude datasets`.", "NAME")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write to; created if needed.")
    ],
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Write the matrix and the labels of a data set (and its objects, if they are rows or text) to CSV files."""
    from similitude.cli.data import named_samples  # which imports the catalogue of this file

    data = named_samples(name, seed)
    if output.exists() and not output.is_dir():
        raise ValueError(f"--output: {output} is a file; a folder is needed.")
    output.mkdir(parents=True, exist_ok=True)
    check_writable(output / _MATRIX, "--output")
    S, map_name = data.matrix()
    if "similarity" in data.contract and data.contract["similarity"] == "vdm":
        notes(quiet)("the value difference metric was learned from all labels, so errors on this matrix are too low.")
    save_proximity(output / _MATRIX, S)
    write_rows(output / _LABELS, ([label] for label in data.y.tolist()))
    objects = _rows_of_objects(data.values) if "similarity" in data.contract else None
    if objects is not None:
        write_rows(output / _OBJECTS, objects)
    more = "" if map_name is None else f" --dissimilarity {map_name}"
    if as_json:
        files = {"matrix": str(output / _MATRIX), "labels": str(output / _LABELS), "dissimilarity": map_name}
        files["objects"] = str(output / _OBJECTS) if objects is not None else None
        typer.echo(json.dumps({"name": name, "samples": len(data.y), **files}, indent=2))
    elif not quiet:
        typer.echo(f"{name}: {len(data.y)} samples, in {output}")
        typer.echo(f"next: similitude inspect {output / _MATRIX} --labels {output / _LABELS}{more}")


def _rows_of_objects(objects: Any) -> list[list[Any]] | None:
    """Return raw objects as rows of a table, or None for images."""
    if isinstance(objects, list):
        return [[item] for item in objects]
    return objects.tolist() if isinstance(objects, np.ndarray) and objects.ndim == 2 else None
