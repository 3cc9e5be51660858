"""Checks of the members that a user gives to a combination."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.base import takes_several
from similitude.evaluation.engine import reading_part, reads_training
from similitude.kernel.similarity_svc import SimilaritySVC
from similitude.neighbors.knn import KNNClassifier
from similitude.reader import Samples


def check_members(members: Any, weights: Any) -> tuple[list[tuple], np.ndarray]:
    """Return the members, by default two, and their weights, which add up to 1."""
    if members is None:
        members = [("k-NN", KNNClassifier()), ("SVM", SimilaritySVC())]
    named = isinstance(members, (list, tuple)) and all(
        isinstance(part, (list, tuple)) and len(part) in (2, 3) and isinstance(part[0], str) for part in members
    )
    if not named or not members or len({name for name, *_ in members}) < len(members):
        raise ValueError(f"members must be a list of (name, estimator) with different names; got {members!r}.")
    for name, estimator, *_ in members:
        if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
            raise ValueError(f"members must be classifiers; {name!r} is {estimator!r}.")
    try:
        found = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (len(members),) or not np.all(found >= 0) or not 0 < found.sum() < np.inf:
        raise ValueError(
            f"weights must be {len(members)} nonnegative numbers, one for each member, and not all zero; "
            f"got {weights!r}."
        )
    return list(members), found / found.sum()


def check_similarities(members: list[tuple], samples: Samples) -> None:
    """Raise an error if a member reads a similarity that X does not hold, or if it must name one of several."""
    known = list(samples.parts) if samples.named else []
    for name, estimator, *own in members:
        if own and own[0] not in [None, *known]:
            held = ", ".join(map(repr, known)) or "one without a name"
            raise ValueError(f"members: {name!r} reads the similarity {own[0]!r}; X holds {held}.")
        if known and not any(own) and not (reads_training(estimator) and takes_several(reading_part(estimator)[0])):
            raise ValueError(
                f"members: {name!r} reads one similarity, and X holds several: give (name, estimator, similarity)."
            )
