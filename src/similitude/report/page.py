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
from similitude.report.markup import WIDTH, Section, rounded, text
from similitude.report.matrix import PackedMatrix, pack
from similitude.report.outcome import Mistake, Outcome, posteriors_of
from similitude.report.sections import facts, sections

SCRIPTS = ("charts.js", "map.js", "matrix.js", "page.js")
MOST_POSTERIORS = 8


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
        "data": embedded(page_data(findings, packed, parts)),
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


def page_data(findings: Findings, packed: PackedMatrix, parts: list[Section]) -> dict[str, Any]:
    """Return the data that the scripts draw, as JSON can hold it; samples are positions in ``names``."""
    outcome = findings.outcome
    mistakes = () if outcome is None else outcome.mistakes
    others = [np.append(mistake.neighbors, mistake.sample) for mistake in mistakes]
    samples = np.unique(np.concatenate([findings.drawn, *others]))
    members = None
    if outcome is not None and outcome.member_posteriors is not None:
        members = [[method, *rounded([weight], 4)] for method, weight in outcome.members]
    at = {int(sample): i for i, sample in enumerate(samples)}
    return {
        "names": [printable(findings.ids[i], WIDTH) for i in samples],
        "labels": findings.labels[samples].tolist(),
        "classes": [printable(label, WIDTH) for label in findings.classes],
        "order": [at[int(i)] for i in findings.drawn[findings.order]],
        "drawn": [at[int(i)] for i in findings.drawn],
        "matrix": {name: getattr(packed, name) for name in ("bits", "low", "high", "triangle", "colors")},
        **{part.anchor: part.data for part in parts if part.data is not None},
        "members": members,
        "mistakes": [] if outcome is None else [_mistake(outcome, mistake, at) for mistake in mistakes],
    }


def _mistake(outcome: Outcome, mistake: Mistake, at: dict[int, int]) -> dict[str, Any]:
    """Return what the page shows of a misclassified sample."""
    columns = [mistake.similarities] if mistake.weights is None else [mistake.similarities, mistake.weights]
    posteriors = members = None
    if outcome.posteriors is not None:
        own = posteriors_of(outcome.posteriors, mistake.sample)
        order = _largest(own)
        if mistake.predicted not in order:
            order[-1] = mistake.predicted
        posteriors = _by_class(own, order)
    if outcome.member_posteriors is not None:
        by_member = posteriors_of(outcome.member_posteriors, mistake.sample)
        members = [[int(np.argmax(own)), *rounded([np.max(own)], 4)] for own in by_member]
    return {
        "sample": at[mistake.sample],
        "predicted": mistake.predicted,
        "neighbors": [[at[int(i)], *rounded(values)] for i, *values in zip(mistake.neighbors, *columns)],
        "voting": mistake.n_voting,
        "votes": _by_class(mistake.votes, [i for i in _largest(mistake.votes) if mistake.votes[i] != 0]),
        "posteriors": posteriors,
        "members": members,
    }


def _largest(values: np.ndarray) -> list[int]:
    return np.argsort(-np.abs(values), kind="stable")[:MOST_POSTERIORS].tolist()


def _by_class(values: np.ndarray, classes: list[int]) -> list[list[float]]:
    return [[label, *rounded([values[label]], 4)] for label in classes]
