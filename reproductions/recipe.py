"""A published table with its figures, and the data, methods and protocol that reproduce them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.repository import load_similarity_repository
from similitude.datasets import load_voting
from similitude.experiments import Dataset, Protocol
from similitude.similarities import VDM

Figure = tuple[float, float | None]
"""Error and standard deviation in percent; None if the paper prints no deviation."""

REPOSITORY = (
    "put its matrix and its labels, from the Similarity-based Learning Repository, into the folder given by data_home "
    "or the environment variable SIMILITUDE_DATA, in the layout that reproductions.repository reads"
)


class DataMissing(Exception):
    """Raised if a data set is not available; the message explains how to get it."""


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper with its figures, and the recipe of the experiment.

    ``datasets`` maps names to functions of ``data_home`` that return a Dataset or raise DataMissing; ``methods`` is a
    function that returns (estimator, grid) by name; ``published`` holds the figures by data set and method.
    """

    name: str
    reference: str
    protocol: Protocol
    datasets: Mapping[str, Callable[[Any], Dataset]]
    methods: Callable[[], Mapping[str, tuple]]
    published: Mapping[str, Mapping[str, Figure]]
    test: str | None = "wilcoxon"
    level: float = 0.05
    note: str = ""
    large: Mapping[str, str] = field(default_factory=dict)
    """Data sets that are left out unless they are named, with the reason."""


def by_row(methods: list[str], **columns: tuple) -> dict[str, dict[str, Figure]]:
    """Return figures by data set and method, from columns in the order of the methods with pairs or means."""
    return {
        name.replace("_", " "): {
            m: f if isinstance(f, tuple) else (f, None) for m, f in zip(methods, column, strict=True) if f is not None
        }
        for name, column in columns.items()
    }


@cache
def voting_similarities(weighted: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 - d and the labels of Voting, where d is the value difference metric learned from all labels."""
    data = load_voting()
    S = 1 - VDM(weighted=weighted).fit(data.data, data.target)(data.data, data.data)
    return S, data.target


def voting(_: Any = None) -> Dataset:
    """Return Voting under the value difference metric."""
    return Dataset(*voting_similarities())


def from_repository(*names: str) -> Callable[[Any], Dataset]:
    """Return a function that reads the data set of one of these names from a folder in the repository's layout."""

    def load(data_home: Any = None) -> Dataset:
        folder = data_home if data_home is not None else os.environ.get("SIMILITUDE_DATA")
        if folder is None or not Path(folder).is_dir():
            raise DataMissing(REPOSITORY)
        try:
            found = load_similarity_repository(folder)
        except ValueError as error:
            if "no data set found" in str(error):
                raise DataMissing(REPOSITORY) from error
            raise
        wanted = {_letters(name) for name in names}
        for name, bunch in found.items():
            if _letters(name) in wanted:
                S = bunch.S if isinstance(bunch.S, np.ndarray) else bunch.S.toarray()
                return Dataset(S, bunch.y, {"dissimilarity": "max-minus"} if bunch.dissimilarity else {})
        raise DataMissing(REPOSITORY)

    return load


def _letters(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())
