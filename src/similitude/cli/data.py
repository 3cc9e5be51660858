"""The input of a command: a matrix with labels from files, or a named data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.cli.catalogue import Entry, entry_named
from similitude.cli.options import Notes

if TYPE_CHECKING:
    from similitude.reader import Samples


@dataclass(frozen=True)
class LoadedData:
    """Samples with labels, and their input contract."""

    X: Any
    """A square matrix, or raw objects."""
    y: Any
    contract: dict[str, Any] = field(default_factory=dict)
    """The parameters ``similarity`` and ``dissimilarity`` of estimators."""
    ids: Any = None
    groups: Any = None
    """The group of each sample, for the folds."""
    title: str = ""
    entry: Entry | None = None
    """The entry of the catalogue, for a named data set."""

    @property
    def fold_arguments(self) -> dict[str, Any]:
        """The argument ``groups`` of functions that divide the samples into folds, if there are groups."""
        return {} if self.groups is None else {"groups": self.groups}

    @cached_property
    def samples(self) -> Samples:
        """The samples as every command reads them, without a warning if the matrix looks like dissimilarities."""
        from similitude.reader import Reader, Samples, SeveralReader, SeveralSamples

        if self.are_several:
            reader: Any = SeveralReader(**self.contract)
            return SeveralSamples(reader, self.X, np.asarray(self.y), warns=False)  # type: ignore[return-value]
        return Samples(Reader(**self.contract), self.X, np.asarray(self.y), warns=False)

    @property
    def are_several(self) -> bool:
        """Whether X holds several similarities of the same samples."""
        return len(getattr(self.X, "similarities", ())) > 1

    def matrix(self) -> tuple[Any, str | None]:
        """Return the native values between all samples, and the name of the map if they are dissimilarities."""
        from similitude.reader import Reader

        reader = Reader(**self.contract)
        return self.X if reader.is_precomputed else self.samples.values, reader.map_name


def read_samples(
    matrix: Path | None,
    labels: Path | None,
    dissimilarity: str | None,
    dataset: str | None,
    key: str | None,
    *,
    note: Notes,
    seed: int = 0,
    needs_labels: bool = True,
    groups: Path | None = None,
    in_order: bool = False,
    mmap: bool = False,
) -> LoadedData:
    """Return the matrix with its labels and groups from files, or the data set of this name.

    With ``in_order`` labels and groups with ids are in the order of a matrix without ids. With ``mmap`` the values of a
    .npy file stay on disk, and it is not checked whether they look like dissimilarities.
    """
    from similitude.datasets import load_proximity
    from similitude.proximity.check import looks_like_dissimilarity

    if (matrix is None) == (dataset is None):
        raise ValueError(f"give either MATRIX{' with --labels' if needs_labels else ''}, or --dataset.")
    if matrix is None:
        options = {
            "--labels": labels,
            "--labels-in-order": in_order,
            "--groups": groups,
            "--dissimilarity": dissimilarity,
            "--key": key,
        }
        for option, value in options.items():
            if value not in (None, False):
                raise ValueError(f"{option} is for MATRIX; it cannot be used with --dataset {dataset}.")
        return named_samples(str(dataset), seed)
    if labels is None and needs_labels:
        raise ValueError("--labels: a file with one class label per sample is needed.")
    mmap = mmap and matrix.suffix.lower() == ".npy"
    data = load_proximity(matrix, labels, groups=groups, labels_in_order=in_order, key=key, mmap=mmap)
    if dissimilarity is None and not mmap and looks_like_dissimilarity(data.S):
        note(
            f"warning: {matrix} has a zero diagonal and is positive elsewhere: it looks like a dissimilarity. If it is "
            "one, add --dissimilarity max-minus (or another map)."
        )
    return LoadedData(data.S, data.y, {"dissimilarity": dissimilarity}, data.ids, data.groups, str(matrix))


def named_samples(name: str, seed: int = 0) -> LoadedData:
    """Return a data set of the catalogue."""
    entry = entry_named(name)
    X, y, contract = entry.load(seed)
    similarity = "" if entry.similarity == "given" else f", similarity {entry.similarity}"
    title = f"{name}: {len(y)} samples ({entry.objects}{similarity})"
    return LoadedData(X, y, contract, title=title, entry=entry)


def check_classes(data: LoadedData, folds: int) -> tuple[int, list[str]]:
    """Return how many folds there can be, at most ``folds``, and the classes that none of them can test.

    Raise a ValueError if there is only one class, or none that folds can test.
    """
    from similitude.search import stratified_folds

    y = np.asarray(data.y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"labels: at least two classes are needed; got {len(classes)}.")
    tests = [test for _, test in stratified_folds(y, folds, data.groups, 0)]
    return len(tests), [str(label) for label in np.setdiff1d(classes, y[np.concatenate(tests)]).tolist()]
