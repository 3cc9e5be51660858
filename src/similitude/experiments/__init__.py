"""Experiments: methods compared on many partitions of many data sets, in runs that can be resumed."""

from similitude.experiments.protocol import Protocol
from similitude.experiments.results import Results
from similitude.experiments.running import Dataset, ExperimentWarning, run
from similitude.experiments.selection import pooled_search
from similitude.experiments.store import Store
from similitude.experiments.tables import Entry, Table

__all__ = [
    "Dataset",
    "Entry",
    "ExperimentWarning",
    "Protocol",
    "Results",
    "Store",
    "Table",
    "pooled_search",
    "run",
]
