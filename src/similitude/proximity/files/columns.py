"""Which columns of a text file are read, and as what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

_SHOWN, _LONGEST = 5, 40

ID_HEADINGS = {"id", "ids", "name", "sample", "sample_id", "seqid", "accession", "query", "sequence"}
"""Headings of columns of ids in tables of labels, in lower case."""

_LABEL_HEADINGS = {
    "category", "class", "classes", "families", "family", "genus", "group", "groups", "kind", "label", "labels",
    "language", "outcome", "species", "target", "type", "y",
}  # fmt: skip

_OBJECT_HEADINGS = {
    "compound", "description", "document", "item", "name", "names", "object", "objects", "seq", "sentence", "sequence",
    "sequences", "smiles", "string", "strings", "surname", "text", "texts", "title", "word", "words",
}  # fmt: skip

ASK_HEADER = "say whether the first line is a header: --header yes or --header no (header=True or header=False)"


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


def is_label_heading(text: str) -> bool:
    """Return whether a text is a usual name of a column of labels or groups."""
    return text.lower().lstrip("#").strip() in _LABEL_HEADINGS


def is_object_heading(text: str) -> bool:
    """Return whether a text is a usual name of a column of texts or sequences."""
    return text.lower().lstrip("#").strip() in _OBJECT_HEADINGS
