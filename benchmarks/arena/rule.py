"""The rule by which a method was chosen before methods were combined, on the methods and grids of that time.

Ten stratified folds; of the methods whose 0/1 error exceeds the smallest by no more than its standard error over the
folds, the simplest. The error at the best point of a grid is corrected for the choice of that point by bootstrap
samples of the predictions, as in Tsamardinos et al. (2018). Dissimilarities are mapped by max-minus.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import ParameterGrid

from similitude.auto import PEERS, methods
from similitude.evaluation import at_point, evaluate, stratified_folds
from similitude.evaluation.engine import absolute, given_to, predictions
from similitude.numerics.significance import standard_error
from similitude.reader import Samples

N_FOLDS = 10
N_BOOTSTRAPS = 200


class Tuned(NamedTuple):
    """One method at the point of lowest mean error over the folds."""

    estimator: Any
    error: float
    spread: float
    seconds: float


def tuned_methods(samples: Samples, seed: int, names: Any) -> dict[str, Tuned]:
    """Return every method of that time with its best parameters, simplest first; those that failed are left out."""
    table = {name: method for name, method in methods(names).items() if name not in PEERS}
    points = {name: list(ParameterGrid(grid)) for name, (_, grid) in table.items()}
    folds = stratified_folds(samples.y, N_FOLDS, None, seed)
    candidates = {name: (estimator, points[name]) for name, (estimator, _) in table.items()}
    done = list(evaluate(samples, candidates, folds, predictions, on_error="method"))
    truths, whole = [samples.y[test] for _, test in folds], samples.whole()
    found = {}
    for name in table:
        if any(fold[name].failure is not None for fold in done):
            continue
        wrong = [np.array(fold[name].results) != truth for fold, truth in zip(done, truths)]
        best = int(np.argmax(np.average([1 - each.mean(axis=1) for each in wrong], axis=0)))
        errors = np.array([each[best].mean() for each in wrong])
        seconds = sum(fold[name].seconds for fold in done)
        error = float(errors.mean()) + _optimism(np.concatenate(wrong, axis=1).astype(float), best)
        chosen = absolute(table[name][0], given_to(whole, samples, table[name][0]), [points[name][best]])[0]
        estimator = at_point(table[name][0], chosen)
        found[name] = Tuned(estimator, error, standard_error(errors), seconds)
    return found


def chosen(found: dict[str, Tuned]) -> str:
    """Return the name of the method that the rule chooses."""
    best = min(found.values(), key=lambda tuned: tuned.error)
    return next(name for name, tuned in found.items() if tuned.error <= best.error + best.spread + 1e-12)


def _optimism(wrong: np.ndarray, best: int) -> float:
    """Return by how much points chosen on bootstrap samples are worse than the best point on the samples not drawn."""
    n = wrong.shape[1]
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=N_BOOTSTRAPS).astype(float)
    left = drawn == 0
    more = ((wrong[np.argmin(wrong @ drawn.T, axis=0)] - wrong[best]) * left).sum(axis=1)
    return float(np.mean(more / np.maximum(left.sum(axis=1), 1)))
