"""Evaluation of several methods, each with its grid, on the same folds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection import ParameterGrid

from similitude._utils.progress import ProgressBars
from similitude._utils.warn import silenced
from similitude.auto.losses import Loss
from similitude.auto.method_result import CalibratedFold, MethodResult
from similitude.auto.methods import COMPARED_ONLY, effort
from similitude.auto.no_evidence import NoEvidence, calibrated_on
from similitude.evaluation.answers import answered
from similitude.evaluation.engine import Entry, Evaluated, Method, absolute, evaluate, given_to
from similitude.evaluation.folds import Split
from similitude.evaluation.relative import are_relative
from similitude.numerics.shared import shared_work
from similitude.numerics.temperature import Temperature, fit_temperatures, floor_of, log_odds, scales, softmax

SHORTLIST = 4
"""The number of best points of each method, on all samples and outside each part, that are evaluated on repeated
folds."""

_RANKED_SAMPLES = 400
"""If a grid is large, the temperatures for ranking its points are fitted to at most this many samples."""
_LARGE_GRID = 200
_FEWEST_FOLDS = 2
_RESERVE = 0.15
"""The share of a time budget that is left for the choice and the last fits."""


class MethodResults:
    """Evaluation of several methods on the same folds of the same samples.

    Each point of each grid is evaluated on the first repetition of the folds. For the others, only the best points of
    each method remain. Methods that are only compared are not repeated.

    For rows that give no evidence all methods have the same posterior, which is learned from the samples of other parts
    whose rows give none, so that methods are compared by what they make of evidence. If there are several similarities,
    there is one such posterior for the rows without evidence in any of them, and one for those without evidence in
    each.
    """

    def __init__(self, samples: Any, methods: Mapping[str, Method | Entry], repeats: list[list[Split]], loss: Loss):
        self.samples, self.loss = samples, loss
        self.classes, self.codes = np.unique(samples.y, return_inverse=True)
        self.repeats = repeats
        self._numbered = list(enumerate(split for folds in repeats for split in folds))
        self.runs = _not_evaluated(methods)
        self.failures: dict[str, str] = {}
        self.left_out: list[str] = []
        self.n_folds = 0
        self._show = False
        self.tested = self.parts = np.empty(0, dtype=np.intp)
        self.lacking = np.empty(0)
        self.no_evidence: dict[str | None, NoEvidence] = {}
        self._none_by_part: dict[str | None, np.ndarray] = {}
        self._lacking_rows: dict[tuple[int, str | None], np.ndarray] = {}

    @property
    def truth(self) -> np.ndarray:
        """The positions of the true classes of the tested samples."""
        return self.codes[self.tested]

    @cached_property
    def whole(self) -> Any:
        """All samples as training samples."""
        return self.samples.whole()

    def parameters(self, run: MethodResult, point: int) -> dict[str, Any]:
        """Return the parameters of a point for a fit on all samples."""
        if not are_relative([run.points[point]]):
            return run.points[point]
        samples, whole = (each.of(run.similarity) for each in (self.samples, self.whole))
        return absolute(run.estimator, given_to(whole, samples, run.estimator), [run.points[point]])[0]

    def run(self, deadline: float | None, n_jobs: int | None, show: bool) -> None:
        """Evaluate the methods on all folds, or on as many as possible before a deadline (of ``time.perf_counter``)."""
        self._show = show
        first = len(self.repeats[0])
        start = time.perf_counter()
        end = None if deadline is None else deadline - _RESERVE * (deadline - start)
        with silenced(), ProgressBars({"folds": len(self._numbered)}, enabled=show) as bars:
            if end is None:
                self._evaluate(self._numbered[:first], self._running(), n_jobs, bars)
            else:
                self._within_budget(self._numbered[:first], end, n_jobs, bars)
            self.runs = {n: run for n, run in self.runs.items() if n not in self.failures and n not in self.left_out}
            self._divide()
            self._rank(self.runs, self._numbered[: self.n_folds])
            names = self._repeated(self.runs)
            for folds in self._later_repeats(names, end, n_jobs):
                self._evaluate(folds, names, n_jobs, bars)
        self._finish()

    def add_repeat(self, folds: list[Split], n_jobs: int | None = None) -> None:
        """Evaluate the points that are left on one more repetition of the folds, which tests the same samples."""
        numbered = list(enumerate(folds, len(self._numbered)))
        self.repeats, self._numbered = [*self.repeats, folds], [*self._numbered, *numbered]
        with silenced(), ProgressBars({"folds": len(folds)}, enabled=self._show) as bars:
            self._evaluate(numbered, self._repeated(self.runs), n_jobs, bars)
        self._finish()

    def add_methods(self, methods: Mapping[str, Method | Entry], n_jobs: int | None = None) -> None:
        """Evaluate further methods on the folds on which the others were evaluated."""
        done = self._done
        first = sum(number < len(self.repeats[0]) for number, _ in done)
        self.runs |= _not_evaluated(methods)
        with silenced(), ProgressBars({"folds": len(done)}, enabled=self._show) as bars:
            self._evaluate(done[:first], list(methods), n_jobs, bars, new=False)
            self._rank([name for name in methods if name not in self.failures], done[:first])
            self._evaluate(done[first:], self._repeated(methods), n_jobs, bars, new=False)
        self._finish()

    @property
    def _done(self) -> list:
        """The folds on which methods were evaluated; with a time budget some repetitions may be missing."""
        return [fold for fold in self._numbered if any(fold[0] in run.answers for run in self.runs.values())]

    def _repeated(self, names: Iterable[str]) -> list[str]:
        """Return those of the methods that are evaluated on repeated folds."""
        return [n for n in names if n not in self.failures and self.runs[n].method not in COMPARED_ONLY]

    def _finish(self) -> None:
        """Calibrate all answers, without the methods that failed."""
        self.runs = {name: run for name, run in self.runs.items() if name not in self.failures}
        self._learn_no_evidence()
        self._calibrate()

    def _later_repeats(self, names: list[str], end: float | None, n_jobs: int | None) -> Iterator[list]:
        """Yield the folds of further repetitions: all at once, or of each repetition for which there is time."""
        number = len(self.repeats[0])
        if end is None:
            yield self._numbered[number:]
            return
        if self.n_folds < number:
            return
        for folds in self.repeats[1:]:
            # Fewer points take less time, so that the first repetition gives an upper bound.
            seconds = sum(self.runs[name].seconds[-1] for name in names)
            expected = seconds * len(folds) / effective_n_jobs(n_jobs)
            if time.perf_counter() + expected > end:
                return
            yield self._numbered[number : number + len(folds)]
            number += len(folds)

    def _within_budget(self, folds: list, end: float, n_jobs: int | None, bars: ProgressBars) -> None:
        """Evaluate the first repetition: methods of little effort first, without those that take too long."""
        at_once = effective_n_jobs(n_jobs)
        expected = self._first_fold(folds, end, at_once, bars)
        while self.n_folds < len(folds) and (self.n_folds < _FEWEST_FOLDS or time.perf_counter() < end):
            self._evaluate(folds[self.n_folds : self.n_folds + at_once], self._running(), n_jobs, bars)
        # What takes less time than expected leaves time for others.
        done = folds[: self.n_folds]
        for name in list(self.left_out):
            missing = [fold for fold in done if fold[0] not in self.runs[name].answers]
            if expected(name) * len(missing) / at_once < end - time.perf_counter():
                self.left_out.remove(name)
                self._evaluate(missing, [name], n_jobs, bars, new=False)

    def _first_fold(self, folds: list, end: float, at_once: int, bars: ProgressBars) -> Callable[[str], float]:
        """Evaluate the first fold; leave out each method that cannot be expected to finish all folds in time.

        Return a function of a method that returns the seconds that can be expected for one fold.
        """
        more = (len(folds) - 1) / at_once
        kept = 0.0
        seconds: dict[str, float] = {}

        def expected(name: str) -> float:
            if name in seconds or not seconds:
                return seconds.get(name, 0.0)
            rates = [spent / self._effort(known) for known, spent in seconds.items()]
            return self._effort(name) * float(np.median(rates))

        with shared_work():
            for name in sorted(self.runs, key=self._effort):
                left = end - time.perf_counter() - kept * more
                if expected(name) * (1 + more) > left and seconds:
                    self.left_out.append(name)
                    continue
                found = next(iter(self._found([folds[0]], [name], 1, bars)))[name]
                self._record(name, folds[0][0], found)
                if found.failure is not None:
                    continue
                seconds[name] = found.seconds
                if len(seconds) > 1 and (kept + seconds[name]) * more > end - time.perf_counter():
                    self.left_out.append(name)
                else:
                    kept += seconds[name]
        self._count(bars)
        return expected

    def _effort(self, name: str) -> float:
        return effort(self.runs[name].method)

    def _running(self) -> list[str]:
        return [name for name in self.runs if name not in self.failures and name not in self.left_out]

    def _evaluate(
        self, folds: list, names: list[str], n_jobs: int | None, bars: ProgressBars, new: bool = True
    ) -> None:
        """Evaluate methods on some folds, which are counted if they are new."""
        for (number, _), found in zip(folds, self._found(folds, names, n_jobs, bars)):
            for name, evaluated in found.items():
                self._record(name, number, evaluated)
            if new:
                self._count(bars)

    def _found(
        self, folds: list, names: list[str], n_jobs: int | None, bars: ProgressBars
    ) -> Iterator[dict[str, Evaluated]]:
        runs = {name: self.runs[name] for name in names}
        candidates = {name: (run.estimator, run.points, run.similarity) for name, run in runs.items()}
        splits = [split for _, split in folds]
        return evaluate(
            self.samples,
            candidates,
            splits,
            answered,
            on_error="method",
            n_jobs=n_jobs,
            note=lambda name: bars.note("folds", self._note(name)) if self._show else None,
        )

    def _record(self, name: str, number: int, evaluated: Evaluated) -> None:
        if evaluated.failure is not None:
            self.failures.setdefault(name, evaluated.failure)
        elif name not in self.failures:
            self.runs[name].take(number, evaluated)

    def _count(self, bars: ProgressBars) -> None:
        self.n_folds += 1
        bars.advance("folds", self._note(None) if self._show else "")

    def _note(self, at_work: str | None) -> str:
        """Return the method at work, and the best error so far."""
        errors = {}
        for name in self._running():
            run = self.runs[name]
            if run.answers and self.n_folds:
                wrong = [
                    np.mean(np.argmax(found, axis=2) != self.codes[self._numbered[number][1][1]], axis=1)
                    for number, found in run.answers.items()
                ]
                errors[name] = float(np.min(np.mean(wrong, axis=0)))
        parts = [] if at_work is None else [at_work]
        if errors:
            best = min(errors, key=lambda name: errors[name])
            parts.append(f"best so far {best} {100 * errors[best]:.1f}%")
        return "; ".join(parts)

    def _divide(self) -> None:
        """Divide the tested samples into parts."""
        tests = [test for _, (_, test) in self._numbered[: self.n_folds]]
        # A sample that is tested several times belongs to the part of its first fold.
        self.tested, first = np.unique(np.concatenate(tests), return_index=True)
        folds = np.repeat(np.arange(len(tests)), [len(test) for test in tests])[first]
        self.parts = np.unique(folds, return_inverse=True)[1]
        if not self.parts.any():
            self.parts = np.arange(len(self.tested)) % 2

    def _rank(self, names: Iterable[str], folds: list) -> None:
        """Keep the best points of some methods, on all samples that the folds test and on those outside each part."""
        numbers = [number for number, _ in folds]
        first = np.unique(np.concatenate([test for _, (_, test) in folds]), return_index=True)[1]
        for run in [self.runs[name] for name in names]:
            if len(run.answers) < len(numbers):  # it failed on some fold
                continue
            lacking = np.concatenate([self._without_evidence(number, run.similarity) for number in numbers])[first]
            answers = np.concatenate([run.answers[number] for number in numbers], axis=1)[:, first]
            losses = self._quick_losses(run, answers, lacking)
            outside = [losses[:, self.parts != part].mean(axis=1) for part in np.unique(self.parts)]
            run.shortlists = [np.argsort(mean, kind="stable")[:SHORTLIST] for mean in [losses.mean(axis=1), *outside]]
            run.keep(np.unique(np.concatenate(run.shortlists)))

    def _quick_losses(self, run: MethodResult, answers: np.ndarray, lacking: np.ndarray) -> np.ndarray:
        """Return the loss of each point and sample, with one temperature for each point; 0 without evidence."""
        seen = some = calibrated_on(lacking)
        if len(answers) > _LARGE_GRID and len(some) > _RANKED_SAMPLES:
            some = np.random.RandomState(0).permutation(some)[:_RANKED_SAMPLES]
        found = np.empty(answers.shape[:2], dtype=np.float32)
        for i in range(0, len(answers), _LARGE_GRID):
            block = slice(i, i + _LARGE_GRID)
            z = self._log_odds(run, answers[block])
            z /= scales(z if len(seen) == len(lacking) else z[:, seen], run.response)[:, None, None]
            factors, offsets = fit_temperatures(z[:, some], self.truth[some], np.ones((1, len(some))))
            posteriors = softmax(factors[:, :1, None] * z + offsets[:, :1])
            found[block] = self.loss.losses(self._weighted(posteriors), self.truth)
        found[:, lacking] = 0.0
        return found

    def _without_evidence(self, number: int, similarity: str | None) -> np.ndarray:
        """Return which test samples of a fold have no evidence in one of several similarities, or in any."""
        if (number, similarity) not in self._lacking_rows:
            evidence = self.samples.of(similarity).evidence(*self._numbered[number][1])
            self._lacking_rows[number, similarity] = ~evidence
        return self._lacking_rows[number, similarity]

    def _learn_no_evidence(self) -> None:
        """Learn the posteriors of rows without evidence: without each part, and from all samples."""
        counts = np.bincount(self.codes)
        for similarity in {None, *(run.similarity for run in self.runs.values())}:
            lacking = self._lacking_shares(similarity)
            learned = []
            for part in [*np.unique(self.parts), -1]:
                own, others = self.truth[self.parts == part], self.parts != part
                rest = counts - np.bincount(own, minlength=len(counts))
                learned.append(NoEvidence.learn(self.truth[others], lacking[others], rest))
            self.no_evidence[similarity] = learned[-1]
            self._none_by_part[similarity] = np.stack([found.posterior for found in learned])
        self.lacking = self._lacking_shares(None)

    def _lacking_shares(self, similarity: str | None) -> np.ndarray:
        """Return for each tested sample the share of its tests in which its row gave no evidence."""
        tests, lacks = np.zeros(len(self.codes)), np.zeros(len(self.codes))
        for number in {number for run in self.runs.values() for number in run.answers}:
            test = self._numbered[number][1][1]
            tests[test] += 1
            lacks[test] += self._without_evidence(number, similarity)
        return lacks[self.tested] / np.maximum(tests[self.tested], 1)

    @property
    def _floor(self) -> float:
        return floor_of(len(self.tested))

    def _weighted(self, posteriors: np.ndarray) -> np.ndarray:
        """Return the posteriors under the class weights."""
        if self.loss.class_weights is None:
            return posteriors
        weighted = posteriors * self.loss.class_weights
        return weighted / weighted.sum(axis=-1, keepdims=True)

    def _calibrate(self) -> None:
        """Fit the calibrations, and set the posteriors of the tested samples, each calibrated without its own part."""
        place = np.full(len(self.codes), -1)
        place[self.tested] = np.arange(len(self.tested))
        parts = np.unique(self.parts)
        for run in self.runs.values():
            factors, offsets = [], []
            run.calibrated, number = [], 0
            for folds in self.repeats:
                numbers = [i for i in range(number, number + len(folds)) if i in run.answers]
                number += len(folds)
                if not numbers:
                    continue
                places = [place[self._numbered[i][1][1]] for i in numbers]
                rows = np.concatenate(places)
                z = self._log_odds(run, np.concatenate([run.answers[i] for i in numbers], axis=1))
                some = calibrated_on(np.concatenate([self._without_evidence(i, run.similarity) for i in numbers]))
                z, rows = z[:, some], rows[some]
                size = scales(z, run.response)[:, None, None]
                weights = np.stack([*(self.parts[rows] != part for part in parts), np.ones(len(rows))]).astype(float)
                a, b = fit_temperatures(z / size, self.truth[rows], weights)
                a /= size[..., 0]
                run.calibrated += [CalibratedFold(own, run.answers[i], a, b, i) for own, i in zip(places, numbers)]
                factors.append(a[:, -1])
                offsets.append(b[:, -1])
            run.posteriors = self.posteriors(run, np.arange(len(run.points)), None)
            run.temperatures = [
                Temperature(run.response, float(a), b, self._floor)
                for a, b in zip(np.mean(factors, axis=0), np.mean(offsets, axis=0))
            ]

    def posteriors(self, run: MethodResult, points: np.ndarray, part: int | None) -> np.ndarray:
        """Return the posteriors of the tested samples, averaged over the repetitions.

        If points or weights are chosen without one part, the calibration must not use its labels either.
        """
        total = np.zeros((len(points), len(self.tested), len(self.classes)))
        counts = np.zeros(len(self.tested))
        for places, answers, factors, offsets, number in run.calibrated:
            which = self.parts[places] if part is None else np.full(len(places), part)
            at = np.ix_(points, which)
            exponents = factors[at][..., None] * self._log_odds(run, answers[points]) + offsets[at]
            found = softmax(exponents)
            for similarity in dict.fromkeys([run.similarity, None]):
                lacking = self._without_evidence(number, similarity)
                found[:, lacking] = self._none_by_part[similarity][which[lacking]]
            # A sample that one fold tests twice is counted once.
            total[:, places] += found
            counts[places] += 1
        return self._weighted(total / counts[:, None])

    def _log_odds(self, run: MethodResult, answers: np.ndarray) -> np.ndarray:
        return log_odds(answers.astype(float), run.response, self._floor)


def _not_evaluated(methods: Mapping[str, Method | Entry]) -> dict[str, MethodResult]:
    """Return the results of methods before they are evaluated."""
    return {
        name: MethodResult(name, estimator, list(ParameterGrid(grid)), *own)
        for name, (estimator, grid, *own) in methods.items()
    }
