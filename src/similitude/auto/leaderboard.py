"""The result of one method in a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similitude.proximity.unknown import NEEDS_ALL_PAIRS

COMBINATION = "combination"
"""The name of the combination of methods on a leaderboard."""

BY_EVIDENCE = ("error_with_evidence", "error_without_evidence", "without_evidence")
"""The fields of a standing that :func:`by_evidence` returns."""

_ON = " on "


@dataclass(frozen=True)
class LeaderboardRow:
    """The result of one method, or of the combination, on a leaderboard."""

    method: str
    error: Any
    standard_error: Any
    parameters: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    loss: float | None = None
    optimistic_error: float | None = None
    weight: float = 0.0
    p_value: float | None = None
    chosen: bool = False
    failure: str | None = None
    similarity: str | None = None
    error_with_evidence: float | None = None
    error_without_evidence: float | None = None
    without_evidence: float = 0.0

    @property
    def name(self) -> str:
        """The method, and the similarity if there are several."""
        return name_on(self.method, self.similarity)


def by_evidence(wrong: np.ndarray, lacking: np.ndarray) -> dict[str, Any]:
    """Return the errors with and without evidence and the share without, by the names of the fields of a standing."""
    errors = [float(np.average(wrong, weights=own)) if own.any() else None for own in (1.0 - lacking, lacking)]
    return dict(zip(BY_EVIDENCE, [*errors, float(np.mean(lacking))]))


def name_on(method: str, similarity: str | None) -> str:
    """Return the name of a method on one of several similarities."""
    return method if similarity is None else f"{method}{_ON}{similarity}"


def failure_text(failures: Mapping[str, str], where: str) -> str:
    """Return a warning that names the methods that failed; those that need all pairs share one phrase."""
    need_all = [name for name, why in failures.items() if NEEDS_ALL_PAIRS in why]
    others = [name for name in failures if name not in need_all]
    parts = []
    if need_all:
        parts.append(
            f"some pairs are unknown, and these methods need all pairs: {names_text(need_all)}; "
            "Proximities(X, fill='class-blind mean') gives unknown pairs a value"
        )
    if others:
        parts.append(f"these methods failed: {names_text(others)}")
    return f"some methods are left out: {'; '.join(parts)}. {where} holds the error message of each."


def names_text(names: Sequence[str]) -> str:
    """Return the names of methods as one text, in which a method on several similarities appears once."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition(_ON)[0], []).append(name)
    return ", ".join(
        own[0] if len(own) == 1 else f"{method}{_ON}{len(own)} similarities" for method, own in found.items()
    )
