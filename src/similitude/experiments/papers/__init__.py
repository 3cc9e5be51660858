"""The papers' tables: published figures, and the recipes to make them again, a file for each paper."""

from similitude.experiments.papers.reproduce import PAPERS, Comparison, Reproduction, reproduce

__all__ = ["PAPERS", "Comparison", "Reproduction", "reproduce"]
