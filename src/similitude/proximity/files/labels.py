"""Labels and groups of samples in text files, in order or by id."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from similitude._utils.warn import warn
from similitude.proximity.check import SimilarityWarning
from similitude.proximity.edges import some
from similitude.proximity.files.columns import ID_HEADINGS, Columns, is_label_heading, unused
from similitude.proximity.files.tables import check_unique, is_number, ragged
from similitude.proximity.files.text import BLANKS, check_file, delimiter_of, lines, rows, suffix

_NO_LABEL = {"na", "n/a", "nan", "null"}

Rows = list[tuple[int, list[str]]]


class Labels(NamedTuple):
    """The labels of those samples that have one."""

    values: np.ndarray
    labelled: np.ndarray
    ids: list[str] | None
    read: Columns


class LabelledSamples(NamedTuple):
    """The samples that have a label, with their labels and groups."""

    y: np.ndarray | None
    groups: np.ndarray | None
    kept: np.ndarray
    ids: list[str] | None
    left_out: list[str]
    read: dict[str, Columns]


def labelled_samples(
    n: int,
    ids: list[str] | None,
    labels: Any,
    groups: Any,
    in_order: bool,
    label_column: str | int | None,
    group_column: str | int | None,
    from_edges: bool = False,
    header: bool | None = None,
) -> LabelledSamples:
    """Return the samples that have a label, and warn of those that have none."""
    y = values = None
    kept = np.arange(n)
    read: dict[str, Columns] = {}
    if labels is not None:
        labels = check_file(labels, "labels")
        found = read_labels(labels, n, ids, in_order, "label", label_column, from_edges, header)
        read["labels"] = found.read
        _note_words_for_nothing(labels, found.values)
        y, kept, ids = found.values, found.labelled, found.ids
    if groups is not None:
        groups = check_file(groups, "groups")
        found = read_labels(groups, n, ids, in_order, "group", group_column, from_edges, header)
        read["groups"] = found.read
        ids = found.ids
        lacking = np.setdiff1d(kept, found.labelled)
        if len(lacking):
            names = [ids[i] for i in lacking.tolist()]  # type: ignore[index]
            raise ValueError(f"{groups}: {len(lacking)} samples have no group: {some(names)}.")
        values = found.values[np.searchsorted(found.labelled, kept)]
    left_out: list[str] = []
    if ids is not None and len(kept) < n:
        left_out = [ids[i] for i in np.setdiff1d(np.arange(n), kept).tolist()]
        warn(f"{labels}: {len(left_out)} samples have no label and are left out: {some(left_out)}.", SimilarityWarning)
        ids = [ids[i] for i in kept.tolist()]
    return LabelledSamples(y, values, kept, ids, left_out, read)


def read_labels(
    path: Path,
    n: int,
    ids: list[str] | None,
    in_order: bool = False,
    what: str = "label",
    column: str | int | None = None,
    from_edges: bool = False,
    header: bool | None = None,
) -> Labels:
    """Return the labels of n samples in their order, matched by id if both have ids.

    If the samples have none, labels with ids are refused unless ``in_order`` is true.
    """
    found = label_rows(path)
    if not found:
        raise ValueError(f"{path}: the {what} file is empty; one {what} per sample is needed ({n}).")
    for line, cells in found:
        if len(cells) != len(found[0][1]):
            raise ragged(path, line, len(cells), found[0][0], len(found[0][1]))
    if len(found[0][1]) == 1:
        return _one_column(path, found, n, ids, what, column, header)
    return _with_ids(path, found, n, ids, in_order, what, column, from_edges)


def label_rows(path: Path) -> Rows:
    """Return the cells of a text file with labels or ids, and their lines."""
    kind = suffix(path)
    if kind == ".csv":
        delimiter = delimiter_of(next((line for line in lines(path) if line.strip()), ""))
        cut = rows(path, "," if delimiter == BLANKS else delimiter)
    elif kind == ".tsv":
        cut = rows(path, "\t")
    elif not kind and _has_commas(path):
        cut = rows(path, ",")
    else:
        cut = ((number, line.split("\t")) for number, line in enumerate(lines(path), 1))
    found = [(line, [cell.strip() for cell in cells] or [""]) for line, cells in cut]
    while found and not any(found[-1][1]):
        found.pop()
    # A blank line is a sample without a label in a list of labels, and nothing in a table.
    width = len(found[0][1]) if found else 1
    return found if width == 1 else [row for row in found if any(row[1])]


def _has_commas(path: Path) -> bool:
    """Return whether all lines of a file without a suffix, such as a stream, have as many commas, and no tab."""
    commas = {-1 if "\t" in line else line.count(",") for line in lines(path) if line.strip()}
    return len(commas) == 1 and commas.pop() > 0


def _one_column(
    path: Path,
    found: Rows,
    n: int,
    ids: list[str] | None,
    what: str,
    column: str | int | None,
    header: bool | None,
) -> Labels:
    """Return the labels of a list in the order of the samples."""
    head = found[0][1][0]
    differs = _differs(head, [cells[0] for _, cells in found[1:]])
    if isinstance(column, str) and column != head:
        raise ValueError(f"{path}: there is no column {column!r}; {what}_column (--{what}-column) can be {head!r}.")
    has_header = isinstance(column, str) or (len(found) == n + 1 and differs)
    if has_header:
        found = found[1:]
    for line, cells in found:
        if not cells[0]:
            raise ValueError(f"{path}: row {line} has no {what}.")
    others = [cells[0] for _, cells in found[1:]]
    no_value = is_label_heading(head) or (not is_number(head) and all(map(is_number, others)))
    is_heading = not has_header and differs and len(found) > 2 and header is not False and no_value
    if len(found) != n or is_heading:
        count, below, ask = len(found), "", ""
        if is_heading:
            count, below = count - 1, f" below the header {head!r}"
            ask = (
                f" If {head!r} is a {what}, write a heading above it; if the samples also have a header, pass "
                "--header yes (header=True), and if nothing has one, --header no."
            )
        elif count == n - 1 and ids is None and header is None:
            ask = " If the first line of the samples is a header, pass --header yes (header=True)."
        raise ValueError(
            f"{path}: {count} {what}s{below} for {n} samples; one {what} per sample is needed. If only "
            f"some of the samples have a {what}, add a column with their ids.{ask}"
        )
    read = Columns(has_header, [head if has_header else ""], {f"{what}s": [0]})
    return Labels(_as_labels([cells[0] for _, cells in found]), np.arange(n), ids, read)


def _with_ids(
    path: Path,
    found: Rows,
    n: int,
    ids: list[str] | None,
    in_order: bool,
    what: str,
    column: str | int | None,
    from_edges: bool,
) -> Labels:
    """Return the labels of a table with ids, matched by id."""
    if ids is None and not in_order:
        raise ValueError(
            f"{path}: the {what}s have ids, but the samples have none to match them to. If the {what}s are in the "
            "order of the samples, pass labels_in_order=True (--labels-in-order) or leave out their ids; if not, "
            "give the matrix ids: those of D.npy are read from D.ids.txt beside it, one id per line."
        )
    id_at = _id_column(path, found, ids, what, column)
    at = _label_column(path, found, id_at, what, column)
    head, has_header = found[0][1], _has_header(found, n, ids, id_at, at, column)
    if has_header:
        found = found[1:]
    places = {"ids": [id_at], f"{what}s": [at], "not used": unused(len(head), id_at, at)}
    read = Columns(has_header, head if has_header else [""] * len(head), places)
    own = [cells[id_at] for _, cells in found]
    check_unique(path, own, [line for line, _ in found])
    if ids is None:
        ids = own
        if len(own) != n:
            raise ValueError(f"{path}: {len(own)} {what}s for {n} samples; one {what} per sample is needed.")
    place = {name: i for i, name in enumerate(ids)}
    given = {cells[id_at]: cells[at] for _, cells in found if cells[at]}
    label_of = {place[name]: label for name, label in given.items() if name in place}
    _note_strangers(path, [name for name in given if name not in place], ids, len(label_of), what, from_edges)
    if not label_of:
        raise ValueError(f"{path}: no sample has a {what}.")
    labelled = np.array(sorted(label_of))
    return Labels(_as_labels([label_of[i] for i in labelled.tolist()]), labelled, ids, read)


def _note_strangers(
    path: Path, strangers: list[str], ids: list[str], labelled: int, what: str, from_edges: bool
) -> None:
    """Warn of ids with a label that are no samples, or raise a ValueError if they and the samples hardly agree."""
    if not strangers:
        return
    if len(strangers) > labelled and 2 * labelled < len(ids):
        raise ValueError(
            f"{path}: {labelled} of the {labelled + len(strangers)} ids with a {what} are samples, and {labelled} of "
            f"the {len(ids)} samples have a {what}. Write the ids in the same way (samples: {some(ids[:3])}; others "
            f"with a {what}: {some(strangers[:3])}), or keep only the rows of samples in the table."
        )
    one = len(strangers) == 1
    count = f"1 id with a {what}" if one else f"{len(strangers)} ids with a {what}"
    lacks = ("has" if one else "have") + " no edge" if from_edges else f"{'is' if one else 'are'} not among the samples"
    warn(f"{path}: {count} {lacks} and {'is' if one else 'are'} left out: {some(strangers)}.", SimilarityWarning)


def _id_column(path: Path, found: Rows, ids: list[str] | None, what: str, column: str | int | None) -> int:
    """Return the column that names most samples."""
    width = len(found[0][1])
    if ids is None:
        at = _place(path, found[0][1], what, column) if column is not None else 1
        return next(j for j in range(width) if j != at)
    known = set(ids)
    matches = [sum(cells[j] in known for _, cells in found) for j in range(width)]
    best = int(np.argmax(matches))
    if not matches[best]:
        heads = len(found) > 1 and any(cell.lower() in ID_HEADINGS for cell in found[0][1])
        line, cells = found[1 if heads else 0]
        raise ValueError(
            f"{path}: row {line}: {cells[0]!r} is not one of the samples, and no other column holds their ids, which "
            f"begin with {some(ids[:3])}. Write the ids in the same way in both files."
        )
    return best


def _place(path: Path, head: list[str], what: str, column: str | int) -> int:
    if isinstance(column, str) and column in head:
        return head.index(column)
    place = int(column) if isinstance(column, int) or column.isdecimal() else 0
    if not 1 <= place <= len(head):
        raise ValueError(
            f"{path}: there is no column {column!r}; {what}_column (--{what}-column) must be the name of one of "
            f"{head}, or its place from 1 to {len(head)}."
        )
    return place - 1


def _label_column(path: Path, found: Rows, id_at: int, what: str, column: str | int | None) -> int:
    head = found[0][1]
    if column is not None:
        return _place(path, head, what, column)
    if len(head) == 2:
        return 1 - id_at
    usual = [j for j, cell in enumerate(head) if cell.lower() in (what, "class", "target") and j != id_at]
    if len(usual) == 1:
        return usual[0]
    raise ValueError(
        f"{path}: has {len(head)} columns, {some(head)}; choose that of the {what}s with {what}_column "
        f"(--{what}-column), by its name or its place from 1."
    )


def _has_header(found: Rows, n: int, ids: list[str] | None, id_at: int, at: int, column: str | int | None) -> bool:
    """Return whether the first row is a header."""
    head = found[0][1]
    if len(found) == 1 or (ids is not None and head[id_at] in set(ids)):
        return False
    if (isinstance(column, str) and head[at] == column) or head[id_at].lower().lstrip("#") in ID_HEADINGS:
        return True
    if ids is None:
        return len(found) == n + 1
    return _differs(head[at], [cells[at] for _, cells in found[1:]])


def _differs(head: str, labels: list[str]) -> bool:
    """Return whether the first cell differs from the labels below as a heading does."""
    return head not in labels and (not all(map(is_number, labels)) or not is_number(head))


def _note_words_for_nothing(path: Path, labels: np.ndarray) -> None:
    """Warn of classes whose names usually say that there is no label."""
    for label, count in zip(*np.unique(labels, return_counts=True)):
        if str(label).lower() in _NO_LABEL:
            samples = "1 sample" if count == 1 else f"{count} samples"
            warn(
                f"{path}: {str(label)!r} is taken as a class ({samples}); in a table with ids, leave the cell empty if "
                "there is no label.",
                SimilarityWarning,
            )


def _as_labels(texts: list[str]) -> np.ndarray:
    # "01" is a name, not a number, and so is a number that exceeds 64 bits.
    whole = all(re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts)
    return np.array([int(text) for text in texts] if whole else texts)
