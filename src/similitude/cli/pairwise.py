"""``similitude pairwise``: compute a matrix from raw objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from similitude._utils.files import check_writable
from similitude._utils.ids import some
from similitude.cli.data import chosen_measure
from similitude.cli.options import (
    AsJson,
    Header,
    Jobs,
    Key,
    LabelColumn,
    ObjectColumn,
    Param,
    Quiet,
    argument,
    check_limits,
    is_yes,
    option,
)
from similitude.cli.output import Notes, notes
from similitude.proximity.files import (
    Contents,
    LabelFile,
    NamedColumns,
    check_file,
    check_ids,
    check_streams,
    id_files,
    read_object_table,
    read_objects,
    save_proximity,
    write_ids,
)
from similitude.similarities import pairwise
from similitude.similarities.registry import Measure, resolve

SUFFIXES = (".csv", ".npy", ".npz")

ObjectsFile = Annotated[
    Path,
    argument(
        "File with raw objects: FASTA, lines of text, CSV rows of numbers or words, or an array in .npy.", "OBJECTS"
    ),
]
Similarity = Annotated[str, option("Registered name: levenshtein, counting, rbf, ...", "NAME")]
MatrixFile = Annotated[
    Path,
    option("File to write: .csv, .npz or .npy; the ids of D.npy are written to D.ids.txt.", "MATRIX", "--output", "-o"),
]
Against = Annotated[Path | None, option("File with the objects of the columns, if they differ.", "OBJECTS")]
Labels = Annotated[Path | None, option("Labels of the columns, for similarities that learn from them (vdm).", "FILE")]
LabelsInOrder = Annotated[
    bool, typer.Option("--labels-in-order", help="State that labels with ids are in the order of the columns.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Fill a .npy file on disk; after an interruption the same command continues.")
]


def fill_matrix(
    objects: ObjectsFile,
    similarity: Similarity,
    output: MatrixFile,
    against: Against = None,
    labels: Labels = None,
    labels_in_order: LabelsInOrder = False,
    object_column: ObjectColumn = None,
    label_column: LabelColumn = None,
    param: Param = None,
    key: Key = None,
    header: Header = None,
    resume: Resume = False,
    n_jobs: Jobs = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compute the matrix of similarities of raw objects."""
    measure = resolve(similarity)
    check_limits(n_jobs)
    note = notes(quiet)
    inputs: dict[str, list[Path | None]] = {"OBJECTS": [objects], "--against": [against], "--labels": [labels]}
    check_writable(output, "--output", inputs)
    check_streams(inputs)
    kind = output.suffix.lower()
    if kind not in SUFFIXES:
        raise ValueError(f"--output: {output} must end in {', '.join(SUFFIXES)}.")
    if resume and kind != ".npy":
        raise ValueError(f"--resume is for .npy files; --output is {output}.")
    _check_learning(measure, labels, label_column)
    objects = check_file(objects, "OBJECTS")
    against = None if against is None else check_file(against, "--against")
    labels = None if labels is None else check_file(labels, "--labels")
    options = measure.objects, key, is_yes(header), object_column
    own_label = label_column if labels is None else None
    rows = _read(objects, options, own_label if against is None else None, note)
    columns = rows if against is None else _read(against, options, own_label, note)
    # Columns that are the rows have no ids of their own.
    column_ids = None if columns is rows else columns.ids
    files = id_files(output, {"ids": rows.ids, "column_ids": column_ids}) if kind == ".npy" else {}
    for ids in (rows.ids or [], columns.ids or []):
        check_ids(output, ids, one_line=kind != ".npz")
    measure = resolve(chosen_measure(similarity, param, [*rows.values, *columns.values], note))
    if measure.learns:
        file = None if labels is None else LabelFile(labels, "label", label_column, labels_in_order, is_yes(header))
        measure = _learned(measure, columns, file, note)
    matrix = pairwise(
        rows.values,
        None if against is None else columns.values,
        similarity=measure,
        out=output if resume else None,
        n_jobs=n_jobs,
        progress=not quiet,
    )
    if not resume:
        save_proximity(output, matrix, ids=rows.ids, column_ids=column_ids)
    else:
        write_ids(output, files)
    _print_summary(matrix.shape, measure, output, list(map(str, files)), as_json, quiet)


def _read(path: Path, options: tuple, label_column: str | None, note: Notes) -> Contents:
    """Return the objects of a file, with the labels in one of its columns, and print which of its columns are read."""
    kind, key, header, object_column = options
    if object_column is None and label_column is None:
        found = read_objects(path, kind, key, header)
    else:
        found = read_object_table(path, kind, NamedColumns(object_column, label_column), header)
        if found.left_out:
            raise ValueError(f"{path}: {len(found.left_out)} of the objects have no label: {some(found.left_out)}.")
    for read in found.columns.values():
        note(f"{path}: {read}")
    return found


def _print_summary(
    shape: tuple[int, int], measure: Measure, output: Path, id_files: list[str], as_json: bool, quiet: bool
) -> None:
    """Print what was written."""
    dissimilar = measure.orientation == "dissimilarity"
    found = {
        "rows": shape[0],
        "columns": shape[1],
        "similarity": measure.name,
        "values": "dissimilarities" if dissimilar else "similarities",
        "dissimilarity": measure.to_similarity if dissimilar else None,
        "output": str(output),
        "id_files": id_files,
    }
    if as_json:
        typer.echo(json.dumps(found, indent=2))
    elif not quiet:
        typer.echo(f"{found['rows']} x {found['columns']} {found['values']} ({measure.name})")
        if found["dissimilarity"]:
            typer.echo(f"pass them to the other commands with --dissimilarity {found['dissimilarity']}")
        typer.echo(f"saved to {output}" + (f", ids in {' and '.join(id_files)}" if id_files else ""))


def _check_learning(measure: Measure, labels: Path | None, label_column: str | None) -> None:
    """Raise a ValueError if the measure does not learn from labels that are given, or if it needs them."""
    given = labels is not None or label_column is not None
    if given and not measure.learns:
        raise ValueError(
            f"--label{'' if labels is None else 's'}: {measure.name} does not learn from labels; omit them."
        )
    if not given and measure.name == "vdm":
        raise ValueError(
            "--similarity vdm learns from labels; give those of the columns with --labels FILE, or with --label COLUMN "
            "of their table."
        )


def _learned(measure: Measure, columns: Contents, file: LabelFile | None, note: Notes) -> Measure:
    """Return the measure after it has learned from the objects of the columns."""
    if file is None:
        return measure.learned(columns.values, columns.y)
    n = len(columns.values)
    found = file.read(n, columns.ids)
    if len(found.labelled) < n:
        raise ValueError(f"{file.path}: {n - len(found.labelled)} of the objects have no label.")
    note(f"{file.path}: {found.read}")
    return measure.learned(columns.values, found.values)
