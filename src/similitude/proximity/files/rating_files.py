"""Long tables of ratings and of choices among three things: one row for each judgement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from similitude.proximity.files.contents import RATING_FORMS, Columns, Contents, Reading, unused
from similitude.proximity.files.forms import QUERY_NAMES, TARGET_NAMES, Look, look, text_form
from similitude.proximity.files.tables import is_number, table_rows
from similitude.proximity.files.text import check_widths
from similitude.proximity.ratings import (
    RatedMatrix,
    Ratings,
    Scale,
    odd_one_out,
    rated_matrix,
    rated_rows,
    ratings_of,
    triads,
)

_UNRATED = {"", "na", "n/a", "nan", "null", "none", "-", "?"}
_ROLES: dict[str, dict[str, tuple[str, ...]]] = {
    "ratings": {
        "first": ("first", "item1", "object1", "stimulus1", "left", "a", *QUERY_NAMES),
        "second": ("second", "item2", "object2", "stimulus2", "right", "b", *TARGET_NAMES),
        "rating": ("rating", "ratings", "score", "similarity", "dissimilarity", "distance", "value", "response"),
    },
    "odd-one-out": {
        "first": ("first", "item1", "a"),
        "second": ("second", "item2", "b"),
        "third": ("third", "item3", "c"),
        "odd": ("odd", "odd_one_out", "choice", "chosen", "answer", "response"),
    },
    "triads": {
        "anchor": ("anchor", "target", "reference", "head"),
        "chosen": ("chosen", "winner", "more", "nearer", "closer"),
        "other": ("other", "loser", "less", "farther", "further"),
    },
}
"""The columns of each form with their usual names."""

_JUDGES = ("judge", "rater", "subject", "participant", "observer", "annotator", "worker", "user", "person")
_OPTIONS = {"first": "query", "anchor": "query", "second": "target", "chosen": "target", "rating": "score"}
"""The options that name a column."""


def read_ratings(path: Path, reading: Reading, kind: str | None, square: bool) -> tuple[Ratings, Columns, str] | None:
    """Return the judgements in a text file, which columns were read, and the form; None if it holds none."""
    if kind is not None:
        return None
    seen = look(path)
    form = reading.form or ("" if reading.names_ratings else text_form(path, seen, square))
    if form not in ("", *RATING_FORMS):
        return None
    if not seen.rows:
        raise ValueError(f"{path}: the file is empty; a table of ratings is needed.")
    form = form or _form_of(seen)
    return *_read(path, seen, reading, form), form


def _form_of(seen: Look) -> str:
    """Return the form of a table of which it is only known that it holds judgements."""
    head = {_plain(cell) for cell in seen.rows[0][1]}
    for form in ("odd-one-out", "triads"):
        if all(head & {*names} for names in _ROLES[form].values()):
            return form
    return "ratings"


def _plain(cell: str) -> str:
    return cell.lower().lstrip("#").strip()


def _read(path: Path, seen: Look, reading: Reading, form: str) -> tuple[Ratings, Columns]:
    """Return the judgements of a table of a form, and which of its columns were read."""
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in table_rows(path, seen.delimiter)]
    check_widths(path, rows)
    head = rows[0][1]
    roles = _ROLES[form]
    has_header = reading.header
    if has_header is None:
        names = [_plain(cell) for cell in head]
        named = any(name in usual for name in names for usual in (*roles.values(), _JUDGES))
        has_header = named or (form == "ratings" and not any(map(is_number, head)))
    places = _places(path, head if has_header else [""] * len(head), reading, form)
    body = rows[1:] if has_header else rows
    if not body:
        raise ValueError(f"{path}: there is a header row only; rows with judgements are needed below it.")
    own = list(places.values())
    columns = Columns(has_header, head if has_header else [""] * len(head), {k: [j] for k, j in places.items()})
    columns.roles["not used"] = unused(len(head), *own)
    for line, cells in body:
        empty = [role for role, j in places.items() if role != "rating" and not cells[j]]
        if empty:
            raise ValueError(f"{path}: row {line} has an empty cell in the column {empty[0]!r}; a name is needed.")
    cells_of = {role: [cells[j] for _, cells in body] for role, j in places.items()}
    judges: Any = cells_of.pop("judge", None)
    shown = tuple(cells_of.values())
    try:
        if form == "odd-one-out":
            return odd_one_out(shown[0], shown[1], shown[2], shown[3], judges), columns
        if form == "triads":
            return triads(shown[0], shown[1], shown[2], judges), columns
        values = [_rating(path, line, cells[places["rating"]]) for line, cells in body]
        if all(value != value for value in values):
            raise ValueError("no pair was rated.")
        return ratings_of(cells_of["first"], cells_of["second"], values, judges), columns
    except ValueError as error:
        raise ValueError(str(error) if str(error).startswith(str(path)) else f"{path}: {error}") from None


def _rating(path: Path, line: int, cell: str) -> float:
    """Return a rating, or NaN if there is none."""
    if cell.lower() in _UNRATED:
        return float("nan")
    if not is_number(cell):
        raise ValueError(f"{path}: row {line}: the rating {cell!r} is not a number; an empty cell or NA means unrated.")
    return float(cell)


def _places(path: Path, head: list[str], reading: Reading, form: str) -> dict[str, int]:
    """Return the places of the columns by their roles."""
    names, roles = [_plain(cell) for cell in head], _ROLES[form]
    wanted = {role: getattr(reading, _OPTIONS[role]) if role in _OPTIONS else None for role in roles}
    found = {role: _place(path, names, column, _OPTIONS[role]) for role, column in wanted.items() if column is not None}
    if reading.judge is not None:
        found["judge"] = _place(path, names, reading.judge, "judge")
    for role, usual in (*roles.items(), ("judge", _JUDGES)):
        free = [j for j, name in enumerate(names) if name in usual and j not in found.values()]
        if role not in found and free:
            found[role] = free[0]
    needed = [role for role in roles if role not in found]
    if needed and not any(names):  # without a header the columns are in their order, and the next one is the judge
        order = [*roles, "judge"]
        found |= {role: j for j, role in enumerate(order[: len(names)]) if role not in found}
        needed = [role for role in roles if role not in found]
    if needed:
        options = [f"--{_OPTIONS[role]}" for role in needed if role in _OPTIONS]
        hint = f", or name them with {', '.join(options)}" if options else ""
        raise ValueError(
            f"{path}: no column is called {' or '.join(map(repr, needed))}; {form} have the columns "
            f"{', '.join(roles)} and, if several people judged, judge. Found: {', '.join(head) or 'none'}{hint}."
        )
    return {role: found[role] for role in (*roles, "judge") if role in found}


def _place(path: Path, names: list[str], wanted: str | int, option: str) -> int:
    """Return the place of a column that is wanted by name or place."""
    text = _plain(str(wanted))
    if text in names:
        return names.index(text)
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return int(text) - 1
    raise ValueError(
        f"{path}: there is no column {wanted!r}; --{option} must be the name of one of "
        f"{[name for name in names if name]}, or a place from 1 to {len(names)}."
    )


def rating_contents(path: Path, ratings: Ratings, columns: Columns, form: str, reading: Reading) -> Contents:
    """Return the matrix of judgements, or those of the judges, with notes on what was done."""
    combine = reading.combine or "mean"
    # A choice of the odd one says the same of both directions; of an anchor, only what is like it.
    direction = {"odd-one-out": "mean", "triads": "keep"}.get(form)
    if form == "ratings" and reading.direction != "keep":
        direction = reading.direction
    try:
        made = rated_matrix(ratings, combine, direction, reading.diagonal, reading.orientation)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    remembered: dict[str, Any] = {}
    for role in columns.roles:
        if role in _OPTIONS or role == "judge":
            names = columns.named(role)
            remembered[_OPTIONS.get(role, role)] = None if names is None else names[0]
    direction = "keep" if made.directed else direction or "mean"
    kept = replace(reading, form=form, combine=combine, direction=direction, missing="unknown", **remembered)
    return Contents(
        made.S,
        ratings.names,
        ratings.names,
        square=True,
        notes=tuple(_notes(ratings, made, form, combine, reading)),
        columns={"path": columns},
        reading=kept,
        scales=made.scales,
    )


def _notes(ratings: Ratings, made: RatedMatrix, form: str, combine: str, reading: Reading) -> list[str]:
    """Return sentences on what ratings became."""
    n = len(ratings.names)
    what = "ratings" if form == "ratings" else "choices"
    count = len(ratings.values) // {"ratings": 1, "odd-one-out": 3, "triads": 2}[form]
    of = f" by {len(ratings.judges):,} judges" if len(ratings.judges) > 1 else ""
    notes = [f"{count:,} {what} of {n:,} samples{of}."]
    if len(ratings.judges) > 1:
        notes.append(
            {
                "mean": "the value of a pair is the mean of its judges; --combine ranks or separate are the others.",
                "ranks": "the ratings of each judge became ranks from 0 to 1, and the value of a pair is their mean.",
                "separate": "each judge is a similarity of its own.",
            }[combine]
        )
    if form == "ratings":
        both = "both directions of a pair are kept, because some pairs were rated in both (--direction mean averages)."
        one = "a rating counts in both directions."
        notes.append(both if made.directed else one)
    possible = n * (n - 1) // 2
    if made.unrated:
        notes.append(f"{made.unrated:,} of {possible:,} pairs ({made.unrated / possible:.1%}) were not rated: unknown.")
    if made.diagonal is not None and reading.diagonal is None and reading.orientation == "similarity":
        notes.append(f"samples that were not rated with themselves have the value {made.diagonal:g} (--diagonal).")
    return notes


def rating_rows(
    path: Path, ratings: Ratings, columns: Columns, reading: Reading, known: list[str], stored: Any
) -> Contents:
    """Return the rows of new samples to known ones, from their ratings."""
    stored = stored if isinstance(stored, dict) else {}
    scales = {name: Scale(*map(list, own)) for name, own in stored.get("scales", {}).items()}
    combine = reading.combine or "mean"
    judges = stored.get("judges") or ratings.judges
    S, names, counts = rated_rows(ratings, known, combine, reading.direction, scales, judges)
    if not names:
        raise ValueError(
            f"{path}: no new sample was compared with a training sample, whose ids begin with {', '.join(known[:3])}."
        )
    return Contents(S, names, known, columns={"path": columns}, reading=reading, counts=counts)
