"""Nested cross-validation of several methods, which share the work on each fold."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress
from similitude.numerics.significance import standard_error
from similitude.proximity.check import SimilarityWarning
from similitude.reader import Samples
from similitude.search.contest import Contest
from similitude.search.evaluation import Evaluated, Method, evaluate_fold, predictions
from similitude.search.parameters import parameters_text
from similitude.search.standing import Standing

INNER_FOLDS = 5


class _OuterFold:
    """A function that tunes every method on the training part of an outer fold, refits it there, and tests it."""

    def __init__(self, samples: Samples, methods: dict[str, Method], seed: int):
        self.samples, self.methods, self.seed = samples, methods, seed

    def __call__(self, train: np.ndarray, test: np.ndarray) -> dict[str, tuple[Evaluated, dict[str, Any]]]:
        """Return for each method its predictions on the test part, and the parameters that were chosen."""
        with warnings.catch_warnings():
            # The user has been warned about the matrix, and a fit that did not converge is judged by its errors.
            warnings.simplefilter("ignore", SimilarityWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
            contest = self._tuned(train)
            chosen = {name: (self.methods[name][0], [run.parameters]) for name, run in contest.runs.items()}
            found = evaluate_fold(self.samples, chosen, (train, test), predictions, "method")
        failed: dict[str, Any] = {name: (Evaluated([], 0.0, failure), {}) for name, failure in contest.failures.items()}
        return failed | {
            name: (evaluated._replace(seconds=evaluated.seconds + run.seconds), run.parameters)
            for (name, run), evaluated in zip(contest.runs.items(), found.values())
        }

    def _tuned(self, train: np.ndarray) -> Contest:
        part = self.samples.part(train)
        splitter = StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=self.seed)
        contest = Contest(part, self.methods, list(splitter.split(np.zeros(len(train)), part.y)))
        contest.run(list(self.methods), None, None, False)
        return contest


def nested_errors(
    samples: Samples, methods: dict[str, Method], *, folds: int, seed: int, n_jobs: int, show: bool
) -> list[Standing]:
    """Return the results of the methods by nested cross-validation, the best first.

    The parameters are chosen by 5 folds within each outer training part.

    Parameters
    ----------
    samples : Samples
        The samples.
    methods : dict of Method
        The methods by name.
    folds : int
        The number of outer folds.
    seed : int
        The random state for the folds.
    n_jobs : int
        The number of outer folds at the same time.
    show : bool
        Whether a progress bar is shown on a terminal.

    Returns
    -------
    list of Standing
        The results, with the parameters chosen in most folds; methods that failed come last.
    """
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(samples.n), samples.y))
    task = _OuterFold(samples, methods, seed)
    found = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(*split) for split in splits)
    done = list(progress(found, folds, "folds", enabled=show))
    truths = [samples.y[test] for _, test in splits]
    standings = [_standing(name, [fold[name] for fold in done], truths) for name in methods]
    worked = sorted((s for s in standings if s.failure is None), key=lambda s: s.error or 0.0)
    failed = [s for s in standings if s.failure is not None]
    if not worked:
        raise ValueError(f"no method could be used; {failed[0].method} failed with {failed[0].failure}")
    return [*worked, *failed]


def _standing(name: str, found: list[tuple[Evaluated, dict[str, Any]]], truths: list[np.ndarray]) -> Standing:
    seconds = sum(evaluated.seconds for evaluated, _ in found)
    failure = next((evaluated.failure for evaluated, _ in found if evaluated.failure is not None), None)
    if failure is not None:
        return Standing(name, None, None, seconds=seconds, failure=failure)
    errors = np.array([1 - np.mean(evaluated.results[0] == y) for (evaluated, _), y in zip(found, truths)])
    by_text = {parameters_text(parameters): parameters for _, parameters in found}
    most = Counter(parameters_text(parameters) for _, parameters in found).most_common(1)[0][0]
    return Standing(name, float(np.mean(errors)), standard_error(errors), by_text[most], seconds)
