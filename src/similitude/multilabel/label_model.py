"""The probabilities of several labels, from the votes for them.

Where some of the votes are for a label, its probability is a logistic function of the log-odds of their share, of how
near the sample is to its nearest training sample, and of a constant of the label, which is drawn to 0 where the label
has few samples. A label without votes has the probability with which left-out samples without votes for it had it. All
of it is learned from left-out samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from similitude.multilabel.left_out import LeftOut, NearnessScale, fit_logistic, greedy_weights, sigmoid
from similitude.multilabel.node_model import Levels
from similitude.multilabel.targets import Targets
from similitude.multilabel.tree import LabelTree

_FEW = 10
"""Labels with fewer samples than this have the weights of all labels."""
_SHARED = 20.0
"""The weights of a label are chosen as if it had this many samples more that are like those of all labels."""
_OF_NONE, _OF_ABSENT = 2.0, 20.0
"""The numbers of samples by which shares are drawn to those of all training samples."""
_PENALTY = 1.0
_STEPS = 20


@dataclass(frozen=True)
class LabelModel:
    """The weights of the points, (T,) or by label (L, T), and the calibration of the combined votes."""

    weights: np.ndarray
    coef: np.ndarray
    offsets: np.ndarray
    absent: np.ndarray
    none: np.ndarray
    scale: NearnessScale
    floor: float

    def take(self, points: np.ndarray) -> LabelModel:
        """Return the model for some of the points, which have all of the weight."""
        return LabelModel(self.weights[..., points], *(getattr(self, name) for name in _AFTER_WEIGHTS))

    def at_entries(self, votes: np.ndarray, columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Return the probabilities of entries with votes; ``basis`` has one row for each."""
        return sigmoid(_features(votes, basis, self.floor) @ self.coef + self.offsets[columns])

    def posteriors(
        self, scores: list[Any], near: np.ndarray, evidence: np.ndarray, tree: LabelTree | None
    ) -> np.ndarray:
        """Return the probabilities of all labels, (m, L); with a tree a parent is at least as probable as its child."""
        votes = sparse.csr_matrix((len(near), len(self.absent)))
        for t, own in enumerate(scores):
            if self.weights.ndim == 1:
                votes = votes + self.weights[t] * own
            else:
                votes = votes + own @ sparse.diags(self.weights[:, t])
        votes = votes.tocsr()
        rows, basis = np.repeat(np.arange(len(near)), np.diff(votes.indptr)), self.scale.features(near)
        found = np.tile(self.absent, (len(near), 1))
        voted = votes.data > 0
        found[rows[voted], votes.indices[voted]] = self.at_entries(
            votes.data[voted], votes.indices[voted], basis[rows[voted]]
        )
        found[~evidence] = self.none
        return found if tree is None else closed(found, Levels.of(tree))


_AFTER_WEIGHTS = ("coef", "offsets", "absent", "none", "scale", "floor")


def closed(posteriors: np.ndarray, levels: Levels) -> np.ndarray:
    """Return the probabilities with those of parents raised to the largest of their children."""
    for d in range(levels.n_ranks - 1, 0, -1):
        first, parents = levels.groups(d)
        largest = np.maximum.reduceat(posteriors[:, levels.part(d)], first, axis=1)
        posteriors[:, parents] = np.maximum(posteriors[:, parents], largest)
    return posteriors


def _features(votes: np.ndarray, basis: np.ndarray, floor: float) -> np.ndarray:
    odds = np.log((votes + floor) / (np.maximum(1.0 - votes, 0.0) + floor))
    return np.column_stack([np.ones(len(votes)), odds, basis, odds * basis[:, 0], odds * basis[:, 2]])


def fit_label_model(found: LeftOut, targets: Targets, combine: str, without: int | None) -> LabelModel:
    """Return the model that is learned from left-out samples, if ``without`` is given without those of a fold."""
    tested = found.parts >= 0
    if without is not None:
        tested &= found.parts != without
    used, lacking = tested & found.evidence, tested & ~found.evidence
    entries = np.flatnonzero(used[found.rows])
    weights = _weights(found, entries, targets, combine)
    rows, columns, truth = found.rows[entries], found.columns[entries], found.truth[entries].astype(float)
    by_entry = weights if weights.ndim == 1 else weights[columns]
    votes = np.sum(found.values[entries] * by_entry, axis=1)
    scale, floor = NearnessScale.learn(found.near[used]), 1.0 / (4 * max(1, int(used.sum())))
    basis = scale.features(found.near)
    voted = votes > 0
    L = targets.Y.shape[1]
    coef, offsets = np.array([0.0, 1.0, *np.zeros(6)]), np.zeros(L)
    if voted.any():
        X = _features(votes[voted], basis[rows[voted]], floor)
        coef = fit_logistic(X, truth[voted], np.ones(len(X)), _PENALTY, coef)
        offsets = _offsets(X @ coef, truth[voted], columns[voted], L)
    known = targets.take(np.flatnonzero(used)).known
    missed = np.bincount(columns[~voted], truth[~voted], minlength=L)
    without_votes = np.maximum(known - np.bincount(columns[voted], minlength=L), 0.0)
    shares = targets.shares
    rate = missed.sum() / max(float(without_votes @ shares), 1e-12)
    absent = (missed + _OF_ABSENT * min(rate, 1.0) * shares) / (without_votes + _OF_ABSENT)
    part = targets.take(np.flatnonzero(lacking))
    none = (part.counts + _OF_NONE * shares) / (part.known + _OF_NONE)
    return LabelModel(weights, coef, offsets, absent, none, scale, floor)


def _weights(found: LeftOut, entries: np.ndarray, targets: Targets, combine: str) -> np.ndarray:
    """Return the weights of the points: (T,), or by label (L, T)."""
    T = len(found.points)
    products, own = found.products(entries)
    overall = greedy_weights(products, own) if own.any() else np.full(T, 1.0 / T)
    if combine == "overall":
        return overall
    n_true = max(1.0, float(found.truth[entries].sum()))
    weights = np.tile(overall, (targets.Y.shape[1], 1))
    order = entries[np.argsort(found.columns[entries], kind="stable")]
    stops = np.searchsorted(found.columns[order], np.arange(targets.Y.shape[1] + 1))
    for label in np.flatnonzero(targets.counts >= _FEW):
        some, same = found.products(order[stops[label] : stops[label + 1]])
        weights[label] = greedy_weights(some + _SHARED * products / n_true, same + _SHARED * own / n_true)
    return weights


def _offsets(z: np.ndarray, truth: np.ndarray, columns: np.ndarray, n_labels: int) -> np.ndarray:
    """Return a constant for each label with the largest likelihood, drawn to 0; Newton's method for all at once."""
    offsets = np.zeros(n_labels)
    for _ in range(_STEPS):
        p = sigmoid(z + offsets[columns])
        slope = np.bincount(columns, p - truth, minlength=n_labels) + _PENALTY * offsets
        curve = np.bincount(columns, p * (1 - p), minlength=n_labels) + _PENALTY
        step = np.clip(slope / curve, -2.0, 2.0)
        offsets -= step
        if np.abs(step).max() < 1e-8:
            break
    return offsets
