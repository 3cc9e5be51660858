"""The fitted reader: all that is needed of the training samples to read new rows in one similarity."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from similitude._utils.ids import Names, column_names_of, column_order, given_names, some
from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude._utils.warn import warn
from similitude.proximity.check import SimilarityWarning, read_similarity
from similitude.proximity.proximities import Proximities, as_proximities, at_columns
from similitude.proximity.unknown import LearnedFill, row_values
from similitude.reader.contract import Contract, is_dict, matrix_of, named_errors
from similitude.reader.training import ByName, Rows
from similitude.reader.values import ComputedValues, GivenValues
from similitude.similarities.pairwise import check_objects
from similitude.similarities.registry import Measure


@dataclass(frozen=True, eq=False)
class Reader(Contract):
    """A contract with what was learned from the training samples: it reads new rows, and nothing changes it."""

    n_columns: int = 0
    objects: Any = None
    """The training samples, if they are raw objects."""
    measure: Measure | None = None
    map: Any = None
    """The learned map from native values to similarities; None if they are similarities."""
    absent: Any = "zero"
    fill: LearnedFill | None = None
    column_names: np.ndarray | None = None
    column_ids: np.ndarray | None = None
    extras: tuple[str, ...] = ()
    """The names of the data that came with the training samples; new rows must also have them."""
    kept: np.ndarray | None = None
    """The positions of the objects, if only some are kept."""
    both_directions: bool = False
    """Whether similarities of new raw objects that must be symmetric are averaged over both directions."""

    def rows(self, X: Any, *, support: np.ndarray | None = None, estimator: Any = None) -> Rows:
        """Return the rows of new samples, of which only the columns in ``support`` need be given."""
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
                _check_width(X, S.shape[1], part, estimator)
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


def training_columns(X: Any, own: Names | None, support: np.ndarray | None = None) -> tuple[Any, np.ndarray | None]:
    """Return X with the columns of the training samples in their order, matched by id where both sides have ids."""
    given = column_names_of(X)
    if own is None or given is None:
        return X, None
    order, restricted, strange = column_order(own, given, support)
    if strange:
        warn(f"X: {len(strange)} columns are not training samples and are ignored: {some(strange)}.", SimilarityWarning)
    return X if order is None else at_columns(X, np.array(order)), support if restricted else None


def _check_width(X: Any, width: int, part: np.ndarray | None, estimator: Any) -> None:
    """Check the number and the names of the columns: those of all training samples, or only those in ``part``.

    The columns of ``Proximities`` with ids have been matched already.
    """
    matched = isinstance(X, Proximities) and X.column_ids is not None
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
