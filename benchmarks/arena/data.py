"""The data sets of the arena, and their partitions into a training and a test part."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from similitude.datasets import load_promoters
from similitude.similarities import pairwise

TEST_SIZE = 0.2
FOLDER = "proximity"
"""The folder of the matrices within the one that SIMILITUDE_DATA names."""
SHIPPED = ("promoters",)
"""The data sets that need no folder."""
SIMULATED = ("balls3d",)
"""The data sets that are reported apart and are not part of any mean."""


class Source(NamedTuple):
    """What a data set is, and where it is from."""

    what: str
    origin: str


_LCRYPTO = (
    "GitHub, Lcrypto/Classical-and-Quantum-Topology-ML-toric-spherical, "
    "`LDPC_PEG_ACE_SF_CHORD_TSVD/square_matrices/{}.mat`"
)
_MANIFOLDS = "GitHub, dalab/matrix-manifolds, `data/dissimilarities`, after Duin & Pekalska"
_OBJECTS = "GitHub, rsagroup/rsatoolbox, `demos/92imageData`; Kriegeskorte 2008, Mur 2013"
_SERIES = "the series: the packages aeon and sktime (UCR archive)"

SOURCES = {
    "catcortex": Source("connection strengths between areas of the cat cortex", _MANIFOLDS),
    "dtw_gunpoint": Source("GunPoint, dynamic time warping without a window", _SERIES),
    "dtw_osuleaf": Source("OSULeaf, dynamic time warping without a window", _SERIES),
    "gpcr_gonnet": Source("human receptors, Gonnet dissimilarity of aligned sequences", "the R package bios2mds"),
    "mutag_ged": Source("nitro compounds, approximate graph edit distance", "the graphs: the package grakel"),
    "objects92_fmri_1subj": Source("brain responses to 92 images, one subject and session", _OBJECTS),
    "objects92_judged_1subj": Source("judged dissimilarity of the same images, one judge", _OBJECTS),
    "polbooks": Source("political books that are bought together", "GitHub, qinyuenlp/CommunityDetection"),
    "protein": Source("alignment of globin sequences (Hofmann & Buhmann)", _LCRYPTO.format("dense_graph/Protein")),
    "usps_directed_hausdorff": Source(
        "100 digits of each class, directed mean Hausdorff distance", "the images: GitHub, SK4772/GReBLS"
    ),
    "voting": Source("votes, 1 - value difference metric", _LCRYPTO.format("dense_graph/Voting")),
    "woodyplants50": Source("shapes of leaves", _MANIFOLDS),
    "worldtrade": Source("logarithm of trade between countries; continents", _LCRYPTO.format("network/worldtrade")),
    "yeast_5_12": Source("yeast proteins, Smith-Waterman E-values", _LCRYPTO.format("dense_graph/Yeast")),
    "promoters": Source("Levenshtein dissimilarity of promoter sequences", "part of similitude"),
    "balls3d": Source("surface distances of balls of two sizes (simulated)", _MANIFOLDS),
}
"""The data sets by name, in the order in which they are reported."""

REMEDY = (
    f"Set SIMILITUDE_DATA to a folder that contains a folder {FOLDER!r} with one file NAME.npz for each data set, in "
    "which `S` is the similarity matrix (or `D` the dissimilarity matrix) and `y` the labels. SOURCES in "
    "benchmarks/arena/data.py says where the matrices are from. `--data promoters` needs no such folder."
)


class DataMissing(Exception):
    """The data sets are not there; the message tells how to get them."""


class Split(NamedTuple):
    """The training and the test part of a data set: test rows have the training samples as columns."""

    X_train: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray


@dataclass(frozen=True, eq=False)
class Dataset:
    """A matrix of proximities with labels.

    Parameters
    ----------
    name : str
        The name.
    matrix : ndarray of shape (n, n)
        The similarities or dissimilarities, which may be asymmetric.
    kind : {"similarity", "dissimilarity"}
        What the entries of the matrix are.
    labels : ndarray of shape (n,)
        The labels.
    simulated : bool, default=False
        Whether the data set is reported apart.
    """

    name: str
    matrix: np.ndarray
    kind: str
    labels: np.ndarray
    simulated: bool = False

    def split(self, partition: int) -> Split:
        """Return the training and the test part of a partition."""
        train, test = partition_of(self.labels, partition)
        rows, y = self.matrix, self.labels
        return Split(rows[np.ix_(train, train)], rows[np.ix_(test, train)], y[train], y[test])


def partition_of(labels: np.ndarray, partition: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the training samples (80%) and of the test samples of a partition, by its number.

    Partitions are stratified by class. Classes with one sample cannot be: all such samples together are one stratum,
    and if there is only one, it belongs to that of the largest class.
    """
    _, strata, counts = np.unique(labels, return_inverse=True, return_counts=True)
    single = counts[strata] == 1
    strata[single] = np.argmax(counts) if single.sum() == 1 else -1
    positions = np.arange(len(labels))
    return tuple(train_test_split(positions, test_size=TEST_SIZE, stratify=strata, random_state=partition))


def data_folder() -> Path:
    """Return the folder of the matrices: in SIMILITUDE_DATA, by default in ``shared/data`` beside the project."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    return Path(os.environ.get("SIMILITUDE_DATA") or beside).expanduser() / FOLDER


def load(names: Iterable[str] = tuple(SOURCES)) -> list[Dataset]:
    """Return the data sets with these names, or raise DataMissing if some are not there."""
    names, folder = list(names), data_folder()
    needed = [name for name in names if name not in SHIPPED]
    if needed and not folder.is_dir():
        raise DataMissing(f"The arena needs real proximities, but there is no folder {folder}. {REMEDY}")
    absent = [f"{name}.npz" for name in needed if not (folder / f"{name}.npz").is_file()]
    if absent:
        raise DataMissing(f"The folder {folder} lacks {', '.join(absent)}. {REMEDY}")
    return [_promoters() if name == "promoters" else _read(folder / f"{name}.npz") for name in names]


def _read(path: Path) -> Dataset:
    with np.load(path, allow_pickle=False) as file:
        key, kind = ("S", "similarity") if "S" in file else ("D", "dissimilarity")
        matrix, labels = np.asarray(file[key], dtype=float), file["y"]
    return Dataset(path.stem, matrix, kind, labels, path.stem in SIMULATED)


def _promoters() -> Dataset:
    data = load_promoters()
    D = np.asarray(pairwise(data.data, similarity="levenshtein"), dtype=float)
    return Dataset("promoters", D, "dissimilarity", np.asarray(data.target))
