"""The one way in: X is read and checked once, and the whole, or folds, are taken from it."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.forms import is_frame
from similitude._utils.ids import as_ids, first_number, names_of, object_columns
from similitude._utils.progress import progress
from similitude._utils.scikit_learn import feature_names, num_samples, safe_indexing
from similitude.proximity.check import read_similarity, warn_of_dissimilarity
from similitude.proximity.maps import LearnedMap, learned_constants_needed
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.proximity.split import cut
from similitude.proximity.symmetry import check_same_order
from similitude.proximity.unknown import LearnedFill, training_values
from similitude.reader.reader import (
    LANDMARKS,
    NEIGHBORS,
    Contract,
    Reader,
    are_several,
    compared_input,
    matrix_of,
)
from similitude.reader.training import NO_EXTRAS, ByName, Rows, Training, named_errors
from similitude.reader.values import ComputedValues, GivenValues
from similitude.similarities.pair_store import matrices
from similitude.similarities.pairwise import Named, named_values, pairwise, sliceable
from similitude.similarities.registry import Measure, resolve

_SOME = 6
"""The number of raw objects among which a function of the user's is tried."""


class Samples:
    """All samples in one similarity, or in several by name, read and checked once.

    ``named`` is whether similarities were given by name, which the results of methods on them then show.
    Without a contract they are the input of an estimator that reads it itself, such as feature vectors.
    """

    def __init__(
        self,
        contract: Contract | None,
        X: Any,
        y: Any = None,
        *,
        warns: bool = True,
        estimator: Any = None,
        named: bool | None = None,
    ):
        self.contract: Any = contract
        self.y, self.X = y, X
        self.sample_weight: np.ndarray | None = None
        if named is None:
            named = contract is not None and are_several(contract.similarity, X, contract.dissimilarity)
        self.named = named
        self._read: dict[str, _Read] = {}
        if contract is not None:
            self.X = contract.adopted(X) if contract.is_matrix else sliceable(X)
            self.contract = contract = contract.learned_from(self.X)
            each = contract.by_name(self.X)
            for name, (own, given) in each.items():
                with named_errors(name, len(each)):
                    self._read[name] = _Read(own, given, y, warns, estimator, name if len(each) > 1 else None)
        self.n = num_samples(self.X)
        self.everything: Samples | None = None
        self.labelled: np.ndarray = np.arange(0)

    def labelled_part(self, labelled: np.ndarray, y: np.ndarray) -> Samples:
        """Return the samples that have a label, at ascending positions; the others are there for methods that use them.

        Folds and the whole then have ``everything``: the same with the samples without a label as training samples.
        """
        found = self.part(labelled)
        found.y, found.everything, found.labelled = y, self, labelled
        return found

    @cached_property
    def _unlabelled(self) -> np.ndarray:
        """The positions, among all samples, of those without a label."""
        everything: Any = self.everything
        return np.setdiff1d(np.arange(everything.n), self.labelled)

    @property
    def n_unlabelled(self) -> int:
        """The number of samples without a label."""
        return 0 if self.everything is None else len(self._unlabelled)

    def _trained_on(self, train: np.ndarray) -> np.ndarray:
        """Return the positions, among all samples, of training samples and of those without a label."""
        return np.sort(np.concatenate([self.labelled[train], self._unlabelled]))

    pairs: Any = None
    """What compared the raw objects, if only some of their pairs were compared."""
    pair_report: Any = None
    """What these comparisons were spent on."""

    @classmethod
    def compared(cls, map_name: str | None, compared: Any, pairs: Any, report: Any, y: Any) -> Samples:
        """Return raw objects of which some pairs were compared: as rows of neighbours, and as columns of landmarks."""
        contracts = {NEIGHBORS: Contract(dissimilarity=map_name)}
        contracts[LANDMARKS] = Contract("columns", map_name, takes_columns=True)
        samples = cls(None, compared.landmarks, y, named=True)
        samples.contract, samples.pairs, samples.pair_report = contracts[NEIGHBORS], pairs, report
        given = compared_input(compared)
        samples._read = {name: _Read(own, given[name], y, warns=False) for name, own in contracts.items()}
        return samples

    @cached_property
    def parts(self) -> dict[str, Samples]:
        """The samples in each of the similarities, by name; a single one is named "S"."""
        return {name: self.of(name) for name in self._read}

    def of(self, name: str | None) -> Samples:
        """Return the samples in one of the similarities; None means all."""
        if name is None:
            return self
        own = self._read[name]
        everything = None if self.everything is None else self.everything.of(name)
        return self._with({name: own}, contract=own.contract, X=own.X, named=False, everything=everything)

    def _with(self, read: dict[str, _Read], **changes: Any) -> Samples:
        other = copy.copy(self)
        for name in ("parts", "values", "_unlabelled"):
            vars(other).pop(name, None)
        vars(other).update(changes, _read=read)
        return other

    @cached_property
    def values(self) -> Any:
        """The native values between all samples, in ``Proximities`` if there are several or if X was given so.

        Those of raw objects are computed once, by a similarity that has learned from all of them.
        """
        matrices = {name: own.values for name, own in self._read.items()}
        if isinstance(self.X, Proximities):
            return self.X.replaced(matrices, self.X.features)
        return Proximities(matrices) if len(matrices) > 1 else next(iter(matrices.values()))

    def compute(self, *, show: bool = False, path: Any = None) -> None:
        """Compute the values of raw objects in every similarity now, so that no fold and no process does it again.

        A file at the path keeps them, and a later run with the same objects and similarities takes them from there.
        """
        if path is not None:
            measures = {name: own._measure for name, own in self._read.items()}
            for name, values in matrices(measures, self.X, path, show).items():
                self._read[name].values = values
        elif not self.contract.is_matrix:
            for own in progress(self._read.values(), len(self._read), "similarities", enabled=show):
                own.values  # noqa: B018 - it is kept

    @property
    def unknown(self) -> bool:
        """Whether some values are unknown."""
        return any(own.unknown for own in self._read.values())

    @property
    def learns(self) -> bool:
        """Whether a similarity learns from data; each fold then has its own values."""
        return any(own.learns for own in self._read.values())

    def whole(self) -> ByName[Training]:
        """Return all samples as training samples."""
        found = {}
        for name, own in self._read.items():
            with named_errors(name, len(self._read)):
                found[name] = own.whole()
        if self.everything is None:
            return ByName(found)
        return ByName(found, everything=self.everything.whole(), labelled=self.labelled)

    def fold(self, train: np.ndarray, test: np.ndarray) -> tuple[ByName[Training], ByName[Rows]]:
        """Return the training samples of a fold and the rows of its test samples; values are cut out at first use."""
        folds = {name: own.fold(train, test) for name, own in self._read.items()}
        training = ByName({name: part for name, (part, _) in folds.items()})
        rows = ByName({name: part for name, (_, part) in folds.items()})
        if self.everything is None:
            return training, rows
        used = self._trained_on(train)
        training_too, rows_too = self.everything.fold(used, self.labelled[test])
        positions = np.searchsorted(used, self.labelled[train])
        return replace(training, everything=training_too, labelled=positions), replace(rows, everything=rows_too)

    def evidence(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return for each test sample of a fold whether its row to the training samples of the fold gives evidence."""
        if self.everything is not None:
            return self.everything.evidence(self._trained_on(train), self.labelled[test])
        return np.logical_or.reduce([own.evidence(train, test) for own in self._read.values()])

    def native(self, train: np.ndarray, test: np.ndarray, pairwise: bool) -> tuple[Any, Any]:
        """Return the training part and the test part of X for an estimator that does not use a reader."""
        if not pairwise:
            return safe_indexing(self.X, train), safe_indexing(self.X, test)
        return cut(self.values, train, train), cut(self.values, test, train)

    def precomputed(self) -> Samples:
        """Return the same samples as precomputed matrices of native values."""
        if self.contract is None or self.contract.is_matrix:
            return self
        if not self.named:
            found = Samples(Contract("precomputed", self.contract.map_name), self.values, self.y, warns=False)
        else:
            maps = {name: own.contract.map_name for name, own in self._read.items()}
            values = {name: own.values for name, own in self._read.items()}
            found = Samples(Contract("precomputed", maps, takes_several=True), values, self.y, warns=False)
        found.sample_weight = self.sample_weight
        return found

    def part(self, rows: np.ndarray) -> Samples:
        """Return some of the samples; those without a label are kept."""
        if self.everything is not None:
            kept = self._trained_on(rows)
            y = safe_indexing(self.y, rows)
            positions = np.searchsorted(kept, self.labelled[rows])
            found = self.everything.part(kept).labelled_part(positions, y)
            found.sample_weight = None if self.sample_weight is None else self.sample_weight[rows]
            return found
        read = {name: own.part(rows) for name, own in self._read.items()}
        if len(read) == 1:
            X = next(iter(read.values())).X
        else:
            X = cut(self.X, rows, rows) if isinstance(self.X, Proximities) else safe_indexing(self.X, rows)
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return self._with(read, X=X, y=safe_indexing(self.y, rows), n=len(rows), sample_weight=weights)


class _Read:
    """All samples in one similarity: the native values between them, checked, or computed when they are needed."""

    def __init__(
        self,
        contract: Contract,
        X: Any,
        y: Any,
        warns: bool = True,
        estimator: Any = None,
        one_of: str | None = None,
    ):
        self.contract, self.y = contract, y
        entry = "" if one_of is None else f"[{one_of!r}]"
        self._search, map_name = contract.check_search(), contract.map_name
        self.extras, self.absent, self.unknown = NO_EXTRAS, "zero", False
        if not contract.is_matrix:
            self.X = sliceable(X, resolve(contract.similarity))
            # A finder counts every evaluation, so that none is spent on a warning.
            if warns and map_name is None and self._search is None:
                self._check_orientation(f"similarity{entry}", one_of)
            return
        self.X = X
        S, has_nan = read_similarity(
            matrix_of(X),
            name="X",
            square=not contract.is_columns,
            orientation="dissimilarity",
            estimator=estimator,
            takes_nan=True,
        )
        if warns and map_name is None and not contract.is_columns:
            warn_of_dissimilarity(S, f"X{entry}", one_of)
        if contract.is_precomputed:
            check_same_order(S, dissimilarity=map_name is not None)
        given = as_proximities(X)
        self.extras, self.absent = given.extras, given.absent
        S, self.unknown = training_values(
            S, has_nan, given.absent, distances=map_name is not None, square=contract.is_precomputed
        )
        self.values = S if sparse.issparse(S) else np.asarray(S)

    def _check_orientation(self, argument: str, one_of: str | None) -> None:
        """Warn if a function of which nothing is known looks like a distance, from its values among a few samples."""
        measure, n = resolve(self.contract.similarity), num_samples(self.X)
        if measure.known:
            return
        some = np.unique(np.linspace(0, n - 1, min(n, _SOME)).astype(int))
        values = named_values(Named(safe_indexing(self.X, some), some), None, self._measure)
        warn_of_dissimilarity(values, f"{argument}={measure.name}", one_of)

    @cached_property
    def _measure(self) -> Measure:
        """The similarity of raw objects, after it has learned from all of them if it learns."""
        return resolve(self.contract.similarity).learned(self.X, self.y)

    @cached_property
    def values(self) -> Any:
        """The native values between all samples."""
        return pairwise(self.X, similarity=self._measure)

    @property
    def learns(self) -> bool:
        """Whether the similarity learns from data."""
        return not self.contract.is_matrix and resolve(self.contract.similarity).learns

    def whole(self) -> Training:
        """Return all samples as training samples; of raw objects nothing is computed before it is needed."""
        computes = self.learns or self._search is not None or "values" not in vars(self)
        training = self._learned() if computes else self._taken(None)
        if training.reader.map is not None and isinstance(training.native, GivenValues):
            training.S  # noqa: B018 - values that cannot be mapped raise an error here
        return training

    def fold(self, train: np.ndarray, test: np.ndarray) -> tuple[Training, Rows]:
        """Return the training samples of a fold and the rows of its test samples."""
        if self.learns:
            training = self._of_objects(train)._learned(announced=False)
            return training, training.reader.rows(safe_indexing(self.X, test))
        training = self._taken(train)
        reader, columns = training.reader, None if self.contract.is_columns else train
        # For a matrix, predict gets only the rows, so the other direction must not be used.
        native = GivenValues(self.values, test, columns, square=not reader.is_matrix)
        if self.unknown and not training.unknown:
            native = native.filled(reader.fill)
        objects = None if reader.is_matrix else safe_indexing(self.X, test)
        options: dict[str, Any] = {"objects": objects, "unknown": training.unknown, "announced": False}
        return training, Rows(reader, len(test), native, self.extras.take(test), **options)

    def _of_objects(self, rows: np.ndarray, **changes: Any) -> _Read:
        contract = replace(self.contract, search="matrix", **changes)
        return _Read(contract, safe_indexing(self.X, rows), safe_indexing(self.y, rows), warns=False)

    def _learned(self, announced: bool = True) -> Training:
        """Return all samples, raw objects, as training samples, from which the similarity and its map learn."""
        contract, objects = self.contract, self.X
        n, map_name = num_samples(objects), contract.map_name
        measure = self._measure
        native: Any = ComputedValues(measure, objects, objects)
        learned = None
        if map_name is not None and contract.learns_map and self._search is None:  # a finder learns it by itself
            if learned_constants_needed(map_name):
                native = GivenValues(native.whole(), square=True)
                learned = contract.learned_map(native.values, self.absent)
            else:
                learned = LearnedMap(map_name, {})
        about = {"objects": objects, "object_columns": object_columns(objects)}
        reader = Reader(**vars(contract), n_columns=n, measure=measure, map=learned, **about)
        return Training(reader, n, native, announced=announced)

    def _taken(self, rows: np.ndarray | None) -> Training:
        """Return some of the samples, or all, as training samples; values are read only if a map or a fill learns."""
        contract, whole = self.contract, rows is None
        columns = None if contract.is_columns else rows
        native = GivenValues(self.values, rows, columns, square=not contract.is_columns)
        n = self.values.shape[0] if rows is None else len(rows)
        about: dict[str, Any] = {"n_columns": self.values.shape[1] if columns is None else n, "absent": self.absent}
        if not contract.is_matrix:
            about |= {
                "measure": resolve(contract.similarity),
                "objects": self.X if whole else safe_indexing(self.X, rows),
                "object_columns": object_columns(self.X),
            }
        elif whole:
            given = as_proximities(self.X)
            column_ids = given.column_ids
            if column_ids is None and contract.is_precomputed and getattr(names_of(self.X), "kind", None) == "ids":
                column_ids = as_ids(names_of(self.X))  # of a DataFrame whose columns pandas numbered
            about |= {"column_names": feature_names(matrix_of(self.X)), "column_ids": column_ids}
            about["first_column"] = first_number(self.X) if is_frame(self.X) else None
            about["extras"] = _names_of(self.extras, ids=not given.adopted and not contract.is_columns)
        map_name, unknown = contract.map_name, self.unknown
        fill = self.X.fill if isinstance(self.X, Proximities) else None
        if fill is not None:
            about["fill"] = LearnedFill.learn(native.whole(), fill, dissimilarities=map_name is not None)
            if unknown and map_name == "double-centring":  # which needs all values
                native, unknown = native.filled(about["fill"]), False
        values = None
        if contract.learns_map and map_name is not None:
            values = native.whole()
            about["map"] = contract.learned_map(values, self.absent)
        reader = Reader(**vars(contract if whole else replace(contract, search="matrix")), **about)
        load = None if values is None else (lambda: reader.similarities(values))
        extras = self.extras if rows is None else self.extras.take(rows)
        return Training(reader, n, native, extras, load=load, unknown=unknown, announced=whole)

    def evidence(self, train: np.ndarray, test: np.ndarray) -> np.ndarray:
        """Return for each test sample of a fold whether its row to the training samples of the fold gives evidence."""
        if self.learns:
            reader = self._of_objects(train, learns_map=False)._learned().reader
            return reader.rows(safe_indexing(self.X, test)).evidence
        if self.extras.features is not None:
            return np.ones(len(test), dtype=bool)
        values = cut(self.values, test, np.arange(self.values.shape[1]) if self.contract.is_columns else train)
        return self.contract.evidence(values, self.absent)

    def part(self, rows: np.ndarray) -> _Read:
        """Return some of the samples."""
        if self.learns:
            return self._of_objects(rows)
        part = copy.copy(self)
        vars(part).pop("_measure", None)
        columns = np.arange(self.values.shape[1]) if self.contract.is_columns else rows
        part.y, part.values = safe_indexing(self.y, rows), cut(self.values, rows, columns)
        part.extras, part.X = self.extras.take(rows), part.values
        if isinstance(self.X, Proximities):
            part.X = cut(self.X, rows, columns)
        elif not self.contract.is_matrix:
            part.X = safe_indexing(self.X, rows)
        return part


def _names_of(extras: Any, *, ids: bool) -> tuple[str, ...]:
    """Return the names of the data that came with the training samples."""
    # With fixed prototypes the columns are not the samples of the rows, so the ids of the rows do not matter.
    given = extras._asdict()
    return tuple(name for name, values in given.items() if values is not None and (name != "ids" or ids))
