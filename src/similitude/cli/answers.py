"""What `similitude predict` writes about new samples, block by block, and what it prints about all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from similitude.cli.extra_columns import Novelty, known_evidence, note_without_evidence, point_of, point_summary
from similitude.cli.output import Notes
from similitude.cli.structured import is_structured, structured_columns
from similitude.proximity.files import Contents
from similitude.sets.operating_points import UNASSIGNED

STRUCTURED = "nodes of a tree, or several labels"
_LARGEST = 2**22
"""The largest number of scores, samples times classes, that are computed together for samples with hits."""


@dataclass(frozen=True)
class Wanted:
    """What is to be written."""

    confidence: float | None = None
    precision: float | None = None
    per_class: bool = False
    assign_all: bool = False


class Answers:
    """The predictions of a fitted model for blocks of new samples."""

    def __init__(self, fitted: Any, info: dict[str, Any], wanted: Wanted, note: Notes):
        self._fitted, self._info, self._wanted, self._note = fitted, info, wanted, note
        self._structured = is_structured(fitted)
        if wanted.precision is not None and self._structured:
            raise ValueError(
                "--precision is for a model of one label per sample; with a tree or several labels, --confidence says "
                "how probable what is written must be."
            )
        self._point = None if wanted.precision is None else point_of(fitted, wanted.precision, wanted.per_class)
        self._novelty = Novelty(fitted, wanted.confidence, note)
        self.labels: Counter[str] = Counter()
        self.kind = STRUCTURED
        self.added: list[str] = []
        """The names of the columns that are neither labels nor scores."""
        self.ids: list[str] | None = None
        """The ids of all samples that were predicted, in their order."""
        self._evidence: list[np.ndarray] = []
        self._edges: list[np.ndarray] = []
        self._assigned: list[np.ndarray] = []

    def table(self, blocks: Iterator[Contents]) -> Iterator[list[Any]]:
        """Yield the headings and the rows of the table."""
        headings: list[str] | None = None
        for block in blocks:
            for data in _parts(block, len(self._info["classes"])) if block.n else ():
                columns = self._columns(data)
                if headings is None:
                    headings = list(columns)
                    yield headings
                yield from map(list, zip(*columns.values()))

    def summary(self) -> tuple[list[str], dict[str, Any]]:
        """Print what is to be noted about all samples, and return the lines and the facts about them."""
        lines, facts = self._novelty.summary()
        if self._assigned and self._point is not None:
            assigned = np.concatenate(self._assigned)
            line, facts["operating_point"] = point_summary(self._point, assigned, self._wanted.per_class, self._note)
            lines.append(line)
        if self._evidence:
            evidence = np.concatenate(self._evidence)
            facts["without_evidence"] = int((~evidence).sum())
            edges = np.concatenate(self._edges) if self._edges else None
            note_without_evidence(evidence, self.ids, edges, self._wanted.assign_all, self._note)
        return lines, facts

    def _columns(self, data: Contents) -> dict[str, Any]:
        """Return the columns of the table for a block of samples."""
        X, fitted, assign_all = data.values, self._fitted, self._wanted.assign_all
        evidence = known_evidence(fitted, self._info, X, self._note)
        if evidence is not None and not evidence.all() and not assign_all and UNASSIGNED in self._info["classes"]:
            raise ValueError(
                f"{(~evidence).sum()} samples give no evidence and would be {UNASSIGNED!r}, which is a class of the "
                "model; add --assign-all."
            )
        scores: dict[str, Any] = {}
        if self._structured:
            labels, more = structured_columns(fitted, self._info["notes"], X, self._wanted.confidence)
        else:
            predicted = fitted.predict(X)
            labels = predicted.tolist()
            self.kind, names, values = _scores(fitted, X, len(labels))
            if self.kind == "probabilities":
                sure = values[np.arange(len(predicted)), np.searchsorted(fitted.classes_, predicted)]
                scores["confidence"] = sure.tolist()
            scores |= dict(zip(names, values.T.tolist()))
            more = self._novelty.columns(X)
            if self._point is not None and self.kind == "probabilities":
                assigned = self._point.assigns(predicted, sure) & (True if evidence is None else evidence)
                labels = [label if own else UNASSIGNED for label, own in zip(labels, assigned.tolist())]
                self._assigned.append(assigned)
        if evidence is not None:
            if not assign_all:
                labels = [label if own else UNASSIGNED for label, own in zip(labels, evidence.tolist())]
            self._evidence.append(evidence)
            written = np.where(evidence, "yes", "no")
            if data.counts is not None:
                self._edges.append(data.counts)
                written = np.where(evidence, data.counts, 0)
            more = {**more, "evidence": written.tolist()}
        self.labels.update(map(str, labels))
        self.added = list(more)
        if data.ids is not None:
            self.ids = [] if self.ids is None else self.ids
            self.ids += data.ids
        first: dict[str, Any] = {} if data.ids is None else {"id": data.ids}
        return {**first, "label": labels, **scores, **more}


def _parts(data: Contents, n_classes: int) -> Iterator[Contents]:
    """Yield rows of hits in blocks that are so small that their scores for all classes take little memory."""
    step = max(1, _LARGEST // max(1, n_classes))
    if data.counts is None or not _is_sparse(data.values) or data.n <= step:
        yield data
        return
    for start in range(0, data.n, step):
        yield data.rows(slice(start, start + step))


def _is_sparse(values: Any) -> bool:
    """Return whether all similarities of the rows are sparse."""
    return all(sparse.issparse(S) for S in getattr(values, "similarities", {"": values}).values())


def _scores(fitted: Any, X: Any, n: int) -> tuple[str, list[str], Any]:
    """Return the kind of the scores, their names, and their values with one row per sample.

    The scores are probabilities of the classes, or decision values, or none.
    """
    classes = [str(label) for label in fitted.classes_]
    if hasattr(fitted, "predict_proba"):
        return "probabilities", classes, fitted.predict_proba(X)
    values = np.asarray(fitted.decision_function(X)) if hasattr(fitted, "decision_function") else np.empty((n, 0))
    if values.ndim == 1:
        return "decision values", [f"decision {classes[-1]}"], values[:, None]
    if values.shape[1] == len(classes):
        return "decision values", [f"decision {label}" for label in classes], values
    return "labels", [], np.empty((n, 0))
