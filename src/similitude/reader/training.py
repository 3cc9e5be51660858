"""Samples as methods see them: training samples and new rows in one similarity, and both by name in several."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np
from sklearn.base import clone

from similitude._utils.scikit_learn import safe_indexing
from similitude.finders.finder import KnownFinder, MatrixFinder
from similitude.finders.search import check_search
from similitude.proximity.check import is_symmetric
from similitude.proximity.proximities import Extras, at_columns
from similitude.proximity.scale import similarity_scale
from similitude.proximity.split import cut
from similitude.proximity.symmetry import known_in_both_directions, mean_of_directions, warn_of_asymmetry
from similitude.proximity.unknown import fill_needed
from similitude.reader.values import ComputedValues
from similitude.similarities import pairwise

if TYPE_CHECKING:
    from similitude.reader.reader import Reader

NO_EXTRAS = Extras()
_SOME = slice(0, 16)


class _Once:
    """A value that is computed when it is first asked for, and kept for all who share it."""

    def __init__(self, load: Callable[[], Any]):
        self._load, self.is_known = load, False

    def __call__(self) -> Any:
        if not self.is_known:
            self._value, self.is_known = self._load(), True
            del self._load  # and what it holds
        return self._value


class ReadSamples:
    """Samples in one similarity: their values to the training samples, of which nothing is read before it is needed.

    ``announced`` is whether to warn; ``unknown`` is whether some values are unknown.
    """

    _support: np.ndarray | None = None

    def __init__(
        self,
        reader: Reader,
        length: int,
        native: Any,
        extras: Extras = NO_EXTRAS,
        *,
        load: Callable[[], Any] | None = None,
        unknown: bool = False,
        announced: bool = True,
    ):
        self.reader, self._length, self.native, self.extras = reader, length, native, extras
        self.unknown, self.announced = unknown, announced
        self._similarities = self._once(load)

    def __len__(self) -> int:
        return self._length

    @property
    def S(self) -> Any:
        """The similarities to the training samples, (m, n), or to those whose columns are given."""
        return self._similarities()

    @property
    def features(self) -> Any:
        """The feature vectors of the samples, or None."""
        return self.extras.features

    @property
    def self_similarity(self) -> np.ndarray | None:
        """The similarities of the samples to themselves, or None."""
        return self.extras.self_similarity

    @property
    def ids(self) -> np.ndarray | None:
        """The names of the samples, or None."""
        return self.extras.ids

    def _computed(self, columns: np.ndarray) -> Any:
        """Return the similarities to these training samples if they can be computed without the others, else None."""
        if not isinstance(self.native, ComputedValues) or self._similarities.is_known:
            return None
        if len(self.reader.columns_read(columns)) == self.reader.n_columns:
            return None
        return self.reader.similarities(self.native.block(slice(0, len(self)), columns))

    def complete(self, who: str) -> Self:
        """Return the same samples with a value for each unknown similarity; without a fill a ValueError is raised."""
        if not self.unknown:
            return self
        if self.reader.fill is None:
            raise fill_needed(who, self.S)
        return self._completed

    @cached_property
    def _completed(self) -> Self:
        return self._with(native=self.native.filled(self.reader.fill), unknown=False)

    def _once(self, load: Callable[[], Any] | None) -> _Once:
        """Return the similarities that ``load`` returns, by default those of the native values."""
        reader, native, support = self.reader, self.native, self._support

        def mapped() -> Any:
            return reader.similarities(native.whole() if support is None else native.block(slice(0, None), support))

        return load if isinstance(load, _Once) else _Once(load or mapped)

    def _with(self, *, load: Callable[[], Any] | None = None, **changes: Any) -> Self:
        """Return the same samples with another reader, other values or other similarities."""
        other = copy.copy(self)
        for name in vars(self).keys() & vars(type(self)).keys():  # what was computed from the former
            delattr(other, name)
        vars(other).update(changes)
        other._similarities = other._once(load)
        return other


class Training(ReadSamples):
    """The training samples in one similarity."""

    def __init__(self, *samples: Any, **options: Any):
        super().__init__(*samples, **options)
        self.labelled: np.ndarray | None = None
        """The positions of the samples with a label, if others have none."""
        self.finders: dict[bool, Any] = {}

    @property
    def has_matrix(self) -> bool:
        """Whether the similarities are used as a whole, which a finder on raw objects avoids."""
        return check_search(self.reader.search) is None

    @cached_property
    def scale(self) -> float:
        """The scale of the similarities, to which parameters of a method may be relative."""
        return similarity_scale(self.S, absent_is_zero=not self.unknown)

    def columns(self, used: np.ndarray) -> Any:
        """Return the similarities to the samples at the given positions.

        Those of raw objects to other samples are not computed, unless the map needs whole rows.
        """
        computed = self._computed(used)
        return at_columns(self.S, used) if computed is None else computed

    @cached_property
    def asymmetric(self) -> bool:
        """Whether S is asymmetric; without a matrix a few objects are compared."""
        measure = self.reader.measure
        return (measure is None or not measure.symmetric) and not is_symmetric(self._compared)

    @property
    def _compared(self) -> Any:
        if not self.has_matrix:
            measure: Any = self.reader.measure
            return pairwise(safe_indexing(self.reader.objects, _SOME), similarity=measure)
        return known_in_both_directions(self.S) if self.unknown else self.S

    def in_both_directions(self, who: str) -> Training:
        """Return the samples with a reader that averages new raw objects over both directions, if S is asymmetric.

        One warning says so.
        """
        if not self.asymmetric:
            return self
        objects = self.reader.measure is not None
        if self.announced:
            warn_of_asymmetry(who, self._compared, both_directions=objects)
        return self._averaging if objects else self

    @cached_property
    def _averaging(self) -> Training:
        return self._with(reader=replace(self.reader, both_directions=True), load=self._similarities)

    @property
    def symmetric(self) -> Any:
        """S if it is symmetric, otherwise ``(S + S^T)/2``."""
        return mean_of_directions(self.S) if self.asymmetric else self.S

    def rows_at(self, positions: np.ndarray) -> Training:
        """Return some of the samples, with the similarities to all of them, as those to fixed prototypes."""
        reader = replace(self.reader, similarity="columns", takes_columns=True)
        native = self.native.at_rows(positions)
        options: dict[str, Any] = {"unknown": self.unknown, "announced": self.announced}
        return Training(reader, len(positions), native, self.extras.take(positions), **options)

    def replaced(self, S: Any) -> Training:
        """Return the same samples with other similarities."""
        return self._with(load=lambda: S)

    def partly_labelled(self, positions: np.ndarray) -> Training:
        """Return the same samples, of which only those at the given positions have a label."""
        return self._with(load=self._similarities, labelled=positions)

    def as_rows(self) -> Rows:
        """Return the training samples as rows, to be compared with themselves."""
        load = self._similarities if self.has_matrix else None
        return Rows(self.reader, len(self), self.native, load=load, objects=self.reader.objects, unknown=self.unknown)

    def mapped(self, map_name: str) -> Training:
        """Return the same samples with another map to similarities, which is learned once."""
        if map_name not in self._other_maps:
            values = self.native.whole()
            reader = replace(self.reader, dissimilarity=map_name, learns_map=True)
            reader = replace(reader, map=reader.learned_map(values, reader.absent))
            self._other_maps[map_name] = self._with(reader=reader, load=lambda: reader.similarities(values))
        return self._other_maps[map_name]

    @cached_property
    def _other_maps(self) -> dict[str, Training]:
        return {}

    @cached_property
    def shared(self) -> dict[Any, Any]:
        """What several methods on these samples need, by all that it depends on."""
        return {}

    def indexed(self, *kinds: bool) -> Training:
        """Return the samples with a finder on raw objects for each kind, and the map that it learned.

        The kind is whether both directions are averaged. Samples with a matrix are returned unchanged.
        """
        chosen = check_search(self.reader.search)
        if chosen is None:
            return self
        finders, learned = {}, None
        for symmetric in kinds:
            finders[symmetric] = finder = clone(chosen)
            learned = finder.index(self.reader, symmetric and self.reader.both_directions)
        return self._with(reader=replace(self.reader, map=learned), finders=finders)

    def finder(self, *, symmetric: bool = False, lookup: bool = False) -> Any:
        """Return a finder of the neighbours of new rows among the training samples."""
        if self.finders:
            return self.finders[symmetric]
        S = self.S if lookup else None
        return KnownFinder(S, self.reader) if self.unknown else MatrixFinder(S, symmetric)

    def fold(self, kept: np.ndarray, left_out: np.ndarray) -> tuple[Training, Rows]:
        """Return a part of the training samples and the rows of others to it, mapped with the whole's constants."""
        S, columns = self.S, np.arange(self.S.shape[1]) if self.reader.is_columns else kept
        extras = Extras(self_similarity=self.self_similarity)
        options: dict[str, Any] = {"unknown": self.unknown, "announced": False}
        part = Training(self.reader, len(kept), None, extras.take(kept), load=lambda: cut(S, kept, columns), **options)
        rows = Rows(
            self.reader, len(left_out), None, extras.take(left_out), load=lambda: cut(S, left_out, columns), **options
        )
        if not self.reader.is_columns:
            rows.among = cut(S, left_out, left_out)
        if self.reader.both_directions:  # as in predict, both directions of raw objects are known
            rows.symmetric = cut(mean_of_directions(S), left_out, columns)
        return part, rows


class Rows(ReadSamples):
    """New samples in one similarity: their similarities psi(x, x_j) to the training samples."""

    def __init__(self, *samples: Any, objects: Any = None, support: np.ndarray | None = None, **options: Any):
        self.objects, self._support = objects, support
        super().__init__(*samples, **options)

    @cached_property
    def symmetric(self) -> Any:
        """The mean of both directions if these are known and differ, otherwise S."""
        return self._mean(self.S, self._given_columns)

    @cached_property
    def among(self) -> Any:
        """The similarities among the rows themselves, (m, m), or None if they are not known.

        They are known for raw objects, and in the folds of a search on a square matrix.
        """
        known = self.native is not None and not self.reader.is_columns
        values = self.native.among_rows() if known else None
        return None if values is None else self.reader.similarities(values)

    @cached_property
    def evidence(self) -> np.ndarray:
        """Whether each sample gives evidence, (m,): its values to the training samples are not all equal.

        It is True for all if it cannot be known, because only some of the columns are given, and if the samples have
        features in addition.
        """
        if self._support is not None or self.features is not None:
            return np.ones(len(self), dtype=bool)
        known = self.native is not None and self.reader.map is not None
        return self.reader.evidence(self.native.whole() if known else self.S, self.reader.absent)

    @property
    def _given_columns(self) -> np.ndarray:
        return np.arange(self.reader.n_columns) if self._support is None else self._support

    def columns(self, used: np.ndarray, *, symmetric: bool = False) -> Any:
        """Return the similarities to the training samples at the given positions."""
        computed = self._computed(used)
        if computed is not None:
            return self._mean(computed, used) if symmetric else computed
        S = self.symmetric if symmetric else self.S
        return at_columns(S, used if self._support is None else np.searchsorted(self._support, used))

    def read_as(self, reader: Reader) -> Rows:
        """Return the same samples as read by another reader that was fitted to the same training samples."""
        same_map = reader.map_name == self.reader.map_name
        if reader is self.reader or (same_map and reader.both_directions == self.reader.both_directions):
            return self
        if reader not in self._read_as:
            self._read_as[reader] = self._with(reader=reader, load=self._similarities if same_map else None)
        return self._read_as[reader]

    @cached_property
    def _read_as(self) -> dict[Any, Rows]:
        return {}

    def take(self, positions: np.ndarray) -> Rows:
        """Return some of the samples, with their similarities."""
        columns = np.arange(self.S.shape[1])
        S = cut(self.S, positions, columns)
        taken = self._with(load=lambda: S, _length=len(positions), native=None, extras=self.extras.take(positions))
        if self.reader.both_directions:
            taken.symmetric = cut(self.symmetric, positions, columns)
        return taken

    def silent(self) -> Rows:
        """Return the same samples without warnings."""
        return self._with(load=self._similarities, announced=False)

    def _mean(self, S: Any, columns: np.ndarray) -> Any:
        """Return the mean of S and of the other direction if both are known and differ, otherwise S."""
        if not self.reader.both_directions or self.native is None:
            return S
        back = self.native.back(slice(0, len(self)), columns)
        if back is None:
            return S
        half = S.dtype.type(0.5)
        return S * half + self.reader.similarities(back, transposed=True) * half


@contextmanager
def named_errors(name: str, number: int) -> Iterator[None]:
    """Make error messages name the similarity, if there are several."""
    try:
        yield
    except ValueError as error:
        if number == 1:
            raise
        raise ValueError(f"similarity {name!r}: {error}") from error


Part = TypeVar("Part", bound=Any)


@dataclass(frozen=True)
class ByName(Generic[Part]):
    """Training samples or rows by the name of the similarity; a single similarity is named "S".

    If there are samples without a label, ``parts`` are those of the labelled training samples. ``everything`` are the
    same with all training samples, and ``labelled`` the positions of those with a label among them; methods that use
    samples without a label take these (``SimilarityEstimator._unlabelled``).
    """

    parts: dict[str, Part]
    everything: Any = field(default=None, kw_only=True)
    labelled: Any = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    @property
    def only(self) -> Part:
        """The samples in the only similarity."""
        if len(self.parts) > 1:
            raise ValueError(f"X holds the similarities {', '.join(map(repr, self.parts))}, and one is needed here.")
        return next(iter(self.parts.values()))

    def of(self, name: str | None) -> ByName[Part]:
        """Return the samples in one of the similarities; None means all."""
        if name is None:
            return self
        everything = None if self.everything is None else self.everything.of(name)
        return ByName({name: self.parts[name]}, everything=everything, labelled=self.labelled)

    def each(self, work: Callable[[Part], Part]) -> Self:
        """Return the result of some work on each part; errors name the similarity if there are several."""
        found = {}
        for name, part in self.parts.items():
            with named_errors(name, len(self.parts)):
                found[name] = work(part)
        return replace(self, parts=found)

    def complete(self, who: str) -> Self:
        """Return the same samples with a value for each unknown similarity; without a fill a ValueError is raised."""
        return self.each(lambda part: part.complete(who))

    def read_as(self, readers: dict[str, Reader]) -> Self:
        """Return rows as read by other readers, which were fitted to the same training samples, labelled or all."""
        if self.everything is not None:
            columns = {reader.n_columns for reader in readers.values()}
            if columns == {rows.reader.n_columns for rows in self.everything.parts.values()}:
                return self.everything.read_as(readers)
        # A single similarity may have a name on one side only.
        parts = dict(zip(readers, self.parts.values())) if len(self.parts) == len(readers) == 1 else self.parts
        return replace(self, parts={name: rows.read_as(readers[name]) for name, rows in parts.items()})

    @property
    def S(self) -> dict[str, Any]:
        """The similarities to the training samples, by name."""
        return {name: part.S for name, part in self.parts.items()}

    @property
    def evidence(self) -> np.ndarray:
        """Whether at least one of the similarities of each row gives evidence, (m,).

        Similarities are looked at one by one until all rows have evidence, since those of raw objects may be costly.
        """
        if self.everything is not None:
            return self.everything.evidence
        found = np.zeros(len(self), dtype=bool)
        for rows in self.parts.values():
            found |= rows.evidence
            if found.all():
                break
        return found

    def fold(self, kept: np.ndarray, left_out: np.ndarray) -> tuple[Self, ByName[Rows]]:
        """Return a part of the training samples and the rows of others to it, mapped with the whole's constants."""
        folds = {name: part.fold(kept, left_out) for name, part in self.parts.items()}
        training = replace(self, parts={name: part for name, (part, _) in folds.items()})
        return training, ByName({name: rows for name, (_, rows) in folds.items()})
