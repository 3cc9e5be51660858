"""The samples that the chosen model misclassified, each with its nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from similitude.numerics.topk import top_k
from similitude.proximity.check import dense
from similitude.proximity.split import cut

MOST_MISTAKES = 1000
MOST_NEIGHBORS = 12
_USUAL_NEIGHBORS = 10


@dataclass(frozen=True)
class Mistake:
    """A misclassified sample.

    Attributes
    ----------
    sample : int
    predicted : int
        Position among the classes.
    neighbors : ndarray of shape (k,)
        The samples most similar to it without itself, nearest first; at most 12.
    similarities, weights : ndarray of shape (k,)
    n_voting : int
        The number of neighbours that vote.
    votes : ndarray of shape (G,)
        Total weight of each class among all neighbours that vote.
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
    """Return the mistakes, the most confident first, and the kind of weights, or None if the model is not a vote."""
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
    rows = _without_self(S, wrong)
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
    """Return the k-NN classifier on precomputed similarities, with fewer neighbours than samples; else None."""
    if not hasattr(estimator, "neighbor_weights"):
        return None
    # Costs and priors, which may be given by label, change the prediction but not the votes.
    voter = clone(estimator).set_params(similarity="precomputed", dissimilarity=None, costs=None, priors=None)
    return voter.set_params(n_neighbors=min(voter.n_neighbors, max(n - 1, 1)))


def _neighbors(voter: Any, S: Any, labels: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return similarities, positions and weights of the nearest, with equal weights if the model is not a vote."""
    if voter is None:
        similarities, neighbors = top_k(rows, min(_USUAL_NEIGHBORS, len(labels) - 1))
        return similarities, neighbors, np.full(neighbors.shape, 1.0 / neighbors.shape[1])
    voter.fit(S, labels)
    neighbors, weights = voter.neighbor_weights(rows)
    return np.take_along_axis(rows, neighbors, axis=1), neighbors, weights


def _without_self(S: Any, samples: np.ndarray) -> np.ndarray:
    """Return the dense rows of these samples, each with an entry for itself that is smaller than all others."""
    rows = np.array(dense(cut(S, samples, np.arange(S.shape[1]))), dtype=np.float64)
    rows[np.arange(len(rows)), samples] = np.nextafter(rows.min(initial=np.inf), -np.inf)
    return rows
