"""The papers' tables: published figures and the recipes that compute them again, one file for each paper.

``python -m reproductions`` lists the tables; ``python -m reproductions NAME`` computes one and prints our errors beside
the published ones. It is run in the root of the repository, in an environment where similitude is installed.
"""

from reproductions.reproduction import PAPERS, Comparison, Reproduction, reproduce

__all__ = ["PAPERS", "Comparison", "Reproduction", "reproduce"]
