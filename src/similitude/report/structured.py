"""The sections about labels that form a tree, and about several labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.multilabel import HierarchicalClassifier, MultilabelClassifier
from similitude.multilabel.figures import DepthPoint, depth_curve
from similitude.report.markup import Section, lead, name, numbers, row, section, table, text

_WIDTH, _HEIGHT, _MARGIN = 520, 300, 48
_LABELS_SHOWN = 30


def structured_section(model: Any, y: Any, rank_names: list[str] | None = None) -> Section:
    """Return what left-out samples show of a fitted classifier of trees or of several labels."""
    if isinstance(model, HierarchicalClassifier):
        return _tree_section(model, rank_names or [])
    return _labels_section(model, y)


def _tree_section(model: HierarchicalClassifier, names: list[str]) -> Section:
    """Return error, coverage and precision by rank, and a picture of depth against precision."""
    figures = model.by_rank()
    heads = numbers("nodes", "samples", "unseen", "error", "assigned", "precision")
    rows = []
    for i, own in enumerate(figures.rows):
        title = names[i] if i < len(names) else f"rank {own.rank}"
        shares = [_percent(value) for value in (own.unseen, own.error, own.assigned, own.precision)]
        rows.append(row(name(title), f"{own.nodes:,}", f"{own.samples:,}", *shares))
    points = depth_curve(model.out_of_fold_)
    curve = [
        row(f"{point.confidence:g}", f"{point.depth:.2f}", _percent(point.precision), _percent(point.unassigned))
        for point in points
    ]
    return section(
        "tree",
        "Ranks of the tree",
        lead(
            "The figures are those of left-out samples, each predicted by fits and parameters without it.",
            f"A sample is assigned to the deepest node whose probability is at least {figures.confidence:g};",
            f"{_percent(figures.unassigned)} of the samples are unassigned.",
            "Unseen are samples whose node no training sample of the fold has.",
        ),
        table("Error of the most probable node, and what is assigned, by rank", [("rank", ""), *heads], rows),
        _picture(points, model.tree_.n_ranks),
        table(
            "Depth and precision at other confidences",
            [("confidence", ""), *numbers("mean rank", "precision", "unassigned")],
            curve,
        ),
        link="Ranks",
    )


def _picture(points: list[DepthPoint], n_ranks: int) -> str:
    """Return a picture of the mean rank that is assigned against the precision, with a point for each confidence."""
    drawn = [point for point in points if not np.isnan(point.precision)]
    if not drawn:
        return ""
    low = min(0.95, np.floor(20 * min(point.precision for point in drawn)) / 20)

    def x(depth: float) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * depth / n_ranks

    def y(precision: float) -> float:
        return _HEIGHT - _MARGIN - (_HEIGHT - 1.5 * _MARGIN) * (precision - low) / (1 - low)

    marks = []
    for d in range(n_ranks + 1):
        marks.append(_line(x(d), y(low), x(d), y(low) + 5) + _words(x(d), y(low) + 19, str(d), "middle"))
    for share in np.linspace(low, 1, 6):
        marks.append(_line(_MARGIN - 5, y(share), _MARGIN, y(share)))
        marks.append(_words(_MARGIN - 8, y(share) + 4, f"{100 * share:.0f}%", "end"))
    way = " ".join(f"{x(point.depth):.1f},{y(point.precision):.1f}" for point in drawn)
    dots = [
        f'<circle cx="{x(p.depth):.1f}" cy="{y(p.precision):.1f}" r="4" fill="currentColor"><title>confidence '
        f"{p.confidence:g}: mean rank {p.depth:.2f}, precision {100 * p.precision:.1f}%</title></circle>"
        for p in drawn
    ]
    shown = [p for p in drawn if p.confidence in (0.0, 0.5, 0.8, 0.9, 0.95, 0.99)]
    labels = [_words(x(p.depth) + 8, y(p.precision) - 7, f"{p.confidence:g}", "start") for p in shown]
    axes = _line(_MARGIN, y(low), _WIDTH - _MARGIN / 2, y(low)) + _line(_MARGIN, y(low), _MARGIN, y(1))
    titles = _words((_WIDTH + _MARGIN) / 2, _HEIGHT - 6, "mean rank assigned", "middle")
    titles += _words(4, 12, "precision", "start")
    picture = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" aria-label="Mean rank that is assigned '
        f'against precision, for several confidences"><polyline points="{way}" fill="none" stroke="currentColor" '
        f'stroke-width="1.5"/>{axes}{"".join(marks)}{"".join(dots)}{"".join(labels)}{titles}</svg>'
    )
    caption = (
        "Depth against precision: the mean rank of the assigned nodes (an unassigned sample counts 0) and the share of "
        "them that is right, at the confidences beside the points."
    )
    return f"<figure>{picture}<figcaption>{text(caption)}</figcaption></figure>"


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" opacity="0.6"/>'


def _words(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="currentColor" text-anchor="{anchor}">{words}</text>'


def _labels_section(model: MultilabelClassifier, labels: list[list[str]]) -> Section:
    """Return the figures of all labels together, and of the most frequent ones each."""
    figures, found = model.figures_, model.out_of_fold_.tocsc()
    classes = [str(label) for label in model.classes_.tolist()]
    members: dict[str, set[int]] = {label: set() for label in classes}
    for i, own in enumerate(labels):
        for label in own:
            members.get(str(label), set()).add(i)
    order = sorted(range(len(classes)), key=lambda j: -len(members[classes[j]]))[:_LABELS_SHOWN]
    rows = []
    for j in order:
        part = slice(found.indptr[j], found.indptr[j + 1])
        predicted = set(found.indices[part][found.data[part] >= figures.threshold].tolist())
        true = members[classes[j]]
        right = len(predicted & true)
        shares = right / len(predicted) if predicted else np.nan, right / len(true) if true else np.nan
        rows.append(row(name(classes[j]), f"{len(true):,}", *map(_percent, shares)))
    more = (
        f"The {_LABELS_SHOWN} most frequent of {len(classes):,} labels" if len(classes) > len(order) else "All labels"
    )
    area = "" if np.isnan(figures.mean_auc) else f" The mean area under the ROC curve is {figures.mean_auc:.3f}."
    return section(
        "labels",
        "Several labels",
        lead(
            "The figures are those of left-out samples, each predicted by fits and parameters without it.",
            f"Fmax is {figures.fmax:.3f}, at the threshold {figures.fmax_threshold:.2f}.{area}",
            f"At the threshold {figures.threshold:g}, {_percent(figures.micro_precision)} of the predicted labels are "
            f"right, and {_percent(figures.micro_recall)} of the true labels are predicted.",
        ),
        table(more, [("label", ""), *numbers("samples", "precision", "recall")], rows),
        link="Labels",
    )


def _percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:.1f}%"
