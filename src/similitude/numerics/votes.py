"""Votes and decisions, once for all classifiers: neighbours' votes, one-vs-one votes, minimal expected cost."""

from __future__ import annotations

import numpy as np

TIE_TOLERANCE = 1e-12
"""Totals within this relative distance of the largest are tied."""


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Return logarithms; that of 0 is minus infinity."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def neighbor_votes(labels: np.ndarray, weights: np.ndarray, sizes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return sums of the neighbours' weights per class, for every neighbourhood size: (m, len(sizes), n_classes).

    ``labels`` and ``weights`` are (m, k), nearest first; ``sizes`` is ascending, each at most k.
    """
    from similitude.numerics._topk_kernel import class_totals

    totals = np.zeros((len(labels), len(sizes), n_classes))
    class_totals(labels, weights, np.asarray(sizes, dtype=np.intp), totals)
    return totals


def weighting_votes(labels: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Sums of the neighbours' weights per class for several weightings of them: (m, J, k) to (m, J, n_classes)."""
    from similitude.numerics._topk_kernel import class_sums

    totals = np.zeros((*weights.shape[:2], n_classes))
    class_sums(labels, weights, totals)
    return totals


def posterior_from_votes(totals: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return votes made into probabilities along the last axis: negative sums are cut to zero, then normalised.

    Where nothing positive is left the posterior is uniform over the classes ``present`` among the neighbours.
    """
    positive = np.maximum(totals, 0.0)
    sums = positive.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        uniform = present / present.sum(axis=-1, keepdims=True)
        return np.where(sums > 0, positive / sums, uniform)


def rescaled_by_priors(posterior: np.ndarray, priors: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return posteriors of classes with these training shares, had the classes these priors."""
    posterior = posterior * (priors / shares)
    sums = posterior.sum(axis=-1, keepdims=True)
    # Nothing left but classes of prior 0: nothing is known but the priors.
    return np.where(sums > 0, posterior / np.where(sums > 0, sums, 1.0), priors)


def first_of_best(scores: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the class with the best score, ties to the class of the nearest neighbour: (m, len(sizes)).

    ``scores`` is (m, len(sizes), n_classes); ``labels`` (m, k) are the neighbours' classes, nearest first.
    """
    from similitude.numerics._topk_kernel import break_ties

    winners = np.empty(scores.shape[:2], dtype=np.intp)
    break_ties(
        np.ascontiguousarray(scores, dtype=np.float64),
        labels,
        np.asarray(sizes, dtype=np.intp),
        TIE_TOLERANCE,
        winners,
    )
    return winners


def one_vs_one(
    decisions: np.ndarray, n_classes: int, *, later: np.ndarray | None = None, ties: str = "first"
) -> np.ndarray:
    """Return scores of the classes from pairwise decision values (m, pairs), the pairs in the order (0, 1), (0, 2), ...

    ``later`` tells where the later class of a pair gets its vote; None: where the value is 0 or more. A score is the
    number of votes, and less than a third, up or down, for the sum of the decision values. Of classes with most votes
    the first has the largest score, or with ``ties="sums"`` that with the largest sum.
    """
    from similitude.numerics._topk_kernel import one_vs_one_rows

    later = decisions >= 0.0 if later is None else later
    scores = np.empty((len(decisions), n_classes))
    values = np.ascontiguousarray(decisions, dtype=np.float64)
    one_vs_one_rows(values, np.ascontiguousarray(later), ties == "first", scores)
    return scores


def expected_costs(posterior: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Expected cost of saying f, ``sum_g costs[f, g] P(g)``, along the last axis."""
    return posterior @ costs.T
