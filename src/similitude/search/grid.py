"""Fitting a grid of parameters on one fold, sharing what its points share."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from similitude.proximity.split import cut


class LazyBlock:
    """A block of a matrix that is cut out only if somebody looks at its entries."""

    def __init__(self, S: np.ndarray, rows: np.ndarray, columns: np.ndarray):
        self._S, self._rows, self._columns = S, rows, columns
        self._block: np.ndarray | None = None
        self.shape = (len(rows), len(columns))
        self.dtype = S.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if self._block is None:
            self._block = cut(self._S, self._rows, self._columns)
        return np.asarray(self._block, dtype=dtype)


@dataclass
class Member:
    """One fitted grid point, and what it is to predict on.

    Of a pipeline, ``estimator`` is the last step alone and X what comes to it from the steps before; ``whole`` is the
    pipeline and ``original`` its input, for scorers that look at more than predictions.
    """

    estimator: Any
    X: Any
    whole: Any
    original: Any


@dataclass
class Batch:
    """Grid points that were fitted together: ``members[t][j]`` answers for point ``indices[j]`` on target t."""

    indices: list[int]
    members: list[list[Member]] | None
    """None where the fit failed."""
    seconds: float
    error: str | None = None


def grouped(grid: list[dict], chosen: Callable[[str], bool]) -> Iterator[tuple[dict, list[int]]]:
    """Grid points that agree in the chosen parameters: those parameters, and the points' positions."""
    groups: list[tuple[dict, list[int]]] = []
    for i, point in enumerate(grid):
        fixed = {name: value for name, value in point.items() if chosen(name)}
        for known, indices in groups:
            if known.keys() == fixed.keys() and all(_same(known[name], fixed[name]) for name in fixed):
                indices.append(i)
                break
        else:
            groups.append((fixed, [i]))
    yield from groups


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (str, int, float, bool, tuple)) and a == b


def evaluate_grid(
    estimator: Any, X_train: Any, y_train: Any, targets: list[Any], grid: list[dict], guarded: bool
) -> Iterator[Batch]:
    """Fit every grid point on one training part; yields batches as they are ready.

    Points that differ only in what the estimator has a path for share one path; points of a pipeline that differ
    only in its last step share the steps before; the rest is fitted one by one. With ``guarded`` a fit that fails
    gives a batch with its error.
    """
    path = _has_path(estimator, grid)
    if path:
        together = set(estimator._path_parameters)
    elif isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
        last = estimator.steps[-1][0]
        together = {name for point in grid for name in point if name.startswith(f"{last}__")}
    else:
        together = set()
    for fixed, indices in grouped(grid, lambda name: name not in together):
        points = [{name: value for name, value in grid[i].items() if name in together} for i in indices]
        start = time.perf_counter()
        try:
            candidate = clone(estimator).set_params(**clone(fixed, safe=False))
            if path:
                members = _path_members(candidate, X_train, y_train, targets, points)
                yield Batch(indices, members, time.perf_counter() - start)
            elif together:
                yield from _pipeline(candidate, X_train, y_train, targets, points, indices, guarded)
            else:
                fitted = candidate.fit(_entries(X_train), y_train)
                members = [[Member(fitted, X, fitted, X)] * len(indices) for X in targets]
                yield Batch(indices, members, time.perf_counter() - start)
        except Exception:
            if not guarded:
                raise
            if len(indices) > 1 and together:
                # One bad point must not fail the others: each on its own tells which.
                for i, point in zip(indices, points):
                    yield _alone(estimator, {**fixed, **point}, X_train, y_train, targets, i)
            else:
                yield Batch(indices, None, time.perf_counter() - start, traceback.format_exc())


def _has_path(estimator: Any, grid: list[dict]) -> bool:
    """Whether the estimator takes matrices and has a path: one on raw objects, as a last step, is fitted plainly."""
    if not hasattr(estimator, "_predict_path") or any(
        name.startswith("similarity") for point in grid for name in point
    ):
        return False
    return getattr(estimator, "_is_matrix", True)


def _entries(X: Any) -> Any:
    return np.asarray(X) if isinstance(X, LazyBlock) else X


def _alone(estimator: Any, point: dict, X_train: Any, y_train: Any, targets: list[Any], index: int) -> Batch:
    start = time.perf_counter()
    try:
        fitted = clone(estimator).set_params(**clone(point, safe=False)).fit(_entries(X_train), y_train)
        members = [[Member(fitted, X, fitted, X)] for X in targets]
        return Batch([index], members, time.perf_counter() - start)
    except Exception:
        return Batch([index], None, time.perf_counter() - start, traceback.format_exc())


def _pipeline(
    pipeline: Pipeline, X_train: Any, y_train: Any, targets: list, points: list, indices: list, guarded: bool
) -> Iterator[Batch]:
    """The steps before the last are fitted once; the last step gets its own grid on what comes out of them."""
    start = time.perf_counter()
    name, last = pipeline.steps[-1]
    before = Pipeline(pipeline.steps[:-1])
    transformed = before.fit_transform(_entries(X_train), y_train)
    originals, targets = targets, [before.transform(X) for X in targets]
    seconds = time.perf_counter() - start
    own = [{key.removeprefix(f"{name}__"): value for key, value in point.items()} for point in points]
    if last == "passthrough" or last is None:
        raise ValueError("the last step of the pipeline must be an estimator.")
    for batch in evaluate_grid(last, transformed, y_train, targets, own, guarded):
        batch.seconds += seconds * len(batch.indices) / len(indices)
        batch.indices = [indices[i] for i in batch.indices]
        for members, original in zip(batch.members or [], originals):
            for member in members:
                member.whole = Pipeline([*before.steps, (name, member.whole)])
                member.original = original
        yield batch


def _path_members(estimator: Any, X_train: Any, y_train: Any, targets: list, points: list) -> list:
    members = []
    for X in targets:
        path = _Path(estimator, X_train, y_train, X, points)
        path.responses("predict")
        stand_ins = [_PathMember(path, i) for i in range(len(points))]
        members.append([Member(stand_in, X, stand_in, X) for stand_in in stand_ins])
    return members


class _Path:
    """The answers of one estimator over its whole path, each kind computed when it is first asked for."""

    def __init__(self, estimator, X_train, y_train, X_test, points):
        self.estimator, self.points = estimator, points
        self.X_train, self.y_train, self.X_test = X_train, y_train, X_test
        self._answers: dict[str, list[np.ndarray]] = {}

    def responses(self, kind: str) -> list[np.ndarray]:
        if kind not in self._answers:
            self._answers[kind] = self.estimator._predict_path(
                self.X_train, self.y_train, self.X_test, self.points, response=kind
            )
        return self._answers[kind]


def _estimator_has(method: str):
    return available_if(lambda member: hasattr(member._path.estimator, method))


class _PathMember:
    """Stands in for the estimator fitted at one point of a path.

    It answers from the path about the rows the path was made for. Whatever else a scorer asks of it, or about other
    rows, comes from the estimator itself, which is then fitted.
    """

    def __init__(self, path: _Path, index: int):
        self._path, self._index = path, index
        self._estimator: Any = None

    def _fitted(self) -> Any:
        if self._estimator is None:
            path = self._path
            candidate = clone(path.estimator).set_params(**path.points[self._index])
            self._estimator = candidate.fit(_entries(path.X_train), path.y_train)
        return self._estimator

    def _answer(self, kind: str, X: Any) -> np.ndarray:
        if X is self._path.X_test:
            return self._path.responses(kind)[self._index]
        return getattr(self._fitted(), kind)(X)

    def __sklearn_tags__(self):
        return get_tags(self._path.estimator)

    @property
    def classes_(self):
        return self._path.estimator.classes_

    def predict(self, X):
        return self._answer("predict", X)

    @_estimator_has("predict_proba")
    def predict_proba(self, X):
        return self._answer("predict_proba", X)

    @_estimator_has("decision_function")
    def decision_function(self, X):
        return self._answer("decision_function", X)

    def __getattr__(self, name: str):
        if name.startswith("__") or name in ("predict_proba", "decision_function"):
            raise AttributeError(name)
        return getattr(self._fitted(), name)
