"""Ratings of pairs by one judge or several, and choices among three things, as matrices of similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from similitude._utils.checks import check_choice, is_missing
from similitude.proximity.edges import DIRECTIONS, LARGEST_DENSE, ORIENTATIONS, edges_of

COMBINATIONS = ("mean", "ranks", "separate")
"""What becomes of the ratings of several judges."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of pairs of samples, which are numbered in the order of ``names``, by judges, who are numbered too."""

    first: np.ndarray
    second: np.ndarray
    values: np.ndarray
    names: list[str]
    by: np.ndarray
    judges: list[str]
    """The names of the judges; none if it is not known who judged."""


class Scale(NamedTuple):
    """The ratings that a judge gave, in ascending order, and the share of the judge's ratings below each.

    Half of the ratings that are equal to it count as below.
    """

    values: list[float]
    shares: list[float]

    @classmethod
    def of(cls, values: np.ndarray) -> Scale:
        """Return the scale of all ratings of a judge."""
        ranks = (stats.rankdata(values) - 0.5) / len(values)
        found, first = np.unique(values, return_index=True)
        return cls(found.tolist(), ranks[first].tolist())

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the shares of ratings, also of values between those that the judge gave."""
        return np.interp(values, self.values, self.shares)


class RatedMatrix(NamedTuple):
    """What ratings become: a matrix, or one for each judge, and how further ratings are read in the same way."""

    S: Any
    directed: bool
    diagonal: float | None
    """The value of samples with themselves, if some were not rated."""
    scales: dict[str, Scale]
    unrated: int
    """The number of pairs of different samples that nobody rated."""


def ratings_of(first: Any, second: Any, values: Any, judges: Any = None) -> Ratings:
    """Return ratings given by the ids of the samples; those that are NaN were not given and are left out."""
    values = np.asarray(np.ma.filled(values, np.nan) if np.ma.isMA(values) else values, dtype=float)
    given = ~np.isnan(values) if values.ndim == 1 else np.ones(len(values), dtype=bool)
    left, right = (end[given] if len(end) == len(given) else end for end in map(np.asarray, (first, second)))
    edges = edges_of(left, right, values[given])
    if judges is None:
        return Ratings(edges.queries, edges.targets, edges.scores, edges.names, np.zeros(len(edges.scores), int), [])
    named = np.asarray(judges)
    if named.shape != values.shape:
        raise ValueError(f"judges must have one entry per rating ({len(values)}); got shape {named.shape}.")
    lacking = [i for i, each in enumerate(named.tolist()) if is_missing(each)]
    if lacking:
        raise ValueError(f"judges must name a judge for each rating; rating {lacking[0]} has {named[lacking[0]]!r}.")
    names, codes = np.unique(named[given].astype(str), return_inverse=True)
    return Ratings(edges.queries, edges.targets, edges.scores, edges.names, codes, names.tolist())


def odd_one_out(first: Any, second: Any, third: Any, odd: Any, judges: Any = None) -> Ratings:
    """Return the choices of the odd one of three as ratings: 1 for the pair that is left, 0 for the other two."""
    shown = [np.asarray(each).astype(str) for each in (first, second, third)]
    chosen = np.asarray(odd).astype(str)
    _check_lengths({"first": shown[0], "second": shown[1], "third": shown[2], "odd": chosen})
    hits = np.array([each == chosen for each in shown])
    wrong = np.flatnonzero(hits.sum(axis=0) != 1)
    if len(wrong):
        i = int(wrong[0])
        three = ", ".join(repr(str(each[i])) for each in shown)
        raise ValueError(f"odd must be one of three different things; choice {i} is {str(chosen[i])!r} of {three}.")
    pairs = [(0, 1, 2), (0, 2, 1), (1, 2, 0)]
    left, right = (np.concatenate([shown[pair[side]] for pair in pairs]) for side in (0, 1))
    values = np.concatenate([hits[pair[2]] for pair in pairs]).astype(float)
    return ratings_of(left, right, values, None if judges is None else np.tile(np.asarray(judges), 3))


def triads(anchor: Any, chosen: Any, other: Any, judges: Any = None) -> Ratings:
    """Return the choices of the thing that is more like an anchor as ratings: 1 for the chosen, 0 for the other."""
    own, more, less = (np.asarray(each).astype(str) for each in (anchor, chosen, other))
    _check_lengths({"anchor": own, "chosen": more, "other": less})
    same = np.flatnonzero((own == more) | (own == less) | (more == less))
    if len(same):
        raise ValueError(
            f"anchor, chosen and other must be three different things; choice {int(same[0])} has "
            f"{str(own[same[0]])!r}, {str(more[same[0]])!r} and {str(less[same[0]])!r}."
        )
    values = np.repeat([1.0, 0.0], len(own))
    both = None if judges is None else np.tile(np.asarray(judges), 2)
    return ratings_of(np.tile(own, 2), np.concatenate([more, less]), values, both)


def _check_lengths(given: dict[str, np.ndarray]) -> None:
    if len({each.shape for each in given.values()}) > 1 or next(iter(given.values())).ndim != 1:
        shapes = ", ".join(f"{name} {each.shape}" for name, each in given.items())
        raise ValueError(f"{', '.join(given)} must have one entry per choice; got the shapes {shapes}.")


def rated_matrix(
    ratings: Ratings,
    combine: str = "mean",
    direction: str | None = None,
    diagonal: float | None = None,
    orientation: str = "similarity",
) -> RatedMatrix:
    """Return the matrix of all ratings, or one for each judge; pairs that were not rated are NaN.

    Unless ``direction`` is given, both directions are kept if some judge rated a pair in both; otherwise the order in
    which two samples are named means nothing, and a rating counts in both directions.
    """
    check_choice(combine, "combine", COMBINATIONS)
    check_choice(direction, "direction", (None, *DIRECTIONS))
    check_choice(orientation, "orientation", ORIENTATIONS)
    n = len(ratings.names)
    n_judges = len(ratings.judges) if combine == "separate" else 1
    if combine != "mean" and not ratings.judges:
        raise ValueError(
            f"combine={combine!r} (--combine {combine}) needs to know who judged: name a column of judges."
        )
    if 8 * n * n * n_judges > LARGEST_DENSE:
        raise ValueError(
            f"combine: {n_judges} x {n} x {n} pairs would take {8 * n * n * n_judges / 2**30:.0f} GiB; read the file "
            "as edges (--form edges --missing unknown), which stay sparse."
        )
    directed = is_directed(ratings) if direction is None else direction == "keep"
    scales = scales_of(ratings) if combine == "ranks" else {}
    values = ranked(ratings, scales) if combine == "ranks" else ratings.values
    how = "mean" if direction in (None, "keep") else str(direction)
    found = _matrices(ratings, ratings.first, ratings.second, values, (n, n), combine, directed, how)
    if diagonal is None:
        diagonal = 0.0 if orientation == "dissimilarity" else 1.0 if combine == "ranks" else float(values.max())
    own = [np.isnan(np.diagonal(S)) for S in found.values()]
    for S, lacking in zip(found.values(), own):
        S[np.flatnonzero(lacking), np.flatnonzero(lacking)] = diagonal
    known = np.logical_or.reduce([~np.isnan(S) for S in found.values()])
    known |= known.T
    return RatedMatrix(
        found if combine == "separate" else found[""],
        directed,
        diagonal if any(lacking.any() for lacking in own) else None,
        scales,
        int((~known).sum()) // 2,
    )


def rated_rows(
    ratings: Ratings, known: list[str], combine: str, direction: str, scales: dict[str, Scale], judges: list[str]
) -> tuple[Any, list[str], np.ndarray]:
    """Return the rows of new samples to known ones, as one matrix or as one for each of the judges.

    Also return the names of the new samples, and how many known ones each was compared with.
    """
    place = {name: j for j, name in enumerate(known)}
    column = np.array([place.get(name, -1) for name in ratings.names], dtype=np.int64)
    values = ranked(ratings, scales) if combine == "ranks" else ratings.values
    first, second, by = ratings.first, ratings.second, ratings.by
    if direction != "keep":
        first, second = np.concatenate([first, second]), np.concatenate([second, first])
        values, by = np.tile(values, 2), np.tile(by, 2)
    chosen = (column[first] < 0) & (column[second] >= 0)
    codes = np.unique(first[chosen])
    row = np.full(len(ratings.names), -1)
    row[codes] = np.arange(len(codes))
    part = Ratings(
        row[first[chosen]], column[second[chosen]], values[chosen], ratings.names, by[chosen], ratings.judges
    )
    how = "mean" if direction == "keep" else direction
    shape = len(codes), len(known)
    found = _matrices(part, part.first, part.second, part.values, shape, combine, True, how)
    if combine == "separate":
        found = {name: found.get(name, np.full(shape, np.nan)) for name in judges}
    seen = np.logical_or.reduce([~np.isnan(S) for S in found.values()])
    names = [ratings.names[code] for code in codes.tolist()]
    return found if combine == "separate" else found[""], names, seen.sum(axis=1)


def is_directed(ratings: Ratings) -> bool:
    """Return whether some judge rated a pair of different samples in both directions."""
    n = np.int64(len(ratings.names))
    off = ratings.first != ratings.second
    first, second, by = ratings.first[off], ratings.second[off], ratings.by[off]
    forth, back = (by * n + first) * n + second, (by * n + second) * n + first
    return bool(np.isin(back, forth).any())


def scales_of(ratings: Ratings) -> dict[str, Scale]:
    """Return how each judge used the scale."""
    return {name: Scale.of(ratings.values[ratings.by == j]) for j, name in enumerate(ratings.judges)}


def ranked(ratings: Ratings, scales: dict[str, Scale]) -> np.ndarray:
    """Return the ratings as shares of the judge's own ratings; a judge who is not known has a scale of these alone."""
    values = np.empty(len(ratings.values))
    for j, name in enumerate(ratings.judges):
        own = ratings.by == j
        if own.any():
            values[own] = (scales.get(name) or Scale.of(ratings.values[own]))(ratings.values[own])
    return values


def _matrices(
    ratings: Ratings,
    first: np.ndarray,
    second: np.ndarray,
    values: np.ndarray,
    shape: tuple[int, int],
    combine: str,
    directed: bool,
    how: str,
) -> dict[str, np.ndarray]:
    """Return the matrix of the mean ratings, or those of the judges by name.

    What a judge said of a pair several times counts as one rating, so that each judge counts the same.
    """
    rows, columns = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    if not directed:
        off = rows != columns
        rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
        values, by = np.concatenate([values, values[off]]), np.concatenate([ratings.by, ratings.by[off]])
    else:
        by = ratings.by
    size = np.int64(shape[0]) * shape[1]
    key = by * size + rows * shape[1] + columns
    pairs, values = _reduced(key, values, how)
    by, pairs = pairs // size, pairs % size
    if combine == "separate":
        judges = {j: name for j, name in enumerate(ratings.judges) if np.any(by == j)}
        return {name: _filled(pairs[by == j], values[by == j], shape) for j, name in judges.items()}
    return {"": _filled(*_reduced(pairs, values, "mean"), shape)}


_REDUCE: dict[str, Any] = {"mean": np.add, "max": np.maximum, "min": np.minimum}


def _reduced(key: np.ndarray, values: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Return each key once, and the mean, the largest or the smallest of its values."""
    if not len(key):
        return key, values
    order = np.lexsort((values, key))  # sums do not depend on the order of the ratings
    key, values = key[order], values[order]
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    found = _REDUCE[how].reduceat(values, starts)
    return key[starts], found / np.diff(starts, append=len(key)) if how == "mean" else found


def _filled(pairs: np.ndarray, values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    S = np.full(shape, np.nan)
    S.flat[pairs] = values
    return S
