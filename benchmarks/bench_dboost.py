"""DBoost against the same rounds in NumPy, with increasing n, on two threads, and its path against plain fits."""

import os

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import manhattan_distances
from tests.reference import dboost as reference

from benchmarks.timing import best_of, side_by_side
from similitude.base import GridFit
from similitude.boosting._rounds import boosted_rounds, searched_rounds
from similitude.boosting.dboost import DBoostClassifier

ROUNDS, PAIRS = 1000, 100  # Wang et al.


def _data(n, n_classes=2):
    X, y = make_classification(n, 10, n_informative=6, n_classes=n_classes, class_sep=1.0, flip_y=0.05, random_state=0)
    return manhattan_distances(X), y


def _against_numpy(name, S, y, real, goal=""):
    order = np.argsort(-y, kind="stable")
    S, signs, weights = S[np.ix_(order, order)], np.where(y[order] == 1, 1, -1), np.ones(len(y))
    uniforms = np.random.default_rng(0).random((ROUNDS, PAIRS, 2))

    def ours():
        return boosted_rounds(np.ascontiguousarray(S.T), int(np.sum(y)), weights, ROUNDS, PAIRS, 0, real)

    def peer():
        return reference.boost(S, signs, weights, uniforms, real)

    assert all(np.array_equal(a, b) for a, b in zip(ours()[:2], peer()[:2]))
    return {**side_by_side(name, ours, peer), "goal": goal}


def _all_pairs():
    """Return rows for ten rounds that search all pairs: against NumPy, and with increasing n."""
    D, y = _data(200)
    order = np.argsort(-y, kind="stable")
    S, signs, n_positive, weights = (
        -D[np.ix_(order, order)],
        np.where(y[order] == 1, 1, -1),
        int(np.sum(y)),
        np.ones(200),
    )
    every = np.array([(p, q) for p in range(n_positive) for q in range(n_positive, 200)])

    def ours():
        return searched_rounds(np.ascontiguousarray(S.T), n_positive, weights, 10, n_positive, False)

    def peer():
        return reference.boost_among(S.T, signs, weights, every, 10)

    assert all(np.array_equal(a, b) for a, b in zip(ours()[:2], peer()[:2]))
    rows = [side_by_side("  all pairs, T = 10, n = 200: against NumPy", ours, peer)]
    for n in (250, 500, 1000):
        D, y = _data(n)
        model = DBoostClassifier(10, "all")
        seconds = best_of(lambda model=model, S=-D, y=y: model.fit(S, y), 1)
        rows.append({"name": f"  all pairs, T = 10, n = {n}", "ours_seconds": seconds})
    return rows


def _on_threads(counts, work, runs=5):
    """Return the seconds of the fastest run for each number of threads, with alternating runs."""
    before, seconds = os.environ.get("OMP_NUM_THREADS"), {count: [] for count in counts}
    try:
        for _ in range(runs):
            for count in counts:
                os.environ["OMP_NUM_THREADS"] = str(count)
                seconds[count].append(best_of(work, 1))
    finally:
        os.environ.pop("OMP_NUM_THREADS")
        if before is not None:
            os.environ["OMP_NUM_THREADS"] = before
    return [min(seconds[count]) for count in counts]


def run():
    rows = []
    D, y = _data(500)
    name = f"DBoost, T = {ROUNDS}, M = {PAIRS}, n = 500: against NumPy, one thread"
    rows.append(_against_numpy(name, -D, y, False, "at least 10"))
    rows.append(_against_numpy("  RealBoost", -D, y, True, "at least 10"))
    rows.append(_against_numpy("  similarities exp(-d^2/c)", np.exp(-((D / 3) ** 2)), y, False))
    rows.append(_against_numpy("  similarities with many ties", -np.round(D / 3), y, False))
    for n in (250, 500, 1000, 2000, 4000):
        D, y = _data(n)
        model = DBoostClassifier(ROUNDS, PAIRS, random_state=0)
        seconds = best_of(lambda model=model, S=-D, y=y: model.fit(S, y))
        rows.append({"name": f"  fit, n = {n}", "ours_seconds": seconds})
    rows += _all_pairs()
    D, y = _data(1000, 4)
    model = DBoostClassifier(ROUNDS, PAIRS, random_state=0)
    one, two = _on_threads((1, 2), lambda: model.fit(-D, y))
    name = "  fit, n = 1000, four classes: two threads against one"
    rows.append({"name": name, "ours_seconds": two, "peer_seconds": one, "ratio": one / two})
    D, y = _data(500)
    grid = [{"n_rounds": n_rounds} for n_rounds in (50, 100, 200, 500, 1000)]

    def path():
        return GridFit(model, -D, y, grid).answers(-D, "predict")

    def plain():
        return [clone(model).set_params(**point).fit(-D, y).predict(-D) for point in grid]

    assert np.array_equal(path(), plain())
    rows.append(side_by_side("  five n_rounds, n = 500: path against plain fits", path, plain))
    return rows
