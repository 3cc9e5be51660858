"""Similarity functions on raw objects: the registry, and what estimators make of ``similarity=...``."""

from similitude.similarities.categorical import VDM, counting
from similitude.similarities.pairwise import pairwise
from similitude.similarities.registry import Measure, batch, names, register, resolve

__all__ = ["VDM", "Measure", "batch", "counting", "names", "pairwise", "register", "resolve"]
