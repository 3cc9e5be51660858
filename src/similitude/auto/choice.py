"""Which method, or combination of methods, is chosen, and how all of them stand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude.auto.combination import (
    Judgement,
    Member,
    best_points,
    combine,
    eligible,
    judge_method,
    judged,
    many_similarities,
)
from similitude.auto.leaderboard import COMBINATION, Leaderboard, LeaderboardRow, balanced_error, by_evidence
from similitude.auto.method_results import MethodResults
from similitude.numerics.significance import standard_error, weighted_mean, wilcoxon_greater


@dataclass(frozen=True)
class Choice:
    """The chosen method or combination, and how it was chosen."""

    method: str
    members: list[Member]
    parameters: dict[str, Any]
    leaderboard: Leaderboard
    judgement: Judgement
    """The answers of the choice for samples that were not used for it."""


def choose(results: MethodResults, prefer: str, random_state: int) -> Choice:
    """Return the choice among the methods and their combination."""
    singles = {name: judge_method(results, run) for name, run in results.runs.items()}
    combined, together = combine(results, random_state)
    best = chosen_method(results, singles, combined, together, prefer)
    rows = leaderboard(results, singles, combined, together, best)
    if best == COMBINATION:
        parameters: dict[str, Any] = {
            member.run.name: results.parameters(member.run, member.point) for member in combined
        }
        return Choice(best, combined, parameters, rows, together)
    run = results.runs[best]
    only = Member(run, int(best_points(results, run, None)[0]))
    return Choice(best, [only], results.parameters(run, only.point), rows, singles[best])


def chosen_method(
    results: MethodResults,
    singles: dict[str, Judgement],
    combined: list[Member],
    together: Judgement,
    prefer: str,
) -> str:
    """Return the name of the chosen method, or that of the combination of several.

    ``singles`` are the judged methods by name, ``together`` is the combination of the members ``combined``.
    """
    allowed = {run.name: singles[run.name] for run in eligible(results)}
    if prefer == "simple":
        return _simplest(allowed)
    if len(combined) == 1:
        return combined[0].run.name
    if many_similarities(results) and any(member.run.similarity is None for member in combined):
        return COMBINATION
    best = min(allowed, key=lambda name: _mean_loss(results, allowed[name]))
    return best if _clearly_better(results, singles[best], together) else COMBINATION


def leaderboard(
    results: MethodResults,
    singles: dict[str, Judgement],
    combined: list[Member],
    together: Judgement,
    best_method: str,
) -> Leaderboard:
    """Return the methods and their combination, the best first, and then those that were stopped."""
    rows = []
    for name, run in results.runs.items():
        point = int(best_points(results, run, None)[0])
        row = _standing(results, run.method, singles[name], run.total_seconds, name == best_method)
        row = replace(
            row,
            similarity=run.similarity,
            parameters=results.parameters(run, point),
            optimistic_error=judged(results, run.posteriors[point]).error[0],
            weight=float(sum(member.weight for member in combined if member.run is run)),
        )
        rows.append(row)
    found = dict(singles)
    if len(combined) > 1:
        found[COMBINATION] = together
        seconds = sum(row.seconds for row in rows)
        row = _standing(results, COMBINATION, together, seconds, best_method == COMBINATION)
        rows.append(replace(row, weight=1.0))
    rows.sort(key=lambda row: (row.error, row.loss) if results.loss.scoring_is_default else (row.loss, row.error))
    by_part = {name: _errors_by_part(results, single) for name, single in found.items()}
    first = by_part[rows[0].name]
    tested = [replace(row, p_value=wilcoxon_greater(by_part[row.name], first)) for row in rows[1:]]
    return Leaderboard([rows[0], *tested, *_stopped_rows(results)])


def _stopped_rows(results: MethodResults) -> list[LeaderboardRow]:
    """Return the methods that were stopped, from the smallest excess over the error of the others to the largest."""
    by_name = {
        name: [weighted_mean(each, own.weights) for each in (own.wrong, own.others)]
        for name, own in results.stopped.items()
    }
    stopped = sorted(by_name, key=lambda name: by_name[name][0][0] - by_name[name][1][0])
    return [
        LeaderboardRow(
            own.run.method,
            *by_name[name][0],
            own.parameters,
            own.run.total_seconds,
            similarity=own.run.similarity,
            n_folds=len(own.run.seconds),
            error_of_others=by_name[name][1][0],
        )
        for name, own in ((name, results.stopped[name]) for name in stopped)
    ]


def _mean_loss(results: MethodResults, found: Judgement) -> float:
    return float(results.loss.mean(found.posteriors, results.truth, results.classes, results.weights))


def _standing(results: MethodResults, name: str, found: Judgement, seconds: float, chosen: bool) -> LeaderboardRow:
    loss = _mean_loss(results, found)
    row = LeaderboardRow(name, *found.error, seconds=seconds, loss=loss, chosen=chosen)
    row = replace(
        row, n_folds=results.n_folds, score=None if results.loss.scoring_is_default else results.loss.score(loss)
    )
    row = replace(row, balanced_error=balanced_error(found.wrong, results.truth, results.weights))
    return replace(row, **by_evidence(found.wrong, results.lacking, results.weights))


def _errors_by_part(results: MethodResults, found: Judgement) -> np.ndarray:
    parts = [results.parts == part for part in np.unique(results.parts)]
    return np.array([weighted_mean(found.wrong[own], results.weights_of(own))[0] for own in parts])


def _clearly_better(results: MethodResults, single: Judgement, together: Judgement) -> bool:
    """Return whether the loss of a single method is lower by more than two standard errors of the difference.

    The losses are those of the samples or, if a scorer needs several samples, of the parts.
    """
    gain = together.losses - single.losses
    if not results.loss.by_sample:
        if _mean_loss(results, single) >= _mean_loss(results, together):
            return False
        gain = _losses_by_part(results, together) - _losses_by_part(results, single)
        gain = gain[~np.isnan(gain)]
    return len(gain) > 1 and bool(np.mean(gain) > 2 * standard_error(gain))


def _losses_by_part(results: MethodResults, found: Judgement) -> np.ndarray:
    """Return the loss of each part; NaN if the scorer cannot score it, for instance because a class is missing."""
    losses = []
    for part in np.unique(results.parts):
        own = results.parts == part
        try:
            weights = results.weights_of(own)
            losses.append(float(results.loss.mean(found.posteriors[own], results.truth[own], results.classes, weights)))
        except ValueError:
            losses.append(float("nan"))
    return np.array(losses)


def _simplest(singles: dict[str, Judgement]) -> str:
    """Return the first method whose error exceeds the smallest by no more than the standard error of the smallest."""
    errors = {name: single.error[0] for name, single in singles.items()}
    best = min(errors, key=lambda name: errors[name])
    most = errors[best] + singles[best].error[1] + 1e-12
    return next(name for name in singles if errors[name] <= most)
