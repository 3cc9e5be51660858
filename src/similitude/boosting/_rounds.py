"""The rounds of one two-class problem, boosted or drawn at random, and their decision values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from similitude._utils.threads import over_row_blocks

_CHUNK = 100
_ENTRIES = 2**16
_TAIL = 0.005
_UNEVEN = 4.0


class Rounds(NamedTuple):
    """Base classifiers: the output is ``outputs[t, 1]`` where ``psi(x, x+) - psi(x, x-) > cuts[t]``, else the other."""

    pairs: np.ndarray
    """The positions of x+ and x-, (T, 2)."""
    cuts: np.ndarray
    outputs: np.ndarray


class Ramps(NamedTuple):
    """The function that assigns differences to buckets, a sum of ramps of the differences or of their codes."""

    coded: bool
    knots: np.ndarray
    slopes: np.ndarray
    atoms: np.ndarray
    """For each bucket the one value that it may hold, or NaN; empty if there are many values."""


def drawn(weights: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Return positions chosen by numbers in [0, 1), in proportion to the weights."""
    cumulated = np.cumsum(weights)
    return np.minimum(np.searchsorted(cumulated, uniforms * cumulated[-1], side="right"), len(weights) - 1)


def voted_rounds(n_positive: int, weights: np.ndarray, n_rounds: int, seed: int) -> Rounds:
    """Return pairs drawn by the weights, each with the cut 0; positive samples come before negative ones."""
    uniforms = np.random.default_rng(seed).random((n_rounds, 2))
    plus = drawn(weights[:n_positive], uniforms[:, 0])
    minus = n_positive + drawn(weights[n_positive:], uniforms[:, 1])
    return Rounds(np.column_stack([plus, minus]), np.zeros(n_rounds), np.tile([-1.0, 1.0], (n_rounds, 1)))


def boosted_rounds(
    columns: np.ndarray, n_positive: int, weights: np.ndarray, n_rounds: int, n_pairs: int, seed: int, real: bool
) -> Rounds:
    """Return the rounds of AdaBoost, or of RealBoost, that begin with these weights.

    ``columns[j, i]`` is psi(x_i, x_j), the positive samples before the negative ones. Pair m of round t is chosen by
    ``numpy.random.default_rng(seed).random((n_rounds, n_pairs, 2))[t, m]``: x+ by the first number and the cumulated
    weights of the positive samples, x- by the second. The first rounds are therefore the same for every ``n_rounds``.
    """
    from similitude.boosting._cut_search import space_for
    from similitude.boosting._dboost_compiled import boost

    weights = weights / np.cumsum(weights)[-1]
    # These numbers were found by trial: filling and scanning the buckets cost about the same. Z takes longer to bound.
    n_buckets = int(np.clip(len(weights) // (8 if real else 4), 32, 512))
    space = space_for(len(weights), n_buckets)
    pairs, cuts, outputs = np.empty((n_rounds, 2), dtype=np.intp), np.empty(n_rounds), np.empty((n_rounds, 2))
    stream = np.random.default_rng(seed)
    # Rounds are run in chunks, so that Ctrl-C works in between and buckets adapt to the pairs that are drawn.
    for start in range(0, n_rounds, _CHUNK):
        part = slice(start, min(start + _CHUNK, n_rounds))
        uniforms = stream.random((part.stop - start, n_pairs, 2))
        ramps = _ramps(columns, n_positive, weights, uniforms[0], n_buckets)
        boost(columns, n_positive, uniforms, real, ramps, weights, pairs[part], cuts[part], outputs[part], space)
    return Rounds(pairs, cuts, outputs)


def _ramps(columns: np.ndarray, n_positive: int, weights: np.ndarray, uniforms: np.ndarray, n_buckets: int) -> Ramps:
    """Return ramps that spread the differences of the current pairs evenly over buckets, judged by a sample of them.

    They affect only the time of the search, not its result.
    """
    from similitude.boosting._cut_search import bucket_by_knots

    some = np.arange(0, len(weights), max(1, len(weights) // 32))
    plus = drawn(weights[:n_positive], uniforms[:64, 0])
    minus = n_positive + drawn(weights[n_positive:], uniforms[:64, 1])
    pool = columns[np.ix_(plus, some)].astype(np.float64) - columns[np.ix_(minus, some)]
    pool = np.sort(pool, axis=None)
    distinct = np.unique(pool)
    few = len(distinct) <= n_buckets // 2
    knots = np.quantile(pool, [_TAIL, 1 - _TAIL], method="nearest")
    coded = not few and _uneven(pool, *knots)
    if coded:
        knots = np.quantile(_codes(pool), np.linspace(_TAIL, 1 - _TAIL, 9), method="nearest")
    knots, slopes = _between(np.unique(knots), n_buckets)
    atoms = np.full(n_buckets if few else 0, np.nan)
    if few:
        buckets = np.empty(len(distinct), dtype=np.int32)
        bucket_by_knots(distinct, knots, slopes, n_buckets, np.empty(len(distinct)), buckets)
        atoms[buckets] = distinct
    return Ramps(coded, knots, slopes, atoms)


def _codes(values: np.ndarray) -> np.ndarray:
    from similitude.boosting._cut_search import encode

    codes = np.empty(len(values))
    encode(values.view(np.int64), codes)
    return codes


def _uneven(pool: np.ndarray, low: float, high: float) -> bool:
    """Return whether buckets of one width from low to high would be filled unevenly."""
    if not low < high:
        return False
    shares = np.bincount((63 * ((np.clip(pool, low, high) - low) / (high - low))).astype(np.intp)) / len(pool)
    return bool(64 * np.sum(shares**2) > _UNEVEN)


def _between(knots: np.ndarray, n_buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and slopes of the ramps from each knot to the next: one ramp, or a multiple of four."""
    if len(knots) == 1:
        return knots, np.zeros(1)
    count = len(knots) - 1
    count += -count % 4 if count > 1 else 0
    starts, slopes = np.zeros((2, count))
    starts[: len(knots) - 1] = knots[:-1]
    with np.errstate(over="ignore"):
        slopes[: len(knots) - 1] = n_buckets / count / np.diff(knots)
    return starts, np.where(np.isfinite(slopes), slopes, 0.0)


def decision_values(rows: np.ndarray, rounds: Rounds, stages: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the sums of outputs, (m, len(stages)), after the first ``stages[j]`` rounds (ascending).

    They are added to ``totals`` (m,), which become the last of them.
    """
    from similitude.boosting._dboost_compiled import decide

    decisions = np.empty((len(rows), len(stages)))

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        decide(rows[part], *rounds, stages, totals[part], decisions[part])

    over_row_blocks(work, len(rows), max(64, _ENTRIES // max(1, int(stages[-1]))))
    return decisions
