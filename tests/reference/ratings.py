"""Ratings of pairs, judge by judge and pair by pair."""

import numpy as np


def by_judge(rows, both_ways):
    """Return the ratings of each judge as {judge: {(first, second): [ratings]}}."""
    found = {}
    for first, second, rating, judge in rows:
        own = found.setdefault(judge, {})
        own.setdefault((first, second), []).append(rating)
        if both_ways and first != second:
            own.setdefault((second, first), []).append(rating)
    return found


def mean_matrix(rows, ids, both_ways):
    """Return the mean over judges of the mean rating of each."""
    S = np.full((len(ids), len(ids)), np.nan)
    judges = by_judge(rows, both_ways).values()
    for i, a in enumerate(ids):
        for j, b in enumerate(ids):
            own = [np.mean(judge[a, b]) for judge in judges if (a, b) in judge]
            if own:
                S[i, j] = np.mean(own)
    return S


def as_ranks(rows):
    """Return the ratings as shares of the judge's ratings below them, of which equal ones count half."""
    found = []
    for first, second, rating, judge in rows:
        own = [other for *_, other, who in rows if who == judge]
        below, equal = sum(other < rating for other in own), sum(other == rating for other in own)
        found.append((first, second, (below + equal / 2) / len(own), judge))
    return found


def odd_one_out(choices, ids):
    """Return the share of the choices that showed two samples in which the third one was chosen as odd."""
    S = np.full((len(ids), len(ids)), np.nan)
    for i, a in enumerate(ids):
        for j, b in enumerate(ids):
            shown = [(three, odd) for *three, odd in choices if a in three and b in three]
            if a != b and shown:
                S[i, j] = np.mean([odd not in (a, b) for _, odd in shown])
    np.fill_diagonal(S, 1)
    return S
