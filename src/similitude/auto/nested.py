"""Nested cross-validation of several methods and of their combination, which share the work on each fold."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress, working
from similitude._utils.warn import silenced
from similitude.auto.combination import best_points, combine
from similitude.auto.evaluated import loss_of
from similitude.auto.leaderboard import COMBINATION, LeaderboardRow, balanced_error, by_evidence
from similitude.auto.losses import Loss
from similitude.auto.method_results import MethodResults
from similitude.auto.methods import COMPARED_ONLY
from similitude.auto.race import Race, interrupts_raise
from similitude.evaluation.answers import answered
from similitude.evaluation.engine import Method, absolute, evaluate_fold, given_to
from similitude.evaluation.folds import Split, stratified_folds
from similitude.evaluation.parameters import parameters_text
from similitude.evaluation.relative import are_relative
from similitude.labels import Labels, encoded_labels
from similitude.numerics.significance import standard_error
from similitude.numerics.votes import rescaled_by_priors
from similitude.reader import Samples

INNER_FOLDS = 5
NO_TIME = "left out: there was no time for it"


@dataclass(frozen=True)
class Decision:
    """What counts as good, as in ``AutoClassifier``: the score, the costs, the priors and the class weights."""

    scoring: Any = None
    costs: Any = None
    priors: Any = None
    class_weight: Any = None


class Tested(NamedTuple):
    """The result of one method on one outer fold; ``truth`` and ``predicted`` are positions of classes."""

    seconds: float
    parameters: dict[str, Any]
    truth: np.ndarray | None = None
    predicted: np.ndarray | None = None
    posteriors: np.ndarray | None = None
    lacking: np.ndarray | None = None
    failure: str | None = None


class _OuterFold:
    """A function that tunes every method on the training part of an outer fold, refits it there, and tests it."""

    def __init__(
        self,
        samples: Samples,
        methods: dict[str, Method],
        groups: np.ndarray | None,
        seed: int,
        decision: Decision,
    ):
        self.samples, self.methods, self.groups, self.seed = samples, methods, groups, seed
        self.decision = decision

    def __call__(self, train: np.ndarray, test: np.ndarray, seconds: float | None) -> dict[str, Tested]:
        """Return the results of all methods, and of their combination, within a time budget."""
        with silenced():
            part = self.samples.part(train)
            groups = None if self.groups is None else self.groups[train]
            folds = stratified_folds(part.y, INNER_FOLDS, groups, self.seed)
            own = self.decision
            labels = encoded_labels(part.y, own.costs, own.priors, own.class_weight)
            results = MethodResults(part, self.methods, [folds], loss_of(own.scoring, labels))
            with interrupts_raise():
                Race(results, time.perf_counter(), seconds, None, False, stops=False).run()
            return self._tested(results, labels, train, test)

    def _tested(self, results: MethodResults, labels: Labels, train: np.ndarray, test: np.ndarray) -> dict[str, Tested]:
        found = {name: Tested(0.0, {}, failure=why) for name, why in results.failures.items()}
        found |= {name: Tested(0.0, {}, failure=NO_TIME) for name in results.left_out}
        members = combine(results, self.seed)[0] if results.runs else []
        posteriors: dict[str, dict[int, np.ndarray]] = {}
        classes = np.unique(self.samples.y)
        truth = np.searchsorted(classes, self.samples.y[test])
        places = np.searchsorted(classes, results.classes)
        lacking = ~self.samples.evidence(train, test)
        for name, run in results.runs.items():
            best = int(best_points(results, run, None)[0])
            points = list(dict.fromkeys([best, *(m.point for m in members if m.run is run)]))
            method = {name: (run.estimator, [run.points[i] for i in points])}
            evaluated = evaluate_fold(self.samples, method, (train, test), answered, "method")[name]
            seconds = evaluated.seconds + run.total_seconds
            if evaluated.failure is not None:
                found[name] = Tested(seconds, {}, failure=evaluated.failure)
                continue
            posteriors[name] = {
                point: run.temperatures[point].posteriors(columns[:, places].astype(float))
                for point, (_, columns) in zip(points, evaluated.results)
            }
            for own in posteriors[name].values():
                own[lacking] = results.no_evidence[None].posterior
            answers = self._decided(results, labels, posteriors[name][best], places, len(classes))
            found[name] = Tested(seconds, run.points[best], truth, *answers, lacking)
        members = [member for member in members if member.run.name in posteriors]
        if members:
            mean = sum(member.weight * posteriors[member.run.name][member.point] for member in members)
            total = sum(tested.seconds for tested in found.values())
            answers = self._decided(results, labels, mean, places, len(classes))
            found[COMBINATION] = Tested(total, {}, truth, *answers, lacking)
        return found

    def _decided(
        self, results: MethodResults, labels: Labels, posteriors: Any, places: np.ndarray, n_classes: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the predicted classes and the posteriors under the class weights and priors, for all classes."""
        posteriors = results.weighted(posteriors)
        if labels.priors is not None:
            posteriors = rescaled_by_priors(posteriors, labels.priors, labels.shares)
        whole = np.zeros((len(posteriors), n_classes))
        whole[:, places] = posteriors
        return places[results.loss.decisions(posteriors)], whole


def nested_errors(
    samples: Samples,
    methods: dict[str, Method],
    *,
    folds: int,
    seed: int,
    n_jobs: int,
    show: bool,
    groups: np.ndarray | None = None,
    time_budget: float | None = None,
    decision: Decision = Decision(),
) -> list[LeaderboardRow]:
    """Return the results of the methods and of their combination by nested cross-validation, the best first.

    The parameters and the weights are chosen by 5 folds within each outer training part. With a score or costs in
    ``decision`` the best have the best score or the least mean cost; with priors, errors are those under the priors.
    """
    start = time.perf_counter()
    splits = stratified_folds(samples.y, folds, groups, seed)
    table, done = methods, []
    share = None
    if time_budget is not None:
        share = float(time_budget) * min(effective_n_jobs(n_jobs), len(splits)) / len(splits)
        with working("the first outer fold", show):
            done.append(_OuterFold(samples, methods, groups, seed, decision)(*splits[0], share))
        slow = [name for name, tested in done[0].items() if tested.failure == NO_TIME]
        methods = {name: method for name, method in methods.items() if name not in slow}
    task = _OuterFold(samples, methods, groups, seed, decision)
    left = splits[len(done) :]
    at_once = len(left) if time_budget is None else effective_n_jobs(n_jobs)
    steps = progress(_in_turn(task, left, at_once, n_jobs), len(left), "outer folds", enabled=show)
    for found in steps:
        done.append(found)
        late = time_budget is not None and time.perf_counter() - start > time_budget
        if late and len(done) > 1 and (len(done) - 1) % at_once == 0:
            break
    return _for_all(_standings(done, samples, decision), table, samples)


def _for_all(rows: list[LeaderboardRow], methods: dict[str, Method], samples: Samples) -> list[LeaderboardRow]:
    """Return the standings with parameters for a fit on all samples, in place of those relative to their scale."""
    if not are_relative([row.parameters for row in rows]):
        return rows
    whole, found = samples.whole(), []
    for row in rows:
        if are_relative([row.parameters]):
            estimator = methods[row.method][0]
            training = given_to(whole, samples, estimator)
            row = replace(row, parameters=absolute(estimator, training, [row.parameters])[0])
        found.append(row)
    return found


def _in_turn(task: Any, splits: list[Split], at_once: int, n_jobs: int) -> Any:
    """Yield the results of the outer folds, some of which are done at the same time."""
    for i in range(0, len(splits), max(1, at_once)):
        part = splits[i : i + at_once]
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(*split, None) for split in part)


def _standings(done: list[dict[str, Tested]], samples: Samples, decision: Decision) -> list[LeaderboardRow]:
    names = dict.fromkeys(name for fold in done for name in fold)
    labels = encoded_labels(samples.y, decision.costs, decision.priors, decision.class_weight)
    loss = loss_of(decision.scoring, labels)
    standings = [
        _standing(name, [fold[name] for fold in done if name in fold], len(done), labels, loss) for name in names
    ]
    is_scored = decision.scoring is not None or decision.costs is not None
    worked = [s for s in standings if s.failure is None]
    worked.sort(key=lambda s: (s.loss, s.error) if is_scored else s.error)
    failed = [s for s in standings if s.failure is not None]
    if len({s.method for s in worked} - {COMBINATION, *COMPARED_ONLY}) < 2:  # there was nothing to combine
        worked, failed = ([s for s in rows if s.method != COMBINATION] for rows in (worked, failed))
    if not worked:
        raise ValueError(f"no method could be used; {failed[0].method} failed with {failed[0].failure}")
    return [*worked, *failed]


def _standing(name: str, found: list[Tested], n_folds: int, labels: Labels, loss: Loss) -> LeaderboardRow:
    seconds = sum(tested.seconds for tested in found)
    failure = next((tested.failure for tested in found if tested.failure is not None), None)
    if failure is None and len(found) < n_folds:
        failure = "no method could be used in some fold"
    if failure is not None:
        return LeaderboardRow(name, None, None, seconds=seconds, failure=failure)
    truth, predicted, posteriors, lacking = (
        np.concatenate([getattr(tested, own) for tested in found])
        for own in ("truth", "predicted", "posteriors", "lacking")
    )
    wrong = (predicted != truth).astype(float)
    weights = np.ones(len(truth)) if labels.priors is None else (labels.priors / labels.shares)[truth]
    ends = np.cumsum([len(tested.lacking) for tested in found])[:-1]  # type: ignore[arg-type]
    parts = zip(np.split(wrong, ends), np.split(weights, ends))
    errors = np.array([np.average(own, weights=weight) if weight.any() else 0.0 for own, weight in parts])
    by_text = {parameters_text(tested.parameters): tested.parameters for tested in found}
    most = Counter(parameters_text(tested.parameters) for tested in found).most_common(1)[0][0]
    row = LeaderboardRow(name, float(np.mean(errors)), standard_error(errors), by_text[most], seconds)
    mean_loss = float(loss.mean(posteriors, truth, labels.classes))
    score = None if loss.scoring_is_default else loss.score(mean_loss)
    row = replace(row, loss=mean_loss, score=score, balanced_error=balanced_error(wrong, truth))
    return replace(row, **by_evidence(wrong, lacking.astype(float)))
