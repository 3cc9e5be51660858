"""Labels and groups of samples, and the ids of queries, in text files: in order or by id."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from similitude._utils.ids import some
from similitude._utils.warn import warn
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.files.contents import Columns, Contents, unused
from similitude.proximity.files.forms import binary_kind
from similitude.proximity.files.tables import is_number
from similitude.proximity.files.text import (
    BLANKS,
    Rows,
    check_file,
    check_unique,
    check_widths,
    delimiter_of,
    fasta_ids,
    is_fasta,
    lines,
    rows,
    suffix,
)

_BETWEEN = (";", "|", ",", "/")
"""What may stand between several labels in one cell."""
_NO_LABEL = {"na", "n/a", "nan", "null"}
_ID_HEADINGS = {"id", "ids", "name", "sample", "sample_id", "seqid", "accession", "query", "sequence"}
LABEL_HEADINGS = {
    "category", "class", "classes", "families", "family", "genus", "group", "groups", "kind", "label", "labels",
    "language", "outcome", "species", "target", "type", "y",
}  # fmt: skip
"""Usual headings of labels."""


@dataclass(frozen=True)
class Beside:
    """The files with the labels and groups of samples, and how they are read: see :func:`load_proximity`."""

    labels: str | os.PathLike | None = None
    groups: str | os.PathLike | None = None
    labels_in_order: bool = False
    label_column: str | int | None = None
    group_column: str | int | None = None
    unlabelled: bool = False
    """Whether samples without a label are kept; their labels are None."""
    lineage: tuple[str, ...] = ()
    """The columns of lineages, from coarse to fine."""
    several: bool = False
    """Whether an id may have several rows, each with a label."""
    separated: bool = False
    """Whether it is known how several labels in one cell are separated."""
    lineage_separator: str | None = None
    """What separates the names in a lineage."""


def with_labels(data: Contents, beside: Beside, header: bool | None) -> Contents:
    """Return the samples that have a label with their labels and groups, and warn of those that have none.

    If samples without a label are kept, they need groups, too.
    """
    n, ids = data.n, data.ids
    y, values = data.y, data.groups
    kept = np.arange(n)
    columns = dict(data.columns)
    from_edges = data.reading is not None
    if beside.labels is not None:
        labels = check_file(beside.labels, "labels")
        column: Any = beside.lineage[0] if beside.lineage else beside.label_column
        several = {"may_be_missing": beside.unlabelled, "several": beside.several}
        file = LabelFile(labels, "label", column, beside.labels_in_order, header, **several)
        y, kept, ids, columns["labels"] = file.read(n, ids, from_edges)
        if beside.lineage:
            y = _in_columns(file, beside.lineage, n, ids, kept)
        elif not beside.several:
            note_words_for_nothing(labels, y)
            if not beside.separated:
                _note_several(labels, y, beside.lineage_separator)
        if beside.unlabelled:
            of_all = np.full(n, None, dtype=object)
            of_all[kept] = y.tolist()
            y, kept = of_all, np.arange(n)
    if beside.groups is not None:
        groups = check_file(beside.groups, "groups")
        file = LabelFile(groups, "group", beside.group_column, beside.labels_in_order, header)
        found, grouped, ids, columns["groups"] = file.read(n, ids, from_edges)
        lacking = np.setdiff1d(kept, grouped)
        if len(lacking):
            names = [ids[i] for i in lacking.tolist()]  # type: ignore[index]
            raise ValueError(f"{groups}: {len(lacking)} samples have no group: {some(names)}.")
        values = found[np.searchsorted(grouped, kept)]
    elif values is not None:
        values = values[kept]
    column_ids = ids if data.square else data.column_ids
    data = replace(data, ids=ids, column_ids=column_ids, columns=columns, y=y, groups=values)
    if ids is None or len(kept) == n:
        return data
    left_out = [ids[i] for i in np.setdiff1d(np.arange(n), kept).tolist()]
    warn(
        f"{beside.labels}: {len(left_out)} samples have no label and are left out: {some(left_out)}.", SimilarityWarning
    )
    return replace(data.take(kept), left_out=left_out)


class Labels(NamedTuple):
    """The labels (or groups) of those samples that have one, the ids of all samples, and the columns of the file."""

    values: np.ndarray
    labelled: np.ndarray
    ids: list[str] | None
    read: Columns


@dataclass(frozen=True)
class LabelFile:
    """A file with labels or groups (``what``) of samples."""

    path: Path
    what: str = "label"
    column: str | int | None = None
    in_order: bool = False
    header: bool | None = None
    may_be_missing: bool = False
    """Whether a list may have empty lines, for samples without a label."""
    several: bool = False

    def read(self, n: int, ids: list[str] | None, from_edges: bool = False) -> Labels:
        """Return the labels of n samples in their order, matched by id if both have ids.

        If the samples have none, labels with ids are refused unless they are in order.
        """
        found = _text_rows(self.path)
        if not found:
            raise ValueError(f"{self.path}: the {self.what} file is empty; one {self.what} per sample is needed ({n}).")
        check_widths(self.path, found)
        return self._listed(found, n, ids) if len(found[0][1]) == 1 else self._by_id(found, n, ids, from_edges)

    def _listed(self, found: Rows, n: int, ids: list[str] | None) -> Labels:
        """Return the labels of a list in the order of the samples."""
        path, what, column = self.path, self.what, self.column
        head = found[0][1][0]
        differs = _differs(head, [cells[0] for _, cells in found[1:]])
        if isinstance(column, str) and column != head:
            raise ValueError(f"{path}: there is no column {column!r}; {what}_column (--{what}-column) can be {head!r}.")
        has_header = isinstance(column, str) or (len(found) == n + 1 and differs)
        if has_header:
            found = found[1:]
        for line, cells in found:
            if not cells[0] and not self.may_be_missing:
                raise ValueError(f"{path}: row {line} has no {what}.")
        others = [cells[0] for _, cells in found[1:]]
        usual = head.lower().lstrip("#").strip() in LABEL_HEADINGS
        no_value = usual or (not is_number(head) and all(map(is_number, others)))
        is_heading = not has_header and differs and len(found) > 2 and self.header is not False and no_value
        if len(found) != n or is_heading:
            count, below, ask = len(found), "", ""
            if is_heading:
                count, below = count - 1, f" below the header {head!r}"
                ask = (
                    f" If {head!r} is a {what}, write a heading above it; if the samples also have a header, pass "
                    "--header yes (header=True), and if nothing has one, --header no."
                )
            elif count == n - 1 and ids is None and self.header is None:
                ask = " If the first line of the samples is a header, pass --header yes (header=True)."
            raise ValueError(
                f"{path}: {count} {what}s{below} for {n} samples; one {what} per sample is needed. If only "
                f"some of the samples have a {what}, add a column with their ids.{ask}"
            )
        read = Columns(has_header, [head if has_header else ""], {f"{what}s": [0]})
        labelled = np.array([i for i, (_, cells) in enumerate(found) if cells[0]], dtype=np.intp)
        if not len(labelled):
            raise ValueError(f"{path}: no sample has a {what}.")
        return Labels(as_labels([found[i][1][0] for i in labelled.tolist()]), labelled, ids, read)

    def _by_id(self, found: Rows, n: int, ids: list[str] | None, from_edges: bool) -> Labels:
        """Return the labels of a table with ids, matched by id."""
        path, what = self.path, self.what
        if ids is None and not self.in_order:
            raise ValueError(
                f"{path}: the {what}s have ids, but the samples have none to match them to. If the {what}s are in the "
                "order of the samples, pass labels_in_order=True (--labels-in-order) or leave out their ids; if not, "
                "give the matrix ids: those of D.npy are read from D.ids.txt beside it, one id per line."
            )
        id_at = self._id_column(found, ids)
        at = self._label_column(found[0][1], id_at)
        head, has_header = found[0][1], self._has_header(found, n, ids, id_at, at)
        if has_header:
            found = found[1:]
        places = {"ids": [id_at], f"{what}s": [at], "not used": unused(len(head), id_at, at)}
        read = Columns(has_header, head if has_header else [""] * len(head), places)
        own = [cells[id_at] for _, cells in found]
        if not self.several:
            self._check_unique(own, [(line, cells[at]) for line, cells in found])
        if ids is None:
            ids = list(dict.fromkeys(own))
            own = ids
            if len(own) != n:
                raise ValueError(f"{path}: {len(own)} {what}s for {n} samples; one {what} per sample is needed.")
        place = {name: i for i, name in enumerate(ids)}
        given: dict[str, Any] = {cells[id_at]: cells[at] for _, cells in found if cells[at]}
        if self.several:
            given = {name: tuple(cells[at] for _, cells in found if cells[id_at] == name) for name in given}
        label_of = {place[name]: label for name, label in given.items() if name in place}
        self._note_strangers([name for name in given if name not in place], ids, len(label_of), from_edges)
        if not label_of:
            raise ValueError(f"{path}: no sample has a {what}.")
        labelled = np.array(sorted(label_of))
        if self.several:
            values = np.empty(len(labelled), dtype=object)
            values[:] = [label_of[i] for i in labelled.tolist()]
            return Labels(values, labelled, ids, read)
        return Labels(as_labels([label_of[i] for i in labelled.tolist()]), labelled, ids, read)

    def _check_unique(self, ids: list[str], rows: list[tuple[int, str]]) -> None:
        """Raise a ValueError if an id has two rows; if these have different labels, it says how to read them."""
        try:
            check_unique(self.path, ids, [line for line, _ in rows])
        except ValueError as error:
            labels: dict[str, set[str]] = {}
            for name, (_, label) in zip(ids, rows):
                labels.setdefault(name, set()).add(label)
            if self.what != "label" or max(map(len, labels.values())) == 1:
                raise
            raise ValueError(
                f"{error} If a sample may have several labels, fit with --several-labels (MultilabelClassifier in "
                "Python)."
            ) from None

    def _id_column(self, found: Rows, ids: list[str] | None) -> int:
        """Return the column that names most samples."""
        head = found[0][1]
        if ids is None:
            at = 1 if self.column is None else self._place(head, self.column)
            return next(j for j in range(len(head)) if j != at)
        matches = _known_cells(found, set(ids))
        best = int(np.argmax(matches))
        if not matches[best]:
            heads = len(found) > 1 and any(cell.lower() in _ID_HEADINGS for cell in head)
            line, cells = found[1 if heads else 0]
            raise ValueError(
                f"{self.path}: row {line}: {cells[0]!r} is not one of the samples, and no other column holds their "
                f"ids, which begin with {some(ids[:3])}. Write the ids in the same way in both files."
            )
        return best

    def _place(self, head: list[str], column: str | int) -> int:
        if isinstance(column, str) and column in head:
            return head.index(column)
        place = int(column) if isinstance(column, int) or column.isdecimal() else 0
        if not 1 <= place <= len(head):
            raise ValueError(
                f"{self.path}: there is no column {column!r}; {self.what}_column (--{self.what}-column) must be the "
                f"name of one of {head}, or its place from 1 to {len(head)}."
            )
        return place - 1

    def _label_column(self, head: list[str], id_at: int) -> int:
        if self.column is not None:
            return self._place(head, self.column)
        if len(head) == 2:
            return 1 - id_at
        what = self.what
        usual = [j for j, cell in enumerate(head) if cell.lower() in (what, "class", "target") and j != id_at]
        if len(usual) == 1:
            return usual[0]
        raise ValueError(
            f"{self.path}: has {len(head)} columns, {some(head)}; choose that of the {what}s with {what}_column "
            f"(--{what}-column), by its name or its place from 1."
        )

    def _has_header(self, found: Rows, n: int, ids: list[str] | None, id_at: int, at: int) -> bool:
        """Return whether the first row is a header."""
        head = found[0][1]
        if len(found) == 1 or (ids is not None and head[id_at] in set(ids)):
            return False
        if head[id_at].lower().lstrip("#") in _ID_HEADINGS or (
            isinstance(self.column, str) and head[at] == self.column
        ):
            return True
        if ids is None:
            return len(found) == n + 1
        return _differs(head[at], [cells[at] for _, cells in found[1:]])

    def _note_strangers(self, strangers: list[str], ids: list[str], labelled: int, from_edges: bool) -> None:
        """Warn of ids with a label that are no samples, or raise a ValueError if they and the samples hardly agree."""
        path, what = self.path, self.what
        if not strangers:
            return
        if len(strangers) > labelled and 2 * labelled < len(ids):
            raise ValueError(
                f"{path}: {labelled} of the {labelled + len(strangers)} ids with a {what} are samples, and {labelled} "
                f"of the {len(ids)} samples have a {what}. Write the ids in the same way (samples: {some(ids[:3])}; "
                f"others with a {what}: {some(strangers[:3])}), or keep only the rows of samples in the table."
            )
        one = len(strangers) == 1
        count = f"1 id with a {what}" if one else f"{len(strangers)} ids with a {what}"
        are = "is" if one else "are"
        lacks = ("has" if one else "have") + " no edge" if from_edges else f"{are} not among the samples"
        warn(f"{path}: {count} {lacks} and {are} left out: {some(strangers)}.", SimilarityWarning)


def read_queries(path: Path, known: set[str]) -> tuple[list[str], Columns | None]:
    """Return the ids of all queries of a search in a FASTA file, a list or a table, and the column that holds them.

    It is the column with most of the ``known`` ids; if none has any, one with a usual heading, or else the first.
    """
    path = check_file(path, "--queries")
    if binary_kind(path) is not None:
        raise ValueError(
            f"--queries: {path} is not a text file; FASTA, one id per line, or a table with ids is needed."
        )
    if is_fasta(path):
        return fasta_ids(path), None
    found = [(line, cells) for line, cells in _text_rows(path) if any(cells)]
    if not found:
        raise ValueError(f"--queries: {path}: the file has no ids.")
    check_widths(path, found)
    head, matches = found[0][1], _known_cells(found, known)
    usual = [cell.lower().lstrip("#") in _ID_HEADINGS for cell in head]
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


def _known_cells(found: Rows, known: set[str]) -> list[int]:
    """Return how many cells of each column are known ids."""
    return [sum(cells[j] in known for _, cells in found) for j in range(len(found[0][1]))]


def _in_columns(
    file: LabelFile, columns: tuple[str, ...], n: int, ids: list[str] | None, kept: np.ndarray
) -> np.ndarray:
    """Return lineages in columns, (samples, ranks); where a finer column has no cell, it is empty."""
    table = np.full((n, len(columns)), "", dtype=object)
    for j, column in enumerate(columns):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SimilarityWarning)  # the first column has warned of strange ids
            values, labelled, _, _ = replace(file, column=column).read(n, ids)
        table[labelled, j] = values.astype(str)
    return table[kept].astype(str)


def _note_several(path: Path, labels: np.ndarray, usual: str | None) -> None:
    """Warn of labels that look like several labels in one cell, such as '2;3' beside '2' and '3'.

    The ``usual`` separator is part of each label.
    """
    names = {str(label) for label in labels.tolist()}
    for separator in (own for own in _BETWEEN if own != usual):
        joined = sorted(name for name in names if separator in name)
        parts = {part.strip() for name in joined for part in name.split(separator)}
        if joined and 2 * len(parts & names) >= len(parts):
            warn(
                f"{path}: {len(joined)} classes look like several labels in one cell, such as {joined[0]!r}; with "
                f"--label-separator {separator!r} (MultilabelClassifier in Python) they are taken so.",
                SimilarityWarning,
            )
            return


def _text_rows(path: Path) -> Rows:
    """Return the cells of a text file with labels or ids, and their lines."""
    kind = suffix(path)
    if kind == ".csv":
        delimiter = delimiter_of(next((line for line in lines(path) if line.strip()), ""))
        cells_of = rows(path, "," if delimiter == BLANKS else delimiter)
    elif kind == ".tsv":
        cells_of = rows(path, "\t")
    elif not kind and _has_commas(path):
        cells_of = rows(path, ",")
    else:
        cells_of = ((number, line.split("\t")) for number, line in enumerate(lines(path), 1))
    found = [(line, [cell.strip() for cell in cells] or [""]) for line, cells in cells_of]
    while found and not any(found[-1][1]):
        found.pop()
    # A blank line is a sample without a label in a list of labels, and nothing in a table.
    width = len(found[0][1]) if found else 1
    return found if width == 1 else [row for row in found if any(row[1])]


def _has_commas(path: Path) -> bool:
    """Return whether all lines of a file without a suffix, such as a stream, have as many commas, and no tab."""
    commas = {-1 if "\t" in line else line.count(",") for line in lines(path) if line.strip()}
    return len(commas) == 1 and commas.pop() > 0


def _differs(head: str, labels: list[str]) -> bool:
    """Return whether the first cell differs from the labels below as a heading does."""
    return head not in labels and (not all(map(is_number, labels)) or not is_number(head))


def note_words_for_nothing(path: Path, labels: np.ndarray) -> None:
    """Warn of classes whose names usually say that there is no label."""
    for label, count in zip(*np.unique(labels, return_counts=True)):
        if str(label).lower() in _NO_LABEL:
            samples = "1 sample" if count == 1 else f"{count} samples"
            warn(
                f"{path}: {str(label)!r} is taken as a class ({samples}); in a table with ids, leave the cell empty if "
                "there is no label.",
                SimilarityWarning,
            )


def as_labels(texts: list[str]) -> np.ndarray:
    """Return labels as whole numbers if all are, otherwise as text."""
    # "01" is a name, not a number, and so is a number that exceeds 64 bits.
    whole = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts)
    return np.array([int(text) for text in texts] if whole else texts)
