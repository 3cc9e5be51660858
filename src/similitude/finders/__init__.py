"""Finders of neighbours among the training samples: in a matrix, block by block, or by a graph."""

from similitude.finders.finder import (
    BothDirections,
    Collection,
    Finder,
    MatrixFinder,
    ObjectFinder,
    is_finder,
    same_values,
)
from similitude.finders.graph import GraphSearch
from similitude.finders.known import KnownFinder
from similitude.finders.search import check_search
from similitude.finders.stream import Ends, RunningBest, StreamSearch, Target, best_of

__all__ = [
    "BothDirections",
    "Collection",
    "Ends",
    "Finder",
    "GraphSearch",
    "KnownFinder",
    "MatrixFinder",
    "ObjectFinder",
    "RunningBest",
    "StreamSearch",
    "Target",
    "best_of",
    "check_search",
    "is_finder",
    "same_values",
]
