"""The figures of a diagnosis by slow, obvious loops."""

from itertools import combinations, permutations

import numpy as np


def asymmetry(S):
    n = len(S)
    difference = sum((S[i, j] - S[j, i]) ** 2 for i in range(n) for j in range(n))
    whole = sum(S[i, j] ** 2 for i in range(n) for j in range(n))
    return (difference / whole) ** 0.5 / 2


def sparsity(S):
    return sum(1 for row in S for value in row if value == 0) / S.size


def n_distinct(S):
    return len({float(value) for row in S for value in row})


def duplicates(S):
    return sum(1 for i in range(len(S)) if any(all(S[i] == S[j]) for j in range(i)))


def self_similarity_not_maximal(S):
    return sum(1 for i in range(len(S)) if S[i, i] < max(S[i])) / len(S)


def spectrum(S):
    """Smallest and largest eigenvalue, NEF, NER, rank; by an algorithm that does not know of symmetry."""
    values = sorted(np.linalg.eigvals((S + S.T) / 2).real)
    largest = max(abs(v) for v in values)
    values = [0.0 if abs(v) <= 1e-10 * largest else v for v in values]
    negative = sum(-v for v in values if v < 0)
    return (
        values[0],
        values[-1],
        negative / sum(abs(v) for v in values),
        max(-values[0], 0) / values[-1],
        sum(v != 0 for v in values),
    )


def triangle_violations(D):
    """Over all triples; a margin of 1e-9 keeps rounding out."""
    triples = list(combinations(range(len(D)), 3))
    violated = sum(
        1 for triple in triples if any(D[i, j] > D[i, k] + D[k, j] + 1e-9 for i, j, k in permutations(triple))
    )
    return violated / len(triples)


def intrinsic_dimension(squares):
    n = len(squares)
    pairs = [squares[i, j] for i in range(n) for j in range(n) if i != j]
    mean = sum(pairs) / len(pairs)
    return 2 * mean**2 / (sum((p - mean) ** 2 for p in pairs) / len(pairs))


def squared_distances(S):
    n = len(S)
    return np.array([[S[i, i] + S[j, j] - S[i, j] - S[j, i] for j in range(n)] for i in range(n)])


def neighbors(S, i):
    """The other samples, most similar to i first, ties by position."""
    return sorted((j for j in range(len(S)) if j != i), key=lambda j: (-S[i, j], j))


def hubness(S, k):
    n = len(S)
    occurrences = [sum(share_of_list(S, i, j, k) for i in range(n) if i != j) for j in range(n)]
    mean = sum(occurrences) / n
    spread = (sum((o - mean) ** 2 for o in occurrences) / n) ** 0.5
    return sum((o - mean) ** 3 for o in occurrences) / n / spread**3


def share_of_list(S, i, j, k):
    """The share of sample j in the list of i: those that are as similar as the last one share the remaining places."""
    last = S[i, neighbors(S, i)[k - 1]]
    others = [S[i, h] for h in range(len(S)) if h != i]
    nearer, equal = sum(1 for s in others if s > last), sum(1 for s in others if s == last)
    return 1 if S[i, j] > last else (k - nearer) / equal if S[i, j] == last else 0


def neighbor_ties(S, k):
    n = len(S)
    lists = [[S[i, j] for j in neighbors(S, i)] for i in range(n)]
    return sum(1 for values in lists if values[k - 1] == values[k]) / n


def leave_one_out_error(S, y):
    errors = []
    for i in range(len(S)):
        others = [j for j in range(len(S)) if j != i]
        nearest = [j for j in others if S[i][j] == max(S[i][k] for k in others)]
        if len({S[i][j] for j in others}) > 1:  # otherwise the row gives no evidence
            errors.append(sum(y[j] != y[i] for j in nearest) / len(nearest))
    return sum(errors) / len(errors)


def class_means(S, y, label):
    """Mean similarity within a class, and between it and the others in both directions."""
    n = len(S)
    within = [S[i, j] for i in range(n) for j in range(n) if i != j and y[i] == label and y[j] == label]
    between = [S[i, j] for i in range(n) for j in range(n) if (y[i] == label) != (y[j] == label)]
    return sum(within) / len(within), sum(between) / len(between)
