"""Generative models of the similarities to centroids that are the same for all samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from similitude.generative.base import GenerativePath, answered, first_of_tied, log_posterior
from similitude.generative.max_entropy import MaximumEntropy, Pmfs
from similitude.labels import Labels
from similitude.numerics.votes import log_of
from similitude.proximity.check import dense

if TYPE_CHECKING:
    from similitude.reader import Rows


class CentroidModels(NamedTuple):
    """The c centroids of one class, and for each class g a mixture of distributions of the similarities to them.

    ``centroids`` (c,) are positions in the training set; ``weights``, ``means`` and ``pmfs`` have the shape (G, c).
    """

    centroids: np.ndarray
    weights: np.ndarray
    means: np.ndarray
    pmfs: Pmfs

    def _check_saved(self, sizes: Any) -> bool:
        return self.pmfs.rates.shape == self.weights.shape

    @staticmethod
    def _saved_state() -> dict[str, str]:
        return {
            "centroids": "int[.c] 0..n",
            "weights": "double[G, .c] 0..",
            "means": "double[G, .c]",
            "pmfs": "Pmfs",
        }


class CentroidsPath(GenerativePath):
    """The models of the similarities to the centroids of each class, which have no parameters on the path."""

    _saved_state = {
        "labels": "Labels",
        "family": "MaximumEntropy",
        "models": "list(G) of CentroidModels",
        "_attributes": "dict of any",
    }

    def __init__(
        self,
        points: list,
        labels: Labels,
        family: MaximumEntropy,
        models: list[CentroidModels],
        attributes: dict[str, Any],
    ):
        self.points, self.labels, self.family, self.models = points, labels, family, models
        self._attributes = attributes

    def attributes(self) -> dict[str, Any]:
        return self._attributes

    @property
    def columns(self) -> np.ndarray:
        return np.concatenate([of_class.centroids for of_class in self.models])

    def answers(self, rows: Rows, response: str) -> list[np.ndarray]:
        similarities = self._similarities(rows)
        joint = self._log_likelihoods(similarities).sum(axis=2) + self.log_priors
        if response == "predict_joint_log_proba":
            return [joint] * len(self.points)
        nearest = np.argmax([values.max(axis=1) for values in similarities], axis=0)
        logs = log_posterior(joint, np.all(joint == -np.inf, axis=1), nearest, self.labels.priors)
        return [answered(logs, response, self.labels.costs, first_of_tied)] * len(self.points)

    def _similarities(self, rows: Any) -> list[np.ndarray]:
        """Return the similarities of the rows to the centroids of each class, (rows, c) each."""
        ends = np.cumsum([len(of_class.centroids) for of_class in self.models[:-1]])
        return np.split(dense(rows.columns(self.columns)), ends, axis=1)

    def _log_likelihoods(self, similarities: list[np.ndarray]) -> np.ndarray:
        """Return the logarithm of the mixture of class g at the similarities to the centroids of h, (rows, g, h)."""
        logs = np.empty((len(similarities[0]), len(self.models), len(self.models)))
        for h, (values, of_class) in enumerate(zip(similarities, self.models)):
            places = (a[:, None, :] for a in self.family.distances(values))
            parts = log_of(of_class.weights) + self.family.log_pmf(of_class.pmfs, *places)
            largest = parts.max(axis=2)
            largest = np.where(largest == -np.inf, 0.0, largest)
            logs[:, :, h] = largest + log_of(np.exp(parts - largest[..., None]).sum(axis=2))
        return logs

    def models_of(self, rows: Rows) -> dict[str, Any]:
        similarities = self._similarities(rows)
        return {
            "centroids": self.columns,
            "centroid_classes": np.repeat(np.arange(len(self.models)), [values.shape[1] for values in similarities]),
            "similarities": np.concatenate(similarities, axis=1)[0],
            "weights": np.concatenate([of_class.weights for of_class in self.models], axis=1),
            "means": np.concatenate([of_class.means for of_class in self.models], axis=1),
            "log_likelihoods": self._log_likelihoods(similarities)[0],
            "log_priors": self.log_priors,
            "pmfs": Pmfs(*(np.concatenate(parts, axis=1) for parts in zip(*(each.pmfs for each in self.models)))),
        }
