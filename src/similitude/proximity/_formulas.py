"""The formulas of the maps between dissimilarities and similarities, and the constants that they learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similitude._utils.warn import warn
from similitude.proximity.check import SYMMETRY_TOLERANCE, SimilarityWarning
from similitude.proximity.unknown import known_pair_values, known_values

Constants = dict[str, Any]


def _squared_means(D: np.ndarray) -> Constants:
    squares = np.square(D, dtype=np.float64)
    means = {"column_means": squares.mean(axis=0), "row_means": squares.mean(axis=1)}
    return {**means, "mean": float(squares.mean())}


def _centre(D: np.ndarray, c: Constants) -> np.ndarray:
    squares = np.square(D, dtype=np.float64)
    return -0.5 * (squares - squares.mean(axis=1, keepdims=True) - c["column_means"] + c["mean"])


def _typical(D: np.ndarray) -> Constants:
    return {"scale": float(np.median(known_pair_values(D))) or 1.0}


@dataclass(frozen=True)
class Formula:
    """The functions of one named map: how it learns its constants from the training matrix, and how it applies them."""

    apply: Callable[[np.ndarray, Constants], np.ndarray]
    learn: Callable[[np.ndarray], Constants] = field(default=lambda D: {})
    needs: str = ""
    """The condition on every entry, for the error message; "" if all finite numbers are allowed."""
    valid: Callable[[np.ndarray, Constants], Any] = field(default=lambda D, c: True)


def _nothing(D: np.ndarray) -> Constants:
    return {}


_NON_NEGATIVE = ("be non-negative", lambda D, c: D.min() >= 0)


TO_SIMILARITY: dict[str, Formula] = {
    "max-minus": Formula(lambda D, c: c["scale"] - D, lambda D: {"scale": float(known_values(D).max())}),
    "one-minus": Formula(lambda D, c: 1 - D),
    "negate": Formula(lambda D, c: -D),
    "reciprocal": Formula(lambda D, c: 1 / (1 + D), _nothing, *_NON_NEGATIVE),
    "exp": Formula(lambda D, c: np.exp(-D / c["scale"]), _typical, *_NON_NEGATIVE),
    "gauss": Formula(lambda D, c: np.exp(-0.5 * (D / c["scale"]) ** 2), _typical, *_NON_NEGATIVE),
    "log": Formula(lambda D, c: -np.log1p(D), _nothing, *_NON_NEGATIVE),
    "sqrt-one-minus": Formula(lambda D, c: 1 - D**2, _nothing, *_NON_NEGATIVE),
    "sqrt-max-minus": Formula(
        lambda D, c: c["scale"] - D**2, lambda D: {"scale": float((known_values(D) ** 2).max())}, *_NON_NEGATIVE
    ),
    "double-centring": Formula(_centre, _squared_means, *_NON_NEGATIVE),
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


def _largest(S: np.ndarray) -> Constants:
    return {"scale": float(S.max())}


def _unit(S: np.ndarray) -> Constants:
    return {"scale": 1.0}


TO_DISSIMILARITY: dict[str, Formula] = {
    "max-minus": Formula(lambda S, c: c["scale"] - S, _largest),
    "one-minus": Formula(lambda S, c: 1 - S),
    "negate": Formula(lambda S, c: -S),
    "reciprocal": Formula(lambda S, c: 1 / S - 1, needs="be positive", valid=lambda S, c: S.min() > 0),
    "exp": Formula(lambda S, c: -c["scale"] * np.log(S), _unit, "be positive", lambda S, c: S.min() > 0),
    "gauss": Formula(
        lambda S, c: c["scale"] * np.sqrt(-2 * np.log(S)),
        _unit,
        "lie in (0, 1]",
        lambda S, c: S.min() > 0 and S.max() <= 1,
    ),
    "log": Formula(lambda S, c: np.expm1(-S), needs="be at most 0", valid=lambda S, c: S.max() <= 0),
    "sqrt-one-minus": Formula(lambda S, c: np.sqrt(1 - S), needs="be at most 1", valid=lambda S, c: S.max() <= 1),
    "sqrt-max-minus": Formula(
        lambda S, c: np.sqrt(c["scale"] - S),
        _largest,
        "be at most `scale`",
        lambda S, c: S.max() <= c["scale"],
    ),
    "double-centring": Formula(_induced_distance),
}
