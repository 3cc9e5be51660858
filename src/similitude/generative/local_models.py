"""The distributions that local SDA fits for each class and centroid in the neighbourhood of a sample."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._native import local_statistics, local_statistics_csr, log_average_products
from similitude._utils.threads import over_row_blocks
from similitude.finders.finder import LocalNeighbors, Neighbors, ObjectFinder, as_local, local_neighbors
from similitude.generative.max_entropy import MaximumEntropy, Pmfs, check_reach
from similitude.labels import Labels
from similitude.numerics.votes import TIE_TOLERANCE
from similitude.proximity.check import csr_arrays

_BLOCK = 2**20


class Statistics(NamedTuple):
    """The centroids and the class means in the neighbourhoods of m samples, for several sizes (the second axis).

    ``centroids`` (m, sizes, G) are positions in the list of neighbours, -1 for a class without any; ``counts`` the
    number of neighbours of each class; ``winners`` (m, sizes) the class of the most similar centroid; ``below`` and
    ``above`` (m, sizes, G, G) the mean distances, from the two ends of Omega, of psi(z, mu_h) over the neighbours z of
    class g.
    """

    centroids: np.ndarray
    counts: np.ndarray
    winners: np.ndarray
    below: np.ndarray
    above: np.ndarray

    def pairs(self) -> np.ndarray:
        """Return which (g, h) have a model, because both classes have neighbours."""
        present = self.counts > 0
        return present[..., :, None] & present[..., None, :]

    def at_centroids(self, similarities: np.ndarray) -> np.ndarray:
        """Return the similarities of the samples to the centroids, (m, sizes, G); arbitrary where there is none."""
        return np.take_along_axis(similarities[:, None, :], np.maximum(self.centroids, 0), axis=2)


class AveragePmfs(NamedTuple):
    """The models of all training samples' neighbourhoods: those of (g, h) are ``starts[g G + h]`` and following."""

    starts: np.ndarray
    pmfs: Pmfs


class Neighborhoods:
    """The neighbourhoods of samples among the training samples, and the models made in them."""

    def __init__(self, finder: Any, labels: Labels, family: MaximumEntropy):
        self.finder, self.labels, self.family = finder, labels, family

    def among_classes(self, present: np.ndarray) -> Neighborhoods:
        """Return the neighbourhoods with one class for all that are not ``present``, which have no neighbour."""
        return Neighborhoods(self.finder, self.labels.among(present), self.family)

    def nearest(self, rows: Any, sizes: Any) -> LocalNeighbors:
        """Return the neighbourhoods of the rows of several sizes."""
        return local_neighbors(self.finder, rows, sizes, self.labels.codes, self.labels.n_classes)

    def in_blocks(self, rows: Any, neighbors: LocalNeighbors, work: Callable) -> list:
        """Return the results of ``work(S, neighbors)`` for blocks of rows, in their order.

        S is a matrix with the similarities among the neighbours of the block. Blocks are so small that their models fit
        into memory.
        """
        answers = []
        for chosen in self.finder.blocks(*neighbors.indices.shape):
            S = self.among(rows, neighbors.indices[chosen])
            answers += self._in_threads(S, neighbors.part(chosen), work)
        return answers

    def _in_threads(self, S: Any, neighbors: LocalNeighbors, work: Callable) -> list:
        answers = {}

        def work_on(start: int, stop: int) -> None:
            answers[start] = work(S, neighbors.part(slice(start, stop)))

        m, k = neighbors.indices.shape
        fitting = max(1, _BLOCK // (k**2 + 8 * neighbors.sizes.shape[1] * self.labels.n_classes**2))
        over_row_blocks(work_on, m, min(fitting, max(64, -(-m // 2))))  # threads do not pay off for small blocks
        return [answers[start] for start in sorted(answers)]

    def among(self, rows: Any, indices: np.ndarray) -> Any:
        """Return a matrix with the similarities among the neighbours of each row, which Omega must include."""
        S = self.finder.among(rows, indices)
        if isinstance(self.finder, ObjectFinder):  # otherwise Omega was compared with the whole matrix
            check_reach(self.family, S.data.min(), S.data.max())
        return S

    def statistics(self, S: Any, neighbors: LocalNeighbors) -> Statistics:
        """Return centroids and class means among the neighbours of a few rows."""
        G = self.labels.n_classes
        similarities, indices, sizes, _, _ = neighbors
        shape = (*sizes.shape, G)
        found = Statistics(
            np.empty(shape, dtype=np.intp),
            np.empty(shape, dtype=np.intp),
            np.empty(shape[:2], dtype=np.intp),
            np.empty((*shape, G)),
            np.empty((*shape, G)),
        )
        family = self.family
        arguments: Any = (
            np.ascontiguousarray(indices),
            np.ascontiguousarray(similarities, dtype=np.float64),
            self.labels.codes[indices],
            np.ascontiguousarray(sizes, dtype=np.intp),
            self.labels.counts.astype(np.intp),
            math.ldexp(1.0, -family.exponent),
            TIE_TOLERANCE,
            family.low,
            family.high,
            family.span,
            family.tolerance,
            *found,
        )
        if sparse.issparse(S):
            local_statistics_csr(*csr_arrays(S), *arguments)
        else:
            local_statistics(S, *arguments)
        return found

    def log_likelihoods(self, found: Statistics, similarities: np.ndarray) -> np.ndarray:
        """Return log P(x | g) for each row, size and class, (m, sizes, G); minus infinity for an absent class."""
        pairs = found.pairs()
        logs = np.zeros(pairs.shape)
        pmfs = self.family.fit(found.below[pairs], found.above[pairs])
        ends = self.family.distances(found.at_centroids(similarities))
        places = (np.broadcast_to(a[:, :, None, :], pairs.shape)[pairs] for a in ends)
        logs[pairs] = self.family.log_pmf(pmfs, *places)
        return np.where(found.counts > 0, logs.sum(axis=3), -np.inf)

    def average_pmfs(self, rows: Any, sizes: list[int]) -> dict[int, AveragePmfs]:
        """Return the models of the neighbourhoods of the training samples, without the samples themselves, by size.

        ``rows`` are the training samples, and ``sizes`` ascend.
        """
        n, G = len(self.labels), self.labels.n_classes
        if n == 1:
            nothing = Pmfs(np.empty(0), np.empty(0), np.empty(0, dtype=bool))
            return dict.fromkeys(sizes, AveragePmfs(np.zeros(G * G + 1, dtype=np.intp), nothing))
        lengths = np.minimum(sizes, n - 1)

        def models(S: Any, neighbors: LocalNeighbors) -> tuple:
            found = self.statistics(S, neighbors)
            pairs = found.pairs() & ~neighbors.alone[:, :, None, None]
            _, size, g, h = (place.astype(np.int32) for place in np.nonzero(pairs))
            return size, g * G + h, *self.family.fit(found.below[pairs], found.above[pairs])

        classes = self.labels.codes, G
        # The samples themselves, and one more neighbour than twice the largest size, which shows whether it is tied.
        listed = self.finder.with_ties(rows, min(2 * int(lengths[-1]) + 2, n), *classes)
        others = Neighbors(*_others(listed.similarities, listed.indices), listed.beyond)
        parts = self.in_blocks(rows, as_local(others, lengths, n - 1, *classes), models)
        if isinstance(self.finder, ObjectFinder):
            self.finder.count_in_fit()
        at_size, group, *pmfs = (np.concatenate(part) for part in zip(*parts))
        averages = {}
        for i, size in enumerate(sizes):
            chosen = np.flatnonzero(at_size == i)
            chosen = chosen[np.argsort(group[chosen], kind="stable")]
            starts = np.searchsorted(group[chosen], np.arange(G * G + 1))
            averages[size] = AveragePmfs(starts, Pmfs(*(a[chosen] for a in pmfs)))
        return averages

    def average_log_likelihoods(
        self, averages: AveragePmfs, below: np.ndarray, above: np.ndarray, present: np.ndarray
    ) -> np.ndarray:
        """Return log of the product over the classes h that are present of P_ave(s_h | g), (m, G).

        The similarities s, (m, G), are given by their distances from the ends of Omega.
        """
        totals = np.zeros(below.shape)
        below, above, order, present = map(np.ascontiguousarray, (below, above, np.argsort(below, axis=0), present))
        pmfs = averages.pmfs
        log_average_products(below, above, order, present, averages.starts, *pmfs, self.family.log_uniform, totals)
        return totals

    def models_of(self, rows: Any, k: int, averages: AveragePmfs | None) -> dict[str, Any]:
        """Return the contents of an explanation for the neighbourhood of one row."""
        neighbors = self.nearest(rows, [k])
        if neighbors.alone[0, 0]:
            raise ValueError(
                "X is equally similar to all training samples, or to more than twice n_neighbors of them; its "
                "posterior is the shares of the classes among these, and there are no models to explain it."
            )
        similarities, indices = neighbors.similarities, neighbors.indices
        found = self.statistics(self.among(rows, indices), neighbors)
        counts, family, n_classes = found.counts[0, 0], self.family, self.labels.n_classes
        present = np.flatnonzero(counts)
        places = found.centroids[0, 0, present]
        ends = family.distances(similarities[0, places])
        means, logs, rates, log_z = np.full((4, n_classes, len(present)), np.nan)
        pmfs = Pmfs(rates, log_z, np.zeros(rates.shape, dtype=bool))
        below, above = (a[0, 0][np.ix_(present, present)] for a in (found.below, found.above))
        fitted = family.fit(below, above)
        for part, values in zip(pmfs, fitted):
            part[present] = values
        means[present] = family.similarities(below, above)
        logs[present] = family.log_pmf(fitted, *ends)
        smooth = None
        if averages is not None:
            # The contribution of one centroid is found by counting the others as absent.
            alone = np.eye(n_classes, dtype=bool)[present]
            below, above = (np.where(alone, a[:, None], 0.0) for a in ends)
            smooth = self.average_log_likelihoods(averages, below, above, alone).T
        return {
            "centroids": indices[0, places],
            "centroid_classes": present,
            "similarities": similarities[0, places],
            "weights": np.ones(logs.shape),
            "means": means,
            "log_likelihoods": logs,
            "average_log_likelihoods": smooth,
            "neighbors": indices[0, : neighbors.sizes[0, 0]],
            "counts": counts,
            "pmfs": pmfs,
        }


def _others(similarities: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of each sample without itself, or without the last one if it is not among them."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = len(indices), indices.shape[1] - 1
    return similarities[~own].reshape(shape), indices[~own].reshape(shape)


ENOUGH = 3
"""The number of neighbours of a class to which its distributions can be fitted (Chen et al. 2009, Section 6.1)."""


def grown_sizes(classes: np.ndarray, similarities: np.ndarray, counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return for each row and size the least larger one at which each class has no neighbour, or enough of them.

    A class has enough if :data:`ENOUGH` of its samples are neighbours, or all that there are. Neighbours that are
    equally similar are taken together.
    """
    m, K = classes.shape
    order = np.argsort(classes, axis=1, kind="stable")
    ordered = np.take_along_axis(classes, order, axis=1)
    # How many samples of the same class come before: positions in the sorted row less that of the first of its class.
    places = np.broadcast_to(np.arange(K), (m, K))
    first = np.concatenate([np.ones((m, 1), dtype=bool), ordered[:, 1:] != ordered[:, :-1]], axis=1)
    before = np.empty((m, K), dtype=np.intp)
    np.put_along_axis(before, order, places - np.maximum.accumulate(np.where(first, places, 0), axis=1), axis=1)
    needed = np.minimum(ENOUGH, counts)[classes]
    # A class that needs more than one sample is incomplete from its first neighbour to the last one that it needs.
    change = (before == 0).astype(np.intp) - (before == needed - 1)
    last = np.hstack([similarities[:, 1:] != similarities[:, :-1], np.full((m, 1), counts.sum() == K)])
    complete = np.where((np.cumsum(change, axis=1) == 0) & last, places, K)
    following = np.minimum.accumulate(complete[:, ::-1], axis=1)[:, ::-1]
    return following[:, np.asarray(sizes) - 1] + 1
