"""Reading several similarities of the same samples, each by a reader of its own."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from similitude._utils.ids import Names
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.reader.base import InputReader
from similitude.reader.reader import Reader
from similitude.reader.rows import Rows
from similitude.reader.training import Training
from similitude.reader.values import is_dict


class SeveralReader(InputReader):
    """Reads several similarities of the same samples, each by a :class:`Reader` of its own.

    A single similarity is also accepted; its name is "S".
    """

    _saved_state = {"similarity": "any", "dissimilarity": "any", "readers": "dict of Reader"}

    def __init__(self, similarity: Any = "precomputed", dissimilarity: Any = None):
        self.similarity, self.dissimilarity = similarity, dissimilarity
        self.readers: dict[str, Reader] = {}
        if is_dict(similarity) and (not similarity or not all(isinstance(name, str) for name in similarity)):
            raise ValueError(
                f"similarity by name must be a dict with at least one key, all strings; got {list(similarity)!r}."
            )

    @property
    def is_matrix(self) -> bool:
        """Whether X holds similarities, not raw objects."""
        return self.is_precomputed

    @property
    def is_columns(self) -> bool:
        """Whether X holds rows of similarities to fixed prototypes, which is not possible."""
        return False

    @property
    def names(self) -> list[str]:
        """The names of the similarities that were read."""
        return list(self.readers)

    @property
    def map_name(self) -> str | None:
        """The name of the map of the first similarity that has one; None if all are similarities."""
        if not self.readers:
            return None if is_dict(self.dissimilarity) else self.dissimilarity
        return next((name for reader in self.readers.values() if (name := reader.map_name) is not None), None)

    @property
    def _first(self) -> Reader:
        return next(iter(self.readers.values()))

    @property
    def n_columns(self) -> int:
        """The number of columns of a whole row."""
        return self._first.n_columns

    @property
    def objects(self) -> Any:
        """The training samples, if they are raw objects."""
        return self._first.objects

    @property
    def column_names(self) -> np.ndarray | None:
        """The column names of a DataFrame."""
        return self._first.column_names

    @property
    def column_ids(self) -> np.ndarray | None:
        """The names of the training samples, if they were given."""
        return self._first.column_ids

    @property
    def ids(self) -> Names | None:
        return self._first.ids

    @property
    def asymmetric(self) -> bool:
        """Whether new rows of one of the similarities of raw objects are averaged over both directions."""
        return any(reader.asymmetric for reader in self.readers.values())

    @property
    def extras(self) -> tuple[str, ...]:
        """The names of the data that came with the training samples."""
        return self._first.extras

    def each(self, X: Any) -> dict[str, tuple[Reader, Any]]:
        """Return for each similarity a reader that is not fitted, and its input."""
        given = as_proximities(X) if self.is_precomputed and (isinstance(X, Proximities) or is_dict(X)) else None
        similarities: dict[str, Any] = {"S": self.similarity}
        if given is not None:
            similarities = dict.fromkeys(given.similarities, "precomputed")
        elif is_dict(self.similarity):
            similarities = dict(self.similarity)
        maps = self.dissimilarity if is_dict(self.dissimilarity) else dict.fromkeys(similarities, self.dissimilarity)
        unknown = [name for name in maps if name not in similarities]
        if unknown:
            known = ", ".join(map(repr, similarities))
            raise ValueError(f"dissimilarity names {unknown[0]!r}, which is not one of the similarities {known}.")
        found = {}
        for name, similarity in similarities.items():
            if is_dict(self.similarity) and isinstance(similarity, str) and similarity in ("precomputed", "columns"):
                raise ValueError(
                    f"similarity[{name!r}] is {similarity!r}; a dict of similarities is for raw objects. For several "
                    "matrices leave similarity='precomputed', and pass a dict of them as X."
                )
            found[name] = Reader(similarity, maps.get(name)), X if given is None else given.select(name)
        return found

    def adopted(self, X: Any) -> Any:
        if not self.is_precomputed:
            return X
        return as_proximities(X) if is_dict(X) else Reader("precomputed", self.map_name).adopted(X)

    def fit(self, X: Any, y: Any = None, *, estimator: Any = None, warns: bool = True) -> SeveralTraining:
        parts, each = {}, self.each(X)
        for name, (reader, own) in each.items():
            with named_errors(name, len(each)):
                parts[name] = reader.fit(own, y, estimator=estimator, warns=warns)
        return SeveralTraining(self, parts)

    def rows(self, X: Any, *, support: np.ndarray | None = None, estimator: Any = None) -> SeveralRows:
        inputs = dict.fromkeys(self.readers, X)
        if self.is_precomputed and (isinstance(X, Proximities) or is_dict(X)):
            given = as_proximities(X)
            held = list(given.similarities)
            # One similarity on both sides counts as the same if one of them has no name.
            unnamed = len(held) == len(self.names) == 1 and "S" in (*held, *self.names)
            if set(held) != set(self.names) and not unnamed:
                then, now = (", ".join(map(repr, names)) for names in (self.names, held))
                raise ValueError(f"X must hold the same similarities as in fit ({then}); got {now}.")
            inputs = {name: given.select(held[0] if unnamed else name) for name in self.names}
        elif self.is_precomputed and len(self.names) > 1:
            raise ValueError(
                f"X must hold the similarities {', '.join(map(repr, self.names))} by name, as in fit: pass a dict of "
                "matrices, or Proximities of them."
            )
        parts = {}
        for name, own in inputs.items():
            with named_errors(name, len(inputs)):
                parts[name] = self.readers[name].rows(own, estimator=estimator)
        return SeveralRows(self, parts)


@contextmanager
def named_errors(name: str, number: int) -> Iterator[None]:
    """Make error messages name the similarity, if there are several."""
    try:
        yield
    except ValueError as error:
        if number == 1:
            raise
        raise ValueError(f"similarity {name!r}: {error}") from error


class _Several:
    """Samples as each of several readers reads them: ``parts`` holds them by the name of the similarity."""

    def __init__(self, reader: Any, parts: dict[str, Any]):
        self.reader, self.parts = reader, parts

    def __len__(self) -> int:
        return len(next(iter(self.parts.values())))

    def complete(self, who: str) -> Self:
        """Return the same samples with a value for each unknown similarity; without a fill a ValueError is raised."""
        completed = copy.copy(self)
        completed.parts = {}
        for name, part in self.parts.items():
            with named_errors(name, len(self.parts)):
                completed.parts[name] = part.complete(who)
        return completed


class SeveralTraining(_Several):
    """The training samples as each of several readers reads them."""

    def __init__(self, reader: Any, parts: dict[str, Training], factors: dict[str, float] | None = None):
        super().__init__(reader, parts)
        self.factors = factors
        reader.readers = {name: part.reader for name, part in parts.items()}

    @property
    def scale(self) -> float:
        """The geometric mean of the scales of the similarities."""
        first, *others = (part.scale for part in self.parts.values())
        return first * float(np.exp(np.sum(np.log(np.divide(others, first))) / len(self.parts)))

    def replaced(self, similarities: dict[str, Any], factors: dict[str, float] | None = None) -> SeveralTraining:
        """Return the same samples with other similarities."""
        parts = {name: part.replaced(similarities[name]) for name, part in self.parts.items()}
        return SeveralTraining(self.reader, parts, factors)

    def fold(self, kept: np.ndarray, left_out: np.ndarray) -> tuple[SeveralTraining, SeveralRows]:
        """Return a part of the training samples and the rows of others to it, mapped with the whole's constants."""
        folds = {name: part.fold(kept, left_out) for name, part in self.parts.items()}
        return divided(self.reader, folds, self.factors)


class SeveralRows(_Several):
    """New samples as each of several readers reads them."""

    @property
    def S(self) -> dict[str, Any]:
        """The similarities to the training samples, by name."""
        return {name: rows.S for name, rows in self.parts.items()}

    @property
    def evidence(self) -> np.ndarray:
        """Whether at least one of the similarities of each sample gives evidence, (m,)."""
        return np.logical_or.reduce([rows.evidence for rows in self.parts.values()])

    def read_as(self, reader: Any) -> SeveralRows:
        """Return the same samples as read by another reader that was fitted to the same training samples."""
        if reader is self.reader:
            return self
        return SeveralRows(reader, {name: rows.read_as(reader.readers[name]) for name, rows in self.parts.items()})


def divided(
    reader: SeveralReader, folds: dict[str, tuple[Training, Rows]], factors: dict[str, float] | None = None
) -> tuple[SeveralTraining, SeveralRows]:
    """Return the same fold of each similarity as one fold of several similarities."""
    training = SeveralTraining(reader, {name: part for name, (part, _) in folds.items()}, factors)
    return training, SeveralRows(reader, {name: rows for name, (_, rows) in folds.items()})
