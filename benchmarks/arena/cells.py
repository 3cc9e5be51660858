"""One cell of the arena: all entrants on one partition of one data set."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.arena.data import Dataset, Split
from benchmarks.arena.scores import score, score_posteriors
from benchmarks.arena.similarity_forest import forest_posteriors
from benchmarks.arena.store import Result
from benchmarks.arena.ways import Candidate, ways
from similitude.auto import COMPARED_ONLY, PEERS, CombinedMember, methods
from similitude.auto.auto import fitted_choice
from similitude.auto.choice import choose
from similitude.auto.combination import best_points, eligible
from similitude.auto.combined import combined_classifier, combined_state
from similitude.auto.evaluated import evaluate_methods
from similitude.evaluation import at_point, parameters_text
from similitude.evaluation.engine import fitted_on

MAP = "max-minus"


def run_cell(dataset: Dataset, partition: int, names: Any = "all") -> list[Result]:
    """Return the results of all entrants on one partition of one data set.

    The entrants are ``AutoClassifier`` with either preference, every single method at its best point, other ways of
    combining these methods, and a similarity forest.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    partition : int
        The number of the partition, which is the seed of all randomness.
    names : "all" or list of str, default="all"
        The methods.

    Returns
    -------
    list of Result
        One result for each entrant.
    """
    contract = {"dissimilarity": MAP} if dataset.kind == "dissimilarity" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        split = dataset.split(partition)
        return [
            *_automatic(split, partition, names, contract),
            *_single(split, partition, [*methods(), *COMPARED_ONLY] if names == "all" else names, contract),
            _forest(dataset, split, partition),
        ]


def _automatic(split: Split, partition: int, names: Any, contract: dict[str, Any]) -> list[Result]:
    """Return the results of the choice as users get it, which stops methods that are clearly worse."""
    start = time.process_time()
    evaluated = evaluate_methods(split.X_train, split.y_train, methods=names, random_state=partition, **contract)
    auto = fitted_choice(evaluated, choose(evaluated.results, "accuracy", partition), **contract)
    seconds = time.process_time() - start
    weights = ", ".join(f"{member.name} {member.weight:.2f}" for member in auto.members_)
    choice = choose(evaluated.results, "simple", partition)
    simple = fitted_choice(evaluated, choice, **contract)
    return [
        score("AutoClassifier", "auto", auto, split, seconds, weights),
        score("AutoClassifier (simple)", "auto", simple, split, seconds, choice.method),
    ]


def _single(split: Split, partition: int, names: Any, contract: dict[str, Any]) -> list[Result]:
    """Return the results of each method at its best point, on all folds, and of ways of combining them."""
    start, clock = time.process_time(), time.perf_counter()
    evaluated = evaluate_methods(
        split.X_train, split.y_train, methods=names, random_state=partition, stops=False, **contract
    )
    seconds = time.process_time() - start
    busy = seconds / (time.perf_counter() - clock)  # the times of the methods are by the clock
    results, labels = evaluated.results, evaluated.labels
    combined = {run.name for run in eligible(results)}
    found, candidates = [], []
    for name, run in results.runs.items():
        point = best_points(results, run, None)[0]
        start = time.process_time()
        parameters = results.parameters(run, point)
        estimator = fitted_on(results.whole, results.samples, at_point(run.estimator, parameters))
        none = results.no_evidence[None]
        member = CombinedMember(name, estimator, 1.0, run.temperatures[point], none)
        columns = results.columns.at(results.tested)
        left_out = run.posteriors[point], results.tested, results.parts, results.lacking > 0.5, columns
        one = combined_classifier(combined_state(results.whole, labels, [member], none, *left_out), **contract)
        posteriors = one.predict_proba(split.X_test)
        spent = busy * run.total_seconds + time.process_time() - start
        if name in combined:
            candidates.append(Candidate(run.posteriors[point], posteriors))
        kind, note = "peer" if name in PEERS else "method", parameters_text(parameters)
        found.append(score_posteriors(name, kind, posteriors, one.classes_, split, spent, note))
    for way, mean in ways(candidates, results.truth, results.classes).items():
        found.append(score_posteriors(way, "way", mean, one.classes_, split, seconds))
    return found


def _forest(dataset: Dataset, split: Split, partition: int) -> Result:
    """Return the result of a similarity forest."""
    sign = -1.0 if dataset.kind == "dissimilarity" else 1.0
    start = time.process_time()
    classes, codes = np.unique(split.y_train, return_inverse=True)
    posteriors = forest_posteriors(sign * split.X_train, codes, sign * split.X_test, len(classes), partition)
    seconds = time.process_time() - start
    return score_posteriors("similarity forest", "peer", posteriors, classes, split, seconds)
