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
from similitude.finders.ties import LocalNeighbors, Neighbors, as_local, local_neighbors

__all__ = [
    "BothDirections",
    "Collection",
    "Ends",
    "Finder",
    "GraphSearch",
    "KnownFinder",
    "LocalNeighbors",
    "MatrixFinder",
    "Neighbors",
    "ObjectFinder",
    "RunningBest",
    "StreamSearch",
    "Target",
    "as_local",
    "best_of",
    "check_search",
    "is_finder",
    "local_neighbors",
    "same_values",
]
