"""Similarities of strings: edit distances, common subsequences, sound and compression."""

from __future__ import annotations

import bz2
import lzma
import zlib
from functools import partial
from typing import Any, Literal

import numpy as np

from similitude._utils.checks import check_choice
from similitude._utils.extras import require
from similitude._utils.types import ListLike
from similitude.similarities.registry import BatchDistance, Measure, register


def as_strings(X: Any, name: str) -> list[str]:
    """Return a sequence of strings as a list, or raise an error that names the first object that is not a string."""
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise ValueError(f"{name} must be a sequence of strings; got {type(X).__name__}.")
    items = X.tolist() if hasattr(X, "tolist") else list(X)
    for i, item in enumerate(items):
        if not isinstance(item, str):
            raise ValueError(f"{name}[{i}] must be a string; got {type(item).__name__} {item!r:.60}.")
    return items


def string_pair(A: Any, B: Any) -> tuple[list[str], list[str]]:
    """Return both batches as lists, the same list twice if B is A, which halves the work of a symmetric measure."""
    left = as_strings(A, "A")
    return left, left if B is A else as_strings(B, "B")


class _RapidFuzz(BatchDistance):
    """A scorer of rapidfuzz on two batches of strings."""

    _scorer: str

    def __init__(self, normalized: bool = False, workers: int = 1):
        self.normalized = normalized
        self.workers = workers

    @property
    def to_similarity(self) -> str:
        """The map to similarities that fits the values: "one-minus" if they are normalised, and so at most 1."""
        return "one-minus" if self.normalized else "max-minus"

    @property
    def metric(self) -> bool:
        """Whether this is a metric: division by a length breaks the triangle inequality."""
        return not self.normalized

    @property
    def range(self) -> str:
        """A description of the values."""
        return "0 to 1" if self.normalized else "integers from 0"

    def _options(self) -> dict[str, Any]:
        return {}

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix between two sequences of strings."""
        A, B = string_pair(A, B)
        scorer = getattr(require("rapidfuzz.distance", "strings"), self._scorer)
        kind = "similarity" if self.orientation == "similarity" else "distance"
        return require("rapidfuzz.process", "strings").cdist(
            A,
            B,
            scorer=getattr(scorer, f"normalized_{kind}" if self.normalized else kind),
            scorer_kwargs=self._options(),
            dtype=np.float64,  # exact for every length; narrow integers would overflow
            workers=self.workers,
        )


class Levenshtein(_RapidFuzz):
    """Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.

    ``d(x, z) = D(|x|, |z|)`` with ``D(i, j) = min(D(i-1, j) + 1, D(i, j-1) + 1, D(i-1, j-1) + [x_i != z_j])`` and
    ``D(i, 0) = i``, ``D(0, j) = j``. The normalised distance is divided by ``max(|x|, |z|)`` and is not a metric.

    Parameters
    ----------
    normalized : bool, default=False
        Whether the distance is normalised.
    workers : int, default=1
        The number of threads that rapidfuzz uses.

    See Also
    --------
    DamerauLevenshtein : Edit distance that also counts the exchange of two adjacent letters as one step (unrestricted).
    Indel : The fewest insertions and deletions that turn one string into the other.
    JaroWinkler
        Jaro-Winkler similarity: the share of common letters at similar positions, with a bonus for a common
        beginning.

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

    It is the fewest insertions, deletions, substitutions and adjacent exchanges that turn one string into the other.
    Exchanged letters may be edited again, so it is a metric ("ca" and "abc" are 2 apart, but 3 in the restricted
    version). The normalised distance is divided by ``max(|x|, |z|)`` and is not a metric.

    Parameters
    ----------
    normalized : bool, default=False
        Whether the distance is normalised.
    workers : int, default=1
        The number of threads that rapidfuzz uses.

    See Also
    --------
    Levenshtein : Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.
    Indel : The fewest insertions and deletions that turn one string into the other.

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

    ``d(x, z) = |x| + |z| - 2 LCS(x, z)``. The normalised distance is divided by ``|x| + |z|`` and is not a metric.

    Parameters
    ----------
    normalized : bool, default=False
        Whether the distance is normalised.
    workers : int, default=1
        The number of threads that rapidfuzz uses.

    See Also
    --------
    Levenshtein : Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.
    LCS : Length of the longest common subsequence.

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

    ``s(x, z) = L(|x|, |z|)``, ``L(i, j) = L(i-1, j-1) + 1`` if ``x_i = z_j``, else ``max(L(i-1, j), L(i, j-1))``;
    the letters need not be adjacent. The normalised similarity is divided by ``max(|x|, |z|)``; it is 1 for two empty
    strings.

    Parameters
    ----------
    normalized : bool, default=False
        Whether the similarity is normalised.
    workers : int, default=1
        The number of threads that rapidfuzz uses.

    See Also
    --------
    Indel : The fewest insertions and deletions that turn one string into the other.
    Levenshtein : Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.

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
    orientation = "similarity"
    metric = False


class JaroWinkler(_RapidFuzz):
    """Jaro-Winkler similarity: the share of common letters at similar positions, with a bonus for a common beginning.

    ``jaro = (c/|x| + c/|z| + (c - t)/c) / 3`` with c letters in common no further apart than
    ``max(|x|, |z|) // 2 - 1`` and t half the number of those out of order. If jaro exceeds 0.7, the similarity is
    ``jaro + l p (1 - jaro)``, where l is the length of the common prefix, at most 4.

    Parameters
    ----------
    prefix_weight : float, default=0.1
        The weight p of the common prefix, between 0 (plain Jaro) and 0.25.
    workers : int, default=1
        The number of threads that rapidfuzz uses.

    See Also
    --------
    Levenshtein : Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.
    DamerauLevenshtein : Edit distance that also counts the exchange of two adjacent letters as one step (unrestricted).

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
    orientation = "similarity"
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


class Metaphone(BatchDistance):
    """Phonetic distance: the normalised edit distance between the Metaphone codes of two strings.

    ``d(x, z) = D(c(x), c(z)) / max(|c(x)|, |c(z)|)``, where D is the Levenshtein distance, and the code c keeps the
    consonants as they sound in English: Smith and Smythe have the same one, SM0. A string without a code, as one in
    another script than Latin, is its own code.

    See Also
    --------
    Levenshtein : Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.
    JaroWinkler
        Jaro-Winkler similarity: the share of common letters at similar positions, with a bonus for a common
        beginning.

    References
    ----------
    L. Philips (1990), "Hanging on the Metaphone", Computer Language 7 (12).

    Examples
    --------
    >>> from similitude.similarities.strings import Metaphone
    >>> Metaphone()(["Smith"], ["Smythe", "Schmidt", "Jones"]).round(2)
    array([[0. , 0.6, 1. ]])
    """

    to_similarity = "one-minus"

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the matrix of distances from each string of A to each of B."""
        left, right = string_pair(A, B)
        code = require("jellyfish", "strings").metaphone
        codes = [code(text) or text.casefold() for text in left]
        others = codes if right is left else [code(text) or text.casefold() for text in right]
        return Levenshtein(normalized=True)(codes, others)


_COMPRESSORS = {
    "zlib": lambda text, level: zlib.compress(text, level),
    "bz2": lambda text, level: bz2.compress(text, max(level, 1)),
    # The raw format is used, because the container of .xz files is longer than a short string.
    "lzma": lambda text, level: lzma.compress(
        text, format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": level}]
    ),
}


class Compression(BatchDistance):
    """Normalised compression distance: how much of one string a compressor can predict from the other.

    ``d(x, z) = (C(xz) - min(C(x), C(z))) / max(C(x), C(z))``, where C is the compressed length in bytes of the text in
    UTF-8. Compressors read from left to right, so d(x, z) differs slightly from d(z, x), and d(x, x) is slightly above
    zero; neither is corrected. C(x) is computed once for each string.

    Parameters
    ----------
    compressor : {"zlib", "bz2", "lzma"}, default="zlib"
        The compressor. zlib considers the last 32 kB only, so use lzma for longer strings.
    level : int from 0 to 9, default=6
        The compression level. At level 0 zlib does not compress, and the distance is of no use.

    See Also
    --------
    Levenshtein : Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.
    TfidfCosine : Cosine of documents, represented as vectors of term frequency times inverse document frequency.

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

    def __init__(self, compressor: Literal["zlib", "bz2", "lzma"] = "zlib", level: int = 6):
        self.compressor = compressor
        self.level = level

    def __call__(self, A: ListLike, B: ListLike) -> np.ndarray:
        """Return the matrix of distances from each string of A to each of B."""
        check_choice(self.compressor, "compressor", sorted(_COMPRESSORS))
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


_strings = partial(Measure, objects="strings", batch=True, threads=True)
_rapidfuzz = partial(_strings, symmetric=True, library="rapidfuzz")
_edit_distance = partial(_rapidfuzz, orientation="dissimilarity", metric=True, range="integers from 0")

register(_edit_distance(Levenshtein(), name="levenshtein", reference="Levenshtein 1966"))
register(_edit_distance(DamerauLevenshtein(), name="damerau", reference="Damerau 1964; Lowrance & Wagner 1975"))
register(_edit_distance(Indel(), name="indel", reference="Needleman & Wunsch 1970"))
register(_rapidfuzz(LCS(), name="lcs", range="integers from 0", reference="Hirschberg 1977"))
_normalized = partial(_rapidfuzz, orientation="dissimilarity", to_similarity="one-minus", range="0 to 1")
register(_normalized(Levenshtein(True), name="levenshtein-normalized", reference="Levenshtein 1966"))
register(_normalized(DamerauLevenshtein(True), name="damerau-normalized", reference="Damerau 1964"))
register(_normalized(Indel(True), name="indel-normalized", reference="Needleman & Wunsch 1970"))
register(_rapidfuzz(LCS(True), name="lcs-normalized", range="0 to 1", reference="Hirschberg 1977"))
register(_normalized(Metaphone(), name="metaphone", library="jellyfish", reference="Philips 1990"))
register(_rapidfuzz(JaroWinkler(), name="jaro-winkler", range="0 to 1", reference="Winkler 1990"))
register(
    _strings(
        Compression(),
        name="compression",
        orientation="dissimilarity",
        to_similarity="one-minus",
        range="a little above 0 to a little above 1",
        library="Python",
        reference="Cilibrasi & Vitanyi 2005",
    )
)
