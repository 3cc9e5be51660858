"""Finders of neighbours among the training samples: in a matrix, block by block, or by a graph."""

from similitude.finders.finder import BothDirections, Collection, Finder, MatrixFinder, ObjectFinder, same_values
from similitude.finders.graph import GraphSearch
from similitude.finders.stream import Ends, RunningBest, StreamSearch, Target, best_of

__all__ = [
    "SEARCHES",
    "BothDirections",
    "Collection",
    "Ends",
    "Finder",
    "GraphSearch",
    "MatrixFinder",
    "ObjectFinder",
    "RunningBest",
    "StreamSearch",
    "Target",
    "best_of",
    "check_search",
    "same_values",
]

SEARCHES = ("matrix", "stream", "graph")


def check_search(search: object) -> ObjectFinder | None:
    """Return the finder that the parameter ``search`` names, or None if neighbours are found in the matrix.

    Parameters
    ----------
    search : {"matrix", "stream", "graph"} or ObjectFinder
        The value of the parameter.

    Returns
    -------
    ObjectFinder or None
        The finder.
    """
    if isinstance(search, ObjectFinder):
        return search
    if not isinstance(search, str) or search not in SEARCHES:
        raise ValueError(
            f"search must be one of {SEARCHES}, or a StreamSearch, GraphSearch or ClusterSearch; got {search!r}."
        )
    return {"matrix": None, "stream": StreamSearch(), "graph": GraphSearch()}[search]
