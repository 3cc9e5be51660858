"""What the generative classifiers share: posteriors and decisions from joint log-probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from similitude.base import FittedPath, SimilarityClassifier, as_one_row
from similitude.generative.explanation import Explanation
from similitude.generative.max_entropy import MaximumEntropy
from similitude.labels import Labels
from similitude.numerics.votes import TIE_TOLERANCE, expected_costs, log_of


def normalised(joint: np.ndarray) -> np.ndarray:
    """Return joint log-probabilities, (..., G), not all of them minus infinity, less the logarithm of their sum."""
    largest = joint.max(axis=-1, keepdims=True)
    return joint - largest - np.log(np.exp(joint - largest).sum(axis=-1, keepdims=True))


def log_posterior(joint: np.ndarray, fallen: np.ndarray, winners: np.ndarray, priors: np.ndarray | None) -> np.ndarray:
    """Return joint log-probabilities, (..., G), normalised; where ``fallen``, the class in ``winners`` has all of it.

    A class of prior 0 gets nothing: where it is the one in ``winners``, the posterior is the prior.
    """
    joint = np.where(fallen[..., None], np.where(np.arange(joint.shape[-1]) == winners[..., None], 0.0, -np.inf), joint)
    logs = normalised(joint)
    return logs if priors is None else np.where((fallen & (priors[winners] == 0))[..., None], log_of(priors), logs)


def answered(
    logs: np.ndarray, response: str, costs: np.ndarray | None, best: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return what ``response`` asks for, from log-posteriors, (..., G).

    "predict_log_proba" asks for themselves, "predict_proba" for probabilities, and "predict" for the position that
    ``best`` finds among scores, (..., G): probabilities, or expected costs with their sign changed.
    """
    if response == "predict_log_proba":
        return logs
    posterior = np.exp(logs)
    if response == "predict_proba":
        return posterior
    return best(posterior if costs is None else -expected_costs(posterior, costs))


def first_of_tied(scores: np.ndarray) -> np.ndarray:
    """Return the position of the largest score along the last axis; of tied ones the first."""
    margin = TIE_TOLERANCE * np.abs(scores).max(axis=-1, keepdims=True)
    return np.argmax(scores >= scores.max(axis=-1, keepdims=True) - margin, axis=-1)


class GenerativePath(FittedPath):
    """Base of the fitted generative classifiers; beside the usual answers there is "predict_joint_log_proba".

    Attributes
    ----------
    labels : Labels
    family : MaximumEntropy
        The distributions that similarities can have.
    """

    labels: Labels
    family: MaximumEntropy

    @property
    def log_priors(self) -> np.ndarray:
        """The logarithms of the given priors, or of (n_g + 1)/(n + G) from the training samples."""
        if self.labels.priors is not None:
            return log_of(self.labels.priors)
        return np.log((self.labels.counts + 1) / (len(self.labels) + self.labels.n_classes))

    def models_of(self, rows: Any) -> dict[str, Any]:
        """Return what an explanation tells of the one row: the centroids and their distributions."""
        raise NotImplementedError


class GenerativeClassifier(SimilarityClassifier):
    """Base of the generative classifiers on similarities, whose fitted path is a :class:`GenerativePath`."""

    omega: Any
    priors: Any
    costs: Any
    _path: GenerativePath

    _responses = ("predict", "predict_proba", "predict_log_proba")

    def predict_joint_log_proba(self, X):
        """Return log of P(x, g) for each class g, before the most similar centroid decides anything.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m, G)
            In the order of ``classes_``; minus infinity where the probability is 0.
        """
        return self._answer(X, "predict_joint_log_proba")

    def explain(self, X) -> Explanation:
        """Return how the prediction for one sample comes about: its similarities to the centroids, and their models.

        Parameters
        ----------
        X : one sample as ``predict`` takes it
            A precomputed row may have the shape (n,), too; of raw objects, a sequence of one.

        Returns
        -------
        Explanation
        """
        rows = self._rows(as_one_row(self, X))
        if len(rows) != 1:
            raise ValueError(f"X must hold one sample, as predict takes it; got {len(rows)}.")
        joint, posterior, predicted = (
            self._path.answers(rows, response)[0][0]
            for response in ("predict_joint_log_proba", "predict_proba", "predict")
        )
        told = {
            "method": type(self).__name__,
            "classes": self.classes_,
            "log_joint": joint,
            "posterior": posterior,
            "prediction": self.classes_[predicted],
            "by_centroid": bool(np.all(joint == -np.inf)),
            "family": self._path.family,
        }
        return Explanation(**{**told, **self._path.models_of(rows)})
