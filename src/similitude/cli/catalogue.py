"""The data sets that have a name: those that ship, are simulated, or are fetched."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

SHIPS, SIMULATED, FETCHED = "ships", "simulated", "fetched"


@dataclass(frozen=True)
class Entry:
    """One data set: the function that loads it, and the similarity that suits it."""

    name: str
    kind: str
    samples: int
    """Their number, with the seed 0 where they are simulated."""
    classes: int
    objects: str
    """The kind of the samples; "matrix" where there are only similarities."""
    similarity: str
    """A registered name, or "given"."""
    loader: str
    X: str = "data"
    y: str = "target"
    dissimilarity: str | None = None
    """The map of a matrix of dissimilarities."""
    needs: str = ""
    """What is needed to fetch it; empty otherwise."""
    module: str = "similitude.datasets"
    """The module of the loader."""

    def call(self, seed: int = 0) -> str:
        """Return the call of the loader, as Python."""
        return f"{self.loader}({f'random_state={seed}' if self.kind == SIMULATED else ''})"

    def load(self, seed: int = 0) -> tuple[Any, Any, dict[str, Any]]:
        """Return samples or matrix, labels, and the input contract of the two."""
        arguments = {"random_state": seed} if self.kind == SIMULATED else {}
        bunch = getattr(import_module(self.module), self.loader)(**arguments)
        contract: dict[str, Any] = {"dissimilarity": self.dissimilarity}
        if self.similarity != "given":
            contract = {"similarity": self.similarity}
        return bunch[self.X], bunch[self.y], contract


def catalogue() -> dict[str, Entry]:
    """Return every data set by name: first those that ship, then the simulated ones, then the fetched ones."""
    matrix = ("matrix", "given")
    numbers, scikit_learn = ("numbers", "euclidean"), "sklearn.datasets"
    entries = [
        Entry("voting", SHIPS, 435, 2, "categorical rows", "vdm", "load_voting"),
        Entry("promoters", SHIPS, 106, 2, "strings", "levenshtein", "load_promoters"),
        Entry("digits", SHIPS, 1797, 10, "images", "euclidean-image", "load_digit_images"),
        Entry("iris", SHIPS, 150, 3, *numbers, "load_iris", module=scikit_learn),
        Entry("wdbc", SHIPS, 569, 2, *numbers, "load_breast_cancer", module=scikit_learn),
        Entry("wine", SHIPS, 178, 3, *numbers, "load_wine", module=scikit_learn),
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
    ]
    return {entry.name: entry for entry in entries}


def entry_named(name: str) -> Entry:
    """Return the data set of this name; the error for another name tells those that are known."""
    known = catalogue()
    if name not in known:
        raise ValueError(
            f"--dataset must be one of {', '.join(known)}; got {name!r}. `similitude datasets` tells what they are."
        )
    return known[name]
