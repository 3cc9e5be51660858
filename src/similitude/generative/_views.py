"""The similarities, features or raw objects in X that each part of a fused classifier uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from similitude._utils.ids import Names, as_ids, column_names_of, first_number, given_names, numbered_names
from similitude._utils.scikit_learn import num_samples
from similitude.base import SimilarityEstimator, contract_of
from similitude.proximity.check import dense, read_similarity
from similitude.proximity.proximities import Proximities, as_proximities
from similitude.proximity.unknown import LearnedFill, fill_needed
from similitude.reader import training_columns


class View(NamedTuple):
    """The input of one part.

    ``kind`` is "similarities", "features", or "objects" for X itself; ``takes_proximities`` is True if the part accepts
    ``Proximities`` instead of a matrix.
    """

    name: str
    kind: str
    takes_proximities: bool

    @classmethod
    def of(cls, name: str, part: Any) -> View:
        """Return the view of a part."""
        reading = part  # the estimator that reads X: the first step of a pipeline, what a search tunes
        while not isinstance(reading, SimilarityEstimator) and (
            isinstance(reading, Pipeline) or hasattr(reading, "estimator")
        ):
            reading = reading.steps[0][1] if isinstance(reading, Pipeline) else reading.estimator
        is_ours = isinstance(reading, SimilarityEstimator)
        if get_tags(part).input_tags.pairwise:
            return cls(name, "similarities", is_ours)
        on_objects = is_ours and not contract_of(reading).is_matrix
        return cls(name, "objects" if on_objects else "features", is_ours)

    def __call__(self, X: Any, fill: LearnedFill | None, *, square: bool) -> Any:
        """Return the input of the part in X; ``fill`` replaces unknown similarities for a part that needs all pairs."""
        if self.kind == "objects":
            return X
        try:
            given = as_proximities(X)
        except ValueError as error:
            raise ValueError(
                f"X: the part {self.name!r} needs {self.kind}, but X seems to hold raw objects: {error}"
            ) from error
        if self.kind == "features" and given.features is not None:
            several = isinstance(given.features, dict)
            return self._own(given.features, "feature sets") if several else given.features
        S = self._own(given.similarities, "similarities")
        S = np.asarray(S) if hasattr(S, "iloc") else S  # the reader has matched the columns
        if self.kind == "similarities" and self.takes_proximities:  # the part knows what to do with unknown ones
            return given.replaced(S) if isinstance(X, Proximities) else S
        if given.absent == "unknown" if sparse.issparse(S) else np.isnan(np.asarray(S, dtype=float)).any():
            if fill is None:
                raise fill_needed(f"the part {self.name!r}", S)
            return fill(_with_nan(S), square=square)
        return S if self.kind == "similarities" else dense(S)

    def learned_fill(self, X: Any, distances: bool) -> LearnedFill | None:
        """Return the value of unknown similarities, learned from the training samples; None if the part needs none."""
        if not isinstance(X, Proximities) or X.fill is None or self.kind == "objects":
            return None
        if X.features is not None if self.kind == "features" else self.takes_proximities:
            return None
        S = self._own(X.similarities, "similarities")
        if sparse.issparse(S) and X.absent != "unknown":
            return None
        return LearnedFill.learn(_with_nan(S), X.fill, dissimilarities=distances)

    def _own(self, values: dict, what: str) -> Any:
        """Return the value of the part's name, or the only one there is."""
        if len(values) > 1 and self.name not in values:
            known = ", ".join(map(repr, values))
            raise ValueError(f"X: the part {self.name!r} needs {what} of its name; X holds several, named {known}.")
        return values[self.name] if self.name in values else next(iter(values.values()))


@dataclass(frozen=True)
class FusedReader:
    """Reader of X for all parts, which checks that X holds the same inputs as in ``fit``."""

    views: list[View]
    held: dict[str, list[str]] = field(default_factory=dict)
    """The names of the similarities and features in X."""
    fills: dict[str, LearnedFill] = field(default_factory=dict)
    column_ids: np.ndarray | None = None
    first_column: tuple[int, int] | None = None
    """The number of the first column, and how many there are, if pandas numbered them."""

    @classmethod
    def of(cls, parts: Sequence[tuple[str, Any]]) -> FusedReader:
        """Return a reader that has not seen samples yet."""
        return cls([View.of(name, part) for name, part in parts])

    @property
    def kinds(self) -> set[str]:
        """The kinds of the parts' inputs."""
        return {view.kind for view in self.views}

    @property
    def ids(self) -> Names | None:
        """The names of the training samples, to which the columns of new rows are matched; None without any."""
        if self.first_column is not None:
            return numbered_names(*self.first_column)
        return None if self.column_ids is None else given_names(self.column_ids, adopted=True)

    def fit(self, X: Any, estimator: Any) -> FusedTraining:
        """Return the training samples as the input of each part."""
        X = self._checked(X, True, estimator)
        by_name = "similarities" in self.kinds
        column_ids = as_ids(column_names_of(X)) if by_name else None
        first = first_number(X) if by_name else None
        distances = any(getattr(part, "dissimilarity", None) is not None for _, part in estimator._parts)
        learned = {view.name: view.learned_fill(X, distances) for view in self.views}
        fills = {name: fill for name, fill in learned.items() if fill is not None}
        first_column = None if first is None else (first, X.shape[1])
        fitted = replace(self, held=_held(X), fills=fills, column_ids=column_ids, first_column=first_column)
        return FusedTraining(fitted, num_samples(X), fitted._inputs(X, square=True))

    def rows(self, X: Any, estimator: Any) -> dict[str, Any]:
        """Return new samples as the input of each part, by its name."""
        X = self._checked(training_columns(X, self.ids)[0], False, estimator)
        self._check_held(_held(X))
        return self._inputs(X, square=False)

    def _inputs(self, X: Any, *, square: bool) -> dict[str, Any]:
        return {view.name: view(X, self.fills.get(view.name), square=square) for view in self.views}

    def _checked(self, X: Any, square: bool, estimator: Any) -> Any:
        """Return X with checked similarities; the parts check all other input."""
        if isinstance(X, Proximities) or "similarities" not in self.kinds:
            return X
        S, _ = read_similarity(
            X, name="X", square=square, orientation="dissimilarity", estimator=estimator, takes_nan=True
        )
        return X if hasattr(X, "iloc") else S

    def _check_held(self, held: dict[str, list[str]]) -> None:
        """Raise an error if the samples hold other inputs than in ``fit``, which a part would use silently."""
        kinds = self.kinds - {"objects"}
        for what, given in held.items():
            known = self.held[what]
            # If there is one on both sides, and one of them has no name, they count as the same.
            same = set(known) == set(given) or (len(known) == len(given) == 1 and "" in (*known, *given))
            is_used = what in kinds or (what == "similarities" and kinds and not self.held["features"])
            if is_used and not same:
                then, now = (", ".join(name or what for name in names) or "none" for names in (known, given))
                raise ValueError(f"X must hold the same {what} as in fit ({then}); got {now}.")


@dataclass(frozen=True)
class FusedTraining:
    """Training samples as the input of each part, by its name."""

    reader: FusedReader
    n: int
    views: dict[str, Any]

    def __len__(self) -> int:
        return self.n


def _with_nan(S: Any) -> np.ndarray:
    """Return the matrix as a dense array in which absent entries, which are unknown, are NaN."""
    if not sparse.issparse(S):
        return np.asarray(S, dtype=float)
    entries = S.tocoo()
    values = np.full(S.shape, np.nan)
    values[entries.row, entries.col] = entries.data
    return values


def _held(X: Any) -> dict[str, list[str]]:
    if not isinstance(X, Proximities):
        return {"similarities": [""], "features": []}
    features = X.features if isinstance(X.features, dict) else [] if X.features is None else [""]
    return {"similarities": ["" if name == "S" else name for name in X.similarities], "features": list(features)}
