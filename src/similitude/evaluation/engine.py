"""The engine that evaluates methods, each with its grid, on samples that they were not trained on.

``PathSearchCV``, ``AutoClassifier``, the command ``compare`` and the experiments use the results of :func:`evaluate`.
On each fold, grid points and methods share the work that they have in common.
"""

from __future__ import annotations

import time
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

from similitude._utils.cluster import arrived, for_jobs
from similitude._utils.progress import progress
from similitude._utils.threads import one_openmp_thread, suitable_blas_threads
from similitude.base import contract_of, takes_training, warns_of_dissimilarity
from similitude.evaluation.batches import Batch, fit_grid, weight_arguments
from similitude.evaluation.relative import Relative, are_relative, scale_of
from similitude.numerics.shared import shared_work
from similitude.reader import ByName, Contract, Samples, Training

Judge = Callable[[Batch, "Fold"], list]
"""A function of a batch and a fold that returns one result for each point of the batch."""

Method = tuple[Any, dict[str, list]]
"""An estimator and the grid from which its parameters are chosen."""


class Entry(NamedTuple):
    """A method on one of several similarities, or on all of them."""

    estimator: Any
    grid: dict[str, list]
    similarity: str | None
    method: str


class Evaluated(NamedTuple):
    """The results of one method on one fold."""

    results: list[Any]
    seconds: float
    failure: str | None = None


def samples_for(estimator: Any, X: Any, y: np.ndarray) -> Any:
    """Return all samples, read according to this estimator's input contract."""
    part, _ = reading_part(estimator)
    if reads_training(estimator):
        return Samples(contract_of(part), X, y, warns=warns_of_dissimilarity(part))
    # It is not known how an estimator of another library interprets its matrix.
    contract = Contract(takes_several=True) if get_tags(estimator).input_tags.pairwise else None
    return Samples(contract, X, y, warns=False)


def evaluate(
    samples: Any,
    methods: Mapping[str, tuple] | Sequence[Mapping[str, tuple]],
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    judge: Judge,
    *,
    on_error: str = "raise",
    train_too: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "2*n_jobs",
    show: bool = False,
    note: Callable[[str], None] | None = None,
    lasting: bool = False,
) -> Iterator[dict[str, Evaluated]]:
    """Fit every method at every point of its grid on each fold, and yield the results of the judge, fold by fold.

    On each fold methods and points share the eigendecomposition, the neighbour sort and the factorisations. A sequence
    of methods has those of each fold. With ``lasting``, later calls on the same folds find the eigendecompositions of
    this one, as far as memory allows, if they run in the same process.
    """
    parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, return_as=_return_as())
    note = note if effective_n_jobs(n_jobs) == 1 else None
    tables = [methods] * len(folds) if isinstance(methods, Mapping) else methods
    samples = for_jobs(samples)
    work = (
        delayed(evaluate_fold)(samples, table, fold, judge, on_error, train_too, note, lasting)
        for table, fold in zip(tables, folds)
    )
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
    lasting: bool = False,
) -> dict[str, Evaluated]:
    """Return the results of every method on one fold, by name; the parameters are those of :func:`evaluate`."""
    fold = Fold(arrived(samples), *split, train_too=train_too)
    found = {}
    with shared_work(lasting=lasting), one_openmp_thread(), suitable_blas_threads(len(fold.y)):
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
        points = absolute(estimator, fold.given_to(estimator)[0], points)
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


def absolute(estimator: Any, training: Any, points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return points of a grid whose relative values have become those for these training samples.

    A point with another map of dissimilarities is relative to the scale of the similarities that this map returns.
    """
    if not are_relative(points):
        return points
    own = estimator.get_params()
    keys = [key for key in own if key.split("__")[-1] == "dissimilarity"]
    maps = [next((name for key in keys if isinstance(name := {**own, **point}[key], str)), None) for point in points]
    scales = {name: scale_of(training, name) for name in {*maps}}
    return [
        {key: value.at(scales[name]) if isinstance(value, Relative) else value for key, value in point.items()}
        for name, point in zip(maps, points)
    ]


def at_point(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a copy of the estimator with these parameters, which is not fitted."""
    return clone(estimator).set_params(**clone(dict(parameters), safe=False))


class Fold:
    """One fold of the samples, in the form that each estimator needs; values are cut out at first use."""

    def __init__(self, samples: Any, train: np.ndarray, test: np.ndarray, train_too: bool = False):
        self.samples, self.train = samples, train
        self._targets = [test, train] if train_too else [test]
        self.y = samples.y[train]
        self.sample_weight = None if samples.sample_weight is None else samples.sample_weight[train]
        self.truths = [samples.y[target] for target in self._targets]

    @property
    def test(self) -> np.ndarray:
        """The positions of the test samples."""
        return self._targets[0]

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
            part = Fold(self.samples.of(similarity), self.train, self._targets[0], len(self._targets) > 1)
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
    """Return the part of an estimator that reads its input, and the prefix of that part's parameters."""
    prefix = ""
    while isinstance(estimator, Pipeline) and estimator.steps:
        name, estimator = estimator.steps[0]
        prefix += f"{name}__"
    return estimator, prefix


def reads_training(estimator: Any) -> bool:
    """Return whether an estimator accepts samples that have been read already."""
    part, _ = reading_part(estimator)
    return takes_training(part)


def given_to(whole: ByName[Training], samples: Samples, estimator: Any) -> Any:
    """Return all samples in the form in which an estimator is fitted on them; the parameters are those of fitted_on."""
    if reads_training(estimator):
        return whole
    # Rows of new samples have no names then, since their columns are matched before the estimator sees them.
    has_matrix = samples.contract is not None and samples.contract.is_matrix
    return samples.values if has_matrix or get_tags(estimator).input_tags.pairwise else samples.X


def fitted_on(whole: ByName[Training], samples: Samples, estimator: Any) -> Any:
    """Return a copy of the estimator fitted on all samples, with their weights if it uses them."""
    given = given_to(whole, samples, estimator)
    return clone(estimator).fit(given, samples.y, **weight_arguments(estimator, samples.sample_weight))
