"""Similarities and distances of feature vectors.

Distances are summed coordinate by coordinate (by SciPy's ``cdist``), not computed from inner products. Therefore equal
rows are at distance exactly zero, and equal pairs have equal values to the last bit, so that ties between neighbours
remain ties.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import rel_entr

from similitude._utils.checks import check_share
from similitude._utils.docs import shared_docs
from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchDistance, Measure, batch, register

OBJECTS = "feature vectors"


def as_real(values: Any) -> np.ndarray:
    """Return an array of floats, or raise a TypeError for complex numbers, whose imaginary parts NumPy would drop."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError("the numbers are complex")
    return array.astype(np.float64, copy=False)


def as_vectors(X: Any, name: str) -> np.ndarray:
    """Return rows of finite numbers as a 2-d array of floats, or raise an error that names the first wrong row."""
    if sparse.issparse(X):
        raise ValueError(f"{name} is a sparse matrix; feature vectors must be dense: pass {name}.toarray().")
    rows = X.to_numpy() if hasattr(X, "iloc") else X
    try:
        table = as_real(rows)
    except (TypeError, ValueError):
        raise ValueError(_first_bad_row(rows, name)) from None
    if table.ndim != 2:
        found = f"{name}[0] is {rows[0]!r}" if table.ndim == 1 and len(table) else f"got {table.ndim} dimension(s)"
        raise ValueError(f"{name} must be rows of numbers, all of one length; {found}.")
    if not np.isfinite(table).all():
        i, j = map(int, np.argwhere(~np.isfinite(table))[0])
        raise ValueError(f"{name}[{i}] has {table[i, j]} in column {j}; every entry must be a finite number.")
    return table


def _first_bad_row(rows: Any, name: str) -> str:
    length = None
    for i, row in enumerate(rows):
        try:
            vector = as_real(row)
        except (TypeError, ValueError):
            return f"{name}[{i}] must be a row of real numbers; got {row!r}."
        if vector.ndim != 1 or len(vector) != (length := len(vector) if length is None else length):
            return f"{name}[{i}] must be a row of numbers as long as {name}[0]; got shape {vector.shape}."
    return f"{name} must be rows of numbers, all of one length."


def as_vector_pair(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both batches as arrays with the same number of columns."""
    left = as_vectors(A, "A")
    right = left if B is A else as_vectors(B, "B")
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"A and B must have rows of one length; A[0] has {left.shape[1]}, B[0] {right.shape[1]}.")
    return left, right


def as_distributions(X: np.ndarray, name: str) -> np.ndarray:
    """Return rows of non-negative numbers, scaled to sum to one."""
    if (X < 0).any():
        i, j = map(int, np.argwhere(X < 0)[0])
        raise ValueError(f"{name}[{i}] has {X[i, j]:.6g} in column {j}; a distribution must be non-negative.")
    totals = X.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        raise ValueError(f"{name}[{int(np.argmin(totals))}] is all zero; a distribution needs a positive entry.")
    return X / totals


@batch
@shared_docs
def euclidean(A: ArrayLike, B: ArrayLike) -> np.ndarray:
    """Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.

    {vectors}

    See Also
    --------
    manhattan : Return the Manhattan (l1, city block) distances ``sum_f |x_f - z_f|``.
    chebyshev : Return the Chebyshev (l-infinity) distances ``max_f |x_f - z_f|``.
    RBF : Gaussian radial basis function of the Euclidean distance, ``exp(-gamma |x - z|^2)``.

    Examples
    --------
    >>> from similitude.similarities.vectors import euclidean
    >>> euclidean([[0, 0], [3, 4]], [[0, 0]])
    array([[0.],
           [5.]])
    """
    return cdist(*as_vector_pair(A, B), "euclidean")


@batch
@shared_docs
def manhattan(A: ArrayLike, B: ArrayLike) -> np.ndarray:
    """Return the Manhattan (l1, city block) distances ``sum_f |x_f - z_f|``.

    {vectors}

    See Also
    --------
    euclidean : Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.
    chebyshev : Return the Chebyshev (l-infinity) distances ``max_f |x_f - z_f|``.

    Examples
    --------
    >>> from similitude.similarities.vectors import manhattan
    >>> manhattan([[0, 0], [3, 4]], [[0, 0]])
    array([[0.],
           [7.]])
    """
    return cdist(*as_vector_pair(A, B), "cityblock")


@batch
@shared_docs
def chebyshev(A: ArrayLike, B: ArrayLike) -> np.ndarray:
    """Return the Chebyshev (l-infinity) distances ``max_f |x_f - z_f|``.

    {vectors}

    See Also
    --------
    euclidean : Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.
    manhattan : Return the Manhattan (l1, city block) distances ``sum_f |x_f - z_f|``.

    Examples
    --------
    >>> from similitude.similarities.vectors import chebyshev
    >>> chebyshev([[0, 0], [3, 4]], [[0, 0]])
    array([[0.],
           [4.]])
    """
    return cdist(*as_vector_pair(A, B), "chebyshev")


@batch
@shared_docs
def cosine(A: ArrayLike, B: ArrayLike) -> np.ndarray:
    """Return the cosines of the angles between vectors, ``x'z / (|x| |z|)``, a similarity.

    They are computed as ``1 - |x/|x| - z/|z||^2 / 2``, so that equal directions give 1 up to rounding and equal rows
    give exactly 1.

    {vectors}
        They are 0 if one of the vectors is zero.

    See Also
    --------
    correlation : Return Pearson's correlations of vectors, the cosines of the centred vectors, a similarity.
    TfidfCosine : Cosine of documents, represented as vectors of term frequency times inverse document frequency.

    Examples
    --------
    >>> from similitude.similarities.vectors import cosine
    >>> cosine([[2.0, 0.0]], [[1.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, 0.0]])
    array([[ 1.,  0., -1.,  0.]])
    """
    A, B = as_vector_pair(A, B)
    return _cosine_of_directions(_directions(A), _directions(B))


@batch
@shared_docs
def correlation(A: ArrayLike, B: ArrayLike) -> np.ndarray:
    """Return Pearson's correlations of vectors, the cosines of the centred vectors, a similarity.

    {vectors}
        They are 0 if one of the vectors is constant.

    See Also
    --------
    cosine : Return the cosines of the angles between vectors, ``x'z / (|x| |z|)``, a similarity.

    Examples
    --------
    >>> from similitude.similarities.vectors import correlation
    >>> correlation([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    array([[ 1., -1.,  0.]])
    """
    A, B = as_vector_pair(A, B)
    return _cosine_of_directions(*(_directions(X - X.mean(axis=1, keepdims=True), X) for X in (A, B)))


def _directions(X: np.ndarray, original: np.ndarray | None = None) -> np.ndarray:
    """Return the rows scaled to length one; rows that are zero, or zero up to rounding, remain zero.

    They are divided by their largest entry first, so that squares do not overflow.
    """
    largest = np.abs(X).max(axis=1, keepdims=True, initial=0.0)
    floor = 0.0 if original is None else 1e-13 * np.abs(original).max(axis=1, keepdims=True, initial=0.0)
    X = np.where(largest > floor, X, 0.0) / np.where(largest > floor, largest, 1.0)
    lengths = np.sqrt((X**2).sum(axis=1, keepdims=True))
    return X / np.where(lengths > 0, lengths, 1.0)


def _cosine_of_directions(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    values = np.clip(1.0 - cdist(A, B, "sqeuclidean") / 2.0, -1.0, 1.0)
    values[~A.any(axis=1)] = 0.0
    values[:, ~B.any(axis=1)] = 0.0
    return values


class RelativeEntropy(BatchDistance):
    """Relative entropy (Kullback-Leibler divergence) of two distributions, which is asymmetric.

    ``d(p, q) = sum_f p_f log(p_f / q_f)``, in nats. Rows are scaled to sum to one and then mixed with the uniform
    distribution, ``p <- (1 - smoothing) p + smoothing / n_columns`` (Jelinek-Mercer smoothing), so that d is finite
    where q has an empty cell. The rows of A are p, those of B are q.

    Parameters
    ----------
    smoothing : float, default=1e-6
        The share of the uniform distribution, from 0 to 1. At 0, an empty cell of q where p is not empty raises an
        error.

    See Also
    --------
    EMD : Earth mover's distance: the least work that turns one distribution into another.

    References
    ----------
    Kullback & Leibler 1951, "On information and sufficiency", Annals of Mathematical Statistics 22.

    Examples
    --------
    >>> from similitude.similarities.vectors import RelativeEntropy
    >>> RelativeEntropy()([[1, 1]], [[1, 1], [3, 1]]).round(4)
    array([[0.    , 0.1438]])
    """

    def __init__(self, smoothing: float = 1e-6):
        self.smoothing = smoothing

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the divergences of the rows of A from those of B."""
        check_share(self.smoothing, "smoothing")
        A, B = as_vector_pair(A, B)
        P, Q = (
            (1 - self.smoothing) * as_distributions(X, name) + self.smoothing / X.shape[1]
            for X, name in ((A, "A"), (B, "B"))
        )
        # Computed row by row, so that the terms need only as much memory as B and equal pairs are summed alike.
        values = np.array([rel_entr(p, Q).sum(axis=1) for p in P]).reshape(len(P), len(Q))
        if not np.isfinite(values).all():
            i, j = map(int, np.argwhere(~np.isfinite(values))[0])
            raise ValueError(f"B[{j}] is zero in a column where A[{i}] is not: d is infinite; set smoothing above 0.")
        return np.maximum(values, 0.0)


class DeltaE94(BatchDistance):
    """Colour difference CIE 1994 of two colours in L*a*b*, which is asymmetric: A holds the reference colours.

    ``d^2 = (dL / kL)^2 + (dC / (kC (1 + k1 C1)))^2 + (dH / (kH (1 + k2 C1)))^2``, where C is the chroma
    ``sqrt(a^2 + b^2)``, C1 that of the reference, and ``dH^2 = da^2 + db^2 - dC^2``.

    Parameters
    ----------
    kH, kC, kL : float, default=1
        The weights of hue, chroma and lightness; kL = 2 for textiles.
    k1, k2 : float, default=0.045, 0.015
        How the tolerance grows with the chroma; 0.048 and 0.014 for textiles.

    See Also
    --------
    euclidean : Return the Euclidean distances ``sqrt(sum_f (x_f - z_f)^2)``.

    References
    ----------
    CIE 116-1995, "Industrial colour-difference evaluation". The values equal those of scikit-image's
    ``deltaE_ciede94``.

    Examples
    --------
    >>> from similitude.similarities.vectors import DeltaE94
    >>> DeltaE94()([[50, 20, 0], [50, 0, 0]], [[50, 20, 0], [50, 0, 0]]).round(3)
    array([[ 0.   , 10.526],
           [20.   ,  0.   ]])
    """

    def __init__(self, kH: float = 1.0, kC: float = 1.0, kL: float = 1.0, k1: float = 0.045, k2: float = 0.015):
        self.kH = kH
        self.kC = kC
        self.kL = kL
        self.k1 = k1
        self.k2 = k2

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the differences of the colours in B from the references in A."""
        A, B = as_vector_pair(A, B)
        if A.shape[1] != 3:
            raise ValueError(f"A[0] must be a colour (L, a, b); got {A.shape[1]} numbers.")
        (L1, a1, b1), (L2, a2, b2) = (A.T[:, :, None], B.T[:, None, :])
        C1, C2 = np.hypot(a1, b1), np.hypot(a2, b2)
        # dH^2 / 2 = C1 C2 - inner. Where that cancels, it is computed as cross^2 / (C1 C2 + inner), which is exactly 0
        # for equal hues.
        inner, cross = a1 * a2 + b1 * b2, a1 * b2 - b1 * a2
        total = C1 * C2 + inner
        half = np.where(inner > 0, cross**2 / np.where(total > 0, total, 1.0), C1 * C2 - inner)
        squares = ((L1 - L2) / self.kL) ** 2 + ((C1 - C2) / (self.kC * (1 + self.k1 * C1))) ** 2
        squares += 2.0 * np.maximum(half, 0.0) / (self.kH * (1 + self.k2 * C1)) ** 2
        return np.sqrt(squares)


_vectors = partial(Measure, objects=OBJECTS, batch=True, symmetric=True, threads=True, library="scipy")
_distances = partial(_vectors, orientation="dissimilarity", metric=True, range="0 or more")
_asymmetric = partial(Measure, orientation="dissimilarity", batch=True, threads=True)

register(_distances(euclidean, name="euclidean"))
register(_distances(manhattan, name="manhattan"))
register(_distances(chebyshev, name="chebyshev"))
register(_vectors(cosine, name="cosine", range="-1 to 1"))
register(_vectors(correlation, name="correlation", range="-1 to 1"))
register(
    _asymmetric(
        RelativeEntropy(),
        name="relative-entropy",
        objects="distributions (rows of non-negative numbers)",
        range="0 to log(number of columns / smoothing)",
        library="scipy",
        reference="Kullback & Leibler 1951",
    )
)
register(
    _asymmetric(DeltaE94(), name="delta-e94", objects="colours (L, a, b)", range="0 or more", reference="CIE 116-1995")
)
