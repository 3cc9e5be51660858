"""Ways of combining the methods other than that of ``AutoClassifier``, for comparison on the arena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from similitude.auto import combination
from similitude.auto.losses import Loss

N_POINTS = 3
"""The number of points of each method of which one way chooses."""


class Candidate(NamedTuple):
    """One point of a method: its place among the method's best points, and its posteriors.

    ``left_out`` (n, G) are those of the training samples, by fits without them, and ``tested`` (m, G) those of the test
    samples.
    """

    place: int
    left_out: np.ndarray
    tested: np.ndarray


def ways(candidates: Sequence[Candidate], codes: np.ndarray, classes: np.ndarray) -> dict[str, np.ndarray]:
    """Return the posteriors of the test samples by several ways of combining the methods.

    Parameters
    ----------
    candidates : sequence of Candidate
        The best points of the methods.
    codes : ndarray of int of shape (n,)
        The positions of the true classes of the training samples.
    classes : ndarray of shape (G,)
        The labels of the classes.

    Returns
    -------
    dict of ndarray of shape (m, G)
        The posteriors by the name of the way.
    """
    best = [candidate for candidate in candidates if candidate.place == 0]
    weights = _weights(np.stack([candidate.left_out for candidate in best]), codes, classes)
    found = {way: _mean(best, chosen) for way, chosen in weights.items()}
    several = np.stack([candidate.left_out for candidate in candidates])
    chosen = combination.bagged_weights(several, codes, Loss(None, None, None), classes, 0)
    return {**found, f"way: greedy, {N_POINTS} points of each method": _mean(candidates, chosen)}


def _mean(candidates: Sequence[Candidate], weights: np.ndarray) -> np.ndarray:
    return np.tensordot(weights, np.stack([candidate.tested for candidate in candidates]), axes=1)


def _weights(posteriors: np.ndarray, codes: np.ndarray, classes: np.ndarray) -> dict[str, np.ndarray]:
    """Return the weights that several ways give to methods at their best points, by the name of the way."""
    brier = Loss(None, None, None)
    losses = brier.losses(posteriors, codes).mean(axis=1)
    errors = Loss("accuracy", None, None).losses(posteriors, codes).mean(axis=1)
    few = np.argsort(losses, kind="stable")[:5]
    exponential = np.exp(-(losses - losses.min()) * len(codes))
    return {
        "way: lowest Brier score": _indicator(len(losses), [int(np.argmin(losses))]),
        "way: lowest error": _indicator(len(losses), [int(np.argmin(errors))]),
        "way: mean of the best five": _indicator(len(losses), few.tolist()),
        "way: exponential weights": exponential / exponential.sum(),
        "way: least squares on the simplex": _simplex(posteriors, codes),
        "way: greedy, never a single method": combination.bagged_weights(posteriors, codes, brier, classes, 0),
        "way: greedy, not bagged": combination.greedy_weights(posteriors, codes, brier, classes),
        "way: greedy, half of the methods in a bag": combination.bagged_weights(
            posteriors, codes, brier, classes, 0, share=0.5
        ),
        "way: greedy by log loss": combination.bagged_weights(
            posteriors, codes, Loss("neg_log_loss", None, None), classes, 0
        ),
        "way: greedy by accuracy": combination.bagged_weights(
            posteriors, codes, Loss("accuracy", None, None), classes, 0
        ),
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
