"""Deliberate degradation of similarities by coarse values and noise, to test how well a classifier copes with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from similitude._utils.checks import check_integer, check_positive
from similitude._utils.types import RandomState


def quantize(S: ArrayLike, levels: int, *, value_range: tuple[float, float] | None = None) -> np.ndarray:
    """Return (dis)similarities rounded to a few equally spaced levels of their range.

    The range [a, b] is divided into ``levels`` cells of equal width, and all values of the i-th cell (from 0) become
    ``a + i (b - a) / (levels - 1)``, so a and b are unchanged. With three levels: similar, average, dissimilar.

    Parameters
    ----------
    S : array-like
        The values.
    levels : int
        The number of levels, at least 2.
    value_range : (float, float), default=None
        The range; values outside of it are moved to its ends. None means from the smallest to the largest value of S.
        For rows of test samples pass the range of the training matrix.

    Returns
    -------
    ndarray
        The rounded values.

    See Also
    --------
    add_noise
        Return images, feature vectors or a (dis)similarity matrix with Gaussian white noise, independent in
        every entry.

    References
    ----------
    Wang et al., "Theory and algorithm for learning with dissimilarity functions", Section 4 and Figure 5 (Euclidean
    distances quantised to 3 to 15 levels).

    Examples
    --------
    >>> from similitude.similarities.noise import quantize
    >>> quantize([[0.0, 1.0, 2.5], [3.0, 5.0, 6.0]], 3)
    array([[0., 0., 3.],
           [3., 6., 6.]])
    """
    S = _finite(S, "S")
    check_integer(levels, "levels", 2)
    low, high = (S.min(), S.max()) if value_range is None else map(float, value_range)
    if not low <= high:
        raise ValueError(f"value_range must be (smallest, largest); got {value_range!r}.")
    if low == high:
        return np.full_like(S, low)
    cells = np.clip(np.floor((S - low) / (high - low) * levels), 0, levels - 1)
    # Interpolation from both ends makes the first level exactly low and the last one exactly high.
    share = cells / (levels - 1)
    return ((1 - share) * low + share * high).astype(S.dtype, copy=False)


def add_noise(
    X: ArrayLike,
    variance: float = 0.1,
    *,
    symmetric: bool = False,
    diagonal: bool = True,
    clip: tuple[float, float] | None = None,
    random_state: RandomState = None,
) -> np.ndarray:
    """Return images, feature vectors or a (dis)similarity matrix with Gaussian white noise, independent in every entry.

    Parameters
    ----------
    X : array-like
        An array of any shape: images (n, h, w), rows (n, d), a matrix (n, n).
    variance : float, default=0.1
        The variance of the noise; 0 adds nothing.
    symmetric : bool, default=False
        Whether (i, j) and (j, i) of a square matrix get the same noise, so that a symmetric matrix stays symmetric.
    diagonal : bool, default=True
        Whether noise is also added to the diagonal of a square matrix.
    clip : (float, float), default=None
        Limits of the result, such as the grey levels of the images, or (0, inf) for distances.
    random_state : int, RandomState or None, default=None
        The random state.

    Returns
    -------
    ndarray
        The noisy values.

    See Also
    --------
    quantize : Return (dis)similarities rounded to a few equally spaced levels of their range.

    References
    ----------
    Wang et al., "Theory and algorithm for learning with dissimilarity functions", Section 4 and Figure 6 (white noise
    on the images, then Euclidean distances).

    Examples
    --------
    >>> import numpy as np
    >>> from similitude.similarities.noise import add_noise
    >>> S = add_noise(np.eye(3), variance=0.01, symmetric=True, diagonal=False, random_state=0)
    >>> bool((S == S.T).all()), S.diagonal().tolist()
    (True, [1.0, 1.0, 1.0])
    """
    X = _finite(X, "X")
    check_positive(variance, "variance", zero=True)
    if (symmetric or not diagonal) and (X.ndim != 2 or X.shape[0] != X.shape[1]):
        raise ValueError(f"X must be square for symmetric=True or diagonal=False; got shape {X.shape}.")
    noise = check_random_state(random_state).normal(scale=np.sqrt(variance), size=X.shape)
    if symmetric:
        noise = np.triu(noise) + np.triu(noise, 1).T
    if not diagonal:
        np.fill_diagonal(noise, 0.0)
    noisy = X + noise.astype(X.dtype, copy=False)
    return noisy if clip is None else np.clip(noisy, *clip)


def _finite(X: Any, name: str) -> np.ndarray:
    X = np.asarray(X)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if X.size == 0:
        raise ValueError(f"{name} must not be empty; got shape {X.shape}.")
    if not np.isfinite(X).all():
        place = tuple(map(int, np.argwhere(~np.isfinite(X))[0]))
        raise ValueError(f"{name} contains {X[place]} at {place}; every entry must be finite.")
    return X
