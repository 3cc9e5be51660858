"""Nested cross-validation of several methods and of their combination, which share the work on each fold."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from similitude._utils.progress import progress, working
from similitude._utils.warn import silenced
from similitude.auto.combination import best_points, combine
from similitude.auto.leaderboard import COMBINATION, LeaderboardRow, by_evidence
from similitude.auto.losses import Loss
from similitude.auto.method_results import MethodResults
from similitude.auto.methods import COMPARED_ONLY
from similitude.auto.race import Race, interrupts_raise
from similitude.evaluation.answers import answered
from similitude.evaluation.engine import Method, absolute, evaluate_fold, given_to
from similitude.evaluation.folds import Split, stratified_folds
from similitude.evaluation.parameters import parameters_text
from similitude.evaluation.relative import are_relative
from similitude.numerics.significance import standard_error
from similitude.reader import Samples

INNER_FOLDS = 5
NO_TIME = "left out: there was no time for it"


class Tested(NamedTuple):
    """The result of one method on one outer fold."""

    wrong: np.ndarray | None
    seconds: float
    parameters: dict[str, Any]
    lacking: np.ndarray | None = None
    failure: str | None = None


class _OuterFold:
    """A function that tunes every method on the training part of an outer fold, refits it there, and tests it."""

    def __init__(self, samples: Samples, methods: dict[str, Method], groups: np.ndarray | None, seed: int):
        self.samples, self.methods, self.groups, self.seed = samples, methods, groups, seed

    def __call__(self, train: np.ndarray, test: np.ndarray, seconds: float | None) -> dict[str, Tested]:
        """Return the results of all methods, and of their combination, within a time budget."""
        with silenced():
            part = self.samples.part(train)
            groups = None if self.groups is None else self.groups[train]
            folds = stratified_folds(part.y, INNER_FOLDS, groups, self.seed)
            results = MethodResults(part, self.methods, [folds], Loss(None, None, None))
            with interrupts_raise():
                Race(results, time.perf_counter(), seconds, None, False, stops=False).run()
            return self._tested(results, train, test)

    def _tested(self, results: MethodResults, train: np.ndarray, test: np.ndarray) -> dict[str, Tested]:
        found = {name: Tested(None, 0.0, {}, failure=why) for name, why in results.failures.items()}
        found |= {name: Tested(None, 0.0, {}, failure=NO_TIME) for name in results.left_out}
        members = combine(results, self.seed)[0] if results.runs else []
        posteriors: dict[str, dict[int, np.ndarray]] = {}
        truth = self.samples.y[test]
        lacking = ~self.samples.evidence(train, test)
        for name, run in results.runs.items():
            best = int(best_points(results, run, None)[0])
            points = list(dict.fromkeys([best, *(m.point for m in members if m.run is run)]))
            method = {name: (run.estimator, [run.points[i] for i in points])}
            evaluated = evaluate_fold(self.samples, method, (train, test), answered, "method")[name]
            seconds = evaluated.seconds + run.total_seconds
            if evaluated.failure is not None:
                found[name] = Tested(None, seconds, {}, failure=evaluated.failure)
                continue
            places = np.searchsorted(np.unique(self.samples.y), results.classes)
            posteriors[name] = {
                point: run.temperatures[point].posteriors(columns[:, places].astype(float))
                for point, (_, columns) in zip(points, evaluated.results)
            }
            for own in posteriors[name].values():
                own[lacking] = results.no_evidence[None].posterior
            predicted = results.classes[np.argmax(posteriors[name][best], axis=1)]
            found[name] = Tested(predicted != truth, seconds, run.points[best], lacking)
        members = [member for member in members if member.run.name in posteriors]
        if members:
            mean = sum(member.weight * posteriors[member.run.name][member.point] for member in members)
            total = sum(tested.seconds for tested in found.values())
            found[COMBINATION] = Tested(results.classes[np.argmax(mean, axis=1)] != truth, total, {}, lacking)
        return found


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
) -> list[LeaderboardRow]:
    """Return the results of the methods and of their combination by nested cross-validation, the best first.

    The parameters and the weights are chosen by 5 folds within each outer training part.
    """
    start = time.perf_counter()
    splits = stratified_folds(samples.y, folds, groups, seed)
    table, done = methods, []
    share = None
    if time_budget is not None:
        share = float(time_budget) * min(effective_n_jobs(n_jobs), len(splits)) / len(splits)
        with working("the first outer fold", show):
            done.append(_OuterFold(samples, methods, groups, seed)(*splits[0], share))
        slow = [name for name, tested in done[0].items() if tested.failure == NO_TIME]
        methods = {name: method for name, method in methods.items() if name not in slow}
    task = _OuterFold(samples, methods, groups, seed)
    left = splits[len(done) :]
    at_once = len(left) if time_budget is None else effective_n_jobs(n_jobs)
    steps = progress(_in_turn(task, left, at_once, n_jobs), len(left), "outer folds", enabled=show)
    for found in steps:
        done.append(found)
        late = time_budget is not None and time.perf_counter() - start > time_budget
        if late and len(done) > 1 and (len(done) - 1) % at_once == 0:
            break
    return _for_all(_standings(done), table, samples)


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


def _standings(done: list[dict[str, Tested]]) -> list[LeaderboardRow]:
    names = dict.fromkeys(name for fold in done for name in fold)
    standings = [_standing(name, [fold[name] for fold in done if name in fold], len(done)) for name in names]
    worked = sorted((s for s in standings if s.failure is None), key=lambda s: s.error or 0.0)
    failed = [s for s in standings if s.failure is not None]
    if len({s.method for s in worked} - {COMBINATION, *COMPARED_ONLY}) < 2:  # there was nothing to combine
        worked, failed = ([s for s in rows if s.method != COMBINATION] for rows in (worked, failed))
    if not worked:
        raise ValueError(f"no method could be used; {failed[0].method} failed with {failed[0].failure}")
    return [*worked, *failed]


def _standing(name: str, found: list[Tested], n_folds: int) -> LeaderboardRow:
    seconds = sum(tested.seconds for tested in found)
    failure = next((tested.failure for tested in found if tested.failure is not None), None)
    if failure is None and len(found) < n_folds:
        failure = "no method could be used in some fold"
    if failure is not None:
        return LeaderboardRow(name, None, None, seconds=seconds, failure=failure)
    errors = np.array([np.mean(tested.wrong) for tested in found if tested.wrong is not None])
    by_text = {parameters_text(tested.parameters): tested.parameters for tested in found}
    most = Counter(parameters_text(tested.parameters) for tested in found).most_common(1)[0][0]
    row = LeaderboardRow(name, float(np.mean(errors)), standard_error(errors), by_text[most], seconds)
    wrong, lacking = (np.concatenate([getattr(tested, own) for tested in found]) for own in ("wrong", "lacking"))
    return replace(row, **by_evidence(wrong, lacking.astype(float)))
