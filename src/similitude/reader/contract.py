"""The input contract: the parameters by which an estimator reads X, before anything is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude._utils.forms import foreign_form
from similitude.finders.search import check_search
from similitude.proximity.evidence import gives_evidence
from similitude.proximity.maps import LearnedMap, check_map
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.similarities.registry import resolve


def is_dict(value: Any) -> bool:
    """Return whether a value is a dict of similarities by name."""
    return isinstance(value, Mapping) and not hasattr(value, "shape")  # one of SciPy's sparse matrices is a dict


def matrix_of(X: Any) -> Any:
    """Return the matrix of ``Proximities`` or of a dict with one matrix, or X itself."""
    return as_proximities(X).S if isinstance(X, Proximities) or is_dict(X) else X


def are_several(similarity: Any, X: Any, dissimilarity: Any = None) -> bool:
    """Return whether a similarity, its map, or X, holds similarities by name."""
    if is_dict(similarity) or is_dict(dissimilarity) or is_dict(X):
        return True
    return isinstance(X, Proximities) and len(X.similarities) > 1


@dataclass(frozen=True, eq=False)
class Contract:
    """How X is read; native values are those of a given matrix or of a similarity function, before the map."""

    similarity: Any = "precomputed"
    dissimilarity: Any = None
    takes_columns: bool = False
    """Whether ``similarity="columns"`` is allowed: rows of similarities to fixed prototypes."""
    takes_several: bool = False
    """Whether X, or ``similarity`` and ``dissimilarity``, may hold several similarities by name."""
    map_argument: str = "dissimilarity"
    scale: float | None = None
    search: Any = "matrix"
    learns_map: bool = True

    def __post_init__(self) -> None:
        names = self.similarity if self.takes_several and is_dict(self.similarity) else {"S": None}
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(
                f"similarity by name must be a dict with at least one key, all strings; got {list(names)!r}."
            )

    @property
    def is_precomputed(self) -> bool:
        """Whether X is the square matrix of the training samples, or holds several of these."""
        return isinstance(self.similarity, str) and self.similarity == "precomputed"

    @property
    def is_columns(self) -> bool:
        """Whether X holds rows of similarities to fixed prototypes."""
        return self.takes_columns and isinstance(self.similarity, str) and self.similarity == "columns"

    @property
    def is_matrix(self) -> bool:
        """Whether X holds similarities, not raw objects."""
        return self.is_precomputed or self.is_columns

    @property
    def map_name(self) -> str | None:
        """The name of the map from native values to similarities, the first of several; None without one."""
        if self.takes_several and (is_dict(self.similarity) or is_dict(self.dissimilarity)):
            similarities = (
                self.similarity if is_dict(self.similarity) else dict.fromkeys(self.dissimilarity, "precomputed")
            )
            names = (part.map_name for part in self._parts(similarities).values())
            return next((name for name in names if name is not None), None)
        chosen = self.dissimilarity
        if not self.is_matrix:
            measure = resolve(self.similarity)
            if measure.known and measure.orientation == "similarity" and chosen is not None:
                raise ValueError(
                    f"dissimilarity={chosen!r}: {measure.name!r} is a similarity; leave dissimilarity=None."
                )
            if chosen is None and measure.orientation == "dissimilarity":
                chosen = measure.to_similarity
        if chosen is not None:
            check_map(chosen, self.map_argument)
        return chosen

    def check_search(self) -> Any:
        """Return the finder that ``search`` names, None for a matrix, or raise a ValueError if X rules it out."""
        chosen = check_search(self.search)
        if chosen is not None and self.is_precomputed:
            raise ValueError(
                f"search={self.search!r} needs raw objects, but X is a precomputed matrix, in which every similarity "
                "is known already. Pass similarity=..., or leave search='matrix'."
            )
        if chosen is not None and self.map_name == "double-centring":
            raise ValueError(
                f"search={self.search!r}: the map 'double-centring' needs whole rows; use search='matrix' or "
                "another map."
            )
        return chosen

    def adopted(self, X: Any) -> Any:
        """Return another library's matrix as an array, DataFrame or ``Proximities``, and a dict as ``Proximities``."""
        if not self.is_precomputed or isinstance(X, Proximities):
            return X
        if is_dict(X):
            return as_proximities(X)
        if isinstance(X, np.ndarray) and X.ndim == 3:
            raise ValueError(
                f"X must be a square matrix; got an array of shape {X.shape}. Pass several similarities by name, such "
                "as {'first': X[0], 'second': X[1]}, to a classifier that takes several, such as AutoClassifier."
            )
        distances = self.map_name is not None
        form = foreign_form(X, distances=distances)
        if form is None or form.ids is None:
            return X if form is None else form.matrix
        return as_proximities(X, distances=distances)

    def by_name(self, X: Any) -> dict[str, tuple[Contract, Any]]:
        """Return for each similarity its own contract and its own input; a single one is named "S"."""
        if not self.takes_several:
            return {"S": (self, X)}
        given = X if self.is_precomputed and isinstance(X, Proximities) else None
        similarities: dict[str, Any] = {"S": self.similarity}
        if given is not None:
            similarities = dict.fromkeys(given.similarities, "precomputed")
        elif is_dict(self.similarity):
            similarities = dict(self.similarity)
        parts = self._parts(similarities)
        if given is None or len(parts) == 1:
            return {name: (part, X) for name, part in parts.items()}
        return {name: (part, given.select(name)) for name, part in parts.items()}

    def _parts(self, similarities: dict[str, Any]) -> dict[str, Contract]:
        maps = self.dissimilarity if is_dict(self.dissimilarity) else dict.fromkeys(similarities, self.dissimilarity)
        unknown = [name for name in maps if name not in similarities]
        if unknown:
            known = ", ".join(map(repr, similarities))
            raise ValueError(f"dissimilarity names {unknown[0]!r}, which is not one of the similarities {known}.")
        parts = {}
        for name, similarity in similarities.items():
            if is_dict(self.similarity) and isinstance(similarity, str) and similarity in ("precomputed", "columns"):
                raise ValueError(
                    f"similarity[{name!r}] is {similarity!r}; a dict of similarities is for raw objects. For several "
                    "matrices leave similarity='precomputed', and pass a dict of them as X."
                )
            parts[name] = replace(self, similarity=similarity, dissimilarity=maps.get(name), takes_several=False)
        return parts

    def learned_map(self, native: Any, absent: str) -> LearnedMap | None:
        """Return the map with constants learned from native values."""
        map_name = self.map_name
        return None if map_name is None else LearnedMap.learn(native, map_name, scale=self.scale, absent=absent)

    def evidence(self, native: Any, absent: str) -> np.ndarray:
        """Return for each row of native values whether it gives evidence."""
        zero = absent == "zero" or (absent == "farthest" and self.map_name is None)
        return gives_evidence(native, absent_is_zero=zero)


@contextmanager
def named_errors(name: str, number: int) -> Iterator[None]:
    """Make error messages name the similarity, if there are several."""
    try:
        yield
    except ValueError as error:
        if number == 1:
            raise
        raise ValueError(f"similarity {name!r}: {error}") from error
