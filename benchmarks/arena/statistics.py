"""The comparison of entrants over data sets and partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.arena.data import SOURCES
from benchmarks.arena.store import SINGLE, Cell
from similitude.experiments.statistics import rank_methods
from similitude.numerics.significance import holm, paired_differences, standard_error, wilcoxon_greater

LEVEL = 0.05
BASELINE = "k-NN"
MEASURES = ("error", "brier", "ece", "seconds")


def corrected_t(a: Any, b: Any, ratio: float) -> float:
    """Return the two-sided p-value of the paired t-test corrected for overlapping partitions.

    The variance of the mean difference over J partitions is estimated by (1/J + ratio) times that of the differences,
    because the training parts overlap and the differences are therefore not independent.

    Parameters
    ----------
    a, b : array-like of shape (J,)
        Errors on the same partitions; a pair with a NaN is left out.
    ratio : float
        The number of test samples divided by that of training samples; 0 gives the usual t-test.

    Returns
    -------
    float
        The p-value; 1 if there are fewer than two pairs or no differences.

    References
    ----------
    Nadeau & Bengio, "Inference for the generalization error", Machine Learning 52, 2003, Section 3.
    """
    differences = paired_differences(a, b)
    n = len(differences)
    if n < 2 or not differences.any():
        return 1.0
    deviation = np.sqrt((1 / n + ratio) * differences.var(ddof=1))
    if deviation == 0:
        return 0.0
    return float(2 * stats.t.sf(abs(differences.mean()) / deviation, n - 1))


def signed_rank(differences: np.ndarray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test that differences are symmetric around 0."""
    zero = np.zeros(len(differences))
    return min(1.0, 2 * min(wilcoxon_greater(differences, zero), wilcoxon_greater(zero, differences)))


@dataclass(frozen=True)
class LeaderboardRow:
    """An entrant's means over the real data sets; NaN where it has no result on one of them."""

    entrant: str
    kind: str
    error: float
    difference: float
    """How much higher its error is than that of ``AutoClassifier``, on the same partitions."""
    spread: float
    """The standard error of the difference, from its spread over the data sets."""
    p_value: float
    """That there is no such difference: Wilcoxon's signed-rank test over the data sets, adjusted by Holm."""
    rank: float
    regret: float
    brier: float
    ece: float
    seconds: float
    missing: int


@dataclass(frozen=True)
class Duel:
    """The real data sets on which one entrant is significantly better or worse than another, or has a lower mean."""

    wins: tuple[str, ...]
    losses: tuple[str, ...]
    lower: int
    higher: int


class Standings:
    """The results of a number of cells as arrays, and the comparisons of entrants.

    Parameters
    ----------
    cells : iterable of Cell
        The cells.

    Attributes
    ----------
    datasets : tuple of str
        The real data sets.
    simulated : tuple of str
        The simulated data sets, which are part of no mean and no test.
    kinds : dict of str to str
        The kinds of the entrants by name.
    partitions : tuple of int
        The partitions of which there is a cell.
    """

    def __init__(self, cells: Iterable[Cell]):
        cells = list(cells)
        if not cells:
            raise ValueError("There are no finished cells.")
        places = list(SOURCES)
        self.cells = {cell.data: cell for cell in cells}
        known = sorted(self.cells, key=lambda name: (places.index(name) if name in places else len(places), name))
        self.datasets = tuple(name for name in known if not self.cells[name].simulated)
        self.simulated = tuple(name for name in known if self.cells[name].simulated)
        self.partitions = tuple(sorted({cell.partition for cell in cells}))
        self.counts = Counter(cell.data for cell in cells)
        self.kinds: dict[str, str] = {}
        for cell in cells:
            for result in cell.results:
                if self.kinds.setdefault(result.entrant, result.kind) != result.kind:
                    raise ValueError(
                        f"{result.entrant!r} is of kind {self.kinds[result.entrant]!r} in some cells and of kind "
                        f"{result.kind!r} in others; they are from different versions. Use another output folder."
                    )
        self._row = {name: i for i, name in enumerate(self.kinds)}
        self._column = {name: i for i, name in enumerate((*self.datasets, *self.simulated))}
        layer = {partition: i for i, partition in enumerate(self.partitions)}
        shape = (len(self._row), len(self._column), len(layer))
        self._values = {measure: np.full(shape, np.nan) for measure in MEASURES}
        for cell in cells:
            for result in cell.results:
                at = self._row[result.entrant], self._column[cell.data], layer[cell.partition]
                for measure in MEASURES:
                    self._values[measure][at] = getattr(result, measure)

    @property
    def entrants(self) -> tuple[str, ...]:
        """The names of the entrants."""
        return tuple(self.kinds)

    def of_kind(self, *kinds: str) -> tuple[str, ...]:
        """Return the entrants of these kinds."""
        return tuple(name for name, kind in self.kinds.items() if kind in kinds)

    def mean(self, entrant: str, dataset: str, measure: str = "error") -> float:
        """Return the mean over the partitions; NaN if there is no result."""
        return float(self._means[measure][self._row[entrant], self._column[dataset]])

    def standard_error(self, entrant: str, dataset: str) -> float:
        """Return the standard error of the mean error over the partitions; NaN if there are fewer than two."""
        errors = self._errors(entrant, dataset)
        errors = errors[np.isfinite(errors)]
        return standard_error(errors) if len(errors) > 1 else np.nan

    def best_single(self, dataset: str) -> str | None:
        """Return the single method or peer with the lowest mean error on a data set, known only in hindsight."""
        single = [name for name in self.of_kind(*SINGLE) if np.isfinite(self.mean(name, dataset))]
        return min(single, key=lambda name: self.mean(name, dataset), default=None)

    @cached_property
    def complete(self) -> tuple[str, ...]:
        """The entrants that have a result on every real data set."""
        finite = np.isfinite(self._real("error")).all(axis=1) & bool(self.datasets)
        return tuple(name for name in self.entrants if finite[self._row[name]])

    @cached_property
    def overall(self) -> list[LeaderboardRow]:
        """The means over the real data sets, lowest error first; entrants that are not complete are last, with NaN."""
        errors = self._real("error")
        ranks = dict.fromkeys(self.entrants, np.nan)
        if len(self.complete) > 1:
            ranking = rank_methods(self.mean_errors(self.complete), self.complete)
            ranks.update(zip(ranking.methods, ranking.ranks.tolist()))
        lowest = _nanmin(errors[[self._row[name] for name in self.of_kind(*SINGLE)]])
        differences, p_values = self._differences(), dict.fromkeys(self.entrants, np.nan)
        known = [name for name in self.complete if np.isfinite(differences[name]).all() and self.kinds[name] in SINGLE]
        p_values.update(zip(known, holm([signed_rank(differences[name]) for name in known]).tolist()))
        taken = sum(self.counts[name] for name in self.datasets)
        rows = []
        for name, kind in self.kinds.items():
            i = self._row[name]
            difference, spread = _mean(differences[name]), standard_error(differences[name])
            brier, ece, seconds = (_mean(self._real(measure)[i]) for measure in MEASURES[1:])
            missing = taken - int(np.isfinite(self._values["error"][i, : len(self.datasets)]).sum())
            regret = _mean(errors[i] - lowest)
            rows.append(
                LeaderboardRow(
                    entrant=name,
                    kind=kind,
                    error=_mean(errors[i]),
                    difference=difference,
                    spread=spread,
                    p_value=p_values[name],
                    rank=ranks[name],
                    regret=regret,
                    brier=brier,
                    ece=ece,
                    seconds=seconds,
                    missing=missing,
                )
            )
        return sorted(rows, key=lambda row: np.inf if np.isnan(row.error) else row.error)

    def _differences(self) -> dict[str, np.ndarray]:
        """Return how much higher the error of each entrant is than that of AutoClassifier, on each real data set.

        It is the mean over the partitions on which both have a result.
        """
        errors = self._values["error"][:, : len(self.datasets)]
        automatic = self.of_kind("auto")
        own = errors[self._row[automatic[0]]] if automatic else np.full(errors.shape[1:], np.nan)
        means = _finite_mean(errors - own)
        return {name: means[self._row[name]] for name in self.entrants}

    def mean_errors(self, entrants: Sequence[str]) -> np.ndarray:
        """Return the mean errors on the real data sets, an array of shape (entrants, data sets)."""
        return self._real("error")[[self._row[name] for name in entrants]]

    def duel(self, entrant: str, other: str, level: float = LEVEL) -> Duel:
        """Compare two entrants by the corrected t-test on each real data set, with Holm's adjustment over them."""
        names, differences, p_values = [], [], []
        for name in self.datasets:
            a, b = self._errors(entrant, name), self._errors(other, name)
            difference = (a - b)[np.isfinite(a - b)]
            if len(difference):
                cell = self.cells[name]
                names.append(name)
                differences.append(np.round(difference.mean(), 12))
                p_values.append(corrected_t(a, b, cell.n_test / cell.n_train))
        found = list(zip(names, differences, holm(p_values) <= level))
        return Duel(
            wins=tuple(name for name, difference, significant in found if significant and difference < 0),
            losses=tuple(name for name, difference, significant in found if significant and difference > 0),
            lower=sum(difference < 0 for difference in differences),
            higher=sum(difference > 0 for difference in differences),
        )

    def share_of_seconds(self, entrant: str) -> float:
        """Return the share of the time of all single methods and peers that an entrant took."""
        total = {name: np.nansum(self._values["seconds"][self._row[name]]) for name in self.of_kind(*SINGLE)}
        return float(total[entrant] / sum(total.values())) if entrant in total and sum(total.values()) > 0 else np.nan

    def leading(self, n: int = 12) -> tuple[str, ...]:
        """Return the n complete entrants with the lowest mean errors, and always k-NN and the automatic choices.

        Other ways of combining are left out.
        """
        shown = ("auto", *SINGLE)
        ordered = [row.entrant for row in self.overall if row.entrant in self.complete and row.kind in shown]
        always = (BASELINE, *self.of_kind("auto"))
        return tuple(name for place, name in enumerate(ordered) if place < n or name in always)

    def _errors(self, entrant: str, dataset: str) -> np.ndarray:
        return self._values["error"][self._row[entrant], self._column[dataset]]

    def _real(self, measure: str) -> np.ndarray:
        return self._means[measure][:, : len(self.datasets)]

    @cached_property
    def _means(self) -> dict[str, np.ndarray]:
        return {measure: _finite_mean(values) for measure, values in self._values.items()}


def _finite_mean(values: np.ndarray) -> np.ndarray:
    """Return the mean over the last axis of the values that are finite; NaN if there is none."""
    counts = np.isfinite(values).sum(axis=-1)
    return np.where(counts > 0, np.nansum(values, axis=-1) / np.maximum(counts, 1), np.nan)


def _mean(values: np.ndarray) -> float:
    """Return the mean; NaN if a value is NaN or there is none."""
    return float(np.mean(values)) if len(values) else np.nan


def _nanmin(values: np.ndarray) -> np.ndarray:
    """Return the smallest value of each column; NaN if there is none."""
    smallest = np.min(np.where(np.isnan(values), np.inf, values), axis=0, initial=np.inf)
    return np.where(np.isfinite(smallest), smallest, np.nan)
