"""The input of a command: a matrix with labels from files, or a named data set."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from similitude.cli.catalogue import Entry, entry_named
from similitude.cli.options import Notes
from similitude.cli.source import Source, is_yes


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
    reading: dict[str, Any] | None = None
    """For edges, how new ones are to be read."""
    objects: str | None = None
    """The kind of raw objects in a file."""
    columns: dict[str, list[str]] | None = None
    """The names of the columns of objects, by which a model finds them in another file."""

    @property
    def fold_arguments(self) -> dict[str, Any]:
        """The argument ``groups`` of functions that divide the samples into folds, if there are groups."""
        return {} if self.groups is None else {"groups": self.groups}

    @cached_property
    def samples(self) -> Any:
        """The samples as every command reads them, without a warning if the matrix looks like dissimilarities."""
        from similitude.reader import Reader, SeveralReader, samples_of

        reader: Any = SeveralReader(**self.contract) if self.are_several else Reader(**self.contract)
        return samples_of(reader, self.X, np.asarray(self.y), warns=False)

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
    source: Source, *, note: Notes, seed: int = 0, needs_labels: bool = True, mmap: bool = False
) -> LoadedData:
    """Return the samples of a file with their labels and groups, or the data set of this name.

    With ``mmap`` the values of a .npy file stay on disk, and it is not checked whether they look like dissimilarities.
    """
    given = source.given()
    if (source.matrix is None) == (source.dataset is None):
        raise ValueError(f"give either FILE{' with --labels' if needs_labels else ''}, or --dataset.")
    if source.matrix is None:
        for name in given:
            if name != "dataset":
                option = f"--{name.replace('_', '-')}"
                raise ValueError(f"{option} is for FILE; it cannot be used with --dataset {source.dataset}.")
        return named_samples(str(source.dataset), seed)
    if source.labels is None and needs_labels:
        raise ValueError("--labels: a file with one class label per sample is needed.")
    source = replace(source, others=()).opened()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        data = _objects(source, note) if source.similarity is not None else _matrix(source, note, mmap)
    for warning in caught:
        note(str(warning.message))
    return data


def _beside(source: Source) -> dict[str, Any]:
    """Return the options about labels and groups."""
    names = ("labels", "groups", "labels_in_order", "label_column", "group_column")
    return {name: value for name, value in source.given().items() if name in names}


def _matrix(source: Source, note: Notes, mmap: bool) -> LoadedData:
    """Return the samples of a file with proximities."""
    from similitude.proximity import Proximities
    from similitude.proximity.check import looks_like_dissimilarity
    from similitude.proximity.files import load_proximity

    if source.param:
        raise ValueError("--param sets parameters of --similarity, which must also be given.")
    matrix: Any = source.matrix
    mmap = mmap and matrix.suffix.lower() == ".npy"
    data = load_proximity(matrix, mmap=mmap, **_beside(source), **source.reading())
    _note_columns(source, data.columns, note)
    for text in data.notes:
        note(f"{matrix}: {text}")
    if source.dissimilarity is None and not mmap and looks_like_dissimilarity(data.S):
        note(
            f"warning: {matrix} looks like a dissimilarity: the values of samples with themselves are the smallest of "
            "their rows. If it is one, add --dissimilarity max-minus (or another map)."
        )
    X = Proximities(data.S, absent="unknown") if data.absent == "unknown" else data.S
    contract = {"dissimilarity": source.dissimilarity}
    return LoadedData(X, data.y, contract, data.ids, data.groups, str(matrix), reading=data.reading)


def _objects(source: Source, note: Notes) -> LoadedData:
    """Return the samples of a file with raw objects."""
    from similitude.cli.measures import chosen_measure
    from similitude.proximity.files import load_objects
    from similitude.similarities import resolve

    for name in source.reading():
        if name not in ("key", "orientation", "header"):
            raise ValueError(f"--{name} is for files of proximities; it cannot be used with --similarity.")
    kind = resolve(source.similarity).objects  # type: ignore[arg-type]
    options = {**_beside(source), "key": source.key, "header": is_yes(source.header)}
    data = load_objects(source.matrix, objects=kind, **options)  # type: ignore[arg-type]
    _note_columns(source, data.columns, note)
    read = data.columns.get("path")
    names = None if read is None else read.named("objects")
    similarity = chosen_measure(str(source.similarity), source.param, data.data, note)
    contract = {"similarity": similarity, "dissimilarity": source.dissimilarity}
    columns = None if names is None else {"objects": names}
    title = str(source.matrix)
    return LoadedData(data.data, data.y, contract, data.ids, data.groups, title, objects=kind, columns=columns)


def _note_columns(source: Source, columns: dict[str, Any], note: Notes) -> None:
    """Print which columns of the files are read, and as what."""
    for name, path in (("path", source.matrix), ("labels", source.labels), ("groups", source.groups)):
        if name in columns:
            note(f"{path}: {columns[name]}")


def named_samples(name: str, seed: int = 0) -> LoadedData:
    """Return a data set of the catalogue."""
    entry = entry_named(name)
    X, y, contract = entry.load(seed)
    similarity = "" if entry.similarity == "given" else f", similarity {entry.similarity}"
    title = f"{name}: {len(y)} samples ({entry.objects}{similarity})"
    return LoadedData(X, y, contract, title=title, entry=entry)


def check_nested(data: LoadedData, folds: int, seed: int) -> None:
    """Raise a ValueError unless the training part of every outer fold can itself be divided into folds."""
    from similitude.evaluation.folds import stratified_folds, testable_classes

    y, groups = np.asarray(data.y), data.groups

    def has_folds(part: Any) -> bool:
        return len(testable_classes(y[part], None if groups is None else groups[part])) > 0

    if has_folds(np.arange(len(y))) and all(has_folds(train) for train, _ in stratified_folds(y, folds, groups, seed)):
        return
    needed = 4 if folds == 2 else 3
    what = f"of at least {needed} samples" if groups is None else f"with samples in at least {needed} groups"
    raise ValueError(
        f"labels: a class {what} is needed, because parameters are chosen by folds within the training part of each "
        "fold."
    )


def check_classes(data: LoadedData, folds: int) -> tuple[int, list[str]]:
    """Return how many folds there can be, at most ``folds``, and the classes that none of them can test.

    Raise a ValueError if there is only one class, or none that folds can test.
    """
    from similitude.evaluation import stratified_folds

    y = np.asarray(data.y)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"labels: at least two classes are needed; got {len(classes)}.")
    tests = [test for _, test in stratified_folds(y, folds, data.groups, 0)]
    return len(tests), [str(label) for label in np.setdiff1d(classes, y[np.concatenate(tests)]).tolist()]
