"""How good predictions for left-out samples are: methods, ranks of a tree, and several labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from similitude.multilabel.left_out import LeftOut
from similitude.multilabel.tree import LabelTree


@dataclass(frozen=True)
class MethodRow:
    """A method at its best point, with its weight over all of its points."""

    method: str
    loss: float
    weight: float
    parameters: dict[str, Any]
    similarity: str


@dataclass(frozen=True, repr=False)
class MethodTable:
    """The methods from the smallest mean squared error to the largest; ``print`` shows a table."""

    rows: list[MethodRow]

    def __repr__(self) -> str:
        several = len({row.similarity for row in self.rows}) > 1
        rows = [["method", "loss", "weight", "best parameters"]]
        for row in self.rows:
            name = f"{row.method} on {row.similarity}" if several else row.method
            settings = ", ".join(f"{key}={value:g}" for key, value in row.parameters.items())
            rows.append([name, f"{row.loss:.4f}", f"{row.weight:.2f}", settings])
        return as_lines(rows)


def as_lines(rows: list[list[str]]) -> str:
    """Return rows of text in columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def method_table(found: LeftOut, weights: np.ndarray, counted: np.ndarray) -> MethodTable:
    """Return the methods with their mean squared errors on the counted labels, for each left-out sample."""
    chosen = counted[found.columns]
    squares = np.zeros(len(found.points))
    for t in range(len(found.points)):
        squares[t] = np.sum((found.values[chosen, t].astype(float) - found.truth[chosen]) ** 2)
    losses = squares / max(1, len(found.tested))
    rows = []
    for key in dict.fromkeys((point.method, point.similarity) for point in found.points):
        own = [t for t, point in enumerate(found.points) if (point.method, point.similarity) == key]
        best = min(own, key=lambda t: losses[t])
        rows.append(
            MethodRow(key[0], float(losses[best]), float(weights[own].sum()), found.points[best].parameters, key[1])
        )
    return MethodTable(sorted(rows, key=lambda row: row.loss))


@dataclass(frozen=True)
class RankRow:
    """The left-out samples at one rank of a tree."""

    rank: int
    nodes: int
    samples: int
    """Those whose label reaches the rank."""
    unseen: float
    """The share of them whose node no other training sample had."""
    error: float
    """How often the most probable node of the rank is another than theirs."""
    assigned: float
    """The share of all samples that are assigned to a node of this rank or a deeper one."""
    precision: float
    """How often that is right, among the samples whose label reaches the rank; NaN if none is assigned."""


@dataclass(frozen=True, repr=False)
class RankFigures:
    """The figures of all ranks at a confidence; ``print`` shows them as a table."""

    confidence: float
    rows: list[RankRow]
    unassigned: float

    @classmethod
    def of(cls, found: Any, tree: LabelTree, confidence: float) -> RankFigures:
        """Return the figures of left-out samples."""
        rows = []
        for d in range(tree.n_ranks):
            reaches = found.truth[:, d] != -1
            right = found.nodes[:, d] == found.truth[:, d]
            assigned = (found.nodes[:, d] >= 0) & (found.proba[:, d] >= confidence)
            judged = assigned & reaches
            rows.append(
                RankRow(
                    d + 1,
                    int(np.count_nonzero(tree.depth == d + 1)),
                    int(reaches.sum()),
                    _mean(found.truth[reaches, d] == -2),
                    _mean(~right[reaches]),
                    _mean(assigned),
                    _mean(right[judged]),
                )
            )
        nothing = (found.nodes[:, 0] < 0) | (found.proba[:, 0] < confidence)
        return cls(confidence, rows, _mean(nothing))

    def __repr__(self) -> str:
        rows = [["rank", "nodes", "samples", "unseen", "error", "assigned", "precision"]]
        for row in self.rows:
            shares = [_percent(value) for value in (row.unseen, row.error, row.assigned, row.precision)]
            rows.append([str(row.rank), str(row.nodes), str(row.samples), *shares])
        note = f"confidence {self.confidence:g}: {_percent(self.unassigned)} of the left-out samples are unassigned"
        return f"{as_lines(rows)}\n{note}"


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:.1f}%"


_THRESHOLDS = np.linspace(0.01, 1.0, 100)


@dataclass(frozen=True, repr=False)
class LabelFigures:
    """How good the probabilities of several labels are; ``print`` shows them as a table."""

    fmax: float
    """The largest F measure over all thresholds, with precision and recall averaged over the samples."""
    fmax_threshold: float
    threshold: float
    micro_precision: float
    micro_recall: float
    macro_precision: float
    """The mean precision over the labels that are predicted for a sample."""
    mean_auc: float
    """The mean area under the ROC curve, over the labels that some samples have and some do not."""
    n_samples: int

    @classmethod
    def of(cls, proba: Any, targets: Any, tested: np.ndarray, threshold: float) -> LabelFigures:
        """Return the figures of the tested samples; labels that were not measured do not count."""
        P, Y = sparse.csr_matrix(proba)[tested], targets.Y[tested]
        if targets.measured is not None:
            P = P.multiply(targets.measured[tested]).tocsr()
        best, at = fmax(P, Y)
        predicted = P.copy()
        predicted.data = (predicted.data >= threshold).astype(float)
        right = np.asarray(predicted.multiply(Y).sum(axis=0)).ravel()
        all_predicted, all_true = np.asarray(predicted.sum(axis=0)).ravel(), np.asarray(Y.sum(axis=0)).ravel()
        some = all_predicted > 0
        return cls(
            best,
            at,
            threshold,
            float(right.sum() / max(all_predicted.sum(), 1.0)),
            float(right.sum() / max(all_true.sum(), 1.0)),
            _mean(right[some] / all_predicted[some]),
            mean_auc(P, Y, None if targets.measured is None else targets.measured[tested]),
            len(tested),
        )

    def __repr__(self) -> str:
        auc = "" if np.isnan(self.mean_auc) else f", mean area under the ROC curve {self.mean_auc:.3f}"
        return (
            f"{self.n_samples} left-out samples: Fmax {self.fmax:.3f} at {self.fmax_threshold:.2f}{auc}\n"
            f"at {self.threshold:g}: precision {_percent(self.micro_precision)}, recall "
            f"{_percent(self.micro_recall)}, mean precision of a label {_percent(self.macro_precision)}"
        )


def fmax(P: sparse.csr_matrix, Y: sparse.csr_matrix) -> tuple[float, float]:
    """Return the largest F measure over thresholds, as CAFA computes it, and the threshold.

    The precision is averaged over the samples with a prediction, the recall over those with a label.
    """
    P, Y = P.tocsr(), Y.tocsr()
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    # The number of thresholds that each probability reaches.
    reached = np.searchsorted(_THRESHOLDS, P.data + 1e-9, side="right")
    true = np.asarray(Y[rows, P.indices]).ravel() > 0 if len(rows) else np.zeros(0, dtype=bool)
    width = len(_THRESHOLDS) + 1

    def counted(which: np.ndarray) -> np.ndarray:
        keys = rows[which] * width + reached[which]
        counts = np.bincount(keys, minlength=P.shape[0] * width).reshape(-1, width)
        return counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]

    predicted, right = counted(np.ones(len(rows), dtype=bool)), counted(true)
    n_true = np.diff(Y.indptr)
    with np.errstate(divide="ignore", invalid="ignore"):
        some = predicted > 0
        precision = np.where(some, right / predicted, 0.0).sum(axis=0) / np.maximum(some.sum(axis=0), 1)
        recall = (right[n_true > 0] / n_true[n_true > 0, None]).mean(axis=0)
        F = np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)
    best = int(np.argmax(F))
    return float(F[best]), float(_THRESHOLDS[best])


def mean_auc(P: sparse.csr_matrix, Y: sparse.csr_matrix, measured: sparse.csr_matrix | None) -> float:
    """Return the mean area under the ROC curve over the labels that some samples have and some do not."""
    P, Y = P.tocsc(), Y.tocsc()
    known = None if measured is None else measured.tocsc()
    areas = []
    for label in range(Y.shape[1]):
        scores, truth = np.zeros(Y.shape[0]), np.zeros(Y.shape[0], dtype=bool)
        part = slice(P.indptr[label], P.indptr[label + 1])
        scores[P.indices[part]] = P.data[part]
        truth[Y.indices[Y.indptr[label] : Y.indptr[label + 1]]] = True
        if known is not None:
            rows = known.indices[known.indptr[label] : known.indptr[label + 1]]
            scores, truth = scores[rows], truth[rows]
        n_true = int(truth.sum())
        if 0 < n_true < len(truth):
            ranks = rankdata(scores)
            areas.append((ranks[truth].sum() - n_true * (n_true + 1) / 2) / (n_true * (len(truth) - n_true)))
    return _mean(np.array(areas))


CONFIDENCES = (0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
"""The confidences at which depth and precision are shown."""


@dataclass(frozen=True)
class DepthPoint:
    """The mean rank of the nodes that left-out samples are assigned to at a confidence, and how many are right."""

    confidence: float
    depth: float
    """The mean over all samples; an unassigned one counts 0."""
    precision: float
    unassigned: float


def depth_curve(found: Any, confidences: Any = CONFIDENCES) -> list[DepthPoint]:
    """Return depth and precision of what is assigned; a node below the label of a sample is judged at its label."""
    labelled = (found.truth != -1).sum(axis=1)
    points = []
    for confidence in confidences:
        depth = ((found.nodes >= 0) & (found.proba >= confidence)).sum(axis=1)
        some = depth > 0
        at = np.minimum(depth, labelled)[some] - 1
        rows = np.flatnonzero(some)
        right = found.nodes[rows, at] == found.truth[rows, at]
        points.append(DepthPoint(float(confidence), _mean(depth), _mean(right), _mean(~some)))
    return points
