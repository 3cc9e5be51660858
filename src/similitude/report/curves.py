"""The curves of two classes: ROC, and precision against recall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from similitude.report.findings import Findings
from similitude.report.markup import Section, figure, lead, name, picture, rounded, section
from similitude.report.outcome import Outcome

_MOST_POINTS = 500
"""The largest number of points that are drawn of a curve."""


@dataclass(frozen=True)
class Curves:
    """The curves of the second of two classes; ``decided`` are the rates and the precision of the predicted labels."""

    false_positive: np.ndarray
    true_positive: np.ndarray
    recall: np.ndarray
    precision: np.ndarray
    auc: float
    average_precision: float
    share: float
    decided: tuple[float, float, float | None]


def find_curves(labels: np.ndarray, outcome: Outcome) -> Curves | None:
    """Return the curves of the left-out posteriors, if there are two classes and samples of both were tested."""
    tested = outcome.tested
    if outcome.predicted is None or outcome.posteriors is None or outcome.posteriors.shape[1] != 2:
        return None
    truth, scores = labels[tested] == 1, outcome.posteriors[tested, 1]
    if truth.all() or not truth.any():
        return None
    predicted = outcome.predicted[tested] == 1
    hits = int(np.sum(predicted & truth))
    decided = (
        float(np.mean(predicted[~truth])),
        hits / int(truth.sum()),
        hits / int(predicted.sum()) if predicted.any() else None,
    )
    false_positive, true_positive, _ = roc_curve(truth, scores)
    precision, recall, _ = precision_recall_curve(truth, scores, drop_intermediate=True)
    return Curves(
        _thinned(false_positive),
        _thinned(true_positive),
        _thinned(recall),
        _thinned(precision),
        float(roc_auc_score(truth, scores)),
        float(average_precision_score(truth, scores)),
        float(truth.mean()),
        decided,
    )


def curves_section(findings: Findings, found: Curves) -> Section:
    """Return both curves, with the areas below them."""
    positive = name(findings.classes[1])
    roc = picture(
        "roc-plot",
        f"ROC curve; the area below it is {found.auc:.3f}.",
        f"ROC curve, area {found.auc:.3f}. The dotted line is that of guesses, with an area of 0.5.",
    )
    precision = picture(
        "precision-plot",
        f"Precision against recall; average precision {found.average_precision:.3f}.",
        f"Precision against recall, average precision {found.average_precision:.3f}. The dotted line is the share of"
        f" the class, {figure(found.share)}, which is the precision of guesses.",
    )
    return section(
        "curves",
        "ROC and precision-recall curves",
        lead(
            f"The samples are ordered by the posterior of the class <strong>{positive}</strong> that was predicted for"
            " them by fits without them.",
            "Each point is a threshold above which samples are assigned to this class; the circles are the predicted"
            " labels of this page.",
        ),
        f'<div class="curves">{roc}{precision}</div>',
        link="Curves",
        data={
            "roc": [rounded(found.false_positive), rounded(found.true_positive)],
            "precision": [rounded(found.recall), rounded(found.precision)],
            "share": found.share,
            "decided": list(found.decided),
        },
    )


def _thinned(values: np.ndarray) -> np.ndarray:
    """Return at most some hundred values at equal distances, the first and the last among them."""
    if len(values) <= _MOST_POINTS:
        return values
    return values[np.linspace(0, len(values) - 1, _MOST_POINTS).round().astype(int)]
