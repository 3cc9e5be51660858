"""One cell of the arena: all entrants on one partition of one data set."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.arena import rule
from benchmarks.arena.data import Dataset, Split
from benchmarks.arena.scores import score, score_posteriors
from benchmarks.arena.similarity_forest import forest_posteriors
from benchmarks.arena.store import Result
from benchmarks.arena.ways import N_POINTS, Candidate, ways
from similitude.auto import COMPARED_ONLY, PEERS, CombinedMember, methods
from similitude.auto.auto import fitted_choice
from similitude.auto.choice import choose
from similitude.auto.combination import best_points, eligible
from similitude.auto.combined import combined_classifier, combined_state
from similitude.auto.evaluated import evaluate_methods
from similitude.evaluation import at_point, parameters_text
from similitude.evaluation.engine import fitted_on
from similitude.proximity import LearnedMap
from similitude.reader import Contract, Samples

MAP = "max-minus"


def run_cell(dataset: Dataset, partition: int, names: Any = "all") -> list[Result]:
    """Return the results of all entrants on one partition of one data set.

    The entrants are ``AutoClassifier`` with either preference, every single method at its best point, other ways of
    combining these methods, a similarity forest, and the one-standard-error rule with the methods and grids to which
    it was applied before methods were combined.

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
    names = [*methods(), *COMPARED_ONLY] if names == "all" else names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        split = dataset.split(partition)
        return [
            *_today(dataset, split, partition, names),
            _forest(dataset, split, partition),
            *_before(dataset, split, partition, names),
        ]


def _today(dataset: Dataset, split: Split, partition: int, names: Any) -> list[Result]:
    contract = {"dissimilarity": MAP} if dataset.kind == "dissimilarity" else {}
    start = time.perf_counter()
    evaluated = evaluate_methods(split.X_train, split.y_train, methods=names, random_state=partition, **contract)
    results = evaluated.results
    auto = fitted_choice(evaluated, choose(results, "accuracy", partition), **contract)
    seconds = time.perf_counter() - start
    weights = ", ".join(f"{member.name} {member.weight:.2f}" for member in auto.members_)
    found = [score("AutoClassifier", "auto", auto, split, seconds, weights)]
    choice = choose(results, "simple", partition)
    simple = fitted_choice(evaluated, choice, **contract)
    found.append(score("AutoClassifier (simple)", "auto", simple, split, seconds, choice.method))
    whole = results.whole
    combined = {run.name for run in eligible(results)}
    candidates = []
    for name, run in results.runs.items():
        points = best_points(results, run, None)[: N_POINTS if name in combined else 1].tolist()
        for place, point in enumerate(points):
            start = time.perf_counter()
            estimator = fitted_on(whole, results.samples, at_point(run.estimator, results.parameters(run, point)))
            none = results.no_evidence[None]
            member = CombinedMember(name, estimator, 1.0, run.temperatures[point], none)
            columns = results.columns.at(results.tested)
            left_out = run.posteriors[point], results.tested, results.parts, results.lacking > 0.5, columns
            one = combined_classifier(combined_state(whole, evaluated.labels, [member], none, *left_out), **contract)
            posteriors = one.predict_proba(split.X_test)
            if name in combined:
                candidates.append(Candidate(place, run.posteriors[point], posteriors))
            if place == 0:
                spent = run.total_seconds + time.perf_counter() - start
                kind = "peer" if name in PEERS else "method"
                note = parameters_text(results.parameters(run, point))
                found.append(score_posteriors(name, kind, posteriors, auto.classes_, split, spent, note))
    for way, mean in ways(candidates, results.truth, results.classes).items():
        found.append(score_posteriors(way, "way", mean, auto.classes_, split, seconds))
    return found


def _forest(dataset: Dataset, split: Split, partition: int) -> Result:
    """Return the result of the method that was tried and left out."""
    sign = -1.0 if dataset.kind == "dissimilarity" else 1.0
    start = time.perf_counter()
    classes, codes = np.unique(split.y_train, return_inverse=True)
    posteriors = forest_posteriors(sign * split.X_train, codes, sign * split.X_test, len(classes), partition)
    seconds = time.perf_counter() - start
    return score_posteriors("similarity forest", "tried", posteriors, classes, split, seconds)


def _before(dataset: Dataset, split: Split, partition: int, names: Any) -> list[Result]:
    X_train, X_test = split.X_train, split.X_test
    if dataset.kind == "dissimilarity":
        to_similarity = LearnedMap.learn(X_train, MAP)
        X_train, X_test = to_similarity(X_train), to_similarity(X_test)
    mapped = split._replace(X_train=X_train, X_test=X_test)
    samples = Samples(Contract(), X_train, split.y_train, warns=False)
    tuned = rule.tuned_methods(samples, partition, names)
    whole = samples.whole()
    found = []
    for name, each in tuned.items():
        start = time.perf_counter()
        fitted: Any = fitted_on(whole, samples, each.estimator)
        seconds = each.seconds + time.perf_counter() - start
        found.append(score(f"{name} (earlier grid)", "earlier grid", fitted, mapped, seconds))
    name = rule.chosen(tuned)
    own = next(result for result in found if result.entrant == f"{name} (earlier grid)")
    total = sum(each.seconds for each in tuned.values())
    return [Result("one-standard-error rule", "earlier rule", own.error, own.brier, own.ece, total, name), *found]
