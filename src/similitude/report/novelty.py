"""Sets of classes of the left-out samples, and the samples that fit no class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.numerics.topk import top_k
from similitude.report.mistakes import without_self
from similitude.sets import SetCoverage, calibration_of, typicality_of

CONFIDENCE = 0.9
UNUSUAL = 0.05
"""A sample is unlike all classes if its typicality for each class is at most this."""

MOST_UNUSUAL = 20
_NEIGHBORS = 3


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
    """Return the sets of a fitted classifier, or None if there are too few samples for sets."""
    model: Any = auto.best_estimator_
    if calibration_of(model) is None:
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
    typicality = typicality_of(model)
    largest = typicality.of_training().max(axis=1)
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
