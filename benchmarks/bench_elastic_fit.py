"""From 300 raw series of length 150 to the fitted model on all elastic distances, in seconds.

One set is made up, three noisy shapes out of phase. The other is real: the first 150 steps of the first 300 training
series of CricketY, twelve classes, from the folder that SIMILITUDE_DATA names.
"""

import os
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.ucr import find_sets, load
from similitude import AutoClassifier
from similitude.similarities import elastic_family

SERIES, LENGTH = 300, 150
GOAL = "at most 90 s"


def made_up():
    """Return noisy sines, squares and triangles out of phase, and their labels."""
    rng = np.random.default_rng(0)
    y = np.arange(SERIES) % 3
    phase = np.linspace(0, 6 * np.pi, LENGTH) + rng.uniform(0, np.pi, SERIES)[:, None]
    shapes = np.stack([np.sin(phase), np.sign(np.sin(phase)), 2 / np.pi * np.arcsin(np.sin(phase))])
    return shapes[y, np.arange(SERIES)] + rng.normal(scale=0.5, size=(SERIES, LENGTH)), y


def measured(name, X, y):
    """Return the row of a set: wall time, processor time, and how much of it the distances take."""
    start, cpu = time.perf_counter(), time.process_time()
    for distance in elastic_family(X).values():
        distance(X, X)
    distances = time.process_time() - cpu
    start, cpu = time.perf_counter(), time.process_time()
    model = AutoClassifier(similarity="elastic").fit(X, y)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    members = ", ".join(f"{member.name} {member.weight:.2f}" for member in model.best_estimator_.members_)
    error = 100 * model.leaderboard_[0].error
    about = f"{cpu:.0f} processor seconds, {distances:.0f} of them distances; error {error:.1f}%; {members}"
    print(f"{name}: {seconds:.0f} s, {about}", flush=True)
    return {"name": f"{name}: {about}", "ours_seconds": seconds, "goal": GOAL}


def run():
    warnings.simplefilter("ignore")
    rows = [measured("made up, 3 classes", *made_up())]
    folder = os.environ.get("SIMILITUDE_DATA")
    sets = {} if folder is None else find_sets(Path(folder) / "ucr")
    if "CricketY" in sets:
        X, y, _, _ = load(sets["CricketY"])
        rows.append(measured("CricketY, cut, 12 classes", X[:SERIES, :LENGTH], y[:SERIES]))
    return rows
