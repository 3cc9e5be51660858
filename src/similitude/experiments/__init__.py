"""Experiments, which compare methods on many partitions of many data sets in runs that can be resumed."""

from similitude.experiments.protocol import Partition, Protocol
from similitude.experiments.results import Results
from similitude.experiments.running import Dataset, ExperimentWarning, run, stored
from similitude.experiments.selection import pooled_search
from similitude.experiments.statistics import Ranking, rank_methods
from similitude.experiments.store import Failure, Row, Store
from similitude.experiments.tables import Entry, Table

__all__ = [
    "Dataset",
    "Entry",
    "ExperimentWarning",
    "Failure",
    "Partition",
    "Protocol",
    "Ranking",
    "Results",
    "Row",
    "Store",
    "Table",
    "pooled_search",
    "rank_methods",
    "run",
    "stored",
]
