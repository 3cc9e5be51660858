"""Sets of classes of the left-out samples, and samples that fit no class: what is found, and the section about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.diagnosis.card import percent
from similitude.numerics.topk import top_k
from similitude.proximity.check import dense
from similitude.proximity.split import cut
from similitude.report.markup import Html, Section, chip, figure, lead, name, numbers, row, section, table, text
from similitude.sets import SetCoverage, calibration_of, typicality_of

if TYPE_CHECKING:
    from similitude.report.findings import Findings

CONFIDENCE = 0.9
UNUSUAL = 0.05
"""A sample is unlike all classes if its typicality for each class is at most this."""

MOST_UNUSUAL = 20
_NEIGHBORS = 3
_SIZES_APART = 4


@dataclass(frozen=True)
class Unusual:
    """A sample that is unlike all classes."""

    sample: int
    typicality: float
    neighbors: np.ndarray
    similarities: np.ndarray


@dataclass(frozen=True)
class SetFindings:
    """What the page shows about sets of classes."""

    coverage: SetCoverage
    class_conditional: bool
    unusual: tuple[Unusual, ...]
    n_unusual: int
    can_be_unusual: bool
    n_without_evidence: int


def find_sets(auto: Any, S: Any) -> SetFindings | None:
    """Return the sets of a fitted classifier, or None if there are too few samples for sets, or too many to show."""
    model: Any = auto.best_estimator_
    if calibration_of(model) is None:
        return None
    typicality = typicality_of(model)
    values = None if typicality is None else typicality.of_training()
    if typicality is None or values is None:
        return None
    coverage, class_conditional = None, True
    for class_conditional in (True, False):
        try:
            coverage = auto.coverage(CONFIDENCE, class_conditional=class_conditional)
            break
        except ValueError:  # classes, or all samples together, are too few
            continue
    if coverage is None:
        return None
    largest = values.max(axis=1)
    order = np.argsort(largest, kind="stable")
    order = order[largest[order] <= UNUSUAL]
    shown = order[:MOST_UNUSUAL]
    found = []
    if len(shown):
        similarities, neighbors = top_k(without_self(S, shown), min(_NEIGHBORS, S.shape[0] - 1))
        found = [Unusual(int(i), float(largest[i]), *pair) for i, *pair in zip(shown, neighbors, similarities)]
    smallest = max(int(typicality.counts.min()), 1)
    lacking = int((~typicality.evidence).sum())
    return SetFindings(coverage, class_conditional, tuple(found), len(order), 1 / smallest <= UNUSUAL, lacking)


def without_self(S: Any, samples: np.ndarray) -> np.ndarray:
    """Return the dense rows of these samples, each with an entry for itself that is smaller than all others."""
    rows = np.array(dense(cut(S, samples, np.arange(S.shape[1]))), dtype=np.float64)
    rows[np.arange(len(rows)), samples] = np.nextafter(rows.min(initial=np.inf), -np.inf)
    return rows


def sets_section(findings: Findings, found: SetFindings) -> Section:
    """Return the coverage by class, the sizes of the sets, and the samples that are unlike all classes."""
    known, lacking = found.coverage, found.n_without_evidence
    how = (
        "each class is calibrated on its own samples"
        if found.class_conditional
        else "all classes are calibrated together, because some are too small"
    )
    apart = known.by_evidence
    return section(
        "sets",
        "Sets and novelty",
        lead(
            f"Sets of classes at a confidence of {percent(known.confidence)} ({how}) hold the class of"
            f" <strong>{percent(known.coverage)}</strong> of the {len(known.sets):,} left-out samples, and have"
            f" {known.mean_size:.2f} classes on average.",
            "The sets are approximate: those of each fold are calibrated on the answers for the others.",
            "Typicality is how usual a sample would be in a class: the share of the class that is as unusual as it.",
            ""
            if apart is None
            else f"Samples without evidence are calibrated apart: {percent(apart[0])} are covered with evidence,"
            f" {percent(apart[1])} without.",
            f"{lacking:,} sample{' gives' if lacking == 1 else 's give'} no evidence, and so no typicality."
            if lacking
            else "",
        ),
        f'<div class="pair"><div class="small">{_coverage(findings, known)}</div>'
        f'<div class="small">{_unusual(findings, found)}</div></div>',
        link="Sets",
    )


def _coverage(findings: Findings, known: SetCoverage) -> str:
    G = len(findings.classes)
    shown = list(range(min(G, _SIZES_APART) + 1))
    sizes = ["Empty", *map(str, shown[1:])]
    if G > _SIZES_APART:
        sizes[-1] += " or more"
    rows = []
    for g in range(G):
        if known.counts[g]:
            counts = [int(known.sizes[g, k] if k < _SIZES_APART else known.sizes[g, k:].sum()) for k in shown]
            rows.append(row(chip(findings, g), int(known.counts[g]), percent(known.by_class[g]), *counts))
    caption = "Left-out samples whose set holds their class, and sets by number of classes"
    return table(caption, [("Class", ""), *numbers("Samples", "Coverage", *sizes)], rows)


def _unusual(findings: Findings, found: SetFindings) -> str:
    n = len(findings.labels)
    if not found.n_unusual:
        why = "" if found.can_be_unusual else " Some classes are so small that any sample could belong to them."
        return f"<p>None of the {n:,} samples is unlike all classes.{text(why)}</p>"
    rows = []
    for each in found.unusual:
        neighbors = [
            f"{name(findings.ids[j])} {chip(findings, int(findings.labels[j]))} {figure(float(similarity))}"
            for j, similarity in zip(each.neighbors, each.similarities)
        ]
        label = chip(findings, int(findings.labels[each.sample]))
        rows.append(row(name(findings.ids[each.sample]), label, figure(each.typicality), Html("<br>".join(neighbors))))
    more = found.n_unusual - len(found.unusual)
    caption = (
        f"Samples unlike all classes: {found.n_unusual:,} of {n:,}, less similar to each class than all but"
        f" {percent(UNUSUAL)} of its own samples{f' ({more:,} more are not listed)' if more else ''}"
    )
    heads = [("Sample", ""), ("Labelled", ""), ("Typicality", "number"), ("Nearest neighbours", "")]
    return table(caption, heads, rows)
