"""Several similarities in a report, side by side, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from similitude.auto.comparison import SimilarityComparison
from similitude.diagnosis import Diagnosis, diagnose
from similitude.reader import Reader, SeveralReader, SeveralSamples, are_several, samples_of
from similitude.reader.several import named_errors


@dataclass(frozen=True)
class SideBySide:
    """Several similarities of the same samples."""

    shown: str
    diagnoses: dict[str, Diagnosis]
    comparison: SimilarityComparison | None


def read_samples(X: Any, y: Any, contract: dict[str, Any]) -> Any:
    """Return the samples, with one similarity or several, without a warning if they look like dissimilarities."""
    several = are_several(contract.get("similarity"), X, contract.get("dissimilarity"))
    return samples_of(SeveralReader(**contract) if several else Reader(**contract), X, y, warns=False)


def side_by_side(samples: SeveralSamples, auto: Any, y: Any) -> SideBySide:
    """Return the diagnoses and the comparison of several similarities, and the one that the pictures show."""
    comparison = getattr(auto, "similarities_", None)
    diagnoses = getattr(auto, "diagnosis_", None)
    if diagnoses is None:
        diagnoses = {}
        for name, part in samples.parts.items():
            with named_errors(name, len(samples.parts)):
                diagnoses[name] = diagnose(part.values, y, dissimilarity=part.reader.map_name)
    used = {member.similarity for member in auto.best_estimator_.members_} if auto is not None else set()
    shown = used.pop() if len(used) == 1 else None
    if shown is None:
        shown = next(iter(samples.parts)) if comparison is None else comparison.best
    return SideBySide(shown, diagnoses, comparison)
