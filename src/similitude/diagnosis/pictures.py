"""The data that pictures of a similarity matrix show, drawn by the Display classes and by the report.

Similarities are dense, and larger values mean more alike; labels are positions among the classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from similitude.diagnosis import figures
from similitude.diagnosis.figures import unit_scale
from similitude.numerics.eigen import ZERO_TOLERANCE, eigh, modified_eigenvalues
from similitude.proximity.check import SYMMETRY_TOLERANCE, is_symmetric
from similitude.theory.curves import MarginCurve

N_BINS = 48
_GAMMAS = 401
_COLOR_TAIL = 0.01
_HISTOGRAM_TAIL = 0.001


@dataclass(frozen=True)
class Spectra:
    """The eigenvalues of a matrix before and after modifications of the spectrum."""

    before: np.ndarray
    after: dict[str, np.ndarray]


def spectra(
    S: np.ndarray, methods: Iterable[str] = ("clip", "flip", "shift"), eigenvalues: np.ndarray | None = None
) -> Spectra:
    """Return the eigenvalues of ``(S + S^T)/2`` before and after modifications of the spectrum.

    Eigenvalues with ``|lambda| <= 1e-10 max|lambda|`` (1e-5 if S is of type float32) count as zero, as in
    :func:`~similitude.diagnosis.diagnose`.
    """
    if eigenvalues is None:
        A, scale = unit_scale(S)
        tolerance = max(ZERO_TOLERANCE, SYMMETRY_TOLERANCE[S.dtype])
        eigenvalues = figures.rescaled(figures.eigenvalues(A, is_symmetric(S), tolerance), scale)
    if eigenvalues is None:
        raise ValueError("S is too large: its eigenvalues overflow. Rescale it first.")
    return Spectra(eigenvalues, {method: modified_eigenvalues(eigenvalues, method) for method in methods})


@dataclass(frozen=True)
class Separation:
    """Histograms of the similarities within each class and to the other classes."""

    edges: np.ndarray
    within: np.ndarray
    between: np.ndarray


def separation(S: np.ndarray, labels: np.ndarray, n_classes: int) -> Separation:
    """Return histograms of the similarities within each class and to the other classes."""
    different = ~np.eye(len(S), dtype=bool)
    low, high = _histogram_range(S[different] if len(S) > 1 else S.ravel())
    bins = np.clip((S / (high - low) - low / (high - low)) * N_BINS, 0, N_BINS - 1).astype(np.intp)
    within, between = np.zeros((2, n_classes, N_BINS), dtype=np.int64)
    for label in range(n_classes):
        own = labels == label
        rows, others = bins[own], different[own]
        within[label] = np.bincount(rows[:, own][others[:, own]], minlength=N_BINS)
        between[label] = np.bincount(rows[:, ~own].ravel(), minlength=N_BINS)
    return Separation(np.linspace(low, high, N_BINS + 1), within, between)


def _histogram_range(values: np.ndarray) -> tuple[float, float]:
    """Return a range that leaves out a thousandth of the values at either end, so that outliers do not widen it."""
    low, high = map(float, np.quantile(values, [_HISTOGRAM_TAIL, 1 - _HISTOGRAM_TAIL]))
    if low == high:
        low, high = float(values.min()), float(values.max())
    if low == high:
        room = abs(low) or 1.0
        low, high = low - room / 2, low + room / 2
    return low, high


def hubness(S: np.ndarray, labels: np.ndarray, n_neighbors: int) -> figures.Lists | None:
    """Return how often each sample is among the nearest neighbours of others; None for a single sample."""
    k = min(n_neighbors, len(S) - 1)
    if k < 1:
        return None
    A = unit_scale(S)[0]
    return figures.shared_lists(A, k, *figures.nearest_others(A, min(k + 1, len(S) - 1)), labels)


@dataclass(frozen=True)
class GoodnessCurve:
    """The share epsilon of samples whose margin is below gamma, as a function of gamma."""

    gammas: np.ndarray
    epsilons: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    confidence: float | None
    pseudo_gamma: float | None
    vote_error: float


def goodness_curve(
    found: MarginCurve, *, confidence: float | None = 0.95, gammas: np.ndarray | None = None
) -> GoodnessCurve:
    """Return the curve that shows the goodness of a similarity."""
    if gammas is None:
        margins = found.margins[~np.isnan(found.margins)]
        gammas = np.union1d(np.linspace(min(0.0, float(margins.min())), 1.0, _GAMMAS), margins)
    low = high = None
    if confidence is not None and hasattr(found, "band"):
        low, high = found.band(gammas, confidence)
    return GoodnessCurve(
        gammas=gammas,
        epsilons=found.curve(gammas),
        low=low,
        high=high,
        confidence=None if low is None else confidence,
        pseudo_gamma=getattr(found, "pseudo_gamma", None),
        vote_error=found.curve(0.0),
    )


@dataclass(frozen=True)
class SampleMap:
    """Samples as points in the plane, and how far the plane keeps the neighbours."""

    places: np.ndarray
    neighbors: np.ndarray
    similarities: np.ndarray
    kept: float
    """The share of the nearest neighbours of a sample that are among its nearest points, on average."""


def sample_map(S: np.ndarray, n_neighbors: int = 10) -> SampleMap | None:
    """Return the samples in the plane by classical scaling of their similarities; None for fewer than three.

    The points are the two leading eigenvectors of ``J (S + S^T)/2 J``, where J subtracts the mean: with
    ``d^2_ij = s_ii + s_jj - 2 s_ij`` as squared distances, no other plane through the samples keeps more of them.
    """
    n = len(S)
    if n < 3:
        return None
    A, scale = unit_scale(S.astype(float))
    k = min(n_neighbors, n - 1)
    neighbors = figures.nearest_others(A, k)[1]
    B = (A + A.T) / 2
    B -= B.mean(axis=0)
    B -= B.mean(axis=1, keepdims=True)
    values, vectors = eigh(B)
    places = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, :-3:-1]
    # The sign of an eigenvector is arbitrary. Its entry of largest absolute value is made positive.
    largest = places[np.argmax(np.abs(places), axis=0), [0, 1]]
    places = places * np.where(largest < 0, -1.0, 1.0)
    squares = np.sum(places**2, axis=1)
    points = figures.nearest_others(2 * places @ places.T - squares[:, None] - squares, k)[1]
    kept = np.mean([len(np.intersect1d(own, near)) / k for own, near in zip(neighbors, points)])
    return SampleMap(np.sqrt(scale) * places, neighbors, S[np.arange(n)[:, None], neighbors], float(kept))


def color_range(image: np.ndarray) -> tuple[float, float]:
    """Return the similarities at the two ends of the colours of a matrix.

    The range spans the middle 98% of the off-diagonal entries; the diagonal alone would often use half of the colours.
    Zeros, which may be most entries of a sparse matrix, are not counted, but they are included in the range.
    """
    others = image[~np.eye(len(image), dtype=bool)] if len(image) > 1 else image.ravel()
    present = others[others != 0]
    low = high = 0.0
    if len(present):
        low = float(np.quantile(present, _COLOR_TAIL, method="lower"))
        high = float(np.quantile(present, 1 - _COLOR_TAIL, method="higher"))
    if len(present) < len(others):
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = min(float(image.min()), 0.0), max(float(image.max()), 0.0)
    return (low, high) if low < high else (0.0, 1.0)


def ordered_by_class(S: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the samples ordered by class; within each class, those most similar to their class come first."""
    A = unit_scale(S)[0]  # so that sums do not overflow
    typical = np.empty(len(A))
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        block = A[np.ix_(own, own)]
        typical[own] = (block.sum(axis=1) - np.diagonal(block)) / max(len(own) - 1, 1)
    return np.lexsort((-typical, labels))
