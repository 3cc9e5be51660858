"""Simulated networks: sparse similarities in which an object is not always the most similar one to itself."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_random_state

from similitude._utils.checks import check_integer, check_positive, check_share
from similitude._utils.types import RandomState


def make_patrol(
    n_people: int = 385,
    n_units: int = 7,
    *,
    n_names: int = 5,
    n_outsiders: int = 50,
    squad_size: int = 16,
    answering: float = 0.5,
    other_unit: float = 0.03,
    no_unit: float = 0.03,
    popularity: float = 1.8,
    imbalance: float = 1.0,
    symmetric: bool = True,
    random_state: RandomState = None,
) -> Bunch:
    """Simulate people who name members of their unit: a very sparse similarity with unequal classes.

    Some members of each unit name ``n_names`` people, usually of their own squad (or of their unit, if the squad is
    exhausted), sometimes by mistake people of another unit or of no unit. Popular people are named more often. With
    N(a, b) = 1 if a names b, and 0 otherwise, the similarity is (N(a, b) + N(b, a)) / 2; self-similarities are 0. Only
    people who are named at least once are kept. The class is the unit; people of no unit are a class of their own.

    The real data are no longer available. Their rule, the numbers of units, people and names, and the errors on them
    are known. The rest (squads, popularity, sizes, the share who answer) is chosen so that the errors are similar.

    Parameters
    ----------
    n_people : int, default=385
        The total number of people, before those whom nobody names are dropped.
    n_units : int, default=7
        The number of units.
    n_names : int, default=5
        The number of people whom each person who answers names.
    n_outsiders : int, default=50
        The number of people who belong to no unit.
    squad_size : int, default=16
        The number of people of a unit who know each other.
    answering : float, default=0.5
        The share of unit members who answer.
    other_unit, no_unit : float, default=0.03, 0.03
        The probabilities that a name is a mistake of either kind.
    popularity : float, default=1.8
        The standard deviation of the logarithm of the probability that a person is named; 0 means all are equal.
    imbalance : float, default=1.0
        The standard deviation of the logarithm of the units' sizes; 0 means all are equal.
    symmetric : bool, default=True
        Whether S is (N + N^T) / 2, or N itself.
    random_state : int, RandomState or None, default=None
        The random state.

    Returns
    -------
    Bunch
        S : CSR array of shape (n, n)
            The similarities 0.5 and 1, or only 1 if not symmetric.
        y : ndarray of int, shape (n,)
            The unit, from 0; n_units for people of no unit.

    See Also
    --------
    make_copurchase
        Simulate which books the viewers of a book bought: an asymmetric similarity with a few percentages per
        book.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 7.1 (Patrol).

    Examples
    --------
    >>> from similitude.datasets import make_patrol
    >>> patrol = make_patrol(random_state=0)
    >>> sorted(set(patrol.S.data.tolist())), len(set(patrol.y.tolist()))
    ([0.5, 1.0], 8)
    >>> float(patrol.S.diagonal().max())
    0.0
    """
    check_integer(n_units, "n_units", 1)
    check_integer(n_names, "n_names", 1)
    check_integer(squad_size, "squad_size", 2)
    check_integer(n_outsiders, "n_outsiders", 0)
    needed = n_units * (n_names + 1) + n_outsiders
    check_integer(n_people, "n_people", needed, " (n_outsiders, and n_names + 1 in each unit)")
    for name, share in (("answering", answering), ("other_unit", other_unit), ("no_unit", no_unit)):
        check_share(share, name)
    if other_unit + no_unit > 1:
        raise ValueError(f"other_unit and no_unit must add up to at most 1; got {other_unit!r} and {no_unit!r}.")
    if n_units == 1 and other_unit > 0:
        raise ValueError(f"other_unit must be 0 if there is one unit; got {other_unit!r}.")
    if n_outsiders < n_names and no_unit > 0:
        raise ValueError(
            f"n_outsiders must be at least n_names ({n_names}) if no_unit > 0; got {n_outsiders} and "
            f"no_unit={no_unit!r}."
        )
    check_positive(popularity, "popularity", zero=True)
    check_positive(imbalance, "imbalance", zero=True)
    rng = check_random_state(random_state)
    sizes = _unit_sizes(n_people - n_outsiders, n_units, n_names + 1, imbalance)
    unit = np.repeat(np.arange(n_units + 1), [*sizes, n_outsiders])
    squad = np.concatenate([np.arange(size) // squad_size for size in [*sizes, n_outsiders]])
    weight = np.exp(popularity * rng.normal(size=n_people))
    answers = np.flatnonzero((unit < n_units) & (rng.uniform(size=n_people) < answering))
    N = np.zeros((n_people, n_people))
    for person in answers:
        own = (unit == unit[person]) & (np.arange(n_people) != person)
        pools = (unit != unit[person]) & (unit < n_units), unit == n_units, own & (squad == squad[person]), own
        N[person, _named_by(pools, (other_unit, no_unit), weight, n_names, rng)] = 1
    kept = np.flatnonzero(N.any(axis=0))
    if kept.size == 0:
        raise ValueError(f"answering={answering!r}: nobody answered, so nobody was named; increase it.")
    N = N[np.ix_(kept, kept)]
    return Bunch(S=sparse.csr_array((N + N.T) / 2 if symmetric else N), y=unit[kept])


def _unit_sizes(n: int, n_units: int, smallest: int, imbalance: float) -> np.ndarray:
    """Return the sizes of the units: the smallest size, plus a share of the rest that is a quantile of a log-normal."""
    quantiles = [NormalDist().inv_cdf((i + 0.5) / n_units) for i in range(n_units)]
    shares = np.exp(imbalance * np.array(quantiles))
    ends = np.round(np.cumsum(shares / shares.sum()) * (n - n_units * smallest)).astype(int)
    return smallest + np.diff(ends, prepend=0)


def _named_by(
    pools: tuple[np.ndarray, ...], mistakes: tuple[float, float], weight: np.ndarray, n_names: int, rng: Any
) -> list[int]:
    """Return the people whom one person names, each at most once, from another unit, no unit, the squad or the unit."""
    other_unit, no_unit, squad, unit = pools
    free = np.ones(len(weight), dtype=bool)
    chosen = []
    for chance in rng.uniform(size=n_names):
        if chance < mistakes[0]:
            pool = free & other_unit
        elif chance < mistakes[0] + mistakes[1]:
            pool = free & no_unit
        else:
            pool = free & squad if (free & squad).any() else free & unit
        chosen.append(_drawn_from(pool, weight, rng))
        free[chosen[-1]] = False
    return chosen


def _drawn_from(pool: np.ndarray, weight: np.ndarray, rng: Any) -> int:
    """Return a random member of the pool, with a probability proportional to its weight."""
    candidates = np.flatnonzero(pool)
    return int(rng.choice(candidates, p=weight[candidates] / weight[candidates].sum()))


def make_copurchase(
    n_books: int = 204,
    n_authors: int = 47,
    *,
    n_links: int = 4,
    same_author: float = 0.7,
    own: float = 0.9,
    popularity: float = 1.0,
    symmetric: bool = False,
    random_state: RandomState = None,
) -> Bunch:
    """Simulate which books the viewers of a book bought: an asymmetric similarity with a few percentages per book.

    Each book links to ``n_links`` books with the percentage of its viewers who bought them. One of these is usually the
    book itself, bought by at least half of its viewers. The others are books by the same author, as far as there are
    any, or by any author, and popular books are linked to more often. If the book is not among its own links, its
    self-similarity is 0. The class is the author. Global SVMs fail here because self-similarities are large compared
    with the others: their offset decides, and the author with more books is predicted.

    The real data are no longer available. The numbers of books, authors and links, and the errors on them are known.
    The rest is chosen so that the errors are similar.

    Parameters
    ----------
    n_books : int, default=204
        The number of books.
    n_authors : int, default=47
        The number of authors, each of whom has at least two books.
    n_links : int, default=4
        The largest number of percentages in a row.
    same_author : float, default=0.7
        The probability that a link is to a book by the same author, as long as there is one left.
    own : float, default=0.9
        The probability that a book is among its own links.
    popularity : float, default=1.0
        The standard deviation of the logarithm of the probability that a book is linked to; 0 means all are equal.
    symmetric : bool, default=False
        Whether (S + S^T) / 2 is returned.
    random_state : int, RandomState or None, default=None
        The random state.

    Returns
    -------
    Bunch
        S : CSR array of shape (n_books, n_books)
            Percentages, integers unless symmetric; those of a row add up to at most 100.
        y : ndarray of int, shape (n_books,)
            The author, from 0.

    See Also
    --------
    make_patrol : Simulate people who name members of their unit: a very sparse similarity with unequal classes.

    References
    ----------
    Chen, Garcia, Gupta, Rahimi & Cazzanti, JMLR 10, 2009, Section 7.1 (Amazon-47).

    Examples
    --------
    >>> from similitude.datasets import make_copurchase
    >>> books = make_copurchase(random_state=0)
    >>> books.S.shape, len(set(books.y.tolist()))
    ((204, 204), 47)
    >>> int((books.S > 0).sum(axis=1).max())
    4
    """
    check_integer(n_authors, "n_authors", 2)
    check_integer(n_books, "n_books", 2 * n_authors, f" (2 per author, n_authors={n_authors})")
    check_integer(n_links, "n_links", 2)
    if n_links > 10 or n_links >= n_books:
        raise ValueError(f"n_links must be at most 10 and below n_books ({n_books}); got {n_links}.")
    for name, share in (("same_author", same_author), ("own", own)):
        check_share(share, name)
    check_positive(popularity, "popularity", zero=True)
    rng = check_random_state(random_state)
    fame = rng.exponential(size=n_authors)
    more = rng.choice(n_authors, size=n_books - 2 * n_authors, p=fame / fame.sum())
    y = np.sort(np.concatenate([np.arange(n_authors), np.arange(n_authors), more]))
    weight = np.exp(popularity * rng.normal(size=n_books))
    S = np.zeros((n_books, n_books))
    for book in range(n_books):
        keeps = rng.uniform() < own
        links = _linked_from(book, y, weight, n_links - keeps, same_author, rng)
        if keeps:
            S[book, book] = rng.randint(50, 91)
        S[book, links] = _percentages(90 - S[book, book], y[links] == y[book], rng)
    return Bunch(S=sparse.csr_array((S + S.T) / 2 if symmetric else S), y=y)


def _linked_from(
    book: int, y: np.ndarray, weight: np.ndarray, n_links: int, same_author: float, rng: np.random.RandomState
) -> np.ndarray:
    """Return the other books to which a book links."""
    free = np.arange(len(y)) != book
    links = []
    for chance in rng.uniform(size=n_links):
        pool = free & (y == y[book])
        if chance >= same_author or not pool.any():
            pool = free
        links.append(_drawn_from(pool, weight, rng))
        free[links[-1]] = False
    return np.array(links)


def _percentages(total: float, same: np.ndarray, rng: Any) -> np.ndarray:
    """Return about ``total`` percent divided among links, at least 1 each, and twice as much for the same author."""
    shares = rng.exponential(size=len(same)) * np.where(same, 2.0, 1.0)
    return 1 + np.floor(shares / shares.sum() * total)
