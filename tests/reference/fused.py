"""Fusion as it is written: products of joint probabilities, and a vote counted one neighbour at a time."""

import math
from fractions import Fraction

from tests.reference import neighbors


def product_of_joints(joints):
    """Eq. 6 for one sample: the classes' posteriors from each part's log P(x, g), a list of lists."""
    totals = [math.fsum(logs) for logs in zip(*joints)]
    largest = max(totals)
    weights = [math.exp(total - largest) for total in totals]
    return [weight / math.fsum(weights) for weight in weights]


def combined_vote(similarities, sample, features, labels, k, m):
    """The posterior {class: share} of one sample and the class that wins, ties to the most similar neighbour.

    ``similarities`` are those to the training samples, ``sample`` the features of the sample and ``features`` theirs;
    k neighbours vote by similarity, and m by features.
    """
    closeness = [-sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(sample, z)) for z in features]
    both = [neighbors.votes(*given, "uniform") for given in ((similarities, labels, k), (closeness, labels, m))]
    votes = {label: sum(own.get(label, 0.0) for own in both) for label in {*both[0], *both[1]}}
    winner = neighbors.best_of_tied(votes, similarities, labels, k)
    return {label: count / (min(k, len(labels)) + min(m, len(labels))) for label, count in votes.items()}, winner
