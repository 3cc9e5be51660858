"""Distances and similarities of histograms and of point sets.

A point set is an array (n_points, n_dimensions). A weighted point set, which some measures accept, is a pair
(points, weights). Different sets may have different numbers of points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from similitude._utils.checks import check_integer, check_positive
from similitude._utils.extras import require
from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchDistance, BatchSimilarity, Measure, register
from similitude.similarities.vectors import as_distributions, as_real, as_vector_pair


def as_point_sets(X: Any, name: str, n_dimensions: int | None = None) -> list[np.ndarray]:
    """Return point sets as 2-d arrays of floats, all with points of the same dimension."""
    sets = []
    for i, points in enumerate(X):
        try:
            array = as_real(points)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}[{i}] must be an array of points (n_points, n_dimensions), real numbers; got {points!r}."
            ) from None
        if array.ndim != 2 or 0 in array.shape:
            raise ValueError(
                f"{name}[{i}] must be an array of points (n_points, n_dimensions); got shape {array.shape}."
            )
        if not np.isfinite(array).all():
            place = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
            raise ValueError(f"{name}[{i}] has {array[place]} at {place}; every coordinate must be a finite number.")
        n_dimensions = array.shape[1] if n_dimensions is None else n_dimensions
        if array.shape[1] != n_dimensions:
            raise ValueError(f"{name}[{i}] has points of {array.shape[1]} dimensions; the others have {n_dimensions}.")
        sets.append(array)
    return sets


class EMD(BatchDistance):
    """Earth mover's distance: the least work that turns one distribution into another.

    ``d(p, q) = min_F sum_ij F_ij g_ij`` over flows ``F >= 0`` with row sums p and column sums q, where g_ij is the
    ground distance from the i-th place of p to the j-th of q. Masses are scaled to sum to one (Wasserstein-1).

    Objects are histograms (rows of non-negative numbers over the same bins), point sets (arrays of points, each with
    the same mass), or weighted point sets (pairs of points and weights). The problem is solved by the network simplex
    method of POT (extra ``transport``). For histograms on a line it is solved by cumulative sums, without POT.

    Parameters
    ----------
    ground : str or array-like of shape (n_bins, n_bins), default="euclidean"
        The ground distance. Between points it is a name that SciPy's ``cdist`` accepts. Between the bins of histograms
        it is a matrix; any name means bins at 0, 1, 2, ... on a line, ``g_ij = |i - j|``.
    max_iterations : int, default=100_000
        The largest number of iterations of the network simplex method; POT warns if they were too few.

    See Also
    --------
    RelativeEntropy : Relative entropy (Kullback-Leibler divergence) of two distributions, which is asymmetric.
    PyramidMatch : Pyramid match kernel: how many points of two sets match, in grids from fine to coarse.

    References
    ----------
    Rubner, Tomasi & Guibas 2000, "The earth mover's distance as a metric for image retrieval", IJCV 40.
    Flamary et al. 2021, "POT: Python Optimal Transport", JMLR 22.

    Examples
    --------
    >>> from similitude.similarities.distributions import EMD
    >>> EMD()([[1, 0, 0]], [[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    array([[0. , 1. , 1.5]])
    """

    def __init__(self, ground: str | ArrayLike = "euclidean", max_iterations: int = 100_000):
        self.ground = ground
        self.max_iterations = max_iterations

    @property
    def symmetric(self) -> bool:
        """Whether the ground distance is symmetric."""
        if isinstance(self.ground, str):
            return True
        ground = self._ground_matrix()
        return ground.ndim == 2 and np.array_equal(ground, ground.T)

    @property
    def metric(self) -> bool:
        """Whether the ground distance is known to be a metric."""
        return isinstance(self.ground, str) and self.ground in ("euclidean", "cityblock", "chebyshev")

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the distances of the distributions in A to those in B."""
        half = B is A and self.symmetric
        if not _is_histograms(A):
            return self._between_point_sets(_weighted(A, "A"), _weighted(B, "B"), half)
        A, B = as_vector_pair(A, B)
        P, Q = as_distributions(A, "A"), as_distributions(B, "B")
        if isinstance(self.ground, str):
            return cdist(np.cumsum(P, axis=1), np.cumsum(Q, axis=1), "cityblock")
        ground = np.ascontiguousarray(self._ground_matrix())
        if ground.shape != (P.shape[1],) * 2 or not np.isfinite(ground).all() or (ground < 0).any():
            raise ValueError(
                f"ground must be a matrix of non-negative numbers, one row and column for each of the "
                f"{P.shape[1]} bins; got shape {ground.shape}."
            )
        return _fill(P, Q, half, lambda p, q: self._solve(p, q, ground))

    def _ground_matrix(self) -> np.ndarray:
        try:
            return as_real(self.ground)
        except (TypeError, ValueError):
            raise ValueError(
                f"ground must be a name, or a matrix of non-negative real numbers; got {self.ground!r}."
            ) from None

    def _between_point_sets(self, A: list[tuple], B: list[tuple], half: bool) -> np.ndarray:
        if not isinstance(self.ground, str):
            raise ValueError("ground must be the name of a distance between points; a matrix is for histograms.")
        if A[0][0].shape[1] != B[0][0].shape[1]:
            raise ValueError(f"B[0] has points of {B[0][0].shape[1]} dimensions; those of A have {A[0][0].shape[1]}.")
        return _fill(A, B, half, lambda a, b: self._solve(a[1], b[1], cdist(a[0], b[0], self.ground)))

    def _solve(self, p: np.ndarray, q: np.ndarray, ground: np.ndarray) -> float:
        return float(require("ot", "transport").emd2(p, q, ground, numItermax=self.max_iterations))


def _fill(A: Any, B: Any, half: bool, distance: Callable[[Any, Any], float]) -> np.ndarray:
    """Return the matrix of distances; with ``half`` A and B are the same, and the upper half is mirrored."""
    values = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        for j in range(i if half else 0, len(B)):
            values[i, j] = distance(a, B[j])
            if half:
                values[j, i] = values[i, j]
    return values


def _is_histograms(X: Any) -> bool:
    """Return whether the first object is a row of numbers rather than points."""
    if hasattr(X, "iloc"):
        return True
    return len(X) > 0 and not _is_pair(X[0]) and np.ndim(X[0]) < 2


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2 and np.ndim(entry[0]) == 2 and np.ndim(entry[1]) == 1


def _weighted(X: Any, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each object as points and their masses, which sum to one."""
    points = as_point_sets([entry[0] if _is_pair(entry) else entry for entry in X], name)
    objects = []
    for i, (entry, array) in enumerate(zip(X, points)):
        try:
            weights = as_real(entry[1]) if _is_pair(entry) else np.ones(len(array))
        except (TypeError, ValueError):
            raise ValueError(f"{name}[{i}] must have real numbers as weights; got {entry[1]!r}.") from None
        if weights.shape != (len(array),) or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
            raise ValueError(
                f"{name}[{i}] must have one non-negative weight for each of its {len(array)} points, not all zero; "
                f"got {weights!r}."
            )
        objects.append((array, weights / weights.sum()))
    return objects


class PyramidMatch(BatchSimilarity):
    """Pyramid match kernel: how many points of two sets match, in grids from fine to coarse.

    ``K(X, Z) = sum_l 2^-l (I_l - I_{l-1})``, where ``I_l = sum_cells min(count of X, count of Z)`` on the grid of level
    l, whose cells are ``2^l`` times as wide as the finest, and ``I_{-1} = 0``: a match counts once, at the finest level
    at which it occurs. The kernel is normalised, ``K(X, Z) / sqrt(K(X, X) K(Z, Z))`` with ``K(X, X) = |X|``, and it is
    positive semidefinite.

    The grid is learned from the training sets, so that new sets are placed on the same grid: the origin is the lowest
    corner of all points, and the coarsest cell covers them all.

    Parameters
    ----------
    n_levels : int, default=10
        The number of grids.
    finest : float, default=None
        The width of the finest cells; None means the extent of the training points divided by 2^(n_levels - 1).

    Attributes
    ----------
    origin_ : ndarray of shape (n_dimensions,)
        The lowest corner of the training points.
    finest_ : float
        The width of the finest cells.

    See Also
    --------
    EMD : Earth mover's distance: the least work that turns one distribution into another.
    Hausdorff : Hausdorff distance of two point sets.

    References
    ----------
    Grauman & Darrell 2005, "The pyramid match kernel: discriminative classification with sets of image features", ICCV.
    Grauman & Darrell 2007, "The pyramid match kernel: efficient learning with sets of features", JMLR 8, whose sum
    begins with the matches of the finest level.

    Examples
    --------
    >>> from similitude.similarities.distributions import PyramidMatch
    >>> sets = [[[0.0], [7.0]], [[0.2], [7.0]], [[3.5], [4.0]]]
    >>> PyramidMatch(n_levels=4, finest=1.0).fit(sets)(sets, sets)
    array([[1.  , 1.  , 0.25],
           [1.  , 1.  , 0.25],
           [0.25, 0.25, 1.  ]])
    """

    def __init__(self, n_levels: int = 10, finest: float | None = None):
        self.n_levels = n_levels
        self.finest = finest

    def fit(self, X: ListLike, y: ListLike | None = None) -> Self:
        """Determine the grid from the training sets.

        Parameters
        ----------
        X : sequence of point sets
            The training sets.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        PyramidMatch
            The fitted object.
        """
        check_integer(self.n_levels, "n_levels", 1)
        if self.finest is not None:
            check_positive(self.finest, "finest")
        points = np.concatenate(as_point_sets(X, "X"))
        self.origin_ = points.min(axis=0)
        # Slightly wider than the extent, because the coarsest cell is half open and must contain the far corner.
        extent = float((points - self.origin_).max()) * (1 + 1e-9)
        self.finest_ = float(self.finest or extent / 2 ** (self.n_levels - 1) or 1.0)
        return self

    def _occupied(self, sets: list[np.ndarray], level: int, known: dict[bytes, int]) -> sparse.csr_array:
        """Return the (cell, number) pairs of each set, for numbers up to the cell's count.

        The minimum of two counts is then an inner product.
        """
        width = self.finest_ * 2.0**level
        codes: list[int] = []
        ends = [0]
        for points in sets:
            counts: dict[bytes, int] = {}
            for cell in np.floor((points - self.origin_) / width).astype(np.int64):
                key = cell.tobytes()
                counts[key] = counts.get(key, 0) + 1
                codes.append(known.setdefault(key + counts[key].to_bytes(8, "little"), len(known)))
            ends.append(len(codes))
        return sparse.csr_array((np.ones(len(codes)), codes, ends), shape=(len(sets), max(codes, default=0) + 1))

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the similarities of the sets in A to those in B."""
        check_is_fitted(self, "finest_")
        left = as_point_sets(A, "A", len(self.origin_))
        right = left if B is A else as_point_sets(B, "B", len(self.origin_))
        total = np.zeros((len(left), len(right)))
        finer = np.zeros_like(total)
        for level in range(self.n_levels):
            known: dict[bytes, int] = {}
            rows = [self._occupied(sets, level, known) for sets in (left, right)]
            for occupied in rows:
                occupied.resize(occupied.shape[0], len(known))
            matches = (rows[0] @ rows[1].T).toarray()
            total += (matches - finer) / 2.0**level
            finer = matches
        sizes = [np.array([len(points) for points in sets], dtype=float) for sets in (left, right)]
        return total / np.sqrt(sizes[0][:, None] * sizes[1][None, :])


class Hausdorff(BatchDistance):
    """Hausdorff distance of two point sets.

    ``d(X, Z) = max(h(X, Z), h(Z, X))`` with ``h(X, Z) = max_{x in X} min_{z in Z} g(x, z)``, the largest distance of a
    point of one set to the other set.

    Parameters
    ----------
    directed : bool, default=False
        Whether only ``h(X, Z)`` is computed, from the sets of A to those of B, which is asymmetric.
    ground : str, default="euclidean"
        The distance g between points, a name that SciPy's ``cdist`` accepts.

    See Also
    --------
    EMD : Earth mover's distance: the least work that turns one distribution into another.
    PyramidMatch : Pyramid match kernel: how many points of two sets match, in grids from fine to coarse.

    References
    ----------
    Huttenlocher, Klanderman & Rucklidge 1993, "Comparing images using the Hausdorff distance", IEEE PAMI 15.

    Examples
    --------
    >>> from similitude.similarities.distributions import Hausdorff
    >>> Hausdorff()([[[0.0], [1.0]]], [[[0.0]], [[0.0], [5.0]]])
    array([[1., 4.]])
    """

    def __init__(self, directed: bool = False, ground: str = "euclidean"):
        self.directed = directed
        self.ground = ground

    @property
    def symmetric(self) -> bool:
        """Whether both directions are used."""
        return not self.directed

    @property
    def metric(self) -> bool:
        """Whether this is a metric on finite sets."""
        return not self.directed and self.ground in ("euclidean", "cityblock", "chebyshev")

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the distances of the sets in A to those in B."""
        left = as_point_sets(A, "A")
        right = left if B is A else as_point_sets(B, "B", left[0].shape[1] if left else None)
        points = np.concatenate(right)
        starts = np.cumsum([0] + [len(z) for z in right[:-1]])
        values = np.empty((len(left), len(right)))
        for i, x in enumerate(left):
            ground = cdist(x, points, self.ground)
            values[i] = np.minimum.reduceat(ground, starts, axis=1).max(axis=0)
            if not self.directed:
                values[i] = np.maximum(values[i], np.maximum.reduceat(ground.min(axis=0), starts))
        return values


_point_sets = partial(Measure, objects="point sets", batch=True, symmetric=True)
_distances = partial(_point_sets, orientation="dissimilarity", metric=True, range="0 or more")

register(
    _distances(
        EMD(), name="emd", objects="histograms or (weighted) point sets", library="POT", reference="Rubner et al. 2000"
    )
)
register(
    _point_sets(PyramidMatch(), name="pyramid-match", learns=True, range="0 to 1", reference="Grauman & Darrell 2005")
)
register(_distances(Hausdorff(), name="hausdorff", threads=True, library="scipy", reference="Huttenlocher et al. 1993"))
