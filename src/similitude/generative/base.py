"""What the generative classifiers share: posteriors and decisions from joint log-probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.base import SimilarityClassifier, as_one_row, costs_matrix, priors_vector
from similitude.generative.explanation import Explanation
from similitude.generative.max_entropy import MaximumEntropy, check_omega, distinct_similarities
from similitude.numerics.votes import TIE_TOLERANCE, expected_costs


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Logarithms, of 0 minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def normalised(joint: np.ndarray) -> np.ndarray:
    """Joint log-probabilities, (..., G), not all of them minus infinity, less the logarithm of their sum."""
    largest = joint.max(axis=-1, keepdims=True)
    return joint - largest - np.log(np.exp(joint - largest).sum(axis=-1, keepdims=True))


def log_posterior(joint: np.ndarray, fallen: np.ndarray, winners: np.ndarray, priors: np.ndarray | None) -> np.ndarray:
    """Joint log-probabilities, (..., G), normalised; where ``fallen``, all of it goes to the class ``winners`` names.

    A class of prior 0 gets nothing: where it is the one named, the posterior is the prior.
    """
    joint = np.where(fallen[..., None], np.where(np.arange(joint.shape[-1]) == winners[..., None], 0.0, -np.inf), joint)
    logs = normalised(joint)
    return logs if priors is None else np.where((fallen & (priors[winners] == 0))[..., None], log_of(priors), logs)


def least_expected_cost(logs: np.ndarray, costs: np.ndarray | None) -> np.ndarray:
    """The place of the class of least expected cost for each row of log-posteriors, (m, G); of tied ones the first."""
    scores = np.exp(logs) if costs is None else -expected_costs(np.exp(logs), costs)
    margin = TIE_TOLERANCE * np.abs(scores).max(axis=1, keepdims=True)
    return np.argmax(scores >= scores.max(axis=1, keepdims=True) - margin, axis=1)


def family_on(omega: Any, S: Any) -> MaximumEntropy:
    """The maximum-entropy distributions on the Omega that a classifier's parameter names, for these similarities."""
    if omega is None:
        return MaximumEntropy(distinct_similarities(S))
    low, high = float(S.min()), float(S.max())
    if isinstance(omega, str):
        if omega != "continuous":
            raise ValueError(f"omega must be None, 'continuous' or an array of similarities; got {omega!r}.")
        return MaximumEntropy(np.array([low, high]), continuous=True)
    values = check_omega(omega)
    family = MaximumEntropy(values)
    below, above = family.distances([low, high])
    if min(below[0], above[1]) < -family.tolerance:
        raise ValueError(
            f"omega must reach over the training similarities, which run from {low:g} to {high:g}; it runs from "
            f"{values.min():g} to {values.max():g}."
        )
    return family


class GenerativeClassifier(SimilarityClassifier):
    """Base of the generative classifiers: a subclass offers ``_joint``, the rest follows from it."""

    omega: Any
    priors: Any
    costs: Any

    def _set_decision(self) -> None:
        """Check ``priors`` and ``costs`` against the classes."""
        self._costs = costs_matrix(self.costs, self.classes_)
        self._priors = priors_vector(self.priors, self.classes_)

    def _log_priors(self) -> np.ndarray:
        """The given priors, or (n_g + 1)/(n + G) from the training samples."""
        if self._priors is not None:
            return log_of(self._priors)
        counts = np.bincount(self._labels, minlength=len(self.classes_))
        return np.log((counts + 1) / (len(self._labels) + len(counts)))

    def _joint(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Joint log-probabilities, (m, G), and the class that decides where all of them are minus infinity."""
        raise NotImplementedError

    def predict_joint_log_proba(self, X):
        """log of P(x | g) P(g) for each class g, in the order of ``classes_``; minus infinity where that is 0."""
        return self._joint(X)[0]

    def predict_log_proba(self, X):
        """The logarithm of the posterior of each class, in the order of ``classes_``."""
        joint, winners = self._joint(X)
        return log_posterior(joint, np.all(joint == -np.inf, axis=1), winners, self._priors)

    def predict_proba(self, X):
        """The posterior of each class, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X):
        """The class of least expected cost for each row; of tied ones the first."""
        logs = self.predict_log_proba(X)
        return self.classes_[least_expected_cost(logs, self._costs)]

    def explain(self, X) -> Explanation:
        """How the answer about one sample came about: its similarities to the centroids, and their distributions.

        Parameters
        ----------
        X : one sample as ``predict`` takes it
            A precomputed row may be of shape (n,) too; of raw objects, a sequence of one.

        Returns
        -------
        Explanation
        """
        X = as_one_row(self, X)
        posterior = self.predict_proba(X)
        if len(posterior) != 1:
            raise ValueError(f"X must hold one sample, as predict takes it; got {len(posterior)}.")
        joint = self.predict_joint_log_proba(X)[0]
        common = {
            "method": type(self).__name__,
            "classes": self.classes_,
            "average_log_likelihoods": None,
            "log_joint": joint,
            "posterior": posterior[0],
            "prediction": self.predict(X)[0],
            "by_centroid": bool(np.all(joint == -np.inf)),
            "neighbors": None,
            "counts": None,
        }
        return Explanation(**{**common, **self._models_of(X)})

    def _models_of(self, X: Any) -> dict[str, Any]:
        """What is left of the explanation of one sample: the centroids and their distributions."""
        raise NotImplementedError
