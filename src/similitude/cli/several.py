"""Several matrices of the same samples: reading them, and comparing them."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer

from similitude.cli.data import LoadedData, read_samples
from similitude.cli.options import Notes
from similitude.cli.source import Source
from similitude.cli.tables import save_rows

_SHOWN = 3


def read_matrices(source: Source, *, note: Notes, seed: int = 0) -> LoadedData:
    """Return one matrix, several matrices of the same samples, or a named data set, with labels and groups.

    Several matrices are named after their files. The order of the samples is that of the first; the others are
    reordered by their ids if both have them.
    """
    paths = source.matrices
    if len(paths) < 2:
        return read_samples(source, note=note, seed=seed)
    from similitude.proximity.files import check_streams

    if source.similarity is not None:
        raise ValueError("--similarity is for one FILE of raw objects; several files hold similarities.")
    check_streams(source.inputs())
    names = names_of(paths)
    maps = _maps(source.dissimilarity, names)
    # Each file is read as if it were alone, so that a warning tells which one looks like dissimilarities.
    alone = replace(source, others=())
    first = read_samples(replace(alone, dissimilarity=maps[names[0]]), note=note, seed=seed)
    found = {names[0]: _plain_matrix(first, paths[0])}
    no_labels: Any = dict.fromkeys(("labels", "label_column", "groups", "group_column"))
    for name, path in zip(names[1:], paths[1:]):
        own = replace(alone, matrix=path, dissimilarity=maps[name], labels_in_order=False, **no_labels)
        found[name] = _in_order(read_samples(own, note=note, needs_labels=False), path, first, paths[0], note)
    from similitude import Proximities

    contract = {"dissimilarity": maps if len(set(maps.values())) > 1 else next(iter(maps.values()))}
    title = f"{', '.join(names)}: {len(first.y)} samples"
    return LoadedData(Proximities(found), first.y, contract, first.ids, first.groups, title)


def _plain_matrix(data: LoadedData, path: Path) -> Any:
    """Return the matrix, in which every pair must be known."""
    if hasattr(data.X, "absent"):
        raise ValueError(
            f"FILE: {path} has unknown pairs; with several files every pair must be known: give --missing a value."
        )
    return data.X


def names_of(paths: list[Path]) -> list[str]:
    """Return the names of the files without suffixes, or the whole paths if these are not all different."""
    names = [path.name.split(".")[0] for path in paths]
    if len(set(names)) == len(names):
        return names
    if len(set(map(str, paths))) < len(paths):
        twice = next(str(path) for i, path in enumerate(paths) if path in paths[:i])
        raise ValueError(f"FILE: {twice} is given twice.")
    return [str(path) for path in paths]


def _maps(dissimilarity: str | None, names: list[str]) -> dict[str, str | None]:
    """Return the map of each matrix: the same for all, or by name (``a=gauss,b=exp``)."""
    if dissimilarity is None or "=" not in dissimilarity:
        return dict.fromkeys(names, dissimilarity)
    maps: dict[str, str | None] = dict.fromkeys(names)
    for part in dissimilarity.split(","):
        name, _, chosen = (word.strip() for word in part.partition("="))
        if name not in maps or not chosen:
            raise ValueError(f"--dissimilarity: {part!r} must be NAME=MAP with a name among {', '.join(names)}.")
        maps[name] = chosen
    return maps


def _in_order(own: LoadedData, path: Path, first: LoadedData, first_path: Path, note: Notes) -> Any:
    """Return a further matrix with its samples in the order of the first one."""
    X = _plain_matrix(own, path)
    if own.ids is None or first.ids is None:
        if X.shape != first.X.shape:
            raise ValueError(
                f"FILE: {first_path} has {first.X.shape[0]} samples and {path} has {X.shape[0]}; several matrices must "
                "have the same samples."
            )
        return X
    known, given = first.ids.tolist(), own.ids.tolist()
    missing = [name for name in known if name not in set(given)]
    if missing:
        shown = ", ".join(map(repr, missing[:_SHOWN])) + (", ..." if len(missing) > _SHOWN else "")
        raise ValueError(
            f"FILE: {len(missing)} of the {len(known)} samples of {first_path} are not in {path}: {shown}. Several "
            "matrices must have the same samples."
        )
    if known == given:
        return X
    from similitude.proximity import cut

    note(f"{path}: the samples are reordered by their ids, like those of {first_path}.")
    position = {name: i for i, name in enumerate(given)}
    order = np.array([position[name] for name in known])
    return cut(X, order, order)


def check_names(wanted: Any, source: Source) -> None:
    """Raise a ValueError for an unknown method; with several matrices there are some more."""
    from similitude.auto import methods, split_names

    single, mixed = split_names(wanted) if source.others else (wanted, [])
    if single or not mixed:
        methods(single)


def compare_files(data: LoadedData, wanted: Any, settings: dict[str, Any]) -> Any:
    """Return the comparison of several similarities."""
    from similitude.auto import compare_similarities

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command lists the methods that failed
        return compare_similarities(
            data.samples, data.y, methods=wanted, n_repeats=1, **settings, **data.contract, **data.fold_arguments
        )


def show_similarities(found: Any, title: str, folds: int, output: Path | None, as_json: bool, quiet: bool) -> None:
    """Print the comparison as tables or JSON, and save the first table."""
    rows = [asdict(row) for row in found.standings]
    if output is not None:
        save_rows(rows, output)
    if as_json:
        more = {"together": [asdict(row) for row in found.together], "names": found.names, "left_out": found.left_out}
        matrices = {name: _plain(getattr(found, name)) for name in ("p_values", "correlations")}
        typer.echo(json.dumps({"similarities": rows, **more, **matrices}, indent=2))
    elif not (quiet and output is not None):
        typer.echo(f"{title}; {folds}-fold cross-validation\n")
        typer.echo(str(found))
        typer.echo("\np: exact paired test on the samples against the first line (McNemar), with Holm's correction.")
        typer.echo("without it: error of the combination of the methods on all other similarities, and its p against")
        typer.echo("the combination on all of them.")
        if output is not None:
            typer.echo(f"saved to {output}")


def _plain(values: np.ndarray) -> list[list[float | None]]:
    return [[None if np.isnan(value) else float(value) for value in row] for row in values]
