"""Rows of new samples from files, whose columns are given samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from similitude._utils.ids import Names, column_order, some
from similitude.proximity.files.reading import Reading
from similitude.proximity.files.values import Loaded, load_rows
from similitude.proximity.split import cut

_MEANING = ("missing", "duplicates", "direction", "normalise")


def load_new_rows(path: Path, reading: Reading, columns: Any) -> Loaded:
    """Return rows of new samples whose columns are the given samples in their order: see ``load_proximity``."""
    known, stored = _training(columns)
    edges = _as_in_training(reading, stored) if stored else _without_training(reading)
    found = load_rows(path, edges, known, stored.get("self_scores"))
    if found.reading is not None:
        return found
    if reading.missing not in (None, "unknown"):
        raise ValueError(f"missing is for edges; {path} holds a matrix. Replace its unknown entries yourself.")
    if found.columns is None:
        if found.S.shape[1] != len(known):
            raise ValueError(
                f"{path}: has {found.S.shape[1]} columns without ids; one for each of the {len(known)} samples in "
                "columns is needed, in their order."
            )
        return found._replace(columns=known)
    order, _, strange = column_order(Names(known, "ids"), Names(found.columns, "ids"), where=path)
    notes = found.notes
    if strange:
        notes = (*notes, f"{len(strange)} columns are not in columns and are left out: {some(strange)}.")
    S = found.S if order is None else cut(found.S, np.arange(found.S.shape[0]), np.array(order))
    return found._replace(S=S, columns=known, notes=notes)


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
