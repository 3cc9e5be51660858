"""Prototypes by their definitions: every candidate and every set tried, sums in exact arithmetic."""

from fractions import Fraction
from itertools import combinations
from math import exp
from statistics import median

TOLERANCE = 1e-12


def loo_1nn_errors(S, y, prototypes):
    """How many samples differ in class from their most similar prototype other than themselves (the first of equal)."""
    wrong = 0
    for i in range(len(y)):
        others = sorted(m for m in prototypes if m != i)
        wrong += not others or y[max(others, key=lambda m: S[i][m])] != y[i]
    return wrong


def _total(S, prototypes):
    """Of the similarities of all samples to their most similar prototypes other than themselves."""
    total = Fraction(0)
    for i in range(len(S)):
        others = [m for m in prototypes if m != i]
        if others:
            total += Fraction(float(max(S[i][m] for m in others)))
    return total


def forward(S, y, p):
    """Greedy forward selection: fewest errors, then the largest total similarity (up to 1e-12), then the first."""
    slack = Fraction(TOLERANCE) * max(sum(abs(Fraction(float(row[j]))) for row in S) for j in range(len(y)))
    chosen, errors = [], []
    for _ in range(p):
        left = [j for j in range(len(y)) if j not in chosen]
        wrong = {j: loo_1nn_errors(S, y, [*chosen, j]) for j in left}
        best = [j for j in left if wrong[j] == min(wrong.values())]
        totals = {j: _total(S, [*chosen, j]) for j in best}
        chosen.append(next(j for j in best if totals[j] >= max(totals.values()) - slack))
        errors.append(wrong[chosen[-1]] / len(y))
    return chosen, errors


def medoid_value(S, medoids):
    """The sum over samples of the similarity to the most similar medoid."""
    return float(sum(Fraction(float(max(row[m] for m in medoids))) for row in S))


def best_medoid_value(S, k):
    """The largest such sum over all sets of k."""
    return max(medoid_value(S, medoids) for medoids in combinations(range(len(S)), k))


def best_exchange(S, medoids):
    """The largest such sum after one medoid is exchanged for another sample."""
    others = [j for j in range(len(S)) if j not in medoids]
    return max(medoid_value(S, [j, *(o for o in medoids if o != m)]) for m in medoids for j in others)


def centre_value(S, centres):
    """The similarity of the sample least similar to its most similar centre."""
    return float(min(max(row[m] for m in centres) for row in S))


def best_centre_value(S, k):
    """The largest such similarity over all sets of k."""
    return max(centre_value(S, centres) for centres in combinations(range(len(S)), k))


def exponential(D, prototypes, rows, scale):
    """exp(-d^2 / sigma) of rows to prototypes, and sigma, for dissimilarities D of the training samples."""
    middle = median(D[i][m] for m in prototypes for i in range(len(D)) if i != m)
    sigma = scale * middle**2
    return [[exp(-(row[m] ** 2) / sigma) for m in prototypes] for row in rows], sigma
