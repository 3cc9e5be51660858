"""Similarities of strings: edit distances, common subsequences, compression."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from similitude._utils.extras import require
from similitude.similarities.registry import Measure, register


def as_strings(X: Any, name: str) -> list[str]:
    """Return a sequence of strings as a list; what is not a string is an error that says where it stands."""
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise ValueError(f"{name} must be a sequence of strings; got {type(X).__name__}.")
    items = X.tolist() if hasattr(X, "tolist") else list(X)
    for i, item in enumerate(items):
        if not isinstance(item, str):
            raise ValueError(f"{name}[{i}] must be a string; got {type(item).__name__} {item!r:.60}.")
    return items


def string_pair(A: Any, B: Any) -> tuple[list[str], list[str]]:
    """Both batches as lists: one and the same list where B is A, which halves the work of a symmetric measure."""
    left = as_strings(A, "A")
    return left, left if B is A else as_strings(B, "B")


class _RapidFuzz(BaseEstimator):
    """A scorer of rapidfuzz on two batches."""

    _scorer: str
    _kind = "distance"

    def __init__(self, normalized: bool = False, workers: int = 1):
        self.normalized = normalized
        self.workers = workers

    @property
    def to_similarity(self) -> str:
        """The map that fits the values: their largest is 1 where they are normalised."""
        return "one-minus" if self.normalized else "max-minus"

    @property
    def metric(self) -> bool:
        """Dividing by a length breaks the triangle inequality."""
        return not self.normalized

    @property
    def range(self) -> str:
        """The values, in words."""
        return "0 to 1" if self.normalized else "integers from 0"

    def _options(self) -> dict[str, Any]:
        return {}

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix between two sequences of strings."""
        A, B = string_pair(A, B)
        scorer = getattr(require("rapidfuzz.distance", "strings"), self._scorer)
        return require("rapidfuzz.process", "strings").cdist(
            A,
            B,
            scorer=getattr(scorer, f"normalized_{self._kind}" if self.normalized else self._kind),
            scorer_kwargs=self._options(),
            dtype=np.float64,  # exact for every length; narrower integers would wrap around
            workers=self.workers,
        )


class Levenshtein(_RapidFuzz):
    """Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.

    ``d(x, z) = D(|x|, |z|)`` with ``D(i, j) = min(D(i-1, j) + 1, D(i, j-1) + 1, D(i-1, j-1) + [x_i != z_j])`` and
    ``D(i, 0) = i``, ``D(0, j) = j``; normalised, it is divided by ``max(|x|, |z|)`` and no longer a metric.

    Parameters
    ----------
    normalized : bool, default=False
    workers : int, default=1
        Threads of rapidfuzz itself.

    References
    ----------
    V. I. Levenshtein (1966), "Binary codes capable of correcting deletions, insertions, and reversals".

    Examples
    --------
    >>> from similitude.similarities.strings import Levenshtein
    >>> Levenshtein()(["kitten"], ["sitting", "kitten", ""])
    array([[3., 0., 6.]])
    """

    _scorer = "Levenshtein"


class DamerauLevenshtein(_RapidFuzz):
    """Edit distance that also counts the exchange of two adjacent letters as one step (unrestricted).

    The fewest insertions, deletions, substitutions and adjacent exchanges; what was exchanged may be edited again, so
    that it is a metric ("ca" and "abc" are 2 apart, 3 in the restricted version). Normalised, it is divided by
    ``max(|x|, |z|)`` and no longer a metric.

    Parameters
    ----------
    normalized : bool, default=False
    workers : int, default=1
        Threads of rapidfuzz itself.

    References
    ----------
    F. J. Damerau (1964), "A technique for computer detection and correction of spelling errors"; R. Lowrance and
    R. A. Wagner (1975), "An extension of the string-to-string correction problem".

    Examples
    --------
    >>> from similitude.similarities.strings import DamerauLevenshtein
    >>> DamerauLevenshtein()(["ca"], ["ac", "abc"])
    array([[1., 2.]])
    """

    _scorer = "DamerauLevenshtein"


class Indel(_RapidFuzz):
    """The fewest insertions and deletions that turn one string into the other.

    ``d(x, z) = |x| + |z| - 2 LCS(x, z)``; normalised, it is divided by ``|x| + |z|`` and no longer a metric.

    Parameters
    ----------
    normalized : bool, default=False
    workers : int, default=1
        Threads of rapidfuzz itself.

    References
    ----------
    S. B. Needleman and C. D. Wunsch (1970), "A general method applicable to the search for similarities in the amino
    acid sequence of two proteins".

    Examples
    --------
    >>> from similitude.similarities.strings import Indel
    >>> Indel()(["abcd"], ["axcd", "abcd"])
    array([[2., 0.]])
    """

    _scorer = "Indel"


class LCS(_RapidFuzz):
    """Length of the longest common subsequence.

    ``s(x, z) = L(|x|, |z|)``, ``L(i, j) = L(i-1, j-1) + 1`` where ``x_i = z_j``, else ``max(L(i-1, j), L(i, j-1))``;
    the letters need not be adjacent. Normalised, it is divided by ``max(|x|, |z|)``; two empty strings have 1.

    Parameters
    ----------
    normalized : bool, default=False
    workers : int, default=1
        Threads of rapidfuzz itself.

    References
    ----------
    D. S. Hirschberg (1977), "Algorithms for the longest common subsequence problem".

    Examples
    --------
    >>> from similitude.similarities.strings import LCS
    >>> LCS()(["ABCBDAB"], ["BDCABA", ""])
    array([[4., 0.]])
    """

    _scorer = "LCSseq"
    _kind = "similarity"
    metric = False


class JaroWinkler(_RapidFuzz):
    """Jaro-Winkler similarity: shared letters near the same place, with a bonus for a shared beginning.

    ``jaro = (c/|x| + c/|z| + (c - t)/c) / 3`` with c letters in common no further apart than
    ``max(|x|, |z|) // 2 - 1`` and t half the number of those out of order; where jaro exceeds 0.7, the similarity is
    ``jaro + l p (1 - jaro)``, l the length of the common prefix, at most 4.

    Parameters
    ----------
    prefix_weight : float, default=0.1
        p, between 0 (plain Jaro) and 0.25.
    workers : int, default=1
        Threads of rapidfuzz itself.

    References
    ----------
    W. E. Winkler (1990), "String comparator metrics and enhanced decision rules in the Fellegi-Sunter model of record
    linkage".

    Examples
    --------
    >>> from similitude.similarities.strings import JaroWinkler
    >>> JaroWinkler()(["martha"], ["marhta", "xyz"]).round(4)
    array([[0.9611, 0.    ]])
    """

    _scorer = "JaroWinkler"
    _kind = "similarity"
    normalized = False
    metric = False
    range = "0 to 1"

    def __init__(self, prefix_weight: float = 0.1, workers: int = 1):
        self.prefix_weight = prefix_weight
        self.workers = workers

    def _options(self) -> dict[str, Any]:
        if not 0 <= self.prefix_weight <= 0.25:
            raise ValueError(f"prefix_weight must lie between 0 and 0.25; got {self.prefix_weight!r}.")
        return {"prefix_weight": self.prefix_weight}


_COMPRESSORS = {
    "zlib": lambda text, level: zlib.compress(text, level),
    "bz2": lambda text, level: bz2.compress(text, max(level, 1)),
    # Raw: the container of .xz files is longer than a short string.
    "lzma": lambda text, level: lzma.compress(
        text, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": level}]
    ),
}


class Compression(BaseEstimator):
    """Normalised compression distance: how much of one string a compressor can predict from the other.

    ``d(x, z) = (C(xz) - min(C(x), C(z))) / max(C(x), C(z))``, C the compressed length in bytes of the text in UTF-8.
    Real compressors read from left to right: d(x, z) differs a little from d(z, x), d(x, x) is not quite zero, and
    both are left as they are. C(x) is computed once for each string.

    Parameters
    ----------
    compressor : {"zlib", "bz2", "lzma"}, default="zlib"
        zlib looks back 32 kB: for longer strings, lzma.
    level : int from 0 to 9, default=6
        0 stores in zlib, which tells nothing apart.

    References
    ----------
    M. Li, X. Chen, X. Li, B. Ma and P. Vitanyi (2004), "The similarity metric"; R. Cilibrasi and P. Vitanyi (2005),
    "Clustering by compression", equation 2.

    Examples
    --------
    >>> from similitude.similarities.strings import Compression
    >>> x, z = "the quick brown fox " * 20, "0123456789" * 40
    >>> D = Compression()([x], [x, z])
    >>> bool(D[0, 0] < D[0, 1])
    True
    """

    def __init__(self, compressor: str = "zlib", level: int = 6):
        self.compressor = compressor
        self.level = level

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix of distances from each string of A to each of B."""
        if self.compressor not in _COMPRESSORS:
            raise ValueError(f"compressor must be one of {sorted(_COMPRESSORS)}; got {self.compressor!r}.")
        if not isinstance(self.level, (int, np.integer)) or not 0 <= self.level <= 9:
            raise ValueError(f"level must be an integer from 0 to 9; got {self.level!r}.")
        left, right = string_pair(A, B)
        encoded = {text: text.encode("utf-8", "surrogatepass") for text in (*left, *right)}
        alone = {text: self._length(code) for text, code in encoded.items()}
        C_left, C_right = (np.array([alone[text] for text in side], dtype=float) for side in (left, right))
        joint = np.array([[self._length(encoded[x] + encoded[z]) for z in right] for x in left], dtype=float)
        joint = joint.reshape(len(left), len(right))
        return (joint - np.minimum.outer(C_left, C_right)) / np.maximum.outer(C_left, C_right)

    def _length(self, text: bytes) -> int:
        return len(_COMPRESSORS[self.compressor](text, self.level))


register(
    Measure(
        Levenshtein(),
        name="levenshtein",
        objects="strings",
        orientation="dissimilarity",
        to_similarity="max-minus",
        batch=True,
        symmetric=True,
        metric=True,
        threads=True,
        range="integers from 0",
        library="rapidfuzz",
        reference="Levenshtein 1966",
    )
)
register(
    Measure(
        DamerauLevenshtein(),
        name="damerau",
        objects="strings",
        orientation="dissimilarity",
        to_similarity="max-minus",
        batch=True,
        symmetric=True,
        metric=True,
        threads=True,
        range="integers from 0",
        library="rapidfuzz",
        reference="Damerau 1964; Lowrance & Wagner 1975",
    )
)
register(
    Measure(
        Indel(),
        name="indel",
        objects="strings",
        orientation="dissimilarity",
        to_similarity="max-minus",
        batch=True,
        symmetric=True,
        metric=True,
        threads=True,
        range="integers from 0",
        library="rapidfuzz",
        reference="Needleman & Wunsch 1970",
    )
)
register(
    Measure(
        LCS(),
        name="lcs",
        objects="strings",
        batch=True,
        symmetric=True,
        threads=True,
        range="integers from 0",
        library="rapidfuzz",
        reference="Hirschberg 1977",
    )
)
register(
    Measure(
        JaroWinkler(),
        name="jaro-winkler",
        objects="strings",
        batch=True,
        symmetric=True,
        threads=True,
        range="0 to 1",
        library="rapidfuzz",
        reference="Winkler 1990",
    )
)
register(
    Measure(
        Compression(),
        name="compression",
        objects="strings",
        orientation="dissimilarity",
        to_similarity="one-minus",
        batch=True,
        threads=True,
        range="a little above 0 to a little above 1",
        library="Python",
        reference="Cilibrasi & Vitanyi 2005",
    )
)
