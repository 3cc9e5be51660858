"""Goodness by its definitions: every triple of samples, one at a time, in exact arithmetic."""

from fractions import Fraction


def shares(S, y, weights=None, thresholds=None):
    """g of each sample: the (weighted) share of pairs x' != x of its class, x'' of another, with s(x, x') > s(x, x'').

    Thresholds, by label, are added to both sides. None where there is no pair.
    """
    n = len(y)
    b = [Fraction(0)] * n if thresholds is None else [Fraction(float(thresholds[label])) for label in y]
    w = [Fraction(1)] * n if weights is None else [Fraction(float(v)) for v in weights]
    for label in set(y) if weights is not None else ():
        members = [i for i in range(n) if y[i] == label]
        total = sum(w[i] for i in members)
        for i in members:
            w[i] = w[i] * len(members) / total
    found = []
    for i in range(n):
        won = total = Fraction(0)
        for j in range(n):
            for k in range(n):
                if j != i and y[j] == y[i] and y[k] != y[i]:
                    total += w[j] * w[k]
                    if Fraction(float(S[i][j])) + b[j] > Fraction(float(S[i][k])) + b[k]:
                        won += w[j] * w[k]
        found.append(won / total if total > 0 else None)
    return found


def curve(margins, gamma):
    """The share of margins below gamma."""
    there = [m for m in margins if m is not None]
    return Fraction(sum(m < gamma for m in there), len(there))


def largest(S):
    n = len(S)
    return max(abs(S[i][j]) for i in range(n) for j in range(n) if i != j) or 1.0


def balcan_blum(S, y, w):
    """Mean of w K over the own class less that over the others, K of size 1 at most."""
    n, scale, found = len(y), largest(S), []
    for i in range(n):
        own = [w[j] * (S[i][j] / scale) for j in range(n) if j != i and y[j] == y[i]]
        other = [w[j] * (S[i][j] / scale) for j in range(n) if y[j] != y[i]]
        found.append(sum(own) / len(own) - sum(other) / len(other) if own else None)
    return found


def reasonable(S, y, R):
    """Mean of y y' K over the reasonable points."""
    n, scale, found = len(y), largest(S), []
    for i in range(n):
        weight = sum(R[j] for j in range(n) if j != i)
        total = sum(R[j] * (1 if y[j] == y[i] else -1) * (S[i][j] / scale) for j in range(n) if j != i)
        found.append(total / weight if weight > 0 else None)
    return found
