"""The disorder constant: how far neighbours of neighbours are from being neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similitude.proximity.check import check_similarity, dense
from similitude.proximity.maps import TO_SIMILARITY, LearnedMap
from similitude.proximity.proximities import as_proximities

SMALL, LARGE = 10.0, 25.0
"""At these values of D for 95% the verdict changes."""

_CENTRES = 256


@dataclass(frozen=True)
class Disorder:
    """The result of :func:`disorder`.

    Parameters
    ----------
    constant : float
        The smallest D that holds for all triples looked at; of a sample of them, a lower bound of the constant.
    quantile_95, quantile_99 : float
        The smallest D that holds for 95% and 99% of the triples, each scale of ranks counting alike.
    n_triples : int
    exhaustive : bool
        Whether these were all there are.
    """

    constant: float
    quantile_95: float
    quantile_99: float
    n_triples: int
    exhaustive: bool

    @property
    def verdict(self) -> str:
        """What can be expected of ``search="graph"``."""
        return verdict(self.quantile_95)

    def __str__(self) -> str:
        return (
            f"disorder: D = {self.quantile_95:.3g} holds for 95% of {self.n_triples} triples, {self.quantile_99:.3g} "
            f"for 99%, {self.constant:.3g} for all; {self.verdict}."
        )


def verdict(quantile_95: float) -> str:
    """Return what the D of 95% of the triples predicts for a search by a neighbour graph."""
    if quantile_95 <= SMALL:
        return "small: a neighbour graph (search='graph') works well"
    if quantile_95 <= LARGE:
        return "moderate: search='graph' works with a larger search_width"
    return "large: look at the recall of search='graph' before you trust it"


def disorder(
    S: Any,
    *,
    dissimilarity: str | None = None,
    n_triples: int = 20_000,
    random_state: Any = 0,
) -> Disorder:
    """Estimate the disorder constant of a similarity.

    That is the smallest D with, for all triples of different samples::

        rank_x(y) <= D (rank_z(x) + rank_z(y))

    where rank_z(x) = 1 for the sample most similar to z by row z of S, z itself left out; tied samples share the mean
    of their ranks. Where D is small, two samples near a third are near each other, with no triangle inequality needed:
    search by a neighbour graph then takes few comparisons. Ranks among equals tell nothing: where all but the nearest
    are equally far, D is small though nothing shows the way to these.

    z is drawn at random, x and y by their ranks, rank r with probability in proportion to 1/r, so that near, middling
    and far neighbours count alike; where there are no more than ``n_triples`` triples all are looked at, with these
    weights.

    Parameters
    ----------
    S : array-like, memmap, sparse matrix or Proximities of shape (n, n)
        Similarities, or dissimilarities if ``dissimilarity`` is given; three samples or more.
    dissimilarity : str, default=None
        The map that makes S a similarity: see :mod:`similitude.proximity.maps`.
    n_triples : int, default=20000
        About how many are drawn; a few more or fewer are.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    Disorder

    References
    ----------
    Goyal, Lifshits & Schuetze, "Disorder inequality: a combinatorial approach to nearest neighbor search", WSDM 2008.
    Chen et al., JMLR 10, 2009, Section 8.

    Examples
    --------
    >>> import numpy as np
    >>> from similitude import disorder
    >>> points, rng = np.linspace(0, 1, 200) ** 2, np.random.default_rng(0)
    >>> round(disorder(-abs(points[:, None] - points)).quantile_95, 2)
    1.35
    >>> print(disorder(rng.random((200, 200))).verdict)
    moderate: search='graph' works with a larger search_width
    """
    if not isinstance(n_triples, (int, np.integer)) or isinstance(n_triples, bool) or n_triples < 1:
        raise ValueError(f"n_triples must be an integer of at least 1; got {n_triples!r}.")
    if dissimilarity is not None and dissimilarity not in TO_SIMILARITY:
        raise ValueError(f"dissimilarity must be None or one of {sorted(TO_SIMILARITY)}; got {dissimilarity!r}.")
    A = check_similarity(as_proximities(S).S, orientation="any")
    if A.shape[0] < 3:
        raise ValueError(f"S must be of three samples or more; got {A.shape[0]}.")
    A = dense(A)
    if dissimilarity is not None:
        A = LearnedMap.learn(A, dissimilarity, name="S")(A, name="S")
    return sampled(A, int(n_triples), check_random_state(random_state))


def sampled(A: np.ndarray, n_triples: int, rng: Any) -> Disorder:
    """Return the estimate from a dense matrix of three samples or more."""
    n = len(A)
    exhaustive = n * (n - 1) * (n - 2) <= n_triples
    z, x, y, weights = _all_triples(A) if exhaustive else _drawn(A, n_triples, rng)
    ratios = _ranks(A, x, y) / (_ranks(A, z, x) + _ranks(A, z, y))
    order = np.argsort(ratios)
    shares = np.cumsum(weights[order]) / weights.sum()
    at_95, at_99 = (float(ratios[order][np.searchsorted(shares, q - 1e-12)]) for q in (0.95, 0.99))
    return Disorder(float(ratios.max()), at_95, at_99, len(ratios), exhaustive)


def _neighbors(A: np.ndarray, z: int) -> np.ndarray:
    """Return all other samples, the most similar first."""
    order = np.argsort(-A[z], kind="stable")
    return order[order != z]


def _all_triples(A: np.ndarray) -> tuple[np.ndarray, ...]:
    n = len(A)
    first, second = np.nonzero(~np.eye(n - 1, dtype=bool))
    nearest = np.array([_neighbors(A, z) for z in range(n)])
    weights = 1.0 / ((first + 1) * (second + 1))
    z = np.repeat(np.arange(n), len(first))
    return z, nearest[:, first].ravel(), nearest[:, second].ravel(), np.tile(weights, n)


def _drawn(A: np.ndarray, n_triples: int, rng: Any) -> tuple[np.ndarray, ...]:
    n = len(A)
    centres = rng.permutation(n)[: min(_CENTRES, n_triples)]
    each = -(-n_triples // len(centres))
    shares = np.cumsum(1.0 / np.arange(1, n))
    triples = []
    for z in centres.tolist():
        nearest = _neighbors(A, z)
        first, second = np.searchsorted(shares, rng.uniform(0, shares[-1], (2, each)))
        apart = first != second
        triples.append(np.array([np.full(apart.sum(), z), nearest[first[apart]], nearest[second[apart]]]))
    z, x, y = np.concatenate(triples, axis=1)
    # Of very few pairs none may have been apart.
    return (z, x, y, np.ones(len(z))) if len(z) else _drawn(A, n_triples, rng)


def _ranks(A: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the ranks of the columns in their rows, 1 for the most similar, the row's own sample left out."""
    ranks = np.empty(len(rows))
    # Pairs of one row together, whose values are sorted once.
    order = np.argsort(rows, kind="stable")
    some, starts = np.unique(rows[order], return_index=True)
    for row, places in zip(some.tolist(), np.split(order, starts[1:])):
        others = np.sort(np.delete(A[row], row))
        values = A[row, columns[places]]
        below, up_to = np.searchsorted(others, values, "left"), np.searchsorted(others, values, "right")
        ranks[places] = len(others) - (below + up_to - 1) / 2
    return ranks


def figure(A: np.ndarray, rng: Any) -> float | None:
    """Return the D of 95% of the triples, for a diagnosis; None below three samples."""
    return sampled(A, 20_000, rng).quantile_95 if len(A) > 2 else None
