"""The answers of several methods, each with its grid, for left-out samples of the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection import ParameterGrid

from similitude.auto.losses import Loss
from similitude.auto.no_evidence import NoEvidence, calibrated_on
from similitude.evaluation.answers import AnsweredInColumns
from similitude.evaluation.engine import Entry, Evaluated, Method, absolute, evaluate, given_to
from similitude.evaluation.folds import Split
from similitude.evaluation.relative import are_relative
from similitude.numerics.class_columns import ClassColumns, class_columns, too_many
from similitude.numerics.temperature import Temperature, fit_temperatures, floor_of, log_odds, scales, softmax
from similitude.proximity.proximities import as_proximities

SHORTLIST = 4
"""The number of best points of each method, on all samples and outside each part, that are kept in the end."""

_RANKED = 160_000
"""The temperatures for ranking points are fitted to at most so many points times samples."""
_BLOCK = 200
"""So many points are calibrated at once."""
_CALIBRATED_SAMPLES = 5_000
"""Temperatures are fitted to at most this many samples."""


class CalibratedFold(NamedTuple):
    """The answers of one method on one fold, with the calibrations on its repetition of the folds."""

    places: np.ndarray
    answers: np.ndarray
    factors: np.ndarray
    offsets: np.ndarray
    number: int


class MethodResult:
    """The answers of one method on the folds evaluated so far."""

    def __init__(
        self,
        name: str,
        estimator: Any,
        points: list[dict[str, Any]],
        similarity: str | None = None,
        method: str | None = None,
    ):
        self.name, self.estimator, self.points = name, estimator, points
        self.similarity, self.method = similarity, method or name
        self.response = ""
        self.answers: dict[int, np.ndarray] = {}
        """For each fold, by its number, the answers of the points, of shape (points, test samples, columns)."""
        self.seconds: list[float] = []
        self.shortlists: list[np.ndarray] = []
        self.calibrated: list[CalibratedFold] = []
        self.posteriors = np.empty(0)
        self.temperatures: list[Temperature] = []

    @property
    def total_seconds(self) -> float:
        """The time of all folds, on one core."""
        return sum(self.seconds)

    @property
    def by_map(self) -> dict[str, list[int]]:
        """The numbers of the points by their map of dissimilarities; points of different maps share no work."""
        found: dict[str, list[int]] = {}
        for i, point in enumerate(self.points):
            found.setdefault(_map_of(point), []).append(i)
        return found

    def take(self, number: int, points: list[int], evaluated: Evaluated) -> None:
        """Store the answers of some of the points on one more fold, or of more points on the last one."""
        self.response, answers = evaluated.results[0][0], np.stack([columns for _, columns in evaluated.results])
        if len(points) == len(self.points):
            self.answers[number] = answers
            self.seconds.append(evaluated.seconds)
            return
        if number not in self.answers:
            self.answers[number] = np.empty((len(self.points), *answers.shape[1:]), answers.dtype)
            self.seconds.append(0.0)
        self.answers[number][points] = answers
        self.seconds[-1] += evaluated.seconds

    def forget(self, number: int) -> None:
        """Forget the answers on a fold."""
        del self.answers[number]

    def keep(self, kept: np.ndarray) -> None:
        """Keep only some of the points."""
        self.points = [self.points[i] for i in kept]
        self.answers = {number: found[kept] for number, found in self.answers.items()}
        self.shortlists = [np.searchsorted(kept, positions) for positions in self.shortlists]


@dataclass(frozen=True)
class Stopped:
    """A method that was evaluated on some of the folds only; ``others`` is the error of the combination on these."""

    run: MethodResult
    wrong: np.ndarray
    others: np.ndarray
    parameters: dict[str, Any]
    weights: np.ndarray | None = None


class MethodResults:
    """The answers of several methods on the same folds of the same samples.

    Folds of all repetitions are numbered; ``runs`` are the methods that have not failed, been stopped or left out. For
    rows that give no evidence all methods have the same posterior, which is learned from the samples of other parts
    whose rows give none, so that methods are compared by what they make of evidence. If there are several similarities,
    there is one such posterior for the rows without evidence in any of them, and one for those without evidence in
    each.
    """

    def __init__(self, samples: Any, methods: Mapping[str, Method | Entry], repeats: list[list[Split]], loss: Loss):
        self.samples, self.loss, self.repeats = samples, loss, repeats
        self.classes, self.codes = np.unique(samples.y, return_inverse=True)
        self.folds = [split for folds in repeats for split in folds]
        self.runs = {
            name: MethodResult(name, estimator, list(ParameterGrid(grid)), *own)
            for name, (estimator, grid, *own) in methods.items()
        }
        self._names = list(self.runs)
        self._trial: int | None = None
        self.failures: dict[str, str] = {}
        self.stopped: dict[str, Stopped] = {}
        self.left_out: list[str] = []
        tests = [test for _, test in repeats[0]]
        # A sample that is tested several times belongs to the part of its first fold.
        self.tested, first = np.unique(np.concatenate(tests), return_index=True)
        folds = np.repeat(np.arange(len(tests)), [len(test) for test in tests])[first]
        self.parts = np.unique(folds, return_inverse=True)[1]
        if not self.parts.any():
            self.parts = np.arange(len(self.tested)) % 2
        weights = samples.sample_weight
        self.weights = None if weights is None else weights[self.tested] / weights[self.tested].mean()
        """The weights of the tested samples, relative to their mean."""
        self._place = np.full(len(self.codes), -1)
        self._place[self.tested] = np.arange(len(self.tested))
        self.columns = self._columns()
        self.loss.counts = self.columns.counts
        self.no_evidence: dict[str | None, NoEvidence] = {}
        self._none_by_part: dict[str | None, np.ndarray] = {}
        self._lacking_rows: dict[tuple[int, str | None], np.ndarray] = {}

    def _columns(self) -> ClassColumns:
        """Return the columns of the answers for all samples: those of some classes if there are many of both."""
        # Costs, weights of classes and scorers need the posteriors of all classes.
        whole = self.loss.costs is not None or self.loss.class_weights is not None or not self.loss.by_sample
        if whole or not too_many(len(self.codes), len(self.classes)) or len(self.samples.parts) > 1:
            return ClassColumns(len(self.classes))
        S = as_proximities(self.samples.values).S
        return class_columns(S, self.codes, len(self.classes), smaller=self.samples.contract.map_name is not None)

    @cached_property
    def truth(self) -> np.ndarray:
        """The columns of the true classes of the tested samples."""
        return self.columns.at(self.tested).codes(self.codes[self.tested])

    def weights_of(self, places: Any) -> np.ndarray | None:
        """Return the weights of some of the tested samples; None if all count the same."""
        return None if self.weights is None else self.weights[places]

    @property
    def first(self) -> range:
        """The numbers of the folds of the first repetition."""
        return range(len(self.repeats[0]))

    @property
    def n_folds(self) -> int:
        """The number of folds on which a method was evaluated."""
        return len(self._done)

    @property
    def _done(self) -> list[int]:
        return sorted({number for run in self.runs.values() for number in run.answers})

    @cached_property
    def whole(self) -> Any:
        """All samples as training samples."""
        return self.samples.whole()

    @cached_property
    def lacking(self) -> np.ndarray:
        """For each tested sample the share of its tests in which its row gave no evidence."""
        return self._lacking_shares(None, self._done)

    def trial(self, n_rows: int) -> int | None:
        """Return the number of a fold that tests some of the rows of the first one; None if that has few rows."""
        if self._trial is None and len(self.folds[0][1]) > 2 * n_rows:
            train, test = self.folds[0]
            self.folds.append((train, np.sort(_drawn(test, n_rows))))
            self._trial = len(self.folds) - 1
        return self._trial

    def parameters(self, run: MethodResult, point: int) -> dict[str, Any]:
        """Return the parameters of a point for a fit on all samples."""
        if not are_relative([run.points[point]]):
            return run.points[point]
        samples, whole = (each.of(run.similarity) for each in (self.samples, self.whole))
        return absolute(run.estimator, given_to(whole, samples, run.estimator), [run.points[point]])[0]

    def evaluate(
        self,
        numbers: Sequence[int],
        seconds: Mapping[str, float],
        n_jobs: int | None = None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        """Evaluate methods, at the points that are left of each, on some of the folds.

        ``seconds`` are the methods with the time that each is expected to take, by which they are divided among the
        workers on the folds that are left when each worker has had the same number of folds.
        """
        jobs = effective_n_jobs(n_jobs)
        undivided = len(numbers) - len(numbers) % jobs
        tasks = [(number, share) for number in numbers[:undivided] for share in self._divided(seconds, 1)]
        tasks += [(number, share) for number in numbers[undivided:] for share in self._divided(seconds, jobs)]
        found = evaluate(
            self.samples,
            [self._table(share) for _, share in tasks],
            [self.folds[number] for number, _ in tasks],
            AnsweredInColumns(self.columns),
            on_error="method",
            n_jobs=n_jobs,
            note=note,
            lasting=True,
        )
        for (number, share), by_name in zip(tasks, found):
            for name, evaluated in by_name.items():
                if evaluated.failure is not None:
                    self.failures.setdefault(name, evaluated.failure)
                    self.runs.pop(name, None)
                elif name in self.runs:
                    self.runs[name].take(number, share[name], evaluated)

    def _table(self, share: Mapping[str, list[int]]) -> dict[str, tuple]:
        runs = {name: self.runs[name] for name in share}
        return {
            name: (run.estimator, [run.points[i] for i in share[name]], run.similarity) for name, run in runs.items()
        }

    def _divided(self, seconds: Mapping[str, float], n_shares: int) -> list[dict[str, list[int]]]:
        """Divide the points of methods, by their maps, into shares that take about the same time."""
        units = [
            (each / len(by_map), name, points)
            for name, each in seconds.items()
            for by_map in [self.runs[name].by_map]
            for points in by_map.values()
        ]
        totals = [0.0] * min(n_shares, len(units))
        shares: list[dict[str, list[int]]] = [{} for _ in totals]
        for each, name, points in sorted(units, key=lambda unit: -unit[0]):
            shortest = totals.index(min(totals))
            totals[shortest] += each
            shares[shortest].setdefault(name, []).extend(points)
        # Methods keep their order and points theirs.
        return [{name: sorted(share[name]) for name in seconds if name in share} for share in shares]

    def rank(self, run: MethodResult, numbers: Sequence[int], kept: int = SHORTLIST) -> np.ndarray:
        """Keep the best points of a method on the samples that some folds test, and on those outside each part.

        Return the posteriors, at the best point, of the tested samples: NaN for those that these folds do not test.
        """
        tests = np.concatenate([self.folds[number][1] for number in numbers])
        samples, first = np.unique(tests, return_index=True)
        places = self._place[samples]
        lacking = np.concatenate([self._without_evidence(number, run.similarity) for number in numbers])[first]
        answers = np.concatenate([run.answers[number] for number in numbers], axis=1)[:, first]
        factors, offsets, losses = self._quick_calibration(run, answers, places, lacking)
        parts = self.parts[places]
        outside = [losses[:, parts != part].mean(axis=1) for part in np.unique(self.parts) if np.any(parts != part)]
        run.shortlists = [np.argsort(mean, kind="stable")[:kept] for mean in [losses.mean(axis=1), *outside]]
        best = int(run.shortlists[0][0])
        found = np.full((len(self.tested), self.columns.number), np.nan)
        found[places] = self._softmax(factors[best] * self._log_odds(run, answers[best]) + offsets[best])
        run.keep(np.unique(np.concatenate(run.shortlists)))
        return self.weighted(found)

    def _quick_calibration(
        self, run: MethodResult, answers: np.ndarray, places: np.ndarray, lacking: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return one temperature and offset for each point, and the loss of each point and sample; 0 without
        evidence."""
        seen = some = calibrated_on(lacking)
        some = _drawn(some, min(_RANKED // len(answers), _CALIBRATED_SAMPLES))
        truth, weights = self.truth[places], self.weights_of(places)
        losses = np.empty(answers.shape[:2], dtype=np.float32)
        factors, offsets = np.empty(len(answers)), np.empty((len(answers), self.columns.number))
        for i in range(0, len(answers), _BLOCK):
            block = slice(i, i + _BLOCK)
            z = self._log_odds(run, answers[block])
            size = scales(z if len(seen) == len(lacking) else z[:, seen], run.response, self.columns.counts)
            z /= size[:, None, None]
            ones = np.ones(len(some)) if weights is None else weights[some]
            a, b = fit_temperatures(z[:, some], truth[some], ones[None], self.columns.counts)
            posteriors = self._softmax(a[:, :1, None] * z + b[:, :1])
            losses[block] = self.loss.losses(self.weighted(posteriors), truth, weights)
            factors[block], offsets[block] = a[:, 0] / size, b[:, 0]
        losses[:, lacking] = 0.0
        return factors, offsets, losses

    def _without_evidence(self, number: int, similarity: str | None) -> np.ndarray:
        """Return which test samples of a fold have no evidence in one of several similarities, or in any."""
        if (number, similarity) not in self._lacking_rows:
            evidence = self.samples.of(similarity).evidence(*self.folds[number])
            self._lacking_rows[number, similarity] = ~evidence
        return self._lacking_rows[number, similarity]

    def _lacking_shares(self, similarity: str | None, numbers: Iterable[int]) -> np.ndarray:
        """Return for each tested sample the share of its tests in which its row gave no evidence."""
        tests, lacks = np.zeros(len(self.codes)), np.zeros(len(self.codes))
        for number in numbers:
            test = self.folds[number][1]
            tests[test] += 1
            lacks[test] += self._without_evidence(number, similarity)
        return lacks[self.tested] / np.maximum(tests[self.tested], 1)

    def _learn_no_evidence(self, similarity: str | None, numbers: Iterable[int]) -> None:
        """Learn the posterior of rows without evidence in a similarity: without each part, and from all samples."""
        codes = self.codes[self.tested]
        counts = np.bincount(self.codes, self.samples.sample_weight)
        lacking = self._lacking_shares(similarity, numbers)
        lacking = lacking if self.weights is None else lacking * self.weights
        scale = 1.0 if self.weights is None else self.samples.sample_weight[self.tested].mean()
        learned = []
        for part in [*np.unique(self.parts), -1]:
            own, others = self.parts == part, self.parts != part
            tested = np.bincount(codes[own], self.weights_of(own), minlength=len(counts))
            learned.append(NoEvidence.learn(codes[others], lacking[others], counts - scale * tested))
        self.no_evidence[similarity] = learned[-1]
        self._none_by_part[similarity] = np.stack([found.posterior for found in learned])

    @property
    def _floor(self) -> float:
        return floor_of(len(self.tested))

    def _softmax(self, z: np.ndarray) -> np.ndarray:
        return softmax(z, self.columns.counts)

    def _log_odds(self, run: MethodResult, answers: np.ndarray) -> np.ndarray:
        return log_odds(answers.astype(float), run.response, self._floor)

    def weighted(self, posteriors: np.ndarray) -> np.ndarray:
        """Return the posteriors under the class weights."""
        if self.loss.class_weights is None:
            return posteriors
        weighted = posteriors * self.loss.class_weights
        return weighted / weighted.sum(axis=-1, keepdims=True)

    def finish(self) -> None:
        """Calibrate all answers on all folds that were evaluated."""
        vars(self).pop("lacking", None)
        self.failures = {name: self.failures[name] for name in self._names if name in self.failures}
        for similarity in {None, *(run.similarity for run in self.runs.values())}:
            self._learn_no_evidence(similarity, self._done)
        for run in self.runs.values():
            if not run.calibrated or self._done != list(self.first):  # otherwise nothing has changed
                self.calibrate(run)

    def calibrate(self, run: MethodResult) -> None:
        """Calibrate the answers of a method, and set its posteriors, each calibrated without the sample's own part."""
        for similarity in {None, run.similarity} - set(self._none_by_part):
            self._learn_no_evidence(similarity, self.first)
        parts = np.unique(self.parts)
        factors, offsets = [], []
        run.calibrated, number = [], 0
        for folds in self.repeats:
            numbers = [i for i in range(number, number + len(folds)) if i in run.answers]
            number += len(folds)
            if not numbers:
                continue
            places = [self._place[self.folds[i][1]] for i in numbers]
            rows = np.concatenate(places)
            some = calibrated_on(np.concatenate([self._without_evidence(i, run.similarity) for i in numbers]))
            some = _drawn(some, _CALIBRATED_SAMPLES)
            z, rows = (
                self._log_odds(run, np.concatenate([run.answers[i] for i in numbers], axis=1)[:, some]),
                rows[some],
            )
            size = scales(z, run.response, self.columns.counts)[:, None, None]
            weights = np.stack([*(self.parts[rows] != part for part in parts), np.ones(len(rows))]).astype(float)
            weights = weights if self.weights is None else weights * self.weights[rows]
            a, b = fit_temperatures(z / size, self.truth[rows], weights, self.columns.counts)
            a /= size[..., 0]
            run.calibrated += [CalibratedFold(own, run.answers[i], a, b, i) for own, i in zip(places, numbers)]
            factors.append(a[:, -1])
            offsets.append(b[:, -1])
        run.posteriors = self.posteriors(run, np.arange(len(run.points)), None)
        run.temperatures = [
            Temperature(run.response, float(a), self._for_classes(b), self._floor)
            for a, b in zip(np.mean(factors, axis=0), np.mean(offsets, axis=0))
        ]

    def posteriors(self, run: MethodResult, points: np.ndarray, part: int | None) -> np.ndarray:
        """Return the posteriors of the tested samples, averaged over the repetitions.

        If points or weights are chosen without one part, the calibration must not use its labels either.
        """
        short = self.columns.own is not None
        total = np.zeros((len(points), len(self.tested), self.columns.number), dtype=np.float32 if short else float)
        counts = np.zeros(len(self.tested))
        for places, answers, factors, offsets, number in run.calibrated:
            which = self.parts[places] if part is None else np.full(len(places), part)
            at = np.ix_(points, which)
            exponents = factors[at][..., None] * self._log_odds(run, answers[points]) + offsets[at]
            found = self._softmax(exponents)
            for similarity in dict.fromkeys([run.similarity, None]):
                lacking = self._without_evidence(number, similarity)
                columns = self.columns.at(self.tested[places[lacking]])
                found[:, lacking] = columns.taken(self._none_by_part[similarity][which[lacking]])
            # A sample that one fold tests twice is counted once.
            total[:, places] += found
            counts[places] += 1
        total /= counts[:, None].astype(total.dtype)
        return self.weighted(total)

    def _for_classes(self, offsets: np.ndarray) -> np.ndarray:
        """Return the offsets of all classes; there are none if not all classes have columns."""
        return offsets if self.columns.own is None else np.zeros(len(self.classes))


def _drawn(samples: np.ndarray, most: int) -> np.ndarray:
    """Return the samples, or some of them drawn at random if there are more."""
    return samples if len(samples) <= most else np.random.RandomState(0).permutation(samples)[:most]


def _map_of(point: Mapping[str, Any]) -> str:
    """Return the map of dissimilarities of a point."""
    return next((str(value) for key, value in point.items() if key.endswith("dissimilarity")), "")
