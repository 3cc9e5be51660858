"""Ways of combining the methods other than that of ``AutoClassifier``, for comparison on the arena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from similitude.auto import combination
from similitude.auto.losses import Loss


class Candidate(NamedTuple):
    """A method at its best point: posteriors of the training samples, left out (n, G), and of the test samples."""

    left_out: np.ndarray
    tested: np.ndarray


def ways(candidates: Sequence[Candidate], codes: np.ndarray, classes: np.ndarray) -> dict[str, np.ndarray]:
    """Return the posteriors (m, G) of the test samples by the name of the way of combining the methods.

    ``codes`` (n,) are the positions of the true classes of the training samples among the classes.
    """
    left_out = np.stack([candidate.left_out for candidate in candidates])
    tested = np.stack([candidate.tested for candidate in candidates])
    weights = _weights(left_out, codes, classes)
    return {way: np.tensordot(chosen, tested, axes=1) for way, chosen in weights.items()}


def _weights(posteriors: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> dict[str, np.ndarray]:
    brier = Loss(None, None, None)
    losses = brier.losses(posteriors, codes).mean(axis=1)
    errors = Loss("accuracy", None, None).losses(posteriors, codes).mean(axis=1)
    few = np.argsort(losses, kind="stable")[:5]
    return {
        "way: lowest Brier score": _indicator(len(losses), [int(np.argmin(losses))]),
        "way: lowest error": _indicator(len(losses), [int(np.argmin(errors))]),
        "way: mean of the best five": _indicator(len(losses), few.tolist()),
        "way: least squares on the simplex": _simplex(posteriors, codes),
        "way: greedy, all methods on all folds": combination.bagged_weights(posteriors, codes, brier, classes, 0),
    }


def _indicator(n: int, chosen: list[int]) -> np.ndarray:
    weights = np.zeros(n)
    weights[chosen] = 1 / len(chosen)
    return weights


def _simplex(posteriors: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the weights of lowest Brier score: non-negative least squares with the sum 1 (the super learner)."""
    n_candidates, _, n_classes = posteriors.shape
    target = (codes[:, None] == np.arange(n_classes)).astype(float)
    heavy = 1e3 * np.sqrt(len(codes))
    A = np.vstack([posteriors.reshape(n_candidates, -1).T, np.full((1, n_candidates), heavy)])
    weights, _ = nnls(A, np.append(target.ravel(), heavy), maxiter=100 * n_candidates)
    return weights / weights.sum()
