"""``similitude predict``: predict the labels of new rows with a saved model."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from similitude._utils.checks import check_interval
from similitude._utils.files import check_writable
from similitude._utils.progress import working
from similitude.cli.extra_columns import (
    NoveltyColumns,
    add_point,
    known_evidence,
    note_without_evidence,
    novelty_columns,
    point_of,
)
from similitude.cli.options import AsJson, Header, Key, ObjectColumn, Quiet, argument, is_yes, option
from similitude.cli.output import TABLE_SUFFIXES, Notes, notes, write_rows
from similitude.cli.rows import read_rows
from similitude.cli.structured import is_structured, structured_columns
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
    with _noting_warnings(note):
        with working("reading the model and the rows", not quiet):
            fitted, info = load_model(model, return_info=True)
            if not hasattr(fitted, "predict"):
                raise ValueError(f"{model}: holds a {type(fitted).__name__}, which is not a classifier.")
            data = read_rows(model, fitted, info, rows, given, queries, note)
        if precision is not None and is_structured(fitted):
            raise ValueError(
                "--precision is for a model of one label per sample; with a tree or several labels, --confidence says "
                "how probable what is written must be."
            )
        point = None if precision is None else point_of(fitted, precision, per_class)
        X, ids, edges = data.values, data.ids, data.counts
        with working("looking for evidence", not quiet):
            evidence = known_evidence(fitted, info, X, note)
        if evidence is not None and not evidence.all() and not assign_all and UNASSIGNED in info["classes"]:
            raise ValueError(
                f"{(~evidence).sum()} samples give no evidence and would be {UNASSIGNED!r}, which is a class of the "
                "model; add --assign-all."
            )
        with working("predicting", not quiet):
            if is_structured(fitted):
                labels, extra = structured_columns(fitted, info["notes"], X, confidence)
                kind, names, values, sure = STRUCTURED, list[str](), np.empty((len(labels), 0)), None
                more = NoveltyColumns(extra)
            else:
                predicted = fitted.predict(X)
                labels = predicted.tolist()
                kind, names, values = _scores(fitted, X, len(labels))
                sure = _confidence(fitted, predicted, values) if kind == "probabilities" else None
        if not is_structured(fitted):
            with working("computing typicality", not quiet):
                more = novelty_columns(fitted, X, confidence, note)
    if point is not None and sure is not None:
        assigned = point.assigns(predicted, sure) & (True if evidence is None else evidence)
        labels = [label if own else UNASSIGNED for label, own in zip(labels, assigned.tolist())]
        add_point(more, point, assigned, per_class, note)
    if evidence is not None:
        if not assign_all:
            labels = [label if own else UNASSIGNED for label, own in zip(labels, evidence.tolist())]
        written = np.where(evidence, "yes", "no") if edges is None else np.where(evidence, edges, 0)
        more.columns["evidence"] = written.tolist()
        more.facts["without_evidence"] = int((~evidence).sum())
        note_without_evidence(evidence, ids, edges, assign_all, note)
    first: dict[str, Any] = {} if ids is None else {"id": ids}
    first["label"] = labels
    if sure is not None:
        first["confidence"] = sure.tolist()
    headings = [*first, *names, *more.columns]
    columns = [*first.values(), *values.T.tolist(), *more.columns.values()]
    table = [headings, *zip(*columns)]
    with working("writing the table", not quiet):
        write_rows(output, [map(_inert, row) for row in table] if for_spreadsheets else table)
    if as_json or not quiet:
        _print_summary(labels, info["classes"], kind, more, output, as_json)


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
    labels: list[Any], classes: list[str], kind: str, more: NoveltyColumns, output: Path, as_json: bool
) -> None:
    """Print how many rows got each label, and the name of the file."""
    counts = Counter(str(label) for label in labels)
    if as_json:
        found = {"rows": len(labels), "labels": dict(counts), "columns": kind, **more.facts, "output": str(output)}
        typer.echo(json.dumps(found, indent=2))
        return
    known = dict.fromkeys([*classes, UNASSIGNED] if kind != STRUCTURED else [*sorted(counts), UNASSIGNED])
    summary = ", ".join(f"{label} {counts[label]}" for label in known if label in counts)
    if kind == STRUCTURED and len(counts) > _MOST_SUMMED:
        summary = f"{len(counts) - (UNASSIGNED in counts)} different labels, {UNASSIGNED} {counts[UNASSIGNED]}"
    typer.echo(f"{len(labels)} {'row' if len(labels) == 1 else 'rows'}: {summary}")
    typer.echo(f"columns: label{_AND[kind]}{''.join(f', {name}' for name in more.columns)}")
    for line in more.lines:
        typer.echo(line)
    typer.echo(f"saved to {output}")


STRUCTURED = "nodes of a tree, or several labels"
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


def _confidence(fitted: Any, predicted: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return the probability of the predicted class of each sample."""
    return probabilities[np.arange(len(predicted)), np.searchsorted(fitted.classes_, predicted)]


def _scores(fitted: Any, X: Any, n: int) -> tuple[str, list[str], Any]:
    """Return the kind of the scores, their names, and their values with one row per sample.

    The scores are probabilities of the classes, or decision values, or none.
    """
    classes = [str(label) for label in fitted.classes_]
    if hasattr(fitted, "predict_proba"):
        return "probabilities", classes, fitted.predict_proba(X)
    values = np.asarray(fitted.decision_function(X)) if hasattr(fitted, "decision_function") else np.empty((n, 0))
    if values.ndim == 1:
        return "decision values", [f"decision {classes[-1]}"], values[:, None]
    if values.shape[1] == len(classes):
        return "decision values", [f"decision {label}" for label in classes], values
    return "labels", [], np.empty((n, 0))
