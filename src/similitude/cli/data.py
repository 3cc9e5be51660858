"""What a command is to work on: a matrix with labels from files, or a data set that has a name."""

from __future__ import annotations

from collections import Counter
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
    """Samples with labels, and how they are to be read."""

    X: Any
    """A square matrix, or raw objects."""
    y: Any
    contract: dict[str, Any] = field(default_factory=dict)
    """``similarity`` and ``dissimilarity``, as estimators take them."""
    ids: Any = None
    title: str = ""
    entry: Entry | None = None
    """Of a data set that has a name."""

    @cached_property
    def samples(self) -> Samples:
        """The samples as every command reads them, without a warning of what the matrix looks like."""
        from similitude.reader import Reader, Samples

        return Samples(Reader(**self.contract), self.X, np.asarray(self.y), warns=False)

    def matrix(self) -> tuple[Any, str | None]:
        """Return the native values between all samples, and the map where they are dissimilarities."""
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
    say: Notes,
    seed: int = 0,
    needs_labels: bool = True,
    in_order: bool = False,
    mmap: bool = False,
) -> LoadedData:
    """Return the matrix and its labels from files, or the data set of this name.

    ``in_order`` says that labels with ids are in the order of a matrix without ids.
    ``mmap`` leaves the values of a .npy file on disk; the look at whether they are dissimilarities is then left out.
    """
    from similitude.datasets import load_proximity
    from similitude.proximity.check import looks_like_dissimilarity

    if (matrix is None) == (dataset is None):
        raise ValueError(f"give either MATRIX{' with --labels' if needs_labels else ''}, or --dataset.")
    if matrix is None:
        options = {"--labels": labels, "--labels-in-order": in_order, "--dissimilarity": dissimilarity, "--key": key}
        for option, value in options.items():
            if value not in (None, False):
                raise ValueError(f"{option} is for MATRIX; --dataset {dataset} brings what it needs.")
        return named_samples(str(dataset), seed)
    if labels is None and needs_labels:
        raise ValueError("--labels: a file with one class label per sample is needed.")
    mmap = mmap and matrix.suffix.lower() == ".npy"
    data = load_proximity(matrix, labels, labels_in_order=in_order, key=key, mmap=mmap)
    if dissimilarity is None and not mmap and looks_like_dissimilarity(data.S):
        say(
            f"warning: {matrix} has a zero diagonal and is positive elsewhere: it looks like a dissimilarity. If it is "
            "one, add --dissimilarity max-minus (or another map)."
        )
    return LoadedData(data.S, data.y, {"dissimilarity": dissimilarity}, data.ids, str(matrix))


def named_samples(name: str, seed: int = 0) -> LoadedData:
    """Return a data set of the catalogue."""
    entry = entry_named(name)
    X, y, contract = entry.load(seed)
    how = "" if entry.similarity == "given" else f", similarity {entry.similarity}"
    title = f"{name}: {len(y)} samples ({entry.objects}{how})"
    return LoadedData(X, y, contract, None, title, entry)


def fold_count(y: Any, most: int, say: Notes | None = None) -> int:
    """So many folds, or as many as the smallest class has samples, which is said.

    Without ``say`` a class with fewer samples than folds is an error.
    """
    counts = Counter(list(y))
    if len(counts) < 2:
        raise ValueError(f"labels: at least two classes are needed; got {len(counts)}.")
    label, least = min(counts.items(), key=lambda item: item[1])
    if least >= most:
        return most
    if say is None:
        raise ValueError(
            f"labels: class {str(label)!r} has {least} samples, fewer than the {most} folds; lower --folds or drop it."
        )
    if least < 2:
        raise ValueError(f"labels: class {str(label)!r} has one sample; two are needed to choose parameters.")
    say(f"{least} folds instead of {most}: class {str(label)!r} has {least} samples.")
    return least
