"""How a file is to be read: the options that ``load_proximity`` and all commands share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from similitude.proximity.edges import EdgeMeaning
from similitude.proximity.files.forms import TEXT_FORMS

_STORED = ("form", "query", "target", "score", "missing", "duplicates", "direction", "normalise", "orientation")


@dataclass(frozen=True)
class Reading:
    """How a file of proximities is to be read: see :func:`load_proximity`."""

    form: str | None = None
    key: str | None = None
    query: str | int | None = None
    target: str | int | None = None
    score: str | int | None = None
    missing: Any = None
    duplicates: str | None = None
    direction: str = "keep"
    normalise: str | None = None
    diagonal: float | None = None
    orientation: str = "similarity"
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.form is not None and self.form not in TEXT_FORMS:
            raise ValueError(f"form must be None or one of {', '.join(map(repr, TEXT_FORMS))}; got {self.form!r}.")
        if self.header is not None and self.form not in (None, "table", "edges"):
            raise ValueError(f"header (--header) is for tables and edge lists; form is {self.form!r}.")
        self.meaning  # noqa: B018 - its parameters are checked

    @property
    def meaning(self) -> EdgeMeaning:
        """What edges mean."""
        return EdgeMeaning(self.missing, self.duplicates, self.direction, self.normalise, self.orientation)

    @property
    def names_edges(self) -> bool:
        """Whether an option was given that only edge lists have."""
        given = (self.query, self.target, self.score, self.duplicates, self.normalise)
        return self.form == "edges" or any(value is not None for value in given) or self.direction != "keep"

    def stored(self) -> dict[str, Any]:
        """Return what a model file keeps, so that new samples are read in the same way."""
        return {name: getattr(self, name) for name in _STORED}

    @classmethod
    def restored(cls, stored: Any, **changes: Any) -> Reading:
        """Return the options of a model file."""
        known = {name: stored[name] for name in _STORED if name in stored} if isinstance(stored, dict) else {}
        return replace(cls(**known), **changes)
