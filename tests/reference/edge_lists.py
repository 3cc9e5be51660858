"""What an edge list means, one pair at a time."""

from collections import defaultdict

import numpy as np

COMBINE = {"max": max, "min": min, "mean": lambda values: sum(values) / len(values)}


def matrix_of(edges, *, missing, duplicates, direction, normalise, orientation):
    """The ids in the order of their first appearance, and the matrix with NaN for unknown pairs."""
    ids, values = [], defaultdict(list)
    for query, target, score in edges:
        for name in (query, target):
            if name not in ids:
                ids.append(name)
        values[query, target].append(score)
    pairs = {pair: COMBINE[duplicates](scores) for pair, scores in values.items()}
    if normalise:
        pairs = {(q, t): s / (pairs[q, q] * pairs[t, t]) ** 0.5 for (q, t), s in pairs.items()}
    absent = {"zero": 0.0, "unknown": np.nan}.get(missing, missing)
    if missing == "farthest":
        absent = max(pairs.values()) if orientation == "dissimilarity" else min(pairs.values())
    M = np.empty((len(ids), len(ids)))
    for i, a in enumerate(ids):
        for j, b in enumerate(ids):
            found = [pairs[pair] for pair in ((a, b), (b, a)) if pair in pairs]
            if a == b:
                M[i, j] = found[0] if found else 0.0 if orientation == "dissimilarity" else absent
            elif direction == "keep":
                M[i, j] = pairs.get((a, b), absent)
            elif not found:
                M[i, j] = absent
            else:
                both = found if len(found) == 2 or missing == "unknown" else [*found, absent]
                M[i, j] = COMBINE[direction](both)
    return ids, M
