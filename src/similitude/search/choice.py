"""Which method, or combination of methods, is chosen, and how all of them stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from similitude.numerics.significance import standard_error, wilcoxon_greater
from similitude.search.combination import Judged, Member, best_points, eligible, judged
from similitude.search.contest import Contest
from similitude.search.standing import COMBINATION, Standing, by_evidence


def chosen_method(
    contest: Contest, singles: dict[str, Judged], combined: list[Member], together: Judged, prefer: str
) -> str:
    """Return the name of the chosen method, or that of the combination of several.

    ``singles`` are the judged methods by name, ``together`` is the combination of the members ``combined``.
    """
    allowed = {run.name: singles[run.name] for run in eligible(contest)}
    if prefer == "simple":
        return _simplest(allowed)
    if len(combined) == 1:
        return combined[0].run.name
    best = min(allowed, key=lambda name: _mean_loss(contest, allowed[name]))
    return best if _clearly_better(singles[best], together) else COMBINATION


def leaderboard(
    contest: Contest, singles: dict[str, Judged], combined: list[Member], together: Judged, best_method: str
) -> list[Standing]:
    """Return the methods and their combination, from the smallest error to the largest."""
    rows = []
    for name, run in contest.runs.items():
        point = int(best_points(contest, run, None)[0])
        row = _standing(contest, run.method, singles[name], run.total_seconds, name == best_method)
        row = replace(
            row,
            similarity=run.similarity,
            parameters=contest.parameters(run, point),
            optimistic_error=float(np.mean(judged(contest, run.posteriors[point]).wrong)),
            weight=float(sum(member.weight for member in combined if member.run is run)),
        )
        rows.append(row)
    found = dict(singles)
    if len(combined) > 1:
        found[COMBINATION] = together
        seconds = sum(row.seconds for row in rows)
        row = _standing(contest, COMBINATION, together, seconds, best_method == COMBINATION)
        rows.append(replace(row, weight=1.0))
    rows.sort(key=lambda row: (row.error, row.loss))
    by_part = {name: _errors_by_part(contest, single) for name, single in found.items()}
    first = by_part[rows[0].name]
    tested = [replace(row, p_value=wilcoxon_greater(by_part[row.name], first)) for row in rows[1:]]
    return [rows[0], *tested]


def _mean_loss(contest: Contest, found: Judged) -> float:
    return float(contest.loss.mean(found.posteriors, contest.truth, contest.classes))


def _standing(contest: Contest, name: str, found: Judged, seconds: float, chosen: bool) -> Standing:
    error = float(np.mean(found.wrong))
    loss = _mean_loss(contest, found)
    row = Standing(name, error, standard_error(found.wrong), seconds=seconds, loss=loss, chosen=chosen)
    return replace(row, **by_evidence(found.wrong, contest.lacking))


def _errors_by_part(contest: Contest, found: Judged) -> np.ndarray:
    return np.array([np.mean(found.wrong[contest.parts == part]) for part in np.unique(contest.parts)])


def _clearly_better(single: Judged, together: Judged) -> bool:
    """Return whether the loss of a single method is lower by more than two standard errors of the difference."""
    gain = together.losses - single.losses
    return bool(np.mean(gain) > 2 * standard_error(gain))


def _simplest(singles: dict[str, Judged]) -> str:
    """Return the first method whose error exceeds the smallest by no more than the standard error of the smallest."""
    errors = {name: float(np.mean(single.wrong)) for name, single in singles.items()}
    best = min(errors, key=lambda name: errors[name])
    most = errors[best] + standard_error(singles[best].wrong) + 1e-12
    return next(name for name in singles if errors[name] <= most)
