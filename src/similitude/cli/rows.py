"""The new samples of ``similitude predict``, read from its files ROWS as the model needs them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from similitude._utils.ids import Names, column_order, some
from similitude.base import reader_of
from similitude.cli.data import holds_smiles, smiles_names
from similitude.cli.options import number_or_text
from similitude.cli.output import Notes
from similitude.generative.fused import FusedClassifier
from similitude.persistence import input_reader
from similitude.proximity import Proximities
from similitude.proximity.files import (
    Columns,
    Contents,
    NamedColumns,
    Reading,
    check_file,
    load_row_blocks,
    load_rows,
    read_cells,
    read_object_table,
    read_objects,
    suffix,
)
from similitude.proximity.files.values import ROWS_BLOCK
from similitude.similarities.molecules import invalid_smiles


@dataclass(frozen=True)
class NewRows:
    """The new samples, in blocks that are read one after the other."""

    blocks: Iterator[Contents]
    wanted: list[str] | None = None
    """The ids of all samples in the order in which they are written; None if the blocks are in this order."""


def read_rows(
    model: Path, fitted: Any, info: dict, paths: list[Path], given: dict[str, Any], queries: Path | None, note: Notes
) -> NewRows:
    """Return the new samples in the form in which the fitted model reads them."""
    if info["input"] == "other" and not _takes_rows(fitted):
        raise ValueError(
            f"{model}: holds a {type(fitted).__name__}, whose input is not only rows of similarities. "
            "Load the model in Python: similitude.load_model(path)."
        )
    several = None if info["input"] == "objects" else info["similarities"]
    judges = several is not None and _reads_judges(info)
    _check_number(model, paths, None if judges else several)
    paths = [check_file(path, "ROWS", may_be_empty=queries is not None) for path in paths]
    if info["input"] == "objects":
        if queries is not None:
            raise ValueError(
                "--queries is for edge lists, such as hits; ROWS holds raw objects, of which each has a row."
            )
        found = _objects(fitted, info, paths[0], given)
        for read in found.columns.values():
            note(f"{paths[0]}: {read}")
        return NewRows(iter([_readable(fitted, paths[0], found, note)]))
    if given.pop("object_column") is not None:
        raise ValueError(f"--object names a column of raw objects; {model} was fitted on similarities.")
    if several is None or judges:
        return _similarities(fitted, info, paths[0], given, queries, note)
    each = [_only(_similarities(fitted, info, path, given, queries, note, whole=True)) for path in paths]
    return NewRows(iter([_together(fitted, several, paths, each)]))


def _only(rows: NewRows) -> Contents:
    """Return the only block of rows."""
    return next(rows.blocks)


def _reads_judges(info: dict) -> bool:
    """Return whether the several similarities of a model are those of judges, whose ratings are in one file."""
    stored = info["notes"].get("reading")
    return isinstance(stored, dict) and stored.get("combine") == "separate"


def _takes_rows(fitted: Any) -> bool:
    """Return whether a fused model was fitted on a matrix alone; all its parts then use the same rows."""
    if not isinstance(fitted, FusedClassifier) or not hasattr(fitted, "n_features_in_"):
        return False
    widths = {getattr(part, "n_features_in_", None) for part in fitted.parts_.values()}
    return widths == {fitted.n_features_in_}


def _check_number(model: Path, rows: list[Path], similarities: list[str] | None) -> None:
    needed = similarities or ["one"]
    if len(rows) != len(needed):
        named = "" if similarities is None else f" ({', '.join(similarities)})"
        raise ValueError(f"ROWS: {model} needs {len(needed)} of these files{named}, in this order; got {len(rows)}.")
    given = [path.name.split(".")[0] for path in rows]
    if similarities is not None and given != similarities and sorted(given) == sorted(similarities):
        raise ValueError(
            f"ROWS: the files have the names of the similarities of {model}, but not their order; give them as "
            f"{', '.join(similarities)}."
        )


def _similarities(
    fitted: Any,
    info: dict,
    path: Path,
    given: dict[str, Any],
    queries: Path | None,
    note: Notes,
    whole: bool = False,
) -> NewRows:
    """Return the rows in the order of the training samples: in blocks of whole queries, or in one block."""
    stored = info["notes"].get("reading")
    stored = stored if isinstance(stored, dict) else {}
    reading, known = _reading(info, stored, given), info["ids"]
    stored = {**stored, "judges": info["similarities"]}
    if whole:
        blocks, wanted = iter([load_rows(path, reading, known, stored, queries)]), None
    else:
        blocks, wanted = load_row_blocks(path, reading, known, stored, queries, ROWS_BLOCK)

    def matched() -> Iterator[Contents]:
        for data in blocks:
            for read in data.columns.values():
                note(f"{path}: {read}")
            for text in data.notes:
                note(text)
            yield _matched(fitted, info, path, data, note)

    return NewRows(matched(), wanted)


def _matched(fitted: Any, info: dict, path: Path, data: Contents, note: Notes) -> Contents:
    """Return rows as the model reads them, with its columns in their order."""
    known, needed, support = info["ids"], info["n_columns"], info["support_columns"]
    support = None if support is None or not 0 < len(support) < needed else support
    if isinstance(data.values, dict):
        return replace(data, values=Proximities(data.values, column_ids=data.column_ids))
    S = data.values
    if known is not None and data.column_ids is not None:
        order, _, strange = column_order(Names(known, "ids"), Names(data.column_ids, "ids"), support, path)
        S = S if order is None else S[:, order]
        if strange:
            note(f"{path}: {len(strange)} columns are not training samples and are ignored: {some(strange)}.")
    elif S.shape[1] != needed and (support is None or S.shape[1] != len(support)):
        few = "" if support is None else f", or the {len(support)} that it needs"
        raise ValueError(
            f"{path}: has {S.shape[1]} columns; the model was fitted on {needed} samples{few}. One column for each is "
            "needed, in their order."
        )
    reader = reader_of(input_reader(fitted))
    if "ids" in getattr(reader, "extras", ()):  # ids were given in fit, and predict needs them too
        names = reader.column_ids if S.shape[1] == needed else reader.column_ids[support]
        S = Proximities(S, column_ids=names, absent=data.absent)
    elif data.absent == "unknown":
        S = Proximities(S, absent="unknown")
    return replace(data, values=S)


def _reading(info: dict, stored: dict[str, Any], given: dict[str, Any]) -> Reading:
    """Return how new samples are read: as the training samples were, unless columns are named."""
    changes = {name: value for name, value in given.items() if value is not None}
    if "missing" in changes and stored:
        raise ValueError(
            f"--missing: omit it; pairs without an edge mean what they meant in training, {stored.get('missing')!r}."
        )
    if "missing" in changes:
        changes["missing"] = number_or_text(changes["missing"])
    if not stored:
        changes["orientation"] = "dissimilarity" if info["input"] == "dissimilarities" else "similarity"
    return Reading.restored(stored, **changes)


def _together(fitted: Any, names: list[str], paths: list[Path], each: list[Contents]) -> Contents:
    """Return the rows of several similarities as one, whose files must have the same samples; edges are added."""
    first, matrices = each[0], [getattr(data.values, "S", data.values) for data in each]
    for path, data, S in zip(paths[1:], each[1:], matrices[1:]):
        if S.shape != matrices[0].shape or (data.ids or first.ids) != (first.ids or data.ids):
            raise ValueError(f"ROWS: {paths[0]} and {path} must have the same samples in the same order, and do not.")
    counts = [data.counts for data in each if data.counts is not None]
    reader = reader_of(fitted)
    column_ids = reader.column_ids if reader is not None and "ids" in reader.extras else None
    rows = Proximities(dict(zip(names, matrices)), column_ids=column_ids)
    return Contents(rows, first.ids, counts=np.sum(counts, axis=0) if counts else None)


def _objects(fitted: Any, info: dict, path: Path, given: dict[str, Any]) -> Contents:
    """Return raw objects from a file, of the kind on which the model was fitted."""
    known = input_reader(fitted).objects_
    is_array = isinstance(known, np.ndarray) and known.ndim == 2
    columns = info["notes"].get("columns")
    names = columns.get("objects") if isinstance(columns, dict) else None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        names = None
    if given["object_column"] is not None:
        named = NamedColumns(given["object_column"])
        kind = "numbers" if is_array and known.dtype.kind in "fiub" else "categorical rows" if is_array else "strings"
        found = read_object_table(path, kind, named, given["header"])
        if is_array:
            _check_width(path, found.values.shape[1], known.shape[1])
        return found
    options = given["key"], given["header"], names
    if is_array and known.dtype.kind in "fiub":
        found = read_objects(path, "numbers", *options)
        _check_width(path, found.values.shape[1], known.shape[1])
        return found
    texts = known.ravel() if is_array else known
    if not (is_array or isinstance(known, list)) or not all(isinstance(cell, str) for cell in texts):
        raise ValueError(
            "MODEL was fitted on objects that ROWS cannot hold; it can hold rows of numbers, rows of words, or "
            "strings. Load the model in Python: similitude.load_model(path).predict(objects)."
        )
    if not is_array:
        return read_objects(path, "strings", *options)
    if suffix(path) not in (".csv", ".tsv", ".parquet", ""):
        raise ValueError(
            f"{path}: raw objects are read from .csv, .tsv and .parquet files, and sequences also from FASTA files."
        )
    found = read_objects(path, "categorical rows", *options) if names else _words(path, known, given["header"])
    _check_width(path, found.values.shape[1], known.shape[1])
    return found


def _readable(fitted: Any, path: Path, found: Contents, note: Notes) -> Contents:
    """Return objects in which SMILES that are invalid are empty molecules, which give no evidence."""
    measure = getattr(reader_of(input_reader(fitted)), "measure", None)
    if measure is None or not holds_smiles(measure.objects, found.values):
        return found
    invalid = invalid_smiles(found.values)
    if not invalid:
        return found
    are = "1 SMILES is invalid" if len(invalid) == 1 else f"{len(invalid)} SMILES are invalid"
    note(f"{path}: {are}, which gives no evidence: {some(smiles_names(found, invalid))}.")
    unreadable = set(invalid)
    return replace(found, values=["" if i in unreadable else text for i, text in enumerate(found.values)])


def _check_width(path: Path, found: int, needed: int) -> None:
    if found != needed:
        raise ValueError(f"{path}: has {found} columns; the model was fitted on objects with {needed}.")


def _words(path: Path, known: Any, header: bool | None) -> Contents:
    """Return rows of words for a model that does not know the names of its columns.

    With several columns, a first row in which no word is known is a header. Below it, a column more is one of ids.
    """
    rows, needed = read_cells(path), known.shape[1]
    first = [cell.strip() for cell in rows[0]]
    if header is None and needed > 1 and "id" not in map(str.lower, first):
        header = len(rows) > 1 and not any(cell in set(known[:, j]) for j, cell in enumerate(rows[0][-needed:]))
    if header and len(first) == needed + 1 and "id" not in map(str.lower, first):
        read = Columns(True, first, {"ids": [0], "objects": list(range(1, needed + 1))})
        words = np.array([row[1:] for row in rows[1:]], dtype=object)
        return Contents(words, [row[0] for row in rows[1:]], columns={"path": read})
    return read_objects(path, "categorical rows", None, header)
