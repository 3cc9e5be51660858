"""How likely a predicted label is right, by its posterior and by how typical of its class the sample is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from similitude.sets.calibration import Calibration
from similitude.sets.typicality import Typicality

_SMALLEST = 1e-6
_FEWEST = 5


class Applicability(NamedTuple):
    """A logistic regression of whether left-out samples were predicted rightly.

    ``log(a / (1 - a)) = w_0 + w_1 log(p / (1 - p)) + w_2 t``, where p is the posterior of the predicted label and t the
    typicality of the sample for it. A more typical sample is never less likely to be right.
    """

    intercept: float
    posterior: float
    typicality: float

    @classmethod
    def learn(cls, known: Calibration, labels: np.ndarray, typicality: Typicality | None) -> Applicability:
        """Return what is learned from the left-out samples and the positions of their predicted labels."""
        own = np.arange(len(labels)), labels
        right = labels == known.codes
        typical = _of_left_out(known, typicality)
        used = np.ones(len(labels), dtype=bool) if known.evidence is None else np.asarray(known.evidence, dtype=bool)
        t = np.zeros(len(labels)) if typical is None else typical[own]
        used &= ~np.isnan(t)
        # With few errors, or hardly any right prediction, the posterior is all that there is.
        if min(np.sum(right & used), np.sum(~right & used)) < _FEWEST:
            return cls(0.0, 1.0, 0.0)
        p = log_odds(known.posterior_of(labels))
        found = _regression(np.column_stack([p, t])[used], right[used])
        if typical is None or found[2] <= 0:
            found = (*_regression(p[used, None], right[used]), 0.0)
        return cls(*found)

    def __call__(self, posteriors: np.ndarray, typicality: np.ndarray | None) -> np.ndarray:
        """Return the probabilities that labels with these posteriors are right."""
        values = self.intercept + self.posterior * log_odds(posteriors)
        if typicality is not None and self.typicality:
            values = values + self.typicality * typicality
        return 1 / (1 + np.exp(-values))


def log_odds(p: np.ndarray) -> np.ndarray:
    """Return ``log(p / (1 - p))``, with p kept away from 0 and 1."""
    kept = np.clip(p, _SMALLEST, 1 - _SMALLEST)
    return np.log(kept / (1 - kept))


def _regression(features: np.ndarray, right: np.ndarray) -> tuple[float, ...]:
    model = LogisticRegression(C=1e4, tol=1e-8, max_iter=1000).fit(features, right)
    return float(model.intercept_[0]), *map(float, model.coef_[0])


def _of_left_out(known: Calibration, typicality: Typicality | None) -> np.ndarray | None:
    """Return the typicality of the left-out samples, in their order; None if they cannot be matched."""
    if typicality is None:
        return None
    tested = np.isin(typicality.codes, np.unique(known.codes))
    if not np.array_equal(typicality.codes[tested], known.codes):
        return None
    found = typicality.of_training()
    return None if found is None else found[tested]
