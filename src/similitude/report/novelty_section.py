"""The section about sets of classes and samples that fit no class."""

from __future__ import annotations

import numpy as np

from similitude.diagnosis.card import percent
from similitude.report.findings import Findings
from similitude.report.markup import Html, Section, chip, figure, lead, name, row, section, table, text
from similitude.report.novelty import UNUSUAL, SetFindings

_SIZES_APART = 4


def novelty_section(findings: Findings, found: SetFindings) -> Section:
    """Return the coverage by class, the sizes of the sets, and the samples that are unlike all classes."""
    known = found.coverage
    how = (
        "each class is calibrated on its own samples"
        if found.class_conditional
        else "all classes are calibrated together, because some are too small"
    )
    return section(
        "sets",
        "Sets and novelty",
        lead(
            f"Sets of classes at a confidence of {percent(known.confidence)} ({how}) hold the class of"
            f" <strong>{percent(known.coverage)}</strong> of the {len(known.sets):,} left-out samples, and have"
            f" {known.mean_size:.2f} classes on average.",
            "The sets are approximate: those of each fold are calibrated on the answers for the others.",
            *_without_evidence(found),
        ),
        f'<div class="pair"><div class="small">{_coverage(findings, found)}</div>'
        f'<div class="small">{_unusual(findings, found)}</div></div>',
        link="Sets",
    )


def _without_evidence(found: SetFindings) -> list[str]:
    known, n = found.coverage.by_evidence, found.n_without_evidence
    sentences = []
    if known is not None:
        sentences.append(
            f"Samples without evidence are calibrated apart: {percent(known[0])} are covered with evidence,"
            f" {percent(known[1])} without."
        )
    if n:
        sentences.append(f"{n:,} sample{' gives' if n == 1 else 's give'} no evidence, and so no typicality.")
    return sentences


def _coverage(findings: Findings, found: SetFindings) -> str:
    known, G = found.coverage, len(findings.classes)
    shown = list(range(min(G, _SIZES_APART) + 1))
    heads = [("Class", ""), ("Samples", "number"), ("Coverage", "number")]
    heads += [(_size(k, G), "number") for k in shown]
    rows = []
    for g in range(G):
        if known.counts[g]:
            sizes = [int(known.sizes[g, k] if k < _SIZES_APART else known.sizes[g, k:].sum()) for k in shown]
            rows.append(row(chip(findings, g), int(known.counts[g]), percent(known.by_class[g]), *sizes))
    return table("Left-out samples whose set holds their class, and sets by number of classes", heads, rows)


def _size(k: int, n_classes: int) -> str:
    if k == 0:
        return "Empty"
    more = " or more" if k == _SIZES_APART < n_classes else ""
    return f"{k}{more}"


def _unusual(findings: Findings, found: SetFindings) -> str:
    n = len(findings.labels)
    if not found.n_unusual:
        why = "" if found.can_be_unusual else " Some classes are so small that any sample could belong to them."
        return f"<p>None of the {n:,} samples is unlike all classes.{text(why)}</p>"
    heads = [("Sample", ""), ("Labelled", ""), ("Typicality", "number"), ("Nearest neighbours", "")]
    rows = [
        row(
            name(findings.ids[each.sample]),
            chip(findings, int(findings.labels[each.sample])),
            figure(each.typicality),
            Html("<br>".join(_neighbor(findings, j, s) for j, s in zip(each.neighbors, each.similarities))),
        )
        for each in found.unusual
    ]
    more = found.n_unusual - len(found.unusual)
    caption = (
        f"Samples unlike all classes: {found.n_unusual:,} of {n:,}, less similar to each class than all but"
        f" {percent(UNUSUAL)} of its own samples{f' ({more:,} more are not listed)' if more else ''}"
    )
    return table(caption, heads, rows)


def _neighbor(findings: Findings, j: np.integer, similarity: float) -> str:
    return f"{name(findings.ids[j])} {chip(findings, int(findings.labels[j]))} {figure(float(similarity))}"
