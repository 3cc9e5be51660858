"""The section about several similarities, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.diagnosis.card import percent
from similitude.report.markup import Html, Section, figure, lead, name, row, section, table, text

if TYPE_CHECKING:
    from similitude.report.side_by_side import SideBySide

_MOST_CORRELATED = 24
"""The largest number of similarities whose correlations are shown as a table."""


def similarities_section(found: SideBySide) -> Section:
    """Return the section with the errors, the kinds and the correlations of several similarities."""
    if found.comparison is None:
        return section("similarities", "Similarities side by side", _kinds(found))
    best, *_ = found.comparison.standings
    return section(
        "similarities",
        "Similarities side by side",
        lead(
            f"The error is smallest on <strong>{name(best.similarity)}</strong>, with {text(best.method)}.",
            f"The pictures below show <strong>{name(found.shown)}</strong>.",
            "Each error is that of the best method on a similarity, chosen on other samples than those on which it was"
            " counted.",
        ),
        _errors(found),
        _together(found),
        _correlations(found),
        link="Similarities",
    )


def _p(value: float | None) -> str:
    return "" if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def _error(standing: Any) -> str:
    return f"{100 * standing.error:.2f} ± {100 * standing.standard_error:.2f}"


def _kind(found: SideBySide, similarity: str) -> tuple[Html, str, str]:
    d = found.diagnoses[similarity]
    loo = "" if d.leave_one_out_error is None else percent(d.leave_one_out_error)
    kind = f"{'' if d.symmetric else 'asymmetric, '}{'kernel' if d.psd else 'indefinite'}"
    return Html(text(kind)), figure(d.negative_eigenfraction), loo


_KIND_HEADS = [("Kind", ""), ("NEF", "number"), ("1-NN error", "number")]


def _kinds(found: SideBySide) -> str:
    rows = [row(name(similarity), *_kind(found, similarity)) for similarity in found.diagnoses]
    return table("NEF is the share of negative eigenvalues.", [("Similarity", ""), *_KIND_HEADS], rows)


def _errors(found: SideBySide) -> str:
    assert found.comparison is not None
    rows = []
    for s in found.comparison.standings:
        without = "" if s.error_without is None else f"{100 * s.error_without:.2f}"
        errors = _error(s), _p(s.p_value) or "best", without, _p(s.p_value_without), Html(text(s.method))
        rows.append(row(name(s.similarity), *errors, *_kind(found, s.similarity)))
    heads = [
        ("Similarity", ""),
        ("Error %", "number"),
        ("p", "number"),
        ("Without it %", "number"),
        ("p", "number"),
        ("Best method", ""),
        *_KIND_HEADS,
    ]
    return table(
        "The first p belongs to the exact paired test against the first similarity. “Without it” is the error of the"
        " combination of the methods on all other similarities; its p belongs to the test against the combination on"
        " all of them. All p are corrected for the number of tests. NEF is the share of negative eigenvalues.",
        heads,
        rows,
    )


def _together(found: SideBySide) -> str:
    assert found.comparison is not None
    rows = [row(name(t.name), _error(t), _p(t.p_value)) for t in found.comparison.together]
    if not rows:
        return ""
    return table(
        "What several similarities together gain over the best one, which is chosen, with its method, on other samples"
        " than those on which errors were counted.",
        [("Used", ""), ("Error %", "number"), ("p", "number")],
        rows,
    )


def _correlations(found: SideBySide) -> str:
    assert found.comparison is not None
    names, values = found.comparison.names, found.comparison.correlations
    if not 2 <= len(names) <= _MOST_CORRELATED:
        return ""
    rows = [
        row(name(own), *("" if np.isnan(value) else figure(round(float(value), 2)) for value in line))
        for own, line in zip(names, values)
    ]
    return table(
        "Rank correlations of the similarities of all pairs of different samples.",
        [("", ""), *((own, "number") for own in names)],
        rows,
    )
