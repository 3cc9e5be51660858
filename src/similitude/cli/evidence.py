"""Which new samples of `similitude predict` give no evidence, and what is written for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

UNASSIGNED = "unassigned"
"""The label of samples that give no evidence, unless all samples are to be assigned to a class."""


def known_evidence(fitted: Any, info: dict[str, Any], X: Any, note: Callable[[str], None]) -> np.ndarray | None:
    """Return which samples give evidence to the model; None, with a note, if it is not known."""
    from similitude.base import read_rows
    from similitude.finders import check_search
    from similitude.persistence import input_reader
    from similitude.proximity import as_proximities, gives_evidence

    if info["input"] == "objects":
        part = input_reader(fitted)
        if check_search(getattr(part, "search", "matrix")) is None:
            return read_rows(part, X).evidence
        note(f"no column evidence: search={part.search!r} finds neighbours without computing whole rows.")
        return None
    if X.shape[1] != info["n_columns"]:
        note("ROWS has only the columns that the model needs; evidence needs all of them and is left out.")
        return None
    given = as_proximities(X)
    read = {member.similarity for member in getattr(fitted, "members_", ())}
    all_read = not read or None in read
    matrices = [S for name, S in given.similarities.items() if all_read or name in read]
    zero = given.absent != "unknown"
    return np.logical_or.reduce([gives_evidence(S, absent_is_zero=zero) for S in matrices])


def evidence_column(evidence: np.ndarray, edges: np.ndarray | None) -> list[Any]:
    """Return the number of edges of each sample that gives evidence, otherwise 0; without edges "yes" or "no"."""
    if edges is None:
        return ["yes" if own else "no" for own in evidence.tolist()]
    return np.where(evidence, edges, 0).tolist()


def assigned_labels(predicted: list[Any], evidence: np.ndarray) -> list[Any]:
    """Return the predicted labels, of which those without evidence are unassigned."""
    return [label if own else UNASSIGNED for label, own in zip(predicted, evidence.tolist())]


def check_no_such_class(classes: list[str], evidence: np.ndarray) -> None:
    """Raise a ValueError if a class has the name that would be written for samples without evidence."""
    if UNASSIGNED in classes and not evidence.all():
        raise ValueError(
            f"{(~evidence).sum()} samples give no evidence and would be {UNASSIGNED!r}, which is a class of the model; "
            "add --assign-all."
        )


def note_without_evidence(
    evidence: np.ndarray, ids: Any, edges: Any, assign_all: bool, note: Callable[[str], None]
) -> None:
    """Print how many samples give no evidence, which they are, and what was written for them."""
    from similitude.proximity.edges import some

    lacking = np.flatnonzero(~evidence)
    if not len(lacking):
        return
    few = f"row{'' if len(lacking) == 1 else 's'} " + ", ".join(map(str, (lacking[:5] + 1).tolist()))
    which = (
        few + (", ..." if len(lacking) > 5 else "") if ids is None else some([str(ids[i]) for i in lacking.tolist()])
    )
    why = "their values to all training samples are equal"
    if edges is not None and not np.any(edges[lacking]):
        why = "they have no edge to a training sample"
    written = (
        "their labels are the most probable classes of such samples"
        if assign_all
        else f"their label is {UNASSIGNED!r} (--assign-all writes the most probable class)"
    )
    note(f"{len(lacking)} of {len(evidence)} samples give no evidence, because {why}: {which}; {written}.")
