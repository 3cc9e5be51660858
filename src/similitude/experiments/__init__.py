"""Experiments: methods compared on many partitions of many data sets, resumable, and the tables of the papers."""

from similitude.experiments.papers import PAPERS, Reproduction, reproduce
from similitude.experiments.protocol import Protocol
from similitude.experiments.results import Results
from similitude.experiments.running import Dataset, ExperimentWarning, run
from similitude.experiments.store import Store

__all__ = [
    "PAPERS",
    "Dataset",
    "ExperimentWarning",
    "Protocol",
    "Reproduction",
    "Results",
    "Store",
    "reproduce",
    "run",
]
