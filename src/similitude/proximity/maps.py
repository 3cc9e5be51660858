"""Maps between dissimilarities and similarities, with constants learned from the training part, and of ranges.

Every map has a name, and a formula in each direction:

================  =====================================================  ==============================================
name              to_similarity                                          to_dissimilarity
================  =====================================================  ==============================================
max-minus         c - d, c = max D                                       c - s, c = max S
one-minus         1 - d                                                  1 - s
negate            -d                                                     -s
reciprocal        1 / (1 + d)                                            1 / s - 1
exp               exp(-d / c), c = median D                              -c log s, c = 1
gauss             exp(-d^2 / (2 c^2)), c = median D                      c sqrt(-2 log s), c = 1
log               -log(1 + d)                                            exp(-s) - 1
sqrt-one-minus    1 - d^2                                                sqrt(1 - s)
sqrt-max-minus    c - d^2, c = max D^2                                   sqrt(c - s), c = max S
double-centring   -(d_ij^2 - r_i - m_j + g) / 2 (r, m, g: means of       sqrt(s_ii + s_jj - 2 s_ij)
                  squared distances over the row, the training column,
                  all training pairs)
================  =====================================================  ==============================================

Medians are taken over the pairs of different samples. A new row is mapped with the constants of the training part.

``"exp"`` and ``"gauss"`` may be followed by a factor of c: ``"gauss:0.5"`` means that c is half the median of D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from similitude._utils.warn import warn
from similitude.proximity.check import SYMMETRY_TOLERANCE, SimilarityWarning, check_similarity
from similitude.proximity.unknown import fill_needed, known_pair_values, known_values

if TYPE_CHECKING:
    from similitude._utils.types import Matrix, MatrixLike

Constants = dict[str, Any]
_BLOCK = 2**18
"""The number of entries that are mapped at once."""


def _squared_means(D: np.ndarray) -> Constants:
    squares = np.square(D, dtype=np.float64)
    means = {"column_means": squares.mean(axis=0), "row_means": squares.mean(axis=1)}
    return {**means, "mean": float(squares.mean())}


def _centre(D: np.ndarray, c: Constants) -> np.ndarray:
    squares = np.square(D, dtype=np.float64)
    return -0.5 * (squares - squares.mean(axis=1, keepdims=True) - c["column_means"] + c["mean"])


def _typical(D: np.ndarray) -> Constants:
    values = known_pair_values(D)
    given = D.data if sparse.issparse(D) else D
    return {"scale": float(np.median(values, overwrite_input=not np.may_share_memory(values, given))) or 1.0}


@dataclass(frozen=True)
class Formula:
    """The functions of one named map: how it learns its constants from the training matrix, and how it applies them."""

    apply: Callable[[np.ndarray, Constants], np.ndarray]
    learn: Callable[[np.ndarray], Constants] = field(default=lambda D: {})
    needs: str = ""
    """The condition on every entry, for the error message; "" if all finite numbers are allowed."""
    valid: Callable[[np.ndarray, Constants], Any] = field(default=lambda D, c: True)
    by_row: bool = True
    """Whether each row is mapped alone."""

    def mapped(self, values: np.ndarray, constants: Constants) -> np.ndarray:
        """Return all values mapped, without intermediate matrices as large as the whole where rows are mapped alone."""
        step = max(1, _BLOCK // max(1, values[:1].size))
        if len(values) <= step or not self.by_row:
            return self.apply(values, constants)
        first = self.apply(values[:step], constants)
        found = np.empty(values.shape, dtype=first.dtype)
        found[:step] = first
        for start in range(step, len(values), step):
            found[start : start + step] = self.apply(values[start : start + step], constants)
        return found


def _non_negative(apply: Callable, learn: Callable = lambda D: {}) -> Formula:
    """Return the formula of a map that needs entries of at least 0."""
    return Formula(apply, learn, "be non-negative", lambda D, c: D.min() >= 0)


TO_SIMILARITY: dict[str, Formula] = {
    "max-minus": Formula(lambda D, c: c["scale"] - D, lambda D: {"scale": float(known_values(D).max())}),
    "one-minus": Formula(lambda D, c: 1 - D),
    "negate": Formula(lambda D, c: -D),
    "reciprocal": _non_negative(lambda D, c: 1 / (1 + D)),
    "exp": _non_negative(lambda D, c: np.exp(-D / c["scale"]), _typical),
    "gauss": _non_negative(lambda D, c: np.exp(-0.5 * (D / c["scale"]) ** 2), _typical),
    "log": _non_negative(lambda D, c: -np.log1p(D)),
    "sqrt-one-minus": _non_negative(lambda D, c: 1 - D**2),
    "sqrt-max-minus": _non_negative(
        lambda D, c: c["scale"] - D**2, lambda D: {"scale": float((known_values(D) ** 2).max())}
    ),
    "double-centring": _non_negative(_centre, _squared_means),
}


def _induced_distance(S: np.ndarray, c: Constants) -> np.ndarray:
    self_similarity = np.diagonal(S).astype(np.float64)
    squares = self_similarity[:, None] + self_similarity[None, :] - 2 * S
    if squares.min() < -SYMMETRY_TOLERANCE[S.dtype] * np.abs(S).max():
        warn(
            f"{np.mean(squares < 0):.1%} of the squared distances s_ii + s_jj - 2 s_ij are negative (S is indefinite) "
            "and were set to zero.",
            SimilarityWarning,
        )
    return np.sqrt(np.maximum(squares, 0))


TO_DISSIMILARITY: dict[str, Formula] = {
    "max-minus": Formula(lambda S, c: c["scale"] - S, lambda S: {"scale": float(S.max())}),
    "one-minus": Formula(lambda S, c: 1 - S),
    "negate": Formula(lambda S, c: -S),
    "reciprocal": Formula(lambda S, c: 1 / S - 1, needs="be positive", valid=lambda S, c: S.min() > 0),
    "exp": Formula(
        lambda S, c: -c["scale"] * np.log(S), lambda S: {"scale": 1.0}, "be positive", lambda S, c: S.min() > 0
    ),
    "gauss": Formula(
        lambda S, c: c["scale"] * np.sqrt(-2 * np.log(S)),
        lambda S: {"scale": 1.0},
        "lie in (0, 1]",
        lambda S, c: S.min() > 0 and S.max() <= 1,
    ),
    "log": Formula(lambda S, c: np.expm1(-S), needs="be at most 0", valid=lambda S, c: S.max() <= 0),
    "sqrt-one-minus": Formula(lambda S, c: np.sqrt(1 - S), needs="be at most 1", valid=lambda S, c: S.max() <= 1),
    "sqrt-max-minus": Formula(
        lambda S, c: np.sqrt(c["scale"] - S),
        lambda S: {"scale": float(S.max())},
        "be at most `scale`",
        lambda S, c: S.max() <= c["scale"],
    ),
    "double-centring": Formula(_induced_distance, by_row=False),
}

_TABLES = {"similarity": TO_SIMILARITY, "dissimilarity": TO_DISSIMILARITY}
WITH_WIDTH = ("exp", "gauss")
"""The maps to similarities whose name may be followed by a factor of their constant."""


def check_map(map_name: Any, argument: str) -> None:
    """Raise a ValueError if there is no map to similarities of this name."""
    base, _, factor = map_name.partition(":") if isinstance(map_name, str) else (None, "", "")
    if base not in TO_SIMILARITY or map_name == f"{base}:" or (factor and base not in WITH_WIDTH):
        raise ValueError(
            f"{argument} must be one of {sorted(TO_SIMILARITY)}, or exp or gauss with a factor of its width, such as "
            f"'gauss:0.5'; got {map_name!r}."
        )
    if factor and not _is_positive(factor):
        raise ValueError(f"{argument}: the factor after the colon must be a positive number; got {map_name!r}.")


def _is_positive(text: str) -> bool:
    try:
        return 0 < float(text) < np.inf
    except ValueError:
        return False


def base_name(map_name: str) -> str:
    """Return the name of a map without the factor of its width."""
    return map_name.partition(":")[0]


@dataclass
class LearnedMap:
    """A named map with its constants, which are learned from the training matrix."""

    map_name: str
    constants: Constants
    to: str = "similarity"

    @classmethod
    def learn(
        cls,
        matrix: Any,
        map_name: str,
        *,
        to: str = "similarity",
        name: str = "X",
        scale: float | None = None,
        absent: str = "zero",
    ) -> LearnedMap:
        """Return the map with constants learned from a matrix, or with the given scale."""
        table = _TABLES[to]
        if to == "similarity":
            check_map(map_name, "how")
        elif map_name not in table:
            raise ValueError(f"how must be one of {sorted(table)}; got {map_name!r}.")
        base, _, factor = map_name.partition(":")
        if scale is None:
            with np.errstate(over="ignore", invalid="ignore"):
                constants = table[base].learn(_checked(matrix, map_name, name, absent))
            return cls(map_name, {"scale": float(factor) * constants["scale"]} if factor else constants, to)
        if factor:
            raise ValueError(f"scale cannot be given together with a factor of the width; got {map_name!r}.")
        if "scale" not in table[base].learn(np.ones((1, 1))):
            raise ValueError(f"scale has no meaning for the map {map_name!r}; leave it None.")
        if not 0 < scale < np.inf:
            raise ValueError(f"scale must be a positive number; got {scale!r}.")
        return cls(map_name, {"scale": float(scale)}, to)

    def __call__(self, matrix: Any, name: str = "D", absent: str = "zero") -> Any:
        """Return the mapped matrix, or raise a ValueError that calls it ``name``; NaN stays NaN.

        The absent entries of a sparse matrix stay absent: if they are the farthest pairs, their similarity is 0.
        """
        matrix, chosen = _checked(matrix, self.map_name, name, absent), _TABLES[self.to][base_name(self.map_name)]
        known = known_values(matrix)
        if known.size and not chosen.valid(known, self.constants):
            raise ValueError(
                f"every entry of {name} must {chosen.needs} for the map {self.map_name!r}; entries range from "
                f"{known.min():.6g} to {known.max():.6g}. Choose another map."
            )
        values = matrix.data if sparse.issparse(matrix) else matrix
        with np.errstate(over="ignore", invalid="ignore"):
            mapped = chosen.mapped(values, self.constants).astype(matrix.dtype, copy=False)
        if not np.isfinite(mapped).all() and not np.isfinite(mapped[~np.isnan(values)]).all():
            if any(np.isnan(value).any() for value in self.constants.values()):
                raise ValueError(f"{name}: no value between different samples is known, as {self.map_name!r} needs.")
            raise ValueError(f"{name} is too large for the map {self.map_name!r}, which overflows; rescale it first.")
        if sparse.issparse(matrix) and absent == "farthest" and "one-minus" in self.map_name and np.any(mapped < 0):
            raise ValueError(
                f"{name}: absent='farthest' gives absent pairs the similarity 0, but {self.map_name!r} gives stored "
                f"pairs less, since they are up to {known.max():.6g}. Use the map 'max-minus', 'exp' or 'gauss'."
            )
        if sparse.issparse(matrix):
            return type(matrix)((mapped, matrix.indices, matrix.indptr), shape=matrix.shape)
        return mapped

    def transposed(self) -> LearnedMap:
        """Return the map for the transposed matrix, whose rows are the columns of this one."""
        if "row_means" not in self.constants:
            return self
        means = {"column_means": self.constants["row_means"], "row_means": self.constants["column_means"]}
        return LearnedMap(self.map_name, {**self.constants, **means}, self.to)


def learned_constants_needed(map_name: str) -> bool:
    """Return whether ``to_similarity`` with this map learns constants from the training matrix."""
    return map_name not in TO_SIMILARITY or bool(TO_SIMILARITY[map_name].learn(np.ones((1, 1))))  # also with a factor


SPARSE_MAPS = ("exp", "gauss", "max-minus", "one-minus", "reciprocal", "sqrt-max-minus", "sqrt-one-minus")
"""The maps that give a similarity of 0 to the dissimilarities that are as large as they can be."""


def _checked(matrix: Any, map_name: str, name: str, absent: str) -> Any:
    """Return an array or CSR matrix that the map can use; entries that are absent or NaN are not mapped."""
    base = base_name(map_name)
    if not sparse.issparse(matrix):
        matrix = np.asarray(matrix)
        if base == "double-centring" and np.isnan(matrix).any():
            raise fill_needed("the map 'double-centring'", matrix)
        return matrix
    if absent == "zero":
        raise ValueError(
            f"{name}: a sparse matrix cannot be mapped, because its absent entries would no longer be 0. Say what they "
            f"mean by Proximities({name}, absent='farthest') or absent='unknown', or pass a dense matrix."
        )
    if absent == "farthest" and base not in SPARSE_MAPS:
        raise ValueError(
            f"{name}: absent='farthest' needs a map that gives the similarity 0 to the farthest pairs, one of "
            f"{SPARSE_MAPS}; got {map_name!r}."
        )
    if base == "double-centring":
        raise fill_needed("the map 'double-centring'", matrix)
    return matrix.tocsr()


def to_similarity(D: MatrixLike, how: str = "max-minus", *, scale: float | None = None) -> np.ndarray:
    """Return dissimilarities converted to similarities.

    Parameters
    ----------
    D : array-like of shape (n, n)
        The dissimilarities; smaller means more alike.
    how : str, default="max-minus"
        The name of the map: see :mod:`similitude.proximity.maps`.
    scale : float, default=None
        The constant c of the map; None means that it is learned from D.

    Returns
    -------
    ndarray of shape (n, n)
        The similarities.

    See Also
    --------
    to_dissimilarity : The conversion in the other direction.
    DissimilarityToSimilarity : The same conversion as a transformer.

    Examples
    --------
    >>> from similitude import to_similarity
    >>> to_similarity([[0.0, 3.0], [1.0, 0.0]])
    array([[3., 0.],
           [2., 3.]])
    """
    D = check_similarity(D, name="D", orientation="dissimilarity")
    return LearnedMap.learn(D, how, name="D", scale=scale)(D)


def to_dissimilarity(S: MatrixLike, how: str = "max-minus", *, scale: float | None = None) -> np.ndarray:
    """Return similarities converted to dissimilarities, the inverse of :func:`to_similarity`.

    Parameters
    ----------
    S : array-like of shape (n, n)
        The similarities; larger means more alike.
    how : str, default="max-minus"
        The name of the map: see :mod:`similitude.proximity.maps`.
    scale : float, default=None
        The constant c of the map; None means the default of the map.

    Returns
    -------
    ndarray of shape (n, n)
        The dissimilarities.

    See Also
    --------
    to_similarity : The conversion in the other direction.

    Examples
    --------
    >>> from similitude import to_dissimilarity
    >>> to_dissimilarity([[3.0, 0.0], [2.0, 3.0]])
    array([[0., 3.],
           [1., 0.]])
    """
    S = check_similarity(S, orientation="any")
    return LearnedMap.learn(S, how, to="dissimilarity", name="S", scale=scale)(S, name="S")


def rescale(S: MatrixLike) -> Matrix:
    """Return S with its range mapped linearly onto [0, 1]; a constant matrix becomes zero.

    Parameters
    ----------
    S : array-like or sparse matrix of shape (m, n)
        The matrix. The smallest entry of a sparse matrix must be 0, so that absent entries stay 0.

    Returns
    -------
    ndarray or CSR matrix of shape (m, n)
        The rescaled matrix.

    See Also
    --------
    Rescale : The same as a transformer.

    Examples
    --------
    >>> from similitude import rescale
    >>> rescale([[4.0, 2.0], [0.0, 4.0]])
    array([[1. , 0.5],
           [0. , 1. ]])
    """
    S = check_similarity(S, square=False)
    return apply_range(S, *value_range(S))


def value_range(S: Any) -> tuple[float, float]:
    """Return the smallest and the largest entry; absent entries of a sparse matrix are 0."""
    if sparse.issparse(S) and not S.has_canonical_format:
        S = S.copy()  # min and max would merge duplicate entries of the caller's matrix in place
    return float(S.min()), float(S.max())


def apply_range(S: Any, smallest: float, largest: float) -> Any:
    """Return ``(S - smallest) / (largest - smallest)``, computed without overflow."""
    if sparse.issparse(S) and smallest != 0:
        raise ValueError(
            f"S: a sparse matrix can only be rescaled if its smallest entry is 0 (here {smallest:.6g}); "
            "pass a dense one."
        )
    span = largest / 2 - smallest / 2
    if span == 0:
        return S * S.dtype.type(0)
    if sparse.issparse(S):
        return S * S.dtype.type(1 / largest)
    return ((S / 2 - smallest / 2) / span).astype(S.dtype, copy=False)
