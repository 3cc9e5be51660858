"""The time that AutoClassifier takes with all methods, and the share of each method.

The data are digit images, compared by the image Euclidean distance: ten classes, and dissimilarities, so that the maps
are part of the grids. Everything is compiled before the time is measured. The peer, which gives a scale, is
``GridSearchCV`` of scikit-learn's k-NN alone on the same folds.
"""

import os
import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from similitude import AutoClassifier
from similitude.auto import COMBINATION
from similitude.auto.methods import NEIGHBORS
from similitude.datasets import load_digit_images
from similitude.similarities import pairwise

GOALS = {200: 20.0, 1000: 30.0}
"""The number of samples, and the seconds within which all methods are to be evaluated on two cores."""
N_SHOWN = 10
FEW = 200
"""Up to this number of samples the CPU seconds are measured, too, which depend less on what else the machine does."""


def _digits(n):
    data = load_digit_images()
    some = np.random.RandomState(0).permutation(len(data.target))[:n]
    D = pairwise(np.asarray(data.data)[some], similarity="euclidean-image")
    return np.asarray(D, dtype=float), np.asarray(data.target)[some]


def _seconds(estimator, D, y):
    start = time.perf_counter()
    estimator.fit(D, y)
    return time.perf_counter() - start


def _cpu_seconds(auto, D, y):
    start = time.process_time()
    clone(auto).set_params(n_jobs=1).fit(D, y)
    return time.process_time() - start


def run(sizes=tuple(GOALS)):
    warnings.simplefilter("ignore")
    rows = []
    for n in sizes:
        D, y = _digits(n)
        auto = AutoClassifier(n_jobs=2, dissimilarity="max-minus")
        auto.fit(D[:100, :100], y[:100])  # compiles
        ours = _seconds(auto, D, y)
        grid = {"n_neighbors": [k for k in NEIGHBORS if k < n / 2]}
        peer = _seconds(GridSearchCV(KNeighborsClassifier(metric="precomputed"), grid, cv=5, n_jobs=2), D, y)
        goal = f"at most {GOALS.get(n, float('nan')):g} s on two cores; this machine has {os.cpu_count()}"
        name = f"AutoClassifier, all methods, n = {n} | GridSearchCV of k-NN"
        rows.append({"name": name, "ours_seconds": ours, "peer_seconds": peer, "ratio": peer / ours, "goal": goal})
        if n <= FEW:
            rows.append({"name": "  CPU seconds in one process", "ours_seconds": _cpu_seconds(auto, D, y)})
        methods = [row for row in auto.leaderboard_ if row.method != COMBINATION]
        total = sum(row.seconds for row in methods)
        for row in sorted(methods, key=lambda row: -row.seconds)[:N_SHOWN]:
            share = f"{100 * row.seconds / total:.0f}% of the seconds of all methods"
            rows.append({"name": f"  {row.method}", "ours_seconds": row.seconds, "goal": share})
    return rows
