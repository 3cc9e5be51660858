"""The rounds of one two-class problem, boosted or drawn at random, and their decision values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from similitude._native import boost, boost_all, boost_among, decide
from similitude._utils.threads import over_row_blocks

# The largest number of rounds, and about the largest number of pairs, between two checks for Ctrl-C.
_CHUNK, _CHUNK_PAIRS = 100, 10**5
_ENTRIES = 2**16
# A scale is made for all but this share of the differences at each end.
_TAIL = 0.005
# Sixty-four buckets of one width that hold equal shares would have the unevenness 1.
_UNEVEN = 4.0
# A logarithmic scale has at most 2^_STEPS steps on each side of 0.
_STEPS = 11


class Rounds(NamedTuple):
    """Base classifiers: the output is ``outputs[t, 1]`` where ``psi(x, x+) - psi(x, x-) > cuts[t]``, else the other."""

    pairs: np.ndarray
    """The positions of x+ and x-, (T, 2)."""
    cuts: np.ndarray
    outputs: np.ndarray


class Scale(NamedTuple):
    """The function that assigns differences to buckets, which affects the time of the search, but not its result."""

    start: float = 0.0
    slope: float = 0.0
    """A linear scale has buckets of the width ``1 / slope``, from ``start`` on."""
    least: int = 0
    shift: int = 0
    """A logarithmic scale counts steps of ``2^shift`` from ``least`` in the upper half of the bits of ``|d|``."""
    table: np.ndarray = np.empty(0, dtype=np.int32)
    """The bucket for each number of steps, negative differences before the centre; empty if the scale is linear."""
    atoms: bool = False
    """Whether there are so few differences that each may have a bucket of its own."""


def drawn(weights: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Return positions chosen by numbers in [0, 1), in proportion to the weights."""
    cumulated = np.cumsum(weights)
    return np.minimum(np.searchsorted(cumulated, uniforms * cumulated[-1], side="right"), len(weights) - 1)


def split_sides(n_positive: int, n: int, share: float, stream: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the samples that form pairs and of those that train, both ascending.

    A share of the positive and of the negative samples, at least one and not all, is drawn for pairs; if a side has one
    sample only, it does both.
    """
    pool, training = [], []
    for side in (np.arange(n_positive), np.arange(n_positive, n)):
        size = min(max(round(share * len(side)), 1), max(len(side) - 1, 1))
        order = stream.permutation(side)
        pool.append(np.sort(order[:size]))
        training.append(np.sort(order[size:]) if len(side) > 1 else side)
    return np.concatenate(pool), np.concatenate(training)


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
    weights = weights / np.cumsum(weights)[-1]
    rounds, n_buckets = _empty_rounds(n_rounds), _n_buckets(len(weights), real)
    stream = np.random.default_rng(seed)
    # Rounds are run in chunks, so that Ctrl-C works in between and the scale adapts to the pairs that are drawn.
    for part in _chunks(n_rounds, n_pairs):
        uniforms = stream.random((part.stop - part.start, n_pairs, 2))
        plus = drawn(weights[:n_positive], uniforms[0, :64, 0])
        minus = n_positive + drawn(weights[n_positive:], uniforms[0, :64, 1])
        scale = _scale(columns, plus, minus, n_buckets)
        boost(columns, n_positive, uniforms, real, *scale, n_buckets, weights, *(values[part] for values in rounds))
    return rounds


def searched_rounds(
    columns: np.ndarray, n_positive: int, weights: np.ndarray, n_rounds: int, candidates: int | np.ndarray, real: bool
) -> Rounds:
    """Return the rounds of boosting in each of which the best of the same candidate pairs is used.

    ``columns[j, i]`` is psi(x_i, x_j) for the samples x_i, the positive ones first, and any x_j, whose positions j are
    in ``candidates``, (M, 2); if it is a number m, all pairs of one of the first m x_j and one of the others are
    searched, in this order, without being listed.
    """
    weights = weights / np.cumsum(weights)[-1]
    rounds, n_buckets = _empty_rounds(n_rounds), _n_buckets(len(weights), real)
    stream = np.random.default_rng(0)  # for the scale only, which has no effect on the result
    search: Any
    if isinstance(candidates, int):
        search, n_pairs = boost_all, candidates * (len(columns) - candidates)
        some = stream.integers([0, candidates], [candidates, len(columns)], (64, 2))
    else:
        search, n_pairs = boost_among, len(candidates)
        some = candidates[stream.integers(0, n_pairs, 64)]
    scale = _scale(columns, some[:, 0], some[:, 1], n_buckets)
    for part in _chunks(n_rounds, n_pairs):
        own = (values[part] for values in rounds)
        search(columns, n_positive, candidates, real, *scale, n_buckets, weights, *own)
    return rounds


def _empty_rounds(n_rounds: int) -> Rounds:
    return Rounds(np.empty((n_rounds, 2), dtype=np.intp), np.empty(n_rounds), np.empty((n_rounds, 2)))


def _n_buckets(n: int, real: bool) -> int:
    # These numbers were found by trial: filling and bounding the buckets then take about the same time.
    return int(np.clip(n // (8 if real else 4), 32, 512))


def _chunks(n_rounds: int, n_pairs: int) -> Iterator[slice]:
    step = max(1, min(_CHUNK, _CHUNK_PAIRS // n_pairs))
    return (slice(start, min(start + step, n_rounds)) for start in range(0, n_rounds, step))


def _scale(columns: np.ndarray, plus: np.ndarray, minus: np.ndarray, n_buckets: int) -> Scale:
    """Return a scale that spreads the differences of such pairs evenly over buckets, judged by a sample."""
    n = columns.shape[1]
    some = np.arange(0, n, max(1, n // 32))
    sample = columns[np.ix_(plus, some)].astype(np.float64) - columns[np.ix_(minus, some)]
    sample = np.sort(sample, axis=None)
    distinct = np.unique(sample)
    atoms = len(distinct) <= n_buckets // 2
    if atoms:
        # There may be others beyond these.
        margin = (distinct[-1] - distinct[0]) / 8
        low, high = distinct[0] - margin, distinct[-1] + margin
        if np.min(np.diff(distinct), initial=np.inf) > (high - low) / n_buckets:
            return _linear(low, high, n_buckets)._replace(atoms=True)
    low, high = np.quantile(sample, [_TAIL, 1 - _TAIL], method="nearest")
    scale = _logarithmic(sample, n_buckets) if _uneven(sample, low, high) else _linear(low, high, n_buckets)
    return scale._replace(atoms=atoms)


def _uneven(sample: np.ndarray, low: float, high: float) -> bool:
    """Return whether buckets of one width from low to high would be filled unevenly."""
    if not low < high:
        return False
    shares = np.bincount((63 * ((np.clip(sample, low, high) - low) / (high - low))).astype(np.intp)) / len(sample)
    return bool(64 * np.sum(shares**2) > _UNEVEN)


def _linear(low: float, high: float, n_buckets: int) -> Scale:
    """Return the scale with buckets of one width from low to high."""
    with np.errstate(over="ignore", divide="ignore"):
        slope = np.float64(n_buckets) / (high - low)
    return Scale(float(low), float(slope) if np.isfinite(slope) else 0.0)


def _logarithmic(sample: np.ndarray, n_buckets: int) -> Scale:
    """Return the scale whose buckets hold equal shares of the sample, as nearly as its steps allow."""
    halves = sample.view(np.int64) >> 32
    magnitudes = halves & 0x7FFFFFFF
    least, most = int(np.quantile(magnitudes, _TAIL, method="nearest")), int(magnitudes.max())
    shift = max(0, (most - least).bit_length() - _STEPS)
    centre = (most - least) >> shift
    steps = np.maximum(magnitudes - least, 0) >> shift
    counts = np.bincount(centre + np.where(halves < 0, -steps, steps), minlength=2 * centre + 1)
    shares = (np.cumsum(counts) - counts / 2) / len(sample)
    return Scale(0.0, 0.0, least, shift, np.minimum(n_buckets * shares, n_buckets - 1).astype(np.int32))


def decision_values(rows: np.ndarray, rounds: Rounds, stages: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Return the sums of outputs, (m, len(stages)), after the first ``stages[j]`` rounds (ascending).

    They are added to ``totals`` (m,), which become the last of them.
    """
    decisions = np.empty((len(rows), len(stages)))

    def work(start: int, stop: int) -> None:
        part = slice(start, stop)
        decide(rows[part], *rounds, stages, totals[part], decisions[part])

    over_row_blocks(work, len(rows), max(64, _ENTRIES // max(1, int(stages[-1]))))
    return decisions
