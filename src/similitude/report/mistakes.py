"""The samples that the chosen model got wrong, each with its nearest others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from similitude.numerics.topk import top_k
from similitude.report.figures import without_self

MOST_MISTAKES = 1000
MOST_NEIGHBORS = 12
_USUAL_NEIGHBORS = 10


@dataclass(frozen=True)
class Mistake:
    """A sample that was taken for another class.

    Attributes
    ----------
    sample : int
    predicted : int
        Position among the classes.
    neighbors : ndarray of shape (k,)
        The samples most similar to it, itself left out, nearest first.
    similarities, weights : ndarray of shape (k,)
    n_voting : int
        How many neighbours vote; of more than 12 the nearest are listed.
    votes : ndarray of shape (G,)
        Total weight of each class among all that vote.
    """

    sample: int
    predicted: int
    neighbors: np.ndarray
    similarities: np.ndarray
    weights: np.ndarray
    n_voting: int
    votes: np.ndarray


def find_mistakes(
    estimator: Any, S: Any, labels: np.ndarray, predicted: np.ndarray, posteriors: np.ndarray | None
) -> tuple[tuple[Mistake, ...], str | None]:
    """The mistakes, the most confident first, and of what kind the weights are: None where the model is no vote."""
    wrong = np.flatnonzero(predicted != labels)
    if posteriors is not None and len(wrong):
        surplus = posteriors[wrong, predicted[wrong]] - posteriors[wrong, labels[wrong]]
        wrong = wrong[np.argsort(-surplus, kind="stable")]
    wrong = wrong[:MOST_MISTAKES]
    voter = _voter(estimator, len(labels))
    kind = None if voter is None else str(voter.weights)
    if not len(wrong) or len(labels) < 2:
        return (), kind
    n_classes = int(labels.max()) + 1
    rows = without_self(S, wrong)
    similarities, neighbors, weights = _neighbors(voter, S, labels, rows)
    k = neighbors.shape[1]
    votes = np.zeros((len(wrong), n_classes))
    np.add.at(votes, (np.arange(len(wrong))[:, None], labels[neighbors]), weights)
    return tuple(
        Mistake(
            int(sample),
            int(predicted[sample]),
            neighbors[i, :MOST_NEIGHBORS],
            similarities[i, :MOST_NEIGHBORS],
            weights[i, :MOST_NEIGHBORS],
            k,
            votes[i],
        )
        for i, sample in enumerate(wrong)
    ), kind


def _voter(estimator: Any, n: int) -> Any:
    """The k-NN classifier as one of the similarities themselves, with fewer neighbours than samples; or None."""
    if not hasattr(estimator, "neighbor_weights"):
        return None
    # Costs and priors, which may be by label, change what is said, not who votes.
    voter = clone(estimator).set_params(similarity="precomputed", dissimilarity=None, costs=None, priors=None)
    return voter.set_params(n_neighbors=min(voter.n_neighbors, max(n - 1, 1)))


def _neighbors(voter: Any, S: Any, labels: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Similarities, positions and weights of the nearest: own weights where the model votes, else equal ones."""
    if voter is None:
        similarities, neighbors = top_k(rows, min(_USUAL_NEIGHBORS, len(labels) - 1))
        return similarities, neighbors, np.full(neighbors.shape, 1.0 / neighbors.shape[1])
    voter.fit(S, labels)
    neighbors, weights = voter.neighbor_weights(rows)
    return np.take_along_axis(rows, neighbors, axis=1), neighbors, weights
