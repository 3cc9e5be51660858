"""Votes and decisions: the votes of neighbours, one-vs-one votes, and minimal expected costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from similitude._native import break_ties, class_sums, class_totals, one_vs_one_rows

TIE_TOLERANCE = 1e-12
"""Totals within this relative distance of the largest one are tied."""


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Return the logarithms of probabilities; that of 0 is minus infinity.

    Parameters
    ----------
    probabilities : ndarray
        The probabilities.

    Returns
    -------
    ndarray
        The logarithms.

    See Also
    --------
    posterior_from_votes
        Return votes as probabilities along the last axis: negative sums are set to zero, and the rest is
        normalised.
    """
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

    Parameters
    ----------
    labels : ndarray of int of shape (m, k)
        The positions of the neighbours' classes, nearest first.
    similarities : ndarray of shape (m, k)
        The similarities of the neighbours.
    weights : ndarray of shape (m, k)
        The weights of the neighbours, equal for equally similar ones.
    beyond : ndarray of shape (m, n_classes)
        The number of samples of each class that are not listed although they are as similar as the last neighbour.
    sizes : array-like of int
        The neighbourhood sizes, ascending, each at most k.

    Returns
    -------
    ndarray of shape (m, len(sizes), n_classes)
        The sums.

    See Also
    --------
    weighting_votes : Return the sums of the neighbours' weights per class for several weightings of the neighbours.
    posterior_from_votes
        Return votes as probabilities along the last axis: negative sums are set to zero, and the rest is
        normalised.
    """
    totals = np.zeros((len(labels), len(sizes), beyond.shape[1]))
    similarities, weights, beyond = (
        np.ascontiguousarray(array, dtype=np.float64) for array in (similarities, weights, beyond)
    )
    places = np.asarray(sizes, dtype=np.intp)
    class_totals(np.ascontiguousarray(labels), similarities, weights, beyond, places, totals)
    return totals


def weighting_votes(labels: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the sums of the neighbours' weights per class for several weightings of the neighbours.

    Parameters
    ----------
    labels : ndarray of int of shape (m, k)
        The positions of the neighbours' classes.
    weights : ndarray of shape (m, J, k)
        J weightings of the neighbours.
    n_classes : int
        The number of classes.

    Returns
    -------
    ndarray of shape (m, J, n_classes)
        The sums.

    See Also
    --------
    neighbor_votes : Return the sums of the neighbours' weights per class for several neighbourhood sizes.
    similitude.neighbors.local_weights
        Return the weights of each test sample's neighbours for every neighbourhood size and ridge.
    """
    totals = np.zeros((*weights.shape[:2], n_classes))
    class_sums(labels, np.ascontiguousarray(weights), totals)
    return totals


def posterior_from_votes(totals: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return votes as probabilities along the last axis: negative sums are set to zero, and the rest is normalised.

    Parameters
    ----------
    totals : ndarray of shape (..., n_classes)
        The sums of the votes.
    present : ndarray of bool of shape (..., n_classes)
        Whether each class is present among the neighbours. If no sum is positive, the posterior is uniform over these.

    Returns
    -------
    ndarray of shape (..., n_classes)
        The probabilities.

    See Also
    --------
    neighbor_votes : Return the sums of the neighbours' weights per class for several neighbourhood sizes.
    rescaled_by_priors
        Return the posteriors that result when the classes have other priors than their shares of the training
        set.
    """
    positive = np.maximum(totals, 0.0)
    sums = positive.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        uniform = present / present.sum(axis=-1, keepdims=True)
        return np.where(sums > 0, positive / sums, uniform)


def rescaled_by_priors(posterior: np.ndarray, priors: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the posteriors that result when the classes have other priors than their shares of the training set.

    Parameters
    ----------
    posterior : ndarray of shape (..., n_classes)
        The posteriors under the shares of the training set.
    priors : ndarray of shape (n_classes,)
        The priors.
    shares : ndarray of shape (n_classes,)
        The share of each class in the training set.

    Returns
    -------
    ndarray of shape (..., n_classes)
        The posteriors under the priors.

    See Also
    --------
    posterior_from_votes
        Return votes as probabilities along the last axis: negative sums are set to zero, and the rest is
        normalised.
    expected_costs
        Return the expected cost of predicting each class f, ``sum_g costs[f, g] P(g)``, along the last axis.
    """
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

    Parameters
    ----------
    scores : ndarray of shape (m, J, n_classes)
        The scores of the classes.
    labels : ndarray of int of shape (m, k)
        The positions of the neighbours' classes, nearest first.
    similarities : ndarray of shape (m, k)
        The similarities of the neighbours.
    counts : ndarray of shape (m, J, n_classes)
        How many neighbours each class has, shares of tied ones included.
    sizes : array-like of int of shape (J,) or (m, J)
        The neighbourhood sizes.
    class_sizes : ndarray of int of shape (n_classes,)
        The number of training samples of each class.

    Returns
    -------
    ndarray of int of shape (m, J)
        The positions of the classes.

    See Also
    --------
    neighbor_votes : Return the sums of the neighbours' weights per class for several neighbourhood sizes.
    expected_costs
        Return the expected cost of predicting each class f, ``sum_g costs[f, g] P(g)``, along the last axis.
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

    Parameters
    ----------
    decisions : ndarray of shape (m, pairs)
        The decision values of the pairs (0, 1), (0, 2), ...
    n_classes : int
        The number of classes.
    later : ndarray of bool of shape (m, pairs), default=None
        Whether the later class of the pair gets the vote; by default where the decision value is 0 or more.
    ties : {"first", "sums"}, default="first"
        Which of the classes with the most votes has the largest score: the first one, or the one with the largest sum.

    Returns
    -------
    ndarray of shape (m, n_classes)
        The scores.

    See Also
    --------
    Machines : The machines of all pairs of classes for one C, positive for the later class.
    solve_machines : Solve one machine for each pair of classes and each C.
    """
    later = decisions >= 0.0 if later is None else later
    scores = np.empty((len(decisions), n_classes))
    values = np.ascontiguousarray(decisions, dtype=np.float64)
    one_vs_one_rows(values, np.ascontiguousarray(later), ties == "first", scores)
    return scores


def expected_costs(posterior: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return the expected cost of predicting each class f, ``sum_g costs[f, g] P(g)``, along the last axis.

    Parameters
    ----------
    posterior : ndarray of shape (..., n_classes)
        The probabilities of the classes.
    costs : ndarray of shape (n_classes, n_classes)
        ``costs[f, g]`` is the cost of predicting class f where g is true.

    Returns
    -------
    ndarray of shape (..., n_classes)
        The expected costs.

    See Also
    --------
    rescaled_by_priors
        Return the posteriors that result when the classes have other priors than their shares of the training
        set.
    posterior_from_votes
        Return votes as probabilities along the last axis: negative sums are set to zero, and the rest is
        normalised.
    """
    return posterior @ costs.T
