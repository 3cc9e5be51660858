"""The values of the parameter ``search``."""

from __future__ import annotations

from typing import Literal, TypeAlias

from similitude.finders.finder import ObjectFinder
from similitude.finders.graph import GraphSearch
from similitude.finders.stream import StreamSearch

SearchLike: TypeAlias = Literal["matrix", "stream", "graph"] | ObjectFinder
"""The parameter ``search``."""

SEARCHES = ("matrix", "stream", "graph")


def check_search(search: SearchLike) -> ObjectFinder | None:
    """Return the finder that the parameter ``search`` names, or None if neighbours are found in the matrix."""
    if isinstance(search, ObjectFinder):
        return search
    if not isinstance(search, str) or search not in SEARCHES:
        raise ValueError(
            f"search must be one of {SEARCHES}, or a StreamSearch, GraphSearch or ClusterSearch; got {search!r}."
        )
    if search == "matrix":
        return None
    return StreamSearch() if search == "stream" else GraphSearch()
