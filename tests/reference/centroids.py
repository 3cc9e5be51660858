"""Nearest centroids and local means by their definitions, in exact arithmetic, one sample at a time."""

from fractions import Fraction
from math import sqrt

from tests.reference.neighbors import neighbors

TOLERANCE = 1e-12


def centroid(S, members):
    """The member of largest total similarity to all members; of tied ones the first in the order given."""
    totals = [sum(Fraction(float(S[z][mu])) for z in members) for mu in members]
    magnitudes = [sum(abs(Fraction(float(S[z][mu]))) for z in members) for mu in members]
    threshold = max(totals) - Fraction(TOLERANCE) * max(magnitudes)
    return next(mu for mu, total in zip(members, totals) if total >= threshold)


def centroids(S, y):
    """The centroid of each class, in the order of the classes."""
    return [centroid(S, [i for i in range(len(y)) if y[i] == h]) for h in sorted(set(y))]


def nearest_centroid(S, y, s):
    """The class whose centroid is most similar; of tied ones the first."""
    return max(zip(sorted(set(y)), centroids(S, y)), key=lambda pair: s[pair[1]])[0]


def local_nearest_centroid(S, y, s, k):
    """The class whose centroid among the k neighbours is most similar; ties: more neighbours, then the nearest."""
    nearest = neighbors(s, k)
    candidates = []
    for h in {y[i] for i in nearest}:
        members = [i for i in nearest if y[i] == h]
        candidates.append((s[centroid(S, members)], len(members), -nearest.index(members[0]), h))
    return max(candidates)[-1]


def local_nearest_means(X, y, x, k):
    """The class whose k samples nearest to x have the nearest mean; of tied ones the first."""

    def offset(z):
        return [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(z, x)]

    def length(v):
        return sqrt(sum(a * a for a in v))

    classes = sorted(set(y))
    distances, errors = [], []
    for h in classes:
        offsets = sorted((offset(X[i]) for i in range(len(y)) if y[i] == h), key=lambda v: sum(a * a for a in v))[:k]
        distances.append(length([sum(column) / len(offsets) for column in zip(*offsets)]))
        errors.append(TOLERANCE * length(offsets[-1]))
    limit = min(d + e for d, e in zip(distances, errors))
    return next(h for h, d, e in zip(classes, distances, errors) if d - e <= limit)
