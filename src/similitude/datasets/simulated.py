"""Simulated data: cases that show what sets the methods apart, of any size and with known truth."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import Bunch, check_random_state, column_or_1d

from similitude.numerics.eigen import eigh
from similitude.proximity.check import check_similarity, is_symmetric

NEGLIGIBLE = 0.01
"""Eigenvalues below this share of the largest are no candidates for the direction that is made negative."""


def make_perturbed_centroids(
    n_samples: int = 100,
    n_features: int = 25,
    *,
    flip: Sequence[float] = (1 / 3, 1 / 30),
    centroids: Any = None,
    random_state: Any = None,
) -> Bunch:
    """Draw binary rows around random centroids, one class much noisier than the other.

    Each class has two centroids, uniform on {0, 1}^d. A sample is of either class with equal probability, starts as
    either of the class's centroids with equal probability, and flips each bit with the class's probability. Meant for
    the counting similarity.

    Parameters
    ----------
    n_samples : int, default=100
    n_features : int, default=25
        d; given ``centroids`` decide it themselves.
    flip : sequence of floats in [0, 1], default=(1/3, 1/30)
        The probability of flipping a bit, one per class.
    centroids : array of 0 and 1 of shape (n_classes, n_centroids, d), default=None
        The centroids of an earlier draw, for more samples from the same distribution; None draws new ones.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Bunch
        X : ndarray of int8, shape (n_samples, d)
        y : ndarray of int, shape (n_samples,)
            0, ..., n_classes - 1.
        centroids : ndarray of int8, shape (n_classes, n_centroids, d)

    References
    ----------
    Cazzanti & Gupta, "Local similarity discriminant analysis", ICML 2007, Section 4.1.

    Examples
    --------
    >>> from similitude import KNNClassifier
    >>> from similitude.datasets import make_perturbed_centroids
    >>> train = make_perturbed_centroids(100, random_state=0)
    >>> test = make_perturbed_centroids(1000, centroids=train.centroids, random_state=1)
    >>> knn = KNNClassifier(5, similarity="counting").fit(train.X, train.y)
    >>> bool(knn.score(test.X, test.y) > 0.75)
    True
    """
    _check_integer("n_samples", n_samples, 1)
    _check_integer("n_features", n_features, 1)
    chances = np.asarray(flip, dtype=float)
    if chances.ndim != 1 or len(chances) < 2 or not np.all((chances >= 0) & (chances <= 1)):
        raise ValueError(f"flip must be two or more probabilities in [0, 1], one per class; got {flip!r}.")
    rng = check_random_state(random_state)
    if centroids is None:
        centroids = rng.randint(2, size=(len(chances), 2, n_features))
    centroids = np.asarray(centroids)
    if centroids.ndim != 3 or len(centroids) != len(chances) or 0 in centroids.shape:
        raise ValueError(
            f"centroids must have shape (n_classes, n_centroids, n_features), with one class per entry of flip "
            f"({len(chances)}); got shape {centroids.shape}."
        )
    if not np.isin(centroids, (0, 1)).all():
        raise ValueError("centroids must be 0 and 1 only.")
    centroids = centroids.astype(np.int8)
    y = rng.randint(len(chances), size=n_samples)
    start = centroids[y, rng.randint(centroids.shape[1], size=n_samples)]
    flipped = rng.uniform(size=start.shape) < chances[y, None]
    return Bunch(X=start ^ flipped, y=y, centroids=centroids)


def make_negative_direction(
    S: Any = None,
    y: Any = None,
    c: float = 0.25,
    *,
    classes: Sequence | None = None,
    n_samples: int = 200,
    n_classes: int = 4,
    n_features: int = 20,
    separation: float = 8.0,
    gamma: float = 0.005,
    random_state: Any = None,
) -> Bunch:
    """Turn the direction that tells two classes apart negative, in an otherwise well-behaved similarity.

    Of ``S = V diag(lambda) V^T`` take the eigenvector v that best separates two classes and replace its eigenvalue by
    ``-c`` times itself: ``S - (1 + c) lambda v v^T``. Samples of the two classes now look more like each other than
    like their own, so that nearest neighbours fail, while an SVM on the clipped or flipped spectrum is as good as
    before, provided that test rows are treated like the training rows.

    v is the eigenvector with the largest Fisher ratio ``(mean_a - mean_b)^2 / (var_a + var_b)`` of its entries in the
    two classes a and b, among those whose eigenvalue is at least 1% of the largest.

    Parameters
    ----------
    S : array-like of shape (n, n), default=None
        A symmetric similarity; None makes a positive definite one, ``exp(-gamma ||x - z||^2)`` of Gaussian blobs.
    y : array-like of shape (n,), default=None
        The classes; needed with S, and only there.
    c : float, default=0.25
        How negative the direction becomes, as a share of what it was.
    classes : pair of labels, default=None
        The two classes; None takes the two largest (the first ones of equally large).
    n_samples, n_classes, n_features : int, default=200, 4, 20
        The size of the blobs; classes are equally large up to one.
    separation : float, default=8.0
        The distance between any two centres of blobs; the standard deviation is 1 in every direction.
    gamma : float, default=0.005
        The scale of the blobs' similarity.
    random_state : int, RandomState or None, default=None
        Used for the blobs.

    Returns
    -------
    Bunch
        S : ndarray of shape (n, n)
            The similarity with the negative direction.
        y : ndarray of shape (n,)
        base : ndarray of shape (n, n)
            The similarity as it was.
        classes : list
            The two classes.
        component : int
            The position of the eigenvector among the eigenvalues in ascending order.
        eigenvector : ndarray of shape (n,)
        eigenvalue_before, eigenvalue_after : float
        fisher_ratio : float

    Examples
    --------
    >>> from similitude import KNNClassifier, train_test_split
    >>> from similitude.datasets import make_negative_direction
    >>> data = make_negative_direction(random_state=0)
    >>> data.eigenvalue_after == -0.25 * data.eigenvalue_before
    True
    >>> def accuracy(S):
    ...     S_train, S_test, y_train, y_test = train_test_split(S, data.y, random_state=0)
    ...     return KNNClassifier(5).fit(S_train, y_train).score(S_test, y_test)
    >>> bool(accuracy(data.base) == 1), bool(accuracy(data.S) < 0.9)
    (True, True)
    """
    if not isinstance(c, Real) or not 0 <= c < np.inf:
        raise ValueError(f"c must be a finite number of at least 0; got {c!r}.")
    if (S is None) != (y is None):
        raise ValueError(f"S and y must be given together; {'S' if S is None else 'y'} is missing.")
    if S is None:
        S, y = _blobs(n_samples, n_classes, n_features, separation, gamma, random_state)
    S, y = _check_base(S, y)
    a, b = _two_classes(y, classes)
    values, vectors = eigh(S)
    candidates = np.flatnonzero(values >= NEGLIGIBLE * values[-1])
    ratios = fisher_ratios(vectors[:, candidates], y == a, y == b)
    component = int(candidates[np.argmax(ratios)])
    before, vector = float(values[component]), vectors[:, component]
    return Bunch(
        S=S - (1 + c) * before * np.outer(vector, vector),
        y=y,
        base=S,
        classes=[a, b],
        component=component,
        eigenvector=vector,
        eigenvalue_before=before,
        eigenvalue_after=-c * before,
        fisher_ratio=float(ratios.max()),
    )


def _blobs(n: int, n_classes: int, n_features: int, separation: float, gamma: float, random_state: Any) -> Any:
    """A positive definite similarity of Gaussian blobs, whose centres lie on as many axes."""
    _check_integer("n_classes", n_classes, 2)
    _check_integer("n_samples", n, 2 * n_classes, f" (2 per class, n_classes={n_classes})")
    _check_integer("n_features", n_features, n_classes, " (n_classes: each centre has an axis of its own)")
    for name, value in (("separation", separation), ("gamma", gamma)):
        if not isinstance(value, Real) or not 0 < value < np.inf:
            raise ValueError(f"{name} must be a finite number above 0; got {value!r}.")
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n) % n_classes)
    centres = separation / np.sqrt(2) * np.eye(n_classes, n_features)
    return rbf_kernel(centres[y] + rng.normal(size=(n, n_features)), gamma=gamma), y


def _check_base(S: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    S = check_similarity(S)
    S = np.asarray(S.toarray() if sparse.issparse(S) else S, dtype=np.float64)
    if not is_symmetric(S):
        raise ValueError("S must be symmetric; got an asymmetric matrix. similitude.symmetrize makes it symmetric.")
    y = column_or_1d(y)
    if len(y) != len(S):
        raise ValueError(f"y must have one label per sample; got {len(y)} labels for {len(S)} samples.")
    if np.linalg.norm(S) == 0 or eigh(S)[0][-1] <= 0:
        raise ValueError("S must have a positive eigenvalue; it has none.")
    return (S + S.T) / 2, y


def _two_classes(y: np.ndarray, classes: Sequence | None) -> Any:
    labels, counts = np.unique(y, return_counts=True)
    if classes is None:
        if len(labels) < 2:
            raise ValueError(f"y must have two classes or more; got {labels.tolist()}.")
        return labels[np.sort(np.argsort(-counts, kind="stable")[:2])].tolist()
    chosen = list(classes)
    if len(chosen) != 2 or chosen[0] == chosen[1] or not all(label in labels for label in chosen):
        raise ValueError(f"classes must be two different labels of {labels.tolist()}; got {classes!r}.")
    return chosen


def fisher_ratios(vectors: np.ndarray, in_a: np.ndarray, in_b: np.ndarray) -> np.ndarray:
    """How far apart two groups lie on each column: squared difference of means over the sum of variances."""
    A, B = vectors[in_a], vectors[in_b]
    # A column constant in both groups has no variance; rounding stands in for it.
    spread = np.maximum(A.var(axis=0) + B.var(axis=0), np.finfo(float).eps ** 2)
    return (A.mean(axis=0) - B.mean(axis=0)) ** 2 / spread


def make_patrol(
    n_people: int = 385,
    n_units: int = 7,
    *,
    n_names: int = 5,
    n_outsiders: int = 50,
    squad_size: int = 16,
    answering: float = 0.45,
    other_unit: float = 0.03,
    no_unit: float = 0.03,
    popularity: float = 2.0,
    imbalance: float = 1.0,
    symmetric: bool = True,
    random_state: Any = None,
) -> Bunch:
    """Simulate people who name members of their unit: very sparse, self-similarity 0, classes of unequal size.

    Some members of each unit name ``n_names`` people, as a rule of their own squad (of their unit, where the squad is
    exhausted), by mistake of another unit or people of no unit. Popular people are named more often. With N(a, b) = 1
    if a names b, else 0, the similarity is (N(a, b) + N(b, a)) / 2. Only people named at least once are kept. The
    class to be found is the unit; people of no unit are a class of their own.

    The real data cannot be had any more; of it are known the rule, the numbers of units, people and names, and the
    errors. The rest (squads, popularity, sizes, how many answer) is chosen here so that the errors come near.

    Parameters
    ----------
    n_people : int, default=385
        People in all, before those whom nobody names are dropped.
    n_units : int, default=7
    n_names : int, default=5
        How many people each one who answers names.
    n_outsiders : int, default=50
        How many of the people belong to no unit.
    squad_size : int, default=16
        People of a unit who know each other.
    answering : float, default=0.45
        The share of unit members who answer.
    other_unit, no_unit : float, default=0.03, 0.03
        The probabilities that a name is a mistake of either kind.
    popularity : float, default=2.0
        The standard deviation of the logarithm of how likely a person is to be named; 0: all alike.
    imbalance : float, default=1.0
        The standard deviation of the logarithm of the units' sizes; 0: all of one size.
    symmetric : bool, default=True
        Whether S is (N + N^T) / 2, or N itself.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Bunch
        S : CSR array of shape (n, n)
            Values 0.5 and 1; only 1 where not symmetric.
        y : ndarray of int, shape (n,)
            The unit, from 0; n_units for people of no unit.

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
    for name, value, least in (("n_units", n_units, 1), ("n_names", n_names, 1), ("squad_size", squad_size, 2)):
        _check_integer(name, value, least)
    smallest = n_names + 1
    _check_integer("n_outsiders", n_outsiders, n_names if no_unit > 0 else 0, " (n_names, where no_unit > 0)")
    needed = n_units * smallest + n_outsiders
    _check_integer("n_people", n_people, needed, " (n_outsiders, and n_names + 1 in each unit)")
    for name, share in (("answering", answering), ("other_unit", other_unit), ("no_unit", no_unit)):
        _check_share(name, share)
    if other_unit + no_unit > 1 or (n_units == 1 and other_unit > 0):
        raise ValueError(
            f"other_unit and no_unit must add up to at most 1, and other_unit be 0 with one unit; got {other_unit!r} "
            f"and {no_unit!r}."
        )
    for name, deviation in (("popularity", popularity), ("imbalance", imbalance)):
        if not isinstance(deviation, Real) or not 0 <= deviation < np.inf:
            raise ValueError(f"{name} must be a finite number of at least 0; got {deviation!r}.")
    rng = check_random_state(random_state)
    sizes = _unit_sizes(n_people - n_outsiders, n_units, smallest, imbalance)
    unit = np.repeat(np.arange(n_units + 1), [*sizes, n_outsiders])
    squad = np.concatenate([np.arange(size) // squad_size for size in [*sizes, n_outsiders]])
    weight = np.exp(popularity * rng.normal(size=n_people))
    answers = np.flatnonzero((unit < n_units) & (rng.uniform(size=n_people) < answering))
    N = np.zeros((n_people, n_people))
    for person in answers:
        N[person, _named_by(person, unit, squad, weight, n_names, (other_unit, no_unit), rng)] = 1
    kept = np.flatnonzero(N.any(axis=0))
    if kept.size == 0:
        raise ValueError(f"answering={answering!r}: nobody answered, so nobody was named; raise it.")
    N = N[np.ix_(kept, kept)]
    return Bunch(S=sparse.csr_array((N + N.T) / 2 if symmetric else N), y=unit[kept])


def _unit_sizes(n: int, n_units: int, smallest: int, imbalance: float) -> np.ndarray:
    """n people in units: the smallest size each, the rest in shares that are quantiles of a log-normal."""
    quantiles = [NormalDist().inv_cdf((i + 0.5) / n_units) for i in range(n_units)]
    shares = np.exp(imbalance * np.array(quantiles))
    ends = np.round(np.cumsum(shares / shares.sum()) * (n - n_units * smallest)).astype(int)
    return smallest + np.diff(ends, prepend=0)


def _named_by(person, unit, squad, weight, n_names, mistakes, rng) -> list[int]:
    """The people whom one person names, each at most once."""
    own, outside = unit == unit[person], unit == unit[-1] if mistakes[1] else np.zeros(len(unit), dtype=bool)
    free = np.arange(len(unit)) != person
    chosen: list[int] = []
    for chance in rng.uniform(size=n_names):
        if chance < mistakes[0]:
            pool = free & ~own & ~outside
        elif chance < mistakes[0] + mistakes[1]:
            pool = free & outside
        else:
            pool = free & own & (squad == squad[person])
            if not pool.any():
                pool = free & own
        candidates = np.flatnonzero(pool)
        named = rng.choice(candidates, p=weight[candidates] / weight[candidates].sum())
        free[named] = False
        chosen.append(int(named))
    return chosen


def make_copurchase(
    n_books: int = 204,
    n_authors: int = 47,
    *,
    n_links: int = 4,
    same_author: float = 0.8,
    own: float = 0.9,
    popularity: float = 1.0,
    symmetric: bool = False,
    random_state: Any = None,
) -> Bunch:
    """Simulate what buyers who viewed a book bought in the end: asymmetric, a handful of percentages per book.

    Each book links to ``n_links`` books with the percentage of its viewers who bought them. One of them is as a rule
    the book itself, bought by half of its viewers or more; the others are by the same author as far as there are
    any, or by anyone, and popular books are linked to more often. Where the book is not among its own links, its
    self-similarity is 0. The class to be found is the author. Large self-similarities next to small others are what
    makes global SVMs fail here: their offset decides, and the more prolific author wins.

    The real data cannot be had any more; of it are known the numbers of books, authors and links, and the errors.
    The rest is chosen here so that the errors come near.

    Parameters
    ----------
    n_books : int, default=204
    n_authors : int, default=47
        Each has at least two books.
    n_links : int, default=4
        How many percentages a row has at most.
    same_author : float, default=0.8
        The probability that a link is to a book by the same author, as long as there is one left.
    own : float, default=0.9
        The probability that a book is among its own links.
    popularity : float, default=1.0
        The standard deviation of the logarithm of how likely a book is to be linked to; 0: all alike.
    symmetric : bool, default=False
        Whether S is made (S + S^T) / 2.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Bunch
        S : CSR array of shape (n_books, n_books)
            Percentages, whole ones where not symmetric; a row's add up to at most 100.
        y : ndarray of int, shape (n_books,)
            The author, from 0.

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
    _check_integer("n_authors", n_authors, 2)
    _check_integer("n_books", n_books, 2 * n_authors, f" (2 per author, n_authors={n_authors})")
    _check_integer("n_links", n_links, 2)
    if n_links >= n_books or n_links > 6:
        raise ValueError(f"n_links must be at most 6 and below n_books ({n_books}); got {n_links}.")
    for name, share in (("same_author", same_author), ("own", own)):
        _check_share(name, share)
    if not isinstance(popularity, Real) or not 0 <= popularity < np.inf:
        raise ValueError(f"popularity must be a finite number of at least 0; got {popularity!r}.")
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


def _linked_from(book, y, weight, n_links, same_author, rng) -> np.ndarray:
    """The other books to which a book links."""
    free = np.arange(len(y)) != book
    links = []
    for chance in rng.uniform(size=n_links):
        pool = free & (y == y[book])
        if chance >= same_author or not pool.any():
            pool = free
        candidates = np.flatnonzero(pool)
        link = rng.choice(candidates, p=weight[candidates] / weight[candidates].sum())
        free[link] = False
        links.append(int(link))
    return np.array(links)


def _percentages(total: float, same: np.ndarray, rng: Any) -> np.ndarray:
    """About ``total`` percent among links, at least 1 each; books by the same author get twice as much on average."""
    shares = rng.exponential(size=len(same)) * np.where(same, 2.0, 1.0)
    return 1 + np.floor(shares / shares.sum() * total)


def _check_integer(name: str, value: Any, least: int, why: str = "") -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}{why}; got {value!r}.")


def _check_share(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number in [0, 1]; got {value!r}.")
