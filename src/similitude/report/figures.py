"""What the pictures of a report show, as functions of arrays.

Similarities come dense, larger meaning more alike; labels as positions among the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.diagnosis.figures import unit_scale
from similitude.numerics.eigen import ZERO_TOLERANCE, cut_zeros, eigh
from similitude.numerics.topk import top_k
from similitude.proximity.check import SYMMETRY_TOLERANCE, dense, is_symmetric
from similitude.proximity.split import cut
from similitude.proximity.symmetry import symmetrize
from similitude.theory.goodness import Goodness

N_BINS = 48
N_HUBS = 8
N_GAMMAS = 201
_TAIL = 0.001


@dataclass(frozen=True)
class Spectra:
    """Eigenvalues of the symmetric part, descending, and what becomes of each under the usual modifications."""

    before: np.ndarray
    after: dict[str, np.ndarray]


@dataclass(frozen=True)
class Separation:
    """How similar samples of a class are to one another, and to the others.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Values beyond the ends are counted in the first and the last bin.
    within, between : ndarray of shape (G, n_bins)
        Pairs of different samples.
    """

    edges: np.ndarray
    within: np.ndarray
    between: np.ndarray


@dataclass(frozen=True)
class Hubness:
    """In how many lists of nearest neighbours each sample occurs.

    Attributes
    ----------
    n_neighbors : int
    occurrences : ndarray of shape (n,)
    misleading : ndarray of shape (n,)
        In how many of them the list is that of a sample of another class.
    """

    n_neighbors: int
    occurrences: np.ndarray
    misleading: np.ndarray

    @property
    def hubs(self) -> np.ndarray:
        """The samples that occur most often, most frequent first."""
        return np.argsort(-self.occurrences, kind="stable")[:N_HUBS]


@dataclass(frozen=True)
class GoodnessCurve:
    """epsilon(gamma) with a band, and the mean margin."""

    gammas: np.ndarray
    epsilons: np.ndarray
    low: np.ndarray
    high: np.ndarray
    confidence: float
    pseudo_gamma: float
    vote_error: float


def spectra(S: np.ndarray) -> Spectra:
    """The spectrum before and after clip, flip and shift."""
    # As in the diagnosis, so that within shared_work() there is one decomposition for both.
    A, scale = unit_scale(S)
    values = eigh(A if is_symmetric(S) else symmetrize(A).S)[0]
    values = cut_zeros(values, max(ZERO_TOLERANCE, SYMMETRY_TOLERANCE[S.dtype]))[::-1] * scale
    after = {"clip": np.maximum(values, 0.0), "flip": np.abs(values), "shift": values - min(values[-1], 0.0)}
    return Spectra(values, after)


def separation(S: np.ndarray, labels: np.ndarray, n_classes: int) -> Separation:
    """Histograms of the similarities within each class and to the other classes."""
    n = len(S)
    different = ~np.eye(n, dtype=bool)
    low, high = _typical_range(S[different]) if n > 1 else (float(S.min()), float(S.max()))
    if high <= low:
        room = abs(low) or 1.0
        low, high = low - room / 2, low + room / 2
    bins = np.clip((S / (high - low) - low / (high - low)) * N_BINS, 0, N_BINS - 1).astype(np.intp)
    within, between = np.zeros((2, n_classes, N_BINS), dtype=np.int64)
    for label in range(n_classes):
        own = labels == label
        rows, others = bins[own], different[own]
        within[label] = np.bincount(rows[:, own][others[:, own]], minlength=N_BINS)
        between[label] = np.bincount(rows[:, ~own].ravel(), minlength=N_BINS)
    return Separation(np.linspace(low, high, N_BINS + 1), within, between)


def _typical_range(values: np.ndarray) -> tuple[float, float]:
    """Where all but a thousandth at either end lie; a few strays would press the rest into one bin."""
    low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
    if low == high:
        low, high = values.min(), values.max()
    return float(low), float(high)


def color_range(S: np.ndarray) -> tuple[float, float]:
    """Between which values the colours of the matrix run: the diagonal alone would often take half of them."""
    n = len(S)
    return _typical_range(S[~np.eye(n, dtype=bool)]) if n > 1 else (float(S.min()), float(S.max()))


def hubness(S: np.ndarray, labels: np.ndarray, n_neighbors: int) -> Hubness | None:
    """Occurrences among the nearest neighbours, the sample itself left out; None for a single sample."""
    n = len(S)
    k = min(n_neighbors, n - 1)
    if k < 1:
        return None
    nearest = top_k(without_self(S, np.arange(n)), k)[1]
    wrong = labels[nearest] != labels[:, None]
    return Hubness(k, np.bincount(nearest.ravel(), minlength=n), np.bincount(nearest[wrong], minlength=n))


def goodness_curve(S: np.ndarray, labels: np.ndarray, confidence: float = 0.95) -> GoodnessCurve | None:
    """The goodness of the similarity on a grid of margins; None where it is not defined."""
    counts = np.bincount(labels)
    if np.count_nonzero(counts) < 2 or counts.max() < 2:
        return None
    # Not goodness(): that would take what looks like a dissimilarity as one, and no other picture does.
    found = Goodness(S, S, labels, smaller_is_closer=False)
    gammas = np.linspace(-1.0, 1.0, N_GAMMAS)
    low, high = found.band(gammas, confidence)
    return GoodnessCurve(gammas, found.curve(gammas), low, high, confidence, found.pseudo_gamma, found.curve(0.0))


def ordered_by_class(S: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Class after class; within each the samples most similar to their class first."""
    # In unit size, lest sums overflow.
    A = unit_scale(S)[0]
    typical = np.empty(len(A))
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        block = A[np.ix_(own, own)]
        typical[own] = (block.sum(axis=1) - np.diagonal(block)) / max(len(own) - 1, 1)
    return np.lexsort((-typical, labels))


def without_self(S: Any, samples: np.ndarray) -> np.ndarray:
    """The rows of these samples, dense, each sample the least similar to itself: no neighbour of its own."""
    rows = np.array(dense(cut(S, samples, np.arange(S.shape[1]))), dtype=np.float64)
    rows[np.arange(len(rows)), samples] = np.nextafter(rows.min(initial=np.inf), -np.inf)
    return rows
