"""The disorder constant, which measures how far neighbours of neighbours are from being neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similitude._utils.checks import check_integer
from similitude._utils.types import ProximityLike, RandomState
from similitude.proximity.check import check_similarity, dense
from similitude.proximity.maps import LearnedMap, check_map
from similitude.proximity.proximities import as_proximities

SMALL, LARGE = 10.0, 25.0
"""The values of D for 95% of the triples at which the verdict changes."""

_CENTRES = 256


@dataclass(frozen=True)
class Disorder:
    """The result of :func:`disorder`.

    Parameters
    ----------
    constant : float
        The smallest D that holds for all examined triples. If these are a sample, it is a lower bound of the constant.
    quantile_95, quantile_99 : float
        The smallest D that holds for 95% and 99% of the triples, with equal weights of all scales of ranks.
    n_triples : int
        The number of examined triples.
    exhaustive : bool
        Whether all triples were examined.

    See Also
    --------
    similitude.disorder : Estimate the disorder constant of a similarity.
    Diagnosis : The result of ``diagnose``; ``str()`` returns it as a card of plain text.
    """

    constant: float
    quantile_95: float
    quantile_99: float
    n_triples: int
    exhaustive: bool

    @property
    def verdict(self) -> str:
        """The quality to expect of ``search="graph"``."""
        return verdict(self.quantile_95)

    def __str__(self) -> str:
        return (
            f"disorder: D = {self.quantile_95:.3g} holds for 95% of {self.n_triples} triples, {self.quantile_99:.3g} "
            f"for 99%, {self.constant:.3g} for all; {self.verdict}."
        )


def verdict(quantile_95: float) -> str:
    """Return the quality to expect of search by a neighbour graph, given the D of 95% of the triples."""
    if quantile_95 <= SMALL:
        return "small: a neighbour graph (search='graph') works well"
    if quantile_95 <= LARGE:
        return "moderate: search='graph' works with a larger search_width"
    return "large: check the recall of search='graph' before you rely on it"


def disorder(
    S: ProximityLike,
    *,
    dissimilarity: str | None = None,
    n_triples: int = 20_000,
    random_state: RandomState = 0,
) -> Disorder:
    """Estimate the disorder constant of a similarity.

    The constant is the smallest D for which all triples of different samples satisfy::

        rank_x(y) <= D (rank_z(x) + rank_z(y))

    Here rank_z(x) is the rank of x in row z of S, 1 for the sample most similar to z, without z itself; tied samples
    share the mean of their ranks. If D is small, two samples near a third one are near each other, even without the
    triangle inequality, and search by a neighbour graph takes few comparisons. D is not informative if most samples
    are tied: if all but the nearest are equally far away, D is small although a graph cannot find the nearest ones.

    z is drawn uniformly, and x and y by their ranks, rank r with a probability proportional to 1/r, so that near,
    middle and far neighbours have equal weights. If there are no more than ``n_triples`` triples, all are examined,
    with these weights.

    Parameters
    ----------
    S : array-like, memmap, sparse matrix or Proximities of shape (n, n)
        Similarities, or dissimilarities if ``dissimilarity`` is given; three samples or more.
    dissimilarity : str, default=None
        The map that turns S into a similarity: see :mod:`similitude.proximity.maps`.
    n_triples : int, default=20000
        The approximate number of triples to draw.
    random_state : int, RandomState or None, default=0
        Seed for the random draws.

    Returns
    -------
    Disorder
        The constant, and the values that hold for 95% and 99% of the triples.

    See Also
    --------
    diagnose : Returns this and other figures of a matrix.

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
    check_integer(n_triples, "n_triples", 1)
    if dissimilarity is not None:
        check_map(dissimilarity, "dissimilarity")
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
    # If very few triples were drawn, none may consist of different samples.
    return (z, x, y, np.ones(len(z))) if len(z) else _drawn(A, n_triples, rng)


def _ranks(A: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the ranks of the columns in their rows, 1 for the most similar, without the sample of the row itself."""
    ranks = np.empty(len(rows))
    # Pairs are grouped by row, so that the values of each row are sorted once.
    order = np.argsort(rows, kind="stable")
    some, starts = np.unique(rows[order], return_index=True)
    for row, places in zip(some.tolist(), np.split(order, starts[1:])):
        others = np.sort(np.delete(A[row], row))
        values = A[row, columns[places]]
        below, up_to = np.searchsorted(others, values, "left"), np.searchsorted(others, values, "right")
        ranks[places] = len(others) - (below + up_to - 1) / 2
    return ranks
