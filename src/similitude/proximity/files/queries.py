"""The ids of the queries of a search, also of those without a hit, which the hits cannot name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from similitude.proximity.files.columns import ID_HEADINGS, Columns, unused
from similitude.proximity.files.fasta import fasta_ids, is_fasta
from similitude.proximity.files.forms import binary_kind
from similitude.proximity.files.labels import label_rows
from similitude.proximity.files.tables import check_unique, ragged
from similitude.proximity.files.text import check_file


def read_queries(path: Path, known: set[str]) -> tuple[list[str], Columns | None]:
    """Return the ids in a FASTA file, a list or a table, and the column that holds them.

    It is the column with most of the ``known`` ids; if none has any, one with a usual heading, or else the first.
    """
    path = check_file(path, "--queries")
    if binary_kind(path) is not None:
        raise ValueError(
            f"--queries: {path} is not a text file; FASTA, one id per line, or a table with ids is needed."
        )
    if is_fasta(path):
        return fasta_ids(path), None
    found = [(line, cells) for line, cells in label_rows(path) if any(cells)]
    if not found:
        raise ValueError(f"--queries: {path}: the file has no ids.")
    head = found[0][1]
    for line, cells in found:
        if len(cells) != len(head):
            raise ragged(path, line, len(cells), found[0][0], len(head))
    matches = [sum(cells[j] in known for _, cells in found) for j in range(len(head))]
    usual = [cell.lower().lstrip("#") in ID_HEADINGS for cell in head]
    at = int(np.argmax(matches if any(matches) else usual))
    has_header = usual[at] and head[at] not in known
    if has_header:
        found = found[1:]
    ids = [cells[at] for _, cells in found]
    if "" in ids:
        raise ValueError(f"--queries: {path}: row {found[ids.index('')][0]} has no id.")
    check_unique(path, ids, [line for line, _ in found])
    names = head if has_header else [""] * len(head)
    return ids, Columns(has_header, names, {"queries": [at], "not used": unused(len(head), at)})
