"""The engine: what methods, each with its grid, answer about samples that they were not trained on.

``PathSearchCV``, ``AutoClassifier``, the command ``compare`` and the experiments read what :func:`evaluate` returns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress
from similitude.numerics.shared import shared_work
from similitude.reader import Reader, Samples
from similitude.search.grid import Batch, Fold, fit_grid, reading_part, reads_training

Judge = Callable[[Batch, Fold], list]
"""Gives one result for each point of a batch on a fold."""

Method = tuple[Any, dict[str, list]]
"""An estimator, and the grid from which its parameters are chosen."""


class Evaluated(NamedTuple):
    """One method on one fold.

    Attributes
    ----------
    results : list
        What the judge returned for each point of the grid, in its order; empty where the method failed.
    seconds : float
        The time it took; work that methods share is charged to the first that needs it.
    failure : str or None
        What went wrong.
    """

    results: list[Any]
    seconds: float
    failure: str | None = None


def samples_for(estimator: Any, X: Any, y: np.ndarray) -> Samples:
    """Return all samples, read as this estimator reads its input."""
    part, _ = reading_part(estimator)
    if reads_training(estimator):
        return Samples(part._new_reader(), X, y, warns=part._warns_of_dissimilarity)
    # What an estimator that is not ours takes its matrix for is not known.
    reader = Reader() if get_tags(estimator).input_tags.pairwise else None
    return Samples(reader, X, y, warns=False)


def evaluate(
    samples: Samples,
    methods: Mapping[str, tuple[Any, list[dict]]],
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    judge: Judge,
    *,
    on_error: str = "raise",
    train_too: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "2*n_jobs",
    show: bool = False,
) -> Iterator[dict[str, Evaluated]]:
    """Fit every method at every point of its grid on each fold, and yield what the judge returns, fold by fold.

    On each fold methods and points share the eigendecomposition, the neighbour sort and the factorisations.

    Parameters
    ----------
    samples : Samples
    methods : mapping of names to tuples (estimator, points)
        The points are dicts of parameters.
    folds : sequence of tuples (train, test)
        Positions of the samples.
    judge : callable
        ``judge(batch, fold)`` gives a result for each point of a batch.
    on_error : {"raise", "point", "method"}, default="raise"
        What becomes of an error: it is raised, or the judge gets a batch with it, or the method is marked as failed.
    train_too : bool, default=False
        Whether batches answer about the training samples, too.
    n_jobs, pre_dispatch
        As in joblib; over folds.
    show : bool, default=False
        Whether to show a progress bar over the folds, on a terminal.
    """
    parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, return_as=_return_as())
    work = (delayed(evaluate_fold)(samples, methods, fold, judge, on_error, train_too) for fold in folds)
    yield from progress(parallel(work), len(folds), "folds", enabled=show)


def _return_as() -> str:
    """One by one, for the progress bar, where joblib's backend can."""
    return "generator" if get_active_backend()[0].supports_return_generator else "list"


def evaluate_fold(
    samples: Samples,
    methods: Mapping[str, tuple[Any, list[dict]]],
    split: tuple[np.ndarray, np.ndarray],
    judge: Judge,
    on_error: str = "raise",
    train_too: bool = False,
) -> dict[str, Evaluated]:
    """Return what every method gives on one fold."""
    fold = Fold(samples, *split, train_too=train_too)
    with shared_work():
        return {name: evaluate_method(*method, fold, judge, on_error) for name, method in methods.items()}


def evaluate_method(estimator: Any, points: list[dict], fold: Fold, judge: Judge, on_error: str) -> Evaluated:
    """Return what one method gives on one fold."""
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
    """Judge: the predicted labels of the test samples."""
    return batch.answers(0, "predict")


def first_best(scores: np.ndarray) -> int:
    """Return the position of the best point: the first with the highest mean score, as ``GridSearchCV`` chooses.

    ``scores`` is (folds, points).
    """
    return int(np.argmax(np.average(np.asarray(scores).T, axis=1)))


def at_point(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """Return a copy of the estimator with these parameters."""
    return clone(estimator).set_params(**clone(dict(parameters), safe=False))
