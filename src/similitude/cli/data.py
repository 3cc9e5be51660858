"""The input of a command: a matrix or several with labels from files, raw objects, or a named data set."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.ids import some
from similitude.base import partly_labelled
from similitude.cli.datasets import entry_named
from similitude.cli.options import STRUCTURE, Source, Unlabelled, is_yes, number_or_text
from similitude.cli.output import Notes
from similitude.cli.parameters import read_parameters
from similitude.evaluation.folds import stratified_folds, testable_classes
from similitude.proximity import Proximities, cut, known_pairs, looks_like_dissimilarity
from similitude.proximity.files import (
    NUCLEOTIDES,
    Contents,
    Reading,
    check_file,
    check_streams,
    column_options,
    read_labelled_objects,
    read_proximity,
)
from similitude.proximity.unknown import check_fill
from similitude.reader import Contract, Samples
from similitude.similarities import molecules, sets
from similitude.similarities.registry import is_family, objects_of, resolve
from similitude.splits import SimilarityGroupKFold

_PROTEIN_SCORES = "BLOSUM62"


@dataclass(frozen=True)
class Input(Contents):
    """What a command has read: a matrix, several by name, or raw objects, and how estimators read them."""

    contract: dict[str, Any] = field(default_factory=dict)
    """The parameters ``similarity`` and ``dissimilarity`` of estimators."""
    fill: Any = None
    """The value of unknown pairs."""
    title: str = ""
    unlabelled: bool = False
    """Whether samples without a label, whose labels are None, are there to be used."""

    @property
    def labelled(self) -> np.ndarray:
        """The positions of the samples with a label."""
        y = np.asarray(self.y)
        return np.flatnonzero([label is not None for label in y.tolist()]) if self.unlabelled else np.arange(len(y))

    @property
    def known_labels(self) -> np.ndarray:
        """The labels of the samples with one."""
        y = np.asarray(self.y)
        return np.array(y[self.labelled].tolist()) if self.unlabelled else y

    @property
    def are_several(self) -> bool:
        """Whether there are several similarities of the same samples."""
        return isinstance(self.values, dict)

    @cached_property
    def X(self) -> Any:
        """The samples as estimators take them."""
        if self.are_several or self.absent != "zero" or self.fill is not None:
            return Proximities(self.values, absent=self.absent, fill=self.fill)
        return self.values

    @cached_property
    def samples(self) -> Any:
        """The samples as every command reads them, without a warning if the matrix looks like dissimilarities."""
        contract = Contract(**self.contract, takes_several=True)
        if self.unlabelled:
            return partly_labelled(contract, self.X, self.y, warns=False)
        return Samples(contract, self.X, np.asarray(self.y), warns=False)

    @cached_property
    def unknown_share(self) -> float:
        """The share of the pairs of different samples that are unknown; with several similarities, of all of them."""
        if self.contract.get("similarity", "precomputed") != "precomputed":
            return 0.0
        matrices = list(self.values.values()) if self.are_several else [self.values]
        return sum(_unknown_share(S, self.absent) for S in matrices) / len(matrices)

    @property
    def fold_arguments(self) -> dict[str, Any]:
        """The argument ``groups`` of functions that divide the samples into folds, if there are groups."""
        return {} if self.groups is None else {"groups": self.groups}

    def matrix(self) -> tuple[Any, str | None]:
        """Return the native values between all samples, and the name of the map if they are dissimilarities."""
        contract = Contract(**self.contract)
        map_name = contract.map_name
        return self.X if contract.is_precomputed else self.samples.values, map_name


def _unknown_share(S: Any, absent: str) -> float:
    """Return the share of the pairs of different samples that are unknown in both directions."""
    n = S.shape[0]
    if sparse.issparse(S):
        pairs = known_pairs(S) if absent == "unknown" else None
        return 0.0 if pairs is None else 1 - pairs.known / max(1, pairs.possible)
    unknown = np.isnan(S)
    if n < 2 or not unknown.any():
        return 0.0
    unknown &= unknown.T
    return float((unknown.sum() - np.trace(unknown)) / (n * (n - 1)))


def read_adjusted(
    source: Source,
    *,
    fill: str | None,
    no_leak: str | None,
    note: Notes,
    seed: int = 0,
    unlabelled: Unlabelled = Unlabelled.ignore,
) -> Input:
    """Return the samples of a command with its options ``--fill``, ``--no-leak`` and ``--unlabelled``."""
    data = _with_unlabelled(source, note, seed) if unlabelled is Unlabelled.use else None
    if data is None:
        data = _several(source, note) if source.others else read_samples(source, note=note, seed=seed)
    if fill is not None:
        if source.others:
            raise ValueError("--fill is for one FILE; with several files every pair must be known.")
        if data.contract.get("similarity", "precomputed") != "precomputed":
            raise ValueError(f"--fill {fill} is for a matrix; the similarities of objects are all known.")
        data = replace(data, fill=check_fill(number_or_text(fill.replace("-blind-", "-blind "))))
    return data if no_leak is None else _without_leaks(data, no_leak, note)


def _with_unlabelled(source: Source, note: Notes, seed: int) -> Input | None:
    """Return all samples of a file, also those without a label; None, with a note, if all samples have one."""
    if source.others or source.matrix is None or source.similarity is not None:
        raise ValueError(
            "--unlabelled use is for one FILE of similarities; those of raw objects are computed by `similitude "
            "pairwise`."
        )
    data = read_samples(source, note=note, seed=seed, unlabelled=True)
    lacking = len(np.asarray(data.y)) - len(data.labelled)
    if lacking:
        return data
    note(f"--unlabelled use: every sample of {source.matrix} has a label.")
    return replace(data, unlabelled=False, y=np.array(np.asarray(data.y).tolist()))


def _without_leaks(data: Input, threshold: str, note: Notes) -> Input:
    """Return the data with groups of samples that are as similar as the threshold of ``--no-leak``."""
    number = number_or_text(threshold)
    if isinstance(number, str) and number != "auto":
        raise ValueError(f"--no-leak must be a number or auto; got {threshold!r}.")
    if data.unlabelled:
        raise ValueError("--no-leak compares samples with labels; it cannot be used with --unlabelled use.")
    found = SimilarityGroupKFold(threshold=number).groups_of(data.samples, data.groups)
    sizes = np.bincount(found)
    if sizes.max() == 1:
        note(f"--no-leak {threshold}: no samples are that similar; nothing to group")
    else:
        note(
            f"--no-leak {threshold}: {len(sizes)} groups of similar samples, the largest of {sizes.max()}; no group is "
            "on both sides of a fold"
        )
    return replace(data, groups=found)


def read_samples(
    source: Source,
    *,
    note: Notes,
    seed: int = 0,
    needs_labels: bool = True,
    mmap: bool = False,
    unlabelled: bool = False,
) -> Input:
    """Return the samples of a file with their labels and groups, or the data set of this name.

    With ``unlabelled`` those without a label are kept. With ``mmap`` the values of a .npy file stay on disk, and it is
    not checked whether they look like dissimilarities.
    """
    if (source.matrix is None) == (source.dataset is None):
        raise ValueError(f"give either FILE{' with --labels' if needs_labels else ''}, or --dataset.")
    if source.matrix is None:
        for name in source.given():
            if name != "dataset":
                option = f"--{name.removesuffix('_column').replace('_', '-')}"
                raise ValueError(f"{option} is for FILE; it cannot be used with --dataset {source.dataset}.")
        return named_samples(str(source.dataset), seed)
    if source.labels is None and needs_labels and (source.label_column is None or source.similarity is None):
        raise ValueError(f"--labels: a file with one class label per sample is needed. {_about_tables(source)}")
    source = replace(source, others=()).opened()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        data = _matrix(source, note, mmap, unlabelled) if source.similarity is None else _objects(source, note)
    for warning in caught:
        note(str(warning.message))
    return data


def _about_tables(source: Source) -> str:
    """Return how the columns of FILE would be named if it is a table of raw objects."""
    table = column_options(check_file(source.matrix, "FILE"))  # type: ignore[arg-type]
    similarity = "" if source.similarity is not None else ", and their similarity: --similarity NAME"
    if table is None:
        return f"If FILE is a table of raw objects, name its columns: --object COLUMN --label COLUMN{similarity}."
    return f"If {source.matrix} is a table of raw objects, name its columns: {table}{similarity}."


def named_samples(name: str, seed: int = 0) -> Input:
    """Return a data set of the catalogue."""
    entry = entry_named(name)
    X, y, contract = entry.load(seed)
    similarity = "" if entry.similarity == "given" else f", similarity {entry.similarity}"
    title = f"{name}: {len(y)} samples ({entry.objects}{similarity})"
    return Input(X, y=y, contract=contract, title=title)


def _matrix(source: Source, note: Notes, mmap: bool, unlabelled: bool) -> Input:
    """Return the samples of a file with proximities."""
    if source.param:
        raise ValueError("--param sets parameters of --similarity, which must also be given.")
    if source.by_scaffold:
        raise ValueError("--groups scaffold is for molecules as SMILES; for a matrix give a file with the groups.")
    if source.object_column is not None:
        raise ValueError("--object names a column of raw objects, whose similarity must also be given: --similarity.")
    for name, column, file in (
        ("label", source.label_column, source.labels),
        ("group", source.group_column, source.groups),
    ):
        if column is not None and file is None:
            raise ValueError(f"--{name} names a column of --{name}s, or of FILE if that is a table of raw objects.")
    matrix: Any = source.matrix
    mmap = mmap and matrix.suffix.lower() == ".npy"
    beside = replace(source.beside(), unlabelled=unlabelled)
    data = read_proximity(matrix, Reading(**source.reading()), beside, mmap=mmap)
    _note_contents(source, data, note)
    matrices = data.values.values() if isinstance(data.values, dict) else [data.values]
    if source.dissimilarity is None and not mmap and any(map(looks_like_dissimilarity, matrices)):
        note(
            f"warning: {matrix} looks like a dissimilarity: the values of samples with themselves are the smallest of "
            "their rows. If it is one, add --dissimilarity max-minus (or another map)."
        )
    contract = {"dissimilarity": source.dissimilarity}
    return Input(**vars(data), contract=contract, title=str(matrix), unlabelled=unlabelled)


def _objects(source: Source, note: Notes) -> Input:
    """Return the samples of a file with raw objects."""
    for name in source.reading():
        if name not in ("key", "orientation", "header"):
            raise ValueError(f"--{name} is for files of proximities; it cannot be used with --similarity.")
    path: Any = source.matrix
    name = str(source.similarity)
    if is_family(name) and source.param:
        raise ValueError(f"--param sets parameters of one similarity; {name} means a family, which has none.")
    kind = objects_of(name)
    beside, header = source.beside(), is_yes(source.header)
    data = read_labelled_objects(path, kind, beside, source.key, header, source.object_column)
    _note_contents(source, data, note)
    if holds_smiles(kind, data.values):
        data = _molecules(source, data, note)
    elif source.by_scaffold:
        raise ValueError("--groups scaffold is for molecules as SMILES; --similarity tanimoto reads them.")
    similarity = name if is_family(name) else chosen_measure(name, source.param, data.values, note)
    contract = {"similarity": similarity, "dissimilarity": source.dissimilarity}
    return Input(**vars(data), contract=contract, title=str(path))


def holds_smiles(kind: str, values: Any) -> bool:
    """Return whether objects of a kind are SMILES."""
    texts = isinstance(values, list) and len(values) > 0 and isinstance(values[0], str)
    return texts and kind in (molecules.OBJECTS, sets.OBJECTS)


def _molecules(source: Source, data: Contents, note: Notes) -> Contents:
    """Return the molecules whose SMILES can be read, with their scaffolds as groups if wanted; a note names others."""
    invalid = molecules.invalid_smiles(data.values)
    if invalid:
        are = "1 SMILES is invalid and is" if len(invalid) == 1 else f"{len(invalid)} SMILES are invalid and are"
        note(f"{source.matrix}: {are} left out: {some(smiles_names(data, invalid))}.")
        kept = np.setdiff1d(np.arange(len(data.values)), invalid)
        if not len(kept):
            raise ValueError(f"{source.matrix}: none of the {len(data.values)} texts is SMILES.")
        y, groups = (None if own is None else own[kept] for own in (data.y, data.groups))
        data = replace(data.take(kept), y=y, groups=groups)
    if not source.by_scaffold:
        return data
    groups = np.array(molecules.scaffolds(data.values))
    sizes = np.unique(groups, return_counts=True)[1]
    note(f"--groups scaffold: {len(sizes)} scaffolds, the largest with {sizes.max()} of {len(groups)} molecules.")
    return replace(data, groups=groups)


def smiles_names(data: Contents, places: list[int]) -> list[str]:
    """Return the ids of samples, or their places from 1, with their SMILES."""
    names = [str(i + 1) for i in places] if data.ids is None else [data.ids[i] for i in places]
    return [f"{name} ({data.values[i]})" for name, i in zip(names, places)]


def _note_contents(source: Source, data: Contents, note: Notes) -> None:
    """Print which columns of the files are read, and as what, and what was done with their values."""
    for name, path in (("path", source.matrix), ("labels", source.labels), ("groups", source.groups)):
        if name in data.columns:
            note(f"{path}: {data.columns[name]}")
    for text in data.notes:
        note(f"{source.matrix}: {text}")


def _several(source: Source, note: Notes) -> Input:
    """Return several matrices of the same samples, which are named after their files, with labels and groups.

    The order of the samples is that of the first; the others are reordered by their ids if both have them.
    """
    paths = source.matrices
    if source.similarity is not None:
        raise ValueError("--similarity is for one FILE of raw objects; several files hold similarities.")
    check_streams(source.inputs())
    names = _names_of(paths)
    maps = _maps(source.dissimilarity, names)
    # Each file is read as if it were alone, so that a warning tells which one looks like dissimilarities.
    alone = replace(source, others=())
    first = read_samples(replace(alone, dissimilarity=maps[names[0]]), note=note)
    _check_all_known(first, paths[0])
    found = {names[0]: first.values}
    no_labels: Any = dict.fromkeys(("labels", "label_column", "groups", "group_column", *STRUCTURE))
    for name, path in zip(names[1:], paths[1:]):
        own = replace(alone, matrix=path, dissimilarity=maps[name], labels_in_order=False, **no_labels)
        further = read_samples(own, note=note, needs_labels=False)
        _check_all_known(further, path)
        found[name] = _in_order(further, path, first, paths[0], note)
    contract = {"dissimilarity": maps if len(set(maps.values())) > 1 else next(iter(maps.values()))}
    title = f"{', '.join(names)}: {first.values.shape[0]} samples"
    return Input(found, first.ids, y=first.y, groups=first.groups, contract=contract, title=title)


def _check_all_known(data: Input, path: Path) -> None:
    if data.absent == "unknown":
        raise ValueError(
            f"FILE: {path} has unknown pairs; with several files every pair must be known: give --missing a value."
        )


def _names_of(paths: list[Path]) -> list[str]:
    """Return the names of the files without suffixes, or the whole paths if these are not all different."""
    names = [path.name.split(".")[0] for path in paths]
    if len(set(names)) == len(names):
        return names
    if len(set(map(str, paths))) < len(paths):
        twice = next(str(path) for i, path in enumerate(paths) if path in paths[:i])
        raise ValueError(f"FILE: {twice} is given twice.")
    return [str(path) for path in paths]


def _maps(dissimilarity: str | None, names: list[str]) -> dict[str, str | None]:
    """Return the map of each matrix: the same for all, or by name (``a=gauss,b=exp``)."""
    if dissimilarity is None or "=" not in dissimilarity:
        return dict.fromkeys(names, dissimilarity)
    maps: dict[str, str | None] = dict.fromkeys(names)
    for part in dissimilarity.split(","):
        name, _, chosen = (word.strip() for word in part.partition("="))
        if name not in maps or not chosen:
            raise ValueError(f"--dissimilarity: {part!r} must be NAME=MAP with a name among {', '.join(names)}.")
        maps[name] = chosen
    return maps


def _in_order(own: Input, path: Path, first: Input, first_path: Path, note: Notes) -> Any:
    """Return a further matrix with its samples in the order of the first one."""
    S = own.values
    if own.ids is None or first.ids is None:
        if S.shape != first.values.shape:
            raise ValueError(
                f"FILE: {first_path} has {first.values.shape[0]} samples and {path} has {S.shape[0]}; several matrices "
                "must have the same samples."
            )
        return S
    position = {name: i for i, name in enumerate(own.ids)}
    missing = [name for name in first.ids if name not in position]
    if missing:
        raise ValueError(
            f"FILE: {len(missing)} of the {len(first.ids)} samples of {first_path} are not in {path}: {some(missing)}. "
            "Several matrices must have the same samples."
        )
    if first.ids == own.ids:
        return S
    note(f"{path}: the samples are reordered by their ids, like those of {first_path}.")
    order = np.array([position[name] for name in first.ids])
    return cut(S, order, order)


def chosen_measure(name: str, params: list[str] | None, items: Any, note: Notes) -> Any:
    """Return the value of ``similarity`` for estimators: the name, or an object with the parameters.

    Alignments of sequences with letters that are not nucleotides use BLOSUM62 unless scores were given, and say so.
    """
    function: Any = resolve(name).function
    known = function.get_params(deep=False) if hasattr(function, "get_params") else {}
    given = read_parameters(name, function, params)
    if {"matrix", "match", "mismatch"} <= set(known) and not {"matrix", "match", "mismatch"} & set(given):
        letters = sorted({letter for item in items for letter in item.upper()} - NUCLEOTIDES)[:5]
        if letters:
            note(
                f"the letters {', '.join(letters)} are not nucleotides: {name} uses the scores of {_PROTEIN_SCORES}. "
                "Name others with --param matrix=NAME."
            )
            given["matrix"] = _PROTEIN_SCORES
    return type(function)(**{**known, **given}) if given else name


def check_nested(data: Input, folds: int, seed: int) -> None:
    """Raise a ValueError unless the training part of every outer fold can itself be divided into folds."""
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


def check_classes(data: Input, folds: int) -> tuple[int, list[str]]:
    """Return how many folds there can be, at most ``folds``, and the classes that none of them can test.

    Raise a ValueError if there is only one class, or none that folds can test.
    """
    y, groups = np.asarray(data.y), data.groups
    if data.unlabelled:
        y, groups = np.array(y[data.labelled].tolist()), None if groups is None else groups[data.labelled]
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(f"labels: at least two classes are needed; got {len(classes)}.")
    tests = [test for _, test in stratified_folds(y, folds, groups, 0)]
    return len(tests), [str(label) for label in np.setdiff1d(classes, y[np.concatenate(tests)]).tolist()]
