"""All samples of a search with several similarities, read once and divided into folds."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from similitude._utils.scikit_learn import safe_indexing
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.proximity.split import cut
from similitude.reader.base import SearchSamples
from similitude.reader.samples import Samples
from similitude.reader.several import SeveralReader, SeveralRows, SeveralTraining, divided, named_errors
from similitude.reader.values import is_dict


def are_several(similarity: Any, X: Any, dissimilarity: Any = None) -> bool:
    """Return whether a similarity, its map, or X, is a dict with several similarities by name."""
    if isinstance(X, SeveralSamples) or is_dict(similarity) or is_dict(dissimilarity) or is_dict(X):
        return True
    return isinstance(X, Proximities) and len(X.similarities) > 1


class SeveralSamples(SearchSamples):
    """All samples of a search with several similarities, which are read once and divided into folds."""

    def __init__(self, reader: Any, X: Any, y: Any, *, warns: bool = True):
        self.reader, self.y = reader, y
        self.X = as_proximities(X) if reader.is_precomputed else X
        self.parts, each = {}, reader.each(X)
        for name, (own_reader, own) in each.items():
            with named_errors(name, len(each)):
                self.parts[name] = Samples(own_reader, own, y, warns=warns)
        self.n = next(iter(self.parts.values())).n

    def _like(self, part: Callable[[Samples], Samples]) -> SeveralSamples:
        like = copy.copy(self)
        like.parts = {name: part(own) for name, own in self.parts.items()}
        first = next(iter(like.parts.values()))
        like.y, like.n = first.y, first.n
        return like

    @property
    def values(self) -> Proximities:
        """The native values between all samples, by name."""
        return self._proximities({name: part.values for name, part in self.parts.items()})

    def _proximities(self, values: dict[str, Any]) -> Proximities:
        matrices = {name: own.S if isinstance(own, Proximities) else own for name, own in values.items()}
        return self.X.replaced(matrices, self.X.features) if self.reader.is_precomputed else Proximities(matrices)

    @property
    def learns(self) -> bool:
        """Whether one of the similarities learns from data; each fold then has its own values."""
        return any(part.learns for part in self.parts.values())

    def _reader(self) -> SeveralReader:
        return SeveralReader(self.reader.similarity, self.reader.dissimilarity)

    def fold(self, train: np.ndarray, test: np.ndarray) -> tuple[SeveralTraining, SeveralRows]:
        return divided(self._reader(), {name: part.fold(train, test) for name, part in self.parts.items()})

    def evidence(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        return np.logical_or.reduce([part.evidence(train, test) for part in self.parts.values()])

    def whole(self) -> SeveralTraining:
        return SeveralTraining(self._reader(), {name: part.whole() for name, part in self.parts.items()})

    def precomputed(self) -> SeveralSamples:
        if self.reader.is_precomputed:
            return self
        like = self._like(lambda part: part.precomputed())
        maps = {name: part.reader.map_name for name, part in like.parts.items()}
        like.reader, like.X = SeveralReader("precomputed", maps), self.values
        return like

    def part(self, rows: np.ndarray) -> SeveralSamples:
        like = self._like(lambda part: part.part(rows))
        like.X = cut(self.X, rows, rows) if self.reader.is_precomputed else safe_indexing(self.X, rows)
        return like


def samples_of(reader: Any, X: Any, y: Any, *, warns: bool = True) -> Any:
    """Return all samples of a search, with one similarity or with several, as the reader reads them."""
    kind = SeveralSamples if isinstance(reader, SeveralReader) else Samples
    return kind(reader, X, y, warns=warns)
