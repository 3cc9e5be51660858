"""Edges between samples, and the matrix that they make: what absent, repeated and one-sided edges mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.checks import check_choice, is_missing
from similitude._utils.ids import some

ORIENTATIONS = ("similarity", "dissimilarity")
DUPLICATES = ("max", "min", "mean", "error")
DIRECTIONS = ("keep", "max", "mean", "min")
LARGEST_DENSE = 2**31
"""The largest number of bytes of a dense matrix that is made from edges."""

_CHUNK = 2**20


@dataclass(frozen=True)
class Edges:
    """Edges between samples that are numbered in the order of ``names``."""

    queries: np.ndarray
    targets: np.ndarray
    scores: np.ndarray
    names: list[str]
    count: int = 0
    """The number of edges that were read, of which some may have been left out."""


@dataclass(frozen=True)
class EdgeMeaning:
    """What edges mean: see :meth:`Proximities.from_edges`."""

    missing: Any = None
    duplicates: str | None = None
    direction: str = "keep"
    normalise: str | None = None
    orientation: str = "similarity"

    def __post_init__(self) -> None:
        check_choice(self.orientation, "orientation", ORIENTATIONS)
        check_choice(self.duplicates, "duplicates", (None, *DUPLICATES))
        check_choice(self.direction, "direction", DIRECTIONS)
        check_choice(self.normalise, "normalise", (None, "self", "rows"))
        missing = self.missing
        if isinstance(missing, (int, float, np.number)) and not isinstance(missing, bool):
            if not np.isfinite(missing):
                raise ValueError(f"missing must be a finite number; got {missing}. For unknown pairs pass 'unknown'.")
        elif missing is not None and (not isinstance(missing, str) or missing not in ("zero", "farthest", "unknown")):
            raise ValueError(f"missing must be 'zero', 'farthest', 'unknown' or a number; got {missing!r}.")
        if self.normalise == "self" and self.orientation == "dissimilarity":
            raise ValueError("normalise='self' is for similarities: the distance of a sample to itself is 0.")

    @property
    def absent(self) -> Any:
        """The value of pairs without an edge: 0.0, a number, "farthest" or "unknown"; None if there may be none."""
        if self.missing is None:
            return 0.0 if self.orientation == "similarity" else None
        if self.missing == "zero":
            return 0.0
        return self.missing if isinstance(self.missing, str) else float(self.missing)

    @property
    def repeated(self) -> str:
        """The value of a pair with several edges."""
        return self.duplicates or ("max" if self.orientation == "similarity" else "min")


class EdgeMatrix(NamedTuple):
    """The matrix of edges, and what is needed to read further edges in the same way."""

    S: Any
    missing: Any
    self_scores: np.ndarray | None
    merged: int
    one_sided: bool

    @property
    def absent(self) -> Literal["zero", "unknown"]:
        """The meaning of entries that a sparse matrix does not store."""
        return "unknown" if self.missing == "unknown" else "zero"


class _Pairs(NamedTuple):
    """Different pairs of rows and columns in ascending order, with their values."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    counts: np.ndarray


def edges_of(queries: Any, targets: Any, scores: Any) -> Edges:
    """Return edges given by the ids of their ends."""
    ends = [np.asarray(queries), np.asarray(targets)]
    try:
        values = np.asarray(np.ma.filled(scores, np.nan) if np.ma.isMA(scores) else scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scores must be finite numbers: {error}.") from error
    if any(end.ndim != 1 for end in ends) or values.ndim != 1 or len({len(values), *map(len, ends)}) != 1:
        shapes = ", ".join(str(np.shape(given)) for given in (*ends, values))
        raise ValueError(f"queries, targets and scores must have one entry per edge; got the shapes {shapes}.")
    if not len(values):
        raise ValueError("scores: there is no edge; at least one is needed.")
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"scores must be finite numbers; got {values[bad]} for edge {bad}. Leave out unknown pairs.")
    for name, end in zip(("queries", "targets"), ends):
        lacking = [i for i, each in enumerate(end.tolist()) if is_missing(each)] if end.dtype.kind in "fO" else []
        if lacking:
            raise ValueError(f"{name} must name a sample for each edge; edge {lacking[0]} has {end[lacking[0]]!r}.")
    both = np.column_stack(ends).ravel()
    # Names of different types are compared as text, as they are kept.
    both = both.astype(str) if both.dtype == object else both
    found, first, codes = np.unique(both, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    codes = place[codes.ravel()].reshape(-1, 2)
    return Edges(codes[:, 0], codes[:, 1], values, [str(name) for name in found[order].tolist()])


def best_of_each(
    queries: np.ndarray, targets: np.ndarray, scores: np.ndarray, top: int, *, smallest: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the edges of each query to its ``top`` best targets, with those that tie with the last one.

    A pair counts once, with its best score. The edge of a sample to itself is kept besides. What is left out of a part
    of the edges is left out of all of them, too, so that edges can be selected while they are read, in any order.
    """
    values = scores if smallest else -scores
    order = np.lexsort((values, targets, queries))
    queries, targets, values = queries[order], targets[order], values[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (queries[1:] != queries[:-1]) | (targets[1:] != targets[:-1])
    queries, targets, values = queries[first], targets[first], values[first]
    own = queries == targets
    # The edge to itself comes first, and is not counted.
    order = np.lexsort((values, ~own, queries))
    queries, targets, values, own = queries[order], targets[order], values[order], own[order]
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1])) if len(queries) else np.empty(0, np.intp)
    counts = np.diff(starts, append=len(queries))
    last = np.minimum(starts + own[starts] + top, starts + counts) - 1
    kept = own | (values <= np.repeat(values[last], counts))
    values = values[kept]
    return queries[kept], targets[kept], values if smallest else -values


def square_matrix(edges: Edges, meaning: EdgeMeaning) -> EdgeMatrix:
    """Return the square matrix between all samples of the edges."""
    n = len(edges.names)
    absent = meaning.absent
    pairs = _reduced(edges.queries, edges.targets, edges.scores, n, meaning.repeated, edges.names)
    merged = len(edges.scores) - len(pairs.values)
    own = None
    if meaning.normalise == "self":
        own = _self_scores(pairs, np.arange(n), edges.names)
        pairs = pairs._replace(values=_normalised(pairs, own, own))
    absent = _number(absent, pairs.values, meaning.orientation)
    one_sided = meaning.direction == "keep" and not _reversed_too(pairs.rows, pairs.columns, n)
    if meaning.direction != "keep":
        # A sample with itself is its own other direction, which leaves its value as it is.
        backward = pairs._replace(rows=pairs.columns, columns=pairs.rows)
        pairs = _combined(pairs, backward, n, meaning.direction, "unknown" if absent is None else absent)
    if absent is None:
        _check_complete(pairs, n, one_sided)
    S = _matrix(pairs, (n, n), absent, meaning.orientation, np.arange(n))
    if absent is None:
        absent = "unknown"  # for new samples, whose edges may be incomplete
    return EdgeMatrix(S, absent, own, merged, one_sided)


def rows_to(
    edges: Edges,
    known: list[str],
    meaning: EdgeMeaning,
    self_scores: np.ndarray | None,
    queries: list[str] | None = None,
) -> tuple[Any, list[str], np.ndarray]:
    """Return the rows of new samples to known ones, their names, and the number of edges of each.

    The new samples are the queries that are not known, in the order of their first edges, unless ``queries`` names
    them.
    """
    place = {name: j for j, name in enumerate(known)}
    column = np.array([place.get(name, -1) for name in edges.names], dtype=np.int64)
    if queries is None:
        codes, first = np.unique(edges.queries[column[edges.queries] < 0], return_index=True)
        codes = codes[np.argsort(first)]
        names = [edges.names[code] for code in codes.tolist()]
    else:
        code_of = {name: code for code, name in enumerate(edges.names)}
        codes, names = np.array([code_of.get(name, -1) for name in queries], dtype=np.int64), list(queries)
    row = np.full(len(edges.names), -1)
    row[codes[codes >= 0]] = np.flatnonzero(codes >= 0)
    n = max(len(edges.names), len(known))
    forward = _selected(edges, row[edges.queries], column[edges.targets], n, meaning.repeated)
    backward = None
    if meaning.direction != "keep":
        backward = _selected(edges, row[edges.targets], column[edges.queries], n, meaning.repeated)
    own: Any = None
    if meaning.normalise == "self":
        if self_scores is None:
            raise ValueError("normalise='self': the self-scores of the training samples are not known.")
        own = _self_scores_of_rows(edges, codes, [forward, *([] if backward is None else [backward])], n, meaning)
        forward = forward._replace(values=_normalised(forward, own, self_scores))
        if backward is not None:
            backward = backward._replace(values=_normalised(backward, own, self_scores))
    absent = meaning.absent
    if backward is not None:
        forward = _combined(forward, backward, n, meaning.direction, absent)
    S = _matrix(forward, (len(codes), len(known)), absent, "similarity", None)
    if meaning.normalise == "rows":
        S = shares_of_rows(S)
    return S, names, np.bincount(forward.rows, minlength=len(codes))


def shares_of_rows(S: Any) -> Any:
    """Return counts as shares of the sum of their row; a row of zeros stays as it is."""
    values = S.data if sparse.issparse(S) else S
    if np.isnan(values).any() or (values < 0).any():
        raise ValueError("normalise='rows' (--normalise rows) is for counts, which are known and at least 0.")
    sums = np.asarray(S.sum(axis=1)).ravel()
    shares = 1 / np.where(sums == 0, 1.0, sums)
    return sparse.csr_array(sparse.diags_array(shares) @ S) if sparse.issparse(S) else S * shares[:, None]


def _self_scores_of_rows(
    edges: Edges, codes: np.ndarray, sides: list[_Pairs], n: int, meaning: EdgeMeaning
) -> np.ndarray:
    """Return the self-scores of new samples; those without an edge to a known sample need none."""
    loops = edges.queries == edges.targets
    ends = edges.queries[loops]
    itself = _reduced(ends, ends, edges.scores[loops], n, meaning.repeated, edges.names)
    needed = np.unique(np.concatenate([pairs.rows for pairs in sides]))
    own = np.ones(len(codes))
    own[needed] = _self_scores(itself, codes[needed], edges.names)
    return own


def _selected(edges: Edges, rows: np.ndarray, columns: np.ndarray, n: int, how: str) -> _Pairs:
    chosen = (rows >= 0) & (columns >= 0)
    return _reduced(rows[chosen], columns[chosen], edges.scores[chosen], n, how, None)


def _reduced(rows: Any, columns: Any, values: np.ndarray, n: int, how: str, names: list[str] | None) -> _Pairs:
    """Return each pair once, with one value for all its edges; ``n`` exceeds all columns."""
    key = np.asarray(rows, dtype=np.int64) * n
    key += columns
    order = np.argsort(key, kind="stable")
    values = values[order]
    key = key[order]
    del order
    first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    narrow = np.int32 if n < 2**31 else np.int64
    if first.all():
        counts = np.ones(len(key), dtype=np.int32)
    else:
        starts = np.flatnonzero(first)
        counts = np.diff(starts, append=len(key)).astype(np.int32)
        key = key[starts]
        if how == "error":
            twice = int(np.flatnonzero(counts > 1)[0])
            ends = divmod(int(key[twice]), n)
            pair = " and ".join(repr(names[i]) if names else str(i) for i in ends)
            raise ValueError(
                f"duplicates='error': the pair {pair} has {counts[twice]} edges; pass duplicates='max', 'min' or "
                "'mean'."
            )
        values = _REDUCERS[how](values, starts, counts)
    found = (key // n).astype(narrow)
    key %= n
    return _Pairs(found, key.astype(narrow), values, counts)


_REDUCERS = {
    "max": lambda values, starts, counts: np.maximum.reduceat(values, starts),
    "min": lambda values, starts, counts: np.minimum.reduceat(values, starts),
    "mean": lambda values, starts, counts: np.add.reduceat(values / np.repeat(counts, counts), starts),
}


def _normalised(pairs: _Pairs, own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the values divided by the root of the product of both self-scores."""
    own, others = own[pairs.rows], others[pairs.columns]
    with np.errstate(over="ignore", under="ignore"):
        product = own * others
    ordinary = (product > 1e-290) & (product < np.inf)
    return pairs.values / np.where(ordinary, np.sqrt(product), np.sqrt(own) * np.sqrt(others))


def _self_scores(pairs: _Pairs, samples: np.ndarray, names: list[str]) -> np.ndarray:
    """Return the positive self-scores of the samples, or raise an error that names those that have none."""
    itself = pairs.rows == pairs.columns
    own = np.zeros(len(names))
    own[pairs.rows[itself]] = pairs.values[itself]
    own = own[samples]
    lacking = [names[samples[i]] for i in np.flatnonzero(~(own > 0)).tolist()]
    if lacking:
        raise ValueError(
            f"normalise='self' needs a positive score of every sample with itself; {len(lacking)} of {len(samples)} "
            f"have none: {some(lacking)}."
        )
    return own


def _number(absent: Any, values: np.ndarray, orientation: str) -> Any:
    if absent != "farthest":
        return absent
    if not len(values):
        raise ValueError("missing='farthest': there is no edge whose value could be used.")
    return float(values.max() if orientation == "dissimilarity" else values.min())


def _reversed_too(rows: np.ndarray, columns: np.ndarray, n: int) -> bool:
    """Return whether any pair of different samples is there in both directions; the pairs are in ascending order."""
    key = rows * np.int64(n) + columns
    for start in range(0, len(key), _CHUNK):
        part = slice(start, start + _CHUNK)
        off = rows[part] != columns[part]
        backward = columns[part][off] * np.int64(n) + rows[part][off]
        place = np.minimum(np.searchsorted(key, backward), len(key) - 1)
        if np.any(key[place] == backward):
            return True
    return False


def _check_complete(pairs: _Pairs, n: int, one_sided: bool) -> None:
    """Raise an error unless all pairs of different samples have a distance."""
    lacking = n * (n - 1) - int(np.count_nonzero(pairs.rows != pairs.columns))
    if not lacking:
        return
    if one_sided and 2 * lacking == n * (n - 1):
        raise ValueError(
            "direction: the list holds each pair once. State that it counts in both directions: direction='max' "
            "(--direction max)."
        )
    raise ValueError(
        f"missing: {lacking:,} of {n * (n - 1):,} pairs have no edge, and so no distance. State what that means: "
        "missing='farthest' (--missing farthest) for the largest distance in the list, a number, or 'unknown'."
    )


def _combined(forward: _Pairs, backward: _Pairs, n: int, how: str, absent: Any) -> _Pairs:
    """Return the values of two directions as one; the direction that is not there has the value ``absent``."""
    rows, columns, values = (np.concatenate(parts) for parts in list(zip(forward, backward))[:3])
    both = _reduced(rows, columns, values, n, how, None)
    del rows, columns, values
    if absent == "unknown":
        return both
    alone = both.counts == 1
    values = both.values
    if how == "mean":
        values[alone] = (values[alone] + absent) / 2
    else:
        values[alone] = (np.maximum if how == "max" else np.minimum)(values[alone], absent)
    return both


def _matrix(pairs: _Pairs, shape: tuple[int, int], absent: Any, orientation: str, diagonal: Any) -> Any:
    """Return the matrix of pairs; distances of samples to themselves (``diagonal``) are 0 unless they are given."""
    rows, columns, values = pairs.rows, pairs.columns, pairs.values
    if orientation == "dissimilarity" and diagonal is not None:
        lacking = np.setdiff1d(diagonal, rows[rows == columns])
        rows, columns = np.concatenate([rows, lacking]), np.concatenate([columns, lacking])
        values = np.concatenate([values, np.zeros(len(lacking))])
    if absent == 0.0 or absent == "unknown":
        S = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
        S.sort_indices()
        return S
    if 8 * shape[0] * shape[1] > LARGEST_DENSE:
        raise ValueError(
            f"missing: the dense matrix of {shape[0]} x {shape[1]} pairs would take "
            f"{8 * shape[0] * shape[1] / 2**30:.0f} GiB; missing='unknown' (--missing unknown) stays sparse."
        )
    S = np.full(shape, np.nan if absent is None else absent)
    S[rows, columns] = values
    return S
