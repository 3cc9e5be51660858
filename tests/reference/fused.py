"""Fusion as it is written: products of joint probabilities, and a vote counted one neighbour at a time."""

import math
from collections import Counter
from fractions import Fraction


def product_of_joints(joints):
    """Eq. 6 for one sample: the classes' posteriors from each part's log P(x, g), a list of lists."""
    totals = [math.fsum(logs) for logs in zip(*joints)]
    largest = max(totals)
    weights = [math.exp(total - largest) for total in totals]
    return [weight / math.fsum(weights) for weight in weights]


def combined_vote(similarities, sample, features, labels, k):
    """The posterior {class: share} of one sample and the class that wins, ties to the nearest neighbour.

    ``similarities`` are those to the training samples, ``sample`` the features of the sample and ``features`` theirs.
    """
    n = len(labels)
    by_similarity = sorted(range(n), key=lambda i: (-similarities[i], i))[:k]
    distance = [sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(sample, z)) for z in features]
    by_features = sorted(range(n), key=lambda i: (distance[i], i))[:k]
    votes = Counter(labels[i] for i in [*by_similarity, *by_features])
    most = max(votes.values())
    in_turn = [labels[i] for pair in zip(by_similarity, by_features) for i in pair]
    winner = next(label for label in in_turn if votes[label] == most)
    return {label: count / (2 * len(by_similarity)) for label, count in votes.items()}, winner
