"""Methods whose scores are linear in the labels, so that all that depends on similarities alone serves every label.

The score of label l for a sample x is the weighted share of training samples with this label::

    s_l(x) = sum over i of w_i(x) y_il

Votes have weights of the nearest neighbours, which one search finds for all labels: equal ones (k-NN), their
similarities (affinity k-NN), or those of a local problem (KRI and KRR). Ridge regression on the kernel, or on
similarities as features, takes one decomposition for all labels.

Where some labels are not known, neighbours vote on those labels of theirs that are known, and the regression is fitted
to what is known: what is not is replaced by the fitted values, repeatedly, which is the EM algorithm for this problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from similitude._utils.checks import did_you_mean
from similitude._utils.types import ColumnPositions, Finite
from similitude.finders.finder import local_neighbors
from similitude.kernel.kernel_ridge import RidgePoint, RidgeProblem
from similitude.multilabel.targets import Targets
from similitude.neighbors.weights import local_weights
from similitude.numerics.eigen import eigh
from similitude.proximity.check import dense
from similitude.reader import Rows, Training

_NEIGHBORS = (1, 2, 4, 8, 16, 32, 64)
_LOCAL_NEIGHBORS, _RIDGES = (8, 32), (0.01, 0.1, 1.0)
_PENALTIES, _FEATURE_PENALTIES = (0.01, 0.1, 1.0, 10.0), (1e-4, 1e-3, 1e-2, 1e-1)
_MOST_DENSE = 2500
"""The largest number of training samples for which a matrix is decomposed."""
_MOST_FEATURES = 1000
_LEAST_SCORE = 0.01
"""Smaller scores of a regression count as 0, so that scores of many labels stay sparse."""
_ROUNDS = 10
"""The number of times that labels which are not known are replaced."""
_EQUAL, _AFFINITY, _KRI, _KRR = "k-NN", "affinity k-NN", "KRI k-NN", "KRR k-NN"
_KERNEL, _FEATURES = "kernel ridge (clip)", "ridge (features)"
METHODS = (_EQUAL, _AFFINITY, _KRI, _KRR, _KERNEL, _FEATURES)
"""The names of the methods."""


class Point(NamedTuple):
    """A method with its parameters; ``reg`` is relative to the scale of the training similarities."""

    method: str
    k: int = 0
    reg: float = 0.0
    similarity: str = "S"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {name: value for name, value in (("n_neighbors", self.k), ("reg", self.reg)) if value}


def points_of(names: Any, n: int, similarities: Sequence[str], unknown: bool = False) -> tuple[list[Point], list[str]]:
    """Return all points of the named methods for n training samples, and the methods that cannot be used.

    If some similarities are ``unknown``, only votes can be used whose weights do not depend on other pairs.
    """
    known = {name.lower(): name for name in METHODS}
    if isinstance(names, str) and names == "all":
        chosen = list(METHODS)
    elif isinstance(names, (list, tuple)) and names:
        strange = [name for name in names if str(name).lower() not in known]
        if strange:
            hint = did_you_mean(str(strange[0]), METHODS)
            raise ValueError(f"methods must be among {', '.join(METHODS)}; got {strange[0]!r}.{hint}")
        chosen = [name for name in METHODS if name.lower() in {str(own).lower() for own in names}]
    else:
        raise ValueError(f"methods must be 'all' or a list of names; got {names!r}.")
    left_out = [_KERNEL] if _KERNEL in chosen and n > _MOST_DENSE else []
    if unknown:
        left_out = [name for name in chosen if name not in (_EQUAL, _AFFINITY)]
    if left_out == chosen:
        why = "need all pairs, and some are unknown" if unknown else f"are for at most {_MOST_DENSE} samples; X has {n}"
        raise ValueError(f"methods: {', '.join(left_out)} {why}.")
    found = []
    for similarity in similarities:
        for name in chosen:
            if name in (_EQUAL, _AFFINITY):
                found += [Point(name, k, 0.0, similarity) for k in _NEIGHBORS if k <= max(1, n // 2)]
            elif name in (_KRI, _KRR) and name not in left_out:
                found += [Point(name, k, reg, similarity) for k in _LOCAL_NEIGHBORS for reg in _RIDGES]
            elif name not in left_out:
                regs = _PENALTIES if name == _KERNEL else _FEATURE_PENALTIES
                found += [Point(name, 0, reg, similarity) for reg in regs]
    return found, left_out


class Lists(NamedTuple):
    """The nearest training samples of m rows, nearest first, with all that tie for the last place."""

    starts: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    n: int

    @property
    def rows(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def weights(self, k: int, affinity: bool) -> sparse.csr_matrix:
        """Return the weights of the k nearest, which add up to 1; samples that tie for the last places share them."""
        lengths, rows = np.diff(self.starts), self.rows
        last = np.full(len(lengths), -np.inf)
        some = lengths > 0
        last[some] = self.values[self.starts[:-1][some] + np.minimum(lengths[some], k) - 1]
        above, tied = self.values > last[rows], self.values == last[rows]
        n_above, n_tied = (np.bincount(rows, which, minlength=len(lengths)) for which in (above, tied))
        share = np.minimum((k - n_above) / np.maximum(n_tied, 1), 1.0)
        equal = above + tied * share[rows]
        weights = equal * np.maximum(self.values, 0.0) if affinity else equal
        if affinity:  # without positive similarities all count alike
            none = np.bincount(rows, weights, minlength=len(lengths)) <= 0
            weights = np.where(none[rows], equal, weights)
        sums = np.bincount(rows, weights, minlength=len(lengths))
        weights = weights / np.where(sums > 0, sums, 1.0)[rows]
        return sparse.csr_matrix((weights, self.indices, self.starts), shape=(len(lengths), self.n))


def nearest_lists(rows: Rows, k: int) -> Lists:
    """Return the k nearest training samples of each row; of a sparse matrix those with a positive entry."""
    S = rows.S
    if sparse.issparse(S):
        S = S.tocsr()
        which = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
        values, indices = S.data.astype(np.float64), S.indices
        kept = np.isfinite(values) if rows.unknown else values > 0
        which, values, indices = which[kept], values[kept], indices[kept]
    else:
        S = np.asarray(S)
        k = min(k, S.shape[1])
        filled = np.where(np.isnan(S), -np.inf, S) if rows.unknown else S
        least = np.partition(filled, S.shape[1] - k, axis=1)[:, S.shape[1] - k]
        which, indices = np.nonzero((filled >= least[:, None]) & (filled > -np.inf))
        values = filled[which, indices].astype(np.float64)
    order = np.lexsort((indices, -values, which))
    which, values, indices = which[order], values[order], indices[order]
    starts = np.append(0, np.cumsum(np.bincount(which, minlength=S.shape[0])))
    ranks = np.arange(len(values)) - starts[which]
    last = np.full(S.shape[0], -np.inf)
    full = np.diff(starts) > k
    last[full] = values[starts[:-1][full] + k - 1]
    kept = (ranks < k) | (values == last[which])
    starts = np.append(0, np.cumsum(np.bincount(which[kept], minlength=S.shape[0])))
    return Lists(starts.astype(np.intp), indices[kept].astype(np.intp), values[kept], S.shape[1])


class VoteScores:
    """The votes of neighbours at one or several points."""

    def __init__(self, points: list[Point], finder: Any, scale: float, targets: Targets):
        self.points, self.finder, self.scale, self.targets = points, finder, scale, targets

    def __call__(self, rows: Rows) -> list[sparse.csr_matrix]:
        """Return the scores of the rows at each point."""
        lists = nearest_lists(rows, max(point.k for point in self.points))
        local = self._local_weights(rows, lists)
        return [
            self._scores(local[i] if i in local else self._weights(lists, own)) for i, own in enumerate(self.points)
        ]

    @staticmethod
    def _weights(lists: Lists, point: Point) -> sparse.csr_matrix:
        return lists.weights(point.k, affinity=point.method == _AFFINITY)

    def _local_weights(self, rows: Rows, lists: Lists) -> dict[int, sparse.csr_matrix]:
        """Return the weights of the points whose weights are those of local problems, by their positions."""
        found: dict[int, sparse.csr_matrix] = {}
        n = self.targets.Y.shape[0]
        for method, weights, spectrum in ((_KRI, "kri", "clip"), (_KRR, "krr", "none")):
            places = [i for i, point in enumerate(self.points) if point.method == method]
            if not places or not len(rows):
                continue
            sizes = sorted({min(self.points[i].k, n) for i in places})
            regs = sorted({self.points[i].reg for i in places})
            near = local_neighbors(self.finder, rows, sizes, np.zeros(n, dtype=np.intp), 1)
            W = np.concatenate(
                [
                    local_weights(
                        self.finder.among(rows, near.indices[part]),
                        near.similarities[part],
                        near.indices[part],
                        near.sizes[part],
                        [reg * self.scale for reg in regs],
                        weights=weights,
                        spectrum=spectrum,
                    )
                    for part in self.finder.blocks(len(rows), near.indices.shape[1])
                ]
            )
            width = near.indices.shape[1]
            starts = np.arange(len(rows) + 1) * width
            for i in places:
                point = self.points[i]
                j, r = sizes.index(min(point.k, n)), regs.index(point.reg)
                own = sparse.csr_matrix((W[:, j, r].ravel(), near.indices.ravel(), starts), shape=(len(rows), n))
                alone = sparse.diags(near.alone[:, j].astype(float))
                # A row without a neighbourhood that splits no tie has the votes of all that tie.
                equal = lists.weights(point.k, affinity=False)
                found[i] = ((sparse.identity(len(rows)) - alone) @ own + alone @ equal).tocsr()
        return found

    def _scores(self, W: sparse.csr_matrix) -> sparse.csr_matrix:
        scores = W @ self.targets.Y
        if self.targets.measured is not None:
            voted = (W @ self.targets.measured).tocsr()
            voted.data = np.where(voted.data > 1e-9, voted.data, np.inf) ** -1.0
            scores = scores.multiply(voted)
        return _clipped(scores.tocsr(), 0.0)


class RidgeScores:
    """Ridge regression on the kernel, or on similarities as features, at one or several points."""

    coefs: list[Finite]

    def __init__(
        self,
        points: list[Point],
        columns: ColumnPositions | None,
        centre: np.ndarray,
        coefs: list[np.ndarray],
        intercepts: list[np.ndarray],
    ):
        self.points, self.columns, self.centre, self.coefs, self.intercepts = points, columns, centre, coefs, intercepts

    def __call__(self, rows: Rows) -> list[sparse.csr_matrix]:
        """Return the scores of the rows at each point."""
        if self.columns is None:
            S = dense(rows.symmetric).astype(np.float64, copy=False)
        else:
            S = dense(rows.columns(self.columns)).astype(np.float64, copy=False) - self.centre
        return [
            _clipped(sparse.csr_matrix(_least(S @ coef + intercept)), _LEAST_SCORE)
            for coef, intercept in zip(self.coefs, self.intercepts)
        ]


def _least(scores: np.ndarray) -> np.ndarray:
    return np.where(scores >= _LEAST_SCORE, scores, 0.0)


def _clipped(scores: sparse.csr_matrix, least: float) -> sparse.csr_matrix:
    """Return the scores that are larger than ``least``, at most 1."""
    scores.sum_duplicates()
    scores.data = np.where(scores.data > least, np.minimum(scores.data, 1.0), 0.0)
    scores.eliminate_zeros()
    return scores.astype(np.float32)


@dataclass(frozen=True)
class Fitted:
    """The methods fitted on training samples in one similarity, at some points."""

    similarity: str
    points: list[Point]
    parts: list[Any]

    def scores(self, rows: Rows) -> list[sparse.csr_matrix]:
        """Return the scores of the rows at each point, (m, L)."""
        found = {point: own for part in self.parts for point, own in zip(part.points, part(rows))}
        return [found[point] for point in self.points]


def fit_scores(training: Training, targets: Targets, points: list[Point], random_state: int) -> Fitted:
    """Return the methods at these points, all of one similarity, fitted on the training samples."""
    parts: list[Any] = []
    votes = [point for point in points if point.k]
    if votes:
        lookup = any(point.method in (_KRI, _KRR) for point in votes)
        parts.append(VoteScores(votes, training.finder(lookup=lookup, symmetric=lookup), training.scale, targets))
    kernel = [point for point in points if point.method == _KERNEL]
    if kernel:
        parts.append(_kernel_ridge(training, targets, kernel))
    features = [point for point in points if point.method == _FEATURES]
    if features:
        parts.append(_feature_ridge(training, targets, features, random_state))
    return Fitted(points[0].similarity, points, parts)


def _kernel_ridge(training: Training, targets: Targets, points: list[Point]) -> RidgeScores:
    S = dense(training.complete(_KERNEL).symmetric).astype(np.float64, copy=False)
    problem, start = RidgeProblem(S), targets.Y.toarray()
    coefs, intercepts = [], []
    for point in points:
        own, T = RidgePoint(point.reg * training.scale, "clip"), _filled(start, targets)
        for _ in range(0 if targets.measured is None else _ROUNDS):
            T = _replaced(T, problem.fitted(T, own), targets)
        fit = problem.solve(T, own)
        coefs.append(fit.coef)
        intercepts.append(fit.intercept)
    return RidgeScores(points, None, np.zeros(0), coefs, intercepts)


def _feature_ridge(training: Training, targets: Targets, points: list[Point], random_state: int) -> RidgeScores:
    n = len(training)
    columns = np.arange(n)
    if n > _MOST_FEATURES:
        columns = np.sort(np.random.RandomState(random_state).permutation(n)[:_MOST_FEATURES])
    C = dense(training.complete(_FEATURES).columns(columns)).astype(np.float64, copy=False)
    centre = C.mean(axis=0)
    C = C - centre
    values, vectors = eigh(C.T @ C)
    values = np.maximum(values, 0.0)
    start = targets.Y.toarray()
    coefs, intercepts = [], []
    for point in points:
        inverse = 1.0 / (values + point.reg * max(values.sum(), np.finfo(float).tiny))
        T, coef, intercept = _filled(start, targets), np.zeros(0), np.zeros(0)
        for turn in range(1 if targets.measured is None else _ROUNDS):
            if turn:
                T = _replaced(T, C @ coef + intercept, targets)
            intercept = T.mean(axis=0)
            coef = vectors @ (inverse[:, None] * (vectors.T @ (C.T @ (T - intercept))))
        coefs.append(coef)
        intercepts.append(intercept)
    return RidgeScores(points, columns, centre, coefs, intercepts)


def _filled(Y: np.ndarray, targets: Targets) -> np.ndarray:
    """Return the labels with the share of each where it is not known."""
    return Y if targets.measured is None else np.where(targets.measured.toarray() > 0, Y, targets.shares)


def _replaced(T: np.ndarray, fitted: np.ndarray, targets: Targets) -> np.ndarray:
    """Return the labels with the fitted values where they are not known."""
    return T if targets.measured is None else np.where(targets.measured.toarray() > 0, T, fitted)
