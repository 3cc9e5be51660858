"""The scores of all methods for left-out samples, and the weights with which they are combined."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import GroupKFold, KFold, check_cv

from similitude._utils.progress import working
from similitude._utils.threads import one_openmp_thread, suitable_blas_threads
from similitude._utils.warn import silenced
from similitude.evaluation.folds import Split, check_groups
from similitude.multilabel.scores import Fitted, Point, fit_scores, nearest_lists
from similitude.multilabel.targets import Targets
from similitude.numerics.shared import shared_work
from similitude.reader import ByName, Rows, Samples, Training

_ROUNDS = 30
LEAST_WEIGHT = 0.02
"""Points with smaller weights are left out, and their weight is distributed among the others."""
_QUANTILES = 101
_CELLS = 2**24
"""The number of pairs of samples and labels that are looked at together."""
_ROWS = 2**16
"""The number of entries that are added in single precision."""


@dataclass(frozen=True)
class LeftOut:
    """The scores of T points for left-out samples, where one of them is not 0 or the sample has the label.

    Entry e belongs to the sample ``rows[e]`` and the label ``columns[e]``, has the scores ``values[e]`` (T,), and
    ``truth[e]`` is whether the sample has the label.
    """

    points: list[Point]
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    truth: np.ndarray
    parts: np.ndarray
    """The number of the fold that tested each sample; -1 if none did."""
    evidence: np.ndarray
    near: np.ndarray
    """How near each sample is to its nearest training sample, (n, 2): see :func:`nearness`."""
    folds: list[Split]

    @property
    def tested(self) -> np.ndarray:
        """The positions of the samples that were tested."""
        return np.flatnonzero(self.parts >= 0)

    def products(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums over chosen entries of products of two scores, (T, T), and of scores of true labels."""
        products, own = np.zeros((len(self.points),) * 2), np.zeros(len(self.points))
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        for start in range(0, len(chosen), _ROWS):  # in single precision, block by block
            part = chosen[start : start + _ROWS]
            values = self.values[part]
            products += values.T @ values
            own += self.truth[part].astype(np.float32) @ values
        return products, own


def folds_of(n: int, cv: Any, groups: Any, random_state: int | None) -> list[Split]:
    """Return folds that are drawn without regard to the labels, so that labels with one sample are left out, too."""
    groups = check_groups(groups, n)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv must be at least 2; got {cv!r}.")
        if n < 2:
            raise ValueError(f"X must have at least 2 samples; got {n}.")
        most = n if groups is None else len(np.unique(groups))
        kind: Any = KFold if groups is None else GroupKFold
        splitter: Any = kind(min(int(cv), most), shuffle=True, random_state=random_state)
    else:
        splitter = check_cv(cv)
    found = [(np.sort(train), np.sort(test)) for train, test in splitter.split(np.zeros(n), None, groups)]
    tested = np.concatenate([test for _, test in found])
    if len(np.unique(tested)) < len(tested):
        raise ValueError(f"cv must test each sample at most once; got {cv!r}.")
    return found


def evaluate_points(
    samples: Samples, targets: Targets, points: list[Point], folds: list[Split], random_state: int, show: bool
) -> LeftOut:
    """Return the scores of all points for the samples that each fold leaves out."""
    n, L = targets.Y.shape
    parts, evidence, near = np.full(n, -1), np.ones(n, dtype=bool), np.zeros((n, 2))
    found = []
    for number, (train, test) in enumerate(folds):
        with working(f"fold {number + 1} of {len(folds)}", show), silenced(), shared_work(), one_openmp_thread():
            training, rows = samples.fold(train, test)
            with suitable_blas_threads(len(train)):
                fitted = fit_all(training, targets.take(train), points, random_state)
                scores = scores_of(fitted, points, rows)
            parts[test], evidence[test] = number, rows.evidence
            near[test] = nearness(first_of(training), first_of(rows))
        step = max(1, _CELLS // L)
        for start in range(0, len(test), step):
            part = slice(start, start + step)
            found.append(_entries([own[part] for own in scores], targets.take(test[part]), test[part]))
    rows_at, columns, values, truth = (np.concatenate(own) for own in zip(*found))
    order = np.argsort(rows_at, kind="stable")
    return LeftOut(points, rows_at[order], columns[order], values[order], truth[order], parts, evidence, near, folds)


def _entries(scores: list[sparse.csr_matrix], targets: Targets, samples: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return samples, labels, scores and truth of the entries where a score is not 0 or the sample has the label."""
    L = targets.Y.shape[1]
    keys = [_keys(own) for own in scores]
    true = _keys(targets.Y)
    wanted = np.zeros(len(samples) * L, dtype=bool)
    for own in (*keys, true):
        wanted[own] = True
    if targets.measured is not None:
        known = np.zeros(len(wanted), dtype=bool)
        known[_keys(targets.measured)] = True
        wanted &= known
    union = np.flatnonzero(wanted)
    place = np.full(len(wanted), len(union), dtype=np.int32)  # what is not wanted goes to one more row
    place[union] = np.arange(len(union))
    values = np.zeros((len(union) + 1, len(scores)), dtype=np.float32)
    for t, (own, score) in enumerate(zip(keys, scores)):
        values[place[own], t] = score.data
    truth = np.zeros(len(union) + 1, dtype=bool)
    truth[place[true]] = True
    return samples[union // L], union % L, values[:-1], truth[:-1]


def _keys(matrix: sparse.csr_matrix) -> np.ndarray:
    """Return the places of the stored entries, as numbers row * L + column."""
    return np.repeat(np.arange(matrix.shape[0]) * matrix.shape[1], np.diff(matrix.indptr)) + matrix.indices


def fit_all(training: ByName[Training], targets: Targets, points: list[Point], random_state: int) -> dict[str, Fitted]:
    """Return the methods at these points fitted on the training samples, by similarity."""
    by_name = {name: [point for point in points if point.similarity == name] for name in training.parts}
    return {name: fit_scores(training.parts[name], targets, own, random_state) for name, own in by_name.items() if own}


def scores_of(fitted: dict[str, Fitted], points: list[Point], rows: ByName[Rows]) -> list[sparse.csr_matrix]:
    """Return the scores of new rows at each point."""
    found: dict[Point, sparse.csr_matrix] = {}
    for name, own in fitted.items():
        found.update(zip(own.points, own.scores(rows.parts[name])))
    return [found[point] for point in points]


def first_of(samples: ByName) -> Any:
    """Return the samples in the first similarity."""
    return next(iter(samples.parts.values()))


def nearness(training: Training, rows: Rows) -> np.ndarray:
    """Return the similarity of each row to the nearest training sample, and that over its own self-similarity."""
    lists = nearest_lists(rows, 1)
    own = training.self_similarity
    own = np.asarray(training.S.diagonal()) if own is None else own
    return nearness_to(own, lists)


def nearness_to(own: np.ndarray, lists: Any) -> np.ndarray:
    """Return the nearness of lists of neighbours, of training samples with these self-similarities."""
    found = np.zeros((len(lists.starts) - 1, 2))
    some = np.flatnonzero(np.diff(lists.starts) > 0)
    first = lists.starts[some]
    value, self_similarity = lists.values[first], own[lists.indices[first]]
    found[some, 0] = value
    with np.errstate(divide="ignore", invalid="ignore"):
        found[some, 1] = np.where(self_similarity > 0, value / self_similarity, value)
    return found


@dataclass(frozen=True)
class NearnessScale:
    """The nearness of new samples as ranks among those of left-out samples, so that the unit decides nothing."""

    quantiles: np.ndarray

    @classmethod
    def learn(cls, near: np.ndarray) -> NearnessScale:
        """Return the scale of the nearness of left-out samples."""
        return cls(np.quantile(near, np.linspace(0, 1, _QUANTILES), axis=0) if len(near) else np.zeros((_QUANTILES, 2)))

    def features(self, near: np.ndarray) -> np.ndarray:
        """Return a basis of piecewise linear functions of both ranks, (m, 4)."""
        places = np.linspace(-1, 1, _QUANTILES)
        ranks = [
            np.interp(np.round(near[:, j], 12), *_increasing(np.round(self.quantiles[:, j], 12), places))
            for j in (0, 1)
        ]
        return np.column_stack([basis for rank in ranks for basis in (rank, np.abs(rank) - 0.5)])


def _increasing(values: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return different values with the mean place of each."""
    found, where = np.unique(values, return_inverse=True)
    return found, np.bincount(where, places) / np.bincount(where)


def greedy_weights(products: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Return the weights, of greedy selection with replacement, with which the mean of the scores has least squares."""
    counts, lowest, chosen = np.zeros(len(own)), np.inf, np.zeros(len(own))
    for size in range(1, _ROUNDS + 1):
        squares = counts @ products @ counts + 2 * products @ counts + np.diagonal(products)
        losses = squares / size**2 - 2 * (counts @ own + own) / size
        best = int(np.argmin(losses))
        counts[best] += 1
        if losses[best] < lowest - 1e-12 * abs(lowest if np.isfinite(lowest) else 0.0):
            lowest, chosen = losses[best], counts / size
    kept = np.where(chosen >= LEAST_WEIGHT, chosen, 0.0)
    return kept / kept.sum()


def fit_logistic(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray, penalty: float, centre: np.ndarray | None = None
) -> np.ndarray:
    """Return the coefficients of a logistic regression, drawn to ``centre`` by a squared penalty; Newton's method."""
    centre = np.zeros(X.shape[1]) if centre is None else centre
    theta = centre.copy()
    for _ in range(50):
        p = sigmoid(X @ theta)
        slope = X.T @ (weights * (p - y)) + penalty * (theta - centre)
        curve = (X * (weights * p * (1 - p))[:, None]).T @ X + (penalty + 1e-9) * np.eye(len(theta))
        step = np.linalg.solve(curve, slope)
        step /= max(1.0, np.abs(step).max() / 3.0)
        theta = theta - step
        if np.abs(step).max() < 1e-8:
            break
    return theta


def sigmoid(z: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-z))."""
    return 0.5 * (1.0 + np.tanh(0.5 * z))
