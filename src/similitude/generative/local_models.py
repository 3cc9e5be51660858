"""The models that local SDA fits: in the neighbourhood of each sample, a distribution for each class and centroid."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.threads import over_row_blocks
from similitude.generative.max_entropy import MaximumEntropy, Pmfs
from similitude.numerics.topk import top_k
from similitude.numerics.votes import TIE_TOLERANCE

_BLOCK = 2**20


class Statistics(NamedTuple):
    """What the neighbourhoods of m samples say, for each of several sizes (the second axis).

    ``centroids`` (m, sizes, G) are places in the list of neighbours, -1 for a class without any; ``counts`` how many
    there are of each class; ``winners`` (m, sizes) the class of the most similar centroid; ``below`` and ``above``
    (m, sizes, G, G) the mean distances, from the two ends of Omega, of psi(z, mu_h) over the neighbours z of class g.
    """

    centroids: np.ndarray
    counts: np.ndarray
    winners: np.ndarray
    below: np.ndarray
    above: np.ndarray

    def pairs(self) -> np.ndarray:
        """Which (g, h) have a model: both classes are there."""
        present = self.counts > 0
        return present[..., :, None] & present[..., None, :]

    def at_centroids(self, similarities: np.ndarray) -> np.ndarray:
        """The similarities of the samples to the centroids, (m, sizes, G); anything where there is none."""
        return np.take_along_axis(similarities[:, None, :], np.maximum(self.centroids, 0), axis=2)


class AveragePmfs(NamedTuple):
    """The models of all training samples' neighbourhoods: those of (g, h) are ``starts[g G + h]`` and following."""

    starts: np.ndarray
    pmfs: Pmfs


class Neighborhoods:
    """Training samples, of whose neighbourhoods models are made.

    Parameters
    ----------
    S : ndarray or CSR matrix of shape (n, n)
        The training similarities, read in place; a CSR matrix in canonical format.
    labels : ndarray of int of shape (n,)
    n_classes : int
    family : MaximumEntropy
    """

    def __init__(self, S: Any, labels: np.ndarray, n_classes: int, family: MaximumEntropy):
        self.S, self.labels, self.n_classes, self.family = S, labels, n_classes, family

    def rows_at_once(self, m: int, k: int, n_sizes: int) -> int:
        """How many of m rows fit into memory together; small jobs are not worth a thread."""
        return min(max(1, _BLOCK // (k**2 + 8 * n_sizes * self.n_classes**2)), max(64, -(-m // 2)))

    def statistics(self, similarities: np.ndarray, indices: np.ndarray, sizes: np.ndarray) -> Statistics:
        """Centroids and class means among the neighbours of a few rows; ``sizes`` ascend, each at most k."""
        from similitude.generative._local_sda import local_statistics

        G = self.n_classes
        shape = (len(indices), len(sizes), G)
        found = Statistics(
            np.empty(shape, dtype=np.intp),
            np.empty(shape, dtype=np.intp),
            np.empty(shape[:2], dtype=np.intp),
            np.empty((*shape, G)),
            np.empty((*shape, G)),
        )
        ends = np.array([self.family.low, self.family.high, self.family.span, self.family.tolerance])
        local_statistics(
            self._among(indices),
            np.ascontiguousarray(similarities, dtype=np.float64),
            self.labels[indices],
            np.asarray(sizes, dtype=np.intp),
            TIE_TOLERANCE,
            ends,
            *found,
        )
        return found

    def _among(self, indices: np.ndarray) -> np.ndarray:
        """psi(z, mu) among the neighbours of each row, (m, k, k), scaled as the family scales similarities."""
        from similitude.neighbors._centroid_kernel import gather, gather_csr

        A = np.empty((*indices.shape, indices.shape[1]))
        scale = math.ldexp(1.0, -self.family.exponent)
        together = np.zeros_like(indices), 1  # as if all were of one class: every pair is wanted
        if sparse.issparse(self.S):
            gather_csr(self.S.data, self.S.indices, self.S.indptr, indices, *together, scale, A)
        else:
            gather(self.S, indices, *together, scale, A)
        return A

    def log_likelihoods(self, found: Statistics, similarities: np.ndarray) -> np.ndarray:
        """log P(x | g) for each row, size and class, (m, sizes, G); minus infinity for a class that is not there."""
        pairs = found.pairs()
        logs = np.zeros(pairs.shape)
        pmfs = self.family.fit(found.below[pairs], found.above[pairs])
        ends = self.family.distances(found.at_centroids(similarities))
        places = (np.broadcast_to(a[:, :, None, :], pairs.shape)[pairs] for a in ends)
        logs[pairs] = self.family.log_pmf(pmfs, *places)
        return np.where(found.counts > 0, logs.sum(axis=3), -np.inf)

    def average_pmfs(self, sizes: np.ndarray) -> list[AveragePmfs]:
        """For each size, the models of the neighbourhoods that the training samples have without themselves."""
        n, G = len(self.labels), self.n_classes
        if n == 1:
            nothing = Pmfs(np.empty(0), np.empty(0), np.empty(0, dtype=bool))
            return [AveragePmfs(np.zeros(G * G + 1, dtype=np.intp), nothing)] * len(sizes)
        sizes = np.minimum(sizes, n - 1)
        similarities, indices = _others(*top_k(self.S, int(sizes[-1]) + 1))
        parts = {}

        def work(start: int, stop: int) -> None:
            found = self.statistics(similarities[start:stop], indices[start:stop], sizes)
            pairs = found.pairs()
            _, size, g, h = (place.astype(np.int32) for place in np.nonzero(pairs))
            parts[start] = size, g * G + h, *self.family.fit(found.below[pairs], found.above[pairs])

        over_row_blocks(work, n, self.rows_at_once(n, int(sizes[-1]), len(sizes)))
        at_size, group, *pmfs = (np.concatenate(part) for part in zip(*(parts[start] for start in sorted(parts))))
        averages = []
        for i in range(len(sizes)):
            chosen = np.flatnonzero(at_size == i)
            chosen = chosen[np.argsort(group[chosen], kind="stable")]
            starts = np.searchsorted(group[chosen], np.arange(G * G + 1))
            averages.append(AveragePmfs(starts, Pmfs(*(a[chosen] for a in pmfs))))
        return averages

    def average_log_likelihoods(
        self, averages: AveragePmfs, below: np.ndarray, above: np.ndarray, present: np.ndarray
    ) -> np.ndarray:
        """log of the product over the classes h present of P_ave(s_h | g), (m, G).

        The similarities s, (m, G), are given by their distances from the ends of Omega.
        """
        from similitude.generative._max_entropy import log_average_products

        totals = np.zeros(below.shape)
        below, above = np.ascontiguousarray(below), np.ascontiguousarray(above)
        order = np.argsort(below, axis=0)
        log_average_products(
            below, above, order, present, averages.starts, *averages.pmfs, self.family.log_uniform, totals
        )
        return totals

    def models_of(self, similarities: np.ndarray, indices: np.ndarray, averages: AveragePmfs | None) -> dict[str, Any]:
        """The parts of an explanation that come from the neighbourhood of one sample, two arrays of shape (1, k)."""
        found = self.statistics(similarities, indices, np.array([indices.shape[1]]))
        counts, family = found.counts[0, 0], self.family
        present = np.flatnonzero(counts)
        places = found.centroids[0, 0, present]
        ends = family.distances(similarities[0, places])
        means, logs, rates, log_z = np.full((4, self.n_classes, len(present)), np.nan)
        pmfs = Pmfs(rates, log_z, np.zeros(rates.shape, dtype=bool))
        below, above = (a[0, 0][np.ix_(present, present)] for a in (found.below, found.above))
        fitted = family.fit(below, above)
        for part, values in zip(pmfs, fitted):
            part[present] = values
        means[present] = family.similarities(below, above)
        logs[present] = family.log_pmf(fitted, *ends)
        smooth = None
        if averages is not None:
            # One centroid at a time, by counting the others as absent.
            alone = np.eye(self.n_classes, dtype=bool)[present]
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
            "neighbors": indices[0],
            "counts": counts,
            "family": family,
            "pmfs": pmfs,
        }


def _others(similarities: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each sample's list of neighbours without itself, one shorter (the last goes where it is not in the list)."""
    own = indices == np.arange(len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = len(indices), indices.shape[1] - 1
    return similarities[~own].reshape(shape), indices[~own].reshape(shape)
