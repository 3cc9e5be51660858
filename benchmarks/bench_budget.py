"""Whether a time budget of AutoClassifier holds: the seconds of the whole fit, and its error on new samples.

The samples are Gaussian clusters of unequal shapes, compared by a distance that is not metric; the same number of new
samples is predicted. The peer is k-NN whose k is chosen by cross-validation, without a limit.
"""

import time
import warnings

import numpy as np

from similitude import AutoClassifier, KNNClassifier, PathSearchCV
from similitude.auto.methods import NEIGHBORS

CASES = [
    # samples, classes, similarities, seconds
    (100, 2, 1, 5.0),
    (300, 10, 1, 5.0),
    (300, 60, 1, 10.0),
    (1000, 10, 1, 10.0),
    (1000, 10, 10, 20.0),
    (3000, 10, 1, 30.0),
    (3000, 60, 10, 60.0),
    (6000, 10, 1, 60.0),
    (10_000, 2, 1, 60.0),
    (10_000, 60, 1, 60.0),
]


def problem(n, n_classes, n_similarities, seed=0):
    """Return the distances among n samples and of n new ones to them, by name, and the labels of both."""
    rng = np.random.default_rng(seed)
    centres, shapes = rng.normal(size=(n_classes, 8)), rng.normal(size=(n_classes, 8, 8)) / 4
    y = np.arange(2 * n) % n_classes
    X = 1.6 * centres[y] + np.einsum("nij,nj->ni", shapes[y], rng.normal(size=(2 * n, 8)))
    X = X.astype(np.float32)
    found = {}
    for k in range(n_similarities):
        power = 0.4 + 0.15 * k
        found[f"d{k}"] = sum(np.abs(X[:, None, i] - X[None, :n, i]) ** np.float32(power) for i in range(8))
    return {name: D[:n] for name, D in found.items()}, {name: D[n:] for name, D in found.items()}, y[:n], y[n:]


def run(cases=CASES):
    warnings.simplefilter("ignore")
    rows = []
    for n, n_classes, n_similarities, budget in cases:
        train, test, y, truth = problem(n, n_classes, n_similarities)
        first = next(iter(train))
        one = n_similarities == 1
        auto = AutoClassifier(time_budget=budget, n_jobs=2, dissimilarity="max-minus")
        start = time.perf_counter()
        auto.fit(train[first] if one else train, y)
        seconds = time.perf_counter() - start
        error = np.mean(auto.predict(test[first] if one else test) != truth)
        start = time.perf_counter()
        peer = PathSearchCV(KNNClassifier(dissimilarity="max-minus"), {"n_neighbors": [k for k in NEIGHBORS if k < n]})
        peer.fit(train[first], y)
        peer_seconds = time.perf_counter() - start
        peer_error = np.mean(peer.predict(test[first]) != truth)
        several = "" if one else f", {n_similarities} similarities"
        rows.append(
            {
                "name": f"n = {n}, {n_classes} classes{several}, {budget:g} s | tuned k-NN",
                "ours_seconds": seconds,
                "peer_seconds": peer_seconds,
                "goal": f"{seconds / budget:.2f} of the budget (at most 1.1); error {100 * error:.1f}%, "
                f"k-NN {100 * peer_error:.1f}%; {len(auto.budget_report_.complete)} methods complete, "
                f"{len(auto.budget_report_.stopped)} stopped, {len(auto.left_out_)} left out",
            }
        )
    return rows
