"""The HTML page of a report, which needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from similitude.diagnosis.card import printable
from similitude.report.findings import Findings
from similitude.report.markup import WIDTH, text
from similitude.report.matrix import PackedMatrix, pack
from similitude.report.model_sections import LARGE_CONFUSION
from similitude.report.outcome import Mistake, Outcome
from similitude.report.sections import MOST_CLASSES_APART, facts, sections

SCRIPTS = ("charts.js", "matrix.js", "page.js")
MOST_POSTERIORS = 8
_HUB_BARS = 40


def page(findings: Findings) -> str:
    """Return the page as HTML.

    Names and labels are escaped everywhere. A policy in the page permits only its own script, and no requests.
    """
    from similitude._utils.versions import __version__

    packed = pack(findings.S[np.ix_(findings.order, findings.order)])
    parts = sections(findings, packed)
    style, script = _file("page.css"), '"use strict";\n' + "\n".join(map(_file, SCRIPTS))
    values = {
        "title": text(printable(findings.title, 120)),
        "origin": text(findings.origin),
        "version": text(__version__),
        "facts": facts(findings),
        "links": "".join(f'<li><a href="#{part.anchor}">{text(part.link)}</a></li>' for part in parts),
        "sections": "\n".join(part.html for part in parts),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "data": embedded(page_data(findings, packed)),
        "levels": packed.text,
    }
    # All placeholders are replaced in one pass, so that a label that looks like one is not replaced.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _file("page.html"))


def embedded(value: Any) -> str:
    """Return JSON for a script element: nothing in it can end the element or begin another."""
    plain = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII: U+2028 comes escaped
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _file(name: str) -> str:
    return resources.files("similitude.report").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def page_data(findings: Findings, packed: PackedMatrix) -> dict[str, Any]:
    """Return the data that the scripts draw, as JSON can hold it; samples are positions in ``names``."""
    outcome = findings.outcome
    mistakes = () if outcome is None else outcome.mistakes
    others = [np.append(mistake.neighbors, mistake.sample) for mistake in mistakes]
    samples = np.unique(np.concatenate([findings.drawn, *others]))
    members = None
    if outcome is not None and outcome.member_posteriors is not None:
        members = [[method, *_short([weight], 4)] for method, weight in outcome.members]
    at = {int(sample): i for i, sample in enumerate(samples)}
    return {
        "names": [printable(findings.ids[i], WIDTH) for i in samples],
        "labels": findings.labels[samples].tolist(),
        "classes": [printable(label, WIDTH) for label in findings.classes],
        "order": [at[int(i)] for i in findings.drawn[findings.order]],
        "matrix": {name: getattr(packed, name) for name in ("bits", "low", "high", "triangle", "colors")},
        "spectrum": _spectrum(findings),
        "separation": _separation(findings),
        "hubness": _hubness(findings),
        "goodness": _goodness(findings),
        "confusion": _confusion(findings),
        "members": members,
        "mistakes": [] if outcome is None else [_mistake(outcome, mistake, at) for mistake in mistakes],
    }


def _short(values: Any, digits: int = 5) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=float).tolist()]


def _spectrum(findings: Findings) -> dict[str, Any]:
    """Return the eigenvalues without zeros; a matrix of low rank has so many that they would hide the others."""
    found = findings.spectra
    kept = found.before != 0
    if not kept.any():
        kept[:] = True
    after = {method: _short(values[kept]) for method, values in found.after.items()}
    return {"before": _short(found.before[kept]), "after": after, "zeros": int(np.sum(~kept))}


def _separation(findings: Findings) -> dict[str, Any]:
    found = findings.separation
    figures = findings.diagnosis.classes or ()
    counts = np.bincount(findings.labels, minlength=len(findings.classes))
    largest = np.sort(np.argsort(-counts, kind="stable")[:MOST_CLASSES_APART])
    return {
        "low": float(found.edges[0]),
        "high": float(found.edges[-1]),
        "rows": [
            {
                "label": int(label),
                "within": found.within[label].tolist(),
                "between": found.between[label].tolist(),
                "means": [figures[label].within, figures[label].between],
            }
            for label in largest
        ],
    }


def _hubness(findings: Findings) -> dict[str, Any] | None:
    found = findings.hubness
    if found is None:
        return None
    width = -(-(int(found.occurrences.max()) + 1) // _HUB_BARS)
    counts = np.bincount((found.occurrences // width).astype(np.intp))
    return {"n_neighbors": found.n_neighbors, "width": width, "counts": counts.tolist()}


def _goodness(findings: Findings) -> dict[str, Any] | None:
    found = findings.goodness
    if found is None:
        return None
    curves = {name: _short(getattr(found, name)) for name in ("gammas", "epsilons", "low", "high")}
    return {**curves, "pseudo_gamma": found.pseudo_gamma}


def _confusion(findings: Findings) -> list[list[float]] | None:
    """Return the nonzero entries if there are too many classes for a table."""
    G = len(findings.classes)
    if findings.outcome is None or findings.outcome.predicted is None or G <= LARGE_CONFUSION:
        return None
    counts = findings.outcome.confusion(findings.labels, G)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return [[int(f), int(g), int(counts[f, g]), round(float(shares[f, g]), 4)] for f, g in np.argwhere(counts)]


def _mistake(outcome: Outcome, mistake: Mistake, at: dict[int, int]) -> dict[str, Any]:
    """Return what the page shows of a misclassified sample."""
    columns = [mistake.similarities] if mistake.weights is None else [mistake.similarities, mistake.weights]
    posteriors = members = None
    if outcome.posteriors is not None:
        own = outcome.posteriors[mistake.sample]
        order = _largest(own)
        if mistake.predicted not in order:
            order[-1] = mistake.predicted
        posteriors = _by_class(own, order)
    if outcome.member_posteriors is not None:
        by_member = outcome.member_posteriors[:, mistake.sample]
        members = [[int(np.argmax(own)), *_short([np.max(own)], 4)] for own in by_member]
    return {
        "sample": at[mistake.sample],
        "predicted": mistake.predicted,
        "neighbors": [[at[int(i)], *_short(values)] for i, *values in zip(mistake.neighbors, *columns)],
        "voting": mistake.n_voting,
        "votes": _by_class(mistake.votes, [i for i in _largest(mistake.votes) if mistake.votes[i] != 0]),
        "posteriors": posteriors,
        "members": members,
    }


def _largest(values: np.ndarray) -> list[int]:
    return np.argsort(-np.abs(values), kind="stable")[:MOST_POSTERIORS].tolist()


def _by_class(values: np.ndarray, classes: list[int]) -> list[list[float]]:
    return [[label, *_short([values[label]], 4)] for label in classes]
