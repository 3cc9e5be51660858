"""Explanations of the prediction of a generative classifier for one sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.generative.max_entropy import MaximumEntropy, Pmfs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
