"""Base of the generative classifiers: posteriors and decisions from joint log-probabilities, and their explanation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similitude._utils.types import SamplesLike
from similitude.base import FittedPath, SimilarityClassifier, as_one_row
from similitude.generative.max_entropy import MaximumEntropy, Pmfs
from similitude.labels import Labels
from similitude.numerics.votes import TIE_TOLERANCE, expected_costs, log_of
from similitude.reader import Rows


@dataclass(frozen=True, repr=False, kw_only=True)
class Explanation:
    """The centroids, the distributions of the similarities to them, and the contribution of each to each class.

    Classes are numbered by g in the order of ``classes``, and centroids by j. ``print`` shows the explanation as a
    table.

    Parameters
    ----------
    method : str
        The name of the classifier.
    classes : ndarray of shape (G,)
        The labels.
    centroids : ndarray of int of shape (J,)
        The positions of the centroids in the training set.
    centroid_classes : ndarray of int of shape (J,)
        The number of each centroid's class, ascending; each class has one centroid, except in mixtures.
    similarities : ndarray of shape (J,)
        The similarities of the sample to the centroids.
    weights : ndarray of shape (G, J)
        The weights of the components: 1, except in mixtures.
    means : ndarray of shape (G, J)
        The mean similarity of class g to centroid j; NaN for a class without a model.
    log_likelihoods : ndarray of shape (G, H)
        The contribution of the centroids of each class to log P(x | g), for the H classes that have centroids; NaN for
        a class without a model.
    log_priors, log_joint, posterior : ndarrays of shape (G,)
        log P(g), log P(x, g) and P(g | x).
    prediction : label
        The predicted class.
    by_centroid : bool
        Whether the most similar centroid decides instead of the distributions.
    family : MaximumEntropy
        The possible distributions of similarities.
    pmfs : Pmfs
        The fitted distributions, of shape (G, J).
    average_log_likelihoods : ndarray of shape (G, H), default=None
        The same as ``log_likelihoods`` with the average distributions of the training samples (regularized local SDA).
    neighbors : ndarray of int of shape (k,), default=None
        The positions of the neighbours, nearest first (local SDA).
    counts : ndarray of int of shape (G,), default=None
        The number of neighbours of each class.

    See Also
    --------
    similitude.LocalSDA
        Classify each sample by similarity discriminant analysis among its k most similar training samples.
    similitude.SDA : Classify by the distributions of the similarities to the classes' centroids in each class.
    similitude.plotting.SimilarityModelDisplay : The distributions that a generative classifier compares for one sample.
    """

    method: str
    classes: np.ndarray
    centroids: np.ndarray
    centroid_classes: np.ndarray
    similarities: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    log_likelihoods: np.ndarray
    log_priors: np.ndarray
    log_joint: np.ndarray
    posterior: np.ndarray
    prediction: Any
    by_centroid: bool
    family: MaximumEntropy
    pmfs: Pmfs
    average_log_likelihoods: np.ndarray | None = None
    neighbors: np.ndarray | None = None
    counts: np.ndarray | None = None

    @property
    def lambdas(self) -> np.ndarray:
        """The lambda of each distribution, (G, J); NaN for a class without a model."""
        return self.family.parameters(self.pmfs)[0]

    @property
    def omega(self) -> np.ndarray:
        """The possible similarities, or the two ends of an interval."""
        return self.family.omega

    def log_pmf(self, similarities: ArrayLike) -> np.ndarray:
        """Return log P of the distributions at given similarities.

        Parameters
        ----------
        similarities : array-like of shape (N,)
            The similarities.

        Returns
        -------
        ndarray of shape (G, J, N)
            The logarithms; NaN where there is no distribution.
        """
        pmfs = Pmfs(*(part[..., None] for part in self.pmfs))
        logs = self.family.log_pmf(pmfs, *self.family.distances(similarities))
        return np.where(np.isnan(self.pmfs.rates)[..., None], np.nan, logs)

    def __repr__(self) -> str:
        by = "the most similar centroid" if self.by_centroid else "the distributions"
        prediction = self.prediction.item() if hasattr(self.prediction, "item") else self.prediction
        lines = [f"{self.method} predicts {prediction!r}, by {by}"]
        rows = self._rows()
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            lines.append(
                "  ".join([row[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(row[1:], widths[1:]))]).rstrip()
            )
        return "\n".join(lines)

    def _rows(self) -> list[list[str]]:
        present = np.unique(self.centroid_classes)
        groups = [np.flatnonzero(self.centroid_classes == h) for h in present]

        def listed(values: np.ndarray, digits: int | None = None) -> list[str]:
            return [", ".join(f"{v:.4g}" if digits else str(v) for v in values[group]) for group in groups]

        names = [str(label) for label in self.classes.tolist()]
        rows = [["class of the centroid", *(names[h] for h in present), "log P(g)", "log P(x, g)", "P(g | x)"]]
        rows.append(["centroid, a training sample", *listed(self.centroids), "", "", ""])
        if self.counts is not None:
            rows.append(["neighbours of the class", *(str(c) for c in self.counts[present]), "", "", ""])
        rows.append(["similarity to it", *listed(self.similarities, 4), "", "", ""])
        for g, name in enumerate(names):
            logs = [_number(value) for value in self.log_likelihoods[g]]
            ends = [_number(self.log_priors[g]), _number(self.log_joint[g]), f"{self.posterior[g]:.4f}"]
            rows.append([f"log P( . | {name})", *logs, *ends])
            if self.average_log_likelihoods is not None:
                averages = [_number(value) for value in self.average_log_likelihoods[g]]
                rows.append([f"log P_ave( . | {name})", *averages, "", "", ""])
        return rows


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.4f}"


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
        counts = self.labels.weighted_counts
        return np.log((counts + 1) / (counts.sum() + self.labels.n_classes))

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
        return self._respond(X, "predict_joint_log_proba")

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
