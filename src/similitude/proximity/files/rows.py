"""Rows of new samples from files, whose columns are the samples on which a model was fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from similitude._utils.ids import Names, column_order
from similitude._utils.ids import some as some_of_all
from similitude.proximity.edges import Edges, rows_to, some
from similitude.proximity.files.contents import Columns, Contents, Reading
from similitude.proximity.files.edge_files import read_edges
from similitude.proximity.files.forms import binary_kind, look, names_known
from similitude.proximity.files.labels import read_queries
from similitude.proximity.files.text import check_file, is_fasta
from similitude.proximity.files.values import load_values
from similitude.proximity.split import cut
from similitude.proximity.unknown import Absent

_MEANING = ("missing", "duplicates", "direction", "normalise")


def load_new_rows(path: Path, reading: Reading, columns: Any) -> Contents:
    """Return rows of new samples whose columns are the given samples in their order: see ``load_proximity``."""
    known, stored = _training(columns)
    edges = _as_in_training(reading, stored) if stored else _without_training(reading)
    found = load_rows(path, edges, known, stored.get("self_scores"))
    if found.reading is not None:
        return found
    if reading.missing not in (None, "unknown"):
        raise ValueError(f"missing is for edges; {path} holds a matrix. Replace its unknown entries yourself.")
    S, notes = found.values, found.notes
    if found.column_ids is None:
        if S.shape[1] != len(known):
            raise ValueError(
                f"{path}: has {S.shape[1]} columns without ids; one for each of the {len(known)} samples in "
                "columns is needed, in their order."
            )
        return replace(found, column_ids=known)
    order, _, strange = column_order(Names(known, "ids"), Names(found.column_ids, "ids"), where=path)
    if strange:
        notes = (*notes, f"{len(strange)} columns are not in columns and are left out: {some_of_all(strange)}.")
    S = S if order is None else cut(S, np.arange(S.shape[0]), np.array(order))
    return replace(found, values=S, column_ids=known, notes=notes)


def _training(columns: Any) -> tuple[list[str], dict[str, Any]]:
    """Return the ids of the training samples, and how their edges were read if that is known."""
    stored = None
    if isinstance(columns, Mapping):
        stored = columns.get("reading") or columns.get("notes", {}).get("reading")
        columns = columns.get("ids")
    if columns is None or isinstance(columns, str):
        raise ValueError("columns must hold the ids of the training samples; there are none.")
    return [str(name) for name in columns], stored if isinstance(stored, dict) else {}


def _as_in_training(reading: Reading, stored: dict[str, Any]) -> Reading:
    """Return how edges are read: as those of the training samples, unless columns are named."""
    default = Reading(orientation=reading.orientation)
    for name in _MEANING:
        if getattr(reading, name) != getattr(default, name):
            raise ValueError(f"{name}: omit it; edges are read as those of the training samples in columns were.")
    given = {name: getattr(reading, name) for name in ("form", "key", "query", "target", "score")}
    changes = {name: value for name, value in given.items() if value is not None}
    return Reading.restored({**stored, "form": None}, **changes)


def _without_training(reading: Reading) -> Reading:
    """Return how edges are read if it is not known how those of the training samples were."""
    for name, value in (("missing", "farthest"), ("normalise", "self")):
        if getattr(reading, name) == value:
            raise ValueError(
                f"{name}={value!r} needs values of the training samples: pass what load_proximity returned for them as "
                "columns, not only their ids."
            )
    unknown = reading.orientation == "dissimilarity" and reading.missing is None
    return replace(reading, missing="unknown") if unknown else reading


def load_rows(
    path: Path, reading: Reading, known: list[str] | None, self_scores: Any, queries: Path | None = None
) -> Contents:
    """Return the rows of new samples to those on which a model was fitted.

    In an edge list, the new samples are the queries that are not known; the columns are the known samples.
    """
    path = check_file(path, "ROWS", may_be_empty=queries is not None)  # a search that found nothing
    kind = binary_kind(path)
    if kind is None and is_fasta(path):
        fitted = "a matrix" if reading.missing is None else "edges, such as hits of a search"
        raise ValueError(
            f"ROWS: {path} holds sequences, but the model was fitted on {fitted}; give those of the new samples to the "
            "training samples."
        )
    is_table = kind is None and known is not None and names_known(look(path), known)
    is_empty = queries is not None and kind is None and not look(path).rows
    found = None if is_table or is_empty else read_edges(path, reading, kind, square=False)
    if found is None and not is_empty:
        if queries is not None:
            raise ValueError(f"--queries is for edge lists, such as hits; {path} has a row for each sample already.")
        form = "table" if is_table else None
        plain = Reading(form=form, key=reading.key, orientation=reading.orientation, header=reading.header)
        return load_values(path, plain, square=False)
    if known is None:
        raise ValueError(
            f"{path}: is an edge list, but the model does not know the ids of its training samples. Fit it on an edge "
            "list, or on a matrix with ids."
        )
    edges, columns = _NO_EDGES, {}
    if found is not None:
        edges, columns = found[0], {"path": found[1].columns}
    own = None if self_scores is None else np.asarray(self_scores, dtype=float)
    wanted, stated = (None, None) if queries is None else _stated_queries(path, edges, set(known), queries)
    try:
        S, names, counts = rows_to(edges, known, reading, own, wanted)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not names:
        raise ValueError(
            f"{path}: every query is a training sample, so there is no new sample to predict; queries must be the "
            "new samples, and targets the training samples."
        )
    notes = [] if stated is None else [f"{queries}: {stated}"]
    if wanted is None:
        if not counts.any():
            raise ValueError(
                f"{path}: none of the {len(names)} new samples has an edge to a training sample; targets must be the "
                f"training samples, whose ids begin with {some(known[:3])}. If they are, name all queries by --queries."
            )
        notes.append(
            f"{path}: queries without an edge cannot be seen in such a file; --queries FILE (FASTA, ids or a table) "
            "writes a row for each query."
        )
    elif again := sorted(set(names) & set(known), key=names.index):
        notes.append(f"{queries}: {len(again)} of {len(names)} queries are training samples: {some(again)}.")
    absent: Absent = "unknown" if reading.absent == "unknown" else "zero"
    return Contents(S, names, known, absent=absent, notes=tuple(notes), columns=columns, reading=reading, counts=counts)


_NO_EDGES = Edges(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0), [])


def _stated_queries(path: Path, edges: Edges, known: set[str], queries: Path) -> tuple[list[str], Columns | None]:
    """Return the ids of all queries, among which all queries of the edges must be that are not known samples.

    Also return which column of the file holds them.
    """
    seen = [edges.names[code] for code in np.unique(edges.queries).tolist()]
    wanted, read = read_queries(queries, set(seen))
    stated = set(wanted)
    foreign = [name for name in seen if name not in stated and name not in known]
    if foreign:
        raise ValueError(
            f"--queries: {len(foreign)} queries of {path} are not in {queries}: {some(foreign)}; it must name all "
            f"queries, and its ids begin with {some(wanted[:3])}."
        )
    if seen and stated.isdisjoint(seen):
        raise ValueError(
            f"--queries: none of the {len(wanted)} ids in {queries} is a query of {path}; all are training samples; "
            "queries must be the new samples, and targets the training samples."
        )
    return wanted, read
