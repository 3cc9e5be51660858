"""Several similarities of the same samples, side by side: what is found, and the section about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.auto.comparison import SimilarityComparison
from similitude.diagnosis import Diagnosis, diagnose
from similitude.diagnosis.card import percent
from similitude.reader import Contract, Samples, named_errors
from similitude.report.markup import Html, Section, figure, lead, name, numbers, p_text, row, section, table, text

_MOST_CORRELATED = 24
"""The largest number of similarities whose correlations are shown as a table."""


@dataclass(frozen=True)
class SideBySide:
    """Several similarities of the same samples."""

    shown: str
    diagnoses: dict[str, Diagnosis]
    comparison: SimilarityComparison | None


def read_samples(X: Any, y: Any, contract: dict[str, Any]) -> Any:
    """Return the samples, with one similarity or several, without a warning if they look like dissimilarities."""
    return Samples(Contract(**contract, takes_several=True), X, y, warns=False)


def side_by_side(samples: Samples, auto: Any, y: Any) -> SideBySide:
    """Return the diagnoses and the comparison of several similarities, and the one that the pictures show."""
    comparison = getattr(auto, "similarities_", None)
    diagnoses = getattr(auto, "diagnosis_", None)
    if diagnoses is None:
        diagnoses = {}
        for key, part in samples.parts.items():
            with named_errors(key, len(samples.parts)):
                diagnoses[key] = diagnose(part.values, y, dissimilarity=part.contract.map_name)
    used = {member.similarity for member in auto.best_estimator_.members_} if auto is not None else set()
    shown = used.pop() if len(used) == 1 else None
    if shown is None:
        shown = next(iter(samples.parts)) if comparison is None else comparison.best
    return SideBySide(shown, diagnoses, comparison)


def similarities_section(found: SideBySide) -> Section:
    """Return the section with the errors, the kinds and the correlations of several similarities."""
    kind_heads = [("Kind", ""), *numbers("NEF", "1-NN error")]
    compared = found.comparison
    if compared is None:
        rows = [row(name(similarity), *_kind(d)) for similarity, d in found.diagnoses.items()]
        kinds = table("NEF is the share of negative eigenvalues.", [("Similarity", ""), *kind_heads], rows)
        return section("similarities", "Similarities side by side", kinds)
    best = compared.standings[0]
    rows = []
    for s in compared.standings:
        without = "" if s.error_without is None else f"{100 * s.error_without:.2f}"
        balanced = [] if s.balanced_error is None else [f"{100 * s.balanced_error:.2f}"]
        errors = (
            _error(s),
            *balanced,
            p_text(s.p_value) or "best",
            without,
            p_text(s.p_value_without),
            Html(text(s.method)),
        )
        rows.append(row(name(s.similarity), *errors, *_kind(found.diagnoses[s.similarity])))
    stopped = [similarity for similarity in found.diagnoses if similarity not in compared.names]
    blank = [""] * (5 + len(_balanced_head(best)))
    rows += [row(name(similarity), *blank, *_kind(found.diagnoses[similarity])) for similarity in stopped]
    return section(
        "similarities",
        "Similarities side by side",
        lead(
            f"The error is smallest on <strong>{name(best.similarity)}</strong>, with {text(best.method)}.",
            f"The pictures below show <strong>{name(found.shown)}</strong>.",
            "Each error is that of the best method on a similarity, chosen on other samples than those on which it was"
            " counted.",
            f"On {len(stopped)} similarities all methods were stopped after some folds, where others were clearly"
            " better; they are at the end of the table, without an error."
            if stopped
            else "",
        ),
        table(
            "The first p belongs to the exact paired test against the first similarity. “Without it” is the error of"
            " the combination of the methods on all other similarities; its p belongs to the test against the"
            " combination on all of them. All p are corrected for the number of tests. NEF is the share of negative"
            " eigenvalues.",
            [
                ("Similarity", ""),
                *numbers("Error %", *_balanced_head(best), "p", "Without it %", "p"),
                ("Best method", ""),
                *kind_heads,
            ],
            rows,
        ),
        _together(compared),
        _correlations(compared),
        link="Similarities",
    )


def _balanced_head(standing: Any) -> list[str]:
    """Return the head of the column of balanced errors, if there is one."""
    return [] if standing.balanced_error is None else ["Balanced %"]


def _error(standing: Any) -> str:
    return f"{100 * standing.error:.2f} ± {100 * standing.standard_error:.2f}"


def _kind(d: Diagnosis) -> tuple[Html, str, str]:
    """Return the cells below "Kind", "NEF" and "1-NN error"."""
    loo = "" if d.leave_one_out_error is None else percent(d.leave_one_out_error)
    kind = f"{'' if d.symmetric else 'asymmetric, '}{'kernel' if d.psd else 'indefinite'}"
    return Html(text(kind)), figure(d.negative_eigenfraction), loo


def _together(compared: SimilarityComparison) -> str:
    rows = []
    for t in compared.together:
        balanced = [] if t.balanced_error is None else [f"{100 * t.balanced_error:.2f}"]
        rows.append(row(name(t.name), _error(t), *balanced, p_text(t.p_value)))
    if not rows:
        return ""
    return table(
        "What several similarities together gain over the best one, which is chosen, with its method, on other samples"
        " than those on which errors were counted.",
        [("Used", ""), *numbers("Error %", *_balanced_head(compared.together[0]), "p")],
        rows,
    )


def _correlations(compared: SimilarityComparison) -> str:
    if not 2 <= len(compared.names) <= _MOST_CORRELATED:
        return ""
    rows = [
        row(name(own), *("" if np.isnan(value) else figure(round(float(value), 2)) for value in line))
        for own, line in zip(compared.names, compared.correlations)
    ]
    caption = "Rank correlations of the similarities of all pairs of different samples."
    return f'<div class="scrolls" tabindex="0">{table(caption, [("", ""), *numbers(*compared.names)], rows)}</div>'
