"""What the members of a combination predict for one sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, repr=False)
class Votes:
    """What each member of a combination predicts for one sample; ``print`` shows it as a table."""

    classes: np.ndarray
    members: list[str]
    weights: np.ndarray
    posteriors: np.ndarray
    posterior: np.ndarray
    prediction: Any
    no_evidence: str = ""

    def __repr__(self) -> str:
        names = [str(label) for label in self.classes.tolist()]
        rows = [["member", "weight", "predicts", *(f"P({name})" for name in names)]]
        for member, weight, posterior in zip(self.members, self.weights, self.posteriors):
            own = [f"{value:.3f}" for value in posterior]
            rows.append([member, f"{weight:.2f}", names[int(np.argmax(posterior))], *own])
        rows.append(["combination", "", str(self.prediction), *(f"{value:.3f}" for value in self.posterior)])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, self.no_evidence] if self.no_evidence else lines)
