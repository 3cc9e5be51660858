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
from similitude.report.mistakes import Mistake
from similitude.report.model_sections import LARGE_CONFUSION
from similitude.report.outcome import Outcome
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
    return _filled(
        {
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
    )


def embedded(value: Any) -> str:
    """Return JSON for a script element: nothing in it can end the element or begin another."""
    plain = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII: U+2028 comes escaped
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _file(name: str) -> str:
    return resources.files("similitude.report").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _filled(values: dict[str, str]) -> str:
    # All placeholders are replaced in one pass, so that a label that looks like one is not replaced.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], _file("page.html"))


def page_data(findings: Findings, packed: PackedMatrix) -> dict[str, Any]:
    """Return the data that the scripts draw, as JSON can hold it; samples are positions in ``names``."""
    samples = _samples_named(findings)
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
        "members": _members(findings.outcome),
        "mistakes": _mistakes(findings, at),
    }


def _samples_named(findings: Findings) -> np.ndarray:
    """Return the samples that the page names: those in the pictures, the mistakes and their neighbours."""
    mistakes = () if findings.outcome is None else findings.outcome.mistakes
    others = [np.append(mistake.neighbors, mistake.sample) for mistake in mistakes]
    return np.unique(np.concatenate([findings.drawn, *others]))


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


def _members(outcome: Outcome | None) -> list[list[Any]] | None:
    """Return the names and weights of the members whose predictions are shown for each mistake."""
    if outcome is None or outcome.member_posteriors is None:
        return None
    return [[method, *_short([weight], 4)] for method, weight in outcome.members]


def _mistakes(findings: Findings, at: dict[int, int]) -> list[dict[str, Any]]:
    outcome = findings.outcome
    if outcome is None:
        return []
    return [
        {
            "sample": at[mistake.sample],
            "predicted": mistake.predicted,
            "neighbors": _neighbors(mistake, at),
            "voting": mistake.n_voting,
            "votes": _by_class(mistake.votes, [i for i in _largest(mistake.votes) if mistake.votes[i] != 0]),
            "posteriors": _posteriors(outcome.posteriors, mistake),
            "members": _member_predictions(outcome, mistake.sample),
        }
        for mistake in outcome.mistakes
    ]


def _neighbors(mistake: Mistake, at: dict[int, int]) -> list[list[float]]:
    """Return the neighbours with their similarities and, if they vote, their weights."""
    columns = [mistake.similarities] if mistake.weights is None else [mistake.similarities, mistake.weights]
    return [[at[int(i)], *_short(values)] for i, *values in zip(mistake.neighbors, *columns)]


def _member_predictions(outcome: Outcome, sample: int) -> list[list[float]] | None:
    """Return the class that each member predicts, and its posterior."""
    if outcome.member_posteriors is None:
        return None
    own = outcome.member_posteriors[:, sample]
    return [[int(label), *_short([posterior[label]], 4)] for posterior, label in zip(own, np.argmax(own, axis=1))]


def _posteriors(posteriors: np.ndarray | None, mistake: Mistake) -> list[list[float]] | None:
    """Return the largest posteriors of a sample, among them that of the predicted class."""
    if posteriors is None:
        return None
    order = _largest(posteriors[mistake.sample])
    if mistake.predicted not in order:
        order[-1] = mistake.predicted
    return _by_class(posteriors[mistake.sample], order)


def _largest(values: np.ndarray) -> list[int]:
    return np.argsort(-np.abs(values), kind="stable")[:MOST_POSTERIORS].tolist()


def _by_class(values: np.ndarray, classes: list[int]) -> list[list[float]]:
    return [[label, *_short([values[label]], 4)] for label in classes]
