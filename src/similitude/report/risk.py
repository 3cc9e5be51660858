"""The error of the most confident predictions against their share, with operating points: the section about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.diagnosis.card import percent
from similitude.report.markup import Section, chip, lead, numbers, picture, rounded, row, section, table
from similitude.sets import OperatingPoint, calibration_of

if TYPE_CHECKING:
    from similitude.report.findings import Findings

_MOST_POINTS = 500
_MOST_CLASSES = 40
_NONE = "\N{EN DASH}"


@dataclass(frozen=True)
class RiskFindings:
    """The curve of the left-out predictions, and the operating points, of all classes together and of each."""

    shares: np.ndarray
    errors: np.ndarray
    points: tuple[OperatingPoint, ...]
    by_class: tuple[OperatingPoint, ...]


def find_risk(auto: Any, left_out: Any, predicted: np.ndarray | None, labels: np.ndarray) -> RiskFindings | None:
    """Return the curve of left-out samples and the operating points, or None if the classifier keeps no posteriors."""
    if predicted is None or calibration_of(auto.best_estimator_) is None:
        return None
    tested = left_out.samples
    own = left_out.columns.codes(predicted[tested])
    confidence = np.round(left_out.kept_proba[np.arange(len(tested)), own], 10)
    order = np.argsort(-confidence, kind="stable")
    last = np.flatnonzero(np.append(np.diff(confidence[order]) != 0, True))
    wrong = np.cumsum((predicted != labels)[tested][order])[last]
    if len(last) > _MOST_POINTS:
        some = np.unique(np.linspace(0, len(last) - 1, _MOST_POINTS).round().astype(int))
        last, wrong = last[some], wrong[some]
    return RiskFindings(
        (last + 1) / len(tested),
        wrong / (last + 1),
        tuple(auto.operating_points()),
        tuple(auto.operating_points(per_class=True)),
    )


def risk_section(findings: Findings, found: RiskFindings) -> Section:
    """Return the curve with the operating points, and the tables of what each assigns."""
    drawn = [point for point in found.points if point.assigned.any()]
    delta = found.points[0].delta
    return section(
        "risk",
        "When to say nothing",
        lead(
            "A prediction can be left out if its confidence, the probability of the predicted class, is too low.",
            "The curve shows the error among the most confident predictions for left-out samples; each circle is the"
            f" cut-off at which these prove a precision, up to an error probability of {percent(delta)}."
            if drawn
            else "There are too few samples, or too many errors, to prove one of the precisions below.",
        ),
        '<div class="curves">'
        + picture(
            "risk-plot",
            "Error among the most confident predictions against their share; a table of the operating points follows.",
            "Error among the most confident predictions, with operating points named by their precision.",
        )
        + f'<div class="small">{_points(found)}</div></div>',
        f'<div class="small scrolls" tabindex="0">{_by_class(findings, found)}</div>',
        link="Operating points",
        data={
            "shares": rounded(found.shares),
            "errors": rounded(found.errors),
            "points": [[p.coverage, 1 - p.measured_precision, f"{p.precision:g}"] for p in drawn],
        },
    )


def _points(found: RiskFindings) -> str:
    rows = []
    for point in found.points:
        some = point.assigned.any()
        cells = (f"{point.cutoffs.min():.3f}", percent(point.coverage), percent(point.measured_precision))
        rows.append(row(f"{point.precision:g}", *(cells if some else (_NONE, "0%", _NONE))))
    return table(
        "Cut-offs for all classes together, and the left-out samples that are assigned there",
        [("Precision", ""), *numbers("Confidence", "Assigned", "Right")],
        rows,
        identifier="operating-points",
    )


def _by_class(findings: Findings, found: RiskFindings) -> str:
    """Return how many of the predictions of each class are assigned with a cut-off of its own."""
    predicted = found.by_class[0].predicted
    shown = np.argsort(-predicted, kind="stable")[:_MOST_CLASSES]
    rows = []
    for g in np.sort(shown).tolist():
        cells = [_share(point, g) for point in found.by_class]
        rows.append(row(chip(findings, g), int(predicted[g]), *cells))
    more = len(predicted) - len(shown)
    caption = (
        "The share of the predictions of each class that is assigned if the precision is to hold in every class;"
        " a star means that the class is predicted too rarely for a cut-off of its own and shares one with the others"
        f" of this kind{f' ({more:,} rarer classes are not listed)' if more else ''}"
    )
    heads = [f"At {point.precision:g}" for point in found.by_class]
    return table(caption, [("Class", ""), *numbers("Predicted", *heads)], rows, identifier="points-by-class")


def _share(point: OperatingPoint, g: int) -> str:
    if not point.predicted[g]:
        return _NONE
    star = "" if point.own[g] else "*"
    return f"{percent(point.assigned[g] / point.predicted[g])}{star}"
