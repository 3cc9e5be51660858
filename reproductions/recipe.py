"""A published table with its figures, and the data, methods and protocol that reproduce them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from reproductions.folders import DataMissing, find_file, first_folder, letters
from reproductions.repository import load_similarity_repository
from similitude import symmetrize
from similitude.datasets import load_voting
from similitude.experiments import Dataset, Protocol
from similitude.similarities import VDM

Figure = tuple[float, float | None]
"""Error and standard deviation in percent; None if the paper prints no deviation."""

REPOSITORY = (
    "put its matrix and its labels, from the Similarity-based Learning Repository, into the folder given by data_home "
    "or the environment variable SIMILITUDE_DATA, in the layout that reproductions.repository reads"
)

Load = Callable[[Any], Dataset]
"""A function of ``data_home`` that returns a data set, or raises DataMissing."""


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper with its figures, and the recipe of the experiment.

    ``datasets`` maps names to functions of ``data_home`` that return a Dataset or raise DataMissing; ``methods`` is a
    function of the name of a data set that returns (estimator, grid) by name; ``published`` holds the figures by data
    set and method. The figures of some data sets and methods are compared with those of others: ``like`` maps the name
    of a data set that is not in the paper to one that is, and ``variants`` that of a method.
    """

    name: str
    reference: str
    protocol: Protocol
    datasets: Mapping[str, Load]
    methods: Callable[[str], Mapping[str, tuple]]
    published: Mapping[str, Mapping[str, Figure]]
    n_published: int = 1
    """The number of partitions over which the paper's means and deviations are taken."""
    like: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    large: Mapping[str, str] = field(default_factory=dict)
    """Data sets that are left out unless they are named, with the reason."""

    def figures(self, dataset: str) -> dict[str, Figure]:
        """Return the published figures with which the methods are compared on a data set."""
        own = self.published[self.like.get(dataset, dataset)]
        return {m: own[self.variants.get(m, m)] for m in self.methods(dataset) if self.variants.get(m, m) in own}


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


def voting(data_home: Any = None) -> Dataset:
    """Return Voting as the papers' authors distributed it, or under the value difference metric if it is not here."""
    try:
        return distributed("voting")(data_home)
    except DataMissing:
        return Dataset(*voting_similarities())


def voting_by_training_labels(_: Any = None) -> Dataset:
    """Return the votes, under a value difference metric that every fit learns from the labels of its training part."""
    data = load_voting()
    return Dataset(data.data, data.target, {"similarity": "vdm"})


def distributed(name: str) -> Load:
    """Return a function that reads a matrix of the papers' authors, S and y, from ``proximity/NAME.npz``."""

    def load(data_home: Any = None) -> Dataset:
        with np.load(find_file(f"proximity/{name}.npz", data_home), allow_pickle=False) as found:
            return Dataset(found["S"], found["y"].astype(int))

    return load


def first_of(*loads: Load) -> Load:
    """Return a function that returns the first of these data sets that is available."""

    def load(data_home: Any = None) -> Dataset:
        for each in loads[:-1]:
            try:
                return each(data_home)
            except DataMissing:
                continue
        return loads[-1](data_home)

    return load


def derived(load: Load, change: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Load:
    """Return a function that returns ``change(S, y)`` of the similarities and labels of another data set."""

    def changed(data_home: Any = None) -> Dataset:
        given = load(data_home)
        S = -given.X if given.contract.get("dissimilarity") else given.X
        return Dataset(*change(S, np.asarray(given.y)))

    return changed


def rbf_of_rows(S: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(-||s_i - s_j||^2) of the rows s_i of S (Chen et al. 2009, Section 7.1)."""
    return np.exp(-cdist(S, S, "sqeuclidean")), y


def rbf_of_mean_differences(S: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(-||s_i - s_j||^2 / n) of the rows s_i of S, a wider radial basis function than that of the paper."""
    return np.exp(-cdist(S, S, "sqeuclidean") / len(S)), y


def first_two_classes(S: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the similarities and labels of the samples of the first two classes."""
    own = np.isin(y, np.unique(y)[:2])
    return S[np.ix_(own, own)], y[own]


def normalised(S: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return S mapped linearly to the range from 0 to 1 (Chen, Gupta & Recht 2009, Section 4.2)."""
    low, high = S.min(), S.max()
    return (S - low) / (high - low) if high > low else S, y


def from_repository(*names: str) -> Load:
    """Return a function that reads the data set of one of these names from a folder in the repository's layout.

    An asymmetric matrix is replaced by the mean of both directions, by which the papers rank neighbours (Chen et al.
    2009, Section 7.2).
    """

    def load(data_home: Any = None) -> Dataset:
        folder = first_folder(data_home)
        if folder is None:
            raise DataMissing(REPOSITORY)
        try:
            found = load_similarity_repository(folder)
        except ValueError as error:
            if "no data set found" in str(error):
                raise DataMissing(REPOSITORY) from error
            raise
        wanted = {letters(name) for name in names}
        for name, bunch in found.items():
            if letters(name) in wanted:
                S = bunch.S if isinstance(bunch.S, np.ndarray) else bunch.S.toarray()
                return Dataset(symmetrize(S).S, bunch.y, {"dissimilarity": "max-minus"} if bunch.dissimilarity else {})
        raise DataMissing(REPOSITORY)

    return load


protein = first_of(from_repository("protein"), distributed("protein"))
"""The papers' Protein: 213 proteins of four classes."""
