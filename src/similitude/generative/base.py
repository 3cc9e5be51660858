"""Base of the generative classifiers: posteriors and decisions from joint log-probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.base import FittedPath, SimilarityClassifier, as_one_row
from similitude.generative.explanation import Explanation
from similitude.generative.max_entropy import MaximumEntropy
from similitude.labels import Labels
from similitude.numerics.votes import TIE_TOLERANCE, expected_costs, log_of

if TYPE_CHECKING:
    from similitude._utils.types import SamplesLike
    from similitude.reader import Rows


def normalised(joint: np.ndarray) -> np.ndarray:
    """Return log-posteriors from joint log-probabilities, (..., G), of which at least one is finite."""
    largest = joint.max(axis=-1, keepdims=True)
    return joint - largest - np.log(np.exp(joint - largest).sum(axis=-1, keepdims=True))


def log_posterior(joint: np.ndarray, fallen: np.ndarray, winners: np.ndarray, priors: np.ndarray | None) -> np.ndarray:
    """Return log-posteriors, (..., G), from joint log-probabilities.

    Where ``fallen`` is True, the class in ``winners`` has the posterior 1; if its prior is 0, the posterior is the
    prior.
    """
    joint = np.where(fallen[..., None], np.where(np.arange(joint.shape[-1]) == winners[..., None], 0.0, -np.inf), joint)
    logs = normalised(joint)
    return logs if priors is None else np.where((fallen & (priors[winners] == 0))[..., None], log_of(priors), logs)


def answered(
    logs: np.ndarray, response: str, costs: np.ndarray | None, best: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the answer to ``response`` from log-posteriors, (..., G).

    "predict_log_proba" returns the log-posteriors themselves, "predict_proba" probabilities, and "predict" the position
    that ``best`` finds among scores, (..., G), which are probabilities or expected costs with a minus sign.
    """
    if response == "predict_log_proba":
        return logs
    posterior = np.exp(logs)
    if response == "predict_proba":
        return posterior
    return best(posterior if costs is None else -expected_costs(posterior, costs))


def first_of_tied(scores: np.ndarray) -> np.ndarray:
    """Return the position of the largest score along the last axis, the first of several that are tied."""
    margin = TIE_TOLERANCE * np.abs(scores).max(axis=-1, keepdims=True)
    return np.argmax(scores >= scores.max(axis=-1, keepdims=True) - margin, axis=-1)


class GenerativePath(FittedPath):
    """Base of the paths of generative classifiers, which also answer "predict_joint_log_proba"."""

    labels: Labels
    family: MaximumEntropy

    @property
    def log_priors(self) -> np.ndarray:
        """The logarithms of the given priors, or of (n_g + 1)/(n + G) from the training samples."""
        if self.labels.priors is not None:
            return log_of(self.labels.priors)
        return np.log((self.labels.counts + 1) / (len(self.labels) + self.labels.n_classes))

    def models_of(self, rows: Any) -> dict[str, Any]:
        """Return the centroids and their distributions for the explanation of one row."""
        raise NotImplementedError


class GenerativeClassifier(SimilarityClassifier):
    """Base of the generative classifiers on similarities, whose fitted path is a :class:`GenerativePath`."""

    omega: Any
    priors: Any
    costs: Any
    _path: GenerativePath

    _responses = ("predict", "predict_proba", "predict_log_proba")

    def predict_joint_log_proba(self, X: SamplesLike) -> np.ndarray:
        """Return log P(x, g) for each class g, without the rule of the most similar centroid.

        Parameters
        ----------
        X : samples
            Rows of similarities to the training samples, or raw objects.

        Returns
        -------
        ndarray of shape (m, G)
            The logarithms, in the order of ``classes_``; minus infinity if the probability is 0.
        """
        return self._answer(X, "predict_joint_log_proba")

    def explain(self, X: SamplesLike) -> Explanation:
        """Explain the prediction for one sample by its similarities to the centroids and their distributions.

        Parameters
        ----------
        X : one sample in the form that ``predict`` takes
            A precomputed row may also have the shape (n,); a raw object is passed as a sequence of one.

        Returns
        -------
        Explanation
            The centroids, their distributions, and the contribution of each to the joint probabilities.
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


class DividedPath(FittedPath):
    """The points of a grid in several paths, each with some of the points."""

    def __init__(self, points: list[Any], positions: list[list[int]], paths: list[FittedPath]):
        self.points, self.positions, self.paths = points, positions, paths

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        found: dict[int, np.ndarray] = {}
        for own, path in zip(self.positions, self.paths):
            found |= zip(own, path.answers(rows, response))
        return [found[i] for i in range(len(self.points))]

    def at(self, i: int) -> Any:
        own, path = next((own, path) for own, path in zip(self.positions, self.paths) if i in own)
        return path.at(own.index(i))
