"""Helpers that do not depend on the subject of the package: files, threads, progress, optional libraries."""

from similitude._utils import threads  # before all others, since it reserves memory that they could take

__all__ = ["threads"]
