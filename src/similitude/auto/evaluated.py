"""All methods evaluated on samples as a user gives them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from similitude._utils.checks import check_choice, check_integer, check_positive
from similitude._utils.ids import labels_in_order
from similitude.auto.comparing import compared_entries, read_compared
from similitude.auto.losses import Loss
from similitude.auto.method_results import MethodResults
from similitude.auto.methods import MIXTURES, expanding, too_large
from similitude.auto.methods import methods as methods_named
from similitude.auto.race import BudgetReport, Race
from similitude.auto.reading import entries, with_weights
from similitude.evaluation.engine import Entry
from similitude.labels import Labels, check_two_classes, encoded_labels, relative_priors
from similitude.proximity.proximities import as_proximities
from similitude.reader import Samples
from similitude.splits.leaks import folds_of_samples


@dataclass(frozen=True)
class EvaluatedMethods:
    """The results of all methods on the same samples, with what was known of these samples."""

    results: MethodResults
    labels: Labels
    groups: np.ndarray | None
    methods: dict[str, Any]
    """All methods with their grids, also those that failed or were left out."""
    budget: BudgetReport


def evaluate_methods(
    X: Any,
    y: Any,
    groups: Any = None,
    sample_weight: Any = None,
    *,
    methods: Any = "all",
    time_budget: float | None = None,
    pair_budget: Any = None,
    pairs_file: Any = None,
    cv: Any = 5,
    scoring: Any = None,
    costs: Any = None,
    priors: Any = None,
    class_weight: Any = None,
    n_repeats: int | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    similarity: Any = "precomputed",
    dissimilarity: Any = None,
    unlabelled: str | None = None,
    stops: bool = True,
) -> EvaluatedMethods:
    """Read the samples, and return the results of the methods; parameters as in ``AutoClassifier``.

    Unless ``stops``, every method is evaluated on all folds.
    """
    start = time.perf_counter()
    if time_budget is not None:
        check_positive(time_budget, "time_budget")
    if isinstance(cv, Integral) and cv < 2:
        raise ValueError(f"cv must be at least 2; got {cv!r}.")
    check_integer(n_repeats, "n_repeats", 1, none=True)
    check_integer(random_state, "random_state", 0, none=True)
    check_choice(unlabelled, "unlabelled", (None, "use"))
    samples = read_compared(X, y, similarity, dissimilarity, pair_budget, n_jobs, verbose > 0, unlabelled)
    table: Any = (
        compared_entries(methods, samples)
        if samples.pairs is not None
        else entries(methods, samples)
        if samples.named
        else methods_named(
            methods,
            n_samples=samples.n,
            unlabelled=samples.n_unlabelled > 0,
            similarity=similarity,
            dissimilarity=dissimilarity,
        )
    )
    large = _expanding(table, samples) if isinstance(methods, str) and samples.pairs is None else []
    table = {name: own for name, own in table.items() if name not in large}
    check_two_classes(np.unique(samples.y))
    groups, sample_weight = labels_in_order(groups, X, "groups"), labels_in_order(sample_weight, X, "sample_weight")
    if samples.n_unlabelled and not isinstance(X, Samples):
        groups = None if groups is None else np.asarray(groups)[samples.labelled]
        sample_weight = None if sample_weight is None else np.asarray(sample_weight)[samples.labelled]
    samples = with_weights(samples, sample_weight)
    if pairs_file is not None:
        _check_pairs_file(pairs_file, samples)
        samples.compute(show=verbose > 0, path=pairs_file)
    elif (samples.named or effective_n_jobs(n_jobs) > 1) and not samples.learns:
        samples.compute(show=verbose > 0)
    labels = relative_priors(encoded_labels(samples.y, costs, priors, class_weight), samples.sample_weight)
    repeats, groups = folds_of_samples(samples, cv, n_repeats, groups, random_state)
    results = MethodResults(samples, table, repeats, loss_of(scoring, labels))
    race = Race(results, start, time_budget, n_jobs, verbose > 0, stops=stops)
    report = race.run()
    if isinstance(methods, str) and samples.pairs is None:
        known = [name for name in too_large(samples.n) if samples.named or name not in MIXTURES]
        report = replace(report, too_large=[*known, *(name for name in large if name not in known)])
    if not results.runs:
        name, failure = next(iter(results.failures.items()))
        kind = MemoryError if failure.startswith("MemoryError") else ValueError
        raise kind(f"methods: none could be used; {name} failed with: {failure}")
    return EvaluatedMethods(results, labels, groups, table, report)


def _check_pairs_file(path: Any, samples: Samples) -> None:
    """Raise a ValueError unless all pairs of raw objects are evaluated before the folds."""
    if samples.pairs is not None:
        reason = "only some pairs are compared; name it in pair_budget=PairBudget(path=...)"
    elif samples.contract.is_matrix:
        reason = "X holds similarities that are known already"
    elif samples.learns:
        reason = "the similarity learns from the training part of each fold"
    else:
        return
    raise ValueError(f"pairs_file={str(path)!r} keeps all pairs of raw objects, but {reason}.")


def _expanding(table: dict[str, Any], samples: Any) -> list[str]:
    """Return the methods in a table that would expand the sparse matrix, or matrices, of so many samples."""
    if not samples.contract.is_matrix:
        return []
    if not all(sparse.issparse(S) for S in as_proximities(samples.values).similarities.values()):
        return []
    by_name = {name: own.method if isinstance(own, Entry) else name for name, own in table.items()}
    large = set(expanding(by_name.values(), samples.n))
    return [name for name, method in by_name.items() if method in large]


def loss_of(scoring: Any, labels: Labels) -> Loss:
    """Return the loss of a score, with the costs and class weights of the labels."""
    weights = None
    if labels.sample_weight is not None:
        by_class = np.bincount(labels.codes, labels.sample_weight) / labels.counts
        weights = by_class * len(labels) / labels.sample_weight.sum()
    return Loss(scoring, labels.costs, weights)
