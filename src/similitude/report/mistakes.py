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
    """A misclassified sample."""

    sample: int
    predicted: int
    neighbors: np.ndarray
    similarities: np.ndarray
    weights: np.ndarray | None
    n_voting: int
    votes: np.ndarray


def find_mistakes(
    S: Any, labels: np.ndarray, predicted: np.ndarray, posteriors: np.ndarray | None, voting: Voting | None
) -> tuple[Mistake, ...]:
    """Return the mistakes, the most confident first."""
    wrong = np.flatnonzero((predicted != labels) & (predicted >= 0))
    if posteriors is not None and len(wrong):
        surplus = posteriors[wrong, predicted[wrong]] - posteriors[wrong, labels[wrong]]
        wrong = wrong[np.argsort(-surplus, kind="stable")]
    wrong = wrong[:MOST_MISTAKES]
    if not len(wrong) or len(labels) < 2:
        return ()
    rows = without_self(S, wrong)
    weights = None
    if voting is None:
        neighbors = top_k(rows, min(_USUAL_NEIGHBORS, len(labels) - 1))[1]
    else:
        neighbors, weights = voting.of(wrong, labels)
    similarities = np.take_along_axis(rows, neighbors, axis=1)
    k = neighbors.shape[1]
    votes = np.zeros((len(wrong), int(labels.max()) + 1))
    np.add.at(votes, (np.arange(len(wrong))[:, None], labels[neighbors]), 1.0 if weights is None else weights)
    return tuple(
        Mistake(
            int(sample),
            int(predicted[sample]),
            neighbors[i, :MOST_NEIGHBORS],
            similarities[i, :MOST_NEIGHBORS],
            None if weights is None else weights[i, :MOST_NEIGHBORS],
            k,
            votes[i],
        )
        for i, sample in enumerate(wrong)
    )


@dataclass(frozen=True)
class Voting:
    """A k-NN classifier and the similarities under its own map, by which its neighbours vote."""

    estimator: Any
    S: Any

    @property
    def kind(self) -> str:
        """The kind of weights."""
        return str(self.estimator.weights)

    def of(self, samples: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours of these samples among all others, and the weights of their votes."""
        # Costs and priors, which may be given by label, change the prediction but not the votes.
        voter = clone(self.estimator).set_params(similarity="precomputed", dissimilarity=None, costs=None, priors=None)
        voter.set_params(n_neighbors=min(voter.n_neighbors, len(labels) - 1))
        return voter.fit(self.S, labels).neighbor_weights(without_self(self.S, samples))


def without_self(S: Any, samples: np.ndarray) -> np.ndarray:
    """Return the dense rows of these samples, each with an entry for itself that is smaller than all others."""
    rows = np.array(dense(cut(S, samples, np.arange(S.shape[1]))), dtype=np.float64)
    rows[np.arange(len(rows)), samples] = np.nextafter(rows.min(initial=np.inf), -np.inf)
    return rows
