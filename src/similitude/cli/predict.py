"""``similitude predict``: predict the labels of new rows with a saved model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude._utils.checks import check_interval
from similitude._utils.files import check_writable
from similitude._utils.progress import working
from similitude.cli.answers import STRUCTURED, Answers, Wanted
from similitude.cli.options import AsJson, Header, Key, ObjectColumn, Quiet, argument, is_yes, option
from similitude.cli.output import TABLE_SUFFIXES, Notes, notes, once, write_rows
from similitude.cli.rows import read_rows
from similitude.persistence import load_model
from similitude.proximity.files import check_file, check_streams
from similitude.sets.calibration import check_confidence
from similitude.sets.operating_points import UNASSIGNED

ModelFile = Annotated[Path, argument("File written by `similitude fit`.", "MODEL")]
RowsFiles = Annotated[
    list[Path],
    argument(
        "File with the new samples: their similarities to the training samples (or dissimilarities, if the model was "
        "fitted on these) as rows or edges, or the samples themselves, if it was fitted on raw objects. A model on "
        "several similarities needs one file for each, in the order of `fit`.",
        "ROWS",
    ),
]
TableFile = Annotated[Path, option("File to write the table to, .csv or .tsv.", "OUT.csv", "--output", "-o")]
Confidence = Annotated[
    float | None,
    option(
        "Also write sets of classes that hold the true one for this share of the samples, such as 0.9. Of a tree, the "
        "deepest node of this probability is written, and of several labels those of this probability.",
        "SHARE",
    ),
]
Precision = Annotated[
    float | None,
    option(
        "Write a label only where predictions have at least this precision, such as 0.95, and unassigned elsewhere.",
        "SHARE",
    ),
]
PerClass = Annotated[
    bool, typer.Option("--per-class", help="Let --precision hold for each class, with a cut-off of its own.")
]
Query = Annotated[str | None, option("Column of the queries of edges; default: as in training.", "COLUMN")]
Target = Annotated[str | None, option("Column of the targets of edges.", "COLUMN")]
Score = Annotated[str | None, option("Column of the scores of edges.", "COLUMN")]
Missing = Annotated[
    str | None,
    option("Value of pairs without an edge, if the model was fitted on a matrix: zero or a number.", "VALUE"),
]
Queries = Annotated[
    Path | None,
    option(
        "All queries of a list of hits, also those without a hit: FASTA, one id per line, or a table with ids. A row "
        "is written for each, in this order.",
        "FILE",
    ),
]
AssignAll = Annotated[
    bool,
    typer.Option("--assign-all", help="Also write a class for samples that give no evidence, instead of unassigned."),
]
ForSpreadsheets = Annotated[
    bool,
    typer.Option(
        "--for-spreadsheets",
        help="Write an apostrophe before ids, labels and headings that a spreadsheet would run as a formula "
        "(those that begin with =, +, -, @, a tab or a line end).",
    ),
]


def predict_rows(
    model: ModelFile,
    rows: RowsFiles,
    output: TableFile,
    confidence: Confidence = None,
    object_column: ObjectColumn = None,
    precision: Precision = None,
    per_class: PerClass = False,
    key: Key = None,
    query: Query = None,
    target: Target = None,
    score: Score = None,
    missing: Missing = None,
    queries: Queries = None,
    assign_all: AssignAll = False,
    header: Header = None,
    for_spreadsheets: ForSpreadsheets = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Predict the labels of new samples with a saved model, and write them to a .csv or .tsv file."""
    note = notes(quiet)
    inputs: dict[str, list[Path | None]] = {"MODEL": [model], "ROWS": [*rows], "--queries": [queries]}
    check_writable(output, "--output", inputs, TABLE_SUFFIXES)
    check_streams(inputs)
    if confidence is not None:
        check_confidence(confidence, "--confidence")
    if precision is not None:
        check_interval(precision, "--precision", "(0, 1)")
        if assign_all:
            raise ValueError("--precision leaves samples unassigned, and --assign-all assigns all; give one of them.")
    elif per_class:
        raise ValueError("--per-class says how --precision is meant; give --precision, too.")
    given: dict[str, Any] = {"key": key, "query": query, "target": target, "score": score, "missing": missing}
    given["header"] = is_yes(header)
    given["object_column"] = object_column
    model = check_file(model, "MODEL")
    queries = None if queries is None else check_file(queries, "--queries")
    note = once(note)
    with _noting_warnings(note):
        with working("reading the model and the rows", not quiet):
            fitted, info = load_model(model, return_info=True)
            if not hasattr(fitted, "predict"):
                raise ValueError(f"{model}: holds a {type(fitted).__name__}, which is not a classifier.")
            new = read_rows(model, fitted, info, rows, given, queries, note)
        answers = Answers(fitted, info, Wanted(confidence, precision, per_class, assign_all), note)
        with working("predicting and writing the table", not quiet):
            table: Iterator[list[Any]] = answers.table(new.blocks)
            table = (list(map(_inert, row)) for row in table) if for_spreadsheets else table
            write_rows(output, table, None if new.wanted is None else lambda: _places(answers.ids, new.wanted))
        lines, facts = answers.summary()
    if as_json or not quiet:
        _print_summary(answers, info["classes"], lines, facts, output, as_json)


def _places(ids: list[str] | None, wanted: list[str] | None) -> list[int]:
    """Return the rows of the table, from its headings, in the order of the wanted ids."""
    place = {name: i for i, name in enumerate(ids or (), 1)}
    return [0, *(place[name] for name in wanted or ())]


@contextmanager
def _noting_warnings(note: Notes) -> Iterator[None]:
    """Print warnings of the model as notes, once the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        # The columns are matched by their names when the rows are read.
        if issubclass(warning.category, UserWarning) and "valid feature names" not in str(warning.message):
            note(f"warning: {' '.join(str(warning.message).split())}")


def _print_summary(
    answers: Answers, classes: list[str], lines: list[str], facts: dict[str, Any], output: Path, as_json: bool
) -> None:
    """Print how many rows got each label, and the name of the file."""
    kind, n = answers.kind, answers.labels.total()
    known = dict.fromkeys([*classes, UNASSIGNED] if kind != STRUCTURED else [*sorted(answers.labels), UNASSIGNED])
    counts = {label: answers.labels[label] for label in known if label in answers.labels}
    if as_json:
        found = {"rows": n, "labels": counts, "columns": kind, **facts, "output": str(output)}
        typer.echo(json.dumps(found, indent=2))
        return
    summary = ", ".join(f"{label} {count}" for label, count in counts.items())
    if kind == STRUCTURED and len(counts) > _MOST_SUMMED:
        summary = f"{len(counts) - (UNASSIGNED in counts)} different labels, {UNASSIGNED} {counts[UNASSIGNED]}"
    typer.echo(f"{n} {'row' if n == 1 else 'rows'}: {summary}")
    typer.echo(f"columns: label{_AND[kind]}{''.join(f', {name}' for name in answers.added)}")
    for line in lines:
        typer.echo(line)
    typer.echo(f"saved to {output}")


_MOST_SUMMED = 20
_AND = {
    STRUCTURED: "",
    "probabilities": ", confidence, probabilities of the classes",
    "decision values": ", decision values (this model has no probabilities; larger values favour the class)",
    "labels": " only (this model has neither probabilities nor decision values)",
}


def _inert(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; numbers are returned as they are."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else cell
