"""The race: cheap methods come first, and methods that can no longer change the combination stop.

The methods are divided into legs. What the first leg costs is little; a further leg costs at most about as much as all
legs before it. Within a leg the methods are evaluated on some of the folds; then the points of each that are clearly
worse than others are dropped, and so are the methods with which the combination of the earlier legs is not expected to
gain. The others are evaluated on the rest of the folds. After all legs, the methods that are left are evaluated on the
repetitions of the folds.

With a deadline, methods for which there is no time are left out; the expected time follows from the cost in the record
of each method and from the times that were measured on earlier folds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from similitude._utils.progress import ProgressBars
from similitude._utils.warn import silenced
from similitude.auto.combination import SIGNIFICANT, fewer_errors, greedy_weights, many_similarities
from similitude.auto.leaderboard import names_text
from similitude.auto.method_results import MethodResult, MethodResults, Stopped
from similitude.auto.methods import COMPARED_ONLY, FEW_SIMILARITIES, record_of
from similitude.numerics.shared import forget_lasting

_OPENING_ROUNDS = 2
"""After so many rounds on the first folds, points and methods are dropped."""
_FEWEST_TESTED = 60
"""The fewest samples that such a round tests."""
_TRIED_ROWS = 5_000
"""If a fold tests more than twice as many samples, the whole grids are evaluated on so many of them alone."""
_DEVIATIONS = 1.0
"""By how many standard errors the gain from a method may be larger than it was found."""
_SHARE = 0.25
"""The weight with which a method is tried beside the combination."""
_KEPT_POINTS = 0.25
_FEWEST_POINTS = 8
_RESERVE = 0.1
"""The share of a time budget that is left for the choice and what follows it, in addition to the last fits."""
_RESERVE_EACH = 0.02
"""The same for each of several similarities."""
_LARGEST_RESERVE = 0.4
_MOST_FITS = 0.4
"""The largest share of the time that is left for the fits on all samples."""
_LARGEST_SHARE = 1 / 6
"""The largest share of the time that is left that a method may be expected to take before its grid is thinned."""
_FIXED = 0.2
"""The share of the cost of a method that does not depend on the number of its points."""
_REPEATED = 0.25
"""About the share of its time on a fold that a method takes on a fold of a repetition, which has fewer points."""
_SHORTEST_LEG = 0.1
"""The seconds that the first leg may be expected to take."""
_interrupts_raise: ContextVar[bool] = ContextVar("interrupts_raise", default=False)
_finishing: ContextVar[bool] = ContextVar("finishing", default=False)


@contextmanager
def interrupts_raise() -> Iterator[None]:
    """Let an interrupt in the block end more than the race that it comes in, as nested cross-validation needs."""
    before = _interrupts_raise.set(True)
    try:
        yield
    finally:
        _interrupts_raise.reset(before)


@contextmanager
def finishing() -> Iterator[None]:
    """Mark what follows the race within the block: the choice, the last fits and the diagnosis."""
    before = _finishing.set(not _interrupts_raise.get())
    try:
        yield
    finally:
        _finishing.reset(before)


def is_finishing() -> bool:
    """Return whether a race has ended, and its result is about to be complete."""
    return _finishing.get()


@dataclass(frozen=True, repr=False)
class BudgetReport:
    """What the time of a search was spent on; ``print`` shows it as a sentence.

    Parameters
    ----------
    budget : float or None
        The time limit in seconds, if there was one.
    seconds : float
        The time that the methods took.
    complete, stopped : list of str
        The methods that were evaluated on all folds, and those that were stopped after some.
    left_out : dict of str to float
        The methods for which there was no time, with the seconds that each was expected to need.
    n_repeats, n_repeats_asked : int
        How many times the folds were repeated, and how many times they should have been.
    interrupted : bool
        Whether an interrupt (Ctrl-C) ended the search.
    too_large : sequence of str
        The methods that are not used for so many samples.
    """

    budget: float | None
    seconds: float
    complete: list[str]
    stopped: list[str]
    left_out: dict[str, float]
    n_repeats: int
    n_repeats_asked: int
    interrupted: bool
    too_large: Sequence[str] = ()

    def __repr__(self) -> str:
        limit = "" if self.budget is None else f" of {self.budget:g}"
        text = f"{self.seconds:.3g}{limit} s: {_counted(len(self.complete), 'method')} evaluated on all folds"
        if self.stopped:
            text += f", {len(self.stopped)} stopped after some"
        if self.n_repeats < self.n_repeats_asked:
            text += f"; folds repeated {self.n_repeats} instead of {self.n_repeats_asked} times"
        if self.interrupted:
            text += "; interrupted: the choice is among what was evaluated before"
        if self.left_out:
            more = "" if self.interrupted else f" (about {sum(self.left_out.values()):.3g} s more)"
            text += f"; not tried{more}: {names_text(list(self.left_out))}"
        if self.too_large:
            text += f"; not used for so many samples: {names_text(self.too_large)}"
        return text + "."


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


class Race:
    """Evaluates the methods of results within a time budget that began at ``start`` (of ``time.perf_counter``)."""

    def __init__(
        self,
        results: MethodResults,
        start: float,
        budget: float | None,
        n_jobs: int | None,
        show: bool,
        *,
        stops: bool = True,
    ):
        self.results, self.n_jobs, self._show, self._stops = results, n_jobs, show, stops
        self.start, self.budget = start, budget
        self.jobs = effective_n_jobs(n_jobs)
        self.interrupted = False
        self._complete: list[str] = []
        self._left_out: dict[str, float] = {}
        self._skipped: list[str] = []
        self._n_repeats = 1
        self._incumbent: np.ndarray | None = None
        self._measured: dict[str, list[tuple[float, float]]] = {}
        self._grid_sizes = {name: len(run.points) / len(run.by_map) for name, run in results.runs.items()}
        n_train = float(np.mean([len(train) for train, _ in results.repeats[0]]))
        self._size = n_train, len(results.classes)

    def run(self) -> BudgetReport:
        """Evaluate the methods; an interrupt ends the race if at least one method is complete."""
        waiting, leg, spent = list(self.results.runs), 0, 0.0
        with silenced(), ProgressBars({"methods": len(waiting)}, enabled=self._show) as self._bars:
            try:
                while waiting:
                    self._show_left(waiting)
                    names = self._next_leg(waiting, spent)
                    spent += sum(self._modelled(self.results.runs[name]) for name in names)
                    self._run_leg(self._within(names, len(self.results.first)))
                    leg += 1
                    self._drop_similarities([name for name in waiting if name not in names], leg)
                    waiting = [name for name in waiting if name not in names and name in self.results.runs]
                self._repeat()
            except KeyboardInterrupt:
                if not self._complete or _interrupts_raise.get():
                    raise
                self.interrupted = True
                self._leave_out({n: self._expected(n) for n in self.results.runs if n not in self._complete})
            finally:
                forget_lasting()
        self._drop_slow_fits()
        self.results.finish()
        return BudgetReport(
            self.budget,
            time.perf_counter() - self.start,
            [name for name in self._complete if name in self.results.runs],
            [*self.results.stopped, *self._skipped],
            self._left_out,
            self._n_repeats,
            len(self.results.repeats),
            self.interrupted,
        )

    def _expected(self, name: str) -> float:
        """Return the seconds that a method is expected to take on one fold."""
        run = self.results.runs[name]
        record = record_of(run.method)
        known = self._measured.get(record.needs) or [pair for pairs in self._measured.values() for pair in pairs]
        spent, modelled = np.sum(known, axis=0) if known else (1.0, 1.0)
        return self._modelled(run) * float(spent / modelled)

    def _modelled(self, run: MethodResult) -> float:
        n_maps = len(run.by_map)
        share = len(run.points) / n_maps / self._grid_sizes[run.name]
        return record_of(run.method).cost.seconds(*self._size) * n_maps * (_FIXED + (1 - _FIXED) * share)

    def _next_leg(self, waiting: list[str], spent: float) -> list[str]:
        """Return the methods that come next, each on all similarities: the cheapest for what they are worth.

        The modelled cost decides, not the measured one, so that the same samples have the same legs on all machines.
        """
        seconds: dict[str, float] = {}
        for name in waiting:
            run = self.results.runs[name]
            seconds[run.method] = seconds.get(run.method, 0.0) + self._modelled(run)
        most, total = max(spent, _SHORTEST_LEG / len(self.results.first)), 0.0
        found: list[str] = []
        for method in sorted(seconds, key=lambda method: seconds[method] / record_of(method).merit):
            if found and total + seconds[method] > most:
                break
            found.append(method)
            total += seconds[method]
        return [name for name in waiting if self.results.runs[name].method in found]

    def _run_leg(self, names: list[str]) -> None:
        first, n_methods = self.results.first, len(names)
        names = self._tried(names)
        done: list[int] = []
        for numbers in self._rounds:
            self._evaluate(numbers, names)
            names = [name for name in names if name in self.results.runs]
            done += numbers
            if len(done) < len(first):
                names = self._going_on(names, done)
        for name in names:
            run = self.results.runs[name]
            self.results.rank(run, first)
            self.results.calibrate(run)
            self._complete.append(name)
        self._combine()
        self._bars.advance("methods", steps=n_methods)

    def _tried(self, names: list[str]) -> list[str]:
        """Drop points and methods after some rows of the first fold, if it tests very many."""
        number = self.results.trial(_TRIED_ROWS)
        if number is None or not names:
            return names
        self._evaluate([number], names)
        names = self._going_on([name for name in names if name in self.results.runs], [number])
        for name in names:
            self.results.runs[name].forget(number)
        return names

    @cached_property
    def _rounds(self) -> list[list[int]]:
        """The folds of the first repetition that are evaluated before methods and points are dropped, and the rest."""
        rest = list(self.results.first)
        rounds: list[list[int]] = []
        opening: list[int] = []
        while len(rest) > 1 and len(rounds) < _OPENING_ROUNDS:
            opening.append(rest.pop(0))
            if sum(len(self.results.folds[number][1]) for number in opening) >= _FEWEST_TESTED:
                rounds.append(opening)
                opening = []
        return [*rounds, [*opening, *rest]]

    def _evaluate(self, numbers: list[int], names: list[str]) -> None:
        if not names:
            return
        before = {name: len(self.results.runs[name].seconds) for name in names}
        modelled = {name: self._modelled(self.results.runs[name]) for name in names}
        seconds = {name: self._expected(name) for name in names}
        self.results.evaluate(numbers, seconds, self.n_jobs, self._note if self._show else None)
        for name in names:
            run = self.results.runs.get(name)
            if run is not None and not before[name]:
                pair = float(np.mean(run.seconds)), modelled[name]
                self._measured.setdefault(record_of(run.method).needs, []).append(pair)

    def _going_on(self, names: list[str], done: list[int]) -> list[str]:
        """Drop the points and stop the methods that are clearly worse; return the others that there is time for."""
        found = {}
        for name in names:
            run = self.results.runs[name]
            kept = max(_FEWEST_POINTS, math.ceil(_KEPT_POINTS * len(run.points)))
            found[name] = self.results.rank(run, done, kept)
        if self._incumbent is not None and self._stops:
            gains = {name: self._gain(found[name], self._incumbent) for name in names}
            for name in [name for name in names if gains[name] <= 0]:
                self._stop(name, found[name], self._incumbent)
            names = sorted((name for name in names if gains[name] > 0), key=lambda name: -gains[name])
        return self._within(names, len(self.results.first) - len(done))

    def _losses(self, posteriors: np.ndarray) -> np.ndarray:
        found = np.full(len(posteriors), np.nan)
        known = ~np.isnan(posteriors[:, 0])
        truth, weights = self.results.truth[known], self.results.weights_of(known)
        found[known] = self.results.loss.losses(posteriors[known], truth, weights)
        return found

    def _gain(self, posteriors: np.ndarray, reference: np.ndarray) -> float:
        """Return by how much a share of a method may lower the loss of the combination, within chance."""
        gains = self._losses(reference) - self._losses((1 - _SHARE) * reference + _SHARE * posteriors)
        gains = gains[~np.isnan(gains)]
        return float(np.mean(gains) + _DEVIATIONS * np.std(gains) / math.sqrt(len(gains)))

    def _stop(self, name: str, posteriors: np.ndarray, reference: np.ndarray) -> None:
        run = self.results.runs.pop(name)
        known = ~np.isnan(posteriors[:, 0])
        truth, decisions = self.results.truth[known], self.results.loss.decisions
        wrong, others = (decisions(each[known]) != truth for each in (posteriors, reference))
        self.results.stopped[name] = Stopped(
            run,
            wrong,
            others,
            self.results.parameters(run, int(run.shortlists[0][0])),
            self.results.weights_of(known),
        )

    def _combine(self) -> None:
        """Combine the methods that are complete."""
        runs = [self.results.runs[n] for n in self._complete if n in self.results.runs]
        runs = [run for run in runs if run.method not in COMPARED_ONLY] or runs
        if many_similarities(self.results):
            runs = [run for run in runs if run.similarity is None] or runs
        if not runs:
            return
        found = np.stack([run.posteriors[run.shortlists[0][0]] for run in runs])
        weights = greedy_weights(
            found, self.results.truth, self.results.loss, self.results.classes, self.results.weights
        )
        self._incumbent = np.tensordot(weights, found, axes=1)

    def _repeat(self) -> None:
        """Evaluate the methods that can be chosen on the repetitions of the folds, as far as there is time."""
        number = len(self.results.first)
        for folds in self.results.repeats[1:]:
            names = self._repeated
            self._show_left([])
            if self.budget is not None:
                # Fewer points take less time, so that the first repetition gives an upper bound.
                seconds = sum(self.results.runs[name].seconds[-1] for name in names)
                if seconds * len(folds) / self.jobs > self._left():
                    return
            self._evaluate(list(range(number, number + len(folds))), names)
            number += len(folds)
            self._n_repeats += 1

    @property
    def _repeated(self) -> list[str]:
        """The methods that are evaluated on repetitions."""
        runs = self.results.runs
        return [n for n in self._complete if n in runs and runs[n].method not in COMPARED_ONLY]

    def _drop_similarities(self, waiting: list[str], leg: int) -> None:
        """Drop the methods on similarities that are worse than others; each leg leaves half as many.

        Once methods on all similarities are complete, only similarities are left on which a method makes significantly
        fewer errors.
        """
        runs = self.results.runs
        parts = list(dict.fromkeys(run.similarity for run in runs.values() if run.similarity is not None))
        if len(parts) <= FEW_SIMILARITIES or not self._stops:
            return
        lowest: dict[Any, float] = dict.fromkeys(parts, np.inf)
        single = [runs[name] for name in self._complete if name in runs and runs[name].similarity in parts]
        if not single:  # nothing is known of them yet
            return
        for own in single:
            posteriors = own.posteriors[own.shortlists[0][0]]
            losses = self.results.loss.losses(posteriors, self.results.truth, self.results.weights)
            lowest[own.similarity] = min(lowest[own.similarity], float(losses.mean()))
        kept = sorted(parts, key=lambda part: lowest[part])[: max(2, math.ceil(len(parts) / 2**leg))]
        if self._incumbent is not None and any(runs[n].similarity is None for n in self._complete if n in runs):
            truth, decisions = self.results.truth, self.results.loss.decisions
            wrong = [decisions(own.posteriors[own.shortlists[0][0]]) != truth for own in single]
            p_values = fewer_errors(wrong, decisions(self._incumbent) != truth)
            better = {own.similarity for own, p in zip(single, p_values) if p < SIGNIFICANT}
            kept = [part for part in kept if part in better]
        for name in waiting:
            if runs[name].similarity not in (None, *kept):
                runs.pop(name)
                self._skipped.append(name)

    def _left(self) -> float:
        """Return the seconds that are left for evaluation, without those that the rest of the fit will take."""
        if self.budget is None:
            return math.inf
        fits = sum(self._fit_seconds(name) for name in self._complete if name in self.results.runs)
        similarities = {run.similarity for run in self.results.runs.values()} - {None}
        reserve = min(_RESERVE + _RESERVE_EACH * len(similarities), _LARGEST_RESERVE)  # they are compared in the end
        return self._until_end() - reserve * self.budget - min(fits, _MOST_FITS * self.budget)

    def _until_end(self) -> float:
        return math.inf if self.budget is None else self.start + self.budget - time.perf_counter()

    def _fit_seconds(self, name: str) -> float:
        """Return the seconds that the fit of a method on all samples is expected to take."""
        run = self.results.runs[name]
        cost = record_of(run.method).cost
        return min(run.seconds) * (len(self.results.codes) / self._size[0]) ** cost.in_samples

    def _drop_slow_fits(self) -> None:
        """Leave out the methods whose fit on all samples there is no time for, but not all of them."""
        names = sorted((name for name in self._complete if name in self.results.runs), key=self._fit_seconds)
        left = self._until_end()
        self._leave_out({name: self._fit_seconds(name) for name in names[1:] if self._fit_seconds(name) > left})

    def _within(self, names: list[str], n_folds: int) -> list[str]:
        """Return the methods that can be evaluated on so many folds in time; the first ones have precedence."""
        left = self._left()
        kept: list[str] = []
        for name in names:
            run = self.results.runs[name]
            if not run.seconds:
                self._thin(run, _LARGEST_SHARE * left * self.jobs / n_folds)
            each = float(np.mean(run.seconds)) if run.seconds else self._expected(name)
            seconds = each * n_folds / self.jobs
            if seconds <= left or not (kept or self._complete):
                kept.append(name)
                left -= seconds
            else:
                self._leave_out({name: seconds})
        return kept

    def _thin(self, run: MethodResult, seconds: float) -> None:
        """Drop points of a grid that would take more than these seconds on a fold: first maps, then every other one."""
        while self._expected(run.name) > seconds and len(run.points) > _FEWEST_POINTS:
            maps = list(run.by_map.values())
            kept = sorted(i for points in maps[: math.ceil(len(maps) / 2)] for i in points)
            run.points = [run.points[i] for i in kept] if len(maps) > 1 else run.points[::2]

    def _leave_out(self, seconds: dict[str, float]) -> None:
        for name in seconds:
            if self.results.runs.pop(name, None) is not None:
                self.results.left_out.append(name)
                self._left_out[name] = seconds[name]

    def _show_left(self, waiting: list[str]) -> None:
        """Show the time that is left: about half of that of all methods on all folds, because some will stop."""
        if not (self._show and self._measured):
            return
        n_folds = len(self.results.first)
        n_repeated = sum(len(folds) for folds in self.results.repeats[self._n_repeats :])
        seconds = sum(self._expected(name) for name in waiting) * (n_folds + _REPEATED * n_repeated) / 2
        seconds += sum(self.results.runs[name].seconds[-1] for name in self._repeated) * n_repeated
        self._bars.left("methods", min(seconds / self.jobs, max(self._until_end(), 0.0)))

    def _note(self, name: str) -> None:
        self._bars.note("methods", name)
