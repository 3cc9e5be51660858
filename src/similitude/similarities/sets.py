"""Similarities of sets and of binary vectors.

A set may be a Python set, a list or tuple of hashable elements (duplicates count once), a row of a 2-d array of 0/1 or
booleans, a row of a SciPy sparse matrix (the nonzero entries are the elements), or packed bits: ``bytes``, or a row of
an array of uint8 as ``np.packbits(X, axis=1)`` returns it. A string is a molecule in SMILES, and its set that of the
bits of its Morgan fingerprint; so are RDKit's molecules and bit vectors. A list of lists is a list of sets, even if its
elements are 0 and 1: vectors must be given as one array, DataFrame or sparse matrix.

All of these similarities are functions of three counts, ``|A n B|``, ``|A|`` and ``|B|``, from one sparse product.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse

from similitude._utils.types import ListLike
from similitude._utils.warn import warn
from similitude.similarities.registry import BatchSimilarity, Measure, batch, register

OBJECTS = "sets or binary vectors"


def incidence(
    A: Any, B: Any, n_columns: int | None = None, hint: str = ""
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return both batches as 0/1 sparse matrices over the same elements, with one row for each set.

    ``n_columns`` is the number of columns, if known; ``hint`` is added to the error for other numbers than 0 and 1.
    """
    from similitude.similarities.molecules import fingerprints, is_molecular  # that module imports this one

    if is_molecular(A) and is_molecular(B):
        return fingerprints(A), fingerprints(B)
    A, B = unpacked(A, B, n_columns)
    left, right = binary_rows(A, "A", hint), binary_rows(B, "B", hint)
    if (left is None) != (right is None):
        kinds = ["sets" if rows is None else "binary vectors" for rows in (left, right)]
        raise ValueError(f"A and B must hold the same kind of object; got {kinds[0]} and {kinds[1]}.")
    if left is None or right is None:
        known: dict[Any, int] = {}
        sets = [members_of(A, "A", known), members_of(B, "B", known)]
        left, right = (_rows_of(members, len(known)) for members in sets)
    if left.shape[1] != right.shape[1]:
        raise ValueError(f"A and B must have vectors of one length; got {left.shape[1]} and {right.shape[1]}.")
    return left, right


def unpacked(A: Any, B: Any, n_columns: int | None, warns: bool = True) -> tuple[Any, Any]:
    """Return both batches with packed bits as arrays of 0 and 1; anything else is returned unchanged.

    Bytes that are all 0 and 1 give the same sets packed and not packed, so the rows of a batch do not matter.
    """
    A, B = from_bytes(A, "A"), from_bytes(B, "B")
    if not all(isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == np.uint8 for X in (A, B)):
        return A, B
    if n_columns is None and max(X.max(initial=0) for X in (A, B)) > 1:
        if warns:
            warn(
                "an array of uint8 with values above 1 is read as packed bits; pass np.unpackbits(X, axis=1), or "
                "bytes, to avoid this warning. If these are counts or categories, pass them in another type.",
                UserWarning,
            )
    elif n_columns != 8 * A.shape[1]:
        return A, B
    return np.unpackbits(A, axis=1), np.unpackbits(B, axis=1)


def from_bytes(X: Any, name: str) -> Any:
    """Return bytes, one for each set, as an array of 0 and 1; anything else is returned unchanged."""
    if not isinstance(X, (list, tuple, np.ndarray)) or not len(X) or not all(isinstance(row, bytes) for row in X):
        return X
    lengths = [len(row) for row in X]
    if len(set(lengths)) > 1:
        raise ValueError(f"{name} must hold packed bits of one length; got {min(lengths)} to {max(lengths)} bytes.")
    packed = np.frombuffer(b"".join(X), dtype=np.uint8).reshape(len(X), lengths[0])
    return np.unpackbits(packed, axis=1)


def binary_rows(X: Any, name: str, hint: str = "") -> sparse.csr_array | None:
    """Return binary vectors as a sparse matrix, or None if X is a sequence of sets."""
    if isinstance(X, (list, tuple)) and X and all(sparse.issparse(row) for row in X):
        X = sparse.vstack(X)
    X = X.to_numpy() if hasattr(X, "iloc") else X
    is_mixed = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype == object  # a table of integers and booleans
    if is_mixed and all(isinstance(cell, (Number, np.bool_)) for cell in X.flat):
        X = X.astype(float)
    is_sparse = sparse.issparse(X)
    if not is_sparse and not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"):
        return None
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    wrong = np.flatnonzero(rows.data != 1)
    if wrong.size:
        i = int(np.searchsorted(rows.indptr, wrong[0], side="right")) - 1
        raise ValueError(f"{name}[{i}] must be a binary vector of 0 and 1; it has {rows.data[wrong[0]]:.6g}.{hint}")
    return rows


def members_of(X: Any, name: str, known: dict[Any, int]) -> list[list[int]]:
    """Return the codes of each set's elements; new elements are added to ``known``."""
    members = []
    for i, elements in enumerate(X):
        if not isinstance(elements, Iterable) or isinstance(elements, (str, bytes)):
            raise ValueError(f"{name}[{i}] must be a set, list or tuple of hashable elements; got {elements!r}.")
        try:
            members.append([known.setdefault(e, len(known)) for e in dict.fromkeys(elements)])
        except TypeError as error:
            raise ValueError(f"{name}[{i}] must have hashable elements: {error}.") from error
    return members


def _rows_of(members: list[list[int]], n_elements: int) -> sparse.csr_array:
    ends = np.concatenate([[0], np.cumsum([len(codes) for codes in members])]).astype(np.int64)
    codes = np.concatenate([np.asarray(codes, dtype=np.int64) for codes in members] or [np.empty(0, np.int64)])
    return sparse.csr_array((np.ones(len(codes)), codes, ends), shape=(len(members), n_elements))


def _counts(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``|A n B|``, ``|A - B|`` and ``|B - A|`` for every pair."""
    left, right = incidence(A, B)
    common = (left @ right.T).toarray()
    return common, left.sum(axis=1)[:, None] - common, right.sum(axis=1)[None, :] - common


def _share(common: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return common / total, and 1 where both are zero, because empty sets are alike."""
    return np.divide(common, total, out=np.ones_like(common), where=total > 0)


@batch
def jaccard(A: ListLike, B: ListLike) -> np.ndarray:
    """Return the Jaccard similarities ``|A n B| / |A u B|``.

    Parameters
    ----------
    A, B : sequences of sets
        Sets or binary vectors.

    Returns
    -------
    ndarray of shape (len(A), len(B))
        The similarities; 1 for two empty sets.

    See Also
    --------
    dice : Return the Dice (Sorensen) similarities ``2 |A n B| / (|A| + |B|)``.
    TverskyRatio : Tversky's ratio model on categorical rows, sets or binary vectors.

    References
    ----------
    Jaccard 1912, "The distribution of the flora in the alpine zone", New Phytologist 11.

    Examples
    --------
    >>> from similitude.similarities.sets import jaccard
    >>> jaccard([{"a", "b"}], [{"b", "c"}, {"a", "b"}, set()]).round(4)
    array([[0.3333, 1.    , 0.    ]])
    """
    common, only_a, only_b = _counts(A, B)
    return _share(common, common + only_a + only_b)


@batch
def dice(A: ListLike, B: ListLike) -> np.ndarray:
    """Return the Dice (Sorensen) similarities ``2 |A n B| / (|A| + |B|)``.

    Parameters
    ----------
    A, B : sequences of sets
        Sets or binary vectors.

    Returns
    -------
    ndarray of shape (len(A), len(B))
        The similarities; 1 for two empty sets.

    See Also
    --------
    jaccard : Return the Jaccard similarities ``|A n B| / |A u B|``.
    TverskyRatio : Tversky's ratio model on categorical rows, sets or binary vectors.

    References
    ----------
    Dice 1945, "Measures of the amount of ecologic association between species", Ecology 26.

    Examples
    --------
    >>> from similitude.similarities.sets import dice
    >>> dice([{"a", "b"}], [{"b", "c"}, {"a", "b"}, set()])
    array([[0.5, 1. , 0. ]])
    """
    common, only_a, only_b = _counts(A, B)
    return _share(2 * common, 2 * common + only_a + only_b)


class TverskyLinear(BatchSimilarity):
    """Tversky's linear contrast model on sets, with the number of elements as salience.

    ``psi(A, B) = theta |A n B| - alpha |A - B| - beta |B - A|``. It is asymmetric unless alpha = beta. It is the
    similarity of the Internet Ads data (binary features) in Cazzanti et al. 2009, who do not state their weights.

    Parameters
    ----------
    theta, alpha, beta : float, default=1, 0.5, 0.5
        The weights of the common elements, of those of A only and of those of B only.

    See Also
    --------
    TverskyContrast : Tversky's contrast model on categorical rows, sets or binary vectors.
    TverskyRatio : Tversky's ratio model on categorical rows, sets or binary vectors.

    References
    ----------
    Tversky 1977, "Features of similarity", Psychological Review 84.
    Cazzanti, Gupta & Srivastava 2009, "Fusing similarities and Euclidean features with generative classifiers".

    Examples
    --------
    >>> import numpy as np
    >>> from similitude.similarities.sets import TverskyLinear
    >>> X = np.array([[1, 1, 0], [0, 1, 1], [0, 1, 0]])
    >>> TverskyLinear(alpha=1)(X, X)
    array([[ 2. , -0.5,  0. ],
           [-0.5,  2. ,  0. ],
           [ 0.5,  0.5,  1. ]])
    """

    def __init__(self, theta: float = 1.0, alpha: float = 0.5, beta: float = 0.5):
        self.theta = theta
        self.alpha = alpha
        self.beta = beta

    @property
    def symmetric(self) -> bool:
        """Whether both directions have the same weight."""
        return self.alpha == self.beta

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the similarities of the sets in A to those in B."""
        common, only_a, only_b = _counts(A, B)
        # With alpha = beta both differences are added before they are weighted, so that the matrix is symmetric to the
        # last bit.
        if self.symmetric:
            return self.theta * common - self.alpha * (only_a + only_b)
        return self.theta * common - self.alpha * only_a - self.beta * only_b


_sets = partial(Measure, objects=OBJECTS, batch=True, symmetric=True)

register(_sets(jaccard, name="jaccard", range="0 to 1", reference="Jaccard 1912"))
register(_sets(dice, name="dice", range="0 to 1", reference="Dice 1945"))
register(
    _sets(
        TverskyLinear(),
        name="tversky-linear",
        range="minus half of both sizes together to the size",
        reference="Tversky 1977",
    )
)
