"""Finders of neighbours among the training samples: in a matrix, block by block, or by a graph."""

from similitude.finders.graph import GraphSearch
from similitude.finders.pair_budget import PairBudget, PairReport
from similitude.finders.stream import StreamSearch

__all__ = ["GraphSearch", "PairBudget", "PairReport", "StreamSearch"]
