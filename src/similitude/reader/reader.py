"""The input contract: what X may be, and how it becomes similarities."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from similitude._utils.forms import foreign_form
from similitude._utils.ids import Names, given_names
from similitude._utils.scikit_learn import feature_names, num_samples, safe_indexing
from similitude.finders.search import check_search
from similitude.proximity.check import read_similarity
from similitude.proximity.evidence import gives_evidence
from similitude.proximity.maps import LearnedMap, check_map, learned_constants_needed
from similitude.proximity.proximities import Extras, Proximities, as_proximities
from similitude.proximity.symmetry import check_same_order
from similitude.proximity.unknown import LearnedFill, row_values, training_values
from similitude.reader._columns import check_same_data, check_width, training_columns
from similitude.reader.base import InputReader
from similitude.reader.rows import Rows
from similitude.reader.training import Training
from similitude.reader.values import ComputedValues, GivenValues, is_dict, matrix_of
from similitude.similarities.pairwise import check_objects, pairwise, sliceable
from similitude.similarities.registry import Measure, resolve


class Reader(InputReader):
    """Reads X according to the input contract, and keeps what is needed of the training samples to read new rows.

    Notes
    -----
    Native values are those of the given matrix or of the similarity function, before the map.
    """

    _saved_state = {
        "similarity": "any",
        "dissimilarity": "None | text",
        "takes_columns": "bool",
        "map_argument": "text",
        "scale": "None | float",
        "search": "any",
        "learns_map": "bool",
        "extras": "tuple of text",
        "n_columns?": "size n",
        "column_names?": "None | label[n]",
        "column_ids?": "None | label[n]",
        "asymmetric?": "bool",
        "map?": "None | LearnedMap",
        "objects?": "any",
        "measure?": "None | Measure",
        "kept?": "None | int[n] 0..",
        "absent?": "text",
        "fill?": "None | LearnedFill",
    }

    measure: Measure | None = None
    objects: Any = None
    map: LearnedMap | None = None
    n_columns: int = 0
    column_names: np.ndarray | None = None
    column_ids: np.ndarray | None = None
    asymmetric: bool = False
    absent: str = "zero"
    fill: LearnedFill | None = None
    kept: np.ndarray | None = None

    def __init__(
        self,
        similarity: Any = "precomputed",
        dissimilarity: str | None = None,
        *,
        takes_columns: bool = False,
        map_argument: str = "dissimilarity",
        scale: float | None = None,
        search: Any = "matrix",
        learns_map: bool = True,
    ):
        self.similarity = similarity
        self.dissimilarity = dissimilarity
        self.takes_columns = takes_columns
        self.map_argument = map_argument
        self.scale = scale
        self.search = search
        self.learns_map = learns_map
        self.extras: tuple[str, ...] = ()

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
        """The name of the map from native values to similarities; None if they are similarities."""
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

    def fit(self, X: Any, y: Any = None, *, estimator: Any = None, warns: bool = True) -> Training:
        map_name = self.map_name
        chosen = check_search(self.search)
        if chosen is not None and self.is_precomputed:
            raise ValueError(
                f"search={self.search!r} needs raw objects, but X is a precomputed matrix, in which every similarity "
                "is known already. Pass similarity=..., or leave search='matrix'."
            )
        if chosen is not None and map_name == "double-centring":
            raise ValueError(
                f"search={self.search!r}: the map 'double-centring' needs whole rows; use search='matrix' or "
                "another map."
            )
        if not self.is_matrix:
            return self._fit_objects(X, y, map_name, chosen)
        X = self.adopted(X)
        S, has_nan = read_similarity(
            matrix_of(X),
            name="X",
            square=not self.is_columns,
            orientation="similarity" if map_name is None and warns else "dissimilarity",
            estimator=estimator,
            takes_nan=True,
        )
        if self.is_precomputed:
            check_same_order(S, dissimilarity=map_name is not None)
        given = as_proximities(X)
        S, unknown = self.note_unknown(given, S, has_nan)
        self.n_columns, self.column_names = S.shape[1], feature_names(matrix_of(X))
        self.column_ids = given.column_ids
        self.note_extras(given.extras, ids=not given.adopted)
        self.learn_fill(given.fill, S)
        if unknown and map_name == "double-centring" and self.fill is not None:
            S, unknown = self.fill(S, square=self.is_precomputed), False
        native = GivenValues(S, square=self.is_precomputed)
        if self.learns_map and map_name is not None:
            self.map = self.learned_map(S)
            S = self.similarities(S)
        return Training(self, S.shape[0], lambda: S, given.extras, native=native, unknown=unknown)

    def note_unknown(self, given: Proximities, S: Any, has_nan: bool) -> tuple[Any, bool]:
        """Record what absent entries mean, and return the matrix and whether some of its values are unknown."""
        self.absent = given.absent
        return training_values(S, has_nan, self.absent, distances=self.map_name is not None, square=self.is_precomputed)

    def learn_fill(self, fill: Any, native: Any) -> None:
        """Learn the value of unknown pairs from native values."""
        far = self.map_name is not None
        self.fill = None if fill is None else LearnedFill.learn(native, fill, dissimilarities=far)

    def adopted(self, X: Any) -> Any:
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

    def note_extras(self, extras: Extras, *, ids: bool = True) -> None:
        """Record which data came with the training samples; new rows must also have them."""
        # With fixed prototypes the columns are not the samples of the rows, so the ids of the rows do not matter.
        names = [name for name, values in extras._asdict().items() if values is not None]
        self.extras = tuple(name for name in names if name != "ids" or (ids and not self.is_columns))

    def _fit_objects(self, X: Any, y: Any, map_name: str | None, search: Any) -> Training:
        self.objects = sliceable(X)
        self.n_columns = num_samples(self.objects)
        self.measure = measure = resolve(self.similarity).learned(self.objects, y)
        native: Any = ComputedValues(measure, self.objects, self.objects)

        def load() -> Any:
            return self.similarities(pairwise(self.objects, similarity=measure))

        if search is not None or map_name is None or not self.learns_map:
            return Training(self, self.n_columns, load, native=native)
        if not learned_constants_needed(map_name):
            self.map = LearnedMap(map_name, {})
            return Training(self, self.n_columns, load, native=native)
        values = pairwise(self.objects, similarity=measure)
        self.map = self.learned_map(values)
        S = self.similarities(values)
        return Training(self, self.n_columns, lambda: S, native=GivenValues(values, square=True))

    def learned_map(self, native: Any) -> LearnedMap | None:
        """Return the map with constants learned from native values."""
        map_name = self.map_name
        if map_name is None:
            return None
        return LearnedMap.learn(native, map_name, scale=self.scale, absent=self.absent)

    def rows(self, X: Any, *, support: np.ndarray | None = None, estimator: Any = None) -> Rows:
        if not self.is_matrix:
            objects = check_objects(X)
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
                check_width(X, S.shape[1], part, estimator)
            except ValueError as error:
                raise ValueError(f"{error}{' X also contains NaN.' if has_nan else ''}") from error
        check_same_data(self, given)
        places = None if part is None else np.searchsorted(part, np.arange(self.n_columns))
        if has_nan and self.map_name == "double-centring" and self.fill is not None:
            S, has_nan = self.fill(S), False
        rows = Rows(self, S.shape[0], GivenValues(S, columns=places), given.extras, support=part, unknown=has_nan)
        rows.S = self.similarities(S)
        return rows

    @property
    def ids(self) -> Names | None:
        if self.column_ids is not None:
            # Whole numbers that a DataFrame had as index may be positions.
            return given_names(self.column_ids, adopted="ids" not in self.extras)
        return None if self.column_names is None else given_names(self.column_names)

    def similarities(self, native: Any, *, transposed: bool = False) -> Any:
        """Return native values of rows as similarities."""
        if self.map is None:
            return native
        return (self.map.transposed() if transposed else self.map)(native, name="X", absent=self.absent)

    def evidence(self, native: Any) -> np.ndarray:
        """Return for each row of native values whether it gives evidence."""
        zero = self.absent == "zero" or (self.absent == "farthest" and self.map_name is None)
        return gives_evidence(native, absent_is_zero=zero)

    def columns_read(self, used: np.ndarray) -> np.ndarray:
        """Return the columns that rows must have if the columns ``used`` are needed."""
        if self.map is not None and self.map.map_name == "double-centring":
            return np.arange(self.n_columns)
        return np.unique(used) if self.kept is None else np.arange(len(self.kept))

    def reduced_to(self, positions: np.ndarray) -> Reader:
        """Return a reader of native values that keeps only the raw objects at these positions."""
        reduced = copy.copy(self)
        reduced.map, reduced.learns_map = None, False
        if self.objects is not None:
            places = positions if self.kept is None else np.searchsorted(self.kept, positions)
            reduced.objects, reduced.kept = safe_indexing(self.objects, places), positions
            reduced.n_columns = len(positions)
        return reduced

    def _check_saved(self, sizes: Any) -> bool:
        """Return whether a loaded reader has what its contract needs."""
        if self.kept is not None and np.any(np.diff(self.kept) <= 0):
            return False
        if not self.is_matrix:
            return self.measure is not None and num_samples(self.objects) == self.n_columns
        return self.n_columns > 0 and (self.map is not None) == (self.learns_map and self.map_name is not None)
