"""Methods fitted at every point of a grid: points that share work are fitted together, as a batch."""

from __future__ import annotations

import copy
import time
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from similitude._utils.scikit_learn import safe_indexing
from similitude.base import GridFit, PathClassifier, path_parameters
from similitude.reader import ByName

if TYPE_CHECKING:
    from similitude.evaluation.engine import Fold


class Batch:
    """Grid points that were fitted together, or the error if the fit failed."""

    error: str | None = None

    def __init__(self, indices: list[int], targets: list[Any], seconds: float = 0.0):
        self.indices, self.targets, self.seconds = indices, targets, seconds
        self._wrap: Callable[[Any], Any] = lambda estimator: estimator
        self._known: dict[tuple[int, str], list[np.ndarray]] = {}

    def answers(self, target: int, response: str) -> list[np.ndarray]:
        """Return the answer of each point for a target, which is computed once."""
        if (target, response) not in self._known:
            self._known[target, response] = self._answers(self.targets[target], response)
        return self._known[target, response]

    def _answers(self, X: Any, response: str) -> list[np.ndarray]:
        raise NotImplementedError

    def told_apart(self, response: str, own: np.ndarray) -> list[np.ndarray] | None:
        """Return the answers of all points for the first target, with columns for some classes of each row."""
        return None

    def of_rows(self, rows: np.ndarray) -> Batch:
        """Return the batch with some of the rows of the first target alone."""
        part = copy.copy(self)
        target = self.targets[0]
        part.targets = [
            target.each(lambda own: own.take(rows)) if isinstance(target, ByName) else safe_indexing(target, rows)
        ]
        part._known = {}
        return part

    def fitted(self, j: int) -> Any:
        """Return the estimator fitted at the j-th point, whose input are the ``targets``."""
        raise NotImplementedError

    def whole(self, j: int) -> Any:
        """Return the estimator fitted at the j-th point with the steps before it, which takes X as the user gave it."""
        return self._wrap(self.fitted(j))

    def after(self, steps: list, name: str) -> Batch:
        """Return the batch as part of a pipeline with these steps before it."""
        wrap = self._wrap
        self._wrap = lambda estimator: Pipeline([*steps, (name, wrap(estimator))])
        return self


class PathBatch(Batch):
    """Points of a path, which were fitted at once."""

    def __init__(self, indices: list[int], targets: list[Any], fit: GridFit, seconds: float):
        super().__init__(indices, targets, seconds)
        self._fit = fit

    def _answers(self, X: Any, response: str) -> list[np.ndarray]:
        return self._fit.answers(X, response)

    def told_apart(self, response: str, own: np.ndarray) -> list[np.ndarray] | None:
        return self._fit.told_apart(self.targets[0], response, own)

    def fitted(self, j: int) -> Any:
        return self._fit.at(j)

    @property
    def estimator(self) -> Any:
        """The estimator that was fitted, with other parameters."""
        return self._fit.estimator

    @property
    def classes(self) -> np.ndarray:
        """The classes, in the order of posteriors."""
        return self._fit.labels.classes


class PlainBatch(Batch):
    """Equal points, which were fitted as one."""

    def __init__(self, indices: list[int], targets: list[Any], estimator: Any, seconds: float):
        super().__init__(indices, targets, seconds)
        self.estimator = estimator

    def _answers(self, X: Any, response: str) -> list[np.ndarray]:
        return [getattr(self.estimator, response)(X)] * len(self.indices)

    def fitted(self, j: int) -> Any:
        return self.estimator

    @property
    def classes(self) -> np.ndarray:
        """The classes, in the order of posteriors."""
        return self.estimator.classes_


class FailedBatch(Batch):
    """Points whose fit failed."""

    def __init__(self, indices: list[int], seconds: float):
        super().__init__(indices, [], seconds)
        self.error = traceback.format_exc()


def grouped(grid: list[dict], chosen: Callable[[str], bool]) -> Iterator[tuple[dict, list[int]]]:
    """Yield the points that agree in the chosen parameters: these parameters, and the positions of the points."""
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


def fit_grid(estimator: Any, fold: Fold, grid: list[dict], guarded: bool) -> Iterator[Batch]:
    """Fit every point of a grid on the training part of a fold, and yield batches as they are ready.

    Points that differ only in the estimator's path parameters share one path; points of a pipeline that differ only in
    its last step share the steps before it; the others are fitted one by one. With ``guarded`` a fit that fails gives a
    batch with its error.
    """
    X, targets = fold.given_to(estimator)
    yield from _fit_grid(estimator, X, fold.y, targets, grid, guarded, fold.sample_weight)


def uses_weights(estimator: Any) -> bool:
    """Return whether an estimator uses sample weights; of a pipeline the last step."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return has_fit_parameter(last, "sample_weight")


def weight_arguments(estimator: Any, weights: np.ndarray | None) -> dict[str, Any]:
    """Return the weights as an argument of ``fit``; nothing if there are none, or if the estimator cannot use them."""
    if weights is None or not uses_weights(estimator):
        return {}
    if not isinstance(estimator, Pipeline):
        return {"sample_weight": weights}
    return {f"{estimator.steps[-1][0]}__sample_weight": weights}


def _fit_grid(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    targets: list[Any],
    grid: list[dict],
    guarded: bool,
    weights: np.ndarray | None,
) -> Iterator[Batch]:
    together = _path_parameters(estimator, grid)
    for fixed, indices in grouped(grid, lambda name: name not in together):
        points = [{name: value for name, value in grid[i].items() if name in together} for i in indices]
        start = time.perf_counter()
        try:
            candidate = clone(estimator).set_params(**clone(fixed, safe=False))
            if isinstance(candidate, Pipeline) and together:
                yield from _pipeline(candidate, X, y, targets, points, indices, guarded, weights)
            elif isinstance(candidate, PathClassifier):
                fit = GridFit(candidate, X, y, points, weights if uses_weights(candidate) else None)
                yield PathBatch(indices, targets, fit, time.perf_counter() - start)
            else:
                fitted = candidate.fit(X, y, **weight_arguments(candidate, weights))
                yield PlainBatch(indices, targets, fitted, time.perf_counter() - start)
        except Exception:
            if not guarded:
                raise
            if len(indices) > 1 and together:
                # One invalid point must not make the others fail, so each is fitted on its own.
                for i in indices:
                    yield _alone(estimator, X, y, targets, grid[i], i, weights)
            else:
                yield FailedBatch(indices, time.perf_counter() - start)


def _path_parameters(estimator: Any, grid: list[dict]) -> set[str]:
    """Return the parameters in which points that are fitted together may differ."""
    if isinstance(estimator, PathClassifier):
        return set(path_parameters(estimator))
    if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
        last = estimator.steps[-1][0]
        return {name for point in grid for name in point if name.startswith(f"{last}__")}
    return set()


def _alone(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    targets: list[Any],
    point: dict,
    index: int,
    weights: np.ndarray | None,
) -> Batch:
    start = time.perf_counter()
    try:
        candidate = clone(estimator).set_params(**clone(point, safe=False))
        fitted = candidate.fit(X, y, **weight_arguments(candidate, weights))
        return PlainBatch([index], targets, fitted, time.perf_counter() - start)
    except Exception:
        return FailedBatch([index], time.perf_counter() - start)


def _pipeline(
    pipeline: Pipeline,
    X: Any,
    y: np.ndarray,
    targets: list[Any],
    points: list[dict],
    indices: list[int],
    guarded: bool,
    weights: np.ndarray | None,
) -> Iterator[Batch]:
    """Fit the steps before the last one once, and the last step at the points of its grid on their output."""
    start = time.perf_counter()
    name, last = pipeline.steps[-1]
    if last == "passthrough" or last is None:
        raise ValueError("the last step of the pipeline must be an estimator.")
    before = Pipeline(pipeline.steps[:-1])
    transformed = before.fit_transform(X, y)
    after = [before.transform(target) for target in targets]
    seconds = time.perf_counter() - start
    own = [{key.removeprefix(f"{name}__"): value for key, value in point.items()} for point in points]
    for batch in _fit_grid(last, transformed, y, after, own, guarded, weights):
        batch.seconds += seconds * len(batch.indices) / len(indices)
        batch.indices = [indices[i] for i in batch.indices]
        yield batch.after(before.steps, name)
