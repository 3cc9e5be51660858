"""The votes of the k nearest neighbours, for one or several points of a grid."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from similitude.finders.finder import LocalNeighbors, Neighbors, local_neighbors
from similitude.labels import Labels
from similitude.neighbors.searching import LocalPath
from similitude.neighbors.weights import LOCAL_WEIGHTS, SIMILARITY_WEIGHTS, local_weights
from similitude.numerics.class_columns import columns_of
from similitude.numerics.topk import listed_counts
from similitude.numerics.votes import (
    TIE_TOLERANCE,
    expected_costs,
    first_of_best,
    neighbor_votes,
    posterior_from_votes,
    rescaled_by_priors,
    weighting_votes,
)
from similitude.proximity.unknown import known_counts
from similitude.reader import Rows

_BLOCK_BYTES = 32 * 2**20


class Weighting(NamedTuple):
    """The parameters of the neighbours' weights other than k and reg."""

    weights: str
    spectrum: str = "none"
    consistent: bool = False
    restarts: int = 0

    @property
    def is_local(self) -> bool:
        """Whether the weights depend on the similarities among the neighbours, which must then be symmetric."""
        return self.weights in LOCAL_WEIGHTS


class KNNPoint(NamedTuple):
    """One point of a grid."""

    n_neighbors: int
    weighting: Weighting
    reg: float


class Votes(NamedTuple):
    """The votes of the neighbours of m rows at J places of a grid.

    ``indices`` and ``similarities`` (m, k) are the neighbours, of which the first ``sizes`` (m, J) vote; ``counts`` and
    ``totals`` (m, J, G) are their numbers and the sums of their weights by class.
    """

    indices: np.ndarray
    similarities: np.ndarray
    sizes: np.ndarray
    counts: np.ndarray
    totals: np.ndarray


class KNNPath(LocalPath):
    """The labels of the training samples, and the finders of neighbours among them."""

    class_ties = "nearest"  # of model files without it
    _own: np.ndarray | None = None
    """The classes of each row that are told apart, or -1; the votes for all others are added."""

    def __init__(
        self,
        points: list[KNNPoint],
        labels: Labels,
        finders: dict[bool, Any],
        largest: float | None = None,
        class_ties: str = "nearest",
    ):
        self.class_ties = class_ties
        self.points = [point._replace(n_neighbors=min(point.n_neighbors, len(labels))) for point in points]
        self.labels, self.finders, self.largest = labels, finders, largest

    def answers_among_known(self, rows: Rows, response: str) -> list[np.ndarray]:
        answers: dict[KNNPoint, np.ndarray] = {}
        for local, finder in self.finders.items():
            own = [point for point in self.points if point.weighting.is_local == local]
            if not own:
                continue
            sizes = sorted({point.n_neighbors for point in own})
            classes = self.labels.codes, self.labels.n_classes
            if local:
                found: Any = local_neighbors(finder, rows, sizes, *classes)
            else:
                found = finder.with_ties(rows, sizes[-1], *classes)
            for weighting in dict.fromkeys(point.weighting for point in own):
                same = [point for point in own if point.weighting == weighting]
                answers |= self._same_weighting(rows, found, sizes, same, response)
        return [answers[point] for point in self.points]

    def attributes(self) -> dict[str, Any]:
        return {"n_neighbors_": self.points[0].n_neighbors}

    def told_apart(self, own: np.ndarray) -> KNNPath | None:
        """Return the path with columns for some classes of each row, and a last one for all others together.

        ``predict`` then returns one of the columns but the last. It is None if costs or priors need all classes.
        """
        if self.labels.costs is not None or self.labels.priors is not None:
            return None
        found = copy.copy(self)
        found._own = own
        return found

    def at_rows(self, chosen: np.ndarray) -> Any:
        return self if self._own is None else self.told_apart(self._own[chosen])

    @property
    def _n_columns(self) -> int:
        return self.labels.n_classes if self._own is None else self._own.shape[1] + 1

    def _columns_of(self, indices: np.ndarray, part: slice) -> np.ndarray:
        """Return the columns in which training samples vote."""
        classes = self.labels.codes[indices]
        if self._own is None:
            return classes
        return columns_of(classes, self._own[part])

    def _in_columns(self, of_classes: np.ndarray, part: Any) -> np.ndarray:
        """Return values of all classes (m, G) in columns, of which the last is the sum of the other classes."""
        if self._own is None:
            return of_classes
        own = self._own[part]
        kept = np.where(own >= 0, np.take_along_axis(of_classes, np.maximum(own, 0), axis=1), 0.0)
        rest = np.maximum(of_classes.sum(axis=1, keepdims=True) - kept.sum(axis=1, keepdims=True), 0.0)
        return np.hstack([kept, rest])

    def _prior_answers(self, m: int, response: str) -> np.ndarray:
        answers = super()._prior_answers(m, response)
        if self._own is None:
            return answers
        if response == "predict":
            return np.zeros(m, dtype=np.intp)
        return self._in_columns(answers, slice(0, m))

    @property
    def finder(self) -> Any:
        """The finder of a path with one point."""
        return self.finders[self.points[0].weighting.is_local]

    def neighbor_weights(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours at the one point, and their weights, both of shape (m, k), nearest first.

        Where fewer than k similarities are known, the other neighbours are -1 and their weights 0.
        """
        k, weighting, reg = self.points[0]
        known = np.minimum(known_counts(rows.S), k) if rows.unknown else np.full(len(rows), k)
        indices, weights = np.full((len(rows), k), -1, dtype=np.intp), np.zeros((len(rows), k))
        for count in np.unique(known[known > 0]).tolist():
            chosen = np.flatnonzero(known == count)
            similarities, found = self.finder.nearest(rows.take(chosen) if rows.unknown else rows, count)
            indices[chosen, :count] = found
            for block in self._row_blocks(len(found), count, count, weighting):
                W = self._weights(rows, similarities[block], found[block], np.array([count]), [reg], weighting)
                weights[chosen[block], :count] = W[:, 0, 0]
        return indices, weights

    def _same_weighting(self, rows: Any, found: Any, sizes: list[int], points: list, response: str) -> dict:
        """Return the answers at points that differ only in k and reg; ``found`` are the neighbours for all sizes."""
        own = sorted({point.n_neighbors for point in points})
        regs = sorted({point.reg for point in points})
        weighting = points[0].weighting
        if weighting.is_local:
            found = found.at([sizes.index(k) for k in own])
        per_row = len(own) * len(regs) * (found.indices.shape[1] + 4 * self._n_columns)
        parts = []
        for part in self._row_blocks(len(found.indices), per_row, found.indices.shape[1], weighting):
            if weighting.is_local:
                cast = self._local_votes(rows, found.part(part), regs, weighting, part)
            else:
                cast = self._shared_votes(found, part, np.array(own), weighting)
            parts.append(self._decided(cast, response, part))
        answers = np.concatenate(parts)
        places = {(k, reg): i for i, (k, reg) in enumerate((k, reg) for k in own for reg in regs)}
        return {point: answers[:, places[point.n_neighbors, point.reg]] for point in points}

    def _decided(self, cast: Votes, response: str, part: slice) -> np.ndarray:
        """Return the classes, (m, J), or posteriors, (m, J, G), for all J pairs of size and reg."""
        if response == "predict_proba":
            return self._posterior(cast.totals, cast.counts)
        scores = self._scores(cast.totals, cast.counts)
        class_sizes = self.labels.counts
        if self._own is not None:
            scores[..., -1] = -np.inf
            class_sizes = np.zeros(self._n_columns, dtype=np.intp)  # larger classes come first
        if self.class_ties == "first":
            best = scores.max(axis=2, keepdims=True)
            return np.argmax(scores >= best - TIE_TOLERANCE * np.abs(best), axis=2)
        classes = self._columns_of(cast.indices, part)
        return first_of_best(scores, classes, cast.similarities, cast.counts, cast.sizes, class_sizes)

    def _shared_votes(self, found: Neighbors, part: slice, sizes: np.ndarray, weighting: Weighting) -> Votes:
        """Return the votes of neighbours whose weights depend on their similarities alone; ties share places."""
        similarities, indices = found.similarities[part], np.maximum(found.indices[part], 0)
        lists = self._columns_of(indices, part), similarities
        if self._own is not None and found.beyond_in is not None:
            beyond = found.beyond_in(part, self._own[part])
        else:
            beyond = self._in_columns(found.beyond(part), part)
        counts = neighbor_votes(*lists, np.ones(similarities.shape), beyond, sizes)
        totals = counts
        if weighting.weights != "uniform":
            weights = SIMILARITY_WEIGHTS[weighting.weights](similarities, self.largest)
            totals = neighbor_votes(*lists, weights, beyond, sizes)
            totals = np.where(totals.sum(axis=2, keepdims=True) > 0, totals, counts)
        return Votes(indices, similarities, np.broadcast_to(sizes, counts.shape[:2]), counts, totals)

    def _local_votes(
        self, rows: Rows, found: LocalNeighbors, regs: list[float], weighting: Weighting, part: slice
    ) -> Votes:
        """Return the votes of neighbours whose weights depend on the similarities among them."""
        similarities, indices, sizes, alone, shares = found
        n_classes, classes = self._n_columns, self._columns_of(indices, part)
        without, n = np.flatnonzero(alone.any(axis=1)), len(indices)
        in_columns = np.zeros((n, n_classes))
        in_columns[without] = self._in_columns(shares[without], np.arange(part.start, part.start + n)[without])
        W = self._weights(rows, similarities, indices, sizes, regs, weighting)
        taken = np.arange(indices.shape[1]) < sizes[:, :, None]
        alone = alone[:, :, None]
        counts = np.where(alone, in_columns[:, None], listed_counts(taken, classes, n_classes))
        sums = weighting_votes(classes, W.reshape(len(W), -1, W.shape[-1]), n_classes)
        sizes, counts, alone = (np.repeat(array, len(regs), axis=1) for array in (sizes, counts, alone))
        return Votes(indices, similarities, sizes, counts, np.where(alone, counts, sums))

    def _weights(
        self,
        rows: Rows,
        similarities: np.ndarray,
        indices: np.ndarray,
        sizes: np.ndarray,
        regs: list[float],
        weighting: Weighting,
    ) -> np.ndarray:
        """Return the weights, of shape (m, sizes, regs, k), of the first ``sizes`` (m, sizes) neighbours."""
        if weighting.is_local:
            S = self.finders[True].among(rows, indices)
            return local_weights(S, similarities, indices, sizes, regs, **weighting._asdict())
        weights = SIMILARITY_WEIGHTS[weighting.weights](similarities, self.largest)
        sums = weights.sum(axis=1, keepdims=True)
        weights = np.where(sums > 0, weights / np.where(sums > 0, sums, 1.0), 1.0 / indices.shape[1])
        return weights[:, None, None, :]

    def _row_blocks(self, m: int, numbers_per_row: int, k: int, weighting: Weighting) -> list[slice]:
        """Return slices of rows whose weights, and similarities among neighbours, fit into memory."""
        step = max(1, _BLOCK_BYTES // (8 * max(1, numbers_per_row)))
        if weighting.is_local:
            step = min(step, self.finders[True].blocks(m, k)[0].stop)
        return [slice(start, start + step) for start in range(0, max(m, 1), step)]

    def _posterior(self, totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
        posterior, priors = posterior_from_votes(totals, counts > 0), self.labels.priors
        return posterior if priors is None else rescaled_by_priors(posterior, priors, self.labels.shares)

    def _scores(self, totals: np.ndarray, counts: np.ndarray) -> np.ndarray:
        if self.labels.costs is None and self.labels.priors is None:
            return np.where(counts > 0, totals, -np.inf)
        posterior = self._posterior(totals, counts)
        return posterior if self.labels.costs is None else -expected_costs(posterior, self.labels.costs)
