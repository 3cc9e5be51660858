"""Raw objects of which only some pairs are compared: sparse neighbours, and columns of landmarks."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from similitude._native import insert_neighbors, offer
from similitude._utils.checks import check_choice, check_integer
from similitude._utils.scikit_learn import num_samples, safe_indexing
from similitude._utils.types import ColumnPositions
from similitude.finders._spending import CurvePoint, Profiles, Spending, kept_of
from similitude.finders.finder import Collection
from similitude.finders.stream import RunningBest, sorted_best
from similitude.numerics.distinct import distinct
from similitude.similarities.fingerprint import fingerprint
from similitude.similarities.pair_store import PairStore
from similitude.similarities.pairwise import Comparison, Target, compared, pairwise, show_blocks, sliceable
from similitude.similarities.registry import Measure, SimilarityLike, resolve

SEARCHES = ("auto", "all", "some")
PER_OBJECT = 250
"""The evaluations per object if not all pairs are evaluated and no number is given."""
_LEAST_PER_OBJECT = 4
_LANDMARKS_OF_ALL = 128
_FROM_PROFILES = 0.7
"""The share of the neighbours of a new object that its profile chooses; the others are neighbours of neighbours."""
_FOLLOWED = 5
_ROWS = 4096
_TIMED_SECONDS = 0.5
_TIMED_AGAIN = 3
"""How often a cheap function is timed on the largest blocks."""
_CHOICE_SECONDS = 5e-6
"""The seconds that choosing a pair, keeping its value and sorting it into lists takes, beside its evaluation."""
_CODE_SECONDS = 1e-10
"""The seconds per pair and landmark that the comparison of profiles takes."""
_ROW_SECONDS = 2.5e-4
"""The seconds that it takes to call a function on the batches of one row."""
_EXACT = 4.0
"""How many times as long as some pairs all of them may take, since their neighbours are exact."""


@dataclass(frozen=True, repr=False)
class PairReport:
    """What the evaluations of a similarity were spent on; ``print`` shows it as text.

    Parameters
    ----------
    budget : int or None
        The largest number of evaluations, if there was one.
    n_pairs : int
        The number of pairs that were evaluated, or taken from a file.
    n_evaluated : int
        The number of evaluations in this run, without those that a file already had.
    possible : int
        The number of all pairs; each counts once if the measure is symmetric, otherwise twice.
    spent : dict of str to int
        The number of pairs by purpose.
    n_landmarks : int
        The number of landmarks.
    n_per_query : float
        The number of evaluations for a new object.
    curve : list of CurvePoint
        The errors of two simple classifiers on left-out samples after parts of the budget, from which it can be seen
        what more pairs would bring; empty if all pairs were evaluated.
    symmetric : bool
        Whether the value of a pair in one direction is that in the other.
    """

    budget: int | None
    n_pairs: int
    n_evaluated: int
    possible: int
    spent: dict[str, int]
    n_landmarks: int
    n_per_query: float
    curve: list[CurvePoint]
    symmetric: bool

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, without the number of evaluations in this run.

        Returns
        -------
        dict
            The values by name; the curve is a list of dicts.
        """
        found = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "n_evaluated"}
        return {**found, "curve": [point._asdict() for point in self.curve]}

    def __repr__(self) -> str:
        text = pairs_text(self.as_dict())
        kept = self.n_pairs - self.n_evaluated
        return text if kept <= 0 else f"{text}\n{kept:,} of these pairs were in the file already."


def pairs_text(report: dict[str, Any]) -> str:
    """Return a report, given as plain values, as text."""
    n_pairs, limit = report["n_pairs"], "" if report["budget"] is None else f" of {report['budget']:,}"
    share = n_pairs / max(report["possible"], 1)
    parts = ", ".join(f"{count:,} for {what}" for what, count in report["spent"].items() if count)
    text = f"{n_pairs:,}{limit} pairs evaluated, {100 * share:.3g}% of all: {parts}"
    if not report["symmetric"]:
        text += "; each in one direction, that of the rows of new samples"
    text += f". {report['n_landmarks']} landmarks; a new sample takes {report['n_per_query']:.0f} evaluations."
    if report["curve"]:
        text += "\npairs          landmarks  error of 5 neighbours  of landmarks  of both"
    for point in report["curve"]:
        errors = [f"{100 * point[name]:.1f}%" for name in ("neighbors", "landmarks", "both")]
        text += f"\n{point['n_pairs']:<14,} {point['n_landmarks']:<10} {errors[0]:<22} {errors[1]:<13} {errors[2]}"
    return text


class Compared(NamedTuple):
    """Samples of which some pairs were evaluated: native values of neighbours, and of all samples to landmarks."""

    neighbors: Any
    """A CSR matrix of samples to training samples, whose absent entries are unknown."""
    landmarks: np.ndarray


class PairBudget(BaseEstimator):
    """How many pairs of raw objects are compared at most, and which.

    It is a value of the parameter ``pair_budget`` of :class:`~similitude.AutoClassifier`. Every object is compared with
    the same landmarks, which are chosen at random. These similarities are the object's profile; objects whose profiles
    are close are compared with each other, then neighbours of neighbours, then further candidates of the objects whose
    neighbours disagree about the class. The shares of landmarks and neighbours are chosen while the budget is spent: a
    vote of neighbours and a regression on the profiles are compared on left-out samples after each part.

    Parameters
    ----------
    n_pairs : int or float, default=None
        The largest number of evaluations of the similarity in ``fit``, such as ``2e7``; at least 4 for each object.
        None means that all pairs are evaluated, block by block, if that takes at most four times as long as 250
        evaluations of each object one by one, as with fast compiled functions, and otherwise these 250.
    shortlist : str, callable or Measure, default=None
        A cheap similarity of the same objects. The neighbours of each object by this similarity are the candidates that
        are compared by the expensive one; it is evaluated for all pairs, which are not counted.
    path : str or path, default=None
        A file that keeps the evaluated pairs. A run that was interrupted, or one with another budget, uses the pairs
        that the file has, and evaluates only the others. Pairs are then evaluated one by one, and with
        ``search="auto"`` the number of evaluations decides, not the time.
    search : {"auto", "all", "some"}, default="auto"
        "all" evaluates all pairs, block by block, without keeping the matrix, "some" at most ``n_pairs``, and "auto"
        chooses as described there. The choice depends on the speed of the machine.
    n_jobs : int, default=None
        The number of blocks that are evaluated at the same time if all pairs are, as in
        :func:`~similitude.similarities.pairwise`.
    random_state : int, default=0
        The random state for the landmarks. Those of a larger budget include those of a smaller one.

    See Also
    --------
    similitude.AutoClassifier : Evaluate the methods on the same folds, and combine those that work best together.
    GraphSearch : Find neighbours of a single classifier with few similarities.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import AutoClassifier
    >>> from similitude.finders import PairBudget
    >>> rng = np.random.default_rng(0)
    >>> words = ["".join(rng.choice(list("ab"), 12, p=[p, 1 - p])) for p in [0.3, 0.7] * 100]
    >>> auto = AutoClassifier(["k-NN", "RFD (features)"], pair_budget=PairBudget(4000), similarity="levenshtein")
    >>> auto = auto.fit(words, [0, 1] * 100)
    >>> auto.pair_report_.n_pairs <= 4000
    True
    """

    def __init__(
        self,
        n_pairs: float | None = None,
        *,
        shortlist: SimilarityLike | None = None,
        path: str | os.PathLike | None = None,
        search: Literal["auto", "all", "some"] = "auto",
        n_jobs: int | None = None,
        random_state: int = 0,
    ):
        self.n_pairs = n_pairs
        self.shortlist = shortlist
        self.path = path
        self.search = search
        self.n_jobs = n_jobs
        self.random_state = random_state


def as_pair_budget(value: Any) -> PairBudget:
    """Return the value of the parameter ``pair_budget`` as a checked :class:`PairBudget`."""
    given = value if isinstance(value, PairBudget) else PairBudget(value)
    check_choice(given.search, "search", SEARCHES)
    check_integer(given.random_state, "random_state", 0)
    if given.search == "all" and given.path is not None:
        raise ValueError(
            "path keeps pairs that are evaluated one by one; leave it out with search='all', or use "
            "AutoClassifier(pairs_file=...) without a budget."
        )
    number = given.n_pairs
    if number is None:
        return given
    whole = isinstance(number, Real) and not isinstance(number, bool) and np.isfinite(float(number))
    if not whole or float(number) < 1:
        raise ValueError(f"pair_budget must be a number of pairs, such as 2e7, a PairBudget or None; got {number!r}.")
    return given


def compare_objects(
    budget: PairBudget, measure: Measure, map_name: str | None, objects: Any, codes: np.ndarray
) -> tuple[Compared, ComparedObjects, PairReport]:
    """Compare training objects with labels within a budget.

    Return their values, what compares new objects, and the report.
    """
    n, sign = num_samples(objects), 1.0 if map_name is None else -1.0
    possible = n * (n - 1) // (2 if measure.symmetric else 1)
    number = None if budget.n_pairs is None else int(budget.n_pairs)
    if number is not None and number < min(_LEAST_PER_OBJECT * n, possible):
        raise ValueError(
            f"pair_budget={number}: at least {_LEAST_PER_OBJECT} evaluations for each of the {n} objects are needed, "
            f"{_LEAST_PER_OBJECT * n} in all."
        )
    everything = budget.search == "all"
    if budget.search == "auto" and budget.path is None:
        everything = all_pairs_are_worth_it(measure, objects) if number is None else number >= possible
    if everything:
        return _all_pairs(budget, measure, sign, objects, number)
    if number is None:
        number = min(PER_OBJECT * n, possible)
    rng = np.random.RandomState(budget.random_state)
    cheap = None if budget.shortlist is None else _cheap(budget.shortlist)
    shortlist = None if cheap is None else _best_by(cheap, objects, objects, min(n, 2 * kept_of(n)), budget.n_jobs)
    store = PairStore(measure, objects, budget.path)
    try:
        spending = Spending(store, sign, codes, number, rng, shortlist)
        spending.run()
    finally:
        store.close()
    done = spending.spent["neighbours"] + spending.spent["neighbours of the uncertain"]
    n_neighbors = min(n, math.ceil(done * (1 + bool(measure.symmetric)) / n))
    report = PairReport(
        number,
        spending.total,
        store.n_evaluated,
        possible,
        spending.spent,
        len(spending.landmarks),
        len(spending.landmarks) + n_neighbors,
        spending.curve,
        bool(measure.symmetric),
    )
    fitted = ComparedObjects(
        objects, measure, sign, spending.landmarks, spending.columns, spending.nearest, n_neighbors, cheap
    )
    known = _matrix(spending.nearest, sign * spending.closeness, n, both=bool(measure.symmetric))
    return Compared(known, spending.columns), fitted, report


def all_pairs_are_worth_it(measure: Measure, objects: Any) -> bool:
    """Return whether all pairs, in blocks, are worth the time that they are expected to take.

    It may be a few times as long as that of some of them, row by row, since all pairs give the exact neighbours.
    """
    n = num_samples(objects)
    each = _seconds_of_a_pair(measure, objects)
    everything = each * n * n / (2 if measure.symmetric else 1)
    some_pairs = PER_OBJECT * n * (each + _CHOICE_SECONDS) + 4 * n * _ROW_SECONDS
    some_pairs += _CODE_SECONDS * n * min(n, 2**17) * PER_OBJECT / 8
    return everything <= _EXACT * some_pairs


def _seconds_of_a_pair(measure: Measure, objects: Any) -> float:
    """Return the time that a pair takes in a block of many: the shortest of a few, since other work may interrupt."""
    n, rng, times, begun = num_samples(objects), np.random.RandomState(0), [math.inf], math.inf
    for rows, columns in [(1, 1), *((2**i, min(4**i, 1024)) for i in range(7)), *[(64, 1024)] * _TIMED_AGAIN]:
        some, others = (safe_indexing(objects, rng.randint(n, size=size)) for size in (rows, columns))
        start = time.perf_counter()
        pairwise(some, others, similarity=measure)
        if begun == math.inf:  # the first call may import a library
            begun = time.perf_counter()
            continue
        times.append((time.perf_counter() - start) / (rows * columns))
        if time.perf_counter() - begun > _TIMED_SECONDS:
            break
    return min(times)


def _all_pairs(
    budget: PairBudget, measure: Measure, sign: float, objects: Any, number: int | None
) -> tuple[Compared, ComparedObjects, PairReport]:
    n = num_samples(objects)
    lists = _NearestOfAll(n, min(kept_of(n), n - 1), sign, bool(measure.symmetric))
    show_blocks(lists, objects, objects, measure, half=bool(measure.symmetric), n_jobs=budget.n_jobs)
    values, places = sorted_best(lists.heaps, lists.places)
    order = np.random.RandomState(budget.random_state).permutation(n)
    landmarks = order[: min(n, max(2, min(_LANDMARKS_OF_ALL, int(2 * math.sqrt(n)))))]
    columns = np.asarray(pairwise(objects, safe_indexing(objects, landmarks), similarity=measure), dtype=float)
    possible = n * (n - 1) // (2 if measure.symmetric else 1)
    report = PairReport(
        number,
        possible,
        possible,
        possible,
        {"all pairs": possible},
        len(landmarks),
        n + len(landmarks),
        [],
        bool(measure.symmetric),
    )
    nearest = places.astype(np.int32)
    fitted = ComparedObjects(objects, measure, sign, landmarks, columns, nearest, None, None)
    return Compared(_matrix(nearest, sign * values, n, both=bool(measure.symmetric)), columns), fitted, report


class _NearestOfAll(Target):
    """A target that keeps the best columns of each row of the square matrix, and of its mirror image."""

    def __init__(self, n: int, kept: int, sign: float, symmetric: bool):
        self.sign, self.symmetric = sign, symmetric
        self.heaps, self.places = np.full((n, kept), -np.inf), np.full((n, kept), n, dtype=np.intp)

    def write(self, block: Any, values: np.ndarray) -> None:
        """Update the best columns with the values of a block."""
        values = self.sign * np.asarray(values, dtype=np.float64)
        rows, columns = block.rows, block.columns
        own = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
        values[own - rows.start, own - columns.start] = -np.inf
        offer(np.ascontiguousarray(values), columns.start, self.heaps[rows], self.places[rows])
        if self.symmetric and rows != columns:
            offer(np.ascontiguousarray(values.T), rows.start, self.heaps[columns], self.places[columns])


def _matrix(nearest: np.ndarray, values: np.ndarray, n: int, *, both: bool) -> Any:
    """Return the CSR matrix of lists of neighbours; with ``both`` a pair is known in both directions."""
    i, j = np.nonzero(nearest >= 0)
    rows, columns, data = i.astype(np.int64), nearest[i, j].astype(np.int64), values[i, j]
    if both:
        rows, columns, data = np.append(rows, columns), np.append(columns, rows), np.append(data, data)
    keys, first = np.unique(rows * n + columns, return_index=True)
    starts = np.append(0, np.cumsum(np.bincount(keys // n, minlength=len(nearest))))
    S = sparse.csr_array((data[first], keys % n, starts), shape=(len(nearest), n))
    S.has_canonical_format = True
    return S


def _cheap(similarity: Any) -> Measure:
    measure = resolve(similarity)
    if measure.learns:
        raise ValueError("shortlist must be a similarity that does not learn from data.")
    return measure


def _best_by(measure: Measure, A: Any, B: Any, count: int, n_jobs: int | None) -> np.ndarray:
    """Return for each object of A the positions of the best objects of B, of shape (m, count)."""
    dissimilar = measure.orientation == "dissimilarity"
    turned = _Negated(measure) if dissimilar else None
    best = RunningBest(Collection(B, measure, turned), num_samples(A), count)  # type: ignore[arg-type]
    show_blocks(best, A, B, measure, n_jobs=n_jobs)
    return best.sorted()[1]


class _Negated:
    """A map of dissimilarities that keeps their order."""

    def __init__(self, measure: Measure):
        self.measure = measure

    def __call__(self, values: np.ndarray, *, name: str) -> np.ndarray:
        return -values


_LAST: WeakKeyDictionary[ComparedObjects, tuple[bytes, Compared]] = WeakKeyDictionary()
"""The last objects that were compared, so that several questions about them cost no further evaluations."""


@dataclass(frozen=True, eq=False)
class ComparedObjects:
    """Training objects with which new ones are compared in the same way: with the landmarks and some candidates."""

    objects: Any
    measure: Measure
    sign: float
    landmarks: ColumnPositions
    columns: np.ndarray
    nearest: np.ndarray
    """The known neighbours of each training object, best first; -1 if there are fewer."""
    n_neighbors: int | None
    """The number of further objects with which a new one is compared; None means all."""
    shortlist: Measure | None

    def rows(self, X: Any) -> Compared:
        """Return the values of new objects to some of the training objects; those of the last objects are kept."""
        X = sliceable(X)
        own = fingerprint(X)
        if _LAST.get(self, (b"", None))[0] != own:
            _LAST[self] = own, self._rows(X)
        return _LAST[self][1]

    def _rows(self, X: Any) -> Compared:
        marks = safe_indexing(self.objects, self.landmarks)
        columns = np.asarray(pairwise(X, marks, similarity=self.measure), dtype=float)
        if self.n_neighbors is None:
            kept = min(kept_of(num_samples(self.objects)), num_samples(self.objects))
            turned = _Negated(self.measure) if self.sign < 0 else None
            training = Collection(self.objects, self.measure, turned)  # type: ignore[arg-type]
            best = RunningBest(training, num_samples(X), kept)
            show_blocks(best, X, self.objects, self.measure)
            closeness, nearest = best.sorted()
        else:
            parts = [
                self._some(safe_indexing(X, np.arange(start, min(start + _ROWS, num_samples(X)))), columns[start:])
                for start in range(0, num_samples(X), _ROWS)
            ]
            nearest, closeness = (np.concatenate(each) for each in zip(*parts))
        return Compared(_matrix(nearest, self.sign * closeness, num_samples(self.objects), both=False), columns)

    def _some(self, X: Any, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the best of the objects with which new ones are compared, and how close they are."""
        m, n, wanted = num_samples(X), num_samples(self.objects), int(self.n_neighbors or 0)
        columns = columns[:m]
        kept = min(kept_of(n), n)
        lists = np.full((m, kept), -1, dtype=np.int32), np.full((m, kept), -np.inf), np.zeros((m, kept), dtype=bool)
        rows, places = np.repeat(np.arange(m), len(self.landmarks)), np.tile(self.landmarks, m)
        insert_neighbors(rows, places, self.sign * columns.ravel(), *lists)
        compare, done = Comparison(self.measure, self.objects), distinct(rows * n + places)

        def ask(candidates: np.ndarray, count: int) -> None:
            nonlocal done
            i, keys = np.repeat(np.arange(m), candidates.shape[1]), candidates.ravel().astype(np.int64)
            i, keys = i[keys >= 0], i[keys >= 0] * n + keys[keys >= 0]
            keys, first = np.unique(keys, return_index=True)
            new = ~np.isin(keys, done, assume_unique=True)
            keys, first = keys[new], first[new]
            # The first candidates of each row, in their order.
            order = np.lexsort((first, keys // n))
            rank = np.arange(len(keys)) - np.searchsorted(keys[order] // n, keys[order] // n)
            keys = np.sort(keys[order[rank < count]])
            left, right = np.divmod(keys, n)
            values = compared(compare, X, left, right)
            insert_neighbors(left, right, self.sign * values, *lists)
            done = distinct(np.append(done, keys))

        first = math.ceil(_FROM_PROFILES * wanted)
        if self.shortlist is not None:
            found = _best_by(self.shortlist, X, self.objects, min(n, wanted + len(self.landmarks)), None)
        else:
            found = Profiles(self.columns).nearest(columns, min(n, first + len(self.landmarks)))
        if wanted:
            ask(found, first)
            followed = np.maximum(lists[0][:, :_FOLLOWED], 0)
            ask(self.nearest[followed, : 2 * _FOLLOWED + wanted // _FOLLOWED].reshape(m, -1), wanted - first)
        return lists[0], lists[1]
