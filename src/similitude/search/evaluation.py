"""The engine that evaluates methods, each with its grid, on samples that they were not trained on.

``PathSearchCV``, ``AutoClassifier``, the command ``compare`` and the experiments use the results of :func:`evaluate`.
On each fold, grid points and methods share the work that they have in common.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress
from similitude._utils.threads import one_openmp_thread, suitable_blas_threads
from similitude.base import GridFit, PathClassifier, SimilarityEstimator
from similitude.numerics.shared import shared_work
from similitude.reader import Reader, Samples, SeveralReader, SeveralSamples

Judge = Callable[["Batch", "Fold"], list]
"""A function of a batch and a fold that returns one result for each point of the batch."""

Method = tuple[Any, dict[str, list]]
"""An estimator and the grid from which its parameters are chosen."""


class Entry(NamedTuple):
    """A method on one of several similarities, or on all of them.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    grid : dict of lists
        The grid from which its parameters are chosen.
    similarity : str or None
        The name of the similarity that it reads; None means all, or the only one.
    method : str
        The name of the method.
    """

    estimator: Any
    grid: dict[str, list]
    similarity: str | None
    method: str


class Evaluated(NamedTuple):
    """The results of one method on one fold.

    Parameters
    ----------
    results : list
        The result of the judge for each point of the grid, in its order; empty if the method failed.
    seconds : float
        The time it took; work that methods share is attributed to the first one that needs it.
    failure : str or None
        The error message, if the method failed.
    """

    results: list[Any]
    seconds: float
    failure: str | None = None


def samples_for(estimator: Any, X: Any, y: np.ndarray) -> Any:
    """Return all samples, read according to this estimator's input contract.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    X, y
        The samples and their labels.

    Returns
    -------
    Samples or SeveralSamples
        The samples.
    """
    part, _ = reading_part(estimator)
    if reads_training(estimator):
        reader = part._new_reader()
        kind = SeveralSamples if isinstance(reader, SeveralReader) else Samples
        return kind(reader, X, y, warns=part._warns_of_dissimilarity)
    # It is not known how an estimator of another library interprets its matrix.
    reader = Reader() if get_tags(estimator).input_tags.pairwise else None
    return Samples(reader, X, y, warns=False)


def evaluate(
    samples: Any,
    methods: Mapping[str, tuple],
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    judge: Judge,
    *,
    on_error: str = "raise",
    train_too: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "2*n_jobs",
    show: bool = False,
    note: Callable[[str], None] | None = None,
) -> Iterator[dict[str, Evaluated]]:
    """Fit every method at every point of its grid on each fold, and yield the results of the judge, fold by fold.

    On each fold methods and points share the eigendecomposition, the neighbour sort and the factorisations.

    Parameters
    ----------
    samples : Samples or SeveralSamples
        The samples.
    methods : mapping of names to tuples (estimator, points) or (estimator, points, similarity)
        The methods; the points are dicts of parameters. The similarity is the name of the one that the method reads, if
        the samples have several; None, or no name, means all.
    folds : sequence of tuples (train, test)
        The positions of the samples.
    judge : callable
        ``judge(batch, fold)`` returns a result for each point of a batch.
    on_error : {"raise", "point", "method"}, default="raise"
        What happens if a fit fails: the error is raised, the judge gets a batch with the error, or the method is marked
        as failed.
    train_too : bool, default=False
        Whether batches can also predict the training samples.
    n_jobs, pre_dispatch
        The parallelism over folds, as in joblib.
    show : bool, default=False
        Whether progress over the folds is shown on stderr.
    note : callable, default=None
        Called with the name of each method before its work on a fold begins, if folds are not done in parallel.

    Yields
    ------
    dict of Evaluated
        The results of each method on one fold, by name.
    """
    parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, return_as=_return_as())
    note = note if effective_n_jobs(n_jobs) == 1 else None
    work = (delayed(evaluate_fold)(samples, methods, fold, judge, on_error, train_too, note) for fold in folds)
    yield from progress(parallel(work), len(folds), "folds", enabled=show)


def _return_as() -> str:
    """Return "generator", for the progress bar, if joblib's backend supports it, otherwise "list"."""
    return "generator" if get_active_backend()[0].supports_return_generator else "list"


def evaluate_fold(
    samples: Any,
    methods: Mapping[str, tuple],
    split: tuple[np.ndarray, np.ndarray],
    judge: Judge,
    on_error: str = "raise",
    train_too: bool = False,
    note: Callable[[str], None] | None = None,
) -> dict[str, Evaluated]:
    """Return the results of every method on one fold, by name; the parameters are those of :func:`evaluate`."""
    fold = Fold(samples, *split, train_too=train_too)
    found = {}
    with shared_work(), one_openmp_thread(), suitable_blas_threads(len(fold.y)):
        for name, (estimator, points, *similarity) in methods.items():
            if note is not None:
                note(name)
            found[name] = evaluate_method(estimator, points, fold.of(*similarity), judge, on_error)
    return found


def evaluate_method(estimator: Any, points: list[dict], fold: Fold, judge: Judge, on_error: str) -> Evaluated:
    """Return the results of one method on one fold."""
    start = time.perf_counter()
    results: list[Any] = [None] * len(points)
    try:
        for batch in fit_grid(estimator, fold, points, guarded=on_error == "point"):
            for i, result in zip(batch.indices, judge(batch, fold)):
                results[i] = result
    except Exception as error:
        if on_error != "method":
            raise
        return Evaluated([], time.perf_counter() - start, f"{type(error).__name__}: {error}")
    return Evaluated(results, time.perf_counter() - start)


def predictions(batch: Batch, fold: Fold) -> list[np.ndarray]:
    """Judge a batch by its predicted labels of the test samples."""
    return batch.answers(0, "predict")


def first_best(scores: Any) -> int:
    """Return the position of the best point: the first with the highest mean score, like ``GridSearchCV``.

    ``scores`` has the shape (folds, points).
    """
    return int(np.argmax(np.average(np.asarray(scores).T, axis=1)))


def at_point(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a copy of the estimator with these parameters, which is not fitted.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    parameters : dict
        The values of the parameters by name.

    Returns
    -------
    estimator
        The copy.
    """
    return clone(estimator).set_params(**clone(dict(parameters), safe=False))


class Fold:
    """One fold of the samples, in the form that each estimator needs; the values are selected when they are first used.

    Parameters
    ----------
    samples : Samples
        The samples.
    train, test : ndarrays of int
        The positions of the training samples and of the test samples.
    train_too : bool, default=False
        Whether the training samples are evaluated as well; they are then the second target.
    """

    def __init__(self, samples: Any, train: np.ndarray, test: np.ndarray, train_too: bool = False):
        self.samples, self.train = samples, train
        self._targets = [test, train] if train_too else [test]
        self.y = samples.y[train]
        self.truths = [samples.y[target] for target in self._targets]

    @cached_property
    def _read(self) -> tuple[Any, list[Any]]:
        training, rows = self.samples.fold(self.train, self._targets[0])
        return training, [rows, *(self.samples.fold(self.train, target)[1] for target in self._targets[1:])]

    @cached_property
    def _native(self) -> dict[bool, tuple[Any, list[Any]]]:
        return {}

    @cached_property
    def _parts(self) -> dict[str, Fold]:
        return {}

    def of(self, similarity: str | None = None) -> Fold:
        """Return the fold with one of several similarities; None means the fold itself."""
        if similarity is None:
            return self
        if similarity not in self._parts:
            part = Fold(self.samples.parts[similarity], self.train, self._targets[0], len(self._targets) > 1)
            self._parts[similarity] = part
        return self._parts[similarity]

    def given_to(self, estimator: Any) -> tuple[Any, list[Any]]:
        """Return the training part and the targets: already read for our own estimators, else as they were given."""
        if reads_training(estimator):
            return self._read
        pairwise = bool(get_tags(estimator).input_tags.pairwise)
        return self.as_given(pairwise)

    def as_given(self, pairwise: bool) -> tuple[Any, list[Any]]:
        """Return the training part and the targets as the user gave them; with ``pairwise`` both axes are selected."""
        if pairwise not in self._native:
            parts = [self.samples.native(self.train, target, pairwise) for target in self._targets]
            self._native[pairwise] = parts[0][0], [test for _, test in parts]
        return self._native[pairwise]


def reading_part(estimator: Any) -> tuple[Any, str]:
    """Return the part of an estimator that reads its input, and the prefix of that part's parameters.

    Parameters
    ----------
    estimator : estimator
        An estimator or a pipeline.

    Returns
    -------
    part : estimator
        The estimator, or the first step of the pipeline.
    prefix : str
        The prefix, such as ``"step__"``, or "".
    """
    prefix = ""
    while isinstance(estimator, Pipeline) and estimator.steps:
        name, estimator = estimator.steps[0]
        prefix += f"{name}__"
    return estimator, prefix


def reads_training(estimator: Any) -> bool:
    """Return whether an estimator accepts samples that have been read already."""
    part, _ = reading_part(estimator)
    return isinstance(part, SimilarityEstimator) and part._takes_training


class Batch:
    """Grid points that were fitted together, or the error if the fit failed.

    Attributes
    ----------
    indices : list of int
        The positions of the points in the grid.
    seconds : float
        The time of the fit.
    error : str or None
        The traceback, if the fit failed.
    """

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

    def _answers(self, X, response):
        return self._fit.answers(X, response)

    def fitted(self, j):
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

    def _answers(self, X, response):
        return [getattr(self.estimator, response)(X)] * len(self.indices)

    def fitted(self, j):
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
    yield from _fit_grid(estimator, X, fold.y, targets, grid, guarded)


def _fit_grid(
    estimator: Any, X: Any, y: np.ndarray, targets: list[Any], grid: list[dict], guarded: bool
) -> Iterator[Batch]:
    together = _path_parameters(estimator, grid)
    for fixed, indices in grouped(grid, lambda name: name not in together):
        points = [{name: value for name, value in grid[i].items() if name in together} for i in indices]
        start = time.perf_counter()
        try:
            candidate = clone(estimator).set_params(**clone(fixed, safe=False))
            if isinstance(candidate, Pipeline) and together:
                yield from _pipeline(candidate, X, y, targets, points, indices, guarded)
            elif isinstance(candidate, PathClassifier):
                fit = GridFit(candidate, X, y, points)
                yield PathBatch(indices, targets, fit, time.perf_counter() - start)
            else:
                fitted = candidate.fit(X, y)
                yield PlainBatch(indices, targets, fitted, time.perf_counter() - start)
        except Exception:
            if not guarded:
                raise
            if len(indices) > 1 and together:
                # One invalid point must not make the others fail, so each is fitted on its own.
                for i in indices:
                    yield _alone(estimator, X, y, targets, grid[i], i)
            else:
                yield FailedBatch(indices, time.perf_counter() - start)


def _path_parameters(estimator: Any, grid: list[dict]) -> set[str]:
    """Return the parameters in which points that are fitted together may differ."""
    if isinstance(estimator, PathClassifier):
        return set(estimator._path_parameters)
    if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
        last = estimator.steps[-1][0]
        return {name for point in grid for name in point if name.startswith(f"{last}__")}
    return set()


def _alone(estimator: Any, X: Any, y: np.ndarray, targets: list[Any], point: dict, index: int) -> Batch:
    start = time.perf_counter()
    try:
        fitted = clone(estimator).set_params(**clone(point, safe=False)).fit(X, y)
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
    for batch in _fit_grid(last, transformed, y, after, own, guarded):
        batch.seconds += seconds * len(batch.indices) / len(indices)
        batch.indices = [indices[i] for i in batch.indices]
        yield batch.after(before.steps, name)
