"""What a file of proximities or raw objects holds, which of its columns were read, and how it is to be read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from similitude._utils.checks import check_choice, check_integer
from similitude.proximity.edges import EdgeMeaning
from similitude.proximity.ratings import COMBINATIONS
from similitude.proximity.split import cut
from similitude.proximity.unknown import Absent

RATING_FORMS = ("ratings", "odd-one-out", "triads")
TEXT_FORMS = ("table", "edges", "condensed", "triangle", "phylip", *RATING_FORMS)
"""The forms of text files, which ``form`` can name."""

_STORED = (
    *("form", "query", "target", "score", "missing", "duplicates", "direction", "normalise", "orientation"),
    *("judge", "combine", "top"),
)
_SHOWN, _LONGEST = 5, 40


@dataclass(frozen=True)
class Reading(EdgeMeaning):
    """How a file of proximities is to be read: see :func:`load_proximity`."""

    form: str | None = None
    key: str | None = None
    query: str | int | None = None
    target: str | int | None = None
    score: str | int | None = None
    diagonal: float | None = None
    header: bool | None = None
    judge: str | int | None = None
    combine: str | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        if self.top is not None:
            check_integer(self.top, "top", 1)
            best = "max" if self.orientation == "similarity" else "min"
            if self.repeated != best:
                raise ValueError(
                    f"top (--top) keeps the best hit of each pair, so that duplicates must be {best!r}; got "
                    f"{self.duplicates!r}."
                )
        if self.form is not None and self.form not in TEXT_FORMS:
            raise ValueError(f"form must be None or one of {', '.join(map(repr, TEXT_FORMS))}; got {self.form!r}.")
        if self.header is not None and self.form not in (None, "table", "edges", *RATING_FORMS):
            raise ValueError(f"header (--header) is for tables, edge lists and ratings; form is {self.form!r}.")
        check_choice(self.combine, "combine", (None, *COMBINATIONS))
        if self.names_ratings and self.form not in (None, *RATING_FORMS):
            raise ValueError(f"judge (--judge) and combine (--combine) are for ratings; form is {self.form!r}.")
        super().__post_init__()

    @property
    def names_edges(self) -> bool:
        """Whether an option was given that only edge lists have."""
        if self.names_ratings:
            return False
        given = (self.query, self.target, self.score, self.duplicates, self.normalise == "self" or None, self.top)
        return self.form == "edges" or any(value is not None for value in given) or self.direction != "keep"

    @property
    def names_ratings(self) -> bool:
        """Whether an option was given that only ratings and choices have."""
        return self.form in RATING_FORMS or self.judge is not None or self.combine is not None

    @classmethod
    def restored(cls, stored: Any, **changes: Any) -> Reading:
        """Return the options that a model file keeps, in which others may be changed."""
        known = {name: stored[name] for name in _STORED if name in stored} if isinstance(stored, dict) else {}
        if known.get("form") not in RATING_FORMS:
            known["form"] = None  # new samples may come in another form
        return replace(cls(**known), **changes)


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are read, and as what; ``str()`` is the sentence that the commands print."""

    header: bool | None
    names: list[str]
    roles: dict[str, list[int]] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = {True: ["the first line is a header"], False: ["no header"], None: []}[self.header]
        parts += [f"{role}: {self._text(places)}" for role, places in self.roles.items() if places]
        return "; ".join(parts or ["no ids"]) + "."

    def _text(self, places: list[int]) -> str:
        if len(places) > _SHOWN and places == list(range(places[0], places[-1] + 1)):
            return f"columns {places[0] + 1} to {places[-1] + 1}"
        shown = [f"{j + 1}{_in_brackets(self.names[j])}" for j in places[:_SHOWN]]
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        return f"column{'s' * (len(places) > 1)} {', '.join(shown)}{more}"

    def named(self, role: str) -> list[str] | None:
        """Return the names of the columns with a role, or None if these do not tell them from all others."""
        found, counts = [self.names[j] for j in self.roles.get(role, [])], Counter(self.names)
        tells = self.header is not False and all(name and counts[name] == 1 for name in found)
        return found if found and tells else None


def _in_brackets(name: str) -> str:
    """Return the name of a column as one line, shortened if it is long."""
    short = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."
    return f" ({short if short.isprintable() else ascii(short)})" if name else ""


def unused(width: int, *used: int) -> list[int]:
    """Return the places of all columns but these."""
    return sorted({*range(width)} - {*used})


@dataclass(frozen=True)
class Contents:
    """What was read from a file, and from those of the labels and groups of its samples."""

    values: Any
    """A matrix, or raw objects."""
    ids: list[str] | None = None
    column_ids: list[str] | None = None
    square: bool = False
    """Whether the columns of a matrix are the samples of its rows."""
    absent: Absent = "zero"
    notes: tuple[str, ...] = ()
    """Sentences on what was done that the values alone do not show."""
    columns: dict[str, Columns] = field(default_factory=dict)
    """Which columns of the text files "path", "labels" and "groups" were read."""
    reading: Reading | None = None
    """How further edges or ratings are read in the same way, if these are edges or ratings."""
    scales: dict[str, Any] = field(default_factory=dict)
    """How each judge used the scale, if ratings became ranks."""
    self_scores: np.ndarray | None = None
    counts: np.ndarray | None = None
    """The number of edges of each new sample."""
    y: Any = None
    """The labels, as an array, or None."""
    groups: np.ndarray | None = None
    left_out: list[str] = field(default_factory=list)
    """The ids of samples without a label."""

    @property
    def n(self) -> int:
        """The number of samples."""
        first = next(iter(self.values.values())) if isinstance(self.values, dict) else self.values
        return len(first) if isinstance(first, list) else first.shape[0]

    def take(self, kept: np.ndarray) -> Contents:
        """Return the values, ids and self-scores of some of the samples."""
        if isinstance(self.values, list):
            values: Any = [self.values[i] for i in kept.tolist()]
        elif isinstance(self.values, dict):
            values = {name: cut(S, kept, kept) for name, S in self.values.items()}
        else:
            values = cut(self.values, kept, kept) if self.square else self.values[kept]
        ids = None if self.ids is None else [self.ids[i] for i in kept.tolist()]
        own = None if self.self_scores is None else self.self_scores[kept]
        column_ids = ids if self.square else self.column_ids
        return replace(self, values=values, ids=ids, column_ids=column_ids, self_scores=own)

    def rows(self, chosen: slice) -> Contents:
        """Return some of the rows of new samples."""
        ids = None if self.ids is None else self.ids[chosen]
        counts = None if self.counts is None else self.counts[chosen]
        return replace(self, values=self.values[chosen], ids=ids, counts=counts)

    def stored_reading(self) -> dict[str, Any] | None:
        """Return what a model file keeps of how edges are read, so that new samples are read in the same way."""
        if self.reading is None:
            return None
        own = None if self.self_scores is None else self.self_scores.tolist()
        found = {**{name: getattr(self.reading, name) for name in _STORED}, "self_scores": own}
        return found if not self.scales else {**found, "scales": {k: [*map(list, v)] for k, v in self.scales.items()}}
