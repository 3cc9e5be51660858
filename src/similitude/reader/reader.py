"""The input contract: how an estimator reads X, and all that is needed of the training samples to read new rows."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from similitude._utils.forms import foreign_form, is_frame
from similitude._utils.ids import (
    Names,
    column_names_of,
    column_order,
    columns_in_order,
    given_names,
    numbered_names,
    some,
)
from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude._utils.warn import warn
from similitude.finders.search import check_search
from similitude.proximity.check import SimilarityWarning, read_similarity
from similitude.proximity.evidence import gives_evidence
from similitude.proximity.maps import LearnedMap, check_map
from similitude.proximity.proximities import Proximities, as_proximities, at_columns
from similitude.proximity.unknown import LearnedFill, row_values
from similitude.reader.training import ByName, Rows, named_errors
from similitude.reader.values import ComputedValues, GivenValues
from similitude.similarities.elastic import elastic_family
from similitude.similarities.pairwise import check_objects
from similitude.similarities.registry import Measure, is_family, resolve
from similitude.similarities.words import words_family

_ELASTIC_MAP = "gauss:0.7"
"""The map of elastic distances; cross-validation within the training parts of sets of the UCR archive favoured it."""


_FAMILIES: dict[str, Callable[[Any], dict[str, Any]]] = {"elastic": elastic_family, "words": words_family}


def is_dict(value: Any) -> bool:
    """Return whether a value is a dict of similarities by name."""
    return isinstance(value, Mapping) and not hasattr(value, "shape")  # one of SciPy's sparse matrices is a dict


def matrix_of(X: Any) -> Any:
    """Return the matrix of ``Proximities`` or of a dict with one matrix, or X itself."""
    return as_proximities(X).S if isinstance(X, Proximities) or is_dict(X) else X


def are_several(similarity: Any, X: Any, dissimilarity: Any = None) -> bool:
    """Return whether a similarity, its map, or X, holds similarities by name."""
    if is_dict(similarity) or is_dict(dissimilarity) or is_dict(X) or is_family(similarity):
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

    def learned_from(self, X: Any) -> Contract:
        """Return the contract with the measures of the family, and their maps, that a word means for these objects."""
        if not self.takes_several or not is_family(self.similarity):
            return self
        family, maps = _FAMILIES[self.similarity](X), self.dissimilarity
        if maps is None or is_dict(maps):
            own = dict.fromkeys(family, self._family_map) if self.similarity == "elastic" else {}
            maps = own | dict(maps or {})
        else:  # a map is for distances only
            maps = {name: maps for name, own in family.items() if resolve(own).orientation == "dissimilarity"}
        return replace(self, similarity=family, dissimilarity=maps or None)

    @property
    def _family_map(self) -> str:
        return _ELASTIC_MAP if self.similarity == "elastic" else "one-minus"

    @property
    def map_name(self) -> str | None:
        """The name of the map from native values to similarities, the first of several; None without one."""
        if self.takes_several and is_family(self.similarity):
            return self.dissimilarity if isinstance(self.dissimilarity, str) else self._family_map
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


@dataclass(frozen=True, eq=False)
class Reader(Contract):
    """A contract with what was learned from the training samples: it reads new rows, and nothing changes it."""

    n_columns: int = 0
    objects: Any = None
    """The training samples, if they are raw objects."""
    object_columns: list[Any] | None = None
    """The names of the columns of the raw objects, if these are rows of a DataFrame."""
    measure: Measure | None = None
    map: Any = None
    """The learned map from native values to similarities; None if they are similarities."""
    absent: Any = "zero"
    fill: LearnedFill | None = None
    column_names: np.ndarray | None = None
    column_ids: np.ndarray | None = None
    first_column: int | None = None
    """The number of the first column, if the columns were those of a DataFrame that pandas numbered."""
    extras: tuple[str, ...] = ()
    """The names of the data that came with the training samples; new rows must also have them."""
    kept: np.ndarray | None = None
    """The positions of the objects, if only some are kept."""
    pairs: Any = None
    """What compares new raw objects with some of the training objects, if only some pairs were compared."""
    both_directions: bool = False
    """Whether similarities of new raw objects that must be symmetric are averaged over both directions."""

    def rows(self, X: Any, *, support: np.ndarray | None = None, estimator: Any = None) -> Rows:
        """Return the rows of new samples, of which only the columns in ``support`` need be given."""
        if not self.is_matrix:
            objects = columns_in_order(check_objects(X, self.measure, self.objects), self.object_columns)
            native = ComputedValues(self.measure, objects, self.objects, self.kept)
            return Rows(self, num_samples(objects), native, objects=objects)
        X = as_proximities(X) if is_dict(X) else X
        if isinstance(X, np.ndarray) and X.ndim == 1:
            raise ValueError(
                f"X is a 1D array of {len(X)} numbers, but rows of similarities to the {self.n_columns} training "
                "samples are needed. Reshape your data by X.reshape(1, -1) if it is one sample."
            )
        X, part = training_columns(X, self.ids, support)
        S, has_nan = read_similarity(matrix_of(X), name="X", square=False, estimator=estimator, takes_nan=True)
        given = as_proximities(X)
        S, has_nan = row_values(S, has_nan, self.absent)
        if support is not None and len(support) and S.shape[1] != self.n_columns:
            part = support
        if estimator is not None:
            try:
                _check_width(X, S.shape[1], part, estimator, self.ids)
            except ValueError as error:
                raise ValueError(f"{error}{' X also contains NaN.' if has_nan else ''}") from error
        self._check_same_data(given)
        places = None if part is None else np.searchsorted(part, np.arange(self.n_columns))
        if has_nan and self.map_name == "double-centring" and self.fill is not None:
            S, has_nan = self.fill(S), False
        similarities = self.similarities(S)
        return Rows(
            self,
            S.shape[0],
            GivenValues(S, columns=places),
            given.extras,
            load=lambda: similarities,
            support=part,
            unknown=has_nan,
        )

    def _check_same_data(self, given: Proximities) -> None:
        """Check that new rows come with the same data as the training samples, such as features and ids."""
        names = {name: "column_ids" if name == "ids" else name for name in self.extras}
        missing = sorted(name for name in names if getattr(given, names[name]) is None)
        if missing:
            raise ValueError(
                f"X: {', '.join(missing)} was given in fit and is missing here; pass Proximities(S, "
                f"{', '.join(names[name] + '=...' for name in missing)})."
            )

    @property
    def ids(self) -> Names | None:
        """The names of the training samples, to which the columns of new rows are matched; None without any."""
        if self.column_ids is not None:
            # Whole numbers that a DataFrame had as index may be positions.
            return given_names(self.column_ids, adopted="ids" not in self.extras)
        if self.first_column is not None:
            return numbered_names(self.first_column, self.n_columns)
        return None if self.column_names is None else given_names(self.column_names)

    def similarities(self, native: Any, *, transposed: bool = False) -> Any:
        """Return native values of rows as similarities."""
        if self.map is None:
            return native
        return (self.map.transposed() if transposed else self.map)(native, name="X", absent=self.absent)

    def columns_read(self, used: np.ndarray) -> np.ndarray:
        """Return the columns that rows must have if the columns ``used`` are needed."""
        if self.map is not None and self.map.map_name == "double-centring":
            return np.arange(self.n_columns)
        return np.unique(used) if self.kept is None else np.arange(len(self.kept))

    def reduced_to(self, positions: np.ndarray) -> Reader:
        """Return a reader of native values that keeps only the raw objects at these positions."""
        if self.objects is None:
            return replace(self, map=None, learns_map=False)
        places = positions if self.kept is None else np.searchsorted(self.kept, positions)
        objects = safe_indexing(self.objects, places)
        return replace(self, map=None, learns_map=False, objects=objects, kept=positions, n_columns=len(positions))


def rows_of(
    readers: dict[str, Reader], X: Any, *, support: np.ndarray | None = None, estimator: Any = None
) -> ByName[Rows]:
    """Return the rows of new samples in the similarities of these readers."""
    names = list(readers)
    pairs = next(iter(readers.values())).pairs
    if pairs is not None:
        compared = compared_input(pairs.rows(check_objects(X)))
        return ByName({name: readers[name].rows(own) for name, own in compared.items()})
    inputs = dict.fromkeys(names, X)
    precomputed = next(iter(readers.values())).is_precomputed
    if precomputed and (isinstance(X, Proximities) or is_dict(X)):
        given = as_proximities(X)
        held = list(given.similarities)
        # One similarity on both sides counts as the same if one of them has no name.
        unnamed = names == ["S"] or (len(names) == 1 and held == ["S"])
        if set(held) != set(names) and not unnamed:
            then, now = (", ".join(map(repr, known)) for known in (names, held))
            raise ValueError(f"X must hold the same similarities as in fit ({then}); got {now}.")
        if len(names) > 1:
            inputs = {name: given.select(name) for name in names}
    elif precomputed and len(names) > 1:
        raise ValueError(
            f"X must hold the similarities {', '.join(map(repr, names))} by name, as in fit: pass a dict of "
            "matrices, or Proximities of them."
        )
    parts = {}
    for name, own in inputs.items():
        with named_errors(name, len(inputs)):
            parts[name] = readers[name].rows(own, support=support, estimator=estimator)
    return ByName(parts)


NEIGHBORS, LANDMARKS = "neighbours", "landmarks"
"""The names under which the values of objects are read if only some of their pairs were compared."""


def compared_input(compared: Any) -> dict[str, Any]:
    """Return the values of objects of which some pairs were compared, by name: of neighbours, and of landmarks."""
    return {NEIGHBORS: Proximities(compared.neighbors, absent="unknown"), LANDMARKS: compared.landmarks}


def training_columns(X: Any, own: Names | None, support: np.ndarray | None = None) -> tuple[Any, np.ndarray | None]:
    """Return X with the columns of the training samples in their order, matched by id where both sides have ids."""
    given = column_names_of(X)
    if own is None or given is None:
        return X, None
    order, restricted, strange = column_order(own, given, support)
    if strange:
        warn(f"X: {len(strange)} columns are not training samples and are ignored: {some(strange)}.", SimilarityWarning)
    return X if order is None else at_columns(X, np.array(order)), support if restricted else None


def _check_width(X: Any, width: int, part: np.ndarray | None, estimator: Any, own: Names | None) -> None:
    """Check the number and the names of the columns: those of all training samples, or only those in ``part``.

    Columns with ids have been matched already.
    """
    matched = isinstance(X, Proximities) and X.column_ids is not None
    if is_frame(X):
        kinds = [getattr(names, "kind", None) for names in (column_names_of(X), own)]
        matched = kinds == ["ids", "ids"]
    if part is not None or matched:
        expected = estimator.n_features_in_
        used = expected if part is None else len(part)
        if width != used:
            restricted = f", or the {used} of support_columns_ alone" if used < expected else ""
            raise ValueError(
                f"X has {width} features, but {type(estimator).__name__} is expecting {expected} features as "
                f"input{restricted}."
            )
    if matched:
        return
    if part is not None:
        names = getattr(estimator, "feature_names_in_", None)
        estimator = copy.copy(estimator)
        estimator.n_features_in_ = len(part)
        if names is not None:
            estimator.feature_names_in_ = names[part]
    matrix = X.S if isinstance(X, Proximities) else X
    validate_data(estimator, matrix, reset=False, skip_check_array=True)
