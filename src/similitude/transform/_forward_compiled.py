"""Compiled part of forward selection: the leave-one-out 1-NN error that each candidate would lead to."""

from __future__ import annotations

import numpy as np

from similitude.numerics.compiled import compiled


@compiled
def _weigh(S, labels, i, first, last, bound, value, error, unit, errors, totals):
    """Add the contribution of sample i to the errors and totals of the candidates from ``first`` to ``last``.

    Candidate j becomes the nearest prototype of sample i where its similarity is above ``bound``. The loop has no
    branches, so that the compiler can treat several candidates at once.
    """
    own = labels[i]
    for j in range(first, last):
        nearer = S[i, j] > bound
        totals[j] += S[i, j] * unit if nearer else value
        errors[j] += (labels[j] != own) if nearer else error


@compiled
def weigh_candidates(S, labels, best, at, unit, start, stop, errors, totals):
    """Compute errors and total similarities if candidate j became a prototype, for j from ``start`` to ``stop``.

    The total is that of all samples' similarities to their nearest prototypes. ``best`` and ``at`` are the similarity
    and the position of each sample's nearest prototype other than itself, -inf and -1 where it has none; ``unit``
    multiplies similarities, so that totals do not overflow. ``errors`` and ``totals`` start at zero.
    """
    for i in range(S.shape[0]):
        value, error = best[i] * unit, 0
        if at[i] < 0:
            value, error = 0.0, 1
        elif labels[at[i]] != labels[i]:
            error = 1
        inside = start <= i < stop
        own_total, own_errors = (totals[i], errors[i]) if inside else (0.0, 0)
        # Among equal similarities, the first position counts as nearer.
        middle = min(max(at[i], start), stop)
        _weigh(S, labels, i, start, middle, np.nextafter(best[i], -np.inf), value, error, unit, errors, totals)
        _weigh(S, labels, i, middle, stop, best[i], value, error, unit, errors, totals)
        if inside:  # a sample is not its own prototype
            totals[i], errors[i] = own_total + value, own_errors + error


@compiled
def take_prototype(S, j, best, at):
    """Make sample j a prototype, and the nearest prototype of the samples that are most similar to it."""
    for i in range(S.shape[0]):
        value = S[i, j]
        if i != j and (value > best[i] or (value == best[i] and j < at[i])):
            best[i] = value
            at[i] = j
