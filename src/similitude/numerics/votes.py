"""Votes and decisions: the votes of neighbours, one-vs-one votes, and minimal expected costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from similitude._native import break_ties, class_sums, class_totals, one_vs_one_rows

TIE_TOLERANCE = 1e-12
"""Totals within this relative distance of the largest one are tied."""


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Return the logarithms of probabilities; that of 0 is minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def neighbor_votes(
    labels: np.ndarray,
    similarities: np.ndarray,
    weights: np.ndarray,
    beyond: np.ndarray,
    sizes: Sequence[int] | np.ndarray,
) -> np.ndarray:
    """Return the sums of the neighbours' weights per class for several neighbourhood sizes.

    Samples that tie for the last places share them: the sums are expectations over all orders of equally similar
    samples, so the order of the training set does not change them.
    """
    totals = np.zeros((len(labels), len(sizes), beyond.shape[1]))
    similarities, weights, beyond = (
        np.ascontiguousarray(array, dtype=np.float64) for array in (similarities, weights, beyond)
    )
    places = np.asarray(sizes, dtype=np.intp)
    class_totals(np.ascontiguousarray(labels), similarities, weights, beyond, places, totals)
    return totals


def weighting_votes(labels: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the sums of the neighbours' weights per class for several weightings of the neighbours."""
    totals = np.zeros((*weights.shape[:2], n_classes))
    class_sums(labels, np.ascontiguousarray(weights), totals)
    return totals


def posterior_from_votes(totals: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return votes as probabilities along the last axis: negative sums are set to zero, and the rest is normalised."""
    positive = np.maximum(totals, 0.0)
    sums = positive.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        uniform = present / present.sum(axis=-1, keepdims=True)
        return np.where(sums > 0, positive / sums, uniform)


def rescaled_by_priors(posterior: np.ndarray, priors: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the posteriors that result when the classes have other priors than their shares of the training set."""
    posterior = posterior * (priors / shares)
    sums = posterior.sum(axis=-1, keepdims=True)
    # Where only classes of prior 0 have a positive posterior, the priors are returned.
    return np.where(sums > 0, posterior / np.where(sums > 0, sums, 1.0), priors)


def first_of_best(
    scores: np.ndarray,
    labels: np.ndarray,
    similarities: np.ndarray,
    counts: np.ndarray,
    sizes: np.ndarray,
    class_sizes: np.ndarray,
) -> np.ndarray:
    """Return the class with the best score.

    Of tied classes, the one with the most similar neighbour is returned, then the one with more training samples, then
    the first one.
    """
    winners = np.empty(scores.shape[:2], dtype=np.intp)
    break_ties(
        np.ascontiguousarray(scores, dtype=np.float64),
        np.ascontiguousarray(labels, dtype=np.intp),
        np.ascontiguousarray(similarities, dtype=np.float64),
        np.ascontiguousarray(counts, dtype=np.float64),
        np.ascontiguousarray(np.broadcast_to(sizes, winners.shape), dtype=np.intp),
        np.ascontiguousarray(class_sizes, dtype=np.intp),
        TIE_TOLERANCE,
        winners,
    )
    return winners


def largest_shares(shares: np.ndarray, class_sizes: np.ndarray) -> np.ndarray:
    """Return the class with the largest share in each row; of tied ones the larger class, then the first one."""
    tied = shares >= shares.max(axis=1, keepdims=True) * (1.0 - TIE_TOLERANCE)
    return np.argmax(np.where(tied, class_sizes, -1), axis=1)


def one_vs_one(
    decisions: np.ndarray, n_classes: int, *, later: np.ndarray | None = None, ties: str = "first"
) -> np.ndarray:
    """Return the scores of the classes from pairwise decision values.

    A score is the number of votes plus a term between -1/3 and 1/3 that grows with the sum of the decision values.
    """
    later = decisions >= 0.0 if later is None else later
    scores = np.empty((len(decisions), n_classes))
    values = np.ascontiguousarray(decisions, dtype=np.float64)
    one_vs_one_rows(values, np.ascontiguousarray(later), ties == "first", scores)
    return scores


def expected_costs(posterior: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return the expected cost of predicting each class f, ``sum_g costs[f, g] P(g)``, along the last axis."""
    return posterior @ costs.T
