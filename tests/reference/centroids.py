"""Nearest centroids and local means by their definitions, in exact arithmetic, one sample at a time."""

from fractions import Fraction
from math import sqrt

from tests.reference.neighbors import shares, taken

TOLERANCE = 1e-12


def centroid(S, members, rank=lambda mu: 0):
    """The member of largest total similarity to all members; of tied ones that of the highest rank, then the first."""
    totals = [_total(S, members, mu) for mu in members]
    magnitudes = [sum(abs(Fraction(float(S[z][mu]))) for z in members) for mu in members]
    threshold = max(totals) - Fraction(TOLERANCE) * max(magnitudes)
    return max((mu for mu, total in zip(members, totals) if total >= threshold), key=rank)


def _total(S, members, mu):
    return sum(Fraction(float(S[z][mu])) for z in members)


def centroids(S, y):
    """The centroid of each class, in the order of the classes; ties by all similarities to a sample."""
    everyone = range(len(y))

    def rank(mu):
        return round(float(_total(S, everyone, mu)), 12), sorted((float(S[z][mu]) for z in everyone), reverse=True)

    return [centroid(S, [i for i in everyone if y[i] == h], rank) for h in sorted(set(y))]


def local_centroid(S, y, s, nearest, h):
    """The centroid of a class among the neighbours; ties: nearer to x, then larger totals over all, over each class."""
    among = [[z for z in nearest if y[z] == g] for g in sorted(set(y))]

    def rank(mu):
        return s[mu], *(round(float(_total(S, members, mu)), 12) for members in (nearest, *among))

    return centroid(S, [i for i in nearest if y[i] == h], rank)


def nearest_centroid(S, y, s):
    """The class whose centroid is most similar; of tied ones the first."""
    return max(zip(sorted(set(y)), centroids(S, y)), key=lambda pair: s[pair[1]])[0]


def local_nearest_centroid(S, y, s, k):
    """The class whose centroid among the neighbours is most similar; ties: more neighbours, the nearest, the larger."""
    nearest, classes = taken(s, k), sorted(set(y))
    candidates = []
    if not nearest:
        return max(zip(shares(s, y, classes), map(list(y).count, classes), reversed(range(len(y))), classes))[-1]
    for h in {y[i] for i in nearest}:
        members = [i for i in nearest if y[i] == h]
        near = s[local_centroid(S, y, s, nearest, h)], len(members), max(s[i] for i in members)
        candidates.append((*near, list(y).count(h), -classes.index(h), h))
    return max(candidates)[-1]


def nearest_of_class(offsets, k):
    """The shortest offsets: all that tie for the last place if they are at most 2k, or none; or all of the shortest."""
    squares = [sum(a * a for a in v) for v in offsets]
    last = sorted(squares)[min(k, len(squares)) - 1]
    counted = sum(square <= last for square in squares) <= 2 * k
    kept = [v for v, square in zip(offsets, squares) if (square <= last if counted else square < last)]
    kept = kept or [v for v, square in zip(offsets, squares) if square == min(squares)]
    return sorted(kept, key=lambda v: sum(a * a for a in v))


def local_nearest_means(X, y, x, k):
    """The class whose k samples nearest to x have the nearest mean; of tied ones the first."""

    def offset(z):
        return [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(z, x)]

    def length(v):
        return sqrt(sum(a * a for a in v))

    classes = sorted(set(y))
    distances, errors = [], []
    for h in classes:
        offsets = nearest_of_class([offset(X[i]) for i in range(len(y)) if y[i] == h], k)
        distances.append(length([sum(column) / len(offsets) for column in zip(*offsets)]))
        errors.append(TOLERANCE * length(offsets[-1]))
    limit = min(d + e for d, e in zip(distances, errors))
    return next(h for h, d, e in zip(classes, distances, errors) if d - e <= limit)
