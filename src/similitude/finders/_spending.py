"""How a number of evaluations is spent: landmarks, neighbours, and more neighbours of samples that are uncertain.

The similarities of a sample to the landmarks are its profile. Samples whose profiles are close are candidates for
neighbours, and so are the neighbours of neighbours. After each part of the budget, two classifiers that cost nothing
are compared on samples without themselves: a vote of the nearest known samples, and a kernel ridge regression on the
profiles. What comes next goes to the better one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from similitude._native import both_directions, insert_neighbors, propose_neighbors
from similitude._utils.threads import over_row_blocks
from similitude.finders._graph_build import most_alike, unit_rows
from similitude.numerics.distinct import distinct
from similitude.similarities.pair_store import PairStore

_KEPT, _KEPT_OF_MANY, _MANY = 128, 64, 20_000
"""The numbers of neighbours that are kept of each sample: in general, and if there are many samples."""
MOST_LANDMARKS = 512
_FIRST_LANDMARKS = 0.15
_FIRST_NEIGHBORS = 0.3
"""The shares of the budget after which the landmarks, and then the first neighbours, are known."""
_ROUNDS = (0.45, 0.6, 0.8, 1.0)
_FEWEST_LANDMARKS = 2
_LINKS = 16
_VOTERS = 5
_JUDGED = 1000
"""The number of samples on which the two classifiers are compared."""
_RIDGES = (0.01, 0.1, 1.0)


def kept_of(n: int) -> int:
    """Return the number of neighbours that are kept of each of n samples."""
    return _KEPT_OF_MANY if n > _MANY else _KEPT


class CurvePoint(NamedTuple):
    """The errors of two simple classifiers, each sample left out, after some of the evaluations."""

    n_pairs: int
    n_landmarks: int
    neighbors: float
    """The error of a vote of the five nearest known samples."""
    landmarks: float
    """The error of kernel ridge regression on the similarities to the landmarks."""
    both: float
    """The error of the mean of both."""


class Profiles:
    """The similarities of samples to the landmarks, as points: samples whose points are close may be neighbours."""

    def __init__(self, columns: np.ndarray):
        self.centre = columns.mean(axis=0)
        self.scale = float((columns - self.centre).std()) or 1.0
        points = self.points(columns)
        # The inner product of [x, -1] and [z, |z|^2 / 2] is in the order of the distances of x to all z.
        self.base = np.column_stack([points, (points**2).sum(axis=1) / 2])

    def points(self, columns: np.ndarray) -> np.ndarray:
        """Return profiles as points."""
        return ((columns - self.centre) / self.scale).astype(np.float32)

    def nearest(self, columns: np.ndarray, count: int) -> np.ndarray:
        """Return for each profile the positions of the samples with the closest ones, of shape (m, count)."""
        points = self.points(columns)
        query = np.column_stack([points, np.full(len(points), -1, dtype=np.float32)])
        return most_alike(query, self.base, min(count, len(self.base)))


class Spending:
    """Spends evaluations on the pairs of labelled objects; dissimilarities have the sign -1."""

    def __init__(
        self,
        store: PairStore,
        sign: float,
        codes: np.ndarray,
        budget: int,
        rng: np.random.RandomState,
        shortlist: np.ndarray | None = None,
    ):
        self.store, self.sign, self.codes, self.budget, self.n = store, sign, codes, budget, store.n
        self.n_classes = int(codes.max()) + 1
        self._symmetric = bool(store.measure.symmetric)
        self._order = rng.permutation(self.n)
        self._judged = np.sort(rng.permutation(self.n)[:_JUDGED])
        self._shortlist = shortlist
        self._asked = np.empty(0, dtype=np.int64)
        self.landmarks = np.empty(0, dtype=np.intp)
        self.columns = np.empty((self.n, 0))
        kept = min(kept_of(self.n), self.n - 1)
        self.nearest = np.full((self.n, kept), -1, dtype=np.int32)
        self.closeness = np.full((self.n, kept), -np.inf)
        self._fresh = np.zeros((self.n, kept), dtype=bool)
        self.spent = {"landmarks": 0, "neighbours": 0, "neighbours of the uncertain": 0}
        self.curve: list[CurvePoint] = []

    @property
    def total(self) -> int:
        """The number of evaluations so far."""
        return sum(self.spent.values())

    def run(self) -> None:
        """Spend the budget."""
        self._add_landmarks(math.ceil(_FIRST_LANDMARKS * self.budget / self.n))
        self._compare("neighbours", *self._alike(self._until(_FIRST_NEIGHBORS), np.arange(self.n)), _FIRST_NEIGHBORS)
        self._judge()
        walked = False
        for share in _ROUNDS:
            last = self.curve[-1]
            if last.landmarks < last.neighbors and len(self.landmarks) < MOST_LANDMARKS:
                self._add_landmarks(self._until(share) // self.n)
            elif not walked:
                walked = True
                self._compare("neighbours", *self._neighbors_of_neighbors(self._until(share)), share)
            else:
                some = self._uncertain()
                self._compare("neighbours of the uncertain", *self._alike(self._until(share), some), share)
            # What a round could not spend goes to candidates of all samples.
            if self._until(share) > self.n // 10:
                self._compare("neighbours", *self._alike(self._until(share), np.arange(self.n)), share)
            self._judge()

    def _until(self, share: float) -> int:
        return max(0, int(share * self.budget) - self.total)

    def _add_landmarks(self, count: int) -> None:
        """Compare all samples with further landmarks, as many as the budget allows."""
        known = len(self.landmarks)
        count = min(max(count, _FEWEST_LANDMARKS - known), MOST_LANDMARKS - known, self.n - known)
        if count <= 0:
            return
        new = self._order[known : known + count]
        rows, columns = np.tile(np.arange(self.n), count), np.repeat(new, self.n)
        if self.sign < 0:  # an object has the distance 0 to itself
            others = rows != columns
            self._evaluate("landmarks", rows[others], columns[others])
            values = np.zeros(len(rows))
            values[others] = self.store.at(self.store.keys_of(rows[others], columns[others]))
        else:
            self._evaluate("landmarks", rows, columns)
            values = self.store.at(self.store.keys_of(rows, columns))
        self.landmarks = np.append(self.landmarks, new)
        self.columns = np.column_stack([self.columns, values.reshape(count, self.n).T])

    def _compare(self, purpose: str, rows: np.ndarray, columns: np.ndarray, share: float) -> None:
        """Evaluate the first of these pairs that are new, until a share of the budget is spent."""
        others = rows != columns
        rows, columns = rows[others], columns[others]
        keys, first = np.unique(self.store.keys_of(rows, columns), return_index=True)
        new = ~_contains(self._asked, keys)
        chosen = np.sort(first[new])[: self._until(share)]
        self._evaluate(purpose, rows[chosen], columns[chosen])

    def _evaluate(self, purpose: str, rows: np.ndarray, columns: np.ndarray) -> None:
        keys = distinct(self.store.keys_of(rows, columns))
        keys = keys[~_contains(self._asked, keys)]
        if not len(keys):
            return
        closeness = self.sign * self.store.at(keys)
        self._asked = distinct(np.append(self._asked, keys))
        self.spent[purpose] += len(keys)
        left, right = np.divmod(keys, self.n)
        others = left != right
        left, right, closeness = left[others], right[others], closeness[others]
        if self._symmetric:
            left, right, closeness = np.append(left, right), np.append(right, left), np.append(closeness, closeness)
        insert_neighbors(left, right, closeness, self.nearest, self.closeness, self._fresh)

    def _alike(self, count: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of these samples with those whose profiles are close, the closest of all samples first."""
        done = int((self.spent["neighbours"] + self.spent["neighbours of the uncertain"]) * (1 + self._symmetric))
        wanted = math.ceil((done + count * (1 + self._symmetric)) / max(len(rows), 1)) + len(self.landmarks) // 4 + 8
        if self._shortlist is not None:
            found = self._shortlist[rows, :wanted]
        else:
            found = Profiles(self.columns).nearest(self.columns[rows], wanted + 1)
        return np.tile(rows, found.shape[1]), found.T.ravel()

    def _neighbors_of_neighbors(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of samples with the neighbours of their neighbours, those with the closest profiles first."""
        nearest = np.ascontiguousarray(self.nearest[:, :_LINKS])
        fresh = np.ones(nearest.shape, dtype=bool)
        links = np.full((self.n, 2 * nearest.shape[1]), -1, dtype=np.int32)
        new = np.zeros(links.shape, dtype=bool)
        both_directions(nearest, fresh, links, new)
        codes = unit_rows(self.columns - self.columns.mean(axis=0))
        wanted = math.ceil(count * (1 + self._symmetric) / self.n) + 8
        proposed = np.empty((self.n, wanted), dtype=np.int32)

        def work(start: int, stop: int) -> None:
            propose_neighbors(links, new, nearest, codes, start, proposed[start:stop])

        over_row_blocks(work, self.n, max(256, -(-self.n // 8)))
        columns = proposed.T.ravel()
        filled = columns >= 0
        return np.tile(np.arange(self.n), wanted)[filled], columns[filled].astype(np.intp)

    def _votes(self, rows: np.ndarray) -> np.ndarray:
        """Return the shares of the classes among the nearest known samples; those of all samples without any."""
        nearest = self.nearest[rows, :_VOTERS]
        votes = np.zeros((len(rows), self.n_classes))
        i, j = np.nonzero(nearest >= 0)
        np.add.at(votes, (i, self.codes[nearest[i, j]]), 1.0)
        # The class of the nearest sample wins a tie.
        some = nearest[:, 0] >= 0
        votes[some, self.codes[nearest[some, 0]]] += 0.5
        votes[~some] = np.bincount(self.codes, minlength=self.n_classes)
        return votes / votes.sum(axis=1, keepdims=True)

    def _uncertain(self) -> np.ndarray:
        """Return the half of the samples whose nearest known samples agree least, the least certain first."""
        two = np.sort(self._votes(np.arange(self.n)), axis=1)[:, -2:]
        margins = two[:, -1] - two[:, 0] if two.shape[1] > 1 else two[:, 0]
        return np.argsort(margins, kind="stable")[: max(1, self.n // 2)]

    def _judge(self) -> None:
        """Add a point to the curve."""
        rows = self._judged
        truth = self.codes[rows]
        votes, profiles = self._votes(rows), left_out_posteriors(self.columns[rows], truth, self.n_classes)
        errors = [float(np.mean(np.argmax(found, axis=1) != truth)) for found in (votes, profiles, votes + profiles)]
        self.curve.append(CurvePoint(self.total, len(self.landmarks), *errors))


def _contains(ascending: np.ndarray, keys: np.ndarray) -> np.ndarray:
    if not len(ascending):
        return np.zeros(len(keys), dtype=bool)
    return ascending[np.minimum(np.searchsorted(ascending, keys), len(ascending) - 1)] == keys


def left_out_posteriors(columns: np.ndarray, codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return posteriors of kernel ridge regression on columns, each sample left out, with the best of a few ridges."""
    Z = columns - columns.mean(axis=0)
    Z /= np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0)
    K = np.exp(-cdist(Z, Z, "sqeuclidean") / Z.shape[1])
    values, vectors = np.linalg.eigh(K)
    target = (codes[:, None] == np.arange(n_classes)).astype(float)
    mean = target.mean(axis=0)
    projected = vectors.T @ (target - mean)
    found, least = target, np.inf
    for ridge in _RIDGES:
        shrunk = values / (values + ridge)
        leverage = np.einsum("ij,j,ij->i", vectors, shrunk, vectors)
        fitted = vectors @ (shrunk[:, None] * projected)
        predicted = target - (target - mean - fitted) / np.maximum(1 - leverage, 1e-9)[:, None]
        loss = float(((predicted - target) ** 2).mean())
        if loss < least:
            found, least = predicted, loss
    found = np.clip(found, 1e-6, None)
    return found / found.sum(axis=1, keepdims=True)
