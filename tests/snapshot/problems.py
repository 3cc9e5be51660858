"""The small problems on which the snapshot's answers are taken."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude import Proximities
from similitude.datasets import (
    load_promoters,
    load_voting,
    make_complementary,
    make_copurchase,
    make_ellipsoids,
    make_negative_direction,
    make_patrol,
    make_perturbed_centroids,
)
from similitude.similarities import VDM, Levenshtein, pairwise


class Problem(NamedTuple):
    """Training input and labels, and the input to predict."""

    X: Any
    y: np.ndarray
    X_test: Any


def containment(a: np.ndarray, b: np.ndarray) -> float:
    """The share of the ones of a that are ones of b: an asymmetric similarity of binary vectors."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return float((1.0 + a @ b) / (1.0 + a.sum()))


def _interleaved(n: int, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Of n samples in a fixed shuffled order the first ``limit``: two thirds for training, the rest for the test."""
    order = np.random.default_rng(15).permutation(n)[:limit]
    cut = 2 * len(order) // 3
    return order[:cut], order[cut:]


def _cut(S: Any, y: np.ndarray, limit: int) -> Problem:
    train, test = _interleaved(len(y), limit)
    return Problem(S[np.ix_(train, train)], y[train], S[np.ix_(test, train)])


def _objects(objects: Any, y: np.ndarray, limit: int) -> Problem:
    train, test = _interleaved(len(y), limit)
    if isinstance(objects, np.ndarray):
        return Problem(objects[train], y[train], objects[test])
    return Problem([objects[i] for i in train], y[train], [objects[i] for i in test])


@cache
def _voting_distances() -> np.ndarray:
    data, target = load_voting(return_X_y=True)
    return pairwise(data[:200], similarity=VDM().fit(data[:200], target[:200]))


@cache
def _promoter_distances() -> np.ndarray:
    return pairwise(load_promoters().data, similarity=Levenshtein())


def _voting(limit: int) -> Problem:
    D = _voting_distances()
    return _cut(D.max() - D, load_voting().target[:200], limit)


def _promoters(limit: int) -> Problem:
    return _cut(_promoter_distances(), load_promoters().target, limit)


def _negative(limit: int) -> Problem:
    data = make_negative_direction(n_samples=120, random_state=0)
    return _cut(data.S, data.y, limit)


def _skewed(limit: int) -> Problem:
    """An asymmetric matrix of four classes whose eigenvalues are all distinct."""
    data = make_negative_direction(n_samples=120, random_state=0)
    noise = np.random.default_rng(0).normal(scale=0.05, size=data.S.shape)
    return _cut(data.S * (1.0 + noise), data.y, limit)


def _ellipsoids(limit: int) -> Problem:
    data = make_ellipsoids(90, random_state=0)
    return _cut(data.S, data.y, limit)


def _copurchase(limit: int) -> Problem:
    data = make_copurchase(90, 5, random_state=0)
    return _cut(data.S.toarray(), data.y, limit)


def _patrol(limit: int) -> Problem:
    data = make_patrol(150, 3, symmetric=False, random_state=0)
    return _cut(data.S.toarray(), data.y, limit)


def _complementary(limit: int) -> Problem:
    data = make_complementary(120, random_state=0)
    return _cut(data.S, data.y, limit)


def _complementary_with_features(limit: int) -> Problem:
    data, problem = make_complementary(120, random_state=0), _complementary(limit)
    train, test = _interleaved(len(data.y), limit)
    return Problem(
        Proximities(problem.X, data.features[train]), problem.y, Proximities(problem.X_test, data.features[test])
    )


def _features(limit: int) -> Problem:
    data = make_ellipsoids(90, random_state=0)
    return _objects(data.X, data.y, limit)


def _with_self_similarity(limit: int) -> Problem:
    problem = _voting(limit)
    own = np.linspace(0.9, 1.1, len(problem.X_test)) * problem.X.max()
    return problem._replace(X_test=Proximities(problem.X_test, self_similarity=own))


def _sparse(limit: int) -> Problem:
    problem = _copurchase(limit)
    return Problem(sparse.csr_matrix(problem.X), problem.y, sparse.csr_matrix(problem.X_test))


PROBLEMS = {
    "voting": (_voting, 180),
    "promoters": (_promoters, 90),
    "negative": (_negative, 90),
    "skewed": (_skewed, 90),
    "ellipsoids": (_ellipsoids, 75),
    "copurchase": (_copurchase, 75),
    "patrol": (_patrol, 75),
    "complementary": (_complementary, 75),
    "complementary+features": (_complementary_with_features, 105),
    "features": (_features, 75),
    "self-similarity": (_with_self_similarity, 45),
    "sparse": (_sparse, 75),
    "votes": (lambda limit: _objects(*load_voting(return_X_y=True), limit), 150),
    "sequences": (lambda limit: _objects(*load_promoters(return_X_y=True), limit), 90),
    "bits": (lambda limit: _objects(*_bits(), limit), 75),
}
"""By name, what makes a problem and how many samples it has.

"promoters" holds dissimilarities; "skewed", "copurchase", "patrol" and "sparse" are asymmetric; "votes", "sequences"
and "bits" are raw objects, "features" are vectors; all others hold similarities. Two classes have "voting",
"promoters", "ellipsoids" and what is made of them, and "bits"; all others have three to five.
"""


def _bits() -> tuple[np.ndarray, np.ndarray]:
    data = make_perturbed_centroids(90, random_state=0)
    return data.X, data.y


@cache
def problem(name: str) -> Problem:
    """The problem of this name; ``"voting:45"`` is the one of 45 samples."""
    name, _, size = name.partition(":")
    make, limit = PROBLEMS[name]
    return make(int(size) if size else limit)
