"""Similarities of biological sequences by local and global alignment.

Scores are computed by parasail, which processes several cells at once. Compared with Biopython's aligner, with the same
scores, it was 5 times as fast on sequences of 57 letters and 30 times as fast on sequences of 300 letters.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from similitude._utils.checks import check_choice
from similitude._utils.extras import require
from similitude.similarities.registry import Measure, register
from similitude.similarities.strings import string_pair

KARLIN_ALTSCHUL = {
    ("BLOSUM62", 11, 1): (0.267, 0.041),
    ((2, -3), 5, 2): (0.625, 0.41),
}
"""The constants (lambda, K) of gapped local alignments by scores, gap opening and extension, from NCBI BLAST."""


@lru_cache(maxsize=32)
def _scores(matrix: str | None, match: int, mismatch: int) -> tuple[Any, frozenset[str], int]:
    """Return parasail's substitution scores, the letters they cover, and the largest absolute score."""
    parasail = require("parasail", "bio")
    if matrix is None:
        scores = parasail.matrix_create(ascii_uppercase, match, mismatch)
        return scores, frozenset(ascii_uppercase), max(abs(match), abs(mismatch))
    known = sorted(n.upper() for n in dir(parasail) if isinstance(getattr(parasail, n), parasail.Matrix))
    if matrix.upper() not in known:
        raise ValueError(f"matrix must be None or one of {known}; got {matrix!r}.")
    scores = getattr(parasail, matrix.lower())
    wildcard = scores.size - 1
    letters = frozenset(c for c in ascii_uppercase if 0 <= scores.mapper[ord(c)] < wildcard)
    return scores, letters, int(max(abs(scores.max), abs(scores.min)))


class _Alignment(BaseEstimator):
    """The base of local and global alignment: scores, gaps, and the loop over pairs."""

    _method: str
    _outputs: tuple[str, ...] = ("score", "normalized")

    def __init__(
        self,
        matrix: str | None = None,
        match: int = 2,
        mismatch: int = -3,
        gap_open: int | None = None,
        gap_extend: int | None = None,
        output: Literal["score", "normalized"] = "score",
    ):
        self.matrix = matrix
        self.match = match
        self.mismatch = mismatch
        self.gap_open = gap_open
        self.gap_extend = gap_extend
        self.output: str = output

    def _gaps(self) -> tuple[int, int]:
        usual = (5, 2) if self.matrix is None else (11, 1)
        given = (self.gap_open, self.gap_extend)
        return tuple(u if g is None else g for g, u in zip(given, usual))  # type: ignore[return-value]

    def _check_parameters(self) -> None:
        check_choice(self.output, "output", list(self._outputs))
        gap_open, gap_extend = self._gaps()
        for name, value in (("gap_open", gap_open), ("gap_extend", gap_extend)):
            if not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(f"{name} must be an integer from 0 (a cost); got {value!r}.")
        for name in ("match", "mismatch"):
            if not isinstance(getattr(self, name), (int, np.integer)):
                raise ValueError(f"{name} must be an integer; got {getattr(self, name)!r}.")
        if self.match <= 0 or self.mismatch >= self.match:
            raise ValueError(f"match must be positive and above mismatch; got {self.match!r} and {self.mismatch!r}.")
        if self.matrix is not None and not isinstance(self.matrix, str):
            raise ValueError(f"matrix must be None or a name; got {type(self.matrix).__name__}.")

    def _empty(self, length: int) -> float:
        """Return the score of a sequence of this length with an empty one, where nothing is aligned."""
        return 0.0

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        """Return the matrix between two collections of sequences."""
        self._check_parameters()
        left, right = string_pair(A, B)
        scores, letters, largest = _scores(self.matrix, int(self.match), int(self.mismatch))
        same = right is left
        left = _capitals(left, letters, "A", self.matrix)
        right = left if same else _capitals(right, letters, "B", self.matrix)
        score = self._aligner(scores, largest, max(map(len, [*left, *right, ""])))
        S = np.empty((len(left), len(right)))
        for i, x in enumerate(left):
            with_x, first = score(x), i if same else 0
            S[i, first:] = [with_x(z) for z in right[first:]]
            if same:
                S[i:, i] = S[i, i:]
        return self._finish(S, score, left, right)

    def _aligner(self, scores: Any, largest: int, longest: int) -> Callable[[str], Callable[[str], float]]:
        """Return a function x -> (z -> score), with the work on x done once."""
        parasail = require("parasail", "bio")
        gap_open, gap_extend = map(int, self._gaps())
        bound = 2 * longest * max(largest, gap_extend) + 2 * gap_open
        # The functions that widen automatically are not used, because they return 0 for scores that exceed 16 bits.
        width = 16 if bound < 2**15 else 32 if bound < 2**31 else 64
        profile = getattr(parasail, f"profile_create_{width}")
        # The striped functions are the fastest, but they are wrong for some pairs if opening a gap has no extra cost.
        layout = "striped" if gap_open > 0 else "scan"
        align = getattr(parasail, f"{self._method}_{layout}_profile_{width}")

        def against(x: str) -> Callable[[str], float]:
            if not x:
                return lambda z: self._empty(len(z))
            prepared = profile(x, scores)
            return lambda z: align(prepared, z, gap_open + gap_extend, gap_extend).score if z else self._empty(len(x))

        return against

    def _finish(self, S: np.ndarray, score: Callable, left: list[str], right: list[str]) -> np.ndarray:
        """Return the scores in the form that ``output`` names."""
        if self.output != "normalized":
            return S
        own = [np.array([score(x)(x) for x in side], dtype=float) for side in (left, right)]
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.sqrt(np.multiply.outer(*(np.maximum(s, 0) for s in own)))
            return np.where(scale > 0, S / scale, 0.0)


def _capitals(sequences: list[str], letters: frozenset[str], name: str, matrix: str | None) -> list[str]:
    # Only ASCII letters have one capital each; "ß" would become two letters.
    upper = [x.upper() if x.isascii() else x for x in sequences]
    for i, x in enumerate(upper):
        unknown = set(x) - letters
        if unknown:
            where = "the letters A to Z" if matrix is None else f"the letters of {matrix}, {''.join(sorted(letters))}"
            raise ValueError(f"{name}[{i}] must consist of {where}; got {sorted(unknown)[0]!r}.")
    return upper


class SmithWaterman(_Alignment):
    """Local alignment: the best score of any two stretches of the sequences (affine gaps).

    ``s(x, z) = max sum of scores(x_i, z_j) - sum over gaps of (open + k extend)`` over all stretches and alignments,
    where k is the length of the gap; it is at least 0. ``"normalized"`` is ``s(x, z) / sqrt(s(x, x) s(z, z))``, and 0
    if a sequence has no positive score with itself. ``"evalue"`` is ``K |x| |z| exp(-lambda s(x, z))``, the expected
    number of equally good alignments by chance: a dissimilarity, which is not defined for empty sequences.

    Parameters
    ----------
    matrix : str, default=None
        The name of the substitution scores for proteins ("BLOSUM62", "PAM250", "DNAFULL", ...). None means ``match``
        and ``mismatch``, for DNA. Lower and upper case are not distinguished.
    match, mismatch : int, default=2, -3
        The scores of equal and of different letters, if ``matrix`` is None.
    gap_open, gap_extend : int, default=None
        A gap of k letters costs ``gap_open + k gap_extend``. None means 5 and 2 without a matrix, 11 and 1 with one.
    output : {"score", "normalized", "evalue"}, default="score"
        The form of the values.
    lambda_, K : float, default=None
        The constants of the E-value. None means those of NCBI BLAST for the scores above: 0.625 and 0.41 for match 2,
        mismatch -3 and gaps 5, 2; 0.267 and 0.041 for BLOSUM62 and gaps 11, 1. They must be given for other scores.

    See Also
    --------
    NeedlemanWunsch : Global alignment: the best score of the two sequences from end to end (affine gaps).

    References
    ----------
    T. F. Smith and M. S. Waterman (1981), "Identification of common molecular subsequences"; O. Gotoh (1982), "An
    improved algorithm for matching biological sequences"; S. Karlin and S. F. Altschul (1990), "Methods for assessing
    the statistical significance of molecular sequence features by using general scoring schemes"; J. Daily (2016),
    "Parasail: SIMD C library for global, semi-global, and local pairwise sequence alignments".

    Examples
    --------
    >>> from similitude.similarities.sequences import SmithWaterman
    >>> SmithWaterman()(["tactagcaatacgc", "acgt"], ["TACTAGC", "ttgcgttc"])
    array([[14.,  4.],
           [ 4.,  6.]])
    >>> SmithWaterman(matrix="BLOSUM62", output="normalized")(["HEAGAWGHEE"], ["PAWHEAE", "HEAGAWGHEE"]).round(3)
    array([[0.325, 1.   ]])
    """

    _method = "sw"
    _outputs = (*_Alignment._outputs, "evalue")

    def __init__(
        self,
        matrix: str | None = None,
        match: int = 2,
        mismatch: int = -3,
        gap_open: int | None = None,
        gap_extend: int | None = None,
        output: Literal["score", "normalized", "evalue"] = "score",
        lambda_: float | None = None,
        K: float | None = None,
    ):
        super().__init__(matrix, match, mismatch, gap_open, gap_extend)
        self.output = output
        self.lambda_ = lambda_
        self.K = K

    @property
    def orientation(self) -> str:
        """ "dissimilarity" for E-values, otherwise "similarity"."""
        return "dissimilarity" if self.output == "evalue" else "similarity"

    @property
    def to_similarity(self) -> str:
        """The map to similarities: "log" for E-values, which span many orders of magnitude."""
        return "log" if self.output == "evalue" else "max-minus"

    @property
    def range(self) -> str:
        """A description of the values."""
        return {"score": "integers from 0", "normalized": "0 to 1"}.get(self.output, "positive numbers")

    def _constants(self) -> tuple[float, float]:
        scores = (self.match, self.mismatch) if self.matrix is None else self.matrix.upper()
        usual = KARLIN_ALTSCHUL.get((scores, *self._gaps()), (None, None))
        lambda_, K = (u if given is None else given for given, u in zip((self.lambda_, self.K), usual))
        if lambda_ is None or K is None or not (lambda_ > 0 and K > 0):
            raise ValueError(
                f"lambda_ and K must be given as positive numbers for E-values with scores {scores} and gaps "
                f"{self._gaps()}; got lambda_={self.lambda_!r}, K={self.K!r}."
            )
        return lambda_, K

    def _finish(self, S: np.ndarray, score: Callable, left: list[str], right: list[str]) -> np.ndarray:
        if self.output != "evalue":
            return super()._finish(S, score, left, right)
        lambda_, K = self._constants()
        for name, side in (("A", left), ("B", right)):
            if "" in side:
                raise ValueError(f"{name}[{side.index('')}] is empty; an E-value needs at least one letter.")
        lengths = np.multiply.outer([float(len(x)) for x in left], [float(len(z)) for z in right])
        return K * lengths * np.exp(-lambda_ * S)


class NeedlemanWunsch(_Alignment):
    """Global alignment: the best score of the two sequences from end to end (affine gaps).

    ``s(x, z) = max sum of scores(x_i, z_j) - sum over gaps of (open + k extend)`` over all alignments, where k is the
    length of the gap, and gaps at the ends also count; it may be negative. ``"normalized"`` is ``s(x, z) / sqrt(s(x, x)
    s(z, z))``, and 0 if a sequence has no positive score with itself (an empty one).

    Parameters
    ----------
    matrix : str, default=None
        The name of the substitution scores for proteins ("BLOSUM62", "PAM250", "DNAFULL", ...). None means ``match``
        and ``mismatch``, for DNA. Lower and upper case are not distinguished.
    match, mismatch : int, default=2, -3
        The scores of equal and of different letters, if ``matrix`` is None.
    gap_open, gap_extend : int, default=None
        A gap of k letters costs ``gap_open + k gap_extend``. None means 5 and 2 without a matrix, 11 and 1 with one.
    output : {"score", "normalized"}, default="score"
        The form of the values.

    See Also
    --------
    SmithWaterman : Local alignment: the best score of any two stretches of the sequences (affine gaps).
    Levenshtein : Edit distance: the fewest insertions, deletions and substitutions that turn one string into the other.

    References
    ----------
    S. B. Needleman and C. D. Wunsch (1970), "A general method applicable to the search for similarities in the amino
    acid sequence of two proteins"; O. Gotoh (1982), "An improved algorithm for matching biological sequences".

    Examples
    --------
    >>> from similitude.similarities.sequences import NeedlemanWunsch
    >>> NeedlemanWunsch()(["acgt"], ["ACGT", "ACG", ""])
    array([[  8.,  -1., -13.]])
    """

    _method = "nw"

    @property
    def range(self) -> str:
        """A description of the values."""
        return "at most 1" if self.output == "normalized" else "integers"

    def _empty(self, length: int) -> float:
        gap_open, gap_extend = self._gaps()
        return -float(gap_open + length * gap_extend) if length else 0.0


_alignment = partial(Measure, objects="biological sequences", batch=True, symmetric=True, library="parasail")

register(_alignment(SmithWaterman(), name="smith-waterman", range="integers from 0", reference="Smith & Waterman 1981"))
register(_alignment(NeedlemanWunsch(), name="needleman-wunsch", range="integers", reference="Needleman & Wunsch 1970"))
