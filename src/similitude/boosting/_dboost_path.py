"""An ensemble of base classifiers, for one number of rounds or several."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from similitude.base import FittedPath
from similitude.boosting._ensemble import Ensemble
from similitude.proximity.check import dense
from similitude.reader import Rows

_ALPHAS = {
    "discrete": lambda outputs: outputs[:, 1],
    "real": lambda outputs: outputs,
    "vote": lambda outputs: outputs[:, 1] / len(outputs),
}


NO_PROBABILITIES = "predict_proba needs a fit to two classes, by an algorithm other than 'vote'."


class DBoostPath(FittedPath):
    """One run of boosting, whose first rounds answer for every smaller number of rounds."""

    _saved_state = {"ensemble": "Ensemble", "points": "list(1) of size rounds", "algorithm": "text"}

    def __init__(self, points: list[int], ensemble: Ensemble, algorithm: str):
        self.points, self.ensemble, self.algorithm = points, ensemble, algorithm

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities, which needs two classes and boosting."""
        return self.algorithm != "vote" and self.ensemble.signs.shape[1] == 2

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        if response == "predict_proba" and not self.has_probabilities:
            raise AttributeError(NO_PROBABILITIES)
        stages, places = np.unique(self.points, return_inverse=True)
        scores = self.ensemble.scores(self.similarities(rows), stages)
        if response == "predict":
            scores = [predicted_classes(values) for values in scores]
        elif response == "predict_proba":
            scores = [expit(2 * np.column_stack([-values, values])) for values in scores]
        return [scores[place] for place in places]

    def similarities(self, rows: Rows) -> np.ndarray:
        """Return the similarities of the rows to the samples in pairs."""
        return np.ascontiguousarray(dense(rows.columns(self.ensemble.columns)))

    def at(self, i: int) -> DBoostPath:
        return DBoostPath([self.points[i]], self.ensemble.first(self.points[i]), self.algorithm)

    @property
    def columns(self) -> np.ndarray:
        return self.ensemble.columns

    def attributes(self) -> dict[str, Any]:
        rounds, alphas = self.ensemble.rounds, _ALPHAS[self.algorithm]
        kept = [(own.pairs, 0.0 - own.cuts, alphas(own.outputs)) for own in rounds]
        values: Any = kept[0] if len(kept) == 1 else map(list, zip(*kept))
        return {**dict(zip(("pairs_", "thresholds_", "alphas_"), values)), "n_rounds_": self.points[0]}

    def _check_saved(self, sizes: Any) -> bool:
        return self.algorithm in _ALPHAS


def predicted_classes(scores: np.ndarray) -> np.ndarray:
    """Return the positions of the predicted classes; for a decision value of 0 it is the first of two."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
