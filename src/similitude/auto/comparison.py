"""The comparison of several similarities of the same samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import numpy as np
from scipy import sparse, stats

from similitude.auto.combination import (
    Judgement,
    best_points,
    combine_each,
    eligible,
    judge_choice,
    judge_method,
)
from similitude.auto.leaderboard import balanced_error, names_text
from similitude.auto.method_results import MethodResult, MethodResults
from similitude.auto.methods import COMPARED_ONLY
from similitude.numerics.significance import holm, mcnemar
from similitude.proximity.proximities import as_proximities
from similitude.proximity.split import cut
from similitude.reader import Samples

MOST_COMPARED = 1000
"""The largest number of samples whose similarities are ranked for the correlations; if there are more, some are
drawn."""

CHOICE = "best similarity"
TOGETHER = "combination of all"


@dataclass(frozen=True)
class SimilarityRow:
    """The result of one of several similarities."""

    similarity: str
    method: str
    error: float
    standard_error: float
    p_value: float | None
    error_without: float | None
    p_value_without: float | None
    balanced_error: float | None = None


@dataclass(frozen=True)
class Together:
    """The result of using several similarities, against choosing one."""

    name: str
    error: float
    standard_error: float
    p_value: float | None
    balanced_error: float | None = None


@dataclass(frozen=True, repr=False)
class SimilarityComparison:
    """Which of several similarities is best, what each adds to the others, and how alike they are.

    ``print`` shows it as tables. The tests are exact paired tests of the errors on the same samples (McNemar),
    corrected for their number (Holm): all pairs of similarities, all combinations without one similarity, and all ways
    of using several are three families.

    Parameters
    ----------
    standings : list of SimilarityRow
        The similarities, from the smallest error to the largest.
    together : list of Together
        The choice of one similarity, the combination of all, and the methods that use all of them.
    names : list of str
        The names of the similarities, in the order of the matrices below; those for which there was no time are left
        out.
    p_values : ndarray of shape (V, V)
        The corrected p-values of the paired tests between similarities; 1 on the diagonal.
    correlations : ndarray of shape (V, V)
        The rank correlations (Spearman) of the similarities of different samples; NaN for a constant matrix.
    n_tested : int
        The number of samples on which errors were counted.
    left_out : list of str
        The methods for which there was no time, each with its similarity.
    failures : dict
        The messages of the methods that failed, by name.

    See Also
    --------
    similitude.compare_similarities
        Return which of several similarities is best, what each adds to the others, and how alike they are.
    """

    standings: list[SimilarityRow]
    together: list[Together]
    names: list[str]
    p_values: np.ndarray
    correlations: np.ndarray
    n_tested: int
    left_out: list[str]
    failures: dict[str, str]

    @property
    def best(self) -> str:
        """The name of the similarity with the smallest error."""
        return self.standings[0].similarity

    def __repr__(self) -> str:
        is_unequal = self.standings[0].balanced_error is not None
        balanced = ["balanced %"] if is_unequal else []
        rows = [["similarity", "error % (s.e.)", *balanced, "p", "without it %", "p", "best method"]]
        for row in self.standings:
            rows.append(
                [
                    row.similarity,
                    _percents(row.error, row.standard_error),
                    *([f"{100 * (row.balanced_error or 0):.2f}"] if is_unequal else []),
                    _p(row.p_value),
                    "" if row.error_without is None else f"{100 * row.error_without:.2f}",
                    _p(row.p_value_without),
                    row.method,
                ]
            )
        used = [["together", "error % (s.e.)", *balanced, "p"]]
        for other in self.together:
            more = [f"{100 * (other.balanced_error or 0):.2f}"] if is_unequal else []
            used.append([other.name, _percents(other.error, other.standard_error), *more, _p(other.p_value)])
        alike = [["rank correlations", *self.names]]
        alike += [[name, *(f"{value:.2f}" for value in row)] for name, row in zip(self.names, self.correlations)]
        blocks = [_aligned(table) for table in ([rows, used, alike] if len(self.names) > 1 else [rows])]
        return "\n\n".join(blocks + ([f"no time for {names_text(self.left_out)}"] if self.left_out else []))


def _percents(error: float, deviation: float) -> str:
    return f"{100 * error:.2f} ({100 * deviation:.2f})"


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)


def compared(results: MethodResults, random_state: int) -> SimilarityComparison:
    """Return the comparison of the similarities on which methods were evaluated."""
    runs = {name: found for name in results.samples.parts if (found := _runs_on(results, name))}
    names = list(runs)
    if not names:
        raise ValueError("methods: at least one must be a method on a single similarity, to compare the similarities.")
    singles = {name: judge_choice(results, runs[name]) for name in names}
    wrong = [singles[name].wrong for name in names]
    p_values = _pairs(wrong)
    everything = [run for name in names for run in runs[name]]
    combined, *without = combine_each(
        results,
        random_state,
        [everything, *([run for run in everything if run.similarity != name] for name in names if len(names) > 1)],
    )
    tests = holm([mcnemar(other.wrong, combined.wrong) for other in without])
    order = sorted(range(len(names)), key=lambda i: (singles[names[i]].error[0], np.mean(singles[names[i]].losses)))
    first = order[0]
    standings = [
        SimilarityRow(
            names[i],
            _best_run(results, runs[names[i]]).method,
            *_error(singles[names[i]]),
            None if i == first else float(p_values[i, first]),
            without[i].error[0] if without else None,
            float(tests[i]) if without else None,
            balanced_error(wrong[i], results.truth),
        )
        for i in order
    ]
    return SimilarityComparison(
        standings,
        _together(results, everything, combined) if len(names) > 1 else [],
        names,
        p_values,
        correlations({name: results.samples.parts[name] for name in names}),
        len(results.tested),
        list(results.left_out),
        dict(results.failures),
    )


def _runs_on(results: MethodResults, name: str) -> list[MethodResult]:
    own = [run for run in results.runs.values() if run.similarity == name]
    return [run for run in own if run.method not in COMPARED_ONLY] or own


def _error(found: Judgement) -> tuple[float, float]:
    return found.error


def _best_run(results: MethodResults, runs: list[MethodResult]) -> MethodResult:
    """Return the method of lowest loss at its best point."""
    truth, classes = results.truth, results.classes
    best = [run.posteriors[best_points(results, run, None)[0]] for run in runs]
    return runs[int(np.argmin(results.loss.mean(np.stack(best), truth, classes, results.weights)))]


def _pairs(wrong: list[np.ndarray]) -> np.ndarray:
    """Return the corrected p-values of the tests between all pairs."""
    found = np.ones((len(wrong), len(wrong)))
    pairs = list(combinations(range(len(wrong)), 2))
    for (i, j), p in zip(pairs, holm([mcnemar(wrong[i], wrong[j]) for i, j in pairs])):
        found[i, j] = found[j, i] = p
    return found


def _together(results: MethodResults, runs: list[MethodResult], combined: Judgement) -> list[Together]:
    choice = judge_choice(results, runs)
    found = {TOGETHER: combined}
    found |= {run.name: judge_method(results, run) for run in eligible(results) if run.similarity is None}
    tests = holm([mcnemar(other.wrong, choice.wrong) for other in found.values()])
    judged = [(CHOICE, choice, None), *((name, other, float(p)) for (name, other), p in zip(found.items(), tests))]
    return [
        Together(name, *_error(other), p_value, balanced_error(other.wrong, results.truth))
        for name, other, p_value in judged
    ]


def correlations(samples: dict[str, Samples]) -> np.ndarray:
    """Return the rank correlations of several similarities."""
    n = next(iter(samples.values())).n
    drawn = np.arange(n) if n <= MOST_COMPARED else np.sort(np.random.RandomState(0).permutation(n)[:MOST_COMPARED])
    off = ~np.eye(len(drawn), dtype=bool)
    values = [_known_or_nan(part, drawn)[off] for part in samples.values()]
    unknown = [np.isnan(own) for own in values]
    # Ranks are computed once for each matrix, unless they depend on the pairs that are known in the other one.
    ranks = None if np.any(unknown) else [stats.rankdata(own) for own in values]
    found = np.ones((len(values), len(values)))
    for i, j in combinations_with_replacement(range(len(values)), 2):
        known = ~(unknown[i] | unknown[j])
        two = (ranks[i], ranks[j]) if ranks else (stats.rankdata(values[i][known]), stats.rankdata(values[j][known]))
        found[i, j] = found[j, i] = _correlation(*two)
    return found


def _known_or_nan(part: Samples, drawn: np.ndarray) -> np.ndarray:
    """Return similarities, or negative dissimilarities; unknown ones are NaN."""
    given = as_proximities(part.values)
    values, sign = cut(given.S, drawn, drawn), 1.0 if part.contract.map_name is None else -1.0
    if not sparse.issparse(values):
        return sign * np.asarray(values, dtype=float)
    absent = {"zero": 0.0, "unknown": np.nan, "farthest": 0.0 if sign > 0 else -np.inf}[given.absent]
    entries = values.tocoo()
    found = np.full(values.shape, absent)
    found[entries.row, entries.col] = sign * entries.data
    return found


def _correlation(left: np.ndarray, right: np.ndarray) -> float:
    if len(left) < 2 or np.ptp(left) == 0 or np.ptp(right) == 0:
        return float("nan")
    return float(np.corrcoef(left, right)[0, 1])
