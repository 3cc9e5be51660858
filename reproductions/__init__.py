"""The papers' tables, with published figures and the recipes that reproduce them, one file for each paper.

``python -m reproductions`` lists the tables, and ``python -m reproductions NAME`` computes one and prints our errors
next to the published ones. Run it in the root of the repository, in an environment where similitude is installed.
"""

from reproductions.reproduction import PAPERS, Comparison, Reproduction, reproduce

__all__ = ["PAPERS", "Comparison", "Reproduction", "reproduce"]
